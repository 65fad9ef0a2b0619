//! Whether values fit their form.
//!
//! Content usually comes in the order of the form, so each name is first compared with the
//! field that is due. Nothing is allocated unless something is wrong.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Number, Value};

use super::number::{is_integer, is_rounded, order, whole};
use super::pattern::{DEFAULT_TEXT, MOST_TEXT};
use super::schema::Effort;
use super::*;
use crate::values::{Checked, Unfit, Values};

impl Form {
    /// Holds values against the form. This is the only way to a [`Checked`].
    pub fn check(&self, values: Values) -> Result<Checked, Unfit> {
        let found = self.look(&values);
        if found.problems.is_empty() {
            Ok(Checked::new(values, found.unchecked.into_iter().collect()))
        } else {
            Err(Unfit {
                problems: found.problems,
            })
        }
    }

    /// What is wrong with the values, in the order of the form; nothing if they fit.
    pub fn problems(&self, values: &Values) -> Vec<Problem> {
        self.look(values).problems
    }

    fn look(&self, values: &Values) -> Found {
        let mut found = Found::within(Effort::default(), MOST_TEXT);
        self.fields.look(&values.0, &At::Root, &mut found);
        found
    }
}

/// More problems than a person would read. A hostile list of a million wrong entries ends here.
const ENOUGH: usize = 100;

/// Fields that are named as unchecked.
const MOST_UNCHECKED: usize = 50;

/// What was found so far.
struct Found {
    problems: Vec<Problem>,
    /// The pointers of fields with a rule that couldn't be run on their value.
    unchecked: BTreeSet<String>,
    /// How much text was held against patterns, and how much may be.
    matched: usize,
    most_text: usize,
    /// What is left for the rules beyond fields' kinds.
    effort: Effort,
}

impl Found {
    fn within(effort: Effort, most_text: usize) -> Self {
        Self {
            problems: Vec::new(),
            unchecked: BTreeSet::new(),
            matched: 0,
            most_text,
            effort,
        }
    }

    fn enough(&self) -> bool {
        self.problems.len() >= ENOUGH
    }

    fn add(&mut self, at: &At<'_>, fault: Fault) {
        self.problems.push(Problem::new(at.pointer(), fault));
    }

    /// Takes note of what a rule says to a value: whether it fits, or nothing if it couldn't be run.
    fn judge(&mut self, at: &At<'_>, fits: Option<bool>, fault: impl FnOnce() -> Fault) {
        match fits {
            Some(true) => {}
            Some(false) => self.add(at, fault()),
            None if self.unchecked.len() < MOST_UNCHECKED => {
                let field = match at {
                    At::Index(list, _) => list,
                    field => field,
                };
                self.unchecked.insert(field.pointer());
            }
            None => {}
        }
    }

    fn judge_by(&mut self, schema: &Schema, value: &Value, at: &At<'_>) {
        let fits = schema.admits(value, &mut self.effort);
        self.judge(at, fits, || Fault::JsonUnfit);
    }
}

impl Fields {
    fn look(&self, values: &Map<String, Value>, at: &At<'_>, found: &mut Found) {
        let before = found.problems.len();
        let mut due = 0;
        let mut met = 0;
        let mut disorder = false;
        for (name, value) in values {
            if found.enough() {
                break;
            }
            let here = At::Name(at, name);
            let place = match self.list.get(due) {
                Some(field) if field.name == *name => Some(due),
                _ => self.place(name),
            };
            let Some(place) = place else {
                self.look_extra(value, &here, found);
                disorder = true;
                continue;
            };
            disorder |= place < due;
            due = place + 1;
            let field = &self.list[place];
            met += usize::from(field.required);
            field.look(value, &here, found);
        }
        if met < self.required {
            disorder = true;
            for field in self.list.iter().filter(|field| field.required) {
                if !values.contains_key(&field.name) && !found.enough() {
                    found.add(&At::Name(at, &field.name), Fault::Required);
                }
            }
        }
        if disorder && found.problems.len() > before + 1 {
            self.sort(&mut found.problems[before..], at);
        }
        if let Some(beyond) = &self.beyond {
            found.judge_by(beyond, &Value::Object(values.clone()), at);
        }
    }

    fn look_extra(&self, value: &Value, at: &At<'_>, found: &mut Found) {
        match &self.extra {
            Extra::Allowed => {}
            Extra::Refused => found.add(at, Fault::UnknownField),
            Extra::Fitting(schema) => found.judge_by(schema, value, at),
        }
    }

    /// People mend a form from top to bottom, in whatever order the content came.
    fn sort(&self, problems: &mut [Problem], at: &At<'_>) {
        let prefix = at.pointer().len() + 1;
        problems.sort_by_cached_key(|problem| {
            let name = problem.path[prefix..].split('/').next().unwrap_or_default();
            let name = name.replace("~1", "/").replace("~0", "~");
            self.place(&name).unwrap_or(usize::MAX)
        });
    }
}

