//! One piece of the gallery: a client that cannot ask calls the demo's server, with a gateway of
//! its own between them, and every message about it is told.
//!
//! Whoever drops a play hangs up for the client: what it still asks is taken back.

use std::env;
use std::io;
use std::os::unix::net;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, unbounded_channel};
use tokio_util::task::TaskTracker;

use super::gallery::Piece;
use super::wire::Wire;
use crate::printer::Printer;
use crate::relay::{ClientEnd, Page, Passed, Relay, Room, Servers};
use crate::route::{ServerEra, Setup};
use crate::session::Session;
use crate::transport::server::ServerAddress;
use crate::transport::{Pipes, Reading, Writing};

/// What plays need.
#[derive(Clone)]
pub struct Stage {
    pub room: Room,
    pub setup: Setup,
    pub errors: Printer,
    /// The gateways at work.
    pub gateways: TaskTracker,
    /// Room for so many plays at once: each has a server of its own.
    pub places: Arc<Semaphore>,
}

/// The longest message that is taken, in bytes.
const MOST: usize = 4 * 1024 * 1024;

impl Stage {
    /// Plays a piece to its end, and tells the messages: a line each, as `Wire` has them.
    pub async fn play(self, piece: &'static Piece, tell: mpsc::Sender<Value>) {
        let (tap, mut passed) = unbounded_channel();
        let client = match self.gateway(tap) {
            Ok(client) => client,
            Err(error) => {
                let error = json!({"code": -32603, "message": format!("{error:#}")});
                let _ = tell.send(json!({"jsonrpc": "2.0", "error": error})).await;
                return;
            }
        };
        let mut wire = Wire::default();
        let calls = call(client, piece);
        let told = async {
            while let Some(message) = passed.recv().await {
                for line in wire.pass(message) {
                    let _ = tell.send(line).await; // Dropping the play is what ends it.
                }
            }
        };
        // The gateway goes on for a moment once the client has what it wants: so may its server.
        let (called, ()) = tokio::join!(calls, told);
        if let Err(error) = called {
            tracing::warn!(%error, "a call of the demo was cut off");
        }
        for line in wire.rest() {
            let _ = tell.send(line).await;
        }
    }

    /// Starts a server and a gateway before it: the client's end.
    fn gateway(&self, tap: mpsc::UnboundedSender<Passed>) -> anyhow::Result<UnixStream> {
        let address = ServerAddress::Command(vec![
            env::current_exe()?.into(),
            "demo".into(),
            "--stdio".into(),
            "--timeout".into(),
            format!("{}ms", self.setup.patience().as_millis()).into(),
            "--locale".into(),
            self.setup.locale.tag().into(),
        ]);
        let (client, gateway) = net::UnixStream::pair()?;
        client.set_nonblocking(true)?;
        let from_client = Reading::new(gateway.try_clone()?.into())?;
        let to_client = Writing::new(gateway.into())?;
        let relay = Relay {
            session: Session::new(self.setup.clone(), ServerEra::Auto),
            client: ClientEnd::Pipes(Pipes::new(from_client, to_client, MOST, "client")),
            servers: Servers::open(address, MOST)?,
            page: Page::new(self.room.clone(), &self.setup),
            errors: self.errors.clone(),
            signals: None,
            tap: Some(tap),
        };
        self.gateways.spawn(relay.run());
        Ok(UnixStream::from_std(client)?)
    }
}

/// What the client says: it opens, makes its calls at once, and waits for their results.
async fn call(mut stream: UnixStream, piece: &Piece) -> io::Result<()> {
    let (read, mut write) = stream.split();
    let mut lines = BufReader::new(read).lines();
    let opening = json!({
        "jsonrpc": "2.0", "id": "opening", "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "midcall-demo-client", "version": env!("CARGO_PKG_VERSION")}}
    });
    write.write_all(format!("{opening}\n").as_bytes()).await?;
    answered(&mut lines, 1).await?;
    let mut messages = format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    );
    for (id, arguments) in (1..).zip(piece.calls) {
        let arguments: &RawValue = serde_json::from_str(arguments)?;
        let params = json!({"name": piece.name, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        messages += &format!("{call}\n");
    }
    write.write_all(messages.as_bytes()).await?;
    answered(&mut lines, piece.calls.len()).await
}

/// Waits for so many answers.
async fn answered(
    lines: &mut tokio::io::Lines<BufReader<tokio::net::unix::ReadHalf<'_>>>,
    mut open: usize,
) -> io::Result<()> {
    while open > 0 {
        let line = lines
            .next_line()
            .await?
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        let message: Value = serde_json::from_str(&line)?;
        if message.get("method").is_none() {
            open -= 1;
        }
    }
    Ok(())
}
