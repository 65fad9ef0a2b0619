//! A question, from the words to the answer.

use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::wire::Revision;
use midcall_core::{Checked, Limits};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::asking::{Asking, Patience};
use crate::call::Call;
use crate::error::{AskError, Nobody, Unaskable};
use crate::kind::{Kind, Link, Opened, Suggest, Wanted, Wants};

/// A question that is not put yet: awaiting it asks.
///
/// ```
/// use std::time::Duration;
///
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let port = ask.integer("Which port?")
///     .range(1..=65_535)
///     .default(8080)
///     .because("The usual one is taken")
///     .within(Duration::from_secs(60))
///     .id("port")
///     .must(|port| if *port == 22 { Err("22 is for ssh") } else { Ok(()) })
///     .await?;
/// # Ok(()) }
/// ```
#[must_use = "a question is put by awaiting it"]
pub struct Question<K: Kind> {
    ask: Ask,
    pub(crate) message: String,
    pub(crate) kind: K,
    pub(crate) because: Option<String>,
    pub(crate) dangerous: bool,
    within: Option<Duration>,
    finished_within: Option<Duration>,
    id: Option<String>,
    suggested: Option<Map<String, Value>>,
    rules: Vec<Rule<K::Value>>,
}

type Rule<V> = Box<dyn Fn(&V) -> Result<(), String> + Send + Sync>;

impl<K: Kind> Question<K> {
    pub(crate) fn new(ask: Ask, message: String, kind: K) -> Self {
        Self {
            ask,
            message,
            kind,
            because: None,
            dangerous: false,
            within: None,
            finished_within: None,
            id: None,
            suggested: None,
            rules: Vec::new(),
        }
    }

    /// How long it waits. After that the ask is [`AskError::TimedOut`]: silence is no consent.
    /// Without this, as long as [`Asks::within`](crate::Asks::within) says.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.confirm("Is somebody there?").within(std::time::Duration::from_secs(20)).await?;
    /// # Ok(()) }
    /// ```
    pub fn within(mut self, patience: Duration) -> Self {
        self.within = Some(patience);
        self
    }

    /// Why it is asked: people read it below the question.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.integer("Which port?").because("8080 is taken by another program").await?;
    /// # Ok(()) }
    /// ```
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.because = Some(reason.into());
        self
    }

    /// What it is known by: for answers given [beforehand](crate::Asks::prefilled), and for
    /// observers.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.text("Which city?").id("city").await?; // `Asks::prefilled("city", "Lisbon")` answers it.
    /// # Ok(()) }
    /// ```
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// A rule beyond what a form can say. A person whose answer breaks it is asked again, and told
    /// why. A form of several fields starts with what they typed then, where the client's revision has
    /// words for that, except for secrets and what they agreed to.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.date("For which day?")
    ///     .must(|day| match day.ends_with("-12-25") {
    ///         true => Err("We are closed on that day"),
    ///         false => Ok(()),
    ///     })
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn must<E: Into<String>>(
        mut self,
        rule: impl Fn(&K::Value) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        self.rules
            .push(Box::new(move |value| rule(value).map_err(Into::into)));
        self
    }

    async fn put(self) -> Result<Answer<K::Value>, AskError> {
        let call = self.ask.call()?.clone();
        let settings = &call.asks.settings;
        let mut asking = Arc::new(self.asking(&call)?);
        if let Some(value) = self.prefilled(&call, &asking) {
            call.given(&asking.key);
            return Ok(Answer::Accepted(value));
        }
        // Where there are no words for what a field starts with, an empty one would be an answer.
        let recalls = !self.rules.is_empty()
            && call.client.modes.form
            && call.client.revision > Revision::V2025_06_18;
        let mut time = 1;
        loop {
            let mut typed = None;
            let read = |checked: Checked| {
                let content = checked.into_values().into_object();
                typed = recalls.then(|| content.clone());
                self.read(content, settings.locale)
            };
            let answer = call.ask(&asking, time, read).await;
            if let (Err(AskError::Unavailable { why, .. }), Some(_)) = (&answer, &asking.again)
                && *why == Nobody::NoClient
            {
                break; // What was written down did not fit, and there is nothing else.
            }
            let misfit = match answer? {
                Ok(answer) => return Ok(answer),
                Err(misfit) => misfit,
            };
            time += misfit.times;
            // Another question: an answer to the one before is no answer to this.
            asking = Arc::new(asking.again(misfit, typed));
            if asking.chances == 0 {
                break;
            }
        }
        Err(AskError::Unfit {
            times: time - 1,
            problems: asking.again.clone().unwrap_or_default(),
        })
    }

    fn patience(&self, call: &Call) -> Patience {
        let set = self.within.map(Patience::set);
        set.unwrap_or(call.asks.settings.patience)
    }

    /// The question without its type.
    fn asking(&self, call: &Call) -> Result<Asking, AskError> {
        let limit = Limits::default().message_bytes;
        let bytes = self.message.len() + self.because.as_ref().map_or(0, String::len);
        if bytes > limit {
            return Err(Unaskable::MessageTooLong { bytes, limit }.into());
        }
        let Wanted(mut wants) = self.kind.wanted(&self.message)?;
        if let (Some(content), Wants::Form(shape)) = (&self.suggested, &mut wants) {
            *shape = shape.suggesting(content.clone())?;
        }
        Ok(Asking {
            question: call.question(),
            key: self.id.clone().unwrap_or_else(|| call.key()),
            message: self.message.clone(),
            again: None,
            because: self.because.clone(),
            wants,
            patience: self.patience(call),
            dangerous: self.dangerous,
            chances: call.asks.settings.times,
        })
    }

    /// What the tool gets, or why this is not it.
    fn read(&self, content: Map<String, Value>, locale: Locale) -> Result<K::Value, String> {
        // The type refuses what its own schema takes. Its words may have the value.
        let unfit = || locale.say("mcp.elicitation.problem.json_unfit", &[]);
        self.broken(self.kind.read(content).ok_or_else(unfit)?)
    }

    fn broken(&self, value: K::Value) -> Result<K::Value, String> {
        for rule in &self.rules {
            rule(&value)?;
        }
        Ok(value)
    }

    /// The answer that was given beforehand, if it fits.
    fn prefilled(&self, call: &Call, asking: &Asking) -> Option<K::Value> {
        let given = call.asks.settings.prefilled.get(self.id.as_ref()?)?;
        let Wants::Form(shape) = &asking.wants else {
            return None;
        };
        let mut fields = shape.form.fields.iter();
        let content = match (given, fields.next(), fields.next()) {
            (Value::Object(content), ..) => content.clone(),
            (value, Some(only), None) => Map::from_iter([(only.name.clone(), value.clone())]),
            _ => return None,
        };
        let checked = shape.form.check(shape.form.trim(content.into())).ok()?;
        let value = self.kind.read(checked.into_values().into_object())?;
        self.broken(value).ok()
    }
}

