//! A form being filled in: what each field holds, what would be sent, and what is wrong with it.
//!
//! The rules are core's ([`Form::check`]). What can't even be read as its field's kind is added here, and told instead
//! of what that leaves missing.

use midcall_core::{Checked, Fault, Field, Form, Kind, Limits, Problem, Values};
use serde_json::{Map, Value};

use crate::event::Key;
use crate::field::{Flat, Heard, Input, Reply, flat, input};
use crate::look::Look;
use crate::number;
use crate::text::{own, plain, short};

/// The answer so far. There is no `Debug`: it is what a person types.
pub(crate) struct Draft<'q> {
    form: &'q Form,
    pub entries: Vec<Entry<'q>>,
    look: Look,
}

/// One field of it.
pub(crate) struct Entry<'q> {
    pub field: &'q Field,
    /// Its name behind those of its groups.
    pub label: String,
    /// Its place in the content, as a JSON Pointer.
    path: String,
    names: Vec<&'q str>,
    start: Option<Value>,
    pub input: Box<dyn Input>,
    /// Whether the person changed it.
    pub is_touched: bool,
    /// Whether they have left it before, so that problems are worth a loud word.
    pub is_seen: bool,
}

/// Characters of a label. A longer one is no label, and would bury the others.
const LABEL: usize = 200;

impl<'q> Draft<'q> {
    pub fn new(form: &'q Form, look: Look) -> Self {
        let entry = |Flat {
                         field,
                         groups,
                         start,
                     }: Flat<'q>| {
            let path = groups.iter().copied().chain([field]);
            let names: Vec<&str> = path.clone().map(|field| field.name.as_str()).collect();
            let labels: Vec<String> = path.map(|field| short(field.label(), LABEL)).collect();
            Entry {
                field,
                label: labels.join(" › "),
                path: names
                    .iter()
                    .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
                    .collect(),
                names,
                input: input(field, start.as_ref(), &look),
                start,
                is_touched: false,
                is_seen: false,
            }
        };
        let entries = flat(&form.fields).into_iter().map(entry).collect();
        Self {
            form,
            entries,
            look,
        }
    }

    /// Whether the person has changed anything.
    pub fn is_touched(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_touched)
    }

    pub fn key(&mut self, at: usize, key: Key) -> Heard {
        let heard = self.entries[at].input.key(key, &self.look);
        self.entries[at].is_touched |= matches!(heard, Heard::Changed | Heard::Done);
        heard
    }

    pub fn paste(&mut self, at: usize, text: &str) {
        let heard = self.entries[at].input.paste(text);
        self.entries[at].is_touched |= heard == Heard::Changed;
    }

    /// Takes a line, in plain mode.
    pub fn line(&mut self, at: usize, line: &str) -> Reply {
        let reply = self.entries[at].input.line(line, &self.look);
        self.entries[at].is_touched |= matches!(reply, Reply::Done);
        reply
    }

    pub fn clear(&mut self, at: usize) {
        self.entries[at].input.clear();
        self.entries[at].is_touched = true;
    }

    /// Replaces a text by what came back from the person's editor.
    pub fn rewrite(&mut self, at: usize, text: &str) {
        self.clear(at);
        self.paste(at, text.trim_end_matches('\n'));
    }

    /// What would be sent if it fits; else everything that is wrong, in the order of the form.
    pub fn check(&self) -> Result<Checked, Vec<Problem>> {
        let (values, unread) = self.content();
        let found = match self.form.check(values) {
            Ok(checked) if unread.is_empty() => return Ok(checked),
            Ok(_) => Vec::new(),
            Err(unfit) => unfit.problems,
        };
        let is_unread = |problem: &Problem| unread.iter().any(|known| known.path == problem.path);
        let mut problems: Vec<Problem> = found
            .into_iter()
            .filter(|problem| !is_unread(problem))
            .collect();
        problems.extend(unread);
        problems.sort_by_key(|problem| self.place(problem).unwrap_or(usize::MAX));
        Err(problems)
    }

    /// The field that a problem is about, if it is about one.
    pub fn place(&self, problem: &Problem) -> Option<usize> {
        let is_of = |entry: &Entry<'_>| {
            let rest = problem.path.strip_prefix(&entry.path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.entries.iter().position(is_of).or_else(|| {
            // A group that is missing as a whole: its first field is where to begin.
            let inside = format!("{}/", problem.path);
            let is_inside =
                |entry: &Entry<'_>| !problem.path.is_empty() && entry.path.starts_with(&inside);
            self.entries.iter().position(is_inside)
        })
    }

    /// What is wrong with one field.
    pub fn problem(&self, at: usize) -> Option<Fault> {
        let problems = self.check().err()?;
        let own = problems
            .into_iter()
            .find(|problem| self.place(problem) == Some(at))?;
        Some(own.fault)
    }

    /// A field's value as people read it; secrets are dots.
    pub fn shown(&self, at: usize) -> String {
        let entry = &self.entries[at];
        let is_hidden = entry.input.is_hidden();
        match entry.value(&self.look) {
            Ok(None | Some(Value::Null)) => self.look.say("label.left_empty"),
            Ok(Some(Value::Array(none))) if none.is_empty() => self.look.say("label.left_empty"),
            _ if is_hidden => "••••••••".to_owned(),
            Ok(Some(value)) => shown(entry.field, &value, &self.look),
            Err(_) => "…".to_owned(),
        }
    }

    /// The default of a field as people read it, unless it is a secret.
    pub fn default(&self, at: usize) -> Option<String> {
        let entry = &self.entries[at];
        entry.start.as_ref()?;
        Some(self.shown(at))
    }

    /// Whether a field's value can only be checked by the server.
    pub fn is_unchecked(&self, at: usize, checked: &Checked) -> bool {
        checked
            .unchecked()
            .iter()
            .any(|path| *path == self.entries[at].path)
    }

    /// The content, and what of it can't be read.
    fn content(&self) -> (Values, Vec<Problem>) {
        let (mut content, mut unread) = (Map::new(), Vec::new());
        for entry in &self.entries {
            match entry.value(&self.look) {
                Ok(Some(value)) => put(&mut content, &entry.names, value),
                Ok(None) => {}
                Err(fault) => unread.push(Problem {
                    path: entry.path.clone(),
                    fault,
                }),
            }
        }
        let bytes = serde_json::to_string(&content).map_or(0, |text| text.len());
        if bytes > Limits::default().content_bytes {
            unread.push(Problem {
                path: String::new(),
                fault: Fault::TooBig,
            });
        }
        (self.form.trim(Values::from(content)), unread)
    }
}

