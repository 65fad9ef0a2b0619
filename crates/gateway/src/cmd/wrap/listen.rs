//! `midcall wrap --listen`: the same for clients that come over HTTP.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use super::Cmd;
use crate::cmd::serve::host::{self, Hosted};
use crate::config::BOUNDS;
use crate::http;
use crate::local::{Flags, Local};
use crate::transport::front::Bounds;

/// Where the endpoint is.
const PATH: &str = "/mcp";

pub async fn run(cmd: Cmd, listen: SocketAddr) -> anyhow::Result<ExitCode> {
    let place = cmd.place()?;
    let (rules, opens) = cmd.rules(place.asker(place.name()))?;
    let hosted = Hosted {
        name: rules.asker.server.clone(),
        path: PATH.to_owned(),
        place,
        rules,
        era: cmd.server_era,
        bounds: Bounds {
            message: cmd.max_message.saturating_mul(1024 * 1024),
            ..BOUNDS
        },
    };
    let flags = Flags {
        page_addr: listen,
        ..cmd.local
    };
    let mut rules = midcall_desk::Rules::default();
    rules.asks_per_minute = cmd.asks_per_minute;
    let local = Local::open(flags, rules, http::Bounds::default()).await?;
    host::host(local, vec![hosted], opens, |addresses| {
        for (_, address) in addresses {
            // A reader that has gone is no reason to end: clients may be there already.
            let _ = writeln!(io::stdout(), "{address}");
        }
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