impl Field {
    /// Whether a value is one this field takes, as far as one field's own suggestion is worth
    /// finding out.
    pub(crate) fn takes(&self, value: &Value) -> bool {
        let mut found = Found::within(Effort::of_a_default(), DEFAULT_TEXT);
        self.look(value, &At::Root, &mut found);
        found.problems.is_empty()
    }

    fn look(&self, value: &Value, at: &At<'_>, found: &mut Found) {
        if self.nullable && value.is_null() {
            return;
        }
        match (&self.kind, value) {
            (Kind::Text(text), Value::String(typed)) => text.look(typed, value, at, found),
            (Kind::Text(_), _) => found.add(at, Fault::NotText),
            (Kind::Number(range), Value::Number(number)) => range.look(number, value, at, found),
            (Kind::Number(_), _) => found.add(at, Fault::NotNumber),
            (Kind::Integer(range), Value::Number(number)) if is_integer(number) => {
                if is_rounded(number) {
                    found.add(at, Fault::TooLargeToKeep);
                } else {
                    range.look(number, value, at, found);
                }
            }
            (Kind::Integer(_), _) => found.add(at, Fault::NotInteger),
            (Kind::Switch, Value::Bool(_)) => {}
            (Kind::Switch, _) => found.add(at, Fault::NotBoolean),
            (Kind::Choice(offers), value) => offers.look(value, at, found),
            (Kind::Choices(choices), Value::Array(chosen)) => {
                if !choices.count.is_exceeded(chosen, at, found) {
                    choices.offers.look_each(chosen, at, found);
                    choices.count.look(chosen, at, found);
                }
            }
            (Kind::Tags(tags), Value::Array(typed)) => {
                if !tags.count.is_exceeded(typed, at, found) {
                    tags.text.look_each(typed, at, found);
                    tags.count.look(typed, at, found);
                }
            }
            (Kind::Choices(_) | Kind::Tags(_), _) => found.add(at, Fault::NotList),
            (Kind::Group(fields), Value::Object(values)) => fields.look(values, at, found),
            (Kind::Group(_), _) => found.add(at, Fault::NotGroup),
            (Kind::Json(schema), value) => found.judge_by(schema, value, at),
        }
        if let Some(beyond) = &self.beyond {
            found.judge_by(beyond, value, at);
        }
    }
}

impl Text {
    fn look_each(&self, typed: &[Value], at: &At<'_>, found: &mut Found) {
        for (index, value) in typed.iter().enumerate() {
            if found.enough() {
                return;
            }
            let at = At::Index(at, index);
            match value {
                Value::String(text) => self.look(text, value, &at, found),
                _ => found.add(&at, Fault::NotText),
            }
        }
    }

    fn look(&self, typed: &str, value: &Value, at: &At<'_>, found: &mut Found) {
        // A character takes one to four bytes, so most lengths need no counting.
        let bytes = typed.len() as u64;
        let characters = || typed.chars().count() as u64;
        if let Some(min) = self.min_length
            && bytes < min.saturating_mul(4)
            && characters() < min
        {
            found.add(at, Fault::TooShort(min));
        }
        if let Some(max) = self.max_length
            && bytes > max
            && characters() > max
        {
            found.add(at, Fault::TooLong(max));
        }
        if let Some(fault) = self.format.as_ref().and_then(|format| format.fault(value)) {
            found.add(at, fault);
        }
        if let Some(pattern) = &self.pattern {
            found.matched += typed.len();
            let is_bearable = found.matched <= found.most_text;
            let fits = is_bearable.then(|| pattern.admits(typed)).flatten();
            found.judge(at, fits, || Fault::Pattern);
        }
    }
}

impl Range {
    fn look(&self, number: &Number, value: &Value, at: &At<'_>, found: &mut Found) {
        if let Some(min) = &self.minimum
            && order(number, min) == Ordering::Less
        {
            found.add(at, Fault::TooSmall(min.clone()));
        }
        if let Some(max) = &self.maximum
            && order(number, max) == Ordering::Greater
        {
            found.add(at, Fault::TooLarge(max.clone()));
        }
        if let Some(min) = &self.above
            && order(number, min) != Ordering::Greater
        {
            found.add(at, Fault::NotAbove(min.clone()));
        }
        if let Some(max) = &self.below
            && order(number, max) != Ordering::Less
        {
            found.add(at, Fault::NotBelow(max.clone()));
        }
        if let Some(step) = &self.step {
            let fits = step.divides(number, value, &mut found.effort);
            found.judge(at, fits, || Fault::NotMultiple(step.of.clone()));
        }
    }
}

