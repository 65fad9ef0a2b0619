//! A person whose answers are known.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

/// A person who gives the answers they were told to give, one after the other. One question more
/// than that, and the test fails.
///
/// ```
/// use midcall_server::testing::Person;
/// # use serde_json::json;
///
/// let person = Person::answers(json!({"city": "Lisbon"}))
///     .then_answers(json!({"confirmed": true}))
///     .then_declines();
/// ```
///
/// Content is written as the tool's form wants it, also for clients that are told the form in
/// other words; for a single question, under [the name of its field](crate::kind).
#[derive(Clone)]
pub struct Person(Arc<Mutex<State>>);

struct State {
    says: VecDeque<Said>,
    decides: Option<Box<Decides>>,
    heard: Vec<Heard>,
}

type Decides = dyn FnMut(&Heard) -> Said + Send;

/// What a person says to a question.
///
/// ```
/// use midcall_server::testing::{Person, Said};
/// # use serde_json::json;
/// let person = Person::declines().then(Said::Answer(json!({"confirmed": true})));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Said {
    /// Fills in the form.
    Answer(Value),
    /// Agrees to open the link.
    Open,
    /// Says no.
    Decline,
    /// Puts it away.
    Cancel,
    /// Says nothing at all, for as long as they are asked: [nobody answers](super#nobody-answers).
    Nothing,
}

/// A question, as it reached the person.
///
/// ```
/// use midcall_server::testing::{Person, Said};
/// let person = Person::who(|heard| match &heard.url {
///     Some(url) if url.starts_with("https://example.com/") => Said::Open,
///     _ => Said::Decline,
/// });
/// assert!(person.heard().is_empty() && person.questions().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Heard {
    /// The words.
    pub message: String,
    /// The form, as this client was told it.
    pub schema: Option<Value>,
    /// The link.
    pub url: Option<String>,
    /// What stood in the question's `_meta`: hints for surfaces, how long it waits.
    pub meta: Option<Value>,
}

impl Person {
    /// Answers the first question with this.
    ///
    /// ```
    /// use midcall_server::testing::Person;
    /// # use serde_json::json;
    /// let person = Person::answers(json!({"name": "Ana", "guests": 3}));
    /// ```
    pub fn answers(content: Value) -> Self {
        Self::quiet().then(Said::Answer(content))
    }

    /// Says no to the first question.
    ///
    /// ```
    /// let person = midcall_server::testing::Person::declines();
    /// ```
    pub fn declines() -> Self {
        Self::quiet().then(Said::Decline)
    }

    /// Puts the first question away.
    ///
    /// ```
    /// let person = midcall_server::testing::Person::cancels();
    /// ```
    pub fn cancels() -> Self {
        Self::quiet().then(Said::Cancel)
    }

    /// Opens the first link.
    ///
    /// ```
    /// let person = midcall_server::testing::Person::opens();
    /// ```
    pub fn opens() -> Self {
        Self::quiet().then(Said::Open)
    }

    /// Must not be asked at all.
    ///
    /// ```
    /// let person = midcall_server::testing::Person::quiet();
    /// ```
    pub fn quiet() -> Self {
        Self(Arc::new(Mutex::new(State {
            says: VecDeque::new(),
            decides: None,
            heard: Vec::new(),
        })))
    }

    /// Decides when they hear the question.
    ///
    /// ```
    /// use midcall_server::testing::{Person, Said};
    /// # use serde_json::json;
    ///
    /// let person = Person::who(|heard| match heard.message.as_str() {
    ///     "Delete 3 files?" => Said::Decline,
    ///     _ => Said::Answer(json!({"confirmed": true})),
    /// });
    /// ```
    pub fn who(decides: impl FnMut(&Heard) -> Said + Send + 'static) -> Self {
        let person = Self::quiet();
        person.lock().decides = Some(Box::new(decides));
        person
    }

    /// Then says this.
    ///
    /// ```
    /// use midcall_server::testing::{Person, Said};
    /// let person = Person::declines().then(Said::Nothing);
    /// ```
    pub fn then(self, said: Said) -> Self {
        self.lock().says.push_back(said);
        self
    }

    /// Answers the next question with this.
    ///
    /// ```
    /// use midcall_server::testing::Person;
    /// # use serde_json::json;
    /// let person = Person::answers(json!({"value": "Ana"})).then_answers(json!({"confirmed": true}));
    /// ```
    pub fn then_answers(self, content: Value) -> Self {
        self.then(Said::Answer(content))
    }

