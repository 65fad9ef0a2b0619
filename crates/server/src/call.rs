//! One call in which a tool may ask, and the ways its questions can go.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midcall_core::Checked;
use midcall_core::catalog::Locale;
use midcall_core::model::{NotForModels, ToolHints, may_ask};
use midcall_core::wire::{Era, Mode, Modes, Revision};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer::Answer;
use crate::asking::{Asking, Misfit, Reply, problems};
use crate::asks::Asks;
use crate::current::{Outside, Requests};
use crate::error::{AskError, Nobody};
use crate::inbox::{Inbox, Open};
use crate::live;
use crate::model;
use crate::observe::{Carrier, How, Observed};

/// A call in which a tool may ask.
pub(crate) struct Call {
    pub asks: Asks,
    pub method: Method,
    /// The tool or prompt, or the resource.
    pub name: String,
    pub client: Client,
    /// The server's own name, for people.
    pub server: Arc<str>,
    /// What the tool says of itself, where somebody needs to know.
    pub hints: ToolHints,
    requests: Mutex<Requests>,
    pub inbox: Inbox,
    pub outside: Outside,
    /// What the tool knows as the cancelling of its request: it has ended, or nobody waits for it.
    pub over: CancellationToken,
    /// Legacy clients and models are asked one question at a time.
    pub turn: tokio::sync::Mutex<()>,
    /// What the client is told of questions that the tool no longer waits for.
    pub farewells: TaskTracker,
    asked: AtomicU32,
}

/// The requests in which somebody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Tool,
    Prompt,
    Resource,
}

/// What a client says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub revision: Revision,
    pub modes: Modes,
}

impl Client {
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let version = context.protocol_version();
        let version = version.as_ref().map(|version| version.as_str());
        let revision = match version.map(str::parse) {
            Some(Ok(revision)) => revision,
            // A later one than we know, or none.
            Some(Err(_)) if version > Some("2026-07-28") => Revision::V2026_07_28,
            _ => Revision::V2025_03_26,
        };
        let capabilities = context.client_capabilities().unwrap_or_default();
        let said = capabilities.elicitation.as_ref();
        let experimental = capabilities.experimental.as_ref();
        let form = said.is_some_and(|said| said.form.is_some() || said.url.is_none())
            || experimental.is_some_and(|said| said.contains_key("elicitation"));
        let url = said.is_some_and(|said| said.url.is_some());
        Self {
            revision,
            modes: Modes {
                form: form && revision.elicits(),
                url: url && revision.links(),
            },
        }
    }

    /// Nobody calls: a script runs a tool by itself.
    pub fn none() -> Self {
        Self {
            revision: Revision::V2025_03_26,
            modes: Modes::default(),
        }
    }

    pub fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }
}

impl Call {
    pub fn new(
        asks: Asks,
        method: Method,
        name: String,
        client: Client,
        server: Arc<str>,
        hints: ToolHints,
    ) -> Arc<Self> {
        let call = Self {
            asks,
            method,
            name,
            client,
            server,
            hints,
            outside: Outside::default(),
            requests: Mutex::default(),
            inbox: Inbox::default(),
            over: CancellationToken::new(),
            turn: tokio::sync::Mutex::new(()),
            farewells: TaskTracker::new(),
            asked: AtomicU32::new(0),
        };
        Arc::new(call)
    }

    /// A name for a question that has none of its own.
    pub fn key(&self) -> String {
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        format!("question{}", before + 1)
    }

    pub fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question, once: the answer, or what is wrong with it. `read` makes of content that fits
    /// the form what the tool gets, if that fits too.
    pub async fn ask<V>(
        &self,
        asking: &Arc<Asking>,
        time: u32,
        read: impl FnOnce(Checked) -> Result<V, String>,
    ) -> Result<Result<Answer<V>, Misfit>, AskError> {
        let (observed, answer) = self.put(asking, time).await;
        let answer = answer.map(|answer| match answer? {
            Answer::Accepted(checked) => read(checked).map(Answer::Accepted).map_err(Misfit::once),
            Answer::Declined { reason } => Ok(Answer::Declined { reason }),
            Answer::Cancelled => Ok(Answer::Cancelled),
        });
        observed.ends(match &answer {
            Ok(Ok(Answer::Accepted(_))) => How::Accepted,
            Ok(Ok(Answer::Declined { .. })) => How::Declined,
            Ok(Ok(Answer::Cancelled)) => How::Cancelled,
            Ok(Err(_)) => How::Unfit,
            Err(AskError::TimedOut { .. }) => How::TimedOut,
            Err(_) => How::Failed,
        });
        answer
    }

