//! Over Streamable HTTP, where each session or even each request has a handler of its own. Nothing
//! is opened: requests go to the service as it is.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use midcall_server::{Asks, Handler};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use crate::world::World;

type Service = StreamableHttpService<Handler<World>, LocalSessionManager>;

fn service(asks: Asks, sessions: bool) -> Service {
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(sessions);
    let handler = move || Ok(asks.handler(World::default()));
    StreamableHttpService::new(handler, Arc::default(), config)
}

/// A client's half of a session, if there is one.
struct Http<'a> {
    service: &'a Service,
    session: Option<String>,
    version: &'static str,
    capabilities: Value,
}

impl Http<'_> {
    async fn post(&self, message: &Value) -> Response<BoxBody<Bytes, std::convert::Infallible>> {
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", self.version);
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if self.is_modern() {
            let method = message["method"].as_str().unwrap_or_default();
            request = request.header("mcp-method", method);
            if let Some(name) = message["params"]["name"].as_str() {
                request = request.header("mcp-name", name);
            }
        }
        let body = Full::new(Bytes::from(message.to_string()));
        self.service.handle(request.body(body).unwrap()).await
    }

    /// Opens a session as a client with these capabilities.
    async fn open(service: &Service, capabilities: Value) -> Http<'_> {
        let mut http = Http {
            service,
            session: None,
            version: "2025-11-25",
            capabilities: capabilities.clone(),
        };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        let opening = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let response = http.post(&opening).await;
        http.session = session(response.headers());
        Events::of(response).next().await;
        let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        http.post(&opened).await;
        http
    }

    fn is_modern(&self) -> bool {
        self.version == "2026-07-28"
    }

    /// Calls a method: what comes on its stream.
    async fn call(&self, id: u64, method: &str, mut params: Value) -> Events {
        if self.is_modern() {
            let own = json!({
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
            });
            for (key, value) in own.as_object().into_iter().flatten() {
                params["_meta"][key] = value.clone();
            }
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        Events::of(self.post(&message).await)
    }

    async fn tool(&self, id: u64, name: &str, arguments: Value) -> Events {
        let params = json!({"name": name, "arguments": arguments});
        self.call(id, "tools/call", params).await
    }
}

fn session(headers: &HeaderMap) -> Option<String> {
    let session = headers.get("mcp-session-id")?;
    session.to_str().ok().map(str::to_owned)
}

/// The messages of a response, whether it is a stream of them or one.
struct Events {
    body: BoxBody<Bytes, std::convert::Infallible>,
    text: String,
}

impl Events {
    fn of(response: Response<BoxBody<Bytes, std::convert::Infallible>>) -> Self {
        Self {
            body: response.into_body(),
            text: String::new(),
        }
    }

    async fn next(&mut self) -> Value {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                let message = data.and_then(|data| serde_json::from_str(data.trim()).ok());
                self.text = rest.to_owned();
                if let Some(message) = message {
                    return message;
                }
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap_or_default();
                    self.text += std::str::from_utf8(&data).unwrap();
                }
                _ => return serde_json::from_str(&self.text).unwrap_or_default(),
            }
        }
    }
}

#[tokio::test]
async fn a_session_asks_on_the_stream_of_its_call() {
    let service = service(Asks::new(), true);
    let client = Http::open(&service, json!({"elicitation": {}})).await;
    assert!(client.session.is_some());
    for (id, tool) in [(1, "one"), (2, "one"), (3, "apart")] {
        let mut stream = client.tool(id, tool, json!({"kind": "text"})).await;
        let question = stream.next().await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"],
            "result": {"action": "accept", "content": {"value": "AB"}}});
        client.post(&answer).await;
        let result = stream.next().await;
        assert_eq!(result["result"]["content"][0]["text"], r#"Accepted("AB")"#);
    }
    let tools = client.call(9, "tools/list", json!({})).await.next().await;
    assert!(!tools.to_string().contains("sendElicitationResult"));
}

