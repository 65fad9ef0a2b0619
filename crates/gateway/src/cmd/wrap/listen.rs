//! `midcall wrap --listen`: the same for clients that come over HTTP.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use super::Cmd;
use crate::cmd::serve::host;
use crate::config::{BOUNDS, Hosted};
use crate::http;
use crate::local::{Flags, Local};
use crate::transport::front::Bounds;

/// Where the endpoint is.
const PATH: &str = "/mcp";

pub async fn run(cmd: Cmd, listen: SocketAddr) -> anyhow::Result<ExitCode> {
    let address = cmd.server_address()?;
    let (setup, opens) = cmd.setup(address.asker(address.name()))?;
    let hosted = Hosted {
        name: setup.asker.server.clone(),
        path: PATH.to_owned(),
        address,
        setup,
        era: cmd.settings.server_era,
        bounds: Bounds {
            message: cmd.settings.longest_message(),
            ..BOUNDS
        },
    };
    let flags = Flags {
        page_addr: listen,
        ..cmd.local
    };
    let mut rules = midcall_desk::Rules::default();
    rules.asks_per_minute = cmd.asks_per_minute;
    rules.patience = cmd.settings.timeout.0;
    let local = Local::open(flags, rules, http::Bounds::default()).await?;
    local.door().roster.add(&hosted.name);
    host::host(local, vec![hosted], opens, |addresses| {
        for (_, address) in addresses {
            // A reader that has gone is no reason to end: clients may be there already.
            let _ = writeln!(io::stdout(), "{address}");
        }
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
