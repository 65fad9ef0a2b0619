//! The report for scripts: `{form, findings}`.

use midcall_core::lint::Finding;
use midcall_core::{Field, Fields, Form, Kind, Offers};
use serde_json::{Map, Value, json};

pub fn report(form: &Form, found: &[Finding]) -> Value {
    json!({
        "form": {
            "title": form.title,
            "description": form.description,
            "fields": fields(&form.fields),
        },
        "findings": found,
    })
}

fn fields(fields: &Fields) -> Vec<Value> {
    fields.iter().map(field).collect()
}

/// What is absent is left out, so that a report reads like the form.
fn field(field: &Field) -> Value {
    let mut told = Map::new();
    let mut tell = |name: &str, value: Value| {
        if !value.is_null() {
            told.insert(name.to_owned(), value);
        }
    };
    tell("name", field.name.as_str().into());
    tell("kind", field.kind.name().into());
    tell("title", field.title.clone().into());
    tell("description", field.description.clone().into());
    tell("required", field.required.into());
    tell("default", field.default().cloned().unwrap_or_default());
    if field.secret().is_some() {
        tell("secret", true.into());
    }
    match &field.kind {
        Kind::Text(text) => {
            let format = text.format.as_ref().map(|format| format.name());
            tell("format", format.into());
        }
        Kind::Choice(offers) => tell("options", options(offers)),
        Kind::Choices(choices) => tell("options", options(&choices.offers)),
        Kind::Group(inner) => tell("fields", fields(inner).into()),
        Kind::Json(schema) => tell("schema", schema.source().clone().into()),
        Kind::Number(_) | Kind::Integer(_) | Kind::Switch | Kind::Tags(_) => {}
    }
    let rules: Vec<Value> = field.rules().iter().map(rule).collect();
    if !rules.is_empty() {
        tell("rules", rules.into());
    }
    told.into()
}

fn rule(rule: &midcall_core::Fault) -> Value {
    let params: Map<String, Value> = rule
        .param()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .into_iter()
        .collect();
    json!({"key": rule.key(), "params": params})
}

fn options(offers: &Offers) -> Value {
    let option = |offer: &midcall_core::Offer| {
        let mut told = Map::from_iter([("value".to_owned(), offer.value.clone())]);
        for (name, text) in [("title", &offer.title), ("description", &offer.description)] {
            if let Some(text) = text {
                told.insert(name.to_owned(), text.as_str().into());
            }
        }
        Value::Object(told)
    };
    offers.list.iter().map(option).collect()
}
