//! Each kind of field, in the words a revision has for it.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::way::{Read, Way, as_text, pointer};
use super::{Change, Changed};
use crate::catalog::Locale;
use crate::form::*;

/// Says a form field by field.
pub(super) struct Teller {
    /// 2025-06-18 has texts, numbers, switches and choices of one, and a default for switches
    /// alone. What came with 2025-11-25 is still all there is.
    pub since_2025_11_25: bool,
    pub locale: Locale,
    pub properties: Map<String, Value>,
    pub required: Vec<String>,
    pub changes: Vec<Change>,
    pub ways: Vec<Way>,
}

/// The groups around a field.
#[derive(Default)]
pub(super) struct Within {
    path: Vec<String>,
    name: String,
    label: String,
    optional: bool,
    /// What is said of a group is said at its first field.
    hint: Option<String>,
}

/// One field on its way into the schema.
struct Told {
    name: String,
    title: Option<String>,
    /// The description, and what else people should know.
    hints: Vec<String>,
    required: bool,
    keywords: Map<String, Value>,
    /// What people read instead of a choice's values.
    labels: Vec<(String, String)>,
    way: Way,
}

impl Told {
    /// What people read for a value: the title of an option, else the value itself.
    fn label(&self, value: &Value) -> String {
        let text = as_text(value);
        self.labels
            .iter()
            .find(|(name, _)| *name == text)
            .map_or(text, |(_, label)| label.clone())
    }

    fn say<V: Into<Value>>(&mut self, keyword: &str, value: Option<V>) {
        if let Some(value) = value {
            self.keywords.insert(keyword.to_owned(), value.into());
        }
    }
}

impl Teller {
    pub fn fields(&mut self, fields: &Fields, mut within: Within) {
        if fields.beyond.is_some() || matches!(fields.extra, Extra::Fitting(_)) {
            self.changed(&within.path, Changed::RuleLeftOut);
        }
        for field in fields {
            let mut path = within.path.clone();
            path.push(field.name.clone());
            let Kind::Group(inner) = &field.kind else {
                self.field(field, path, &mut within);
                continue;
            };
            self.changed(&path, Changed::GroupFlattened);
            if field.nullable {
                self.changed(&path, Changed::NullLeftOut);
            }
            let group = Within {
                hint: within.hint.take().or(field.description.clone()),
                path,
                name: format!("{}{}.", within.name, field.name),
                label: format!("{}{}: ", within.label, field.label()),
                optional: within.optional || !field.required,
            };
            self.fields(inner, group);
        }
    }

    fn field(&mut self, field: &Field, path: Vec<String>, within: &mut Within) {
        if field.beyond.is_some() {
            self.changed(&path, Changed::RuleLeftOut);
        }
        if field.nullable {
            self.changed(&path, Changed::NullLeftOut);
        }
        let titled = field.title.is_some() || !within.label.is_empty();
        let unknown = field.rest.iter().filter(|(keyword, _)| !is_rule(keyword));
        let mut told = Told {
            name: format!("{}{}", within.name, field.name),
            title: titled.then(|| format!("{}{}", within.label, field.label())),
            hints: within
                .hint
                .take()
                .into_iter()
                .chain(field.description.clone())
                .collect(),
            required: field.required && !within.optional && !field.nullable,
            keywords: unknown.map(|(k, v)| (k.clone(), v.clone())).collect(),
            labels: Vec::new(),
            way: Way {
                told: String::new(),
                path,
                read: Read::Plain,
                default: None,
                optional: within.optional,
            },
        };
        let typed = self.since_2025_11_25;
        match &field.kind {
            Kind::Text(text) => {
                self.text(text, &mut told);
                self.put(told, field.default(), typed);
            }
            Kind::Number(range) => {
                self.number("number", range, &mut told);
                self.put(told, field.default(), typed);
            }
            Kind::Integer(range) => {
                self.number("integer", range, &mut told);
                self.put(told, field.default(), typed);
            }
            Kind::Switch => {
                told.say("type", Some("boolean"));
                self.put(told, field.default(), true);
            }
            Kind::Choice(offers) => {
                self.choice(offers, &mut told);
                self.put(told, field.default(), typed && offers.are_texts());
            }
            Kind::Choices(choices) if typed && choices.offers.are_texts() => {
                self.choices(choices, &mut told);
                self.put(told, field.default(), true);
            }
            Kind::Choices(choices) => self.switches(choices, field, told),
            Kind::Tags(tags) => {
                self.changed(&told.way.path, Changed::TagsAsText);
                told.hints.extend(self.rules(field));
                self.pattern(&tags.text, &mut told);
                self.as_text(told, Read::Commas, "mcp.elicitation.tell.commas", field);
            }
            Kind::Json(_) | Kind::Group(_) => {
                self.changed(&told.way.path, Changed::JsonAsText);
                self.as_text(told, Read::Json, "mcp.elicitation.tell.json", field);
            }
        }
    }

