//! A desk in memory, with short words for what people and servers do.

use std::time::Duration;

use midcall_core::{Answer, Asker, Elicitation, Limits, Scope, Values};
use midcall_desk::{
    By, Desk, News, Route, Rules, SettleError, State, Submission, Ticket, TicketId, Watch,
};
use midcall_store::{Mailroom, Memory};
use serde_json::{Value, json};

pub type MemoryDesk = Desk<Memory, Mailroom>;

pub const HUMAN: By = By {
    route: Route::Page,
    human: true,
};

pub async fn desk() -> MemoryDesk {
    desk_with(Rules::default()).await
}

pub async fn desk_with(rules: Rules) -> MemoryDesk {
    Desk::open(Memory::default(), Mailroom::default(), rules)
        .await
        .unwrap()
}

pub fn question(params: Value) -> Elicitation {
    Elicitation::read(&params.to_string(), Asker::named("crm"), &Limits::default()).unwrap()
}

pub fn name_please() -> Elicitation {
    question(
        json!({"message": "Name?", "requestedSchema": {"type": "object", "title": "You",
        "properties": {"name": {"type": "string", "minLength": 2}}, "required": ["name"]}}),
    )
}

pub fn sign_in(url: &str) -> Elicitation {
    question(json!({"message": "Sign in", "mode": "url", "url": url}))
}

pub fn typed(content: Value) -> Submission {
    Submission::Accept(Values::from(content.as_object().unwrap().clone()))
}

pub fn ana() -> Scope {
    Scope::user("ana")
}

pub fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

pub async fn ask(desk: &MemoryDesk) -> Ticket {
    desk.ask(&ana(), &name_please(), None).await.unwrap()
}

pub async fn settle(desk: &MemoryDesk, id: TicketId, content: Value) -> Result<(), SettleError> {
    desk.settle(&ana(), id, typed(content), HUMAN).await
}

/// The content of an accepted answer.
pub fn content(answer: Answer) -> Value {
    match answer {
        Answer::Accepted(checked) => Value::Object(checked.into_values().into_object()),
        other => panic!("{other:?}"),
    }
}

/// Everything a watcher is told until nothing more comes.
pub async fn news<S: midcall_store::Store>(watch: &mut Watch<S>) -> Vec<News> {
    let mut told = Vec::new();
    while let Ok(news) = tokio::time::timeout(Duration::from_millis(1), watch.next()).await {
        told.push(news.unwrap());
    }
    told
}

/// The same in a word each.
pub async fn all_news<S: midcall_store::Store>(watch: &mut Watch<S>) -> Vec<String> {
    let told = news(watch).await;
    let words = told.iter().map(|news| {
        let what = match news {
            News::Request(question) => question.description.clone(),
            News::Opened { .. } => String::new(),
            News::Closed { closing, .. } | News::Delivery { closing, .. } => {
                closing.action.clone().unwrap_or_default()
            }
        };
        format!("{} {what}", news.event()).trim_end().to_owned()
    });
    words.collect()
}

/// How a question that takes no answer any more was closed.
pub fn closed(result: Result<(), SettleError>) -> State {
    match result {
        Err(SettleError::Closed(closing)) => closing.state,
        other => panic!("{other:?}"),
    }
}
