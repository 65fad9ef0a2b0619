//! Whatever a configuration looks like, wrapping changes the entry and nothing else, and unwrapping gives the same text.

use std::ops::Range;

use proptest::prelude::*;

use super::client::{CLIENTS, Client};
use super::document::{Change, Document};
use super::entry::Start;
use super::tree::Node;

const PROGRAM: &str = "/opt/mid call/midcall";

fn client(name: &str) -> &'static Client {
    CLIENTS.iter().find(|client| client.name == name).unwrap()
}

/// Choices that decide how a text is written, one after the other.
struct Draw<'a>(std::slice::Iter<'a, u8>);

impl Draw<'_> {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[usize::from(self.0.next().copied().unwrap_or_default()) % of.len()]
    }

    fn count(&mut self, most: u8) -> u8 {
        self.0.next().copied().unwrap_or_default() % (most + 1)
    }

    /// Space between two tokens of JSON with comments.
    fn space(&mut self) -> &'static str {
        self.one(&[
            "",
            " ",
            "\n",
            "\r\n",
            "\n\t",
            "  ",
            "\n    ",
            " /* { \"command\": [ */ ",
            " // }, \"url\"\n  ",
            "\r\n// ü\r\n",
        ])
    }

    /// A string of JSON.
    fn text(&mut self) -> &'static str {
        self.one(&[
            r#""npx""#,
            r#""-y""#,
            r#""""#,
            r#""a \"quoted\" one""#,
            r#""\u00e9\ud83d\ude00""#,
            r#""C:\\bin\\x""#,
            r#""${input:key}""#,
            r#""//""#,
            r#""ünïcode ☕""#,
            r#""--""#,
            r#""midcall""#,
            r#""wrap""#,
        ])
    }

    fn list(&mut self, most: u8, item: fn(&mut Self) -> String, open: &str, close: &str) -> String {
        let mut text = format!("{open}{}", self.space());
        let count = self.count(most);
        for nth in 0..count {
            text += &item(self);
            text += self.space();
            let is_last = nth + 1 == count;
            text += if is_last { self.one(&["", ","]) } else { "," };
            text += self.space();
        }
        text + close
    }

    fn member(&mut self, name: &str, value: &str) -> String {
        format!("\"{name}\"{}:{}{value}", self.space(), self.space())
    }

    /// An entry with its members in any order.
    fn entry(&mut self) -> String {
        let args = self.list(4, |draw| draw.text().to_owned(), "[", "]");
        let command = self.text();
        let command = if command == "\"\"" { "\"x\"" } else { command };
        let headers = self.one(&[
            r#"{"X-Key": "1", "Y": "é"}"#,
            "{ }",
            "{\n\"A\"\n:\n\"b\"\n}",
        ]);
        let mut members = match self.count(3) {
            0 => vec![
                self.member("url", r#""http://localhost:1/mcp""#),
                self.member("headers", headers),
            ],
            1 => vec![self.member("command", command)],
            _ => vec![self.member("command", command), self.member("args", &args)],
        };
        for name in ["env", "disabled", "timeout"] {
            if self.count(2) == 1 && (name != "env" || members[0].contains("command")) {
                let value = self.one(&["{}", r#"{"KEY": "v"}"#]);
                let other = self.one(&["true", "null", "1.50", "[1, [2]]"]);
                members.push(self.member(name, if name == "env" { value } else { other }));
            }
        }
        if self.count(1) == 1 {
            members.reverse();
        }
        let mut text = format!("{{{}", self.space());
        for (nth, member) in members.iter().enumerate() {
            text += member;
            text += self.space();
            text += if nth + 1 < members.len() {
                ","
            } else {
                self.one(&["", ","])
            };
            text += self.space();
        }
        text + "}"
    }

    fn document(&mut self) -> String {
        let mut servers = format!("{{{}", self.space());
        let count = self.count(3);
        for nth in 0..count {
            let entry = self.entry();
            let name = ["a", "b.c d", "ü ☕", "\\\"x"][usize::from(nth)];
            servers += &self.member(name, &entry);
            servers += self.space();
            servers += if nth + 1 < count {
                ","
            } else {
                self.one(&["", ","])
            };
        }
        servers += "}";
        let servers = self.member("mcpServers", &servers);
        let before = self.one(&["", "\"first\": {\"command\": \"x\"},", "\"amp\": [{}],"]);
        let (start, end) = (self.space(), self.space());
        let after = self.one(&["", ",", ", \"last\": \"y\""]);
        format!(
            "{start}{{{before}{}{servers}{}{after}{}}}{end}",
            self.space(),
            self.space(),
            self.space()
        )
    }
}

/// Wraps everything that can be, and takes it back: the text with wrapped entries.
fn there_and_back(text: &str, client: &'static Client) -> (usize, String) {
    let document =
        Document::read(text.to_owned(), client).unwrap_or_else(|_| panic!("unreadable: {text}"));
    let entries = document.entries();
    let open = entries
        .iter()
        .filter(|one| matches!(one.start, Start::Command(_) | Start::Remote { .. }));
    let paths: Vec<_> = open.map(|entry| entry.path.clone()).collect();
    let wraps: Vec<_> = paths
        .iter()
        .map(|path| (path.clone(), Change::Wrap))
        .collect();
    let wrapped = document
        .change(&wraps, PROGRAM)
        .unwrap_or_else(|_| panic!("not wrapped: {text}"));
    let after =
        Document::read(wrapped.clone(), client).unwrap_or_else(|_| panic!("broken: {wrapped}"));
    let unwraps = paths.iter().map(|path| {
        let was = entries.iter().find(|entry| entry.path == *path).unwrap();
        (path.clone(), Change::Unwrap(Some(was.node)))
    });
    let back = after.change(&unwraps.collect::<Vec<_>>(), PROGRAM);
    let back = back.unwrap_or_else(|_| panic!("not taken back: {wrapped}"));
    let remotes = entries
        .iter()
        .filter(|entry| matches!(entry.start, Start::Remote { .. }))
        .count();
    if remotes == 0 {
        assert_eq!(back, text, "through {wrapped}");
    }
    // Nothing outside the entries has changed, not even a space.
    assert_eq!(
        outside(text, &document),
        outside(&wrapped, &after),
        "through {wrapped}"
    );
    (paths.len(), wrapped)
}

/// A text without its entries.
fn outside(text: &str, document: &Document) -> String {
    let mut rest = text.to_owned();
    let mut spans: Vec<_> = document
        .entries()
        .iter()
        .map(|entry| hull(entry.node))
        .collect();
    spans.sort_by_key(|span| std::cmp::Reverse(span.start));
    for span in spans {
        rest.replace_range(span, "…");
    }
    rest
}

/// From the first to the last part of an entry: a table in TOML is where its name is, and its members follow.
fn hull(entry: &Node) -> Range<usize> {
    let starts = entry.members().iter().map(|one| one.key.start);
    let ends = entry.members().iter().map(|one| hull(&one.node).end);
    let (start, end) = (entry.span.start, entry.span.end);
    starts.min().map_or(start, |first| first.min(start))
        ..ends.max().map_or(end, |last| last.max(end))
}

proptest! {
    #[test]
    fn any_json_is_wrapped_and_taken_back(choices in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = Draw(choices.iter()).document();
        there_and_back(&text, client("cursor"));
    }

    #[test]
    fn any_list_of_words_is_wrapped_and_taken_back(choices in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut draw = Draw(choices.iter());
        let words = draw.list(4, |draw| draw.text().to_owned(), "[", "]");
        let text = format!("{{\"mcp\": {{\"a\":{}{{\"command\":{words}}}}}}}", draw.space());
        there_and_back(&text, client("opencode"));
    }

    #[test]
    fn any_toml_is_wrapped_and_taken_back(choices in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut draw = Draw(choices.iter());
        let end = draw.one(&["\n", "\r\n"]);
        let note = draw.one(&["", " # note", "\t# ü"]);
        let word = draw.one(&["\"npx\"", "'C:\\x'", "\"\"\"np\nx\"\"\"", "\"\\u00e9\""]);
        let list = draw.one(&["[]", "[ ]", "['-y']", "[ # first\n  \"-y\",\n  'b', # last\n]", "[\"a\",\"b\" , ]"]);
        let name = draw.one(&["a", "\"b.c d\"", "'ü'"]);
        let text = match draw.count(4) {
            0 => format!("[mcp_servers.{name}]{note}{end}command = {word}{note}{end}args = {list}{end}"),
            1 => format!("[mcp_servers.{name}]{end}  command={word}{note}{end}{end}[mcp_servers.{name}.env]{end}A = '1'"),
            2 => format!("[mcp_servers]{end}{name} = {{ command = {word}, args = {list} }}{note}{end}"),
            3 => format!("mcp_servers.{name} = {{command={word}}}{end}x = 1{end}"),
            _ => format!("[mcp_servers]{note}{end}{name}.command = {word}{note}{end}{name}.cwd = 'x'{end}"),
        };
        prop_assert_eq!(there_and_back(&text, client("codex")).0, 1);
    }

    #[test]
    fn any_yaml_is_wrapped_and_taken_back(choices in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut draw = Draw(choices.iter());
        let end = draw.one(&["\n", "\r\n"]);
        let note = draw.one(&["", " # note", "   # ü: [x"]);
        let word = draw.one(&["npx", "\"n\\x70x\"", "'it''s'", "/a/b c", "é{}"]);
        let list = draw.one(&[
            " []", " [ -y , \"b\" ]", "\n    - -y\n    - 'b'  # last", "\n      # first\n      -   -y\n      - b", " [\n      -y,\n      b ]",
        ]);
        let name = draw.one(&["a", "\"b.c d\"", "ü ☕"]);
        let plain = if word.contains(['{', ' ']) { "npx" } else { word };
        let flow = draw.one(&["[]", "[ -y , \"b\" ]"]);
        let text = match draw.count(4) {
            0 => format!("extensions:{note}{end}  {name}:{end}    cmd: {word}{note}{end}    args:{list}{end}    timeout: 300{end}"),
            1 => format!("extensions:{end}  {name}:{note}{end}    args:{list}{end}    cmd: {word}{end}other: 1{end}"),
            2 => format!("a: b{end}extensions:{end}      {name}:{end}        cmd: {word}{note}"),
            3 => format!("extensions: {{ {name}: {{cmd: {plain} , args: {flow} }} }}{note}{end}"),
            _ => format!("---{end}extensions:{end}  {name}: {{ type: stdio, cmd: {plain} }}{note}{end}...{end}"),
        };
        let wrapped = there_and_back_but_for_quotes(&text, client("goose"));
        prop_assert_eq!(wrapped, 1);
    }
}

/// As above; a plain word that can't stand in a list as it is comes back in quotes.
fn there_and_back_but_for_quotes(text: &str, client: &'static Client) -> usize {
    let is_plain = |word: &str| !text.contains(word);
    if is_plain("/a/b c") && is_plain("é{}") {
        return there_and_back(text, client).0;
    }
    let document =
        Document::read(text.to_owned(), client).unwrap_or_else(|_| panic!("unreadable: {text}"));
    let entries = document.entries();
    let path = &entries[0].path;
    let wrapped = document.change(&[(path.clone(), Change::Wrap)], PROGRAM);
    let wrapped = wrapped.unwrap_or_else(|_| panic!("not wrapped: {text}"));
    let after = Document::read(wrapped, client).unwrap_or_else(|_| panic!("broken"));
    let was = Change::Unwrap(Some(entries[0].node));
    let back = after
        .change(&[(path.clone(), was)], PROGRAM)
        .unwrap_or_else(|_| panic!("not taken back: {text}"));
    let quoted = text
        .replacen("/a/b c", "\"/a/b c\"", 1)
        .replacen("é{}", "\"é{}\"", 1);
    assert_eq!(back, quoted);
    1
}

#[test]
fn what_means_more_than_one_place_is_left_alone() {
    for (text, expected) in [
        ("extensions:\n  a: &x\n    cmd: npx\n  b: *x\n", 0),
        (
            "x: &x {args: [a]}\nextensions:\n  a:\n    <<: *x\n    cmd: npx\n",
            1,
        ),
        ("extensions:\n  a:\n    cmd: &c npx\n  b:\n    cmd: *c\n", 2),
        ("extensions:\n  a:\n    cmd: !!str npx\n", 1),
        ("extensions:\n  a:\n    cmd: npx\n    args: &l [b]\n", 1),
        ("extensions:\n  a:\n    cmd: npx\n    cmd: b\n", 1),
    ] {
        let document = Document::read(text.to_owned(), client("goose"))
            .ok()
            .unwrap();
        let entries = document.entries();
        assert!(
            entries
                .iter()
                .all(|entry| matches!(entry.start, Start::Other(_))),
            "{text}"
        );
        assert_eq!(entries.len(), expected, "{text}");
    }
}
