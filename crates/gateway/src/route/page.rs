//! The page as one session's route: its questions wait at the desk until a person answers there.
//!
//! In: [`Page::ask`], [`Page::withdraw`], [`Page::complete`]. Out: [`Event`]s.
//! Elsewhere: the desk and the page itself, which sessions share (`room`).

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use midcall_core::{Elicitation, Values, Wanted};
use midcall_desk::{
    AskError, By, News, Outcome, SettleError, Submission, Ticket, TicketId, Unavailable, Watch,
    Withdrawn,
};
use midcall_store::{Memory, StoreError};
use tokio::sync::mpsc::UnboundedSender;

use super::Room;
use crate::claim::Waiting;
use crate::http::principal;
use crate::session::{Event, Turn};

/// What one session has on the desk.
pub struct Page {
    room: Room,
    /// How long its questions wait, unless they say so themselves.
    patience: Duration,
    tickets: HashMap<Turn, TicketId>,
    events: UnboundedSender<Event>,
}

impl Page {
    /// A page that tells its news to `events`.
    pub fn new(room: Room, patience: Duration, events: UnboundedSender<Event>) -> Self {
        Self {
            room,
            patience,
            tickets: HashMap::new(),
            events,
        }
    }

    /// Puts a question on the desk.
    pub async fn ask(&mut self, turn: Turn, elicitation: &Elicitation) {
        let room = match self.room.open().await {
            Ok(room) => room,
            Err(error) => {
                tracing::error!("nobody can be asked: {error:#}");
                let nobody = Outcome::Unavailable(Unavailable::NoRoute);
                return self.tell(Event::Ended(turn, nobody));
            }
        };
        let scope = principal();
        // Watched before it is asked, so that not even the fastest click is missed.
        let watch = match &elicitation.wanted {
            Wanted::Link(_) => room.desk.watch(&scope).await.ok(),
            Wanted::Form(_) => None,
        };
        let ticket = match room
            .desk
            .ask(&scope, elicitation, Some(self.patience))
            .await
        {
            Ok(ticket) => ticket,
            Err(AskError::Limited(why)) => return self.tell(Event::Refused(turn, why.to_string())),
            Err(AskError::Store(_)) => {
                let lost = Outcome::Unavailable(Unavailable::StoreLost);
                return self.tell(Event::Ended(turn, lost));
            }
        };
        let name = ticket.id();
        self.tickets.insert(turn, name);
        let status = room.desk.status(&scope, name).await.ok();
        self.tell(Event::Asked(
            turn,
            Waiting {
                deadline: status.map(|status| status.deadline),
                page: Some(room.door.origin()),
            },
        ));
        tokio::spawn(follow(turn, ticket, watch, self.events.clone()));
        self.room.bring();
    }

    /// Takes a question back.
    pub async fn withdraw(&mut self, turn: Turn, why: Withdrawn) {
        if let (Some(ticket), Some(room)) = (self.tickets.remove(&turn), self.room.is_open())
            && let Err(error) = room.desk.withdraw(ticket, why).await
        {
            tracing::warn!(%ticket, %error, "a question could not be taken back");
        }
    }

    /// Closes the question of a link that has served its purpose.
    pub async fn complete(&mut self, turn: Turn, by: By) {
        let (Some(&ticket), Some(room)) = (self.tickets.get(&turn), self.room.is_open()) else {
            return;
        };
        let done = Submission::Accept(Values::default());
        match room.desk.settle(&principal(), ticket, done, by).await {
            Ok(()) | Err(SettleError::Closed(_)) => {}
            Err(error) => tracing::warn!(%ticket, %error, "a link could not be closed"),
        }
    }

    /// Forgets a question that has ended.
    pub fn forget(&mut self, turn: Turn) {
        self.tickets.remove(&turn);
    }

    fn tell(&self, event: Event) {
        // Without a session nobody waits.
        let _ = self.events.send(event);
    }
}

/// Tells what becomes of a ticket: that its link was opened, how it ended.
async fn follow(
    turn: Turn,
    mut ticket: Ticket,
    mut watch: Option<Watch<Memory>>,
    events: UnboundedSender<Event>,
) {
    let name = ticket.id().to_string();
    loop {
        tokio::select! {
            biased;
            news = next(&mut watch) => match news {
                Ok(News::Opened { id, by }) if id == name => {
                    watch = None;
                    let _ = events.send(Event::Opened(turn, by));
                }
                Ok(_) => {}
                Err(_) => watch = None,
            },
            outcome = &mut ticket => {
                // Without a session nobody waits.
                let _ = events.send(Event::Ended(turn, outcome));
                return;
            }
        }
    }
}

async fn next(watch: &mut Option<Watch<Memory>>) -> Result<News, StoreError> {
    match watch {
        Some(watch) => watch.next().await,
        None => pending().await,
    }
}
