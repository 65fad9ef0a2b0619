//! A wizard that any of several processes can go on with, over Streamable HTTP.
//!
//! ```text
//! ASKS_KEYS=$(openssl rand -hex 32) cargo run --example replicas -- 127.0.0.1:0 replay-only
//! ```
//!
//! It needs `axum = { version = "0.8", default-features = false, features = ["http1", "tokio"] }`.

use std::error::Error;
use std::io::Write as _;
use std::process;

use axum::Router;
use midcall_server::{Ask, AskError, Asks, Resume};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use tokio::net::TcpListener;

/// Books journeys. All that a call needs to go on is in its answers.
#[derive(Clone)]
struct Travel;

#[tool_router]
impl Travel {
    #[tool(description = "Books a journey", annotations(destructive_hint = false))]
    async fn book(&self, ask: Ask) -> Result<String, AskError> {
        let name = ask.text("In whose name?").min(2).await?.accepted()?;
        let towns = ["Faro", "Lisbon", "Porto"];
        let town = ask.select(format!("Where to, {name}?"), towns).await?;
        let town = town.accepted()?;
        if !ask.confirm(format!("Book {town}?")).await?.agreed() {
            return Ok("Nothing was booked".into());
        }
        // What may happen once alone has a name. For processes that may end here, add a store.
        let booked = async || format!("{name} goes to {town}, booked by {}", process::id());
        ask.once("book", booked).await
    }
}

#[tool_handler(name = "travel")]
impl ServerHandler for Travel {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:0".into());
    let resume = match arguments.next().as_deref() {
        None | Some("park-then-replay") => Resume::ParkThenReplay,
        Some("replay-only") => Resume::ReplayOnly,
        Some("park-only") => Resume::ParkOnly,
        Some(other) => {
            return Err(format!("there is no way to resume that is called {other}").into());
        }
    };
    let asks = Asks::new().keys_from_env("ASKS_KEYS")?.resume(resume);
    // No session: any process takes any request.
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let service: StreamableHttpService<_, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(asks.handler(Travel)), Default::default(), config);
    let listener = TcpListener::bind(address).await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    axum::serve(listener, Router::new().fallback_service(service)).await?;
    Ok(())
}
