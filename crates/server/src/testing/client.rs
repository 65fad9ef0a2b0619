//! Every kind of client, in memory.

use std::fmt;

use rmcp::service::RunningService;
use rmcp::{RoleServer, Service, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::person::{Heard, Person};
use super::wire::Wire;
use crate::layer::Layer;

/// A kind of client.
///
/// ```
/// use midcall_server::testing::Client;
/// assert_eq!(Client::ALL.len(), 5);
/// assert_eq!(Client::Model.to_string(), "of 2025-11-25, without elicitation");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Client {
    /// Of 2025-06-18: forms.
    V2025_06_18,
    /// Of 2025-11-25: forms and links.
    V2025_11_25,
    /// Of 2026-07-28: forms and links, in rounds.
    V2026_07_28,
    /// Of 2025-11-25, without elicitation: its model is told to ask.
    Model,
    /// Of 2026-07-28, without elicitation: its model is told to ask.
    ModernModel,
}

/// A client that is connected to a server, with a person before it.
///
/// ```
/// use midcall_server::WithAsks;
/// use midcall_server::testing::{Client, Person};
/// # use serde_json::json;
/// # struct Files;
/// # impl rmcp::ServerHandler for Files {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let connected = Client::V2025_11_25.connect(Files.with_asks(), &Person::quiet()).await;
/// let got = connected.once("ping", json!({})).await;
/// assert!(!got.is_error());
/// assert!(connected.notes().is_empty() && connected.server().waiting() == 0);
/// # }
/// ```
pub struct Connected<S: Service<RoleServer>> {
    client: Client,
    person: Person,
    wire: Wire,
    server: RunningService<RoleServer, Layer<S>>,
}

/// What a call came to.
///
/// ```
/// use midcall_server::testing::Got;
/// # use serde_json::json;
/// let got = Got(json!({"error": {"code": -32602, "message": "no"}}));
/// assert!(got.is_error());
/// assert_eq!((got.code(), got.text(), got.pending()), (Some(-32602), "no", None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Got(pub Value);

/// Plays a story with every kind of client, one after the other.
pub async fn for_every_client<F, Story>(story: F)
where
    F: Fn(Client) -> Story,
    Story: Future<Output = ()>,
{
    for client in Client::ALL {
        let _told = Told(client);
        story(client).await;
    }
}

/// Says which client it was, when a story fails.
struct Told(Client);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this happened with the client {}", self.0);
        }
    }
}

impl Client {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
        Self::Model,
        Self::ModernModel,
    ];

    /// Whether it asks by itself.
    ///
    /// ```
    /// use midcall_server::testing::Client;
    /// assert!(Client::V2025_11_25.asks() && !Client::Model.asks());
    /// ```
    pub fn asks(self) -> bool {
        !matches!(self, Self::Model | Self::ModernModel)
    }

    /// Whether it opens links.
    ///
    /// ```
    /// use midcall_server::testing::Client;
    /// assert!(Client::V2026_07_28.links() && !Client::V2025_06_18.links());
    /// ```
    pub fn links(self) -> bool {
        matches!(self, Self::V2025_11_25 | Self::V2026_07_28)
    }

    /// Whether it speaks the modern era: 2026-07-28.
    ///
    /// ```
    /// use midcall_server::testing::Client;
    /// assert!(Client::ModernModel.is_modern());
    /// ```
    pub fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28 | Self::ModernModel)
    }

    /// Connects to a server, with a person before it.
    ///
    /// # Panics
    ///
    /// If the server does not open.
    pub async fn connect<S: Service<RoleServer>>(
        self,
        server: Layer<S>,
        person: &Person,
    ) -> Connected<S> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let asked = person.clone();
        let wire = Wire::new(ours, move |request| {
            if request["method"] != "elicitation/create" {
                return Some(json!({"code": -32601, "message": "not here"}));
            }
            asked.asked(heard(&request["params"]))
        });
        let opening = async {
            if !self.is_modern() {
                let params = json!({
                    "protocolVersion": self.version(), "capabilities": self.capabilities(),
                    "clientInfo": {"name": "test", "version": "1"}
                });
                let (_, response) = wire.request("initialize", params).await;
                response.await.expect("the server answers `initialize`");
                wire.notify("notifications/initialized", json!({})).await;
            } else {
                let params = self.with_meta(json!({}));
                let (_, response) = wire.request("tools/list", params).await;
                response.await.expect("the server answers");
            }
        };
        let (server, ()) = tokio::join!(server.serve(tokio::io::split(theirs)), opening);
        Connected {
            client: self,
            person: person.clone(),
            wire,
            server: server.expect("the server opens"),
        }
    }

    fn version(self) -> &'static str {
        match self {
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 | Self::Model => "2025-11-25",
            Self::V2026_07_28 | Self::ModernModel => "2026-07-28",
        }
    }

    fn capabilities(self) -> Value {
        match self {
            Self::V2025_06_18 => json!({"elicitation": {}}),
            Self::V2025_11_25 | Self::V2026_07_28 => {
                json!({"elicitation": {"form": {}, "url": {}}})
            }
            Self::Model | Self::ModernModel => json!({}),
        }
    }

    /// What each request of a modern client says of it.
    fn with_meta(self, mut params: Value) -> Value {
        if self.is_modern() {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": self.version(),
                "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
            });
            for (key, value) in meta.as_object().into_iter().flatten() {
                params["_meta"][key] = value.clone();
            }
        }
        params
    }
}

