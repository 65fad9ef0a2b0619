//! Every ask there is, a tool each: a florist who takes an order in far too many steps.
//!
//! Each tool answers with what it got, as JSON. Look one up and copy it. To see what people see:
//! `midcall wrap -- cargo run --example every_ask`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use midcall_server::kind::Choice;
use midcall_server::{Answer, Ask, AskError, Asks};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A florist.
#[derive(Clone)]
pub struct Florist {
    asks: Asks,
    signed_in: Arc<AtomicBool>,
}

// A form is a struct. People see its fields in this order, and its doc comments.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Order {
    /// Who gets the flowers
    #[schemars(length(min = 1, max = 40))]
    name: String,
    address: Address,
    #[schemars(range(min = 1, max = 99))]
    roses: u8,
    extras: Vec<Extra>,
    /// Anything we should know
    notes: Option<String>,
}

// A struct in a struct is a group of fields.
/// Where they live
#[derive(Deserialize, Serialize, JsonSchema)]
struct Address {
    city: String,
    /// For the courier
    floor: Option<i8>,
}

// A list of these is some of several; one of them, one of several.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Extra {
    /// With a ribbon
    Ribbon,
    /// With a card
    Card,
}

/// What is in stock today.
#[derive(Deserialize, JsonSchema)]
pub struct Stock {
    /// Names of flowers
    pub flowers: Vec<String>,
}

/// Who came back from the link.
#[derive(Deserialize, JsonSchema)]
pub struct Visit {
    /// What stood in the link
    pub state: String,
}

/// What a tool got. Declining and cancelling are answers too.
fn said<T: Serialize>(answer: Answer<T>) -> Result<String, AskError> {
    Ok(match answer {
        Answer::Accepted(value) => json!(value).to_string(),
        Answer::Declined { .. } => "They said no".into(),
        Answer::Cancelled => "They put it away".into(),
    })
}

