//! Asking one of the demo's questions, as a server would, and telling every message.
//!
//! The messages are JSON-RPC as on the wire; after the last one about a question comes
//! `{"id", "outcome"}`, which says how it ended. Whoever drops the play takes back what it
//! still asks.

use std::future::pending;
use std::time::Duration;

use futures_util::future::join_all;
use midcall_core::wire::{ElicitResult, ElicitationCompleteParams, Members, Revision};
use midcall_core::{Answer, Asker, Elicitation, Limits, Values, Wanted};
use midcall_desk::{By, News, Outcome, Route, Submission, Ticket, Watch, Withdrawn};
use midcall_store::Memory;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::elsewhere::Elsewhere;
use super::questions::{self, Question};
use crate::http::principal;
use crate::local::LocalDesk;

/// What a play needs.
#[derive(Clone)]
pub struct Stage {
    pub desk: LocalDesk,
    /// The page's address, for links that lead back to this machine.
    pub page: String,
    pub elsewhere: Elsewhere,
}

/// A question that has been asked.
struct Asked {
    id: usize,
    elicitation: Elicitation,
    ticket: Ticket,
    /// News of the desk, for a link.
    watch: Option<Watch<Memory>>,
    /// The id of a link, and the word that the person is done there.
    link: String,
    finished: oneshot::Receiver<()>,
}

impl Stage {
    /// Asks all that a question asks, and tells the messages.
    pub async fn play(self, question: &'static Question, tell: mpsc::Sender<Value>) {
        let take_back = question.take_back_after_ms.map(Duration::from_millis);
        let asks = (1..).zip(&question.ask);
        let scenes = asks.map(|(id, params)| {
            let (stage, tell) = (&self, &tell);
            async move {
                let link = stage.elsewhere.expect();
                let params = questions::fill(params, &stage.page, &link.0);
                match stage.ask(id, question.name, &params, link, tell).await {
                    Ok(asked) => stage.follow(asked, take_back, tell).await,
                    Err(error) => {
                        let error = json!({"code": -32603, "message": format!("{error:#}")});
                        say(tell, json!({"jsonrpc": "2.0", "id": id, "error": error})).await;
                        false
                    }
                }
            }
        });
        if question.together {
            join_all(scenes).await;
        } else {
            for scene in scenes {
                if !scene.await {
                    return;
                }
            }
        }
    }

    async fn ask(
        &self,
        id: usize,
        tool: &str,
        params: &str,
        (link, finished): (String, oneshot::Receiver<()>),
        tell: &mpsc::Sender<Value>,
    ) -> anyhow::Result<Asked> {
        let asker = Asker {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            tool: Some(tool.to_owned()),
            ..Asker::named("midcall-demo")
        };
        let elicitation = Elicitation::read(params, asker, &Limits::default())?;
        let watch = match elicitation.wanted {
            Wanted::Link(_) => Some(self.desk.watch(&principal()).await?),
            Wanted::Form(_) => None,
        };
        let ticket = self.desk.ask(&principal(), &elicitation, None).await?;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create",
            "params": elicitation.params()});
        say(tell, request).await;
        Ok(Asked {
            id,
            elicitation,
            ticket,
            watch,
            link,
            finished,
        })
    }

    /// Tells what becomes of a question; whether it was accepted.
    async fn follow(
        &self,
        asked: Asked,
        take_back: Option<Duration>,
        tell: &mpsc::Sender<Value>,
    ) -> bool {
        let Asked {
            id,
            elicitation,
            mut ticket,
            mut watch,
            link,
            mut finished,
        } = asked;
        let respond =
            |result: ElicitResult| json!({"jsonrpc": "2.0", "id": id, "result": result.write()});
        let name = ticket.id();
        let mut is_answered = false; // Opening a link says yes, before the person is done there.
        let (mut is_finished, mut is_taken_back) = (false, false);
        let outcome = loop {
            tokio::select! {
                outcome = &mut ticket => break outcome,
                () = opened(&mut watch, name.to_string()), if !is_answered => {
                    is_answered = true;
                    say(tell, respond(ElicitResult::accept(None))).await;
                }
                Ok(()) = &mut finished, if !is_finished => {
                    is_finished = true;
                    say(tell, complete(&link)).await;
                    let done = Submission::Accept(Values::default());
                    let by = By { route: Route::Page, human: true };
                    // Somebody may have been faster: then it is closed, and that is told below.
                    let _ = self.desk.settle(&principal(), name, done, by).await;
                }
                () = after(take_back), if !is_taken_back => {
                    is_taken_back = true;
                    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": id, "reason": "No longer needed"}});
                    say(tell, cancelled).await;
                    let _ = self.desk.withdraw(name, Withdrawn::ByServer).await;
                }
            }
        };
        let closing = outcome.closing();
        // To a request that its server cancelled nothing is answered.
        if !is_answered && !matches!(outcome, Outcome::Withdrawn(Withdrawn::ByServer)) {
            say(tell, respond(result(&elicitation, &outcome))).await;
        }
        say(tell, json!({"id": id, "outcome": closing})).await;
        matches!(outcome, Outcome::Answered(Answer::Accepted(_), _))
    }
}

/// Somebody who no longer listens is no reason to stop: dropping the play is.
async fn say(tell: &mpsc::Sender<Value>, message: Value) {
    let _ = tell.send(message).await;
}

/// Waits until the person has opened the link.
async fn opened(watch: &mut Option<Watch<Memory>>, ticket: String) {
    if let Some(watch) = watch {
        while let Ok(news) = watch.next().await {
            if matches!(news, News::Opened { id, .. } if id == ticket) {
                return;
            }
        }
    }
    pending().await
}

async fn after(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => pending().await,
    }
}

/// What the server is answered. Secrets are not repeated to the page that shows the messages.
fn result(elicitation: &Elicitation, outcome: &Outcome) -> ElicitResult {
    let mut told = json!(outcome.closing());
    let result = match outcome {
        Outcome::Answered(Answer::Accepted(checked), _) => {
            let content = checked.values().clone().into_object();
            ElicitResult::accept(match &elicitation.wanted {
                Wanted::Form(form) => {
                    let secret = form.walk().into_iter();
                    let secret = secret.filter(|(_, field)| field.secret().is_some());
                    Some(masked(content, secret.map(|(path, _)| path)))
                }
                Wanted::Link(_) => None,
            })
        }
        Outcome::Answered(Answer::Declined { reason }, _) => {
            if let Some(reason) = reason {
                told["reason"] = reason.as_str().into();
            }
            ElicitResult::decline()
        }
        _ => ElicitResult::cancel(),
    };
    if let Some(told) = told.as_object_mut() {
        told.remove("action"); // The result itself says it.
    }
    result.with_outcome(told)
}

fn masked(content: Map<String, Value>, secret: impl Iterator<Item = String>) -> Map<String, Value> {
    let mut content = Value::Object(content);
    for path in secret {
        if let Some(value) = content.pointer_mut(&path) {
            *value = "••••".into();
        }
    }
    match content {
        Value::Object(content) => content,
        _ => Map::new(),
    }
}

fn complete(link: &str) -> Value {
    let params = ElicitationCompleteParams {
        elicitation_id: link.to_owned(),
        rest: Members::default(),
    };
    let params = params.write(Revision::V2025_11_25).unwrap_or_default();
    json!({"jsonrpc": "2.0", "method": ElicitationCompleteParams::METHOD, "params": params})
}