impl Entry<'_> {
    /// What it holds: the default until the person changes it.
    fn value(&self, look: &Look) -> Result<Option<Value>, Fault> {
        if !self.is_touched {
            return Ok(self.start.clone());
        }
        let value = self.input.read(look)?;
        // Emptied, where an empty text is what the form itself offers.
        let is_empty_text = value.is_none()
            && self
                .start
                .as_ref()
                .is_some_and(|start| start.as_str() == Some(""));
        Ok(if is_empty_text {
            self.start.clone()
        } else {
            value
        })
    }
}

/// Puts a value where its names lead.
fn put(content: &mut Map<String, Value>, names: &[&str], value: Value) {
    match names {
        [] => {}
        [name] => drop(content.insert((*name).to_owned(), value)),
        [group, rest @ ..] => {
            let group = content.entry(*group).or_insert_with(|| Map::new().into());
            if let Value::Object(group) = group {
                put(group, rest, value);
            }
        }
    }
}

/// A value as people read it.
fn shown(field: &Field, value: &Value, look: &Look) -> String {
    let offers = match &field.kind {
        Kind::Choice(offers) => Some(offers),
        Kind::Choices(choices) => Some(&choices.offers),
        _ => None,
    };
    let one = |value: &Value| {
        let offer = offers.and_then(|offers| offers.list.iter().find(|offer| offer.is(value)));
        match (offer, value) {
            (Some(offer), _) => plain(&offer.label()),
            (None, Value::Bool(yes)) => look.say(if *yes { "label.yes" } else { "label.no" }),
            (None, Value::String(text)) => text.lines().map(own).collect::<Vec<_>>().join("\n"),
            (None, Value::Number(number)) => number::write(number, look.locale),
            (None, other) => own(&other.to_string()),
        }
    };
    match value {
        Value::Array(several) if !matches!(field.kind, Kind::Json(_)) => {
            several.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        value => one(value),
    }
}
