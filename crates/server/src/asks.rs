//! How a server asks: settings, and the calls that wait for an answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use midcall_core::catalog::Locale;
use midcall_core::model::ToolHints;
use midcall_core::seal::{Keys, Secret};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, Service};
use serde_json::Value;

use crate::answers::Answers;
use crate::ask::Ask;
use crate::asking::Patience;
use crate::call::{Call, Client, Method};
use crate::handler::Handler;
use crate::layer::Layer;
use crate::links::Links;
use crate::observe::{Answered, Asked};
use crate::park::Parks;
use crate::replicas::{Resume, unix};
use crate::shared::Shelf;
use crate::token;

/// How a server asks. Clones share the calls that wait, so that each connection of a server can have
/// its own layer:
///
/// ```
/// use midcall_server::Asks;
/// # #[derive(Clone)] struct Files;
/// # impl rmcp::ServerHandler for Files {}
///
/// let asks = Asks::new().within(std::time::Duration::from_secs(120));
/// let each_session = move || asks.around(Files);
/// # let _ = each_session();
/// ```
///
/// With one connection, [`WithAsks::with_asks`] is all there is to do.
#[derive(Clone)]
pub struct Asks {
    pub(crate) settings: Arc<Settings>,
    pub(crate) parks: Arc<Parks>,
    pub(crate) links: Arc<Mutex<Links>>,
}

#[derive(Clone)]
pub(crate) struct Settings {
    pub on: bool,
    pub patience: Patience,
    pub kept: Duration,
    pub most: usize,
    pub times: u32,
    pub model: bool,
    pub model_may_confirm: bool,
    pub locale: Locale,
    pub answers: Option<Answers>,
    pub prefilled: HashMap<String, Value>,
    pub keys: Keys,
    pub resume: Resume,
    pub store: Option<Arc<dyn Shelf>>,
    pub now: Arc<Now>,
    pub principal: Option<Arc<Principal>>,
    pub on_ask: Option<Arc<OnAsk>>,
    pub on_answer: Option<Arc<OnAnswer>>,
}

