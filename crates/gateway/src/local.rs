//! A desk and its page for the person at this machine: what `desk` and `demo` start alike.
//!
//! In: the flags they share. Out: [`Local::open`], then [`Local::serve`], which goes on until
//! the process is told to end.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, bail};
use midcall_desk::{Desk, Rules};
use midcall_store::{Mailroom, Memory};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::flag;
use crate::http::announce::Announced;
use crate::http::peers::Folder;
use crate::http::{self, Bounds, Door, Server};
use crate::ink::Ink;

/// The desk of one process, with nothing on disk.
pub type LocalDesk = Desk<Memory, Mailroom>;
/// What is served beside it.
pub type Site = http::Site<Memory, Mailroom>;

/// The flags of every command that has a page.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// Address of the page and the API, on this computer only, such as 127.0.0.1:8642
    #[arg(
        long,
        env = "MIDCALL_PAGE_ADDR",
        value_name = "ADDR",
        default_value = "127.0.0.1:0",
        value_parser = flag::loopback,
        help_heading = "Page"
    )]
    pub page_addr: SocketAddr,
    /// Write how to reach the page and the API to this file, which only you can read: a new or
    /// empty one, or one that Midcall wrote
    #[arg(
        long,
        env = "MIDCALL_ANNOUNCE",
        value_name = "FILE",
        help_heading = "Page"
    )]
    pub announce: Option<PathBuf>,
    /// Log level on standard error (error, warn, info, debug, trace), or a filter like midcall=debug
    #[arg(
        long,
        env = "MIDCALL_LOG",
        value_name = "LEVEL",
        default_value = "warn",
        help_heading = "Output"
    )]
    pub log: String,
}

/// A desk with its door, not yet open to callers.
pub struct Local {
    pub desk: LocalDesk,
    server: Server,
    flags: Flags,
    joined: Option<Announced>,
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

/// A desk that is being called.
pub struct Serving {
    task: JoinHandle<()>,
    closing: CancellationToken,
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    announced: Vec<Announced>,
}

impl Flags {
    /// Announces a server where that is wanted, as long as the result lives.
    pub fn announce(&self, server: &Server) -> anyhow::Result<Option<Announced>> {
        let announce = |file: &PathBuf| Announced::write(file, &server.announcement());
        Ok(self.announce.as_ref().map(announce).transpose()?)
    }
}

impl Local {
    /// Starts to log, and binds.
    pub async fn open(flags: Flags, rules: Rules, bounds: Bounds) -> anyhow::Result<Self> {
        // First of all: a signal during the start ends the process in good order too.
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        let hang_up = signal(SignalKind::hangup())?;
        log(&flags.log, io::stderr)?;
        let server = Server::bind(flags.page_addr, bounds).await?;
        let desk = Desk::open(Memory::default(), Mailroom::default(), rules).await?;
        Ok(Self {
            desk,
            server,
            flags,
            joined: None,
            terminate,
            interrupt,
            hang_up,
        })
    }

    /// Joins the other gateways of this user.
    pub fn join(&mut self) {
        self.joined = join(&mut self.server);
    }

    /// What is known of it from outside.
    pub fn door(&self) -> Door {
        self.server.door()
    }

    /// A link that lets one browser in, once.
    pub fn launch(&self) -> String {
        self.server.door().launch()
    }

    /// The same for a browser that is opened now.
    pub fn launch_now(&self) -> String {
        self.server.door().launch_now()
    }

    /// Announces what was bound, and answers calls from now on.
    pub fn serve(self, site: Site) -> anyhow::Result<Serving> {
        let announced = self.flags.announce(&self.server)?;
        let closing = CancellationToken::new();
        Ok(Serving {
            announced: announced.into_iter().chain(self.joined).collect(),
            task: tokio::spawn(self.server.serve(self.desk, site, closing.clone())),
            closing,
            terminate: self.terminate,
            interrupt: self.interrupt,
            hang_up: self.hang_up,
        })
    }
}

impl Serving {
    /// Waits until somebody wants the process to end.
    pub async fn told_to_end(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            served = &mut self.task => {
                served.context("the server broke")?;
                bail!("the server ended by itself");
            }
            _ = self.terminate.recv() => Ok(()),
            _ = self.interrupt.recv() => Ok(()),
            _ = self.hang_up.recv() => Ok(()),
        }
    }

    /// Lets the last responses out.
    pub async fn close(self) -> anyhow::Result<()> {
        drop(self.announced); // While the door is still ours: nobody else is taken for us.
        self.closing.cancel();
        self.task.await.context("the server broke")
    }
}

/// Has a server join the other gateways of this user, as long as the result lives. One that cannot
/// has a page of its own.
pub fn join(server: &mut Server) -> Option<Announced> {
    let joined = Folder::of_this_user()
        .map_err(anyhow::Error::from)
        .and_then(|folder| Ok(server.join(folder)?));
    joined
        .inspect_err(|error| tracing::warn!("this gateway stays by itself: {error:#}"))
        .ok()
}

/// Tells what the filter lets through on standard error, in color for people only.
pub fn log<W>(filter: &str, to: W) -> anyhow::Result<()>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::try_new(filter).context("--log is neither a level nor a filter")?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(to)
        .with_ansi(Ink::stderr().is_colored())
        .init();
    Ok(())
}