impl<S: Service<RoleServer>> Connected<S> {
    /// Calls a tool, and answers what it asks, until there is a result.
    ///
    /// # Panics
    ///
    /// If the server goes away.
    pub async fn call(&self, tool: &str, arguments: Value) -> Got {
        let first = json!({"name": tool, "arguments": arguments});
        self.all("tools/call", first).await
    }

    /// Makes any call that may ask, and answers what it asks.
    ///
    /// # Panics
    ///
    /// If the server goes away.
    pub async fn all(&self, method: &str, first: Value) -> Got {
        let mut params = first.clone();
        let mut asked = Value::Null;
        loop {
            let got = self.once(method, params).await;
            params = if got.0["result"]["resultType"] == "input_required" {
                match self.round(&got.0["result"], &first) {
                    Some(Ok(retry)) => retry,
                    Some(Err(once_more)) => return once_more,
                    None => std::future::pending().await,
                }
            } else if let Some(pending) = got.pending().or(got.mend(&asked)).cloned() {
                asked = pending;
                match self.model(&asked) {
                    Some(Ok(call)) => call,
                    Some(Err(once_more)) => return once_more,
                    None => std::future::pending().await,
                }
            } else {
                return got;
            };
        }
    }

    /// Makes one request, and answers nothing.
    ///
    /// # Panics
    ///
    /// If the server goes away.
    pub async fn once(&self, method: &str, params: Value) -> Got {
        let (_, response) = self.begin(method, params).await;
        Got(response.await.expect("the server answers"))
    }

    /// Sends one request: its id, and the response once it comes.
    pub async fn begin(&self, method: &str, params: Value) -> (u64, oneshot::Receiver<Value>) {
        self.wire
            .request(method, self.client.with_meta(params))
            .await
    }

    /// Takes a request back.
    pub async fn cancel(&self, id: u64) {
        let params = self.client.with_meta(json!({"requestId": id}));
        self.wire.notify("notifications/cancelled", params).await;
    }

    /// The server's notifications so far.
    pub fn notes(&self) -> Vec<Value> {
        self.wire.notes()
    }

    /// The server's tools, by name.
    ///
    /// # Panics
    ///
    /// If the server goes away.
    pub async fn tools(&self) -> Vec<String> {
        let got = self.once("tools/list", json!({})).await;
        let tools = got.0["result"]["tools"].as_array().into_iter().flatten();
        tools
            .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
            .collect()
    }

    /// The server itself.
    pub fn server(&self) -> &Layer<S> {
        self.server.service()
    }

    /// Answers a round: the call to make next, or the end if nobody expected the question.
    fn round(&self, round: &Value, first: &Value) -> Option<Result<Value, Got>> {
        let mut responses = Map::new();
        for (key, request) in round["inputRequests"].as_object().into_iter().flatten() {
            let answer = self.person.asked(heard(&request["params"]))?;
            if answer.get("code").is_some() {
                return Some(Err(Got(json!({"error": answer}))));
            }
            responses.insert(key.clone(), answer);
        }
        let mut retry = first.clone();
        retry["inputResponses"] = Value::Object(responses);
        retry["requestState"] = round["requestState"].clone();
        Some(Ok(retry))
    }

    /// Asks the person what the model was told to ask: the call to make next.
    fn model(&self, pending: &Value) -> Option<Result<Value, Got>> {
        let heard = Heard {
            message: pending["message"].as_str().unwrap_or_default().to_owned(),
            schema: Some(pending["schema"].clone()),
            url: None,
            meta: None,
        };
        let mut arguments = self.person.asked(heard)?;
        if arguments.get("code").is_some() {
            return Some(Err(Got(json!({"error": arguments}))));
        }
        arguments["elicitId"] = pending["elicitId"].clone();
        Some(Ok(
            json!({"name": "sendElicitationResult", "arguments": arguments}),
        ))
    }
}

impl Got {
    /// The text of the result, or the message of the error.
    pub fn text(&self) -> &str {
        let result = self.0["result"]["content"][0]["text"].as_str();
        result
            .or(self.0["error"]["message"].as_str())
            .unwrap_or_default()
    }

    /// Whether the tool could not do what it was called for.
    pub fn is_error(&self) -> bool {
        self.0["result"]["isError"] == true || self.code().is_some()
    }

    /// The code of a protocol error.
    pub fn code(&self) -> Option<i64> {
        self.0["error"]["code"].as_i64()
    }

    /// The question that a model must ask again, since the answer did not fit.
    fn mend<'a>(&self, asked: &'a Value) -> Option<&'a Value> {
        let problems = self.0["result"]["_meta"].get("dev.midcall/problems");
        problems.map(|_| asked)
    }

    /// What a model was told to ask.
    pub fn pending(&self) -> Option<&Value> {
        self.0["result"]["_meta"].get("elicitationPending")
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let without = if self.asks() {
            ""
        } else {
            ", without elicitation"
        };
        write!(f, "of {}{without}", self.version())
    }
}

fn heard(params: &Value) -> Heard {
    Heard {
        message: params["message"].as_str().unwrap_or_default().to_owned(),
        schema: params.get("requestedSchema").cloned(),
        url: params["url"].as_str().map(str::to_owned),
        meta: params.get("_meta").cloned(),
    }
}
