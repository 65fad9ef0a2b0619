//! The page on this machine: questions wait at the desk until a person answers there.
//!
//! Nothing is bound and no browser is opened before the first question, unless the page is
//! announced. A page that is open is used again, whichever gateway of this person it is of
//! (`tab`); when a person has closed it, the next question opens it again.
//!
//! In: [`Page::ask`], [`Page::withdraw`], [`Page::complete`]. Out: [`Event`]s.

mod tab;

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use midcall_core::{Elicitation, Values, Wanted};
use midcall_desk::{
    AskError, By, Desk, News, Outcome, Rules, SettleError, Submission, Ticket, TicketId,
    Unavailable, Watch, Withdrawn,
};
use midcall_store::{Mailroom, Memory, StoreError};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::claim::Waiting;
use crate::http::announce::Announced;
use crate::http::{Bounds, Door, Server, principal};
use crate::local::{self, Flags, LocalDesk, Site};
use crate::session::{Event, Turn};

/// The page as a route.
pub struct Page {
    flags: Flags,
    rules: Rules,
    /// Whether a browser is opened.
    opens: bool,
    bound: Option<Bound>,
    tickets: HashMap<Turn, TicketId>,
    events: UnboundedSender<Event>,
}

/// A page that is there.
struct Bound {
    desk: LocalDesk,
    door: Door,
    closing: CancellationToken,
    serving: JoinHandle<()>,
    /// Brings the page before the person, until it is there.
    bringing: Option<AbortOnDropHandle<()>>,
    announced: Vec<Announced>,
}

/// How long the last responses may take to get out. Whoever started us waits for our end.
const GOODBYE: Duration = Duration::from_secs(1);

impl Page {
    /// A page that tells its news to `events`.
    pub fn new(flags: Flags, rules: Rules, opens: bool, events: UnboundedSender<Event>) -> Self {
        Self {
            flags,
            rules,
            opens,
            bound: None,
            tickets: HashMap::new(),
            events,
        }
    }

    /// Binds it, if it is not bound yet.
    pub async fn bind(&mut self) -> anyhow::Result<()> {
        if self.bound.is_none() {
            let mut server = Server::bind(self.flags.page_addr, Bounds::default()).await?;
            let mut rules = self.rules.clone();
            rules.patience = self.flags.timeout;
            let desk = Desk::open(Memory::default(), Mailroom::default(), rules).await?;
            let closing = CancellationToken::new();
            let joined = local::join(&mut server);
            let announced = self.flags.announce(&server)?.into_iter().chain(joined);
            let door = server.door();
            tracing::info!(page = door.origin(), "the page is there");
            self.bound = Some(Bound {
                desk: desk.clone(),
                door,
                bringing: None,
                announced: announced.collect(),
                closing: closing.clone(),
                serving: tokio::spawn(server.serve(desk, Site::default(), closing)),
            });
        }
        Ok(())
    }

    /// Puts a question on the desk.
    pub async fn ask(&mut self, turn: Turn, elicitation: &Elicitation) {
        if let Err(error) = self.bind().await {
            tracing::error!("nobody can be asked: {error:#}");
            let nobody = Outcome::Unavailable(Unavailable::NoRoute);
            return self.tell(Event::Ended(turn, nobody));
        }
        let Some(bound) = &self.bound else { return };
        let scope = principal();
        // Watched before it is asked, so that not even the fastest click is missed.
        let watch = match &elicitation.wanted {
            Wanted::Link(_) => bound.desk.watch(&scope).await.ok(),
            Wanted::Form(_) => None,
        };
        let ticket = match bound.desk.ask(&scope, elicitation, None).await {
            Ok(ticket) => ticket,
            Err(AskError::Limited(why)) => return self.tell(Event::Refused(turn, why.to_string())),
            Err(AskError::Store(_)) => {
                let lost = Outcome::Unavailable(Unavailable::StoreLost);
                return self.tell(Event::Ended(turn, lost));
            }
        };
        let name = ticket.id();
        self.tickets.insert(turn, name);
        let status = bound.desk.status(&scope, name).await.ok();
        self.tell(Event::Asked(
            turn,
            Waiting {
                deadline: status.map(|status| status.deadline),
                page: Some(bound.door.origin()),
            },
        ));
        tokio::spawn(follow(turn, ticket, watch, self.events.clone()));
        self.bring();
    }

    /// Sees to it that a person has the page before them.
    fn bring(&mut self) {
        let Some(bound) = self.bound.as_mut().filter(|_| self.opens) else {
            return;
        };
        let is_coming = (bound.bringing.as_ref()).is_some_and(|bringing| !bringing.is_finished());
        if !bound.door.is_open() && !is_coming {
            let bringing = tokio::spawn(tab::bring(bound.door.clone()));
            bound.bringing = Some(AbortOnDropHandle::new(bringing));
        }
    }

    /// Takes a question back.
    pub async fn withdraw(&mut self, turn: Turn, why: Withdrawn) {
        if let (Some(ticket), Some(bound)) = (self.tickets.remove(&turn), &self.bound)
            && let Err(error) = bound.desk.withdraw(ticket, why).await
        {
            tracing::warn!(%ticket, %error, "a question could not be taken back");
        }
    }

    /// Closes the question of a link that has served its purpose.
    pub async fn complete(&mut self, turn: Turn, by: By) {
        let (Some(&ticket), Some(bound)) = (self.tickets.get(&turn), &self.bound) else {
            return;
        };
        let done = Submission::Accept(Values::default());
        match bound.desk.settle(&principal(), ticket, done, by).await {
            Ok(()) | Err(SettleError::Closed(_)) => {}
            Err(error) => tracing::warn!(%ticket, %error, "a link could not be closed"),
        }
    }

    /// Forgets a question that has ended.
    pub fn forget(&mut self, turn: Turn) {
        self.tickets.remove(&turn);
    }

    /// Takes everything back, and lets the last responses out.
    pub async fn close(self) {
        if let Some(bound) = self.bound {
            bound.desk.shut_down().await;
            drop(bound.announced); // While the door is still ours: nobody else is taken for us.
            bound.closing.cancel();
            let _ = timeout(GOODBYE, bound.serving).await;
        }
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
