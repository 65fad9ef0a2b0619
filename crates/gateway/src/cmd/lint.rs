//! `midcall lint`: a form as people will see it, and what its author should know.

mod draw;
mod json;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::process::ExitCode;

use anyhow::{Context, bail};
use midcall_core::catalog::Locale;
use midcall_core::lint::{Finding, findings};
use midcall_core::wire::{Revision, member};
use midcall_core::{Form, Limits};
use serde_json::Value;

use super::paper::print;
use crate::flag;
use crate::ink::Ink;

/// Show a form as people will see it, and what its author should know
///
/// Takes a JSON file with a `requestedSchema`, with the params of `elicitation/create`, or
/// with the whole request. Exits with 0 if there is nothing to say, 1 if there are findings,
/// 2 if there is no form in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall lint form.json                          what people see, then the findings
  my-server --print-schema | midcall lint -       from standard input
  midcall lint --revision 2025-06-18 form.json    only what matters to clients of that revision
  midcall lint --json form.json                   for scripts: {form, findings}")]
pub struct Cmd {
    /// The file to read, or - for standard input
    #[arg(value_name = "SCHEMA")]
    file: String,
    /// Print JSON instead of text
    #[arg(long, env = "MIDCALL_JSON", value_parser = clap::builder::BoolishValueParser::new())]
    json: bool,
    /// Look only at this revision of the protocol (may be given several times)
    #[arg(
        long,
        env = "MIDCALL_REVISION",
        value_delimiter = ',',
        value_name = "DATE",
        value_parser = flag::revision
    )]
    revision: Vec<Revision>,
    /// The language of the texts: en-US or pt-BR
    #[arg(
        long,
        env = "MIDCALL_LOCALE",
        value_name = "TAG",
        default_value = "en-US",
        value_parser = flag::locale
    )]
    locale: Locale,
}

pub fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let locale = cmd.locale;
    let revisions = match cmd.revision.is_empty() {
        true => Revision::ALL
            .into_iter()
            .filter(|r| r.elicits())
            .collect::<Vec<_>>(),
        false => cmd.revision,
    };
    let revisions: BTreeSet<Revision> = revisions.into_iter().collect();
    let revisions: Vec<Revision> = revisions.into_iter().collect();
    if let Some(old) = revisions.iter().find(|revision| !revision.elicits()) {
        bail!("revision {old} has no elicitation: 2025-06-18 was the first");
    }
    let (name, text) = read(&cmd.file)?;
    let (message, schema) = question(&text).with_context(|| name.clone())?;
    let form = Form::from_value(schema, &Limits::default()).with_context(|| name)?;
    let found = findings(&form, message.as_deref(), &revisions, locale);
    let out = if cmd.json {
        let mut text = serde_json::to_string_pretty(&json::report(&form, &found))?;
        text.push('\n');
        text
    } else {
        draw::form(&form, message.as_deref(), locale)
            + &draw::findings(&found, locale, Ink::stdout())
    };
    print(&out)?;
    Ok(exit(&found))
}

fn exit(found: &[Finding]) -> ExitCode {
    ExitCode::from(u8::from(!found.is_empty()))
}

/// The text, and what to call it in an error.
fn read(file: &str) -> anyhow::Result<(String, String)> {
    let limit = Limits::default().schema_bytes as u64;
    let (name, source): (String, Box<dyn Read>) = if file == "-" {
        ("standard input".to_owned(), Box::new(io::stdin()))
    } else {
        let opened = fs::File::open(file).with_context(|| format!("cannot open {file}"))?;
        (file.to_owned(), Box::new(opened))
    };
    let mut bytes = Vec::new();
    let reading = || format!("cannot read {name}");
    source
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .with_context(reading)?;
    if bytes.len() as u64 > limit {
        bail!("{name} is longer than {limit} bytes: no client would show such a form");
    }
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8 text"))?;
    Ok((name, text))
}

/// The message, if there is one, and the schema in a text: by itself, in the params of a
/// question, or in the whole request.
fn question(text: &str) -> anyhow::Result<(Option<String>, Value)> {
    let json: Value = serde_json::from_str(text).context("not JSON")?;
    if !json.is_object() {
        bail!(
            "expected a JSON object with a schema, found {}",
            kind(&json)
        );
    }
    let params = match json.get("method").and_then(Value::as_str) {
        Some("elicitation/create") => json.get("params").cloned().unwrap_or_default(),
        _ => json,
    };
    if params.get("mode").and_then(Value::as_str) == Some("url") {
        bail!("this question is in URL mode: it has a link and no form");
    }
    let Some(schema) = params.get(member::REQUESTED_SCHEMA) else {
        let is_question = |name: &str| params.get(name).is_some_and(Value::is_string);
        if ["message", "method", "jsonrpc"]
            .into_iter()
            .any(is_question)
            || !params.is_object()
        {
            bail!("this looks like a question, but `requestedSchema` is missing");
        }
        return is_form(&params).then_some((None, params)).context(NO_FORM);
    };
    if !is_form(schema) {
        bail!(NO_FORM);
    }
    let message = params.get("message").and_then(Value::as_str);
    Ok((message.map(str::to_owned), schema.clone()))
}

const NO_FORM: &str = "not a form: expected a schema with `\"type\": \"object\"` and the form's fields in `properties`";

/// Whether an object may be a form's schema, rather than something else in JSON.
fn is_form(schema: &Value) -> bool {
    let keywords = ["type", "properties", "$ref", "allOf", "anyOf", "oneOf"];
    // What isn't an object has an error of its own.
    !schema.is_object()
        || keywords
            .into_iter()
            .any(|keyword| schema.get(keyword).is_some())
}

fn kind(json: &Value) -> &'static str {
    match json {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
