//! A running `midcall desk`, and people and scripts who call it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

use crate::program::without_settings;

/// A desk of its own process, which ends with this value.
pub struct Desk {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    /// Lines that came while another was waited for.
    put_by: VecDeque<Value>,
    pub announced: Value,
    pub file: PathBuf,
    pub folder: PathBuf,
    /// Where it looks for other gateways: nobody else does, unless the story says so.
    pub session: PathBuf,
}

/// Whoever holds a bearer.
#[derive(Clone)]
pub struct Caller {
    client: Client,
    api: String,
    bearer: String,
}

/// Nothing takes longer, unless something is wrong: machines are busy.
pub const PATIENCE: Duration = Duration::from_secs(300);

static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Desk {
    pub async fn start(flags: &[&str]) -> Self {
        Self::start_as("desk", flags).await
    }

    /// The same for another command that has a desk.
    pub async fn start_as(command: &str, flags: &[&str]) -> Self {
        Self::start_with(command, flags, &[]).await
    }

    /// The same in another environment.
    pub async fn start_with(command: &str, flags: &[&str], environment: &[(&str, &str)]) -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("midcall-http-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("announce.json");
        let session = folder.with_extension("session");
        std::fs::create_dir(&session).unwrap();
        // Some systems give a process 1,024 file handles at first, and let it have more.
        let mut shell = Command::new("sh");
        without_settings(shell.as_std_mut());
        let mut child = shell
            .args(["-c", "ulimit -S -n 8192; exec \"$@\"", "sh"])
            .args([env!("CARGO_BIN_EXE_midcall"), command, "--announce"])
            .arg(&file)
            .args(flags)
            .env("XDG_RUNTIME_DIR", &session)
            // On a busy machine, other gateways and clients may take longer than people would wait for them.
            .env("MIDCALL_TEST_TIMES", "neighbour=5m,headers=5m,fresh=5m")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let announced = timeout(PATIENCE, async {
            loop {
                if let Ok(text) = std::fs::read(&file) {
                    return serde_json::from_slice(&text).expect("it is written in one step");
                }
                sleep(Duration::from_millis(5)).await;
            }
        });
        Self {
            announced: announced.await.expect("the desk announces itself"),
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            put_by: VecDeque::new(),
            child,
            file,
            folder,
            session,
        }
    }

    pub fn pid(&self) -> Option<u64> {
        self.child.id().map(u64::from)
    }

    /// Sends a line to the desk.
    pub async fn tell(&mut self, line: &str) {
        let input = self.input.as_mut().expect("nobody hung up");
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    /// Has no more to tell.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// The next line that the desk prints, of those that tell of no asking.
    pub async fn line(&mut self) -> Value {
        match self.put_by.pop_front() {
            Some(line) => line,
            None => self.read().await,
        }
    }

    /// Asks, and gives the ticket's id.
    pub async fn ask(&mut self, params: Value) -> String {
        self.ask_as(json!({"params": params})).await
    }

    /// The same, with all that a line can say.
    pub async fn ask_as(&mut self, line: Value) -> String {
        self.tell(&line.to_string()).await;
        loop {
            let told = self.read().await;
            match told["asked"].as_str() {
                Some(id) => return id.to_owned(),
                None => self.put_by.push_back(told), // Another ticket ended meanwhile.
            }
        }
    }

    async fn read(&mut self) -> Value {
        let line = timeout(PATIENCE, self.output.next_line()).await;
        let line = line.expect("the desk says something").unwrap();
        serde_json::from_str(&line.expect("the desk is there")).unwrap()
    }

    pub fn page(&self) -> &str {
        self.announced["page"].as_str().unwrap()
    }

    /// `127.0.0.1:port`
    pub fn host(&self) -> &str {
        self.page().strip_prefix("http://").unwrap()
    }

    pub fn launch_token(&self) -> &str {
        let launch = self.announced["launch"].as_str().unwrap();
        launch.split_once('#').unwrap().1
    }

    /// The person, at a page they launched.
    pub async fn person(&self) -> Caller {
        let launched = self
            .nobody()
            .post("/launch")
            .header("origin", self.page())
            .json(&json!({"token": self.launch_token()}))
            .send()
            .await
            .unwrap();
        let launched: Value = launched.json().await.unwrap();
        self.caller(launched["bearer"].as_str().expect("the token works"))
    }

    /// A script that read the announcement.
    pub fn script(&self) -> Caller {
        self.caller(self.announced["bearer"].as_str().unwrap())
    }

    /// Whoever has no bearer.
    pub fn nobody(&self) -> Caller {
        self.caller("")
    }

    pub fn caller(&self, bearer: &str) -> Caller {
        Caller {
            client: client(),
            api: self.announced["api"].as_str().unwrap().to_owned(),
            bearer: bearer.to_owned(),
        }
    }

    pub fn terminate(&self) {
        self.signal("TERM");
    }

    pub fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill")
            .args(["-s", name, &pid])
            .status();
        assert!(sent.unwrap().success());
    }

    /// The next line of standard output, as it is.
    pub async fn text(&mut self) -> String {
        let line = timeout(PATIENCE, self.output.next_line()).await;
        let line = line.expect("something is said").unwrap();
        line.expect("it is there")
    }

    /// What was said on standard error, once it has ended.
    pub async fn errors(&mut self) -> String {
        let mut text = String::new();
        let mut errors = self.child.stderr.take().unwrap();
        errors.read_to_string(&mut text).await.unwrap();
        text
    }

    pub async fn end(&mut self) -> ExitStatus {
        let end = timeout(PATIENCE, self.child.wait()).await;
        end.expect("the desk ends").unwrap()
    }

    /// Ends the desk, and gives the rest of what it printed on both outputs.
    pub async fn last_words(&mut self) -> String {
        // Read while it ends: a full pipe would keep it from ending.
        let mut errors = self.child.stderr.take().unwrap();
        let reading = tokio::spawn(async move {
            let mut text = String::new();
            errors.read_to_string(&mut text).await.unwrap();
            text
        });
        self.terminate();
        let mut words: String = self.put_by.iter().map(Value::to_string).collect();
        while let Some(line) = self.output.next_line().await.unwrap() {
            words += &line;
        }
        self.end().await;
        words + &reading.await.unwrap()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        let _ = std::fs::remove_dir_all(&self.session);
    }
}

impl Caller {
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.call(Method::GET, path)
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        self.call(Method::POST, path)
    }

    pub fn call(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.api));
        match self.bearer.as_str() {
            "" => request,
            bearer => request.bearer_auth(bearer),
        }
    }
}

/// A client that goes to loopback directly, whatever proxies the machine has.
pub fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default(); // Another test may have done it.
    let builder = Client::builder().no_proxy().timeout(PATIENCE);
    builder.build().unwrap()
}
