//! Bringing the page before the person: one tab for all gateways.
//!
//! A tab that is open at any gateway of the person comes here by itself once it hears of us. Only
//! where there is none is a browser opened, and one gateway at a time decides that: the others
//! then see that a tab is coming, and wait for it.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use crate::awake::within;
use crate::browser::{self, Asked};
use crate::http::peers::{Peer, Standing};
use crate::http::{Door, Expected};
use crate::times::{TAB_COMES, TAB_HEARS};

/// How long is waited before it is asked again whether a tab is still coming.
const ASK: Duration = Duration::from_millis(250);

/// Ends when a person has the page open, or enough was tried.
pub async fn bring(door: Door) {
    let Some(gathering) = &door.gathering else {
        return launch(&door, door.expect()).await;
    };
    let start = Instant::now();
    let mut counts_open = true;
    loop {
        let turn = gathering.turn().await;
        let others = gathering.others();
        let told = join_all(others.iter().map(Peer::hello)).await;
        let found = (told.into_iter().flatten())
            .filter(|standing| counts_open || *standing != Standing::Open)
            .max();
        let patience = match found.unwrap_or(Standing::Closed) {
            Standing::Open => TAB_HEARS.get(),
            Standing::Coming => ASK,
            Standing::Closed => {
                let expected = door.expect();
                drop(turn);
                return launch(&door, expected).await;
            }
        };
        drop(turn);
        let hears = within(patience, door.sign(start)).await.is_ok();
        if hears && within(TAB_COMES.get(), door.opened()).await.is_ok() {
            return;
        }
        // A tab that did not come may be asleep.
        counts_open &= found != Some(Standing::Open);
    }
}

/// Opens a browser, and waits for the tab.
async fn launch(door: &Door, expected: Expected) {
    let asked = browser::open(&door.launch_now());
    let mut shown = pin!(within(TAB_COMES.get(), door.opened()));
    tokio::select! {
        _ = &mut shown => {}
        () = failed(asked) => {
            let page = door.origin();
            tracing::warn!(
                page,
                "a question waits, and no browser could be opened. \
                 To answer it, run `midcall open` in a terminal"
            );
            drop(expected); // Another gateway may be where there is one.
            let _ = shown.await;
        }
    }
}

async fn failed(asked: Option<Asked>) {
    if let Some(asked) = asked {
        asked.failed().await;
    }
}
