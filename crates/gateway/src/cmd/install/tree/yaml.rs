//! YAML: one document, without what makes one place of a file mean another.
//!
//! Anchors, aliases and tags become [`Value::Other`]: an edit there could change what other places mean.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::{DEEPEST, Member, NULL, Node, Unreadable, Value};

pub fn read(text: &str) -> Result<Option<Node>, Unreadable> {
    let offsets = Offsets::new(text);
    let mut builder = Builder {
        text,
        open: Vec::new(),
        root: None,
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| unreadable(&error))?;
        let start = offsets.byte(span.start.index());
        let fail = |why: &str| Err(Unreadable::at(text, start, why));
        if builder.open.len() > DEEPEST {
            return fail("nested too deep");
        }
        if builder.root.is_some() && matches!(event, Event::DocumentStart(_)) {
            return fail("more than one document");
        }
        builder.take(&event, tight(text, offsets.range(span)));
    }
    Ok(builder.root)
}

fn unreadable(error: &ScanError) -> Unreadable {
    Unreadable {
        line: error.marker().line(),
        column: error.marker().col() + 1,
        why: error.info().to_owned(),
    }
}

/// A span without the space and the comment at its end, which the parser counts to what is before.
fn tight(text: &str, span: Range<usize>) -> Range<usize> {
    let part = text.get(span.clone()).unwrap_or_default();
    let quoted = match part.as_bytes().first() {
        Some(b'"') => closing(part, '"', '\\'),
        Some(b'\'') => closing(part, '\'', '\''),
        _ => None,
    };
    span.start..span.start + quoted.unwrap_or_else(|| part.trim_end().len())
}

/// Where the text in quotes at the start of a part ends. What follows `escape` doesn't count.
fn closing(part: &str, quote: char, escape: char) -> Option<usize> {
    let mut rest = part.char_indices().skip(1).peekable();
    while let Some((at, character)) = rest.next() {
        let next = rest.peek().map(|(_, next)| *next);
        if character == escape && (escape != quote || next == Some(quote)) {
            rest.next();
        } else if character == quote {
            return Some(at + 1);
        }
    }
    None
}

/// Where a list or map in brackets ends, from the end of its last part on.
fn closed(text: &str, mut at: usize) -> usize {
    while let Some(next) = text[at..].chars().next() {
        at += match next {
            ']' | '}' => return at + 1,
            '#' => text[at..].find('\n').unwrap_or(text.len() - at),
            other => other.len_utf8(),
        };
    }
    at
}

/// The parser counts characters, the text is cut by bytes.
struct Offsets(Vec<usize>);

impl Offsets {
    fn new(text: &str) -> Self {
        let ends = std::iter::once(text.len());
        Self(text.char_indices().map(|(at, _)| at).chain(ends).collect())
    }

    fn byte(&self, index: usize) -> usize {
        let last = *self.0.last().unwrap_or(&0);
        self.0.get(index).copied().unwrap_or(last)
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.byte(span.start.index())..self.byte(span.end.index())
    }
}

/// A map or a list that hasn't ended yet.
struct Open {
    start: usize,
    is_map: bool,
    is_special: bool,
    nodes: Vec<Node>,
}

struct Builder<'a> {
    text: &'a str,
    open: Vec<Open>,
    root: Option<Node>,
}

impl Builder<'_> {
    fn take(&mut self, event: &Event<'_>, span: Range<usize>) {
        match event {
            Event::MappingStart(anchor, tag) => {
                self.start(span.start, true, *anchor > 0 || tag.is_some());
            }
            Event::SequenceStart(anchor, tag) => {
                self.start(span.start, false, *anchor > 0 || tag.is_some());
            }
            Event::MappingEnd | Event::SequenceEnd => self.end(),
            Event::Scalar(text, style, anchor, tag) => {
                let value = if *anchor > 0 || tag.is_some() {
                    Value::Other(format!("special {text}"))
                } else if *style == ScalarStyle::Plain
                    && matches!(&**text, "" | "~" | "null" | "Null" | "NULL")
                {
                    Value::Other(NULL.to_owned())
                } else {
                    Value::Text(text.to_string())
                };
                self.add(Node { span, value });
            }
            Event::Alias(id) => self.add(Node {
                span,
                value: Value::Other(format!("alias {id}")),
            }),
            _ => {}
        }
    }

    fn start(&mut self, start: usize, is_map: bool, is_special: bool) {
        self.open.push(Open {
            start,
            is_map,
            is_special,
            nodes: Vec::new(),
        });
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let last = open.nodes.last().map(|node| node.span.end);
        let end = match self.text[open.start..].starts_with(['[', '{']) {
            true => closed(self.text, last.unwrap_or(open.start + 1)),
            // A block has no end of its own.
            false => last.unwrap_or(open.start),
        };
        let value = if open.is_special {
            Value::Other("special".to_owned())
        } else if open.is_map {
            Value::Map(members(open.nodes))
        } else {
            Value::List(open.nodes)
        };
        self.add(Node {
            span: open.start..end.max(open.start),
            value,
        });
    }

    fn add(&mut self, node: Node) {
        match self.open.last_mut() {
            Some(open) => open.nodes.push(node),
            None => self.root = Some(node),
        }
    }
}

/// Names and values come one after the other. A name that isn't a text has no use here, and can't be taken for one.
fn members(nodes: Vec<Node>) -> Vec<Member> {
    let mut members = Vec::new();
    let mut nodes = nodes.into_iter();
    while let (Some(key), Some(node)) = (nodes.next(), nodes.next()) {
        let name = match key.value {
            Value::Text(name) => name,
            _ => String::from("\0"),
        };
        members.push(Member {
            name,
            key: key.span,
            node,
        });
    }
    members
}
