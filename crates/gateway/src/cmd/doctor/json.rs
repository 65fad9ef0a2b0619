//! The report for scripts. Its shape is described in the README.

use midcall_core::catalog::Locale;
use serde_json::{Value, json};

use super::draw;
use super::look::{Asks, Failure, Found, Tool};
use super::peer::{Noise, Trouble};
use super::who::{Asked, Client, Question};
use crate::route::{Part, Route, Routes};
use crate::transport::child::StartError;

/// What was found out about a server.
pub fn found(
    found: &Found,
    asked: &[(Question, Vec<Asked>)],
    routes: &Routes,
    clients: &[Client<'_>],
) -> String {
    let cells = asked.iter().flat_map(|(question, asked)| {
        let cells = clients.iter().zip(asked);
        cells.map(|(client, asked)| cell(*question, *client, asked))
    });
    write(&json!({
        "server": {"name": found.name, "version": found.version},
        "revisions": found.revisions,
        "eras": {"legacy": found.legacy, "modern": found.modern},
        "capabilities": found.capabilities,
        "tools": found.tools.iter().map(tool).collect::<Vec<_>>(),
        "asks": match found.asks {
            Asks::Yes => "yes",
            Asks::No => "no",
            Asks::NotSeen => "not_seen",
            Asks::NotKnown => "not_known",
        },
        "ask": routes.to_string(),
        "who": cells.collect::<Vec<_>>(),
        "noise": noise(&found.noise),
    }))
}

/// Why nothing was found out.
pub fn failure(failure: &Failure, locale: Locale) -> String {
    let kind = match &failure.trouble {
        Trouble::NotStarted(StartError::NotFound(_)) => "not_found",
        Trouble::NotStarted(StartError::NotAllowed(_)) => "not_allowed",
        Trouble::NotStarted(StartError::Io(..)) => "not_started",
        Trouble::Ended(_) => "ended",
        Trouble::Silent => "silent",
        Trouble::TooLong => "too_long",
        Trouble::Refused { .. } => "refused",
        Trouble::Unreadable => "unreadable",
    };
    write(&json!({
        "error": {"kind": kind, "message": draw::reason(&failure.trouble, locale)},
        "standardError": failure.remains.errors,
        "noise": noise(&failure.remains.noise),
    }))
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "readOnly": tool.hints.says_read_only(),
        "destructive": tool.hints.says_destructive(),
        "outputSchema": tool.has_output_schema,
        "needsAsking": tool.needs_asking,
    })
}

fn cell(question: Question, client: Client<'_>, asked: &Asked) -> Value {
    let question = match question {
        Question::Form => "form",
        Question::Link => "link",
        Question::LinkFirst => "link_first",
        Question::Confirmation => "confirmation",
    };
    let client = match client {
        Client::Asks => "asks",
        Client::DoesNotAsk => "does_not_ask",
        Client::Named(profile) => &profile.name,
    };
    let route = |route: Option<Route>| route.map(|route| route.to_string());
    json!({
        "question": question,
        "client": client,
        "route": route(asked.route),
        "unless": asked.unless.iter().map(|part| Part::name(*part)).collect::<Vec<_>>(),
        "otherwise": route(asked.otherwise),
    })
}

fn noise(noise: &Noise) -> Value {
    json!({"lines": noise.lines, "first": noise.first})
}

fn write(report: &Value) -> String {
    format!("{report:#}\n")
}
