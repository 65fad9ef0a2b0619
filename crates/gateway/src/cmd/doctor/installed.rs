//! Which servers the clients here start, and which of them ask through Midcall.

use std::path::Path;
use std::process::ExitCode;

use midcall_core::catalog::Locale;
use serde_json::{Value, json};

use crate::cmd::install::{
    CLIENTS, Found, Home, List, Program, Records, State, last, program, word,
};
use crate::cmd::paper::print;

/// Lists what is installed where.
pub fn run(home: Option<&Path>, as_json: bool, locale: Locale) -> anyhow::Result<ExitCode> {
    let home = Home::new(home)?;
    let program = program()?;
    let clients: Vec<_> = CLIENTS.iter().collect();
    let found = home.find(&clients, &Records::new(&home.state));
    let states = found
        .iter()
        .filter_map(|one| one.content.as_ref().ok())
        .flat_map(|content| {
            let entries = content.document.entries();
            entries
                .iter()
                .map(|entry| content.state(entry, &program))
                .collect::<Vec<_>>()
        });
    let states: Vec<State> = states.collect();
    let gone = states.iter().filter(|state| is_gone(**state)).count();
    let out = match as_json {
        true => json(&found, &program, locale)?,
        false => text(&found, &states, gone, &List::new(locale, &home, &program)),
    };
    print(&out)?;
    let is_bad = gone > 0 || found.iter().any(|one| one.content.is_err());
    Ok(ExitCode::from(u8::from(is_bad)))
}

fn is_gone(state: State) -> bool {
    matches!(
        state,
        State::Wrapped {
            program: Program::Gone,
            ..
        }
    )
}

fn text(found: &[Found], states: &[State], gone: usize, list: &List<'_>) -> String {
    let mut list = List::new(list.locale, list.home, list.program);
    if found.is_empty() {
        list.nothing();
        return list.paper.text;
    }
    list.files(found, |_, _, _| Some(String::new()));
    list.paper.blank();
    let wrapped = states
        .iter()
        .filter(|state| matches!(state, State::Wrapped { .. }))
        .count();
    let params = [("count", wrapped.into()), ("all", states.len().into())];
    let sum = list.locale.say("mcp.elicitation.install.sum", &params);
    list.paper.paragraph(0, &sum);
    let advice = match (gone, wrapped) {
        (0, 0) => "mcp.elicitation.install.advice.install",
        (0, _) => return list.paper.text,
        _ => "mcp.elicitation.install.advice.repair",
    };
    let advice = list.say(advice, &[]);
    list.paper.paragraph(0, &advice);
    list.paper.text
}

fn json(found: &[Found], program: &Path, locale: Locale) -> anyhow::Result<String> {
    let files = found.iter().map(|one| match &one.content {
        Ok(content) => {
            let entries = content.document.entries();
            let servers = entries.iter().map(|entry| {
                let state = content.state(entry, program);
                json!({"name": last(&entry.path), "path": entry.path, "state": word(state)})
            });
            json!({"client": one.client.name, "file": one.path, "servers": servers.collect::<Vec<_>>()})
        }
        Err(trouble) => json!({"client": one.client.name, "file": one.path, "error": trouble.say(locale)}),
    });
    let report = json!({"program": program, "files": files.collect::<Vec<Value>>()});
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
