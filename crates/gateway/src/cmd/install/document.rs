//! A client's configuration as it was read, and as it will read after a change.
//!
//! No change leaves here before it was read again: the servers that were to change start as they should, and
//! everything else says what it said.

use super::client::{Client, Shape};
use super::edit::{Sheet, apply};
use super::entry::{Entry, Start, entries, holder, repeated};
use super::rewrite::Rewrite;
use super::tree::{Member, Node, Value};
use super::trouble::Trouble;

/// The text of a client's configuration, and what's in it.
pub struct Document {
    pub text: String,
    pub client: &'static Client,
    root: Option<Node>,
}

/// What happens to a server.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    Wrap,
    /// Back to how it was before, if that's known.
    Unwrap(Option<&'a Node>),
    /// The program has moved.
    Repoint,
}

/// A server by the names that lead to it.
pub type Path = Vec<String>;

impl Document {
    /// Reads a text.
    pub fn read(text: String, client: &'static Client) -> Result<Self, Trouble> {
        let root = client.shape.format.read(&text).map_err(Trouble::Broken)?;
        if let Some(name) = root.as_ref().and_then(|root| repeated(root, &client.shape)) {
            return Err(Trouble::Twice(name));
        }
        Ok(Self { text, client, root })
    }

    /// The servers in it.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let root = self.root.as_ref();
        root.map_or_else(Vec::new, |root| entries(root, self.shape()))
    }

    /// The folders that this client keeps settings for.
    pub fn projects(&self) -> impl Iterator<Item = &str> {
        let projects = self.root.as_ref().and_then(|root| root.member("projects"));
        let members = projects.map_or(&[][..], |projects| projects.node.members());
        members.iter().map(|project| project.name.as_str())
    }

    /// The text after some changes.
    pub fn change(&self, changes: &[(Path, Change<'_>)], program: &str) -> Result<String, Trouble> {
        let sheet = Sheet {
            text: &self.text,
            format: self.shape().format,
        };
        let entries = self.entries();
        let mut edits = Vec::new();
        for (path, change) in changes {
            let entry = entries.iter().find(|entry| entry.path == *path);
            let entry = entry.ok_or(Trouble::Unsure)?;
            let rewrite = Rewrite {
                sheet,
                shape: self.shape(),
                entry,
            };
            edits.extend(match change {
                Change::Wrap => rewrite.wrap(program),
                Change::Unwrap(was) => rewrite.unwrap(*was),
                Change::Repoint => rewrite.repoint(program),
            });
        }
        let text = apply(&self.text, edits);
        match self.leads_to(&text, changes, program) {
            true => Ok(text),
            false => Err(Trouble::Unsure),
        }
    }

    /// True if a text is this one after the changes, and nothing else.
    fn leads_to(&self, text: &str, changes: &[(Path, Change<'_>)], program: &str) -> bool {
        let Ok(after) = Self::read(text.to_owned(), self.client) else {
            return false;
        };
        let (entries, after_entries) = (self.entries(), after.entries());
        let are_right = changes.iter().all(|(path, change)| {
            let find = |entries: &[Entry<'_>]| entries.iter().position(|entry| entry.path == *path);
            match (find(&entries), find(&after_entries)) {
                (Some(one), Some(other)) => {
                    let (one, other) = (&entries[one], &after_entries[other]);
                    self.became(one, other, *change, program)
                }
                _ => false,
            }
        });
        let is_remote = |path: &Path| {
            let entry = entries.iter().find(|entry| entry.path == *path);
            entry.is_some_and(|entry| entry.start.is_remote())
        };
        let changed = changes.iter().map(|(path, _)| (path, is_remote(path)));
        let changed: Vec<(&Path, bool)> = changed.collect();
        let rest = |document: &Self| {
            let root = document.root.as_ref();
            root.map(|root| self.without(root, &mut Vec::new(), &changed))
        };
        let is_rest_same = match (rest(self), rest(&after)) {
            (Some(one), Some(other)) => one.same(&other),
            (one, other) => one.is_none() && other.is_none(),
        };
        are_right && is_rest_same
    }

    /// True if an entry became what a change makes of it.
    fn became(
        &self,
        before: &Entry<'_>,
        after: &Entry<'_>,
        change: Change<'_>,
        program: &str,
    ) -> bool {
        match (&before.start, &after.start, change) {
            (
                Start::Command(_),
                Start::Wrapped {
                    program: named,
                    server,
                    ..
                },
                Change::Wrap,
            ) => named == program && **server == before.start,
            (
                Start::Remote { url, headers },
                Start::Wrapped {
                    program: named,
                    server,
                    ..
                },
                Change::Wrap,
            ) => {
                named == program
                    && matches!(&**server, Start::Remote { url: now, .. } if now == url)
                    && self.lines(after) == join(headers)
            }
            (Start::Wrapped { server, .. }, now, Change::Unwrap(was)) => match (&**server, now) {
                (Start::Remote { url, .. }, Start::Remote { url: now, headers }) => {
                    let had = was.and_then(|was| was.member(self.shape().headers));
                    let count = had.map_or(0, |had| had.node.members().len());
                    url == now
                        && (self.lines(before) == join(headers))
                        && headers.len() >= count.min(1)
                }
                (server, now) => server == now,
            },
            (
                Start::Wrapped { server, .. },
                Start::Wrapped {
                    program: named,
                    server: now,
                    ..
                },
                Change::Repoint,
            ) => named == program && server == now,
            _ => false,
        }
    }

    /// The headers that a wrapped server gets, one per line.
    fn lines(&self, entry: &Entry<'_>) -> String {
        let env = entry.node.member(self.shape().env);
        let lines = env.and_then(|env| env.node.member("MIDCALL_HEADER")?.node.text());
        lines.unwrap_or_default().to_owned()
    }

    /// A copy without what a change may touch in some entries, each with whether it's of a remote server.
    fn without(&self, node: &Node, path: &mut Path, changed: &[(&Path, bool)]) -> Node {
        let change = changed.iter().find(|(changed, _)| *changed == path);
        let is_touched =
            |name: &str| change.is_some_and(|(_, is_remote)| self.touches(node, name, *is_remote));
        let value = match &node.value {
            Value::Map(members) => {
                let kept = members.iter().filter(|one| !is_touched(&one.name));
                Value::Map(
                    kept.map(|one| self.without_member(one, path, changed))
                        .collect(),
                )
            }
            Value::List(items) => {
                let copies = items.iter().map(|item| {
                    let name = item.member("name").and_then(|name| name.node.text());
                    path.push(name.unwrap_or_default().to_owned());
                    let copy = self.without(item, path, changed);
                    path.pop();
                    copy
                });
                Value::List(copies.collect())
            }
            value => value.clone(),
        };
        Node {
            span: node.span.clone(),
            value,
        }
    }

    fn without_member(
        &self,
        member: &Member,
        path: &mut Path,
        changed: &[(&Path, bool)],
    ) -> Member {
        path.push(member.name.clone());
        let node = self.without(&member.node, path, changed);
        path.pop();
        Member {
            name: member.name.clone(),
            key: member.key.clone(),
            node,
        }
    }

    /// True if a change of an entry may touch a member of it.
    fn touches(&self, entry: &Node, name: &str, is_remote: bool) -> bool {
        let shape = self.shape();
        let is_flat = std::ptr::eq(holder(entry, shape), entry);
        name == shape.command
            || is_flat && name == shape.args
            || is_remote
                && ([shape.env, shape.headers, "type"].contains(&name)
                    || shape.urls.contains(&name))
    }

    fn shape(&self) -> &'static Shape {
        &self.client.shape
    }
}

fn join(headers: &[(String, String)]) -> String {
    let lines: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    lines.join("\n")
}
