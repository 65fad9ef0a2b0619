//! `midcall wrap`: stands where the server's own command stood.

mod elsewhere;
mod listen;
mod relay;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;

use midcall_core::catalog::Locale;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::attend::{Attendant, ClientEnd};
use crate::config::HOLD;
use crate::duration::Hold;
use crate::era::bridge::{Bridge, ServerEra};
use crate::frame::{Frame, Kind};
use crate::local::{self, Flags};
use crate::printer::Printer;
use crate::route::{Page, Policy, Profile, Room, Route, Routes};
use crate::session::{self, Confirm, OnUnavailable};
use crate::times::FIRST_WORDS;
use crate::transport::child::{Child, StartError};
use crate::transport::upstream::Place;
use crate::transport::{Line, Lines, Outbox, Reading, Writing};
use elsewhere::Address;
use midcall_core::wire::code;
use midcall_core::{Asker, Limits};
use relay::{Relay, Signals};

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
    /// Who is asked, the first that can: client, page, api, model
    #[arg(
        long,
        env = "MIDCALL_ASK",
        value_name = "ROUTES",
        default_value = "client,page"
    )]
    ask: Routes,
    /// How long a call waits for a person before the client is told to collect its result
    /// later, or never [default: 45s, or what the client's profile says]
    #[arg(long, env = "MIDCALL_HOLD", value_name = "TIME")]
    hold: Option<Hold>,
    /// Who the client is, if it is known not to show some questions: codex, goose, vscode, …
    #[arg(long, env = "MIDCALL_CLIENT_PROFILE", value_name = "NAME")]
    client_profile: Option<String>,
    /// A file that says what holds for some servers, tools and modes instead
    #[arg(long, env = "MIDCALL_POLICY", value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Which calls a person agrees to before the server gets them
    #[arg(
        long,
        env = "MIDCALL_CONFIRM",
        value_name = "WHICH",
        default_value = "never"
    )]
    confirm: Confirm,
    /// What the server is told when nobody can be asked
    #[arg(
        long,
        env = "MIDCALL_ON_UNAVAILABLE",
        value_name = "WHAT",
        default_value = "cancel"
    )]
    on_unavailable: OnUnavailable,
    /// Which era of the protocol the server speaks
    #[arg(
        long,
        env = "MIDCALL_SERVER_ERA",
        value_name = "ERA",
        default_value = "auto"
    )]
    server_era: ServerEra,
    /// Do not open a browser
    #[arg(long, env = "MIDCALL_NO_OPEN", value_parser = clap::builder::BoolishValueParser::new())]
    no_open: bool,
    /// The language of what is told here: en-US or pt-BR (the page follows the browser)
    #[arg(long, env = "MIDCALL_LOCALE", default_value = "en-US")]
    locale: String,
    /// How many questions the server may put on the page in a minute
    #[arg(
        long,
        env = "MIDCALL_ASKS_PER_MINUTE",
        value_name = "COUNT",
        default_value_t = 120
    )]
    asks_per_minute: u32,
    /// The longest message that is taken, in megabytes
    #[arg(
        long,
        env = "MIDCALL_MAX_MESSAGE",
        value_name = "MB",
        default_value_t = 64
    )]
    max_message: usize,
    #[command(flatten)]
    address: Address,
    /// Where clients come over HTTP, at /mcp: a loopback address, shared with the page
    #[arg(
        long,
        env = "MIDCALL_LISTEN",
        value_name = "ADDR",
        conflicts_with = "page_addr"
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
    let place = cmd.place()?;
    let most = cmd.max_message.saturating_mul(1024 * 1024);
    let mut client = Lines::new(Reading::new(duplicate(io::stdin())?)?, most);
    let mut to_client = Outbox::new(Writing::new(duplicate(io::stdout())?)?);
    let (events, news) = unbounded_channel();
    let announced = cmd.local.announce.is_some();
    let patience = cmd.local.timeout;
    place.caution();
    let (session_rules, opens) = cmd.rules(place.asker(place.name()))?;
    let mut rules = midcall_desk::Rules::default();
    rules.asks_per_minute = cmd.asks_per_minute;
    let told = events.clone();
    let room = Room::new(cmd.local, rules, opens);
    if announced {
        room.open().await?;
    }
    let bridge = Bridge::new(session_rules, cmd.server_era);
    let page = Page::new(room.clone(), patience, events);
    if matches!(place, Place::Url(_)) {
        let attendant = Attendant {
            bridge,
            client: ClientEnd::Pipes(client, to_client),
            server: place.open(most)?,
            place,
            most,
            page,
            news,
            events: told,
            errors: errors.clone(),
            closing: CancellationToken::new(),
            tap: None,
        };
        let code = elsewhere::run(attendant, room, signals).await;
        errors.finish();
        return Ok(ExitCode::from(code));
    }
    let (child, output, input) = match Child::start(&cmd.server) {
        Ok(started) => started,
        Err(error) => return not_started(error, &mut client, &mut to_client).await,
    };
    let relay = Relay {
        bridge,
        client: Some(client),
        to_client: Some(to_client),
        server: Some(Lines::new(output, most)),
        to_server: Some(Outbox::new(input)),
        child,
        command: cmd.server,
        most,
        beside: None,
        page,
        room,
        news,
        events: told,
        signals,
        errors: errors.clone(),
    };
    let code = relay.run().await;
    errors.finish();
    code.map(ExitCode::from)
}