    fn text(&mut self, text: &Text, told: &mut Told) {
        told.say("type", Some("string"));
        told.say("minLength", text.min_length);
        told.say("maxLength", text.max_length);
        match &text.format {
            None => {}
            Some(format) if format.is_standard() => told.say("format", Some(format.name())),
            Some(format) => {
                self.changed(&told.way.path, Changed::FormatLeftOut);
                if let Format::Other(other) = format {
                    told.hints
                        .push(Fault::Format(other.name().into()).say(self.locale));
                }
            }
        }
        self.pattern(text, told);
    }

    fn pattern(&mut self, text: &Text, told: &mut Told) {
        if let Some(pattern) = &text.pattern {
            self.changed(&told.way.path, Changed::PatternAsHint);
            told.hints.push(pattern.say(self.locale));
        }
    }

    fn number(&mut self, kind: &str, range: &Range, told: &mut Told) {
        told.say("type", Some(kind));
        told.say("minimum", range.minimum.clone());
        told.say("maximum", range.maximum.clone());
        let lost = [
            range.above.clone().map(Fault::NotAbove),
            range.below.clone().map(Fault::NotBelow),
            range
                .step
                .as_ref()
                .map(|step| Fault::NotMultiple(step.of().clone())),
        ];
        for fault in lost.into_iter().flatten() {
            self.changed(&told.way.path, Changed::BoundAsHint);
            told.hints.push(fault.say(self.locale));
        }
    }

    fn choice(&mut self, offers: &Offers, told: &mut Told) {
        told.say("type", Some("string"));
        if !offers.are_texts() {
            self.changed(&told.way.path, Changed::OptionsAsText);
            let values = offers.list.iter().map(|offer| offer.value.clone());
            told.way.read = Read::Option(names(offers).into_iter().zip(values).collect());
        }
        if offers.keyword != "enum" && !(self.since_2025_11_25 && offers.keyword == "oneOf") {
            self.changed(&told.way.path, Changed::OptionsReworded);
        }
        let names = names(offers);
        let labels = self.labels(offers, &told.way.path);
        told.labels = names
            .iter()
            .cloned()
            .zip(labels.iter().flatten().cloned())
            .collect();
        match (labels, self.since_2025_11_25) {
            (None, _) => told.say("enum", Some(names)),
            (Some(labels), true) => told.say("oneOf", Some(options(names, labels))),
            (Some(labels), false) => {
                told.say("enum", Some(names));
                told.say("enumNames", Some(labels));
            }
        }
    }

    fn choices(&mut self, choices: &Choices, told: &mut Told) {
        let offers = &choices.offers;
        if !matches!(offers.keyword, "enum" | "anyOf") {
            self.changed(&told.way.path, Changed::OptionsReworded);
        }
        let names = names(offers);
        let items = match self.labels(offers, &told.way.path) {
            None => json!({"type": "string", "enum": names}),
            Some(labels) => json!({"anyOf": options(names, labels)}),
        };
        told.say("type", Some("array"));
        told.say("items", Some(items));
        told.say("minItems", choices.count.min);
        told.say("maxItems", choices.count.max);
    }

    /// What people read for each option; nothing if that is the value itself.
    fn labels(&mut self, offers: &Offers, path: &[String]) -> Option<Vec<String>> {
        if offers.list.iter().any(|offer| offer.description.is_some()) {
            self.changed(path, Changed::OptionExplained);
        } else if offers.list.iter().all(|offer| offer.title.is_none()) {
            return None;
        }
        let label = |offer: &Offer| match &offer.description {
            None => offer.label(),
            Some(description) => format!("{}: {description}", offer.label()),
        };
        Some(offers.list.iter().map(label).collect())
    }