type Now = dyn Fn() -> u64 + Send + Sync;
type Principal = dyn Fn(&RequestContext<RoleServer>) -> Result<String, ErrorData> + Send + Sync;
type OnAsk = dyn Fn(&Asked<'_>) + Send + Sync;
type OnAnswer = dyn Fn(&Answered<'_>) + Send + Sync;

impl Asks {
    /// The usual settings: five minutes for an answer, ten thousand calls that wait, and a model
    /// may be told to ask where the client cannot.
    ///
    /// ```
    /// use midcall_server::Asks;
    /// let asks = Asks::new().within(std::time::Duration::from_secs(60)).at_most(100);
    /// ```
    pub fn new() -> Self {
        Self {
            settings: Arc::new(Settings {
                on: true,
                patience: Patience::USUAL,
                kept: Duration::from_secs(5 * 60),
                most: 10_000,
                times: 3,
                model: true,
                model_may_confirm: false,
                locale: Locale::default(),
                answers: None,
                prefilled: HashMap::new(),
                keys: Keys::new(Secret::from(token::bits())),
                resume: Resume::default(),
                store: None,
                now: Arc::new(|| unix(SystemTime::now())),
                principal: None,
                on_ask: None,
                on_answer: None,
            }),
            parks: Arc::default(),
            links: Arc::default(),
        }
    }

    pub(crate) fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// Puts the layer around a handler: any `rmcp` handler, macro routers included.
    ///
    /// ```
    /// use midcall_server::Asks;
    /// # #[derive(Clone)] struct Files;
    /// # impl rmcp::ServerHandler for Files {}
    ///
    /// let server = Asks::new().without_model().around(Files); // then `.serve(transport)`
    /// ```
    pub fn around<S: Service<RoleServer>>(&self, handler: S) -> Layer<S> {
        Layer::new(handler, self.clone())
    }

    /// The same as a handler, which `rmcp`'s Streamable HTTP service wants. Each session has its own,
    /// and all share these `Asks`. Make them before the closure, not in it: clients of 2026-07-28 have
    /// no session, and come back to another handler:
    ///
    /// ```
    /// use midcall_server::Asks;
    /// # #[derive(Clone)] struct Files;
    /// # impl rmcp::ServerHandler for Files {}
    /// use rmcp::transport::StreamableHttpService;
    /// use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
    ///
    /// let asks = Asks::new();
    /// let service: StreamableHttpService<_, LocalSessionManager> =
    ///     StreamableHttpService::new(move || Ok(asks.handler(Files)), Default::default(), Default::default());
    /// ```
    pub fn handler<H: ServerHandler>(&self, handler: H) -> Handler<H> {
        Handler::new(self.around(handler))
    }

    /// Asks nobody: for a command line, where the same tool runs without a client. Its questions are
    /// answered by what was given beforehand, by [`Answers`] for the tool of this name, by
    /// [`prefilled`](Self::prefilled), and any other is
    /// [`Nobody::NoClient`](crate::Nobody::NoClient).
    ///
    /// ```
    /// use midcall_server::{Answers, Ask, AskError, Asks};
    ///
    /// async fn delete_old(ask: Ask) -> Result<String, AskError> {
    ///     let sure = ask.confirm("Delete 3 files?").dangerous().await?.accepted()?;
    ///     Ok(if sure { "Deleted 3 files".into() } else { "Nothing was deleted".into() })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // As it stands in a file whose name came on the command line.
    /// let file = r#"{"answers": [{"message": "^Delete", "action": "accept", "content": {"confirmed": true}}]}"#;
    /// let asks = Asks::new().answers(Answers::read(file)?);
    /// assert_eq!(delete_old(asks.without_client("delete_old")).await?, "Deleted 3 files");
    /// # Ok(()) }
    /// ```
    pub fn without_client(&self, tool: impl Into<String>) -> Ask {
        if !self.settings.on {
            return Ask::off();
        }
        let method = Method::Tool;
        let hints = ToolHints::default();
        let call = Call::new(
            self.clone(),
            method,
            tool.into(),
            Client::none(),
            "".into(),
            hints,
            None,
        );
        Ask::in_call(call)
    }

    /// Switches asking off: every ask is [`AskError::Off`](crate::AskError::Off).
    ///
    /// ```
    /// let asks = midcall_server::Asks::new().off();
    /// ```
    pub fn off(self) -> Self {
        self.set(|settings| settings.on = false)
    }

    /// How long a question waits, unless it says [otherwise](crate::Question::within). Without this,
    /// five minutes. Clients are told what you set: a gateway between closes the question then.
    ///
    /// ```
    /// let asks = midcall_server::Asks::new().within(std::time::Duration::from_secs(60));
    /// ```
    pub fn within(self, patience: Duration) -> Self {
        self.set(|settings| settings.patience = Patience::set(patience))
    }

    /// How long the result of a call is kept for a client that lost it, after it has waited.
    ///
    /// ```
    /// let asks = midcall_server::Asks::new().keep_results(std::time::Duration::from_secs(30));
    /// ```
    pub fn keep_results(self, kept: Duration) -> Self {
        self.set(|settings| settings.kept = kept)
    }

    /// How many calls may wait between two requests of their clients, kept results included. One
    /// more, and the oldest result goes, else the oldest call that waits: of the same
    /// [principal](Self::principal) if there is one. Its client is told to call again. A call whose
    /// client is there stays.
    ///
    /// ```
    /// let asks = midcall_server::Asks::new().at_most(500);
    /// ```
    pub fn at_most(self, waiting: usize) -> Self {
        self.set(|settings| settings.most = waiting.max(1))
    }

    /// How often the same question is asked if answers do not fit. Three times, unless set.
    ///
    /// ```
    /// let asks = midcall_server::Asks::new().times(1);
    /// ```
    pub fn times(self, times: u32) -> Self {
        self.set(|settings| settings.times = times.max(1))
    }

    /// Never tells a model to ask: where the client cannot, nobody is asked.
    ///
    /// ```
    /// let asks = midcall_server::Asks::new().without_model();
    /// ```
    pub fn without_model(self) -> Self {
        self.set(|settings| settings.model = false)
    }

    /// Lets a model hand in a person's agreement to what may destroy something. Without this, no
    /// model may answer a [dangerous](crate::Question::dangerous) question, nor a yes-or-no
    /// question of a tool that does not say (`destructiveHint: false`) that it destroys nothing.
    ///
    /// ```
    /// let asks = midcall_server::Asks::new().model_may_confirm();
    /// ```
    pub fn model_may_confirm(self) -> Self {
        self.set(|settings| settings.model_may_confirm = true)
    }

    /// The language of what this crate adds to a question: hints, and why it is asked again.
    ///
    /// ```
    /// use midcall_server::{Asks, Locale};
    /// let asks = Asks::new().locale(Locale::PtBr);
    /// ```
    pub fn locale(self, locale: Locale) -> Self {
        self.set(|settings| settings.locale = locale)
    }

    /// Takes answers from a file before anybody is asked.
    ///
    /// ```
    /// use midcall_server::{Answers, Asks};
    ///
    /// let always = r#"{"answers": [{"action": "decline", "reason": "This is a test", "times": 1000}]}"#;
    /// let asks = Asks::new().answers(Answers::read(always)?);
    /// # Ok::<(), midcall_server::AnswersError>(())
    /// ```
    pub fn answers(self, answers: Answers) -> Self {
        self.set(|settings| settings.answers = Some(answers))
    }

    /// Answers a question beforehand, by its [id](crate::Question::id): with the content of its
    /// form, or with the value alone where the form has one field. What does not fit is asked.
    ///
    /// ```
    /// use midcall_server::Asks;
    /// # use serde_json::json;
    /// let asks = Asks::new().prefilled("city", "Lisbon").prefilled("trip", json!({"days": 3}));
    /// ```
    pub fn prefilled(self, id: impl Into<String>, answer: impl Into<Value>) -> Self {
        self.set(|settings| drop(settings.prefilled.insert(id.into(), answer.into())))
    }

    /// Seals what travels through clients with keys of yours. Without this, with keys that live as
    /// long as the process.
    ///
    /// A call waits in the process that it came to, whatever the keys. Behind several processes, see
    /// to it that a client of 2026-07-28 comes back to the same, or let tools run
    /// [again](Self::resume).
    ///
    /// ```
    /// use midcall_server::midcall_core::seal::{Keys, Secret};
    /// let asks = midcall_server::Asks::new().keys(Keys::new(Secret::from([7; 32])));
    /// ```
    pub fn keys(self, keys: Keys) -> Self {
        self.set(|settings| settings.keys = keys)
    }

    /// Who sends a request, as your authentication verified it. Calls that wait belong to them:
    /// nobody else can go on with one, even with its state. Without this, whoever has the state.
    /// An error is what the client gets instead of its call.
    ///
    /// Over HTTP, `rmcp` hands on what your middleware put into the request:
    ///
    /// ```
    /// # #[derive(Clone)] struct User(String);
    /// use rmcp::ErrorData;
    ///
    /// let asks = midcall_server::Asks::new().principal(|request| {
    ///     let parts = request.extensions.get::<http::request::Parts>();
    ///     let user = parts.and_then(|parts| parts.extensions.get::<User>());
    ///     let nobody = || ErrorData::invalid_request("sign in first", None);
    ///     user.map(|user| user.0.clone()).ok_or_else(nobody)
    /// });
    /// ```
    pub fn principal(
        self,
        principal: impl Fn(&RequestContext<RoleServer>) -> Result<String, ErrorData>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.set(|settings| settings.principal = Some(Arc::new(principal)))
    }

    /// Tells when a question is put.
    ///
    /// ```
    /// use midcall_server::Asks;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// static ASKED: AtomicU64 = AtomicU64::new(0);
    /// let asks = Asks::new().on_ask(|_| drop(ASKED.fetch_add(1, Ordering::Relaxed)));
    /// ```
    pub fn on_ask(self, observer: impl Fn(&Asked<'_>) + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.on_ask = Some(Arc::new(observer)))
    }

    /// Tells how a question ended.
    ///
    /// ```
    /// use midcall_server::{Asks, How};
    ///
    /// let asks = Asks::new().on_answer(|answered| if answered.how == How::Unfit {
    ///     println!("{} did not fit, time {}", answered.asked.key, answered.asked.time);
    /// });
    /// ```
    pub fn on_answer(self, observer: impl Fn(&Answered<'_>) + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.on_answer = Some(Arc::new(observer)))
    }

    pub(crate) fn principal_of(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let principal = self.settings.principal.as_ref();
        principal.map_or(Ok(String::new()), |principal| principal(context))
    }
}

impl Default for Asks {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Asks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asks")
            .field("on", &self.settings.on)
            .finish_non_exhaustive()
    }
}

/// Any `rmcp` handler can ask.
///
/// ```
/// use midcall_server::WithAsks;
/// # #[derive(Clone)] struct Files;
/// # impl rmcp::ServerHandler for Files {}
///
/// let server = Files.with_asks(); // then `.serve(transport)`, as ever
/// ```
///
/// What is no handler cannot:
///
/// ```compile_fail,E0599
/// use midcall_server::WithAsks;
/// "not a handler".with_asks();
/// ```
pub trait WithAsks: Service<RoleServer> + Sized {
    /// Puts the layer around this handler, with the usual settings.
    fn with_asks(self) -> Layer<Self> {
        Asks::new().around(self)
    }
}

impl<S: Service<RoleServer>> WithAsks for S {}
