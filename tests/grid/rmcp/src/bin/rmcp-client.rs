//! A client on `rmcp`. argv: `legacy` or `modern`. Its job is that of the others: see
//! `tests/peers/sdk/README.md`.

#![expect(
    deprecated,
    reason = "sampling and roots are, as of 2026-07-28, and still there"
)]

use std::io::Write;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    CreateMessageRequestParams, CreateMessageResult, CustomRequest, ElicitRequestParams,
    ElicitResult, Implementation, ListRootsResult, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, RequestContext, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Longer than anything here takes.
const TIMEOUT: Duration = Duration::from_secs(600);

/// What it is asked, and what it has been told to answer.
#[derive(Clone)]
struct Client {
    declares: Value,
    told: Arc<Mutex<Told>>,
}

#[derive(Default)]
struct Told {
    answers: Vec<Value>,
    /// Questions without an answer yet, by their message.
    waiting: Vec<(Value, oneshot::Sender<Value>)>,
    /// The names of calls that are open and want to hear of their progress.
    open: Vec<Value>,
}

fn tell(line: &Value) {
    let _ = writeln!(std::io::stdout(), "{line}"); // Whoever does not read it has gone.
}

fn failed(why: impl ToString) -> ErrorData {
    ErrorData::internal_error(why.to_string(), None)
}

impl Client {
    /// What a job declares.
    fn new(job: &Value) -> Self {
        let mut declares = Map::new();
        let elicitation = match job["declare"].as_str() {
            Some("form+url") => Some(json!({"form": {}, "url": {}})),
            Some("form") => Some(json!({"form": {}})),
            Some("{}") => Some(json!({})),
            _ => None,
        };
        declares.extend(elicitation.map(|modes| ("elicitation".to_owned(), modes)));
        let also = job["also"].as_array().into_iter().flatten();
        declares.extend(also.filter_map(|name| Some((name.as_str()?.to_owned(), json!({})))));
        Self {
            declares: Value::Object(declares),
            told: Arc::default(),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a question: the first unused one that fits, or the one that comes.
    fn answer(&self, message: &Value) -> oneshot::Receiver<Value> {
        let mut told = self.told();
        let (say, said) = oneshot::channel();
        match told.answers.iter().position(|given| fits(given, message)) {
            Some(found) => drop(say.send(told.answers.remove(found))),
            None => told.waiting.push((message.clone(), say)),
        }
        said
    }

    /// Answers an open question, or the next one that the answer fits.
    fn give(&self, given: Value) {
        let mut told = self.told();
        told.waiting.retain(|(_, say)| !say.is_closed());
        let mut waiting = told.waiting.iter();
        match waiting.position(|(message, _)| fits(&given, message)) {
            Some(found) => drop(told.waiting.remove(found).1.send(given)),
            None => told.answers.push(given),
        }
    }
}

fn fits(answer: &Value, message: &Value) -> bool {
    answer["message"].is_null() || answer["message"] == *message
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let declares: Result<ClientCapabilities, _> = serde_json::from_value(self.declares.clone());
        let info = Implementation::new("rmcp-client", "1.0.0");
        ClientConfig::new(declares.unwrap_or_default(), info)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = json!(request);
        tell(&json!({"asked": {"id": context.id, "params": params}}));
        let answer = tokio::select! {
            answer = self.answer(&params["message"]) => answer.map_err(failed)?,
            () = context.ct.cancelled() => {
                tell(&json!({"withdrawn": context.id}));
                return Err(failed("nobody answered"));
            }
        };
        let mut result = json!({"action": answer["action"]});
        if answer["content"].is_object() {
            result["content"] = answer["content"].clone();
        }
        serde_json::from_value(result).map_err(failed)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        tell(&json!({"sampled": params}));
        let hello = json!({"model": "parrot", "role": "assistant", "content": {"type": "text", "text": "Hello"}});
        serde_json::from_value(hello).map_err(failed)
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        serde_json::from_value(json!({"roots": [{"uri": "file:///home"}]})).map_err(failed)
    }

    /// The SDK hides which call it is of while it may take rounds: with one open it is no question.
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let [call] = self.told().open.as_slice() {
            tell(&json!({"call": call, "progress": params}));
        }
    }
}

