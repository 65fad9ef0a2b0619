//! A wizard: each step depends on the one before, and the tool is one function all the same.

use midcall_server::kind::Choice;
use midcall_server::{Answer, Ask, AskError, WithAsks};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

/// A restaurant with three tables.
#[derive(Clone, Default)]
pub struct Restaurant;

#[derive(Deserialize, JsonSchema)]
struct Booking {
    /// In whose name
    #[schemars(length(min = 1, max = 40))]
    name: String,
    /// How many come
    #[schemars(range(min = 1, max = 8))]
    guests: u8,
    #[schemars(extend("format" = "date"))]
    day: String,
    extras: Vec<Extra>,
    /// Anything we should know
    notes: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Extra {
    /// A dog comes along
    Dog,
    /// A chair for a small child
    Highchair,
}

/// The tables, and how many each is for.
const TABLES: [(&str, &str, u8); 3] = [
    ("window", "By the window", 2),
    ("garden", "In the garden", 4),
    ("long", "The long table", 8),
];

#[tool_router]
impl Restaurant {
    #[tool(description = "Books a table", annotations(destructive_hint = false))]
    async fn book_table(&self, ask: Ask) -> Result<String, AskError> {
        let Answer::Accepted(booking) = ask.form::<Booking>("Whom may we expect?").await? else {
            return Ok("No table was booked".into());
        };
        // The options of the second step come from the first.
        let fitting = TABLES.iter().filter(|(.., seats)| *seats >= booking.guests);
        let tables = fitting.map(|(name, title, seats)| {
            Choice::new(*name)
                .title(*title)
                .description(format!("For up to {seats}"))
        });
        let Answer::Accepted(table) = ask.select("Which table?", tables).await? else {
            return Ok("No table was booked".into());
        };
        ask.progress(2.0, Some(3.0), "The table is free").await;
        let summary = format!(
            "{} on {}, {} guests, table {table}",
            booking.name, booking.day, booking.guests
        );
        if !ask
            .confirm(format!("Book it? {summary}"))
            .await?
            .accepted()?
        {
            return Ok("No table was booked".into());
        }
        let notes = booking.notes.as_deref().unwrap_or("none");
        Ok(format!(
            "Booked: {summary}, extras {:?}, notes {notes}",
            booking.extras
        ))
    }
}

#[tool_handler(name = "restaurant")]
impl ServerHandler for Restaurant {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stdio = (tokio::io::stdin(), tokio::io::stdout());
    Restaurant.with_asks().serve(stdio).await?.waiting().await?;
    Ok(())
}
