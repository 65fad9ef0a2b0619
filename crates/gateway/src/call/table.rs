//! Calls, and what every message wants to know of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use crate::moment::Moment;
use midcall_core::wire::LogLevel;

use super::{Call, CallId, CallKind, LegacyTask, Name, Origin, ServerId, Stage, TellBy};
use crate::frame::Id;

/// A table of calls. What is looked for with every message is found without looking at each.
#[derive(Default)]
pub struct Calls {
    table: BTreeMap<CallId, Call>,
    last: u64,
    index: Index,
    sweeps: Sweeps,
    /// Names that came or went, or lead to a call that is over by now.
    pub renamed: Vec<Name>,
    /// Calls with a key that changed or went.
    pub touched: Vec<CallId>,
}

/// Calls by what they are looked for by.
#[derive(Default, PartialEq, Debug)]
struct Index {
    /// By the ids of the client's open requests, and of those that it was told to collect the results of.
    ids: HashMap<Id, CallId>,
    /// By the ids that a server answers by.
    at_server: HashMap<(ServerId, Id), CallId>,
    /// By what a server says its progress by.
    tokens: BTreeSet<(Id, CallId)>,
    /// By what the client comes back with.
    names: HashMap<Name, CallId>,
    /// Those that a server has, the oldest first.
    open_at: BTreeSet<(ServerId, CallId)>,
    waited: Waited,
    /// How many calls of each tool a server has.
    tools: BTreeMap<ToolAt, usize>,
    /// How many calls Midcall makes each task of a server for (2025-11-25).
    tasks: HashMap<String, usize>,
    /// Those in which the client can be asked something, the one that the next question goes to first.
    askable: BTreeSet<(Ability, Order, CallId)>,
}

/// Calls by the server that has them, the oldest first.
type CallsAt = BTreeSet<(ServerId, CallId)>;

/// Whether a call is one of some.
type Belongs = fn(&Call) -> bool;

/// Calls that a server has, by who waits for them.
#[derive(Default, PartialEq, Debug)]
struct Waited {
    /// Those whose results some request collects.
    collected: CallsAt,
    /// Those of tools that the client waits for by the request that made them.
    by_maker: CallsAt,
    /// The same, and those that it may come back for.
    tellable: CallsAt,
}

/// What has to be done about calls at some time, and how many there are of a kind.
#[derive(Default, PartialEq, Debug)]
struct Sweeps {
    /// Those whose client may be told to come back, by since when it waits.
    held: BTreeSet<(Moment, CallId)>,
    /// When something is to be done about them.
    due: BTreeSet<(Moment, CallId)>,
    /// Those that are over, by until when their results are kept.
    done: BTreeSet<(Moment, CallId)>,
    /// Those that aren't over and needed links followed.
    linked: BTreeSet<CallId>,
    /// Those whose clients wait and want to read a server's log, the one that wants most first.
    loud: BTreeSet<(ServerId, LogLevel, CallId)>,
    counts: Counts,
}

/// How many calls there are of each kind.
#[derive(Default, PartialEq, Debug)]
struct Counts {
    /// How long the results are together that are kept.
    bytes: usize,
    /// Those that aren't over.
    open: usize,
    /// Those of these whose results a legacy client was told to collect.
    let_go: usize,
    /// Those of these that pause because a person is busy with what a link leads to.
    await_links: usize,
    /// Those that were taken back and may still be answered.
    cancelled: usize,
    /// Those of which somebody wants to hear progress, be they told to come back or not.
    followed: usize,
}

/// A tool of a server, by its name as JSON.
type ToolAt = (ServerId, Option<Box<[u8]>>);

/// What a client can be asked in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ability {
    Form,
    Url,
    Sampling,
    Roots,
}

/// The order in which calls are asked: those with a waiting client first, then those with few questions.
type Order = (bool, bool);