    /// The same before anybody has read the answer, and who has to hear how it ends.
    async fn put<'a>(
        &'a self,
        asking: &'a Arc<Asking>,
        time: u32,
    ) -> (
        Observed<'a>,
        Result<Result<Answer<Checked>, Misfit>, AskError>,
    ) {
        let script = self.asks.settings.answers.as_ref();
        let script = script.and_then(|answers| answers.take(&asking.message, &self.name));
        let carrier = match script {
            Some(_) => Ok(Carrier::Script),
            None => self.carrier(asking),
        };
        let told = *carrier.as_ref().unwrap_or(&Carrier::Nobody);
        let observed = Observed::new(self, &asking.key, told, time);
        let answer = match (carrier, script) {
            (Err(nobody), _) => Err(nobody),
            (_, Some(reply)) => Ok(self.checked(asking, reply, None)),
            (Ok(carrier), None) => tokio::select! {
                biased;
                answer = self.send(asking, carrier) => answer,
                // A task that the tool left behind: its question is taken back.
                () = self.over.cancelled() => Err(AskError::Gone),
            },
        };
        (observed, answer)
    }

    /// A question was answered beforehand.
    pub fn given(&self, key: &str) {
        Observed::new(self, key, Carrier::Script, 1).ends(How::Accepted);
    }

    async fn send(
        &self,
        asking: &Arc<Asking>,
        carrier: Carrier,
    ) -> Result<Result<Answer<Checked>, Misfit>, AskError> {
        // A model is told one question at a time: the others wait their turn, and so do their clocks.
        let _turn = match carrier {
            Carrier::Model => Some(self.turn.lock().await),
            _ => None,
        };
        let said = match carrier {
            // Boxed: what a live question needs is much more than what one needs that is parked.
            Carrier::Live => Box::pin(live::ask(self, asking)).await?,
            _ => {
                let (reply, replied) = oneshot::channel();
                self.inbox.put(Open {
                    asking: asking.clone(),
                    carrier,
                    reply,
                });
                match timeout(asking.patience.time, replied).await {
                    Err(_) => {
                        let after = asking.patience.time;
                        return Err(AskError::TimedOut { after });
                    }
                    Ok(said) => *said.map_err(|_| AskError::Gone)?,
                }
            }
        };
        let reply = match said {
            Ok(reply) => reply,
            Err(misfit) => return Ok(Err(misfit)),
        };
        self.truly(asking, &reply)?;
        let words = (self.client.revision, self.asks.settings.locale);
        let told = Some(words).filter(|_| carrier != Carrier::Model);
        Ok(self.checked(asking, reply, told))
    }

    /// An answer that fits, or what is wrong with it.
    fn checked(
        &self,
        asking: &Asking,
        reply: Reply,
        told: Option<(Revision, Locale)>,
    ) -> Result<Answer<Checked>, Misfit> {
        let locale = self.asks.settings.locale;
        asking
            .check(reply, told)
            .map_err(|unfit| Misfit::once(problems(&unfit, locale)))
    }

    /// A gateway between says `cancel` for whatever is no answer, and how it really ended beside it.
    fn truly(&self, asking: &Asking, reply: &Reply) -> Result<(), AskError> {
        let state = reply.outcome.as_ref();
        let state = state.and_then(|outcome| outcome.get("state")?.as_str());
        match state {
            Some("timed_out") => Err(AskError::TimedOut {
                after: asking.patience.time,
            }),
            // Nobody put it away: the call was given up, or the gateway ends.
            Some("withdrawn") => Err(AskError::Gone),
            Some("unavailable") => Err(AskError::Unavailable {
                why: Nobody::Unreached,
                required: None,
            }),
            _ => Ok(()),
        }
    }

    fn carrier(&self, asking: &Asking) -> Result<Carrier, AskError> {
        let mode = asking.mode();
        if self.client.modes.has(mode) {
            return Ok(match self.client.revision.era() {
                Era::Legacy => Carrier::Live,
                Era::Modern => Carrier::Round,
            });
        }
        let settings = &self.asks.settings;
        let why = if self.current().is_none() {
            Nobody::NoClient
        } else if !settings.model {
            Nobody::Undeclared(mode)
        } else {
            match may_ask(
                model::facts(asking),
                [self.hints],
                settings.model_may_confirm,
            ) {
                Err(NotForModels::Link) => Nobody::Link,
                _ if self.method != Method::Tool => Nobody::NotATool,
                Err(NotForModels::Secret) => {
                    unreachable!("no form that asks for a secret is built")
                }
                Err(NotForModels::Destructive) => {
                    match (asking.dangerous, self.hints.destructive) {
                        (true, Some(false)) => Nobody::Contradictory,
                        (true, _) => Nobody::Dangerous,
                        (false, _) => Nobody::Destructive,
                    }
                }
                Ok(()) => return Ok(Carrier::Model),
            }
        };
        Err(self.nobody(why, asking))
    }

    fn nobody(&self, why: Nobody, asking: &Asking) -> AskError {
        let mode = asking.mode();
        let modes = Modes {
            form: mode == Mode::Form,
            url: mode == Mode::Url,
        };
        let required = self.client.is_modern().then_some(modes);
        AskError::Unavailable { why, required }
    }
}