    /// Says no to the next question.
    ///
    /// ```
    /// use midcall_server::testing::Person;
    /// let person = Person::opens().then_declines();
    /// ```
    pub fn then_declines(self) -> Self {
        self.then(Said::Decline)
    }

    /// Puts the next question away.
    ///
    /// ```
    /// use midcall_server::testing::Person;
    /// let person = Person::declines().then_cancels();
    /// ```
    pub fn then_cancels(self) -> Self {
        self.then(Said::Cancel)
    }

    /// Opens the next link.
    ///
    /// ```
    /// use midcall_server::testing::Person;
    /// let person = Person::declines().then_opens();
    /// ```
    pub fn then_opens(self) -> Self {
        self.then(Said::Open)
    }

    /// The words of every question so far.
    ///
    /// ```
    /// use midcall_server::testing::Person;
    /// let person = Person::quiet();
    /// // … a call …
    /// assert_eq!(person.heard(), [""; 0], "nobody was asked");
    /// ```
    pub fn heard(&self) -> Vec<String> {
        let questions = self.questions().into_iter();
        questions.map(|heard| heard.message).collect()
    }

    /// Every question so far, as this person's client was told it.
    ///
    /// ```
    /// use midcall_server::testing::Person;
    /// let person = Person::opens();
    /// // … a call …
    /// let links: Vec<String> = person.questions().into_iter().filter_map(|heard| heard.url).collect();
    /// ```
    pub fn questions(&self) -> Vec<Heard> {
        self.lock().heard.clone()
    }

    /// What they say to a question, as their client sends it. None if they say nothing.
    pub(super) fn asked(&self, heard: Heard) -> Option<Value> {
        let mut state = self.lock();
        state.heard.push(heard.clone());
        let said = match &mut state.decides {
            Some(decides) => Some(decides(&heard)),
            None => state.says.pop_front(),
        };
        let Some(said) = said else {
            // An error that the tool hands on: a panic in here would leave the test hanging.
            let message = format!(
                "the person was asked once more than expected: {}",
                heard.message
            );
            return Some(json!({"code": -32603, "message": message}));
        };
        let action = match &said {
            Said::Answer(_) | Said::Open => "accept",
            Said::Decline => "decline",
            Said::Cancel => "cancel",
            Said::Nothing => return None,
        };
        let mut result = Map::from_iter([("action".to_owned(), action.into())]);
        if let Said::Answer(content) = said {
            result.insert("content".into(), told(content, heard.schema.as_ref()));
        }
        Some(Value::Object(result))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same content in the words of the form as it was told: groups and choices of several may be
/// fields of their own there, and a list a text with commas.
fn told(content: Value, schema: Option<&Value>) -> Value {
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    let (Some(properties), Value::Object(content)) = (properties, &content) else {
        return content;
    };
    let mut told = Map::new();
    for (name, field) in properties {
        let kind = field
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let value = match (content.get(name), name.rsplit_once('.')) {
            (Some(Value::Array(items)), _) if kind == "string" => {
                let items: Vec<_> = items.iter().filter_map(Value::as_str).collect();
                Some(items.join(", ").into())
            }
            (Some(value), _) => Some(value.clone()),
            (None, Some((parent, last))) => {
                let path = format!("/{}", parent.replace('.', "/"));
                match Value::Object(content.clone()).pointer(&path) {
                    Some(Value::Array(chosen)) => {
                        Some(chosen.iter().any(|option| option == last).into())
                    }
                    Some(group) => group.get(last).cloned(),
                    None => None,
                }
            }
            (None, None) => None,
        };
        if let Some(value) = value {
            told.insert(name.clone(), value);
        }
    }
    // What was not asked for is sent too: the server must cope.
    for (name, value) in content {
        let is_told = |told: &String| told == name || told.starts_with(&format!("{name}."));
        if !properties.keys().any(is_told) {
            told.insert(name.clone(), value.clone());
        }
    }
    Value::Object(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_said_in_the_words_of_the_form() {
        let schema = json!({"properties": {
            "name": {"type": "string"}, "extras.dog": {"type": "boolean"}, "extras.bar": {"type": "boolean"},
            "tags": {"type": "string"}, "address.city": {"type": "string"}
        }});
        let content = json!({"name": "Ana", "extras": ["dog"], "tags": ["a", "b"], "address": {"city": "Lisbon"}, "x": 1});
        assert_eq!(
            told(content, Some(&schema)),
            json!({"name": "Ana", "extras.dog": true, "extras.bar": false, "tags": "a, b", "address.city": "Lisbon", "x": 1})
        );
    }
}