/// How many questions the client gets in one call before other calls are preferred. Clients give up a call that asks
/// too often, even if the questions belong to another call.
const ENOUGH: usize = 8;

/// How many results are kept, and how many bytes of them, unless one alone has more.
const MOST_DONE: usize = 256;
const MOST_DONE_BYTES: usize = 16 * 1024 * 1024;

impl Calls {
    pub fn open(&mut self, call: Call) -> CallId {
        let id = self.next();
        self.last += 1;
        self.add(id, call);
        id
    }

    /// The number of the next call.
    pub fn next(&self) -> CallId {
        CallId(self.last + 1)
    }

    pub fn get(&self, id: CallId) -> Option<&Call> {
        #[cfg(test)]
        super::ledger::look();
        self.table.get(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (CallId, &Call)> {
        let each = self.table.iter();
        #[cfg(test)]
        let each = each.inspect(|_| super::ledger::look());
        each.map(|(id, call)| (*id, call))
    }

    /// Changes a call, and gives what came of that.
    pub fn change<T>(&mut self, id: CallId, change: impl FnOnce(&mut Call) -> T) -> Option<T> {
        let mut call = self.take(id)?;
        let before = named(&call);
        let changed = change(&mut call);
        let after = named(&call);
        if before != after {
            self.renamed.extend(before.0.into_iter().chain(after.0));
        }
        self.add(id, call);
        Some(changed)
    }

    /// Takes a server's progress for a call. Returns the progress to tell the client instead, if the server's doesn't rise.
    pub fn hear(&mut self, id: CallId, progress: f64) -> Option<f64> {
        self.table.get_mut(&id)?.audience.hear(progress)
    }

    /// Moves every call on a little whose client wants to hear of that: by which token, and how far it is.
    pub fn move_on(&mut self) -> impl Iterator<Item = (Box<[u8]>, f64)> {
        self.table.values_mut().flat_map(|call| {
            let waiters = call.audience.waiters().iter();
            let tokens: Vec<Box<[u8]>> =
                waiters.filter_map(|waiter| waiter.token.clone()).collect();
            let progress = (!tokens.is_empty()).then(|| call.audience.move_on());
            tokens
                .into_iter()
                .filter_map(move |token| Some((token, progress?)))
        })
    }

    /// Forgets a call.
    pub fn close(&mut self, id: CallId) -> Option<Call> {
        let call = self.take(id)?;
        self.renamed.extend(names(&call));
        Some(call)
    }

    fn take(&mut self, id: CallId) -> Option<Call> {
        let call = self.table.remove(&id)?;
        if call.key.is_some() {
            self.touched.push(id);
        }
        self.index.remove(id, &call);
        self.sweeps.remove(id, &call);
        Some(call)
    }

    fn add(&mut self, id: CallId, call: Call) {
        self.index.add(id, &call);
        self.sweeps.add(id, &call);
        self.table.insert(id, call);
    }

    /// The call that a request of the client waits for, or that the client takes back by this id.
    pub fn by_id(&self, id: &Id) -> Option<CallId> {
        self.index.ids.get(id).copied()
    }

    /// The call that a server answers by an id.
    pub fn at_server(&self, server: ServerId, id: &Id) -> Option<CallId> {
        self.index.at_server.get(&(server, id.clone())).copied()
    }

    /// The call that a server speaks of by a token, as JSON.
    pub fn by_token(&self, token: &[u8]) -> Option<CallId> {
        let token = Id::read(token)?;
        let all = (token.clone(), CallId(0))..=(token, CallId(u64::MAX));
        self.index.tokens.range(all).next_back().map(|(_, id)| *id)
    }

    pub fn named(&self, name: Name) -> Option<CallId> {
        self.index.names.get(&name).copied()
    }

    /// True if a task of 2025-11-25 runs for a call, unknown to the client.
    pub fn runs_task(&self, task: &str) -> bool {
        self.index.tasks.contains_key(task)
    }

    /// Those that a server has, the oldest first.
    pub fn open_at(&self, server: ServerId) -> impl Iterator<Item = CallId> {
        let all = (server, CallId(0))..=(server, CallId(u64::MAX));
        self.index.open_at.range(all).map(|(_, id)| *id)
    }

    /// The calls that a question can have come up in and that its server still has, the oldest first.
    pub fn candidates(&self, origin: Origin) -> impl Iterator<Item = CallId> {
        let (only, before) = match origin {
            Origin::Only(call) => (
                self.get(call).is_some_and(Call::is_open).then_some(call),
                None,
            ),
            Origin::Before(server, next) => (None, Some((server, next))),
        };
        let before = before
            .into_iter()
            .flat_map(move |(server, next)| self.open_at(server).take_while(move |id| *id < next));
        only.into_iter().chain(before)
    }

    /// The first call that a question can have come up in and whose result some request collects.
    pub fn collected(&self, origin: Origin) -> Option<CallId> {
        self.first(origin, &self.index.waited.collected, is_collected)
    }

    /// The first call of a tool that a question can have come up in, and that its client waits for by the request which
    /// made it.
    pub fn awaited(&self, origin: Origin) -> Option<CallId> {
        self.first(origin, &self.index.waited.by_maker, is_awaited)
    }

    /// The same, or one that its client may come back for.
    pub fn tellable(&self, origin: Origin) -> Option<CallId> {
        self.first(origin, &self.index.waited.tellable, is_tellable)
    }

    /// The first call that a question can have come up in, of those that are a certain way: `found` are all of these that
    /// a server has.
    fn first(&self, origin: Origin, found: &CallsAt, is: Belongs) -> Option<CallId> {
        match origin {
            Origin::Only(id) => {
                let call = self.get(id).filter(|call| call.is_open() && is(call));
                call.map(|_| id)
            }
            Origin::Before(server, next) => {
                let mut found = found.range((server, CallId(0))..(server, next));
                found.next().map(|(_, id)| *id)
            }
        }
    }

    /// The process that works on the calls which a question can have come up in.
    pub fn server_of(&self, origin: Origin) -> ServerId {
        match origin {
            Origin::Before(server, _) => server,
            Origin::Only(call) => self.get(call).map_or(ServerId::First, |call| call.server),
        }
    }

    /// The tools that are called in calls that a question can have come up in: the name of each as JSON, and how often.
    pub fn tools(&self, origin: Origin) -> impl Iterator<Item = (Option<&[u8]>, usize)> {
        let (only, before) = match origin {
            Origin::Only(call) => (self.get(call).map(|call| &call.request), None),
            Origin::Before(server, _) => (None, Some(server)),
        };
        let only = only.filter(|request| request.kind == CallKind::Tool);
        let only = only.map(|request| (request.name.as_deref(), 1));
        let before = before.into_iter().flat_map(|server| {
            let tools = self.index.tools.range((server, None)..);
            let tools = tools.take_while(move |((at, _), _)| *at == server);
            #[cfg(test)]
            let tools = tools.inspect(|_| super::ledger::look());
            tools.map(|((_, name), count)| (name.as_deref(), *count))
        });
        only.into_iter().chain(before)
    }

    /// The call that the client is asked in: of those that a question can have come up in, the first that declared
    /// the ability. Where several clients share the server (`is_shared`), one that the server doesn't have is another's.
    pub fn askable(&self, ability: Ability, origin: Origin, is_shared: bool) -> Option<CallId> {
        let (server, next) = match origin {
            Origin::Before(server, next) => (server, next),
            Origin::Only(call) => {
                let found = self.get(call)?;
                return abilities(found).any(|it| it == ability).then_some(call);
            }
        };
        let first = (ability, (false, false), CallId(0));
        let last = (ability, (true, true), CallId(u64::MAX));
        let calls = self.index.askable.range(first..=last);
        let mut calls = calls.map(|(_, _, id)| *id).filter(|id| *id < next);
        calls.find(|id| {
            let call = self.get(*id).filter(|call| call.server == server);
            call.is_some_and(|call| !is_shared || call.is_at_server())
        })
    }

    /// Since when the first call waits whose client may be told to come back.
    pub fn held_since(&self) -> Option<Moment> {
        self.sweeps.held.first().map(|(since, _)| *since)
    }

    /// Those whose clients have waited so long.
    pub fn held(&self, hold: Duration, now: Moment) -> Vec<CallId> {
        let held = self.sweeps.held.iter();
        let long = held.take_while(|(since, _)| *since + hold <= now);
        long.map(|(_, id)| *id).collect()
    }

    /// When something is to be done about one of them.
    pub fn due_at(&self) -> Option<Moment> {
        self.sweeps.due.first().map(|(at, _)| *at)
    }

    /// Those about which something is to be done.
    pub fn due(&self, now: Moment) -> Vec<CallId> {
        let due = self.sweeps.due.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, id)| *id).collect()
    }

