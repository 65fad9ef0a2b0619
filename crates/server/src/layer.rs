//! The layer: what becomes of each request of a client.
//!
//! In: requests as `rmcp` reads them. Out: the handler's results, rounds, and what a model is told.
//! Elsewhere: requests in which a handler can ask (`asker`), coming back to a call that waits
//! (`resume`), calls that wait (`park`), which way a question goes (`call`).

mod asker;
mod rejoin;
mod resume;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use midcall_core::model::{ModelAnswer, ToolHints, error, widened};
use midcall_core::wire::{InputResponses, Members, member};
use rmcp::model::{
    CacheScope, ClientNotification, ClientRequest, CustomResult, JsonObject, ListToolsRequest,
    PaginatedRequestParams, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, Service};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::ask::Ask;
use crate::asks::Asks;
use crate::call::{Again, Call, Client, Method};
use crate::current::Current;
use crate::error::{AskError, Nobody};
use crate::inbox::Questions;
use crate::journal::Record;
use crate::model::{self, Tools};
use crate::observe::Carrier;
use crate::park::{First, Round};
use crate::place::{Brought, LONGEST, Place, Untold};
use crate::running::Running;
use crate::shared::Shared;
use crate::token;
use asker::Asker;
use resume::Back;

/// A handler whose tools, prompts and resources can ask: [`Asks::around`],
/// [`WithAsks::with_asks`](crate::WithAsks::with_asks). It is a service like the handler itself.
///
/// ```no_run
/// use midcall_server::WithAsks;
/// use rmcp::ServiceExt;
/// # #[derive(Clone)] struct Files;
/// # impl rmcp::ServerHandler for Files {}
///
/// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Files.with_asks().serve((tokio::io::stdin(), tokio::io::stdout())).await?;
/// server.waiting().await?;
/// # Ok(()) }
/// ```
pub struct Layer<S> {
    inner: Arc<S>,
    pub(crate) asks: Asks,
    /// What questions of this connection belong to, once it is a session.
    session: OnceLock<String>,
    /// The server's own name.
    name: OnceLock<Arc<str>>,
    tools: Mutex<Option<Tools>>,
}

/// A tool that is about to run, and the request that it runs in.
struct Begun {
    running: Running,
    questions: Questions,
    current: Current,
    cancelled: CancellationToken,
}

/// How many pages of tools are looked at.
const MOST_PAGES: usize = 100;

impl<S: Service<RoleServer>> Layer<S> {
    pub(crate) fn new(handler: S, asks: Asks) -> Self {
        Self {
            inner: Arc::new(handler),
            asks,
            session: OnceLock::new(),
            name: OnceLock::new(),
            tools: Mutex::default(),
        }
    }

    /// How many calls wait for an answer, or have a result that is kept for their client.
    ///
    /// ```
    /// use midcall_server::WithAsks;
    /// # struct Files;
    /// # impl rmcp::ServerHandler for Files {}
    /// assert_eq!(Files.with_asks().waiting(), 0);
    /// ```
    pub fn waiting(&self) -> usize {
        self.asks.parks.len()
    }

    pub(crate) fn inner(&self) -> &S {
        &self.inner
    }

    /// A client opens a session with this layer: what is asked in it is asked of nobody else.
    pub(crate) fn opens(&self) {
        self.session.get_or_init(token::random);
    }

    async fn call(
        &self,
        mut request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let client = Client::of(&context);
        let Some(asker) = Asker::of(&mut request) else {
            return self.inner.handle_request(request, context).await;
        };
        let none = JsonObject::new();
        let arguments = asker.arguments.unwrap_or(&none);
        let place = Place {
            principal: self.asks.principal_of(&context)?,
            method: asker.method,
            name: asker.name.clone(),
            // Only a round is come back to with the same call.
            arguments: match client.is_modern() {
                true => token::digest_of(arguments),
                false => [0; 32],
            },
        };
        if let Some(text) = asker.state.take() {
            match place.open(&text, &self.asks.settings) {
                Some(Brought::Ours(state)) => {
                    let responses = asker.responses.take().unwrap_or_default();
                    let responses = InputResponses(Members(responses.into_iter().collect()));
                    let back = Back {
                        request,
                        state,
                        text,
                        responses,
                    };
                    return self.retry(back, &place, client, context).await;
                }
                Some(Brought::Theirs(state)) => *asker.state = Some(state),
                None => return Err(refused()),
            }
        }
        let needs_model = !client.modes.form && self.asks.settings.model;
        let mut hints = Default::default();
        if needs_model && asker.method == Method::Tool {
            let tools = self.tools(&context).await;
            hints = tools.hints(&asker.name);
            if asker.name == tools.send_name() {
                let arguments = asker.arguments.cloned().unwrap_or_default();
                let sent = ModelAnswer::read(arguments, token::digest_of);
                return self.send(sent, &place, client, context).await;
            }
        }
        self.run(request, place, client, hints, context).await
    }

