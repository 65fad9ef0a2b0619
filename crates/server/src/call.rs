//! One call in which a tool may ask, and the ways its questions can go.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use midcall_core::Checked;
use midcall_core::catalog::Locale;
use midcall_core::model::{NotForModels, ToolHints, may_ask};
use midcall_core::wire::{Era, Mode, Modes, Revision};
use midcall_store::Version;
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
use crate::journal::{Ended, Journal, Position, Recalled, Record};
use crate::live;
use crate::model;
use crate::observe::{Carrier, How, Observed};
use crate::once::Effects;
use crate::replicas::Resume;
use crate::running::Outcome;
use crate::shared::{RENEWED, Shared};
use crate::token;

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
    /// What was said so far. None where the tool never runs again.
    pub journal: Option<Box<Journal>>,
    /// What replicas have in common of it, if they do.
    pub shared: Option<Box<Shared>>,
    pub effects: Effects,
    /// How many questions were put, how many of them without a name, and how many links were made.
    questions: AtomicU32,
    unnamed: AtomicU32,
    links: AtomicU32,
}

/// What is known of a call whose tool may run more than once.
pub(crate) struct Again {
    pub record: Record,
    pub shared: Option<Box<Shared>>,
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
        again: Option<Again>,
    ) -> Arc<Self> {
        let (record, shared) = match again {
            Some(again) => (Some(again.record), again.shared),
            None => (None, None),
        };
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
            journal: record.map(|record| Box::new(Journal::new(record))),
            shared,
            effects: Effects::default(),
            questions: AtomicU32::new(0),
            unnamed: AtomicU32::new(0),
            links: AtomicU32::new(0),
        };
        Arc::new(call)
    }

    /// A name for a question that has none of its own.
    pub fn key(&self) -> String {
        let before = self.unnamed.fetch_add(1, Ordering::Relaxed);
        format!("question{}", before + 1)
    }

    /// The number of a question that is about to be put.
    pub fn question(&self) -> u32 {
        self.questions.fetch_add(1, Ordering::Relaxed)
    }

    /// How many questions were put.
    pub fn questions(&self) -> u32 {
        self.questions.load(Ordering::Relaxed)
    }

    /// An id for a link, the same each time the tool runs.
    pub fn link_id(&self) -> String {
        let nth = self.links.fetch_add(1, Ordering::Relaxed);
        match &self.journal {
            Some(journal) => token::derived(&journal.seed(), &format!("link {nth}")),
            None => token::random(),
        }
    }

    /// Its tool may run in two processes at once, if a client sends one retry to both.
    pub fn may_run_twice(&self) -> bool {
        self.journal.is_some() && self.shared.is_none()
    }

    /// No run of its tool is kept while its client is away.
    pub fn is_replayed_only(&self) -> bool {
        self.journal.is_some() && self.asks.settings.resume == Resume::ReplayOnly
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
        if let Some(observed) = observed {
            observed.ends(match &answer {
                Ok(Ok(Answer::Accepted(_))) => How::Accepted,
                Ok(Ok(Answer::Declined { .. })) => How::Declined,
                Ok(Ok(Answer::Cancelled)) => How::Cancelled,
                Ok(Err(_)) => How::Unfit,
                Err(AskError::TimedOut { .. }) => How::TimedOut,
                Err(_) => How::Failed,
            });
        }
        answer
    }

    /// The same before anybody has read the answer, and who has to hear how it ends. Nobody has where an
    /// earlier run of the tool told of it.
    async fn put<'a>(
        &'a self,
        asking: &'a Arc<Asking>,
        time: u32,
    ) -> (
        Option<Observed<'a>>,
        Result<Result<Answer<Checked>, Misfit>, AskError>,
    ) {
        let position = Position(asking.question, time);
        let patience = match self.recall(asking, position) {
            Err(diverged) => return (None, Err(diverged)),
            Ok(Recalled::New) => asking.patience.time,
            Ok(Recalled::Open(seconds)) => asking.patience.time.min(Duration::from_secs(seconds)),
            Ok(Recalled::Said { ended, is_new }) => {
                let observed =
                    is_new.then(|| Observed::new(self, &asking.key, Carrier::Round, time));
                // Whatever was asked beside it is asked before the tool goes on: in the same order.
                let replaying = self.inbox.replays();
                tokio::task::yield_now().await;
                drop(replaying);
                return (observed, self.heard(asking, ended));
            }
        };
        let script = self.asks.settings.answers.as_ref();
        let script = script.and_then(|answers| answers.take(&asking.message, &self.name));
        let carrier = match script {
            Some(_) => Ok(Carrier::Script),
            None => self.carrier(asking),
        };
        let told = *carrier.as_ref().unwrap_or(&Carrier::Nobody);
        let observed = Observed::new(self, &asking.key, told, time);
        let ended = match (carrier, script) {
            (Err(nobody), _) => Err(nobody),
            (_, Some(reply)) => Ok(Ended::Reply {
                reply: Box::new(reply),
                by_client: false,
            }),
            (Ok(carrier), None) => tokio::select! {
                biased;
                ended = self.send(asking, carrier, patience) => ended,
                // A task that the tool left behind: its question is taken back.
                () = self.over.cancelled() => Err(AskError::Gone),
            },
        };
        let answer = ended.and_then(|ended| {
            if let Some(journal) = &self.journal {
                journal.ended(position, &ended);
            }
            self.heard(asking, ended)
        });
        (Some(observed), answer)
    }

    /// What an earlier run of the tool knows of a question.
    fn recall(&self, asking: &Asking, position: Position) -> Result<Recalled, AskError> {
        let Some(journal) = &self.journal else {
            return Ok(Recalled::New);
        };
        let settings = &self.asks.settings;
        journal
            .recall(asking, position, (settings.now)(), settings.times)
            .map_err(|diverged| AskError::Diverged(Box::new(diverged)))
    }

    /// What the tool makes of how a question ended.
    fn heard(
        &self,
        asking: &Asking,
        ended: Ended,
    ) -> Result<Result<Answer<Checked>, Misfit>, AskError> {
        let (reply, by_client) = match ended {
            Ended::Reply { reply, by_client } => (reply, by_client),
            Ended::Misfit(misfit) => return Ok(Err(misfit)),
            Ended::TimedOut => {
                let after = asking.patience.time;
                return Err(AskError::TimedOut { after });
            }
        };
        if by_client {
            self.truly(asking, &reply)?;
        }
        let words = (self.client.revision, self.asks.settings.locale);
        Ok(self.checked(asking, *reply, by_client.then_some(words)))
    }

    /// A question was answered beforehand.
    pub fn given(&self, key: &str) {
        Observed::new(self, key, Carrier::Script, 1).ends(How::Accepted);
    }

    async fn send(
        &self,
        asking: &Arc<Asking>,
        carrier: Carrier,
        patience: Duration,
    ) -> Result<Ended, AskError> {
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
                match timeout(patience, replied).await {
                    Err(_) => {
                        Box::pin(self.goes_on()).await?; // Room that no parked call needs.
                        return Ok(Ended::TimedOut);
                    }
                    Ok(said) => *said.map_err(|_| AskError::Gone)?,
                }
            }
        };
        // A model says the form's own words.
        let by_client = carrier != Carrier::Model;
        Ok(match said {
            Ok(reply) => Ended::Reply {
                reply: Box::new(reply),
                by_client,
            },
            Err(misfit) => Ended::Misfit(misfit),
        })
    }

    /// The version of its page that this process wrote last.
    pub async fn version(&self) -> Option<Version> {
        self.shared.as_ref()?.version().await
    }

    /// Tells other replicas that this one still goes on with the call, and ends once another one does.
    pub async fn elsewhere(self: Arc<Self>) {
        let Some(shared) = &self.shared else {
            return std::future::pending().await;
        };
        loop {
            tokio::select! {
                () = self.over.cancelled() => return,
                () = tokio::time::sleep(RENEWED) => shared.renew().await,
            }
        }
    }

    /// The tool has ended, after this round. `false` if another process goes on with the call.
    pub async fn ended(&self, round: String, outcome: &Outcome) -> bool {
        let (Some(shared), Some(journal)) = (&self.shared, &self.journal) else {
            return true;
        };
        // Where the store fails the client that waits hears the result all the same.
        let ended = shared.end(round, journal.record(), outcome).await;
        ended.unwrap_or(true)
    }

    /// The tool goes on by itself, since nobody answered in time. It does not come back where another
    /// process goes on with the call.
    async fn goes_on(&self) -> Result<(), AskError> {
        let (Some(shared), Some(journal)) = (&self.shared, &self.journal) else {
            return Ok(());
        };
        if shared.version().await.is_none() {
            return Ok(()); // No other process knows of it.
        }
        if !shared.take_back(journal.record()).await? {
            self.over.cancel();
            std::future::pending::<()>().await;
        }
        Ok(())
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
            .map_err(|unfit| Misfit::once(problems(&unfit, asking, locale)))
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
