//! The desk's own task: deadlines, dropped tickets, letters from other nodes.

use std::future::poll_fn;
use std::sync::Weak;
use std::task::Poll;

use bytes::Bytes;
use midcall_store::{Key, Letter, Post, Store, StoreError};
use tokio::sync::mpsc;

use crate::inner::{Errand, Inner};
use crate::outcome::{Delivery, Lost, Outcome, Withdrawn};
use crate::ticket::TicketId;

/// Runs until the desk is gone.
pub(crate) async fn keep<S: Store, P: Post>(
    desk: Weak<Inner<S, P>>,
    mut inbox: mpsc::Receiver<Letter>,
    mut errands: mpsc::UnboundedReceiver<Errand>,
) {
    loop {
        tokio::select! {
            due = next_due(&desk) => {
                let (Some(desk), Some(id)) = (desk.upgrade(), due) else { return };
                let closed = desk.close(id, Outcome::TimedOut).await;
                see_to(&desk, id, closed);
            }
            errand = errands.recv() => {
                let (Some(desk), Some(errand)) = (desk.upgrade(), errand) else { return };
                let (id, done) = match errand {
                    Errand::Dropped(id) => {
                        let outcome = Outcome::Withdrawn(Withdrawn::Dropped);
                        (id, desk.close(id, outcome).await)
                    }
                    Errand::Untaken(user, id) => {
                        let key = Key::new(&*user, id.to_string());
                        let why = Some(Lost::Dropped);
                        (id, desk.deliver(&key, Delivery::Lost, why).await)
                    }
                    Errand::Look(id) => (id, desk.look(id).await),
                };
                see_to(&desk, id, done);
            }
            letter = inbox.recv() => {
                let (Some(desk), Some(letter)) = (desk.upgrade(), letter) else { return };
                if let Ok([user, id]) = serde_json::from_slice::<[String; 2]>(&letter.body) {
                    let heard = desk.hear(&Key::new(user, &id)).await;
                    if let Ok(id) = id.parse() {
                        see_to(&desk, id, heard);
                    }
                }
                letter.reply(Bytes::new());
            }
        }
    }
}

/// The next ticket whose time is over; none when the desk is gone.
async fn next_due<S: Store, P: Post>(desk: &Weak<Inner<S, P>>) -> Option<TicketId> {
    poll_fn(|context| match desk.upgrade() {
        None => Poll::Ready(None),
        Some(desk) => desk.lock().poll_due(context).map(Some),
    })
    .await
}

fn see_to<S: Store, P: Post>(desk: &Inner<S, P>, id: TicketId, done: Result<(), StoreError>) {
    if let Err(error) = done {
        tracing::warn!(ticket = %id, %error, "the store failed; it is tried again");
        desk.try_again(id);
    }
}
