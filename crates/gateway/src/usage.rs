//! What a person is told about a wrong command line: what to write instead, ready to copy.
//!
//! Not here: what clap says by itself, with the flag that was most likely meant.

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use midcall_core::catalog::Locale;

use crate::cli::Cli;
use crate::flag::{self, Unusable};
use crate::ink::complain;
use crate::program;

/// Says what is wrong with a command line, or prints the help that it asks for.
pub fn refuse(error: &clap::Error, args: &[OsString]) -> ExitCode {
    let locale = language(args);
    let told = unusable(error, locale).or_else(|| without_dashes(error, args, locale));
    match told {
        Some(told) => complain(&told),
        None => drop(error.print()), // Nobody is left to tell.
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// The language that the command line, or the environment, wants.
fn language(args: &[OsString]) -> Locale {
    let own = args.iter().take_while(|arg| *arg != "--");
    let own: Vec<_> = own.map(|arg| arg.to_string_lossy()).collect();
    let mut places = own.iter().enumerate();
    let flag = places.find_map(|(place, arg)| match arg.strip_prefix("--locale")? {
        "" => own.get(place + 1).map(ToString::to_string),
        rest => rest.strip_prefix('=').map(str::to_owned),
    });
    let tag = flag.or_else(|| env::var("MIDCALL_LOCALE").ok());
    tag.and_then(|tag| flag::locale(&tag).ok())
        .unwrap_or_default()
}

/// A value that can't be used, in the person's language.
fn unusable(error: &clap::Error, locale: Locale) -> Option<String> {
    let why = std::error::Error::source(error)?.downcast_ref::<Unusable>()?;
    let flag = text(error, ContextKind::InvalidArg)?;
    let name = flag.split(' ').next().unwrap_or(flag);
    Some(format!("{name}: {}", why.say(locale)))
}

/// The line with `--` before the server's command, if that is what is missing.
fn without_dashes(error: &clap::Error, args: &[OsString], locale: Locale) -> Option<String> {
    let (why, line) = match error.kind() {
        ErrorKind::UnknownArgument => {
            let stray = text(error, ContextKind::InvalidArg).filter(|it| !it.starts_with('-'))?;
            let places = (1..args.len()).filter(|place| args[*place] == *stray);
            let mut lines = places.map(|place| {
                let (before, after) = args[1..].split_at(place - 1);
                [before, &["--".into()], after].concat()
            });
            let line = lines.find(|line| is_good(line))?;
            ("mcp.elicitation.terminal.dashes", line)
        }
        ErrorKind::InvalidSubcommand => {
            let is_typo = error.get(ContextKind::SuggestedSubcommand).is_some();
            let program = args.get(1).filter(|_| !is_typo)?;
            program::find(program).ok()?;
            let line = [&["wrap".into(), "--".into()], &args[1..]].concat();
            let line = Some(line).filter(|line| is_good(line))?;
            ("mcp.elicitation.terminal.wrap_missing", line)
        }
        _ => return None,
    };
    let words: Vec<String> = line.iter().map(|word| quoted(word)).collect();
    let list = line.iter().map(|word| word.to_string_lossy());
    let list: Vec<String> = list
        .map(|word| serde_json::Value::from(word).to_string())
        .collect();
    Some(format!(
        "{}\n\n  midcall {}\n\n{}\n\n  \"command\": \"midcall\", \"args\": [{}]",
        locale.say(why, &[]),
        words.join(" "),
        locale.say("mcp.elicitation.terminal.dashes_client", &[]),
        list.join(", ")
    ))
}

/// Whether a line has no mistake. It doesn't name the program.
fn is_good(line: &[OsString]) -> bool {
    let name = OsString::from("midcall");
    Cli::try_parse_from([&name].into_iter().chain(line)).is_ok()
}

/// A word as a shell reads it back.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}