#[tool_router]
impl Florist {
    #[tool(
        description = "Asks for a whole order",
        annotations(read_only_hint = true)
    )]
    async fn form(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.form::<Order>("What may we bring?").await?)
    }

    #[tool(
        description = "Asks for a text with rules",
        annotations(read_only_hint = true)
    )]
    async fn text(&self, ask: Ask) -> Result<String, AskError> {
        let voucher = ask
            .text("Which voucher do you have?")
            .min(4)
            .max(8)
            .pattern("^[A-Z0-9]+$")
            .placeholder("MAY2026");
        said(voucher.await?)
    }

    #[tool(
        description = "Asks for several lines",
        annotations(read_only_hint = true)
    )]
    async fn lines(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.text("What goes on the card?").multiline().await?)
    }

    #[tool(description = "Asks yes or no", annotations(read_only_hint = true))]
    async fn confirm(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.confirm("Is it a present?").await?)
    }

    #[tool(
        description = "Asks before something is lost",
        annotations(destructive_hint = true)
    )]
    async fn dangerous(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.confirm("Cancel all your orders?").dangerous().await?)
    }

    #[tool(
        description = "Asks for one of several",
        annotations(read_only_hint = true)
    )]
    async fn select(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.select("Which colour?", ["red", "white"]).await?)
    }

    #[tool(
        description = "Asks for one of several, by their titles",
        annotations(read_only_hint = true)
    )]
    async fn select_titled(&self, ask: Ask) -> Result<String, AskError> {
        let sizes = [("s", "A small bunch"), ("l", "An armful")];
        said(ask.select("Which size?", sizes).await?)
    }

    #[tool(
        description = "Asks for one of several, with help",
        annotations(read_only_hint = true)
    )]
    async fn select_described(&self, ask: Ask) -> Result<String, AskError> {
        let vases = [
            Choice::new("glass").title("Glass").description("Breaks"),
            Choice::new("clay").title("Clay").description("Weighs 3 kg"),
        ];
        said(ask.select("Which vase?", vases).await?)
    }

    #[tool(
        description = "Asks for one of what is there",
        annotations(read_only_hint = true)
    )]
    async fn select_found(
        &self,
        ask: Ask,
        Parameters(Stock { flowers }): Parameters<Stock>,
    ) -> Result<String, AskError> {
        said(ask.select("Which flower?", flowers).await?)
    }

    #[tool(
        description = "Asks for some of several",
        annotations(read_only_hint = true)
    )]
    async fn select_many(&self, ask: Ask) -> Result<String, AskError> {
        let days = [("mon", "Monday"), ("tue", "Tuesday"), ("sat", "Saturday")];
        let days = ask
            .select_many("On which days?", days)
            .at_least(1)
            .at_most(2);
        said(days.await?)
    }

    #[tool(description = "Asks for a number", annotations(read_only_hint = true))]
    async fn number(&self, ask: Ask) -> Result<String, AskError> {
        let price = ask
            .number("How much may it cost?")
            .range(5.0..=99.5)
            .step(0.5);
        said(price.await?)
    }

    #[tool(
        description = "Asks for a whole number",
        annotations(read_only_hint = true)
    )]
    async fn integer(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.integer("How many tulips?").range(1..=50).await?)
    }

    #[tool(description = "Asks for a day", annotations(read_only_hint = true))]
    async fn date(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.date("On which day?").await?)
    }

    #[tool(description = "Asks for a moment", annotations(read_only_hint = true))]
    async fn date_time(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.date_time("At what time?").await?)
    }

    #[tool(
        description = "Asks for an address",
        annotations(read_only_hint = true)
    )]
    async fn email(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.email("Where does the bill go?").await?)
    }

    #[tool(
        description = "Asks for any number of texts",
        annotations(read_only_hint = true)
    )]
    async fn tags(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.tags("What must not be in it?").at_most(3).await?)
    }

    #[tool(
        description = "Asks to open a link",
        annotations(read_only_hint = true)
    )]
    async fn link(&self, ask: Ask) -> Result<String, AskError> {
        let paid = ask.link("Pay on our page", "https://example.com/pay?state={id}");
        said(paid.await?.map(|opened| opened.id().to_owned()))
    }

    #[tool(description = "Needs a link first", annotations(read_only_hint = true))]
    async fn require_link(&self, ask: Ask) -> Result<String, AskError> {
        if !self.is_signed_in() {
            let page = "https://example.com/in?state={id}";
            ask.require_link("Sign in first", page).await?;
        }
        // Whoever was asked in a round has agreed by now, and may be on their way still.
        let are_in = self.is_signed_in();
        Ok(if are_in {
            "Welcome"
        } else {
            "Not signed in yet"
        }
        .into())
    }

    #[tool(description = "Signs in, as the page behind the link would")]
    async fn signed_in(&self, Parameters(Visit { state }): Parameters<Visit>) -> String {
        self.signed_in.store(true, Ordering::SeqCst);
        let is_told = self.asks.complete(&state).await;
        format!("Signed in; the client was told: {is_told}")
    }

    #[tool(
        description = "Asks two things at once",
        annotations(read_only_hint = true)
    )]
    async fn together(&self, ask: Ask) -> Result<String, AskError> {
        let questions = (
            ask.text("From whom?").min(1),
            ask.confirm("May we call you?"),
        );
        let (from, may_call) = ask.together(questions).await?;
        Ok(json!([from.accepted()?, may_call.accepted()?]).to_string())
    }

    #[tool(
        description = "Asks with something to start from",
        annotations(read_only_hint = true)
    )]
    async fn default(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.text("Which shop?").default("Lisbon").await?)
    }

    #[tool(
        description = "Asks with a rule beyond the form",
        annotations(read_only_hint = true)
    )]
    async fn must(&self, ask: Ask) -> Result<String, AskError> {
        let odd = |lilies: &i64| match lilies % 2 {
            0 => Err("An even number is for funerals"),
            _ => Ok(()),
        };
        said(ask.integer("How many lilies?").must(odd).await?)
    }

    #[tool(description = "Asks and says why", annotations(read_only_hint = true))]
    async fn because(&self, ask: Ask) -> Result<String, AskError> {
        let other = ask
            .confirm("Take peonies instead?")
            .because("The roses are sold out");
        said(other.await?)
    }

    #[tool(
        description = "Asks what is known already",
        annotations(read_only_hint = true)
    )]
    async fn prefilled(&self, ask: Ask) -> Result<String, AskError> {
        said(ask.text("Which currency?").id("currency").await?)
    }

    #[tool(
        description = "Asks, and does not wait for long",
        annotations(read_only_hint = true)
    )]
    async fn within(&self, ask: Ask) -> Result<String, AskError> {
        let second = Duration::from_secs(1);
        said(ask.confirm("Quick, the last one?").within(second).await?)
    }
}

impl Florist {
    fn is_signed_in(&self) -> bool {
        self.signed_in.load(Ordering::SeqCst)
    }
}

#[tool_handler(name = "florist")]
impl ServerHandler for Florist {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asks = Asks::new().prefilled("currency", "EUR");
    let florist = Florist {
        asks: asks.clone(),
        signed_in: Arc::default(),
    };
    let stdio = (tokio::io::stdin(), tokio::io::stdout());
    asks.around(florist).serve(stdio).await?.waiting().await?;
    Ok(())
}