    fn switches(&mut self, choices: &Choices, field: &Field, told: Told) {
        self.changed(&told.way.path, Changed::ChoicesAsSwitches);
        let label = told.title.unwrap_or_else(|| field.label().to_owned());
        // What is said of all of them is said at the first.
        let mut hints = told.hints;
        hints.extend(self.rules(field));
        let chosen = field.default().and_then(Value::as_array);
        for offer in &choices.offers.list {
            hints.extend(offer.description.clone());
            let on = chosen.is_some_and(|chosen| chosen.iter().any(|value| offer.is(value)));
            let switch = Told {
                name: format!("{}.{}", told.name, as_text(&offer.value)),
                title: Some(format!("{label}: {}", offer.label())),
                hints: std::mem::take(&mut hints),
                required: false,
                keywords: Map::from_iter([("type".to_owned(), "boolean".into())]),
                labels: Vec::new(),
                way: Way {
                    read: Read::Member(offer.value.clone()),
                    ..told.way.clone()
                },
            };
            self.put(switch, Some(&Value::Bool(on)), true);
        }
    }

    fn as_text(&mut self, mut told: Told, read: Read, hint: &str, field: &Field) {
        told.say("type", Some("string"));
        told.hints.push(self.locale.say(hint, &[]));
        told.way.read = read;
        self.put(told, field.default(), false);
    }

    /// Puts a field down under a name that is still free, with its default; where the
    /// revision has no word for that, with a hint of what an empty answer means.
    fn put(&mut self, mut told: Told, default: Option<&Value>, sayable: bool) {
        match default {
            None | Some(Value::Null) => {}
            Some(default) if sayable => told.say("default", Some(default.clone())),
            Some(default) => {
                self.changed(&told.way.path, Changed::DefaultAsHint);
                let shown = match default {
                    Value::Array(several) => {
                        several.iter().map(as_text).collect::<Vec<_>>().join(", ")
                    }
                    one => told.label(one),
                };
                let params = [("value", shown.as_str().into())];
                told.hints
                    .push(self.locale.say("mcp.elicitation.tell.default", &params));
                told.required = false;
                told.way.default = Some(default.clone());
            }
        }
        while self.properties.contains_key(&told.name) {
            told.name.push('_');
        }
        let description = sentences(&told.hints);
        told.say("title", told.title.clone());
        told.say("description", description);
        if told.required {
            self.required.push(told.name.clone());
        }
        told.way.told = told.name.clone();
        self.ways.push(told.way);
        self.properties.insert(told.name, told.keywords.into());
    }

    fn rules(&self, field: &Field) -> impl Iterator<Item = String> {
        let locale = self.locale;
        field.rules().into_iter().map(move |rule| rule.say(locale))
    }

    fn changed(&mut self, path: &[String], what: Changed) {
        let path = pointer(path);
        let change = Change { path, what };
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }
}

/// The options as texts. Two values may read alike, `1` and `"1"`: the second gets a mark.
fn names(offers: &Offers) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(offers.list.len());
    let mut known = HashSet::new();
    for offer in &offers.list {
        let mut name = as_text(&offer.value);
        while !known.insert(name.clone()) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

fn options(names: Vec<String>, labels: Vec<String>) -> Vec<Value> {
    let pairs = names.into_iter().zip(labels);
    pairs
        .map(|(name, label)| json!({"const": name, "title": label}))
        .collect()
}

/// Several hints as one description. A server's own may end in a full stop; ours do not. What it
/// says already, because it told another Midcall's form, is not said twice.
fn sentences(hints: &[String]) -> Option<String> {
    let mut said: Vec<&str> = Vec::new();
    for hint in hints {
        let hint = hint.trim_end().trim_end_matches('.');
        if !said.iter().any(|said| said.contains(hint)) {
            said.push(hint);
        }
    }
    match (hints, said.as_slice()) {
        ([], _) => None,
        ([first, ..], [_]) => Some(first.clone()),
        (_, said) => Some(said.join(". ")),
    }
}
