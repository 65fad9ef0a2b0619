//! Effects that a call has once, however often its tool runs.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ask::Ask;
use crate::error::{AskError, OnceError};
use crate::shared::Effect;

/// The names of the effects that a run of a tool came to.
#[derive(Default)]
pub(crate) struct Effects(Mutex<BTreeSet<String>>);

impl Effects {
    /// `false` if there was one of that name.
    fn add(&self, name: &str) -> bool {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(name.to_owned())
    }
}

impl Ask {
    /// Does something that must not happen twice in a call, however often its tool
    /// [runs again](crate::Resume): a payment, a mail, a record. What it gives is kept with the
    /// answers, and is what this returns the next time. The name says which effect of the call it is,
    /// so each has a name of its own.
    ///
    /// With a [store](crate::Asks::store), the intent is written down before and what came of it after,
    /// for all replicas. Where there is an intent and nothing came of it, a process ended in between, and
    /// nobody knows whether the effect happened: that is [`OnceError::Unsure`], and never a second run.
    ///
    /// Without one, what an effect gave travels in the client's state with the next question. If the
    /// process ends before that, the effect happens again; and so it does if a client sends one retry to
    /// two processes.
    ///
    /// ```
    /// # struct Card;
    /// # async fn charge(card: Card) -> Result<String, String> { Ok("receipt 17".into()) }
    /// # async fn tool(ask: midcall_server::Ask, card: Card) -> Result<String, midcall_server::AskError> {
    /// if !ask.confirm("Pay 30 €?").await?.agreed() {
    ///     return Ok("Not paid".into());
    /// }
    /// let receipt = ask.once("charge", || charge(card)).await?;
    /// ask.confirm("Send the receipt by mail?").await?; // Whoever runs this again pays nothing.
    /// # Ok(receipt.unwrap_or_default()) }
    /// ```
    ///
    /// What cannot be kept cannot be had again:
    ///
    /// ```compile_fail,E0277
    /// # struct Connection;
    /// # async fn open() -> Connection { Connection }
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let connection = ask.once("open", || open()).await?; // `Connection` is not `Serialize`.
    /// # Ok(()) }
    /// ```
    pub async fn once<T, E, F>(&self, name: impl Into<String>, effect: E) -> Result<T, AskError>
    where
        T: Serialize + DeserializeOwned,
        E: FnOnce() -> F,
        F: Future<Output = T>,
    {
        let call = self.call()?;
        let name = name.into();
        let fail = |why: fn(String) -> OnceError| AskError::Once(why(name.clone()));
        if !call.effects.add(&name) {
            return Err(fail(OnceError::Repeated));
        }
        let Some(journal) = &call.journal else {
            return Ok(effect().await); // This tool runs once.
        };
        let read = |value| serde_json::from_value(value).map_err(|_| fail(OnceError::Unreadable));
        if let Some(value) = journal.effect(&name) {
            return read(value);
        }
        let after = call.questions();
        if let Some(shared) = &call.shared {
            match shared.begin(&name).await? {
                Effect::Begun => {}
                Effect::Unsure => return Err(fail(OnceError::Unsure)),
                Effect::Done(value) => {
                    journal.done(&name, after, value.clone());
                    return read(value);
                }
            }
        }
        let given = effect().await;
        let value = serde_json::to_value(&given).map_err(|_| fail(OnceError::Unwritable))?;
        if let Some(shared) = &call.shared {
            shared.done(&name, &value).await?;
        }
        journal.done(&name, after, value);
        Ok(given)
    }
}