impl<K: Suggest> Question<K> {
    /// What the form starts with. It is a suggestion: only what the person sends counts.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.text("Which branch?").default("main").await?;
    /// # Ok(()) }
    /// ```
    pub fn default(mut self, value: impl Into<K::Value>) -> Self {
        self.suggested = Some(self.kind.content(value.into()));
        self
    }
}

impl Question<Link> {
    /// What `{id}` in the link stands for. Note it before you ask: whoever comes back with another
    /// one was not sent by you.
    ///
    /// ```
    /// # async fn expect(id: &str) {}
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let link = ask.link("Sign in", "https://example.com/in?state={id}");
    /// expect(link.link_id()).await;
    /// link.await?.accepted()?;
    /// # Ok(()) }
    /// ```
    pub fn link_id(&self) -> &str {
        self.kind.id()
    }

    /// How long [`until`](Self::until) waits once the person agreed. Without this, as long again as
    /// the question may wait.
    ///
    /// Clients of 2026-07-28 come back every 45 seconds meanwhile, and many of them stop after ten
    /// times: more than seven minutes is more than they wait.
    ///
    /// ```
    /// # async fn signed_in() {}
    /// # use std::time::Duration;
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.link("Sign in", "https://example.com/in?state={id}")
    ///     .within(Duration::from_secs(60)) // To agree to open it.
    ///     .finished_within(Duration::from_secs(300)) // To find the password.
    ///     .until(|_| signed_in())
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn finished_within(mut self, limit: Duration) -> Self {
        self.finished_within = Some(limit);
        self
    }

    /// Asks, and once the person agreed waits until what the link leads to is done, at most as long
    /// as [`finished_within`](Self::finished_within) says. Then the client is told, where its revision
    /// has a word for that.
    ///
    /// Meanwhile the client hears that its call goes on, so that it does not give up:
    /// [what clients wait](crate#how-long-clients-wait).
    ///
    /// ```
    /// # async fn signed_in() {}
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.link("Sign in", "https://example.com/in?state={id}")
    ///     .until(|opened| async move { println!("waiting for {}", opened.id()); signed_in().await })
    ///     .await?
    ///     .accepted()?;
    /// # Ok(()) }
    /// ```
    pub async fn until<F, D>(self, done: F) -> Result<Answer<Opened>, AskError>
    where
        F: FnOnce(Opened) -> D + Send,
        D: Future<Output = ()> + Send,
    {
        let call = self.ask.call()?.clone();
        let limit = self.finished_within.unwrap_or(self.patience(&call).time);
        let answer = self.await?;
        if let Answer::Accepted(opened) = &answer {
            let _waits = call.outside.waits();
            // Boxed: it would be room in every question that waits.
            let done = Box::pin(timeout(limit, done(opened.clone())));
            let waited = call.kept_alive(done).await;
            waited.map_err(|_| AskError::TimedOut { after: limit })?;
            call.asks.complete(opened.id()).await;
        }
        Ok(answer)
    }

    /// Says that this call can succeed only after the link was followed, as
    /// [`Ask::require_link`] does and with the same care.
    ///
    /// ```
    /// # async fn is_signed_in() -> bool { true }
    /// # async fn expect(id: &str) {}
    /// # async fn tool(ask: midcall_server::Ask) -> Result<String, midcall_server::AskError> {
    /// if !is_signed_in().await {
    ///     let link = ask.link("Sign in first", "https://example.com/in?state={id}");
    ///     expect(link.link_id()).await;
    ///     link.because("The archive is not public").required().await?;
    ///     if !is_signed_in().await {
    ///         return Ok("Call this again once you are signed in".into());
    ///     }
    /// }
    /// # Ok("".into()) }
    /// ```
    pub async fn required(self) -> Result<(), AskError> {
        const REVISION: Revision = Revision::V2025_11_25; // The only one with an error for it.
        let call = self.ask.call()?.clone();
        if call.client.revision != REVISION || !call.client.modes.url {
            return self.await?.accepted().map(drop);
        }
        let asking = self.asking(&call)?;
        let current = call.current().ok_or(AskError::Gone)?;
        call.asks.linked(self.link_id(), current.peer.clone());
        let params = asking.params(REVISION, call.asks.settings.locale);
        Err(AskError::LinkRequired(Box::new(params)))
    }
}

impl<K: Kind + Sync> IntoFuture for Question<K> {
    type Output = Result<Answer<K::Value>, AskError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.put())
    }
}
