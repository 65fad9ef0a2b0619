//! One question on its way to a person, without its type.

use std::sync::Arc;
use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::wire::{
    Action, Asked, ElicitRequestParams, ElicitResult, Members, Mode, Revision, member, meta,
};
use midcall_core::{Checked, Fault, Kind, Limits, Problem, Unfit, Values, Words};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::kind::Wants;

/// One question, ready to be told in any revision.
#[derive(Clone)]
pub(crate) struct Asking {
    /// Which question of its call it is.
    pub question: u32,
    /// What it is called in a round, for prefilled answers and by observers.
    pub key: String,
    pub message: String,
    /// Why the person is asked again.
    pub again: Option<String>,
    pub because: Option<String>,
    pub wants: Wants,
    pub patience: Patience,
    pub dangerous: bool,
    /// How many answers are taken. If none of them fits, that is an error.
    pub chances: u32,
}

/// How long a question waits.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    pub time: Duration,
    /// The author of the server set it, so clients are told. Where nobody did, a gateway's own
    /// setting counts.
    is_set: bool,
}

/// What came back, not yet checked.
pub(crate) struct Reply {
    pub result: ElicitResult,
    /// How the question ended, where a gateway says so.
    pub outcome: Option<Value>,
}

/// Answers that did not fit.
pub(crate) struct Misfit {
    /// What is wrong with the last one: names and rules, never values.
    pub problems: String,
    /// How many there were.
    pub times: u32,
}

impl Misfit {
    pub fn once(problems: String) -> Self {
        Self { problems, times: 1 }
    }
}

impl Patience {
    /// Where the author says nothing.
    pub const USUAL: Self = Self {
        time: Duration::from_secs(5 * 60),
        is_set: false,
    };

    pub fn set(time: Duration) -> Self {
        Self { time, is_set: true }
    }

    /// What clients are told of it, in milliseconds.
    pub fn told(self) -> Option<u64> {
        let ms = u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX);
        self.is_set.then_some(ms)
    }
}

impl Asking {
    pub fn mode(&self) -> Mode {
        match self.wants {
            Wants::Form(_) => Mode::Form,
            Wants::Link { .. } => Mode::Url,
        }
    }

    /// The question once more, and why. What was typed beside what is wrong stands there again.
    pub fn again(&self, misfit: Misfit, typed: Option<Map<String, Value>>) -> Self {
        let mut again = self.clone();
        again.again = Some(misfit.problems);
        again.chances = self.chances.saturating_sub(misfit.times);
        if let (Wants::Form(shape), Some(typed)) = (&mut again.wants, typed)
            && typed.len() > 1
            && let Ok(recalling) = shape.recalling(typed)
        {
            *shape = Arc::new(recalling);
        }
        again
    }

    /// Words about a value, with the title of its field, as people read it. A form of one field needs
    /// none.
    pub fn about(&self, path: &str, words: String) -> String {
        let Wants::Form(shape) = &self.wants else {
            return words;
        };
        let mut fields = &shape.form.fields;
        let is_alone = fields.len() == 1;
        let mut titles = Vec::new();
        for name in path.split('/').skip(1) {
            let name = name.replace("~1", "/").replace("~0", "~");
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                break; // A place in a list.
            };
            titles.push(field.title.as_deref().unwrap_or(&field.name));
            let Kind::Group(inner) = &field.kind else {
                break;
            };
            fields = inner;
        }
        if titles.is_empty() || (is_alone && titles.len() == 1) {
            return words;
        }
        format!("{}: {words}", titles.join(", "))
    }

    /// What the person reads.
    pub fn words(&self, locale: Locale) -> String {
        let mut words = String::new();
        if let Some(problems) = &self.again {
            let params = [("problems", problems.as_str().into())];
            words += &locale.say("mcp.elicitation.ask.again", &params);
            words += "\n\n";
        }
        words += &self.message;
        if let Some(because) = &self.because {
            words += "\n\n";
            words += because;
        }
        words
    }

    /// Says it in a revision.
    pub fn params(&self, revision: Revision, locale: Locale) -> ElicitRequestParams {
        let mut rest = Members::default();
        let mut meta = Members::default();
        let asked = match &self.wants {
            Wants::Form(shape) => {
                let told = shape.told(revision, locale);
                if let Some(hints) = &told.hints {
                    meta.insert(meta::HINTS.into(), hints.clone().into());
                }
                let requested_schema = Value::Object(told.schema.clone());
                Asked::Form { requested_schema }
            }
            Wants::Link { url, id } => {
                if revision > Revision::V2025_11_25 {
                    // Not required any more, and some clients still cannot read a link without it.
                    rest.insert(member::ELICITATION_ID.into(), id.as_str().into());
                }
                let elicitation_id = Some(id.clone());
                let url = url.clone();
                Asked::Url {
                    url,
                    elicitation_id,
                }
            }
        };
        if let Some(ms) = self.patience.told() {
            meta.insert(meta::TIMEOUT.into(), ms.into());
        }
        if self.dangerous {
            meta.insert(meta::DESTRUCTIVE.into(), true.into());
        }
        ElicitRequestParams {
            message: self.words(locale),
            asked,
            meta: Some(meta).filter(|meta| !meta.is_empty()),
            task: None,
            ui: None,
            rest,
        }
    }

    /// Holds an answer against the form. `told` is in which words the question was told, unless as it
    /// is.
    pub fn check(
        &self,
        reply: Reply,
        told: Option<(Revision, Locale)>,
    ) -> Result<Answer<Checked>, Unfit> {
        let Reply { result, outcome } = reply;
        Ok(match (result.action(), &self.wants) {
            (Action::Accept, Wants::Form(shape)) => {
                let values = bounded(result.into_content().unwrap_or_default())?;
                let values = match told {
                    Some((revision, locale)) => {
                        let told = shape.told(revision, locale);
                        told.back(&shape.form, values)?
                    }
                    None => shape.form.trim(values),
                };
                Answer::Accepted(shape.form.check(values)?)
            }
            (Action::Accept, Wants::Link { url, .. }) => {
                let consent = midcall_core::Link::read(url, None).consent();
                consent.map_or(Answer::Cancelled, Answer::Accepted)
            }
            (Action::Decline, _) => Answer::Declined {
                reason: outcome
                    .and_then(|outcome| reason(&outcome))
                    .or(result.reason()),
            },
            (Action::Cancel, _) => Answer::Cancelled,
        })
    }
}

/// Why a person said no, if they said so. A client that says no by itself has no reason: the word for
/// that is the gateway's.
fn reason(outcome: &Value) -> Option<Words> {
    let is_own = outcome["by"]["human"] == false && outcome["reason"] == "unattended";
    outcome["reason"]
        .as_str()
        .filter(|_| !is_own)
        .and_then(Words::new)
}

/// What is wrong, as one line. Titles and rules, never values.
pub(crate) fn problems(unfit: &Unfit, asking: &Asking, locale: Locale) -> String {
    let line = |problem: &Problem| asking.about(&problem.path, problem.fault.say(locale));
    let lines: Vec<String> = unfit.problems.iter().map(line).collect();
    lines.join("; ")
}

fn bounded(content: Map<String, Value>) -> Result<Values, Unfit> {
    let too_big = || Unfit {
        problems: vec![Problem {
            path: String::new(),
            fault: Fault::TooBig,
        }],
    };
    let bytes = serde_json::to_vec(&content).map_err(|_| too_big())?.len();
    if bytes > Limits::default().content_bytes {
        return Err(too_big());
    }
    Ok(Values::from(content))
}
