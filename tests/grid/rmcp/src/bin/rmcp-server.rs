//! A server on `rmcp`. argv: `await` (its tools ask while they run) or `rounds` (by returning), and
//! `http` behind that to be there by HTTP. It tells where, then: `{url}`.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock,
    ElicitRequest, ErrorCode, Implementation, InputRequiredResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
    ServerRequest, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

const TOOLS: [&str; 14] = [
    "confirm",
    "form",
    "wizard",
    "both",
    "brief",
    "link",
    "sample",
    "roots",
    "wait",
    "steps",
    "impatient",
    "linked",
    "after",
    "enough",
];

#[derive(Clone)]
struct Server {
    by_returning: bool,
    /// Links that were asked for, so that they are asked for once.
    asked: Arc<Mutex<HashSet<String>>>,
    /// Where calls wait for each other, by name.
    gates: Arc<Mutex<HashMap<String, watch::Sender<bool>>>>,
}

fn form(message: &str, properties: Value, required: &[&str]) -> Value {
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message,
        "requestedSchema": {"type": "object", "properties": properties, "required": required}}})
}

fn text(title: &str) -> Value {
    json!({"type": "string", "title": title, "minLength": 1})
}

/// What each tool asks, round after round.
fn rounds(tool: &str, given: &Map<String, Value>) -> Vec<Value> {
    let confirm = || {
        form(
            "Delete 3 files?",
            json!({"sure": {"type": "boolean", "title": "Delete them"}}),
            &["sure"],
        )
    };
    let number = |name: &str, usual: u64| given.get(name).and_then(Value::as_u64).unwrap_or(usual);
    match tool {
        "confirm" | "brief" | "impatient" => vec![json!({"confirm": confirm()})],
        "form" => {
            let properties = json!({"name": text("Name"), "guests": {"type": "integer", "minimum": 1, "maximum": 12},
                "table": {"type": "string", "enum": ["window", "garden", "bar"]}});
            vec![json!({"book": form("Which table?", properties, &["name", "guests"])})]
        }
        "wizard" => {
            let step = |n| {
                form(
                    &format!("Step {n}"),
                    json!({"value": text("Value")}),
                    &["value"],
                )
            };
            (1..=number("steps", 5))
                .map(|n| json!({"step": step(n)}))
                .collect()
        }
        "both" => {
            let town = form("Which town?", json!({"town": text("Town")}), &["town"]);
            let day = form("Which day?", json!({"day": text("Day")}), &["day"]);
            vec![json!({"atown": town, "day": day})]
        }
        "link" => vec![
            json!({"link": {"method": "elicitation/create", "params": {"mode": "url",
            "message": "Sign in", "url": "https://example.com/sign-in", "elicitationId": "link-1"}}}),
        ],
        "sample" => {
            let hello = json!({"role": "user", "content": {"type": "text", "text": "Say hello"}});
            vec![
                json!({"sample": {"method": "sampling/createMessage", "params": {"messages": [hello], "maxTokens": 100}}}),
            ]
        }
        "roots" => vec![json!({"roots": {"method": "roots/list"}})],
        "wait" => vec![json!({}); usize::try_from(number("rounds", 2)).unwrap_or(2)],
        _ => Vec::new(),
    }
}

fn invalid(why: impl ToString) -> ErrorData {
    ErrorData::invalid_params(why.to_string(), None)
}

