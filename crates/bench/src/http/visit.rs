//! A client over HTTP: one connection, one request at a time, no more work than that takes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// Which era of the protocol it speaks.
#[derive(Clone, Copy, PartialEq)]
pub enum Era {
    Legacy,
    Modern,
}

pub struct Visit {
    era: Era,
    port: u16,
    stream: BufReader<TcpStream>,
    session: Option<String>,
    id: u64,
}

const MODERN: &str = "2026-07-28";

impl Visit {
    /// Connects to a port, and opens a session where the era has any.
    pub fn open(era: Era, port: u16) -> io::Result<Self> {
        let mut visit = Self {
            era,
            port,
            stream: connect(port)?,
            session: None,
            id: 0,
        };
        if era == Era::Legacy {
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"}});
            visit.call("initialize", params)?;
            let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            visit.post("notifications/initialized", None, &opened)?;
        }
        visit.echo()?;
        Ok(visit)
    }

    /// Calls the tool that says what it was told.
    pub fn echo(&mut self) -> io::Result<()> {
        let answer = self.call(
            "tools/call",
            json!({"name": "echo", "arguments": {"text": "hello"}}),
        )?;
        match answer["result"]["content"][0]["text"] == "hello" {
            true => Ok(()),
            false => Err(io::Error::other(format!("it answers {answer}"))),
        }
    }

    fn call(&mut self, method: &str, mut params: Value) -> io::Result<Value> {
        self.id += 1;
        if self.era == Era::Modern {
            params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {}});
        }
        let name = params["name"].as_str().map(str::to_owned);
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.post(method, name.as_deref(), &message)?
            .ok_or_else(|| io::Error::other("there is no answer"))
    }

    /// Posts a message: the answer, if there is one.
    fn post(
        &mut self,
        method: &str,
        name: Option<&str>,
        body: &Value,
    ) -> io::Result<Option<Value>> {
        let body = body.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.port,
            body.len()
        );
        match (self.era, &self.session) {
            (Era::Modern, _) => {
                head += &format!("MCP-Protocol-Version: {MODERN}\r\nMcp-Method: {method}\r\n");
                head += &name.map_or(String::new(), |name| format!("Mcp-Name: {name}\r\n"));
            }
            (Era::Legacy, Some(session)) => {
                head +=
                    &format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
            }
            (Era::Legacy, None) => {}
        }
        let request = format!("{head}\r\n{body}");
        // Whoever waits for its turn may find its connection closed: servers do that to idle ones.
        self.once(&request).or_else(|_| {
            self.stream = connect(self.port)?;
            self.once(&request)
        })
    }

    fn once(&mut self, request: &str) -> io::Result<Option<Value>> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.response()
    }

    fn response(&mut self) -> io::Result<Option<Value>> {
        let (mut length, mut is_chunked, mut is_events) = (0, false, false);
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap_or(0),
                "transfer-encoding" => is_chunked = value == "chunked",
                "content-type" => is_events = value.starts_with("text/event-stream"),
                "mcp-session-id" => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let body = match is_chunked {
            true => self.chunks()?,
            false => self.exactly(length)?,
        };
        let text = String::from_utf8_lossy(&body);
        let told = match is_events {
            true => text.lines().rfind(|line| line.starts_with("data: {")),
            false => Some(&*text),
        };
        let told = told.map(|told| told.trim_start_matches("data: "));
        Ok(told.and_then(|told| serde_json::from_str(told).ok()))
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
            body.extend(self.exactly(size)?);
            self.line()?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

fn connect(port: u16) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    Ok(BufReader::new(stream))
}