    /// The oldest results of which there are too many.
    pub fn surplus(&self) -> Vec<CallId> {
        let (mut left, mut bytes) = (self.sweeps.done.len(), self.sweeps.counts.bytes);
        let mut surplus = Vec::new();
        for (_, id) in &self.sweeps.done {
            if left <= 1 || (left <= MOST_DONE && bytes <= MOST_DONE_BYTES) {
                break;
            }
            if let Some(Stage::Done { result, .. }) = self.get(*id).map(Call::stage) {
                (left, bytes) = (left - 1, bytes - result.len());
                surplus.push(*id);
            }
        }
        surplus
    }

    /// How many aren't over.
    pub fn open_count(&self) -> usize {
        self.sweeps.counts.open
    }

    /// How many legacy clients were told to collect the result of.
    pub fn let_go(&self) -> usize {
        self.sweeps.counts.let_go
    }

    /// How many were taken back and may still be answered.
    pub fn cancelled(&self) -> usize {
        self.sweeps.counts.cancelled
    }

    /// True if a person is busy with what a link leads to, and a call pauses for that.
    pub fn await_links(&self) -> bool {
        self.sweeps.counts.await_links > 0
    }

    /// The link that a server calls so, and the call that needed it followed.
    pub fn linked(&self, name: &str) -> Option<(CallId, usize)> {
        let linked = self.sweeps.linked.iter();
        let mut found = linked.filter_map(|id| {
            let link = self.get(*id)?.rounds()?.links.by_id(name)?;
            Some((*id, link))
        });
        found.next()
    }