fn done(brought: &[Value]) -> CallToolResponse {
    let text = Value::from(brought).to_string();
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// Asks the client by a request. What the SDK refuses is the end of the call, as in most tools.
async fn ask(peer: &Peer<RoleServer>, question: &Value) -> Result<Value, ErrorData> {
    let params = question["params"].clone();
    let answer = match question["method"].as_str() {
        Some("elicitation/create") => {
            let params = serde_json::from_value(params).map_err(invalid)?;
            let answer = peer.create_elicitation(params).await;
            answer.map(|answer| json!(answer))
        }
        Some("sampling/createMessage") => {
            let params = serde_json::from_value(params).map_err(invalid)?;
            #[expect(deprecated, reason = "as of 2026-07-28, and still there")]
            let answer = peer.create_message(params).await;
            answer.map(|answer| json!(answer))
        }
        _ => {
            #[expect(deprecated, reason = "as of 2026-07-28, and still there")]
            let roots = peer.list_roots().await;
            roots.map(|roots| json!(roots))
        }
    };
    match answer {
        Err(ServiceError::McpError(error)) => Err(error),
        answer => {
            Ok(answer.unwrap_or_else(|error| json!({"error": {"message": error.to_string()}})))
        }
    }
}

impl Server {
    fn gate(&self, name: &str) -> watch::Sender<bool> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(name.to_owned()).or_default().clone()
    }

    /// Waits until the gate of that name is open.
    async fn waits(&self, name: &str) {
        let _ = self.gate(name).subscribe().wait_for(|open| *open).await;
    }

    /// Asks, and takes the question back once the gate of that name is open.
    async fn asks_until(
        &self,
        name: &str,
        peer: &Peer<RoleServer>,
        question: &Value,
    ) -> Result<Value, ErrorData> {
        let params = serde_json::from_value(question["params"].clone()).map_err(invalid)?;
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let options = PeerRequestOptions::default();
        let sent = peer.send_cancellable_request(request, options).await;
        let mut sent = sent.map_err(invalid)?;
        tokio::select! {
            answer = &mut sent.rx => match answer.map_err(invalid)? {
                Ok(ClientResult::ElicitResult(answer)) => Ok(json!(answer)),
                other => Err(invalid(format!("{other:?}"))),
            },
            () = self.waits(name) => {
                sent.cancel(Some("enough".to_owned())).await.map_err(invalid)?;
                Ok(json!({"error": {"message": "enough"}}))
            }
        }
    }

    /// The link that a call needs first, every second time.
    fn needs_links(&self, given: &Map<String, Value>) -> Result<(), ErrorData> {
        let name = given.get("links").and_then(|links| links[0].as_str());
        let name = name.unwrap_or_default();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.remove(name) {
            return Ok(());
        }
        asked.insert(name.to_owned());
        let link = json!({"mode": "url", "message": format!("Open {name}"),
            "url": format!("https://example.com/{name}"), "elicitationId": name});
        let links = json!({"elicitations": [link]});
        Err(ErrorData::new(
            ErrorCode(-32042),
            "Sign in first",
            Some(links),
        ))
    }

    /// The next round of questions, or what all of them brought.
    fn returns(
        &self,
        tool: &str,
        request: &CallToolRequestParams,
        rounds: &[Value],
    ) -> Result<CallToolResponse, ErrorData> {
        let state = request
            .request_state
            .as_deref()
            .unwrap_or(r#"{"round":0,"brought":[]}"#);
        let mut state: Value = serde_json::from_str(state).map_err(invalid)?;
        let round = usize::try_from(state["round"].as_u64().unwrap_or(0)).map_err(invalid)?;
        if let (Some(asked), Some(brought)) = (
            round.checked_sub(1).and_then(|last| rounds.get(last)),
            state["brought"].as_array_mut(),
        ) {
            let responses = request.input_responses.clone().unwrap_or_default();
            let keys = asked.as_object().into_iter().flat_map(Map::keys);
            brought.extend(keys.map(|key| responses.get(key).cloned().unwrap_or_default()));
        }
        let Some(questions) = rounds.get(round) else {
            return Ok(done(
                state["brought"]
                    .as_array()
                    .map(Vec::as_slice)
                    .unwrap_or_default(),
            ));
        };
        state["round"] = (round + 1).into();
        let requests = serde_json::from_value(questions.clone()).map_err(invalid)?;
        let requests = Some(requests).filter(|_| questions != &json!({}));
        let mut result = json!(InputRequiredResult::new(requests, Some(state.to_string())));
        if tool == "brief" {
            result["_meta"] = json!({"dev.midcall/timeoutMs": 100});
        }
        let result: InputRequiredResult = serde_json::from_value(result).map_err(invalid)?;
        Ok(result.into())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let info = Implementation::new(
            if self.by_returning {
                "rmcp-rounds"
            } else {
                "rmcp"
            },
            "1.0.0",
        );
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(info)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = || {
            json!({"type": "object"})
                .as_object()
                .cloned()
                .unwrap_or_default()
        };
        let tools = TOOLS.map(|name| Tool::new(name, "", schema()));
        Ok(ListToolsResult::with_all_items(tools.into()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = request.name.to_string();
        let given = request.arguments.clone().unwrap_or_default();
        let name = given.get("name").and_then(Value::as_str);
        let name = name.unwrap_or_default();
        if tool == "linked" {
            self.needs_links(&given)?;
        }
        if tool == "steps" {
            let total = given.get("steps").and_then(Value::as_u64).unwrap_or(0);
            for step in 1..=u32::try_from(total).map_err(invalid)? {
                if let Some(token) = context.meta.get_progress_token() {
                    let progress = ProgressNotificationParam::new(token, step.into())
                        .with_total(f64::from(u32::try_from(total).map_err(invalid)?));
                    let _ = context.peer.notify_progress(progress).await;
                }
            }
            self.waits(name).await; // TypeScript's client drops progress that comes together with the result
            return Ok(done(&[]));
        }
        if tool == "after" {
            self.waits(name).await;
        }
        if tool == "enough" {
            self.gate(name).send_replace(true);
        }
        let mut rounds = rounds(&tool, &given);
        if self.by_returning {
            return self.returns(&tool, &request, &rounds);
        }
        let mut brought = Vec::new();
        for round in &mut rounds {
            if tool == "impatient" {
                let asking = self.asks_until(name, &context.peer, &round["confirm"]);
                brought.push(asking.await?);
                continue;
            }
            if tool == "brief" {
                round["confirm"]["params"]["_meta"] = json!({"dev.midcall/timeoutMs": 100});
            }
            let questions = round.as_object().into_iter().flat_map(Map::values);
            let asking = questions.map(|question| ask(&context.peer, question));
            brought.extend(try_join_all(asking).await?);
        }
        if tool == "brief" || tool == "impatient" {
            self.gate(&format!("{name}-over")).send_replace(true);
        }
        Ok(done(&brought))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let by_returning = std::env::args().nth(1).as_deref() == Some("rounds");
    let server = Server {
        by_returning,
        asked: Arc::default(),
        gates: Arc::default(),
    };
    if std::env::args().nth(2).as_deref() == Some("http") {
        return listen(server).await;
    }
    server
        .serve((tokio::io::stdin(), tokio::io::stdout()))
        .await?
        .waiting()
        .await?;
    Ok(())
}

async fn listen(server: Server) -> anyhow::Result<()> {
    let make = move || Ok(server.clone());
    let service: StreamableHttpService<_, LocalSessionManager> =
        StreamableHttpService::new(make, Arc::default(), StreamableHttpServerConfig::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    writeln!(std::io::stdout(), "{}", json!({"url": url}))?;
    let app = axum::Router::new().route_service("/mcp", service);
    axum::serve(listener, app).await?;
    Ok(())
}