#[tokio::test]
async fn a_session_without_elicitation_has_its_model_asked_and_no_other_sessions() {
    let service = service(Asks::new(), true);
    let ana = Http::open(&service, json!({})).await;
    let eve = Http::open(&service, json!({})).await;
    let pending = ana
        .tool(1, "one", json!({"kind": "text"}))
        .await
        .next()
        .await;
    let id = pending["result"]["_meta"]["elicitationPending"]["elicitId"].clone();
    let sent = json!({"elicitId": id, "action": "accept", "content": {"value": "AB"}});
    let refused = eve
        .tool(1, "sendElicitationResult", sent.clone())
        .await
        .next()
        .await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let result = ana
        .tool(2, "sendElicitationResult", sent)
        .await
        .next()
        .await;
    assert_eq!(result["result"]["content"][0]["text"], r#"Accepted("AB")"#);
}

#[tokio::test]
async fn rounds_find_their_call_though_each_request_has_a_handler_of_its_own() {
    let service = service(Asks::new(), true);
    let client = Http {
        service: &service,
        session: None,
        version: "2026-07-28",
        capabilities: json!({"elicitation": {"form": {}}}),
    };
    let mut params = json!({"name": "wizard", "arguments": {}});
    for (key, content) in [
        ("question1", json!({"value": "Ana"})),
        ("question2", json!({"selected": "red"})),
        ("question3", json!({"confirmed": true})),
    ] {
        let round = client
            .call(1, "tools/call", params.clone())
            .await
            .next()
            .await;
        assert_eq!(round["result"]["resultType"], "input_required", "{round}");
        params["requestState"] = round["result"]["requestState"].clone();
        params["inputResponses"] = json!({key: {"action": "accept", "content": content}});
    }
    let mut last = client.call(2, "tools/call", params).await;
    let mut result = last.next().await;
    while result.get("method").is_some() {
        result = last.next().await; // Progress comes on the same stream.
    }
    assert_eq!(
        result["result"]["content"][0]["text"], "Ana red true",
        "{result}"
    );
}

#[tokio::test]
async fn a_model_finds_its_call_without_a_session() {
    for version in ["2025-11-25", "2026-07-28"] {
        let service = service(Asks::new(), false);
        let client = Http {
            service: &service,
            session: None,
            version,
            capabilities: json!({}),
        };
        let listed = client.call(1, "tools/list", json!({})).await.next().await;
        assert!(
            listed.to_string().contains("sendElicitationResult"),
            "{listed}"
        );
        let pending = client
            .tool(2, "one", json!({"kind": "text"}))
            .await
            .next()
            .await;
        let id = pending["result"]["_meta"]["elicitationPending"]["elicitId"].clone();
        let sent = json!({"elicitId": id, "action": "accept", "content": {"value": "AB"}});
        let result = client
            .tool(3, "sendElicitationResult", sent)
            .await
            .next()
            .await;
        assert_eq!(
            result["result"]["content"][0]["text"], r#"Accepted("AB")"#,
            "{result}"
        );
    }
}

#[tokio::test]
async fn a_request_without_a_session_gets_an_error_envelope() {
    let service = service(Asks::new(), true);
    let mut client = Http::open(&service, json!({})).await;
    client.session = None;
    let response = client
        .post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
        .await;
    assert!(response.status().is_client_error());
}

#[tokio::test]
async fn how_a_text_is_typed_gets_through_beside_the_form() {
    let service = service(Asks::new(), true);
    let client = Http {
        service: &service,
        session: None,
        version: "2026-07-28",
        capabilities: json!({"elicitation": {"form": {}}}),
    };
    let mut stream = client.tool(1, "one", json!({"kind": "story"})).await;
    let round = stream.next().await;
    let hints = &round["result"]["_meta"]["dev.midcall/hints"]["question1"];
    assert_eq!(hints["/text"]["multiline"], true, "{round}");
    assert_eq!(hints["/author.name"]["placeholder"], "Ana");
}

/// How a gateway says that a question ended, and what the tool makes of it.
fn ends() -> Vec<(&'static str, Value, &'static str)> {
    let person = json!({"route": "page", "human": true});
    let client = json!({"route": "client", "human": false});
    let answered = |by: &Value, reason| json!({"state": "answered", "by": by, "reason": reason});
    vec![
        (
            "cancel",
            json!({"state": "timed_out"}),
            "nobody answered within 300 seconds",
        ),
        (
            "cancel",
            json!({"state": "withdrawn"}),
            "the client is gone",
        ),
        (
            "cancel",
            json!({"state": "unavailable"}),
            "nobody can be asked",
        ),
        ("cancel", Value::Null, "Cancelled"),
        (
            "decline",
            answered(&person, "Not today"),
            "Declined { reason: Some",
        ),
        (
            "decline",
            answered(&person, "unattended"),
            "Declined { reason: Some",
        ),
        (
            "decline",
            answered(&client, "unattended"),
            "Declined { reason: None }",
        ),
    ]
}

#[tokio::test]
async fn an_end_is_what_it_was_and_not_what_the_wire_has_a_word_for() {
    let service = service(Asks::new(), true);
    let session = Http::open(&service, json!({"elicitation": {}})).await;
    let modern = Http {
        service: &service,
        session: None,
        version: "2026-07-28",
        capabilities: json!({"elicitation": {"form": {}}}),
    };
    for (id, (action, outcome, expected)) in (1..).zip(ends()) {
        let mut stream = session.tool(id, "plain", json!({})).await;
        let question = stream.next().await;
        let result = json!({"action": action, "_meta": {"dev.midcall/outcome": outcome}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        session.post(&answer).await;
        let told = stream.next().await;
        assert!(told.to_string().contains(expected), "{outcome}: {told}");

        let round = modern.tool(id, "plain", json!({})).await.next().await;
        let retry = json!({"name": "plain", "arguments": {}, "requestState": round["result"]["requestState"],
            "inputResponses": {"question1": {"action": action}},
            "_meta": {"dev.midcall/outcome": {"question1": outcome}}});
        let told = modern.call(id, "tools/call", retry).await.next().await;
        assert!(told.to_string().contains(expected), "{outcome}: {told}");
    }
}

/// The element hands its host an answer with the reason in `_meta`, and not every host has a gateway behind it.
#[tokio::test]
async fn a_tool_hears_why_a_person_said_no_from_the_elements_own_answer() {
    let service = service(Asks::new(), true);
    let session = Http::open(&service, json!({"elicitation": {}})).await;
    let modern = Http {
        service: &service,
        session: None,
        version: "2026-07-28",
        capabilities: json!({"elicitation": {"form": {}}}),
    };
    let result = json!({"action": "decline", "_meta": {"dev.midcall/reason": "Not today"}});
    let expected = "Declined { reason: Some(Words(9 characters)) }";

    let mut stream = session.tool(1, "plain", json!({})).await;
    let question = stream.next().await;
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    session.post(&answer).await;
    let told = stream.next().await;
    assert!(told.to_string().contains(expected), "{told}");

    let round = modern.tool(1, "plain", json!({})).await.next().await;
    let retry = json!({"name": "plain", "arguments": {}, "requestState": round["result"]["requestState"],
        "inputResponses": {"question1": result}});
    let told = modern.call(1, "tools/call", retry).await.next().await;
    assert!(told.to_string().contains(expected), "{told}");
}