    /// The call whose client wants to read most of a server's log, and from which level on.
    pub fn loudest(&self, server: ServerId) -> Option<(LogLevel, CallId)> {
        let all = (server, LogLevel::Debug, CallId(0))..;
        let first = self.sweeps.loud.range(all).next();
        let first = first.filter(|(at, ..)| *at == server);
        first.map(|(_, level, call)| (*level, *call))
    }

    /// True if some client that waits wants to hear of progress.
    pub fn are_followed(&self) -> bool {
        self.sweeps.counts.followed > 0
    }

    /// Compares the indexes with what they are made of.
    #[cfg(test)]
    pub fn check(&self) {
        let (mut index, mut sweeps) = (Index::default(), Sweeps::default());
        for (id, call) in &self.table {
            index.add(*id, call);
            sweeps.add(*id, call);
        }
        assert_eq!(self.sweeps, sweeps);
        assert_eq!(self.index, index);
    }
}

impl Index {
    fn add(&mut self, id: CallId, call: &Call) {
        for client_id in client_ids(call) {
            self.ids.insert(client_id.clone(), id);
        }
        for at in call.server_ids() {
            self.at_server.insert((call.server, at.clone()), id);
        }
        if let Some(token) = token(call) {
            self.tokens.insert((token, id));
        }
        for name in names(call) {
            self.names.insert(name, id);
        }
        for (index, is) in self.waited.each() {
            if call.is_at_server() && is(call) {
                index.insert((call.server, id));
            }
        }
        if call.is_at_server() {
            self.open_at.insert((call.server, id));
            if call.request.kind == CallKind::Tool {
                let tool = (call.server, call.request.name.clone());
                *self.tools.entry(tool).or_default() += 1;
            }
        }
        if let Some(task) = legacy_task(call) {
            *self.tasks.entry(task.to_owned()).or_default() += 1;
        }
        for ability in abilities(call) {
            self.askable.insert((ability, order(call), id));
        }
    }

