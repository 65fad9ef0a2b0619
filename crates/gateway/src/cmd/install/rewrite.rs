//! The edits that put `midcall wrap` in front of a server, take it away again, and name another program.

use super::client::Shape;
use super::edit::{Edit, Sheet, replace};
use super::entry::{Entry, Start, address, command_name, holder};
use super::tree::{Member, NULL, Node, Value};

/// The variable that `midcall wrap` reads headers from. In the arguments, other people on the machine could see them.
const HEADERS: &str = "MIDCALL_HEADER";

/// An entry, and how its client writes.
#[derive(Clone, Copy)]
pub struct Rewrite<'a> {
    pub sheet: Sheet<'a>,
    pub shape: &'a Shape,
    pub entry: &'a Entry<'a>,
}

impl Rewrite<'_> {
    /// Puts `midcall wrap` in front.
    pub fn wrap(&self, program: &str) -> Vec<Edit> {
        match &self.entry.start {
            Start::Command(_) => self.wrap_command(program),
            Start::Remote { headers, .. } => self.wrap_remote(program, headers),
            Start::Wrapped { .. } | Start::Other(_) => Vec::new(),
        }
    }

    /// Names another program in front of a wrapped server.
    pub fn repoint(&self, program: &str) -> Vec<Edit> {
        let Some((_, command)) = self.command() else {
            return Vec::new();
        };
        let word = match command.node.items() {
            Some(items) => &items[0],
            None => &command.node,
        };
        vec![replace(&word.span, self.quote(program))]
    }

    /// Takes `midcall wrap` away. `was` is the entry as it was before.
    pub fn unwrap(&self, was: Option<&Node>) -> Vec<Edit> {
        match &self.entry.start {
            Start::Wrapped { server, own, .. } => match (&**server, was) {
                (Start::Command(_), _) => self.unwrap_command(*own, was),
                (Start::Remote { .. }, Some(was)) => self.unwrap_remote(was),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn wrap_command(&self, program: &str) -> Vec<Edit> {
        let Some((holder, command)) = self.command() else {
            return Vec::new();
        };
        let own = ["wrap", "--"].map(|word| self.quote(word));
        if self.shape.is_one_list {
            let mut words = vec![self.quote(program)];
            words.extend(own);
            return vec![self.sheet.put_first(&command.node, &words)];
        }
        let mut words = own.to_vec();
        words.push(self.sheet.movable(&command.node));
        let args = match holder.member(self.shape.args) {
            Some(args) if args.node.items().is_some() => self.sheet.put_first(&args.node, &words),
            Some(args) => self.sheet.set(args, &format!("[{}]", words.join(", "))),
            None => {
                let list = format!("[{}]", words.join(", "));
                self.sheet
                    .put_after(holder, command, self.shape.args, &list)
            }
        };
        vec![replace(&command.node.span, self.quote(program)), args]
    }

    fn unwrap_command(&self, own: usize, was: Option<&Node>) -> Vec<Edit> {
        let Some((holder, command)) = self.command() else {
            return Vec::new();
        };
        if self.shape.is_one_list {
            return vec![self.sheet.drop_first(&command.node, own + 1)];
        }
        let Some(args) = holder.member(self.shape.args) else {
            return Vec::new();
        };
        let items = args.node.items().unwrap_or_default();
        let program = self.sheet.raw(&items[own]);
        let was = was.map(|was| super::entry::holder(was, self.shape));
        let had = was.map(|was| was.member(self.shape.args));
        let edit = match had {
            Some(None) if items.len() == own + 1 => self.sheet.remove(holder, args),
            Some(Some(had)) if items.len() == own + 1 && is_null(&had.node) => {
                let null = if had.node.span.is_empty() { "" } else { NULL };
                self.sheet.set(args, null)
            }
            _ => self.sheet.drop_first(&args.node, own + 1),
        };
        vec![replace(&command.node.span, program), edit]
    }

    fn wrap_remote(&self, program: &str, headers: &[(String, String)]) -> Vec<Edit> {
        let entry = self.entry.node;
        let Some(url) = address(entry, self.shape).and_then(|name| entry.member(name)) else {
            return Vec::new();
        };
        let mut edits = vec![replace(&url.key, self.key(self.shape.command))];
        let mut words = vec![self.quote(program)];
        words.extend(["wrap", "--url"].map(|word| self.quote(word)));
        words.push(self.sheet.movable(&url.node));
        if self.shape.is_one_list {
            edits.push(replace(&url.node.span, format!("[{}]", words.join(", "))));
        } else {
            edits.push(replace(&url.node.span, &*words[0]));
            let list = format!("[{}]", words[1..].join(", "));
            edits.push(self.sheet.put_after(entry, url, self.shape.args, &list));
        }
        if let Some(kind) = entry.member("type") {
            edits.push(replace(&kind.node.span, self.quote(self.shape.stdio)));
        }
        if !headers.is_empty() {
            edits.extend(self.wrap_headers(headers));
        }
        edits
    }

    /// Headers go into the environment, and take the place of the headers unless there is an environment already.
    fn wrap_headers(&self, headers: &[(String, String)]) -> Vec<Edit> {
        let entry = self.entry.node;
        let lines: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let value = self.quote(&lines.join("\n"));
        if let Some(env) = entry.member(self.shape.env) {
            return vec![self.sheet.refill(&env.node, HEADERS, &value)];
        }
        let Some(member) = entry.member(self.shape.headers) else {
            return Vec::new();
        };
        vec![
            replace(&member.key, self.key(self.shape.env)),
            self.sheet.refill(&member.node, HEADERS, &value),
        ]
    }

    fn unwrap_remote(&self, was: &Node) -> Vec<Edit> {
        let entry = self.entry.node;
        let (Some((_, command)), Some(name)) = (self.command(), address(was, self.shape)) else {
            return Vec::new();
        };
        let list = match self.shape.is_one_list {
            true => Some(command),
            false => entry.member(self.shape.args),
        };
        let Some(url) = list.and_then(|list| list.node.items()?.last()) else {
            return Vec::new();
        };
        let mut edits = vec![
            replace(&command.key, self.key(name)),
            replace(&command.node.span, self.sheet.raw(url)),
        ];
        if let Some(args) = entry
            .member(self.shape.args)
            .filter(|_| !self.shape.is_one_list)
        {
            edits.push(self.sheet.remove(entry, args));
        }
        let text = |node: &Node| {
            node.member("type")
                .and_then(|one| one.node.text().map(str::to_owned))
        };
        if let (Some(kind), Some(had)) = (entry.member("type"), text(was)) {
            edits.push(replace(&kind.node.span, self.quote(&had)));
        }
        edits.extend(self.unwrap_headers(was));
        edits
    }

    fn unwrap_headers(&self, was: &Node) -> Vec<Edit> {
        let Some(env) = self.entry.node.member(self.shape.env) else {
            return Vec::new();
        };
        let lines = env.node.member(HEADERS).and_then(|one| one.node.text());
        let (Some(lines), 1) = (lines, env.node.members().len()) else {
            return Vec::new();
        };
        if was.member(self.shape.env).is_some() {
            return vec![self.sheet.remove(&env.node, &env.node.members()[0])];
        }
        let colon = self.sheet.format.colon();
        let members = lines.split('\n').filter_map(|line| line.split_once(": "));
        let members: Vec<String> = members
            .map(|(name, value)| format!("{}{colon}{}", self.quote(name), self.quote(value)))
            .collect();
        let one = &env.node.members()[0];
        let between = match self.sheet.is_flow(&env.node, '{') {
            true => ", ".to_owned(),
            false => self.sheet.new_line(one.key.start),
        };
        vec![
            replace(&env.key, self.key(self.shape.headers)),
            replace(&(one.key.start..one.node.span.end), members.join(&between)),
        ]
    }

    /// The member with the program, and the map it's in.
    fn command(&self) -> Option<(&Node, &Member)> {
        let holder = holder(self.entry.node, self.shape);
        let command = holder.member(command_name(self.entry.node, self.shape))?;
        Some((holder, command))
    }

    fn quote(&self, text: &str) -> String {
        self.sheet.format.quote(text)
    }

    fn key(&self, name: &str) -> String {
        self.sheet.format.key(name)
    }
}

fn is_null(node: &Node) -> bool {
    matches!(&node.value, Value::Other(null) if null == NULL)
}