type Running = RunningService<RoleClient, Client>;

/// Calls a tool or another method, and tells how that went.
async fn call(running: &Running, step: Value) {
    let client = running.service();
    if !step["answer"].is_null() {
        return client.give(step["answer"].clone());
    }
    let name = step["call"].clone();
    {
        let mut told = client.told();
        if name.is_null() {
            told.answers.clear(); // else others may be open
        }
        told.answers
            .extend(step["answers"].as_array().cloned().unwrap_or_default());
        if step["quiet"] != true {
            told.open.push(name.clone());
        }
    }
    let calling = tokio::time::timeout(TIMEOUT, request(running, &step));
    let went = calling
        .await
        .unwrap_or(Err(ServiceError::Timeout { timeout: TIMEOUT }));
    client.told().open.retain(|open| *open != name);
    let mut line = match went {
        Ok(result) => json!({"result": result}),
        Err(ServiceError::McpError(error)) => json!({"error": error}),
        Err(other) => json!({"error": {"message": other.to_string()}}),
    };
    if !name.is_null() {
        line["call"] = name;
    }
    tell(&line);
}

async fn request(running: &Running, step: &Value) -> Result<Value, ServiceError> {
    if let Some(method) = step["method"].as_str() {
        let request = CustomRequest::new(method, None);
        let result = running.send_request(ClientRequest::CustomRequest(request));
        return Ok(json!(result.await?));
    }
    let tool = step["tool"].as_str().unwrap_or_default().to_owned();
    let given = step["arguments"].as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new(tool).with_arguments(given);
    Ok(json!(running.call_tool(params).await?))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let job = input.next_line().await?.unwrap_or_default();
    let job: Value = serde_json::from_str(&job)?;
    let lifecycle = match std::env::args().nth(1).as_deref() {
        Some("modern") => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        _ => ClientLifecycleMode::Initialize,
    };
    let client = Client::new(&job);
    if let Some(url) = job["url"].as_str() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let transport = StreamableHttpClientTransport::from_uri(url);
        let running = client.serve_with_lifecycle(transport, lifecycle).await?;
        work(Arc::new(running), &job, &mut input).await?;
    } else {
        let mut child = start(&job)?;
        let pipes = child.stdout.take().zip(child.stdin.take());
        let pipes = pipes.ok_or_else(|| anyhow::anyhow!("the server has no pipes"))?;
        let running = client.serve_with_lifecycle(pipes, lifecycle).await?;
        work(Arc::new(running), &job, &mut input).await?;
        child.wait().await?;
    }
    tell(&json!({"closed": true}));
    Ok(())
}

fn start(job: &Value) -> std::io::Result<Child> {
    let words = job["command"].as_array().into_iter().flatten();
    let mut words = words.filter_map(Value::as_str);
    Command::new(words.next().unwrap_or_default())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
}

/// Does the steps of a job, or those that come.
async fn work(
    running: Arc<Running>,
    job: &Value,
    input: &mut tokio::io::Lines<BufReader<tokio::io::Stdin>>,
) -> anyhow::Result<()> {
    let server = running
        .peer_info()
        .map(|info| json!(info))
        .unwrap_or_default();
    tell(
        &json!({"opened": {"server": server["serverInfo"], "revision": server["protocolVersion"]}}),
    );
    let tools = running.list_all_tools().await?;
    let tools: Vec<_> = tools.iter().map(|tool| &tool.name).collect();
    tell(&json!({"tools": tools}));
    if let Some(steps) = job["steps"].as_array() {
        for step in steps {
            call(&running, step.clone()).await;
        }
    } else {
        let mut calls = JoinSet::new();
        while let Some(line) = input.next_line().await? {
            let (running, step) = (running.clone(), serde_json::from_str(&line)?);
            calls.spawn(async move { call(&running, step).await });
        }
        calls.join_all().await;
    }
    if let Some(running) = Arc::into_inner(running) {
        running.cancel().await?;
    }
    Ok(())
}
