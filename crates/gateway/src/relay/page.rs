//! The page as one session's route: its questions wait at the desk until a person answers there.
//!
//! In: [`Page::ask`], [`Page::withdraw`], [`Page::complete`]. Out: [`Page::next`].
//! Not here: the desk and the page itself, which sessions share (`room`).

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use midcall_core::{Elicitation, Scope, Values, Wanted};
use midcall_desk::{
    AskError, By, News, Outcome, SettleError, Submission, Ticket, TicketId, Unavailable, Watch,
    Withdrawn,
};
use midcall_store::{Memory, StoreError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::relay::Room;
use crate::route::Setup;
use crate::session::{Input, QuestionId, Waiting};

/// What one session has on the desk.
pub struct Page {
    room: Room,
    /// How long its questions wait, unless they say so themselves.
    patience: Duration,
    /// Whose questions they are.
    scope: Scope,
    tickets: HashMap<QuestionId, TicketId>,
    /// What happened there, on its way to the session.
    news: UnboundedReceiver<Input>,
    events: UnboundedSender<Input>,
}

impl Page {
    /// A page for the questions of sessions that are set up like this.
    pub fn new(room: Room, setup: &Setup) -> Self {
        let (events, news) = unbounded_channel();
        Self {
            room,
            patience: setup.patience(),
            scope: setup.scope.clone(),
            tickets: HashMap::new(),
            news,
            events,
        }
    }

    /// Waits for what happens to a question. Nothing is lost if the caller stops waiting.
    pub async fn next(&mut self) -> Input {
        let input = self.news.recv().await;
        let input = input.expect("this page holds a sender");
        if let Input::Ended(question, _) = &input {
            self.tickets.remove(question);
        }
        input
    }

    /// Puts a question on the desk.
    pub async fn ask(&mut self, question: QuestionId, elicitation: &Elicitation) {
        let room = match self.room.open().await {
            Ok(room) => room,
            Err(error) => {
                tracing::error!("nobody can be asked: {error:#}");
                let nobody = Outcome::Unavailable(Unavailable::NoRoute);
                return self.tell(Input::Ended(question, nobody));
            }
        };
        let scope = &self.scope;
        // Watched before it is asked, so that not even the fastest click is missed.
        let watch = match &elicitation.wanted {
            Wanted::Link(_) => room.desk.watch(scope).await.ok(),
            Wanted::Form(_) => None,
        };
        let ticket = match room.desk.ask(scope, elicitation, Some(self.patience)).await {
            Ok(ticket) => ticket,
            Err(AskError::Limited(why)) => {
                return self.tell(Input::Refused(question, why.to_string()));
            }
            Err(AskError::Store(_)) => {
                let lost = Outcome::Unavailable(Unavailable::StoreLost);
                return self.tell(Input::Ended(question, lost));
            }
        };
        let name = ticket.id();
        self.tickets.insert(question, name);
        let status = room.desk.status(scope, name).await.ok();
        self.tell(Input::Asked(
            question,
            Waiting {
                deadline: status.map(|status| status.deadline),
                page: Some(room.door.origin()),
            },
        ));
        tokio::spawn(follow(question, ticket, watch, self.events.clone()));
        self.room.bring();
    }

    /// Takes a question back.
    pub async fn withdraw(&mut self, question: QuestionId, why: Withdrawn) {
        if let (Some(ticket), Some(room)) = (self.tickets.remove(&question), self.room.is_open())
            && let Err(error) = room.desk.withdraw(ticket, why).await
        {
            tracing::warn!(%ticket, %error, "a question could not be taken back");
        }
    }

    /// Closes the question of a link that has served its purpose.
    pub async fn complete(&mut self, question: QuestionId, by: By) {
        let (Some(&ticket), Some(room)) = (self.tickets.get(&question), self.room.is_open()) else {
            return;
        };
        let done = Submission::Accept(Values::default());
        match room.desk.settle(&self.scope, ticket, done, by).await {
            Ok(()) | Err(SettleError::Closed(_)) => {}
            Err(error) => tracing::warn!(%ticket, %error, "a link could not be closed"),
        }
    }

    fn tell(&self, input: Input) {
        let _ = self.events.send(input); // The receiver is ours.
    }
}

/// Tells what becomes of a ticket: that its link was opened, how it ended.
async fn follow(
    question: QuestionId,
    mut ticket: Ticket,
    mut watch: Option<Watch<Memory>>,
    events: UnboundedSender<Input>,
) {
    let name = ticket.id().to_string();
    loop {
        tokio::select! {
            biased;
            news = next_news(&mut watch) => match news {
                Ok(News::Opened { id, by, .. }) if id == name => {
                    watch = None;
                    let _ = events.send(Input::Opened(question, by));
                }
                Ok(_) => {}
                Err(_) => watch = None,
            },
            outcome = &mut ticket => {
                // Without a session nobody waits.
                let _ = events.send(Input::Ended(question, outcome));
                return;
            }
        }
    }
}

async fn next_news(watch: &mut Option<Watch<Memory>>) -> Result<News, StoreError> {
    match watch {
        Some(watch) => watch.next().await,
        None => pending().await,
    }
}
