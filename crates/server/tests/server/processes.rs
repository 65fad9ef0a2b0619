//! Real processes behind a balancer, and a client of another SDK before it: `rmcp`'s own.
//!
//! Two processes of the example `replicas` have their keys in common and nothing else. The balancer
//! gives each request to the next of them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, FormElicitationCapability, Implementation,
    ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A process of the example.
struct Replica {
    child: Child,
    address: SocketAddr,
}

impl Replica {
    async fn start(resume: &str) -> Self {
        let tests: PathBuf = std::env::current_exe().unwrap();
        let program = tests.ancestors().nth(2).unwrap().join("examples/replicas");
        let mut child = Command::new(program)
            .args(["127.0.0.1:0", resume])
            .env("ASKS_KEYS", KEY)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the example is built with the tests");
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let line = stdout.lines().next_line().await.unwrap();
        let address = line.expect("it says where it listens").parse().unwrap();
        Self { child, address }
    }
}

/// Gives each request to the next replica.
#[derive(Clone)]
struct Balancer(Arc<Mutex<Balanced>>);

struct Balanced {
    replicas: Vec<Replica>,
    turn: usize,
    /// Which calls and retries each request was, and the process that had it.
    had: Vec<(String, u32)>,
}

impl Balancer {
    /// It, and where it listens.
    async fn start(resume: &str) -> (Self, SocketAddr) {
        let replicas = vec![Replica::start(resume).await, Replica::start(resume).await];
        let had = Vec::new();
        let turn = 0;
        let balancer = Self(Arc::new(Mutex::new(Balanced {
            replicas,
            turn,
            had,
        })));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = balancer.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(client));
            }
        });
        (balancer, address)
    }

    /// One request and its response; the connection ends with it.
    async fn serve(self, mut client: TcpStream) -> Option<()> {
        let mut request = Vec::new();
        let (head, length) = loop {
            if client.read_buf(&mut request).await.ok()? == 0 {
                return None;
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            if let Some((head, _)) = text.split_once("\r\n\r\n") {
                let lines = head.lines().filter_map(|line| line.split_once(':'));
                let mut lengths =
                    lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
                let length = lengths
                    .next()
                    .map_or(0, |(_, length)| length.trim().parse().unwrap());
                break (head.to_owned(), length);
            }
        };
        while request.len() < head.len() + 4 + length {
            client.read_buf(&mut request).await.ok()?;
        }
        let body = request.split_off(head.len() + 4);
        let address = self.next(&body);
        let mut replica = TcpStream::connect(address).await.ok()?;
        let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
        replica
            .write_all(format!("{head}\r\n\r\n").as_bytes())
            .await
            .ok()?;
        replica.write_all(&body).await.ok()?;
        tokio::io::copy(&mut replica, &mut client).await.ok()?;
        client.shutdown().await.ok()
    }

    fn next(&self, body: &[u8]) -> SocketAddr {
        let mut balanced = self.0.lock().unwrap();
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        // Only calls take turns: what a client asks beside them may not put two on one process.
        let at = balanced.turn % balanced.replicas.len();
        if message["method"] == "tools/call" {
            balanced.turn += 1;
            let kind = match message["params"].get("requestState") {
                Some(_) => "retry",
                None => "call",
            };
            let pid = balanced.replicas[at].child.id().unwrap();
            balanced.had.push((kind.to_owned(), pid));
        }
        balanced.replicas[at].address
    }

    fn had(&self) -> Vec<(String, u32)> {
        self.0.lock().unwrap().had.clone()
    }

    /// Ends both processes as nobody expects, and starts two others.
    async fn kill_all(&self, resume: &str) {
        let fresh = vec![Replica::start(resume).await, Replica::start(resume).await];
        let old = std::mem::replace(&mut self.0.lock().unwrap().replicas, fresh);
        for mut replica in old {
            replica.child.kill().await.unwrap(); // SIGKILL, and waits for its end.
        }
    }
}

/// A host whose person books a journey to Porto.
#[derive(Clone)]
struct Host {
    heard: Arc<Mutex<Vec<String>>>,
    /// Ends all processes at each question.
    kills: Option<(Balancer, &'static str)>,
}

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
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = json!(asked)["message"].as_str().unwrap().to_owned();
        if let Some((balancer, resume)) = &self.kills {
            balancer.kill_all(resume).await;
        }
        let content = match asked.split(' ').next() {
            Some("In") => json!({"value": "Ana"}),
            Some("Where") => json!({"selected": "Porto"}),
            _ => json!({"confirmed": true}),
        };
        self.heard.lock().unwrap().push(asked);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

async fn connect(host: Host, address: SocketAddr) -> RunningService<RoleClient, Host> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
    let running = host.serve_with_lifecycle(transport, lifecycle).await;
    running.expect("the host opens")
}

async fn book(host: Host, address: SocketAddr) -> Value {
    let running = connect(host, address).await;
    let result = running.call_tool(CallToolRequestParams::new("book")).await;
    json!(result.expect("the call has a result"))
}

fn host(kills: Option<(Balancer, &'static str)>) -> Host {
    let heard = Arc::default();
    Host { heard, kills }
}

const WORDS: [&str; 3] = ["In whose name?", "Where to, Ana?", "Book Porto?"];

#[tokio::test]
async fn each_round_of_a_wizard_lands_on_another_process() {
    for resume in ["park-then-replay", "replay-only"] {
        let (balancer, address) = Balancer::start(resume).await;
        let host = host(None);
        let result = book(host.clone(), address).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("Ana goes to Porto"), "{result}");
        assert_eq!(*host.heard.lock().unwrap(), WORDS);
        let had = balancer.had();
        let kinds: Vec<_> = had.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["call", "retry", "retry", "retry"]);
        let all_differ = had.windows(2).all(|two| two[0].1 != two[1].1);
        assert!(all_differ, "{had:?}");
    }
}

#[tokio::test]
async fn processes_that_are_killed_between_rounds_are_not_missed() {
    for resume in ["park-then-replay", "replay-only"] {
        let (balancer, address) = Balancer::start(resume).await;
        let host = host(Some((balancer.clone(), resume)));
        let result = book(host.clone(), address).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        let had = balancer.had();
        let last = had.last().unwrap().1;
        assert_eq!(text, format!("Ana goes to Porto, booked by {last}"));
        assert_eq!(*host.heard.lock().unwrap(), WORDS);
        let pids: std::collections::BTreeSet<_> = had.iter().map(|(_, pid)| pid).collect();
        assert_eq!(pids.len(), 4, "no process had two of the requests");
    }
}

#[tokio::test]
async fn where_calls_are_parked_only_a_killed_process_is_told_plainly() {
    let (balancer, address) = Balancer::start("park-only").await;
    let result = book(host(Some((balancer, "park-only"))), address).await;
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(
        result["content"][0]["text"],
        "This call is over: nobody came back with an answer in time, too many calls were waiting, \
         or the server was started again. Call again"
    );
}