    fn remove(&mut self, id: CallId, call: &Call) {
        for client_id in client_ids(call) {
            self.ids.remove(client_id);
        }
        for at in call.server_ids() {
            self.at_server.remove(&(call.server, at.clone()));
        }
        if let Some(token) = token(call) {
            self.tokens.remove(&(token, id));
        }
        for name in names(call) {
            self.names.remove(&name);
        }
        for (index, _) in self.waited.each() {
            index.remove(&(call.server, id));
        }
        if call.is_at_server() {
            self.open_at.remove(&(call.server, id));
            let tool = (call.server, call.request.name.clone());
            if call.request.kind == CallKind::Tool
                && let Some(count) = self.tools.get_mut(&tool)
            {
                *count -= 1;
                if *count == 0 {
                    self.tools.remove(&tool);
                }
            }
        }
        if let Some(task) = legacy_task(call)
            && let Some(count) = self.tasks.get_mut(task)
        {
            *count -= 1;
            if *count == 0 {
                self.tasks.remove(task);
            }
        }
        for ability in abilities(call) {
            self.askable.remove(&(ability, order(call), id));
        }
    }
}

impl Waited {
    /// Each set, and which calls are in it.
    fn each(&mut self) -> [(&mut CallsAt, Belongs); 3] {
        [
            (&mut self.collected, is_collected),
            (&mut self.by_maker, is_awaited),
            (&mut self.tellable, is_tellable),
        ]
    }
}

impl Sweeps {
    fn add(&mut self, id: CallId, call: &Call) {
        self.held.extend(held(call).map(|since| (since, id)));
        self.due.extend(call.due().map(|at| (at, id)));
        if let Stage::Done { until, .. } = call.stage() {
            self.done.insert((*until, id));
        }
        self.linked.extend(is_linked(call).then_some(id));
        self.loud.extend(loud(id, call));
        for (count, of_call) in self.counts.each(call) {
            *count += of_call;
        }
    }

    fn remove(&mut self, id: CallId, call: &Call) {
        if let Some(since) = held(call) {
            self.held.remove(&(since, id));
        }
        if let Some(at) = call.due() {
            self.due.remove(&(at, id));
        }
        if let Stage::Done { until, .. } = call.stage() {
            self.done.remove(&(*until, id));
        }
        if is_linked(call) {
            self.linked.remove(&id);
        }
        if let Some(loud) = loud(id, call) {
            self.loud.remove(&loud);
        }
        for (count, of_call) in self.counts.each(call) {
            *count -= of_call;
        }
    }
}

impl Counts {
    /// Each count, and what a call adds to it.
    fn each(&mut self, call: &Call) -> [(&mut usize, usize); 6] {
        let (bytes, is_cancelled) = match call.stage() {
            Stage::Done { result, .. } => (result.len(), false),
            stage => (0, matches!(stage, Stage::Cancelled { .. })),
        };
        [
            (&mut self.bytes, bytes),
            (&mut self.open, call.is_open().into()),
            (&mut self.let_go, is_let_go(call).into()),
            (&mut self.await_links, call.awaits_link().into()),
            (&mut self.cancelled, is_cancelled.into()),
            (&mut self.followed, followed(call)),
        ]
    }
}

