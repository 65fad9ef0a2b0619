//! A server that does what a story says, byte by byte.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// Nothing here takes longer, unless something is wrong.
pub const PATIENCE: Duration = Duration::from_secs(300);

pub struct Server {
    pub origin: String,
    seen: watch::Receiver<Vec<Asked>>,
    _serving: AbortOnDropHandle<()>,
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Value,
    /// Whether the other side hung up before the response was over.
    pub is_left: bool,
}

/// What is answered.
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    /// The body, each piece in a chunk of its own.
    pieces: Vec<Vec<u8>>,
    then: Then,
}

/// How a response ends.
enum Then {
    Ends,
    /// The connection breaks.
    Breaks,
    /// It never ends.
    Stays,
    /// It ends with this piece once a request of this method came.
    Waits(&'static str, Vec<u8>),
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            pieces: Vec::new(),
            then: Then::Ends,
        }
    }

    pub fn json(body: &Value) -> Self {
        Self::status(200)
            .header("content-type", "application/json")
            .piece(body.to_string())
    }

    pub fn events(events: &[String]) -> Self {
        let reply = Self::status(200).header("content-type", "text/event-stream");
        events
            .iter()
            .fold(reply, |reply, event| reply.piece(event.clone()))
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn piece(mut self, piece: impl Into<Vec<u8>>) -> Self {
        self.pieces.push(piece.into());
        self
    }

    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub fn breaks(mut self) -> Self {
        self.then = Then::Breaks;
        self
    }

    pub fn stays(mut self) -> Self {
        self.then = Then::Stays;
        self
    }

    /// The same, with one more piece once a request of this method came.
    pub fn waits(mut self, method: &'static str, piece: impl Into<Vec<u8>>) -> Self {
        self.then = Then::Waits(method, piece.into());
        self
    }

    /// The same, a byte at a time.
    pub fn drop_by_drop(mut self) -> Self {
        let bytes = self.pieces.concat();
        self.pieces = bytes.into_iter().map(|byte| vec![byte]).collect();
        self
    }
}

impl Asked {
    pub fn is(&self, method: &str) -> bool {
        self.body["method"] == method
    }

    /// The result of what it asks for.
    pub fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// An event with an id.
pub fn event(id: usize, message: &Value) -> String {
    format!("id: {id}\ndata: {message}\n\n")
}

impl Server {
    pub async fn start(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (tell, seen) = watch::channel(Vec::new());
        let (tell, script) = (Arc::new(Mutex::new(tell)), Arc::new(script));
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, script.clone(), tell.clone()));
            }
        });
        Self {
            origin,
            seen,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    pub fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Everything that came.
    pub fn seen(&self) -> Vec<Asked> {
        self.seen.borrow().clone()
    }

    /// Waits until what came is so.
    pub async fn sees(&self, wants: impl Fn(&[Asked]) -> bool) -> Vec<Asked> {
        let mut seen = self.seen.clone();
        let found = timeout(PATIENCE, seen.wait_for(|seen| wants(seen))).await;
        found.expect("it came in time").unwrap().clone()
    }
}

type Tell = Arc<Mutex<watch::Sender<Vec<Asked>>>>;

async fn serve(stream: TcpStream, script: Arc<impl Fn(&Asked) -> Reply>, tell: Tell) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let asked = read(&mut stream).await?;
    let reply = script(&asked);
    let mut place = 0;
    tell.lock().unwrap().send_modify(|seen| {
        place = seen.len();
        seen.push(asked);
    });
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.ok()?;
    for piece in &reply.pieces {
        write(&mut stream, piece).await?;
    }
    match reply.then {
        Then::Ends => stream.write_all(b"0\r\n\r\n").await.ok()?,
        Then::Waits(method, piece) => {
            let mut seen = tell.lock().unwrap().subscribe();
            let came = |seen: &Vec<Asked>| seen.iter().any(|asked| asked.is(method));
            seen.wait_for(came).await.ok()?;
            write(&mut stream, &piece).await?;
            stream.write_all(b"0\r\n\r\n").await.ok()?;
        }
        Then::Breaks => {}
        Then::Stays => {
            let mut nothing = [0];
            let _ = stream.read(&mut nothing).await;
            (tell.lock().unwrap()).send_modify(|seen| seen[place].is_left = true);
        }
    }
    Some(())
}

/// Writes a chunk.
async fn write(stream: &mut BufReader<TcpStream>, piece: &[u8]) -> Option<()> {
    let size = format!("{:x}\r\n", piece.len());
    stream.write_all(size.as_bytes()).await.ok()?;
    stream.write_all(piece).await.ok()?;
    stream.write_all(b"\r\n").await.ok()?;
    stream.flush().await.ok()
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Asked {
        method,
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        is_left: false,
    })
}
