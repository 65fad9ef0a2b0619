//! The desk's own task: deadlines, dropped tickets, letters from other nodes.

use std::future::poll_fn;
use std::sync::Weak;

use bytes::Bytes;
use midcall_store::{Key, Letter, Post, Store};
use tokio::sync::mpsc;

use crate::desk::Inner;
use crate::outcome::{Outcome, Withdrawn};
use crate::ticket::TicketId;

/// Runs until the desk is gone.
pub(crate) async fn keep<S: Store, P: Post>(
    desk: Weak<Inner<S, P>>,
    mut inbox: mpsc::Receiver<Letter>,
    mut dropped: mpsc::UnboundedReceiver<(TicketId, Withdrawn)>,
) {
    loop {
        tokio::select! {
            due = next_due(&desk) => {
                let (Some(desk), Some(id)) = (desk.upgrade(), due) else { return };
                log(id, desk.close(id, Outcome::TimedOut).await);
            }
            gone = dropped.recv() => {
                let (Some(desk), Some((id, why))) = (desk.upgrade(), gone) else { return };
                log(id, desk.close(id, Outcome::Withdrawn(why)).await);
            }
            letter = inbox.recv() => {
                let (Some(desk), Some(letter)) = (desk.upgrade(), letter) else { return };
                if let Ok([user, id]) = serde_json::from_slice::<[String; 2]>(&letter.body) {
                    let heard = desk.hear(&Key::new(user, id)).await;
                    if let Err(error) = heard {
                        tracing::warn!(%error, "an answer from another node could not be read");
                    }
                }
                letter.reply(Bytes::new());
            }
        }
    }
}

/// The next ticket whose time is over; none when the desk is gone.
async fn next_due<S: Store, P: Post>(desk: &Weak<Inner<S, P>>) -> Option<TicketId> {
    poll_fn(|context| {
        let Some(desk) = desk.upgrade() else {
            return std::task::Poll::Ready(None);
        };
        // Without deadlines the queue is ready with nothing; the next one wakes this task.
        match desk.lock().deadlines.poll_expired(context) {
            std::task::Poll::Ready(Some(due)) => std::task::Poll::Ready(Some(due.into_inner())),
            _ => std::task::Poll::Pending,
        }
    })
    .await
}

fn log(id: TicketId, closed: Result<(), midcall_store::StoreError>) {
    if let Err(error) = closed {
        tracing::warn!(ticket = %id, %error, "a ticket could not be closed");
    }
}