/// True if some request collects its result.
fn is_collected(call: &Call) -> bool {
    let mut waiters = call.audience.waiters().iter();
    waiters.any(|waiter| waiter.until.is_some())
}

/// True if it is a tool's, and its client waits for it by the request that made it.
fn is_awaited(call: &Call) -> bool {
    call.request.kind == CallKind::Tool && call.audience.maker().is_some()
}

/// True if it is a tool's, and its client waits for it or may come back.
fn is_tellable(call: &Call) -> bool {
    let is_tool = call.request.kind == CallKind::Tool;
    is_awaited(call) || (is_tool && call.audience.has_names())
}

/// The ids of the client that lead to a call.
fn client_ids(call: &Call) -> impl Iterator<Item = &Id> {
    let waiters = call.audience.waiters();
    // A legacy client takes a call back by the id that it gave it, though it was told to collect the result.
    let is_kept =
        call.request.told == TellBy::Requests && call.is_open() && call.audience.maker().is_none();
    let first = is_kept.then_some(&call.request.id);
    waiters.iter().map(|waiter| &waiter.id).chain(first)
}

/// What a client can come back for a call by. For one that was taken back, nobody can.
fn names(call: &Call) -> impl Iterator<Item = Name> {
    let is_cancelled = matches!(call.stage(), Stage::Cancelled { .. });
    call.audience.all_names().filter(move |_| !is_cancelled)
}

/// The same, until when its result is kept, and whether somebody has it.
fn named(call: &Call) -> (Vec<Name>, Option<Moment>, bool) {
    let names = names(call).collect();
    (names, call.kept_until(), call.audience.has_result)
}

/// The task of 2025-11-25 that runs for a call, unknown to the client.
fn legacy_task(call: &Call) -> Option<&str> {
    match &call.sent()?.task {
        Some(LegacyTask::Running(task)) => Some(task),
        Some(LegacyTask::Starting) | None => None,
    }
}

/// What a server says its progress by. Peers write tokens again as they do ids.
fn token(call: &Call) -> Option<Id> {
    let token = call.request.token.as_deref().filter(|_| call.is_open());
    Id::read(token?)
}

fn held(call: &Call) -> Option<Moment> {
    let may = call.is_open() && call.request.kind.can_ask() && !call.hands_off;
    call.audience
        .maker()
        .filter(|_| may)
        .map(|waiter| waiter.since)
}

fn is_let_go(call: &Call) -> bool {
    call.is_open() && call.request.told == TellBy::Requests && call.audience.maker().is_none()
}

fn is_linked(call: &Call) -> bool {
    call.is_open() && call.rounds().is_some_and(|it| !it.links.all.is_empty())
}

fn loud(id: CallId, call: &Call) -> Option<(ServerId, LogLevel, CallId)> {
    Some((call.server, call.log_level()?, id))
}

fn followed(call: &Call) -> usize {
    let collectors = call
        .audience
        .waiters()
        .iter()
        .filter(|waiter| waiter.until.is_some());
    let collectors = collectors.filter(|waiter| waiter.token.is_some()).count();
    collectors + usize::from(call.is_open() && call.request.token.is_some())
}

/// What the client can be asked in a call.
fn abilities(call: &Call) -> impl Iterator<Item = Ability> {
    let can = call.is_open() && call.request.told == TellBy::Results && call.request.kind.can_ask();
    let declared = call.audience.declared.as_ref().filter(|_| can);
    declared.into_iter().flat_map(|declared| {
        let all = [
            (declared.modes.form, Ability::Form),
            (declared.modes.url, Ability::Url),
            (declared.sampling, Ability::Sampling),
            (declared.roots, Ability::Roots),
        ];
        all.into_iter()
            .filter_map(|(has, ability)| has.then_some(ability))
    })
}

fn order(call: &Call) -> Order {
    (
        call.audience.waiters().is_empty(),
        call.audience.asked >= ENOUGH,
    )
}