impl Step {
    fn divides(&self, number: &Number, value: &Value, effort: &mut Effort) -> Option<bool> {
        match (whole(number), whole(&self.of)) {
            (Some(number), Some(of)) => Some(number % of == 0),
            _ => self.exact.admits(value, effort),
        }
    }
}

impl Count {
    /// Whether there are too many entries to look at them one by one.
    fn is_exceeded(&self, entries: &[Value], at: &At<'_>, found: &mut Found) -> bool {
        let exceeded = self.max.filter(|max| entries.len() as u64 > *max);
        if let Some(max) = exceeded {
            found.add(at, Fault::TooMany(max));
        }
        exceeded.is_some()
    }

    fn look(&self, entries: &[Value], at: &At<'_>, found: &mut Found) {
        if let Some(min) = self.min
            && (entries.len() as u64) < min
        {
            found.add(at, Fault::TooFew(min));
        }
        if self.unique && has_duplicate(entries) {
            found.add(at, Fault::Duplicate);
        }
    }
}

impl Offers {
    fn look_each(&self, chosen: &[Value], at: &At<'_>, found: &mut Found) {
        // A long list against many options is looked up instead of compared.
        let keys = self.list.iter().filter_map(|offer| Key::of(&offer.value));
        let is_long = chosen.len() > 16 && self.list.len() > 16;
        let known: HashSet<Key<'_>> = keys.filter(|_| is_long).collect();
        for (index, value) in chosen.iter().enumerate() {
            if found.enough() {
                return;
            }
            if !Key::of(value).is_some_and(|key| known.contains(&key)) {
                self.look(value, &At::Index(at, index), found);
            }
        }
    }

    fn look(&self, value: &Value, at: &At<'_>, found: &mut Found) {
        if !self.list.iter().any(|offer| offer.is(value)) {
            found.add(at, Fault::NotAnOption);
        }
    }
}

impl Offer {
    /// Whether this option is meant by a value. `1` and `1.0` are one number.
    pub fn is(&self, value: &Value) -> bool {
        equal(&self.value, value)
    }
}

/// Equality as JSON Schema has it: `1` and `1.0` are the same number.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => order(a, b) == Ordering::Equal,
        (a, b) => a == b,
    }
}

/// A scalar by which equal ones are found without comparing each with each: two have the same
/// key exactly if they are [`equal`].
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    Text(&'a str),
    Switch(bool),
    Whole(i128),
    /// The bits of a number with a fraction, or beyond any integer that is kept.
    Float(u64),
}

impl<'a> Key<'a> {
    pub fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::String(text) => Self::Text(text),
            Value::Bool(switch) => Self::Switch(*switch),
            Value::Number(number) => match (whole(number), number.as_f64()?) {
                (Some(whole), _) => Self::Whole(whole),
                (None, float) if float.fract() == 0.0 && float.abs() < 1e30 => {
                    Self::Whole(float as i128)
                }
                (None, float) => Self::Float(float.to_bits()),
            },
            _ => return None,
        })
    }
}

fn has_duplicate(entries: &[Value]) -> bool {
    fn compare(a: &&Value, b: &&Value) -> Ordering {
        match (a, b) {
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Number(a), Value::Number(b)) => order(a, b),
            (a, b) => rank(a).cmp(&rank(b)),
        }
    }
    /// Only scalars are options, so the other kinds need no order among themselves.
    fn rank(value: &Value) -> u8 {
        match value {
            Value::String(_) => 0,
            Value::Number(_) => 1,
            Value::Bool(false) => 2,
            Value::Bool(true) => 3,
            _ => 4,
        }
    }
    let mut sorted: Vec<&Value> = entries.iter().filter(|value| rank(value) < 4).collect();
    sorted.sort_unstable_by(compare);
    sorted
        .windows(2)
        .any(|pair| compare(&pair[0], &pair[1]) == Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_have_one_key_exactly_if_they_are_equal() {
        let scalars = json!([
            "",
            "1",
            "a",
            true,
            false,
            0,
            -0.0,
            1,
            1.0,
            1.5,
            -1,
            -1.0,
            9007199254740992_u64,
            9007199254740993_u64,
            9007199254740992.0,
            u64::MAX,
            18446744073709551616.0,
            i64::MIN,
            -9223372036854775808.0,
            1e300,
            -1e300,
            1e30,
            1e29,
            0.1,
            5e-324
        ]);
        let scalars = scalars.as_array().unwrap();
        for a in scalars {
            for b in scalars {
                assert_eq!(Key::of(a) == Key::of(b), equal(a, b), "{a} and {b}");
            }
        }
        assert!(Key::of(&json!([])).is_none());
    }
}
