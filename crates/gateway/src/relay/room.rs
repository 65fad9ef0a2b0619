//! The desk and its page, shared by all sessions of a process.
//!
//! Nothing is bound and no browser is opened before the first question, unless the page is
//! announced. A page that is open is used again, whichever gateway of this person it is of
//! (`tab`); when a person has closed it, the next question opens it again.

mod tab;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use midcall_desk::{Desk, Rules};
use midcall_store::{Mailroom, Memory};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::awake::within;
use crate::http::announce::Announced;
use crate::http::{Bounds, Door, Server};
use crate::local::{self, Flags, LocalDesk, Site};

/// Where questions wait, and where people come to answer them.
#[derive(Clone)]
pub struct Room(Arc<Inner>);

struct Inner {
    /// How the page is bound, unless it was given.
    wanted: Option<(Flags, Rules)>,
    /// Whether a browser is opened.
    opens: bool,
    open: OnceCell<Open>,
    serving: Mutex<Option<Serving>>,
    /// Brings the page before the person, until it is there.
    bringing: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// A room whose page is there.
#[derive(Clone)]
pub struct Open {
    pub desk: LocalDesk,
    pub door: Door,
}

/// A page that we serve.
struct Serving {
    closing: CancellationToken,
    task: JoinHandle<()>,
    announced: Vec<Announced>,
}

/// How long the last responses may take to get out. Whoever started us waits for our end.
const GOODBYE: Duration = Duration::from_secs(1);

impl Room {
    /// A room that is opened at the first question.
    pub fn new(flags: Flags, rules: Rules, opens: bool) -> Self {
        Self::with(Some((flags, rules)), opens, OnceCell::new())
    }

    /// A desk and a page that somebody else serves.
    pub fn of(desk: LocalDesk, door: Door, opens: bool) -> Self {
        Self::with(None, opens, OnceCell::new_with(Some(Open { desk, door })))
    }

    fn with(wanted: Option<(Flags, Rules)>, opens: bool, open: OnceCell<Open>) -> Self {
        Self(Arc::new(Inner {
            wanted,
            opens,
            open,
            serving: Mutex::default(),
            bringing: Mutex::default(),
        }))
    }

    /// The room, opened if it is not yet.
    pub async fn open(&self) -> anyhow::Result<&Open> {
        self.0.open.get_or_try_init(|| self.bind()).await
    }

    /// The room, if it is open.
    pub fn is_open(&self) -> Option<&Open> {
        self.0.open.get()
    }

    async fn bind(&self) -> anyhow::Result<Open> {
        let (flags, rules) = (self.0.wanted.as_ref()).expect("a room that was given is open");
        let mut server = Server::bind(flags.page_addr, Bounds::default()).await?;
        let desk = Desk::open(Memory::default(), Mailroom::default(), rules.clone()).await?;
        let closing = CancellationToken::new();
        let joined = local::join(&mut server);
        let announced = flags.announce(&server)?.into_iter().chain(joined);
        let door = server.door();
        tracing::info!(page = door.origin(), "the page is there");
        let task = server.serve(desk.clone(), Site::default(), closing.clone());
        *self.0.serving.lock().expect("nobody panics holding it") = Some(Serving {
            closing,
            announced: announced.collect(),
            task: tokio::spawn(task),
        });
        Ok(Open { desk, door })
    }

    /// Sees to it that a person has the page before them.
    pub fn bring(&self) {
        let Some(open) = self.is_open().filter(|_| self.0.opens) else {
            return;
        };
        let mut bringing = (self.0.bringing.lock()).expect("nobody panics holding it");
        let is_coming = (bringing.as_ref()).is_some_and(|bringing| !bringing.is_finished());
        if !open.door.is_open() && !is_coming {
            let task = tokio::spawn(tab::bring(open.door.clone()));
            *bringing = Some(AbortOnDropHandle::new(task));
        }
    }

    /// Takes everything back, and lets the last responses out.
    pub async fn close(&self) {
        let serving = (self.0.serving.lock())
            .expect("nobody panics holding it")
            .take();
        let (Some(serving), Some(open)) = (serving, self.is_open()) else {
            return;
        };
        open.desk.shut_down().await;
        drop(serving.announced); // While the door is still ours: nobody else is taken for us.
        serving.closing.cancel();
        let _ = within(GOODBYE, serving.task).await;
    }
}
