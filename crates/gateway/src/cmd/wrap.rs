//! `midcall wrap`: stands where the server's own command stood.

mod elsewhere;
mod listen;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::ExitCode;

use midcall_core::catalog::Locale;
use tokio::time::timeout;

use crate::config::settings::Settings;
use crate::flag;
use crate::frame::{Frame, Kind};
use crate::ink;
use crate::local::{self, Flags};
use crate::printer::Printer;
use crate::relay::{ClientEnd, Ended, FromClient, Page, Relay, Room, Servers, Signals, Why};
use crate::route::{Route, Setup};
use crate::session::{Input, Session};
use crate::times::FIRST_WORDS;
use crate::transport::child::{self, StartError};
use crate::transport::server::ServerAddress;
use crate::transport::{Pipes, Reading, Writing};
use elsewhere::Address;
use midcall_core::Asker;
use midcall_core::wire::code;

/// Run a server so that its questions reach a person
///
/// Put `midcall wrap --` before the server's command in your client's configuration. Everything
/// passes through as it is. When the server asks something, the client asks you if it can; if it
/// cannot, a page on this machine does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall wrap -- npx -y @modelcontextprotocol/server-everything
  midcall wrap --timeout 10m -- uvx some-server     a question waits for ten minutes
  midcall wrap --ask page -- node server.js         always ask on the page
  midcall wrap --ask client -- node server.js       change nothing but check answers
  midcall wrap --ask client,model -- node server.js let the model ask, where the client cannot
  midcall wrap --ask api --announce f.json -- ...   let a script answer: see the README
  midcall wrap --confirm destructive -- ...         agree first to calls that may destroy
  midcall wrap --url https://example.com/mcp        a server elsewhere, reached by HTTP
  midcall wrap --listen 127.0.0.1:8642 -- ...       for clients over HTTP, at /mcp there

In a client's configuration:
  \"command\": \"midcall\", \"args\": [\"wrap\", \"--\", \"npx\", \"-y\", \"some-server\"]

Exits as the server does; 128 and the signal if one ended it; 127 if it was not found.")]
pub struct Cmd {
    #[command(flatten)]
    local: Flags,
    #[command(flatten)]
    settings: Settings,
    /// Don't open a browser
    #[arg(
        long,
        env = "MIDCALL_NO_OPEN",
        value_parser = clap::builder::BoolishValueParser::new(),
        help_heading = "Page"
    )]
    no_open: bool,
    /// The language of Midcall's messages: en-US or pt-BR (the page follows the browser)
    #[arg(
        long,
        env = "MIDCALL_LOCALE",
        value_name = "TAG",
        default_value = "en-US",
        value_parser = flag::locale,
        help_heading = "Output"
    )]
    locale: Locale,
    /// How many questions the server may put on the page in a minute
    #[arg(
        long,
        env = "MIDCALL_ASKS_PER_MINUTE",
        value_name = "COUNT",
        default_value_t = 120,
        help_heading = "Questions"
    )]
    asks_per_minute: u32,
    #[command(flatten)]
    address: Address,
    /// Accept clients over HTTP at /mcp on this address (the page uses the same port)
    #[arg(
        long,
        env = "MIDCALL_LISTEN",
        value_name = "ADDR",
        conflicts_with = "page_addr",
        value_parser = flag::loopback,
        help_heading = "Page"
    )]
    listen: Option<SocketAddr>,
    /// The server's command
    #[arg(
        last = true,
        required_unless_present = "url",
        conflicts_with = "url",
        value_name = "SERVER"
    )]
    server: Vec<OsString>,
}

#[tokio::main(flavor = "current_thread")]
pub async fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    if let Some(listen) = cmd.listen {
        return listen::run(cmd, listen).await;
    }
    // First of all: a signal during the start must not leave a server behind.
    let signals = Signals::new()?;
    let errors = Printer::start(io::stderr());
    let log = errors.clone();
    local::log(&cmd.local.log, move || log.clone())?;
    let address = cmd.server_address()?;
    let most = cmd.settings.longest_message();
    let from_client = Reading::new(duplicate(io::stdin())?)?;
    let to_client = Writing::new(duplicate(io::stdout())?)?;
    let client = ClientEnd::Pipes(Pipes::new(from_client, to_client, most, "client"));
    let is_announced = cmd.local.announce.is_some();
    let patience = cmd.settings.timeout.0;
    address.caution();
    let (setup, opens) = cmd.setup(address.asker(address.name()))?;
    let mut rules = midcall_desk::Rules::default();
    rules.asks_per_minute = cmd.asks_per_minute;
    rules.patience = patience;
    let room = Room::new(cmd.local, rules, opens);
    if is_announced {
        room.open().await?;
    }
    let servers = match Servers::open(address, most) {
        Ok(servers) => servers,
        Err(error) => return not_started(error, client).await,
    };
    let relay = Relay {
        page: Page::new(room.clone(), &setup),
        session: Session::new(setup, cmd.settings.server_era),
        client,
        servers,
        errors: errors.clone(),
        signals: Some(signals),
        tap: None,
    };
    let ended = relay.run().await;
    room.close().await;
    errors.finish();
    Ok(ExitCode::from(code(ended)))
}

/// The exit code is the server's own. A server elsewhere has none.
fn code(ended: Ended) -> u8 {
    match (ended.exit, ended.why) {
        (Some(exit), _) => child::code(exit),
        (None, Why::Client) => 0,
        (None, Why::Signal(signal)) => 128_u8.saturating_add(signal.as_raw() as u8),
        (None, Why::Server | Why::Endless(_)) => 1,
    }
}

impl Cmd {
    /// How sessions are set up, and whether a browser may have to be opened.
    fn setup(&self, asker: Asker) -> anyhow::Result<(Setup, bool)> {
        if self.settings.ask.has(Route::Api) && self.local.announce.is_none() {
            anyhow::bail!("--ask api needs --announce FILE: nobody would know where to answer");
        }
        let setup = self.settings.setup(Path::new(""), self.locale, asker)?;
        let opens = setup.may_ask(Route::Page) && !self.no_open;
        Ok((setup, opens))
    }

    /// Where the server is.
    fn server_address(&self) -> anyhow::Result<ServerAddress> {
        let target = self.address.target()?;
        let command = || ServerAddress::Command(self.server.clone());
        Ok(target.map_or_else(command, ServerAddress::Url))
    }
}

/// Tells why there is no server: on standard error, and to the client, which may show it.
async fn not_started(error: StartError, mut client: ClientEnd) -> anyhow::Result<ExitCode> {
    let code = match error {
        StartError::NotFound(_) => 127,
        StartError::NotAllowed(_) => 126,
        StartError::Io(..) => 1,
    };
    let why = format!("{:#}", anyhow::Error::from(error));
    ink::complain(&why);
    let told = format!("midcall: {why}");
    let first = timeout(FIRST_WORDS.get(), client.next(true)).await;
    if let Ok(FromClient::Input(Input::Client(frame))) = first
        && let Some((Kind::Request { id, .. }, _)) = frame.peek()
    {
        let error = Frame::error(Some(&id), code::INTERNAL_ERROR, &told);
        client.send(error, None, true);
        let _ = timeout(FIRST_WORDS.get(), client.close()).await;
    }
    Ok(ExitCode::from(code))
}

/// A standard stream of our own to wait for.
fn duplicate(stream: impl AsFd) -> io::Result<OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}
