//! The tools of a server as its clients see them, with ours beside them.

use std::borrow::Cow;
use std::collections::VecDeque;

use midcall_core::model::{AddedTool, KnownTools, ToolHints, ToolList, await_tool, send_tool};

use crate::frame::Frame;

/// What a person's client knows of a server's tools, and what ours are called beside them. A client that opens a session for
/// every request has heard of them in an earlier one.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The server's own, and what they say of themselves.
    theirs: KnownTools,
    await_: Cow<'static, str>,
    send: Cow<'static, str>,
    /// What ours were called before the server had a tool of that name, the latest first.
    before: VecDeque<(Cow<'static, str>, AddedTool)>,
    /// Whether the client has been shown ours. Before that, whatever it calls is the server's.
    shown: bool,
    /// True if others haven't been told yet what was learned.
    has_changed: bool,
}

/// Which tools are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    pub await_: bool,
    pub send: bool,
    /// How long a call of one waits unless it says otherwise, in seconds.
    pub wait: f64,
    /// Whether lists say who may keep them, and for how long.
    pub has_cache_hints: bool,
}

/// A tool that a client calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Called {
    /// The server's.
    Theirs,
    Ours(AddedTool),
    /// The server's now, by a name that ours had when the client was told of it. It is ours if the call brings a secret
    /// that Midcall gave out.
    Either(AddedTool),
}

/// How many former names of ours are remembered.
const FORMER: usize = 16;

impl Default for Tools {
    fn default() -> Self {
        Self {
            theirs: KnownTools::default(),
            await_: AddedTool::Await.name().into(),
            send: AddedTool::Send.name().into(),
            before: VecDeque::new(),
            shown: false,
            has_changed: false,
        }
    }
}

impl Tools {
    /// What the tool is called that collects results. Whoever is told of it may call it.
    pub fn await_name(&mut self) -> Cow<'static, str> {
        self.shows();
        self.await_.clone()
    }

    /// What the tool is called that answers for a person.
    pub fn send_name(&mut self) -> Cow<'static, str> {
        self.shows();
        self.send.clone()
    }

    /// Whose tool a call means, by its name as JSON.
    pub fn called(&self, name: Option<&[u8]>) -> Called {
        let name = name.filter(|_| self.shown);
        let Some(name) = name.and_then(|name| serde_json::from_slice::<String>(name).ok()) else {
            return Called::Theirs;
        };
        let now = [
            (&self.await_, AddedTool::Await),
            (&self.send, AddedTool::Send),
        ];
        let mut ours = now
            .into_iter()
            .chain(self.before.iter().map(|(name, tool)| (name, *tool)));
        match ours.find(|(ours, _)| **ours == name) {
            Some((_, tool)) if self.theirs.has(&name) => Called::Either(tool),
            Some((_, tool)) => Called::Ours(tool),
            None => Called::Theirs,
        }
    }

    /// What a tool of the server says of itself, by its name as JSON.
    pub fn hints(&self, name: Option<&[u8]>) -> ToolHints {
        let name = name.and_then(|name| serde_json::from_slice::<String>(name).ok());
        name.map(|name| self.theirs.hints(&name))
            .unwrap_or_default()
    }

    /// Whether a tool may promise structured content, by its name as JSON. What a client is told instead of its result has
    /// to keep that promise.
    pub fn may_be_structured(&self, name: Option<&[u8]>) -> bool {
        let name = name.and_then(|name| serde_json::from_slice::<String>(name).ok());
        name.is_none_or(|name| self.theirs.may_be_structured(&name))
    }

    /// Learns what the server's tools say of themselves.
    pub fn learn(&mut self, list: &ToolList) {
        list.teach(&mut self.theirs);
        self.has_changed = true;
    }

    /// All that is known by now, if others haven't been told.
    pub fn learned(&mut self) -> Option<Self> {
        std::mem::take(&mut self.has_changed).then(|| self.clone())
    }

    /// A list of tools as the client is shown it, if that differs: with ours at its end, and then with output schemas that
    /// a result which asks or waits fits, too. Nobody keeps such a list: it is for this client. A tool that is called as a
    /// task for clients that cannot do so need not be one for them.
    pub fn listed(&mut self, frame: &Frame, mut list: ToolList, added: Added) -> Option<Frame> {
        let adds = added.await_ || added.send;
        if !list.make_tasks_optional() && !adds {
            return None;
        }
        if adds {
            list.widen_output_schemas();
            list.make_private(added.has_cache_hints);
        }
        if adds && list.is_last() {
            self.shows();
            if added.await_ {
                list.add(await_tool(&self.await_, added.wait));
            }
            if added.send {
                list.add(send_tool(&self.send));
            }
        }
        let result = serde_json::to_string(&list.into_result()).ok()?;
        frame.with(&["result"], &result)
    }

    /// The client is shown our tools, by names that no tool of the server has.
    fn shows(&mut self) {
        for (tool, name) in [
            (AddedTool::Await, &mut self.await_),
            (AddedTool::Send, &mut self.send),
        ] {
            let free = self.theirs.name_of(tool);
            if *name == free {
                continue;
            }
            let before = std::mem::replace(name, free);
            if self.shown {
                self.before.truncate(FORMER - 1);
                self.before.push_front((before, tool));
            }
            self.has_changed = true;
        }
        self.has_changed |= !self.shown;
        self.shown = true;
    }
}