impl Cmd {
    /// How sessions are set up, and whether a browser may have to be opened.
    fn rules(&self, asker: Asker) -> anyhow::Result<(session::Rules, bool)> {
        if self.ask.has(Route::Api) && self.local.announce.is_none() {
            anyhow::bail!("--ask api needs --announce FILE: nobody would know where to answer");
        }
        let profile = self.client_profile.as_deref().map(Profile::named);
        let profile = profile.transpose()?;
        let policy = self.policy.as_deref().map(Policy::read).transpose()?;
        let policy = policy.unwrap_or_default();
        let known = profile.as_ref().and_then(|profile| profile.hold);
        let by_policy = policy.routes().any(|routes| routes.has(Route::Page));
        let opens = (by_policy || self.ask.has(Route::Page)) && !self.no_open;
        let rules = session::Rules {
            routes: self.ask.clone(),
            limits: Limits::default(),
            locale: Locale::negotiate(&self.locale),
            hold: self.hold.or(known).unwrap_or(HOLD).0,
            policy,
            profile,
            patience: self.local.timeout,
            confirm: self.confirm,
            on_unavailable: self.on_unavailable,
            asker,
        };
        Ok((rules, opens))
    }

    /// Where the server is.
    fn place(&self) -> anyhow::Result<Place> {
        let target = self.address.target()?;
        Ok(target.map_or_else(|| Place::Command(self.server.clone()), Place::Url))
    }
}

/// Tells why there is no server: on standard error, and to the client, which may show it.
async fn not_started(
    error: StartError,
    client: &mut Lines,
    to_client: &mut Outbox,
) -> anyhow::Result<ExitCode> {
    let code = match error {
        StartError::NotFound(_) => 127,
        StartError::NotAllowed(_) => 126,
        StartError::Io(..) => 1,
    };
    let told = format!("midcall: {:#}", anyhow::Error::from(error));
    eprintln!("{told}");
    if let Ok(Ok(Line::Whole(line))) = timeout(FIRST_WORDS.get(), client.next()).await
        && let Some((Kind::Request { id, .. }, _)) = Frame::new(line).peek()
    {
        to_client.answer(Frame::error(Some(&id), code::INTERNAL_ERROR, &told).into_bytes());
        let _ = timeout(FIRST_WORDS.get(), to_client.flush()).await;
    }
    Ok(ExitCode::from(code))
}

/// A standard stream of our own to wait for.
fn duplicate(stream: impl AsFd) -> io::Result<OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}
