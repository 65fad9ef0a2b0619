//! Edits of a text at the places of its values.

use std::ops::Range;

use super::tree::{Format, Member, Node};

/// A part of a text, and what takes its place.
pub struct Edit {
    pub range: Range<usize>,
    pub with: String,
}

/// A text with the format that tells how to write into it.
#[derive(Clone, Copy)]
pub struct Sheet<'a> {
    pub text: &'a str,
    pub format: Format,
}

/// Makes all edits, which don't overlap.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut whole = String::with_capacity(text.len() + 256);
    let mut done = 0;
    for edit in edits {
        whole.push_str(&text[done..edit.range.start]);
        whole.push_str(&edit.with);
        done = edit.range.end;
    }
    whole.push_str(&text[done..]);
    whole
}

impl<'a> Sheet<'a> {
    /// The text of a value, as it stands there.
    pub fn raw(&self, node: &Node) -> &'a str {
        &self.text[node.span.clone()]
    }

    /// A string's text that can also stand as an item of a list.
    pub fn movable(&self, node: &Node) -> String {
        let raw = self.raw(node);
        let is_quoted = raw.starts_with(['"', '\'']);
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "./_@-".contains(c);
        match self.format {
            Format::Yaml if !is_quoted && !raw.chars().all(is_safe) => {
                self.format.quote(node.text().unwrap_or_default())
            }
            _ => raw.to_owned(),
        }
    }

    /// Puts items in front of those of a list.
    pub fn put_first(&self, list: &Node, words: &[String]) -> Edit {
        let Some(first) = list.items().and_then(<[_]>::first) else {
            let at = list.span.start + 1;
            return insert(at, words.join(", "));
        };
        let at = first.span.start;
        let lead = self.lead(at);
        let between = if !self.is_flow(list, '[') {
            format!("{}{lead}", self.line_end())
        } else if lead.trim().is_empty() && lead.len() < at {
            format!(",{}{lead}", self.line_end())
        } else {
            ", ".to_owned()
        };
        insert(at, words.join(&between) + &between)
    }

    /// Takes the first items from a list.
    pub fn drop_first(&self, list: &Node, count: usize) -> Edit {
        let items = list.items().unwrap_or_default();
        let (first, last) = (&items[0], &items[count - 1]);
        let end = match items.get(count) {
            Some(next) => next.span.start,
            None => last.span.end + self.comma(last.span.end),
        };
        delete(first.span.start..end)
    }

    /// Puts a value in the place of another one. In YAML, null may be nothing at all behind a colon.
    pub fn set(&self, member: &Member, value: &str) -> Edit {
        if !member.node.span.is_empty() && !value.is_empty() {
            return replace(&member.node.span, value);
        }
        let colon = self.text[member.key.end..].find(':').unwrap_or_default();
        let start = member.key.end + colon + 1;
        let end = if member.node.span.is_empty() {
            start
        } else {
            member.node.span.end
        };
        let space = if value.is_empty() { "" } else { " " };
        replace(&(start..end), format!("{space}{value}"))
    }

    /// Adds a member behind another one.
    pub fn put_after(&self, map: &Node, member: &Member, name: &str, value: &str) -> Edit {
        let lead = self.lead(member.key.start);
        let is_own_line = lead.trim().is_empty() && lead.len() < member.key.start;
        let between = match self.is_flow(map, '{') {
            true if is_own_line => format!(",{}{lead}", self.line_end()),
            true => ", ".to_owned(),
            // `- name: …` is the first line of an item in YAML's lists.
            false if self.format == Format::Yaml => {
                format!("{}{}", self.line_end(), lead.replace('-', " "))
            }
            false => format!("{}{lead}", self.line_end()),
        };
        let (key, colon) = (self.format.key(name), self.format.colon());
        insert(
            member.node.span.end,
            format!("{between}{key}{colon}{value}"),
        )
    }

    /// Takes a member away, with what stands between it and the one before.
    pub fn remove(&self, map: &Node, member: &Member) -> Edit {
        let members = map.members();
        let before = members
            .iter()
            .filter(|one| one.node.span.end <= member.key.start);
        let after = members
            .iter()
            .filter(|one| one.key.start >= member.node.span.end);
        if let Some(before) = before.max_by_key(|one| one.node.span.end) {
            return delete(before.node.span.end..member.node.span.end);
        }
        let end = member.node.span.end;
        let next = after.map(|one| one.key.start).min();
        delete(member.key.start..next.unwrap_or(end + self.comma(end)))
    }

    /// Replaces all members of a map by one.
    pub fn refill(&self, map: &Node, name: &str, value: &str) -> Edit {
        let (key, colon) = (self.format.key(name), self.format.colon());
        let with = format!("{key}{colon}{value}");
        let starts = map.members().iter().map(|one| one.key.start);
        let ends = map.members().iter().map(|one| one.node.span.end);
        match (starts.min(), ends.max()) {
            (Some(start), Some(end)) => Edit {
                range: start..end,
                with,
            },
            _ => insert(map.span.start + 1, with),
        }
    }

    /// True if the text shows where a list or map ends.
    pub fn is_flow(&self, node: &Node, open: char) -> bool {
        self.text[node.span.start..].starts_with(open)
    }

    /// The end of a line and the start of one like that of a place.
    pub fn new_line(&self, at: usize) -> String {
        format!("{}{}", self.line_end(), self.lead(at))
    }

    /// What stands before a place, on its line.
    fn lead(&self, at: usize) -> &'a str {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        &self.text[start..at]
    }

    fn line_end(&self) -> &'static str {
        match self.text.contains("\r\n") {
            true => "\r\n",
            false => "\n",
        }
    }

    /// The length of what leads to a comma right behind a place, with the comma; 0 if there is none.
    fn comma(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let space = rest.len() - rest.trim_start().len();
        match rest[space..].starts_with(',') {
            true => space + 1,
            false => 0,
        }
    }
}

fn insert(at: usize, with: String) -> Edit {
    Edit {
        range: at..at,
        with,
    }
}

fn delete(range: Range<usize>) -> Edit {
    Edit {
        range,
        with: String::new(),
    }
}

/// Puts a text in the place of a value or a name.
pub fn replace(range: &Range<usize>, with: impl Into<String>) -> Edit {
    Edit {
        range: range.clone(),
        with: with.into(),
    }
}
