//! `Ask`: what a tool takes to ask the person.

use std::marker::PhantomData;
use std::sync::Arc;

use rmcp::handler::server::common::{AsRequestContext, FromContextPart};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Map;

use crate::call::Call;
use crate::error::AskError;
use crate::kind::{
    Choice, Confirm, Date, DateTime, Email, Integer, Kind, Link, Number, Record, Select,
    SelectMany, Tags, Text, Typed,
};
use crate::question::Question;
use crate::together::Together;
use crate::token;

/// Asks the person for whom the client calls. A tool takes it like any other part of its request;
/// so do prompts.
///
/// ```
/// use midcall_server::{Ask, AskError};
/// use rmcp::{tool, tool_router};
///
/// struct Files;
///
/// #[tool_router]
/// impl Files {
///     #[tool(description = "Delete all files")]
///     async fn delete(&self, ask: Ask) -> Result<String, AskError> {
///         match ask.confirm("Delete 3 files?").await?.agreed() {
///             true => Ok("Deleted".into()),
///             false => Ok("Nothing was deleted".into()),
///         }
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Ask {
    /// None without a layer, or if it is off.
    call: Option<Arc<Call>>,
}

impl Ask {
    /// For handlers that get the whole request: resources, and routers of your own.
    ///
    /// ```
    /// use midcall_server::Ask;
    /// use rmcp::model::{ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents};
    /// use rmcp::service::RequestContext;
    /// use rmcp::{ErrorData, RoleServer, ServerHandler};
    ///
    /// struct Diary;
    ///
    /// impl ServerHandler for Diary {
    ///     async fn read_resource(
    ///         &self,
    ///         request: ReadResourceRequestParams,
    ///         context: RequestContext<RoleServer>,
    ///     ) -> Result<ReadResourceResponse, ErrorData> {
    ///         let day = Ask::of(&context).date("Which day?").await?.accepted()?;
    ///         let page = ResourceContents::text(format!("{day}: it rained"), request.uri);
    ///         Ok(ReadResourceResult::new(vec![page]).into())
    ///     }
    /// }
    /// ```
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let ask = context.extensions.get::<Ask>().cloned();
        ask.unwrap_or(Ask::off())
    }

    /// Every ask is [`AskError::Off`].
    pub(crate) fn off() -> Self {
        Self { call: None }
    }

    pub(crate) fn in_call(call: Arc<Call>) -> Self {
        Self { call: Some(call) }
    }

    pub(crate) fn call(&self) -> Result<&Arc<Call>, AskError> {
        self.call.as_ref().ok_or(AskError::Off)
    }

    fn question<K: Kind>(&self, message: impl Into<String>, kind: K) -> Question<K> {
        Question::new(self.clone(), message.into(), kind)
    }

    /// A whole form, typed: every field of a struct. A field's doc comment is its help and
    /// `#[schemars(title = "..")]` its label, which is its name otherwise; a variant's doc comment
    /// stands in the list instead of its name. `Option` is what people may leave out, and so is what
    /// has a `#[serde(default)]`, with which the form starts. `#[schemars(range(..), length(..),
    /// regex(..))]` are rules.
    ///
    /// ```
    /// use midcall_server::{Answer, Ask, AskError};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Booking {
    ///     /// In whose name
    ///     #[schemars(title = "Name")]
    ///     name: String,
    ///     #[schemars(range(min = 1, max = 12))]
    ///     #[serde(default = "two")]
    ///     guests: u8,
    ///     seat: Option<Seat>,
    /// }
    ///
    /// fn two() -> u8 { 2 }
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(rename_all = "lowercase")]
    /// enum Seat {
    ///     /// By the window
    ///     Window,
    ///     /// In the garden, if it is warm
    ///     Garden,
    /// }
    ///
    /// async fn book(ask: Ask) -> Result<String, AskError> {
    ///     Ok(match ask.form::<Booking>("Which table?").await? {
    ///         Answer::Accepted(booking) => format!("A table for {}", booking.guests),
    ///         Answer::Declined { .. } => "No table, then".into(),
    ///         Answer::Cancelled => "Ask me again when you know".into(),
    ///     })
    /// }
    /// ```
    pub fn form<T: Typed>(&self, message: impl Into<String>) -> Question<Record<T>> {
        self.question(message, Record(PhantomData))
    }

    /// A text.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let name: String = ask.text("What is your name?").min(1).await?.accepted()?;
    /// # Ok(()) }
    /// ```
    pub fn text(&self, message: impl Into<String>) -> Question<Text> {
        self.question(message, Text::default())
    }

    /// Yes or no. That the person accepted means that they answered: the answer is the `bool`, and
    /// [`agreed`](crate::Answer::agreed) is whether it is a yes.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// if ask.confirm("Send it now?").await?.agreed() { /* send it */ }
    /// # Ok(()) }
    /// ```
    pub fn confirm(&self, message: impl Into<String>) -> Question<Confirm> {
        self.question(message, Confirm::default())
    }

    /// One of several options, known now or found out just before.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let colour: String = ask.select("Which colour?", ["red", "green"]).await?.accepted()?;
    /// # Ok(()) }
    /// ```
    pub fn select<O: Into<Choice>>(
        &self,
        message: impl Into<String>,
        options: impl IntoIterator<Item = O>,
    ) -> Question<Select> {
        let options = options.into_iter().map(Into::into).collect();
        self.question(message, Select { options })
    }

    /// Some of several options.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let extras: Vec<String> = ask.select_many("Extras?", [("dog", "A dog comes along")]).await?.accepted()?;
    /// # Ok(()) }
    /// ```
    pub fn select_many<O: Into<Choice>>(
        &self,
        message: impl Into<String>,
        options: impl IntoIterator<Item = O>,
    ) -> Question<SelectMany> {
        let options = options.into_iter().map(Into::into).collect();
        let rules = Map::new();
        self.question(message, SelectMany { options, rules })
    }

    /// A number.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let price: f64 = ask.number("How much?").range(0.0..=100.0).await?.accepted()?;
    /// # Ok(()) }
    /// ```
    pub fn number(&self, message: impl Into<String>) -> Question<Number> {
        self.question(message, Number::default())
    }

    /// A whole number.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let guests: i64 = ask.integer("How many?").range(1..=12).default(2).await?.accepted()?;
    /// # Ok(()) }
    /// ```
    pub fn integer(&self, message: impl Into<String>) -> Question<Integer> {
        self.question(message, Integer::default())
    }

    /// A day of the calendar.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let day: String = ask.date("For which day?").await?.accepted()?; // 2026-07-28
    /// # Ok(()) }
    /// ```
    pub fn date(&self, message: impl Into<String>) -> Question<Date> {
        self.question(message, Date::default())
    }

    /// A day and time, with an offset.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let when: String = ask.date_time("When?").await?.accepted()?; // 2026-07-28T09:30:00Z
    /// # Ok(()) }
    /// ```
    pub fn date_time(&self, message: impl Into<String>) -> Question<DateTime> {
        self.question(message, DateTime::default())
    }

    /// An e-mail address.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let to: String = ask.email("Where should it go?").await?.accepted()?;
    /// # Ok(()) }
    /// ```
    pub fn email(&self, message: impl Into<String>) -> Question<Email> {
        self.question(message, Email::default())
    }

    /// Any number of free texts.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let tags: Vec<String> = ask.tags("Which tags?").await?.accepted()?;
    /// # Ok(()) }
    /// ```
    pub fn tags(&self, message: impl Into<String>) -> Question<Tags> {
        self.question(message, Tags::default())
    }

    /// A link that the person opens in their browser: for sign-ins and for secrets, which must not
    /// go through a form. `{id}` in it stands for an id of this question, which nobody guesses.
    ///
    /// Accepted means that they agreed to open it. [`Question::until`] also waits for what they do
    /// there.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let opened = ask.link("Sign in", "https://example.com/in?state={id}").await?.accepted()?;
    /// println!("They are on their way: {}", opened.id());
    /// # Ok(()) }
    /// ```
    pub fn link(&self, message: impl Into<String>, url: impl Into<String>) -> Question<Link> {
        let id = match &self.call {
            Some(call) => call.link_id(),
            None => token::random(),
        };
        self.question(message, Link::new(url.into(), id))
    }

    /// Says that this call can succeed only after a link was followed.
    ///
    /// Clients of 2025-11-25 get the error that the protocol has for it (`-32042`), follow the link
    /// and call again: return the error. Clients of later revisions are asked in a round, and this
    /// goes on once the person agreed to open the link. They have not done there what you need by
    /// that, so look again; or ask by [`link`](Self::link) and wait with [`Question::until`].
    ///
    /// ```
    /// # async fn is_signed_in() -> bool { true }
    /// # async fn tool(ask: midcall_server::Ask) -> Result<String, midcall_server::AskError> {
    /// if !is_signed_in().await {
    ///     ask.require_link("Sign in first", "https://example.com/in?state={id}").await?;
    ///     if !is_signed_in().await {
    ///         return Ok("Call this again once you are signed in".into());
    ///     }
    /// }
    /// # Ok("".into()) }
    /// ```
    ///
    /// [`Question::required`] is the same for a link whose id you need to know.
    pub async fn require_link(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<(), AskError> {
        self.link(message, url).required().await
    }

    /// Several questions at once. Where the protocol can, they travel together and the person is
    /// asked once; else one after the other.
    ///
    /// If one of them has no answer, since nobody can be asked or nobody answered in time, that is the
    /// error of all: a refusal is an answer and ends no other question.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let (name, subscribe) = ask
    ///     .together((ask.text("Name"), ask.confirm("Subscribe?")))
    ///     .await?;
    /// let name: String = name.accepted()?;
    /// # Ok(()) }
    /// ```
    pub async fn together<Q: Together>(&self, questions: Q) -> Result<Q::Answers, AskError> {
        questions.ask().await
    }

    /// Tells the client how far the tool is. After a question that is the request which brought the
    /// answer; a client that did not ask for progress hears nothing.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) {
    /// ask.progress(1.0, Some(3.0), "Copied the first file").await;
    /// # }
    /// ```
    pub async fn progress(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        if let Some(call) = &self.call {
            let message = Some(message.into()).filter(|message| !message.is_empty());
            call.progress(done, total, message).await;
        }
    }
}

impl<C: AsRequestContext> FromContextPart<C> for Ask {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        Ok(Self::of(context.as_request_context()))
    }
}

impl std::fmt::Debug for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ask")
    }
}