    /// Begins to run a tool. It is not polled yet.
    fn begin(
        &self,
        request: ClientRequest,
        place: &Place,
        client: Client,
        hints: ToolHints,
        mut context: RequestContext<RoleServer>,
        again: Option<Again>,
    ) -> Begun {
        let (method, name, server) = (place.method, place.name.clone(), self.server());
        let call = Call::new(
            self.asks.clone(),
            method,
            name,
            client,
            server,
            hints,
            again,
        );
        let current = Current::of(&context);
        // The request's own token ends with its response, and a tool that waits outlives that.
        let cancelled = std::mem::replace(&mut context.ct, call.over.clone());
        context.extensions.insert(Ask::in_call(call.clone()));
        Begun {
            running: Running::new(self.inner.clone(), request, context),
            questions: Questions(call),
            current,
            cancelled,
        }
    }

    /// Runs a tool until it is over, or asks what its client must come back for.
    async fn run(
        &self,
        request: ClientRequest,
        place: Place,
        client: Client,
        hints: ToolHints,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let settings = &self.asks.settings;
        let replays = settings.resume.replays() && client.is_modern();
        let again = replays.then(|| {
            let record = Record::new();
            let shared = Shared::new(settings, &place.principal, &record.seed);
            Again { record, shared }
        });
        let Begun {
            mut running,
            questions,
            current,
            cancelled,
        } = self.begin(request, &place, client, hints, context, again);
        let call = questions.0.clone();
        let here = call.here(current);
        let first = loop {
            let open = tokio::select! {
                biased;
                outcome = &mut running => {
                    // After its result nobody listens: what it took back is told before.
                    call.farewells.close();
                    call.farewells.wait().await;
                    return place.wrap(outcome);
                }
                open = questions.next() => open,
                () = cancelled.cancelled() => return Err(taken_back()),
            };
            // The tool may have given up already what it asked.
            if let Some(first) = First::of(open) {
                break first;
            }
        };
        let owner = self.owner(&place, client);
        drop(here); // Nobody hears of progress after a result.
        let told = match self.tell(&first.round, &place, &call).await {
            Ok(told) => told,
            Err(untold) => return self.untold(untold, place.method, client),
        };
        let is_kept = !call.is_replayed_only() || first.round.carrier == Carrier::Model;
        if is_kept && !self.asks.parks.park(owner, running, questions, first) {
            return self.crowded(place.method, client);
        }
        Ok(told)
    }

    fn crowded(&self, method: Method, client: Client) -> Result<ServerResult, ErrorData> {
        let why = Nobody::Crowded;
        let required = None;
        let text = AskError::Unavailable { why, required }.to_string();
        failed(text, method, client)
    }

    /// Says a round to the client, or to its model.
    async fn tell(
        &self,
        round: &Round,
        place: &Place,
        call: &Call,
    ) -> Result<ServerResult, Untold> {
        if round.carrier != Carrier::Model {
            return place.tell(round, call).await.map(self::round);
        }
        let tool = self.known().send_name();
        let asking = &round.asked[0];
        let told = model::pending(
            asking,
            &round.name,
            &tool,
            &self.server(),
            call.hints.is_structured,
            self.asks.settings.locale,
        );
        Ok(complete(told, call.client))
    }

    /// A round that cannot be told: its call can't go on.
    fn untold(
        &self,
        untold: Untold,
        method: Method,
        client: Client,
    ) -> Result<ServerResult, ErrorData> {
        match untold {
            Untold::TooLong(bytes) => failed(too_long(bytes), method, client),
            Untold::Store(error) => failed(AskError::from(error).to_string(), method, client),
            Untold::Lost => self.gone(method, client),
            Untold::Other(error) => Err(error),
        }
    }

    /// A call that was dropped while its client was away.
    fn gone(&self, method: Method, client: Client) -> Result<ServerResult, ErrorData> {
        let locale = self.asks.settings.locale;
        failed(locale.say("mcp.elicitation.ask.gone", &[]), method, client)
    }

