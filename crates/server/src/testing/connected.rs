//! A client that is connected to a server.

use midcall_core::wire::meta;
use rmcp::service::RunningService;
use rmcp::{RoleServer, Service};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::client::Client;
use super::got::Got;
use super::person::{Heard, Person};
use super::wire::Wire;
use crate::error::DIVERGED;
use crate::layer::Layer;

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
    pub(super) client: Client,
    pub(super) person: Person,
    pub(super) wire: Wire,
    pub(super) server: RunningService<RoleServer, Layer<S>>,
}

impl<S: Service<RoleServer>> Connected<S> {
    /// Calls a tool, and answers what it asks, until there is a result. A client of 2026-07-28 finds
    /// nothing of its call after any round, where the server's tools [may run again](crate::Resume): each
    /// tool is replayed from each of its rounds. Where the person says
    /// [`Nothing`](super::Said::Nothing), a client of 2026-07-28 or a model never comes back, and this
    /// does not end: [put a limit](super#nobody-answers) to it.
    ///
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// let got = connected.call("book_table", json!({"guests": 3})).await;
    /// assert_eq!(got.text(), "A table for 3");
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the server goes away, if the closure that plays the person panics, or if the tool asks something
    /// else when it runs again.
    pub async fn call(&self, tool: &str, arguments: Value) -> Got {
        let first = json!({"name": tool, "arguments": arguments});
        self.all("tools/call", first).await
    }

    /// Makes any call that may ask, and answers what it asks. It wants to hear how far the tool is.
    ///
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// let got = connected.all("prompts/get", json!({"name": "greeting"})).await;
    /// assert_eq!(got.0["result"]["messages"][0]["content"]["text"], "Greet Ana");
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the server goes away, or the closure that plays the person panics.
    pub async fn all(&self, method: &str, first: Value) -> Got {
        let mut params = first.clone();
        let mut asked = Value::Null;
        loop {
            if params["_meta"]["progressToken"].is_null() {
                params["_meta"]["progressToken"] = "test".into();
            }
            let got = self.once(method, params).await;
            self.replays(&got);
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
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// // A modern client that is asked something: the round, as it came.
    /// let got = connected.once("tools/call", json!({"name": "book_table"})).await;
    /// assert_eq!(got.0["result"]["resultType"], "input_required");
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the server goes away, or the closure that plays the person panics.
    pub async fn once(&self, method: &str, params: Value) -> Got {
        let (_, response) = self.begin(method, params).await;
        Got(response.await.expect(
            "a response: the server is gone, or the closure that plays the person panicked",
        ))
    }

    /// Sends one request: its id, and the response once it comes.
    ///
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// let (id, response) = connected.begin("tools/call", json!({"name": "slow"})).await;
    /// connected.cancel(id).await;
    /// # }
    /// ```
    pub async fn begin(&self, method: &str, params: Value) -> (u64, oneshot::Receiver<Value>) {
        self.wire
            .request(method, self.client.with_meta(params))
            .await
    }

    /// Takes a request back.
    ///
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// let (id, _) = connected.begin("tools/call", json!({"name": "slow"})).await;
    /// connected.cancel(id).await; // What does the tool leave behind?
    /// # }
    /// ```
    pub async fn cancel(&self, id: u64) {
        let params = self.client.with_meta(json!({"requestId": id}));
        self.wire.notify("notifications/cancelled", params).await;
    }

    /// The server's notifications so far: how far a tool is, that a link is done.
    ///
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// connected.call("copy", json!({"files": 3})).await;
    /// let notes = connected.notes();
    /// assert!(notes.iter().any(|note| note["method"] == "notifications/progress"));
    /// # }
    /// ```
    pub fn notes(&self) -> Vec<Value> {
        self.wire.notes()
    }

    /// The server's tools, by name.
    ///
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// assert_eq!(connected.tools().await, ["book_table"]);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the server goes away, or the closure that plays the person panics.
    pub async fn tools(&self) -> Vec<String> {
        let got = self.once("tools/list", json!({})).await;
        let tools = got.0["result"]["tools"].as_array().into_iter().flatten();
        tools
            .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
            .collect()
    }

    /// The server itself.
    ///
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// connected.call("book_table", json!({})).await;
    /// assert_eq!(connected.server().waiting(), 0, "nothing is left");
    /// # }
    /// ```
    pub fn server(&self) -> &Layer<S> {
        self.server.service()
    }

    /// Drops every call that waits in the server, as the end of its process would. What replicas share
    /// is still there, so [`Asks::resume`](crate::Asks::resume) says what its clients find. With clocks
    /// that [stand still](super#nobody-answers), whoever waits for its leases to end doesn't wait long.
    ///
    /// ```
    /// use midcall_server::testing::{Client, Person};
    /// use midcall_server::{Asks, Resume};
    /// # use serde_json::json;
    /// # struct Files;
    /// # impl rmcp::ServerHandler for Files {}
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let server = Asks::new().resume(Resume::ParkThenReplay).around(Files);
    /// let connected = Client::V2026_07_28.connect(server, &Person::quiet()).await;
    /// connected.crash();
    /// assert_eq!(connected.server().waiting(), 0);
    /// # }
    /// ```
    pub fn crash(&self) {
        self.server().asks.parks.forget_all();
    }

    /// Runs the tool again for each round, where its server says that tools may run again.
    fn replays(&self, got: &Got) {
        if !self.client.is_modern() || !self.server().asks.settings.resume.replays() {
            return;
        }
        let text = got.text();
        assert!(
            !text.starts_with(DIVERGED),
            "with the client {}: {text}",
            self.client
        );
        if got.0["result"]["resultType"] == "input_required" {
            self.crash();
        }
    }

    /// Answers a round: the call to make next, or the end if nobody expected the question.
    fn round(&self, round: &Value, first: &Value) -> Option<Result<Value, Got>> {
        let mut responses = Map::new();
        for (key, request) in round["inputRequests"].as_object().into_iter().flatten() {
            let mut asked = heard(&request["params"]);
            asked.meta = beside(&round["_meta"], key).or(asked.meta);
            let answer = self.person.asked(asked)?;
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

/// What a round says of one of its questions.
fn beside(said: &Value, key: &str) -> Option<Value> {
    let by_key = |name: &str| Some((name.to_owned(), said.get(name)?.get(key)?.clone()));
    let timeout = said.get(meta::TIMEOUT).cloned();
    let words = [by_key(meta::HINTS), by_key(meta::DESTRUCTIVE)];
    let words = words.into_iter().flatten();
    let words = words.chain(timeout.map(|ms| (meta::TIMEOUT.to_owned(), ms)));
    let words = Map::from_iter(words);
    (!words.is_empty()).then_some(Value::Object(words))
}

/// A question, as it came.
pub(super) fn heard(params: &Value) -> Heard {
    Heard {
        message: params["message"].as_str().unwrap_or_default().to_owned(),
        schema: params.get("requestedSchema").cloned(),
        url: params["url"].as_str().map(str::to_owned),
        meta: params.get("_meta").cloned(),
    }
}
