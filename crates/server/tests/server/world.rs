//! A server with a tool for everything that can be asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use midcall_server::kind::Choice;
use midcall_server::{Answer, Ask, AskError};
use rmcp::handler::server::common::FromContextPart;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult, InputResponses,
};
use rmcp::model::{GetPromptResult, PromptMessage, Role, ServerCapabilities, ServerConfig};
use rmcp::model::{
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
};
use rmcp::service::RequestContext;
use rmcp::{
    RoleServer, ServerHandler, prompt, prompt_handler, prompt_router, tool, tool_handler,
    tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts what the tools did, across clones.
#[derive(Clone, Default)]
pub struct World {
    pub started: Arc<AtomicUsize>,
    pub dropped: Arc<AtomicUsize>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Booking {
    /// In whose name
    #[schemars(length(min = 1, max = 40), regex(pattern = "^[A-Z]"))]
    pub name: String,
    #[schemars(range(min = 1, max = 12))]
    pub guests: u8,
    pub seat: Option<Seat>,
    pub extras: Vec<Extra>,
    pub address: Address,
    #[serde(default)]
    pub dog: bool,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Address {
    pub city: String,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Seat {
    /// By the window
    Window,
    /// In the garden, if it is warm
    Garden,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Extra {
    Quiet,
    Highchair,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Story {
    #[schemars(extend("format" = "textarea"), example = "Once upon a time")]
    pub text: String,
    pub author: Author,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Author {
    #[schemars(extend("examples" = ["Ana"]))]
    pub name: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Account {
    name: String,
    address: Address,
    age: u8,
    terms: bool,
}

#[derive(Deserialize, JsonSchema)]
pub struct About {
    pub kind: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Structured {
    pub name: String,
}

/// What a retry brings to a tool that makes its own rounds.
struct Given {
    state: Option<String>,
    responses: Option<InputResponses>,
}

impl<S> FromContextPart<ToolCallContext<'_, S>> for Given {
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, rmcp::ErrorData> {
        Ok(Self {
            state: context.request_state.take(),
            responses: context.input_responses.take(),
        })
    }
}

struct Falls(Arc<AtomicUsize>);

impl Drop for Falls {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn shown<T: std::fmt::Debug>(answer: Answer<T>) -> String {
    format!("{answer:?}")
}

#[tool_router]
impl World {
    #[tool(description = "Asks one thing", annotations(destructive_hint = false))]
    async fn one(
        &self,
        ask: Ask,
        Parameters(About { kind }): Parameters<About>,
    ) -> Result<String, AskError> {
        Ok(match kind.as_str() {
            "text" => shown(
                ask.text("Which code?")
                    .min(2)
                    .max(4)
                    .pattern("^[A-Z]+$")
                    .placeholder("AB")
                    .await?,
            ),
            "lines" => shown(ask.text("What happened?").multiline().await?),
            "confirm" => shown(ask.confirm("Go on?").await?),
            "select" => shown(ask.select("Which colour?", ["red", "green"]).await?),
            "titled" => shown(
                ask.select(
                    "Which?",
                    [
                        Choice::new("r").title("Red").description("As a rose"),
                        "g".into(),
                    ],
                )
                .await?,
            ),
            "many" => shown(
                ask.select_many("Extras?", [("dog", "A dog"), ("bar", "The bar")])
                    .at_most(2)
                    .await?,
            ),
            "number" => shown(ask.number("How much?").range(0.0..=10.0).step(0.5).await?),
            "integer" => shown(ask.integer("How many?").range(1..=12).await?),
            "date" => shown(ask.date("Which day?").await?),
            "date_time" => shown(ask.date_time("When?").await?),
            "email" => shown(ask.email("Where to?").await?),
            "tags" => shown(ask.tags("Which tags?").at_least(1).await?),
            "default" => shown(ask.text("Which branch?").default("main").await?),
            "because" => shown(
                ask.confirm("Use another port?")
                    .because("8080 is taken")
                    .await?,
            ),
            "must" => shown(
                ask.integer("Which port?")
                    .must(|port| {
                        if *port == 22 {
                            Err("22 is for ssh")
                        } else {
                            Ok(())
                        }
                    })
                    .await?,
            ),
            "short" => shown(ask.text("Quick?").within(Duration::from_secs(30)).await?),
            "id" => shown(ask.text("Which city?").id("city").await?),
            "none" => shown(
                ask.select("Nothing to choose", Vec::<String>::new())
                    .await?,
            ),
            "story" => shown(ask.form::<Story>("What happened?").await?),
            "account" => shown(
                ask.form::<Account>("Who are you?")
                    .must(|account| match account.age {
                        ..18 => Err("you have to be 18"),
                        _ => Ok(()),
                    })
                    .await?,
            ),
            "nested" => shown(ask.form::<Booking>("Which table?").await?),
            other => panic!("there is no {other}"),
        })
    }

    #[tool(description = "Books a table", annotations(destructive_hint = false))]
    async fn book(&self, ask: Ask) -> Result<String, AskError> {
        let booking = ask.form::<Booking>("Which table?").await?.accepted()?;
        Ok(serde_json::to_string(&booking).unwrap_or_default())
    }

    #[tool(description = "Three steps", annotations(destructive_hint = false))]
    async fn wizard(&self, ask: Ask) -> Result<String, AskError> {
        self.started.fetch_add(1, Ordering::SeqCst);
        let _falls = Falls(self.dropped.clone());
        let Answer::Accepted(name) = ask.text("Step 1: name").min(1).await? else {
            return Ok("Stopped at step 1".into());
        };
        ask.progress(1.0, Some(3.0), "named").await;
        let Answer::Accepted(colour) = ask.select("Step 2: colour", ["red", "blue"]).await? else {
            return Ok("Stopped at step 2".into());
        };
        ask.progress(2.0, Some(3.0), "coloured").await;
        let sure = ask
            .confirm(format!("Step 3: {name}, {colour}?"))
            .await?
            .accepted()?;
        Ok(format!("{name} {colour} {sure}"))
    }

    #[tool(description = "Two at once", annotations(destructive_hint = false))]
    async fn both(&self, ask: Ask) -> Result<String, AskError> {
        let (town, sure) = ask
            .together((ask.text("Town").min(1), ask.confirm("Sure?")))
            .await?;
        Ok(format!("{} {}", town.accepted()?, sure.accepted()?))
    }

    #[tool(
        description = "Asks in a task of its own",
        annotations(destructive_hint = false)
    )]
    async fn apart(&self, ask: Ask) -> Result<String, AskError> {
        let asking = tokio::spawn(async move { ask.text("Name").await.map(shown) });
        asking.await.unwrap_or(Err(AskError::Gone))
    }

    #[tool(description = "Deletes", annotations(destructive_hint = true))]
    async fn delete(&self, ask: Ask) -> Result<String, AskError> {
        Ok(
            match ask
                .confirm("Delete 3 files?")
                .dangerous()
                .await?
                .accepted()?
            {
                true => "Deleted".into(),
                false => "Kept".into(),
            },
        )
    }

    #[tool(description = "Says nothing of itself")]
    async fn plain(&self, ask: Ask) -> Result<String, AskError> {
        ask.confirm("Go on?").await.map(shown)
    }

    #[tool(
        description = "Has a schema for its result",
        annotations(destructive_hint = false)
    )]
    async fn structured(&self, ask: Ask) -> Result<rmcp::Json<Structured>, AskError> {
        let name = ask.text("Name").await?.accepted()?;
        Ok(rmcp::Json(Structured { name }))
    }

    #[tool(
        description = "Works for ever after a question",
        annotations(destructive_hint = false)
    )]
    async fn slow(&self, ask: Ask) -> Result<String, AskError> {
        let _falls = Falls(self.dropped.clone());
        ask.text("Name").await?.accepted()?;
        self.started.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }

    #[tool(description = "Asks by a round of its own")]
    async fn by_hand(&self, context: RequestContext<RoleServer>, given: Given) -> CallToolResponse {
        drop(context);
        let (Some(state), Some(responses)) = (given.state, given.responses) else {
            let requests =
                serde_json::from_value(serde_json::json!({"own": {"method": "elicitation/create",
                "params": {"mode": "form", "message": "By hand?", "requestedSchema":
                    {"type": "object", "properties": {"value": {"type": "string"}}}}}}));
            return InputRequiredResult::new(requests.ok(), Some("by hand".into())).into();
        };
        let value = responses["own"]["content"]["value"]
            .as_str()
            .unwrap_or_default();
        CallToolResult::success(vec![ContentBlock::text(format!("{state}: {value}"))]).into()
    }

    #[tool(description = "Signs in", annotations(destructive_hint = false))]
    async fn sign_in(&self, ask: Ask) -> Result<String, AskError> {
        let link = ask.link("Sign in", "https://example.com/in?state={id}");
        let opened = link.until(async |_| {}).await?.accepted()?;
        Ok(format!("Signed in by {}", opened.id()))
    }

    #[tool(
        description = "Needs a sign-in first",
        annotations(destructive_hint = false)
    )]
    async fn protected(&self, ask: Ask) -> Result<String, AskError> {
        if self.started.load(Ordering::SeqCst) == 0 {
            ask.require_link("Sign in first", "https://example.com/in?state={id}")
                .await?;
        }
        let is_signed_in = self.started.load(Ordering::SeqCst) > 0;
        Ok(if is_signed_in {
            "Welcome"
        } else {
            "Not signed in"
        }
        .into())
    }

    #[tool(description = "Needs a sign-in, and knows whose")]
    async fn expects(&self, ask: Ask) -> Result<String, AskError> {
        let link = ask.link("Sign in first", "https://example.com/in?state={id}");
        let expected = link.link_id().to_owned();
        link.because("The archive is not public")
            .within(Duration::from_secs(20))
            .required()
            .await?;
        Ok(expected)
    }

    #[tool(description = "Asks for what it should not")]
    async fn bad_link(&self, ask: Ask) -> Result<String, AskError> {
        ask.link("Look", "javascript:alert(1)").await.map(shown)
    }

    #[tool(description = "Asks nothing")]
    async fn quiet(&self) -> String {
        "done".into()
    }
}

#[prompt_router]
impl World {
    #[prompt(name = "greeting")]
    async fn greeting(&self, ask: Ask) -> Result<GetPromptResult, rmcp::ErrorData> {
        let name = ask.text("For whom?").await?.accepted()?;
        let message = PromptMessage::new_text(Role::User, format!("Greet {name}"));
        Ok(GetPromptResult::new(vec![message]))
    }
}

#[tool_handler]
#[prompt_handler]
impl ServerHandler for World {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .enable_resources()
                .build(),
        )
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, rmcp::ErrorData> {
        let answer = Ask::of(&context).text("Which page?").await?;
        let page = answer.accepted()?;
        let page = ResourceContents::text(format!("Page {page}"), request.uri);
        Ok(ReadResourceResult::new(vec![page]).into())
    }
}
