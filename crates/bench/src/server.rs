//! Asking from a Rust tool: a call with one question in it, from the client's request to the result,
//! beside what one would write with `rmcp` alone; and what calls that wait weigh.

use std::time::Instant;

use midcall_server::testing::{Client, Person, Said};
use midcall_server::{Answer, Ask, AskError, Asks, Resume, WithAsks};
use midcall_store::Memory;
use rmcp::handler::server::common::FromContextPart;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    ContentBlock, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, InputRequiredResult, InputResponses,
    ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService, Service, ServiceExt,
};
use rmcp::{ClientHandler, Peer, RoleClient, RoleServer, ServerHandler};
use rmcp::{tool, tool_handler, tool_router};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::MEMORY;
use crate::side::{Side, beside, median};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Booking {
    /// In whose name
    #[schemars(length(min = 1, max = 40))]
    name: String,
    #[schemars(range(min = 1, max = 12))]
    guests: u8,
    window: bool,
}

rmcp::elicit_safe!(Booking);

/// Asks the same in each way there is.
#[derive(Clone)]
struct Restaurant;

/// What a retry brings to a tool that makes its own rounds.
struct Given(Option<InputResponses>);

impl<S> FromContextPart<ToolCallContext<'_, S>> for Given {
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        Ok(Self(context.input_responses.take()))
    }
}

#[tool_router]
impl Restaurant {
    #[tool(description = "By this crate", annotations(destructive_hint = false))]
    async fn ours(&self, ask: Ask) -> Result<String, AskError> {
        Ok(match ask.form::<Booking>("Which table?").await? {
            Answer::Accepted(booking) => told(&booking),
            _ => "none".into(),
        })
    }

    #[tool(description = "By rmcp's own typed request")]
    async fn elicit(&self, peer: Peer<RoleServer>) -> String {
        match peer.elicit::<Booking>("Which table?").await {
            Ok(Some(booking)) => told(&booking),
            _ => "none".into(),
        }
    }

    #[tool(description = "By a round that is made by hand")]
    async fn by_hand(&self, Given(responses): Given) -> CallToolResponse {
        let Some(responses) = responses else {
            let requests = json!({"book": {"method": "elicitation/create", "params": {
                "mode": "form", "message": "Which table?", "requestedSchema": {"type": "object",
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": 40, "description": "In whose name"},
                        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
                        "window": {"type": "boolean"}
                    },
                    "required": ["name", "guests", "window"]}}}});
            let requests = serde_json::from_value(requests).ok();
            return InputRequiredResult::new(requests, Some("round 1".into())).into();
        };
        let booking = serde_json::from_value::<Booking>(responses["book"]["content"].clone());
        let text = booking.map_or("none".into(), |booking| told(&booking));
        CallToolResult::success(vec![ContentBlock::text(text)]).into()
    }
}

#[tool_handler]
impl ServerHandler for Restaurant {}

fn told(booking: &Booking) -> String {
    format!("{} {} {}", booking.name, booking.guests, booking.window)
}

/// A host whose person always says the same.
#[derive(Clone)]
struct Host;

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = Some(FormElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, Implementation::new("host", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = json!({"name": "Ana", "guests": 3, "window": true});
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

type Open = RunningService<RoleClient, Host>;

pub fn run() {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let legacy = || ClientLifecycleMode::Initialize;
    let modern = || ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let bare = runtime.block_on(host(Restaurant, legacy()));
    let asks = runtime.block_on(host(Restaurant.with_asks(), legacy()));
    beside(
        "server, a call with a question, legacy",
        "≤ 1.2",
        side("rmcp peer.elicit", &runtime, &bare, "elicit"),
        vec![side("ours", &runtime, &asks, "ours")],
    );
    let bare = runtime.block_on(host(Restaurant, modern()));
    // Results are kept for a while: with the usual five minutes, thousands of them.
    let brief = Asks::new().keep_results(std::time::Duration::from_millis(100));
    let asks = runtime.block_on(host(brief.around(Restaurant), modern()));
    beside(
        "server, a call with a question, modern",
        "≤ 1.2",
        side("rounds by hand on rmcp", &runtime, &bare, "by_hand"),
        vec![side("ours", &runtime, &asks, "ours")],
    );
    let replayed = brief.clone().resume(Resume::ReplayOnly);
    let shared = replayed.clone().store(Memory::default());
    let replayed = runtime.block_on(host(replayed.around(Restaurant), modern()));
    let shared = runtime.block_on(host(shared.around(Restaurant), modern()));
    beside(
        "server, a call with a question, replayed",
        "no budget yet",
        side("ours, parked", &runtime, &asks, "ours"),
        vec![
            side("replayed, by its state", &runtime, &replayed, "ours"),
            side("replayed, with a store", &runtime, &shared, "ours"),
        ],
    );
    runtime.block_on(model());
    runtime.block_on(weigh("parked", &Asks::new()));
    let replays = Asks::new().resume(Resume::ParkThenReplay);
    runtime.block_on(weigh("parked, and may run again", &replays));
}

async fn host<S: Service<RoleServer>>(server: S, lifecycle: ClientLifecycleMode) -> Open {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let server = server.serve(tokio::io::split(theirs)).await;
        let _ = server.expect("the server opens").waiting().await;
    });
    let host = Host.serve_with_lifecycle(tokio::io::split(ours), lifecycle);
    host.await.expect("the host opens")
}

fn side<'a>(
    name: &'static str,
    runtime: &'a Runtime,
    host: &'a Open,
    tool: &'static str,
) -> Side<'a> {
    Side::new(name, move |times| {
        runtime.block_on(async {
            let start = Instant::now();
            for _ in 0..times {
                let result = host.call_tool(CallToolRequestParams::new(tool)).await;
                let result = json!(result.expect("the call succeeds"));
                assert_eq!(result["content"][0]["text"], "Ana 3 true");
            }
            start.elapsed()
        })
    })
}

/// Where the client cannot ask there is no peer: the question is two calls.
async fn model() {
    const TIMES: usize = 5_000;
    let person = Person::who(|_| Said::Answer(json!({"name": "Ana", "guests": 3, "window": true})));
    let asks = Asks::new().keep_results(std::time::Duration::from_millis(100));
    let client = Client::Model
        .connect(asks.around(Restaurant), &person)
        .await;
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let start = Instant::now();
        let got = client.call("ours", json!({})).await;
        times.push(start.elapsed().as_secs_f64());
        assert_eq!(got.text(), "Ana 3 true");
    }
    println!(
        "server, a call with a question, by the model: ours {}",
        median(&mut times)
    );
}

async fn weigh(what: &str, asks: &Asks) {
    const CALLS: usize = 10_000;
    let client = Client::V2026_07_28
        .connect(asks.around(Restaurant), &Person::quiet())
        .await;
    let call = json!({"name": "ours", "arguments": {}});
    client.once("tools/call", call.clone()).await;
    let before = MEMORY.current_usage();
    for _ in 0..CALLS {
        client.once("tools/call", call.clone()).await;
    }
    let used = MEMORY.current_usage().saturating_sub(before);
    assert!(client.server().waiting() >= CALLS);
    println!(
        "server, 10,000 calls {what}: ours {:.1} MB, {} bytes each",
        used as f64 / 1e6,
        used / CALLS
    );
}
