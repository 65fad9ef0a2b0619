//! The page as one session's route: its questions wait at the desk until a person answers there.
//!
//! In: [`Page::ask`], [`Page::withdraw`], [`Page::complete`], [`Page::renew`], and what became of answers
//! ([`Page::sent`] and others). Out: [`Page::next`].
//! Not here: the desk and the page itself, which sessions share (`room`).

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use midcall_core::{Elicitation, Link, Scope, Values, Wanted};
use midcall_desk::{
    AskError, By, Lost, News, Outcome, SettleError, Submission, Ticket, TicketId, Unavailable,
    Watch, Withdrawn,
};
use midcall_store::{Memory, StoreError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::local::LocalDesk;
use crate::relay::Room;
use crate::route::Setup;
use crate::session::{Input, QuestionId, Waiting};

/// What one session has on the desk.
pub struct Page {
    room: Room,
    /// What the person calls the server.
    server: String,
    /// How long its questions wait, unless they say so themselves.
    patience: Duration,
    /// Whose questions they are.
    scope: Scope,
    /// Those that are open, or answered and not known to have arrived.
    tickets: HashMap<QuestionId, TicketId>,
    /// What happened there, on its way to the session.
    news: UnboundedReceiver<Input>,
    events: UnboundedSender<Input>,
}

impl Page {
    /// A page for the questions of sessions that are set up like this.
    pub fn new(room: Room, setup: &Setup) -> Self {
        let (events, news) = unbounded_channel();
        if let Some(open) = room.is_open() {
            open.door.roster.add(&setup.asker.server);
        }
        Self {
            room,
            server: setup.asker.server.clone(),
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
        if let Input::Ended(question, outcome) = &input
            && !matches!(outcome, Outcome::Answered(..))
        {
            self.tickets.remove(question);
        }
        input
    }

    /// True if something may still happen to a question, or to its answer.
    pub fn has_tickets(&self) -> bool {
        !self.tickets.is_empty()
    }

    /// Puts a question on the desk.
    pub async fn ask(
        &mut self,
        question: QuestionId,
        ticket: Option<TicketId>,
        elicitation: &Elicitation,
    ) {
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
        let patience = Some(self.patience);
        let asked = match ticket {
            Some(id) => room.desk.ask_as(id, scope, elicitation, patience).await,
            None => room.desk.ask(scope, elicitation, patience).await,
        };
        let ticket = match asked {
            Ok(ticket) => ticket,
            Err(AskError::Limited(why)) => {
                return self.tell(Input::Refused(question, why.to_string()));
            }
            Err(AskError::Store(_)) => {
                let lost = Outcome::Unavailable(Unavailable::StoreLost);
                return self.tell(Input::Ended(question, lost));
            }
        };
        let asker = &elicitation.asker.server;
        room.door.roster.asks(&self.server, asker);
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
        let desk = (room.desk.clone(), scope.clone());
        tokio::spawn(follow(question, ticket, watch, self.events.clone(), desk));
        self.room.bring();
    }

    /// Leaves a question on the desk to another process.
    pub fn detach(&mut self, question: QuestionId) {
        if let (Some(ticket), Some(room)) = (self.tickets.remove(&question), self.room.is_open()) {
            room.desk.detach(ticket);
        }
    }

    /// Takes a question back.
    pub async fn withdraw(&mut self, question: QuestionId, why: Withdrawn) {
        if let (Some(&ticket), Some(room)) = (self.tickets.get(&question), self.room.is_open())
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

    /// An opened link leads elsewhere by now.
    pub async fn renew(&mut self, question: QuestionId, link: &Link) {
        let (Some(&ticket), Some(room), Some(url)) = (
            self.tickets.get(&question),
            self.room.is_open(),
            link.href(),
        ) else {
            return;
        };
        match room.desk.renew(&self.scope, ticket, url).await {
            Ok(()) | Err(SettleError::Closed(_)) => {}
            Err(error) => tracing::warn!(%ticket, %error, "a link could not be renewed"),
        }
    }

    /// The answer to a question went to the server.
    pub async fn sent(&mut self, question: QuestionId) {
        if let (Some(&ticket), Some(room)) = (self.tickets.get(&question), self.room.is_open()) {
            noted(ticket, room.desk.sent(&self.scope, ticket).await);
        }
    }

    /// What waited for an answer went on.
    pub async fn delivered(&mut self, question: QuestionId) {
        if let (Some(ticket), Some(room)) = (self.tickets.remove(&question), self.room.is_open()) {
            noted(ticket, room.desk.delivered(&self.scope, ticket).await);
        }
    }

    /// An answer didn't arrive, or may not have.
    pub async fn undelivered(&mut self, question: QuestionId, why: Lost) {
        if let (Some(ticket), Some(room)) = (self.tickets.remove(&question), self.room.is_open()) {
            noted(
                ticket,
                room.desk.undelivered(&self.scope, ticket, why).await,
            );
        }
    }

    /// Nothing more will be known of an answer.
    pub fn forget(&mut self, question: QuestionId) {
        self.tickets.remove(&question);
    }

    fn tell(&self, input: Input) {
        let _ = self.events.send(input); // The receiver is ours.
    }
}

fn noted(ticket: TicketId, noted: Result<(), StoreError>) {
    if let Err(error) = noted {
        tracing::warn!(%ticket, %error, "what became of an answer could not be noted");
    }
}

/// Tells what becomes of a ticket: that its link was opened, how it ended. Without a session, an answer is lost.
async fn follow(
    question: QuestionId,
    mut ticket: Ticket,
    mut watch: Option<Watch<Memory>>,
    events: UnboundedSender<Input>,
    (desk, scope): (LocalDesk, Scope),
) {
    let id = ticket.id();
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
                if events.send(Input::Ended(question, outcome)).is_err() {
                    let lost = desk.undelivered(&scope, id, Lost::Dropped).await;
                    noted(id, lost);
                }
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