    /// Adds what a model needs to the tools that its client sees.
    async fn list(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let client = Client::of(&context);
        let needs_model = !client.modes.form && self.asks.settings.model;
        let all = match needs_model {
            true => Some(self.tools(&context).await),
            false => None,
        };
        let mut result = self.inner.handle_request(request, context).await?;
        if let ServerResult::ListToolsResult(list) = &mut result
            && self.asks.settings.model
        {
            // What one client is told is not for another. If it is not said, it is for all.
            let is_modern = client.is_modern();
            list.cache_scope = is_modern.then_some(CacheScope::Private);
            list.ttl_ms = is_modern.then_some(0);
        }
        if let (ServerResult::ListToolsResult(list), Some(mut all)) = (&mut result, all) {
            all.learn(&list.tools);
            for tool in &mut list.tools {
                let schema = tool.output_schema.take();
                tool.output_schema = schema.map(|schema| Arc::new(widened(&schema)));
            }
            if list.next_cursor.is_none() {
                list.tools.push(all.send_tool());
            }
            *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
        }
        Ok(result)
    }

    /// The handler's own tools. Asked for once in a connection, and learnt from what is listed.
    async fn tools(&self, context: &RequestContext<RoleServer>) -> Tools {
        if let Some(tools) = &*self.tools.lock().unwrap_or_else(PoisonError::into_inner) {
            return tools.clone();
        }
        let mut tools = Tools::default();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = cursor
                .take()
                .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let request = ListToolsRequest {
                params: page,
                ..Default::default()
            };
            let request = ClientRequest::ListToolsRequest(request);
            let Ok(ServerResult::ListToolsResult(page)) =
                self.inner.handle_request(request, context.clone()).await
            else {
                return tools; // As far as it is known. The next call looks again.
            };
            tools.learn(&page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let mut known = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert(tools).clone()
    }

    fn known(&self) -> Tools {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        tools.clone().unwrap_or_default()
    }

    fn server(&self) -> Arc<str> {
        let name = || self.inner.get_info().server_info.name.into();
        self.name.get_or_init(name).clone()
    }

    /// Whom a waiting call belongs to. In the modern era there is no connection to bind it to.
    fn owner(&self, place: &Place, client: Client) -> String {
        let session = self.session.get().filter(|_| !client.is_modern());
        let session = session.map_or("", String::as_str);
        format!("{session}\n{}", place.principal)
    }
}

impl<S: Service<RoleServer>> Service<RoleServer> for Layer<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if !self.asks.settings.on {
            return self.inner.handle_request(request, context).await;
        }
        match request {
            ClientRequest::InitializeRequest(_) => {
                self.opens();
                self.inner.handle_request(request, context).await
            }
            ClientRequest::ListToolsRequest(_) => self.list(request, context).await,
            request => self.call(request, context).await,
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        self.inner.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }
}

impl<S> Drop for Layer<S> {
    /// Nobody else may go on with what was asked in a session.
    fn drop(&mut self) {
        if let Some(session) = self.session.get() {
            self.asks.parks.end(session);
        }
    }
}

/// A complete result, as each era says it.
fn complete(mut result: Value, client: Client) -> ServerResult {
    if client.is_modern() {
        result[member::RESULT_TYPE] = "complete".into();
    }
    ServerResult::CustomResult(CustomResult(result))
}

/// A round, as `rmcp` takes it: in our own words.
fn round(round: JsonObject) -> ServerResult {
    ServerResult::CustomResult(CustomResult(Value::Object(round)))
}

/// A call that cannot go on, as each kind of request says it.
fn failed(text: String, method: Method, client: Client) -> Result<ServerResult, ErrorData> {
    match method {
        Method::Tool => Ok(complete(error(&text), client)),
        Method::Prompt | Method::Resource => Err(ErrorData::invalid_params(text, None)),
    }
}

/// One refusal for every state that is not good here: strangers learn nothing from it.
fn refused() -> ErrorData {
    let text = "this requestState is not valid for this request: make the call again without it";
    ErrorData::invalid_params(text, None)
}

fn too_long(bytes: usize) -> String {
    format!(
        "what was said in this call has to travel with its next question, and is too much: {bytes} bytes, and a \
         requestState has at most {LONGEST}. Give the server a store (`Asks::store`), or park its calls only (`Resume::ParkOnly`)"
    )
}

fn taken_back() -> ErrorData {
    ErrorData::internal_error("the client took this call back", None)
}
