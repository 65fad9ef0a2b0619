//! Calls are written down before anything leaves that depends on it.
//!
//! A call has a record from the time when its client is told to come back: before, nobody could come for what another
//! process makes of it. From then on, nothing leaves before the record says so: no name for the client, nothing that
//! brings the server an answer or repeats the call, no question for the desk, no result. The session holds these back,
//! and the relay never waits for a store. At most one save of a call is under way; what changes meanwhile is in the next.
//!
//! In: [`Session::tells`], and what became of each save. Out: [`Output::Save`], [`Output::Forget`], and what was held.
//! Elsewhere: what a record says (`call::Record`), how another process goes on with it (`adopt`).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use midcall_core::wire::{code, meta};
use midcall_desk::TicketId;
use ring::digest::{SHA256, digest};

use super::{Out, Output, Session};
use crate::call::{
    AtClient, Call, CallId, CallKey, CallKind, Place, Question, QuestionId, Record, Stage, Waiter,
    WantedBy,
};
use crate::frame::{Frame, Kind};
use crate::leg::client;
use crate::moment::Moment;

/// The records of calls.
#[derive(Default)]
pub struct Saves {
    calls: BTreeMap<CallId, Saving>,
    ids: HashMap<CallKey, CallId>,
    /// Calls for which something is held since they were written down last.
    touched: Vec<CallId>,
    /// Calls of another process that wait for the server to be open.
    pub waiting: Vec<CallId>,
}

/// A call that has a record, or will have one.
struct Saving {
    key: CallKey,
    /// The number of the latest save, and the digest of what it says; none if it has to be written again.
    latest: u64,
    content: Option<[u8; 32]>,
    /// The save that is under way.
    under_way: Option<u64>,
    /// The last one that was done.
    done: u64,
    /// True if the call came from another process.
    is_adopted: bool,
    /// What leaves once the save of this number is done, the oldest first. Without a number, it is the next.
    held: VecDeque<(Option<u64>, Held, Output)>,
}

/// What is held, and so what becomes of it if the call can't be written down.
#[derive(Clone)]
pub enum Held {
    /// A request of the client is told to come back. It waits on.
    Name(Waiter),
    /// The server gets an answer, or the call again. The call ends.
    Server,
    /// A question is put on the desk. The call ends.
    Desk,
    /// A request of the client gets the result. It gets it all the same.
    Result { is_guest: bool },
}

impl Session {
    /// Does something about a call, once the call is written down.
    pub(super) fn tells(&mut self, call: CallId, output: Output, held: Held, out: Out<'_>) {
        if !self.is_recorded(call) {
            return out.push(output);
        }
        let Some(key) = self.key_of(call) else {
            return out.push(output);
        };
        let saving = self.saves.of(call, key);
        saving.held.push_back((None, held, output));
        self.saves.touched.push(call);
    }

    /// True if a call is written down.
    fn is_recorded(&self, call: CallId) -> bool {
        let saves = self.setup.saves.is_some();
        saves && self.ledger.calls.get(call).is_some_and(Call::is_record)
    }

    /// What a call's record is called; none if it can't have one.
    fn key_of(&mut self, call: CallId) -> Option<CallKey> {
        let found = self.ledger.calls.get(call)?;
        let may = self.setup.saves.is_some() && found.request.bytes.is_some();
        if !may || found.key.is_some() {
            return found.key;
        }
        let key = CallKey::random();
        self.ledger.calls.change(call, |call| call.key = Some(key));
        Some(key)
    }

    /// The ticket of a question, if another process may go on with its call.
    pub(super) fn ticket_of(&mut self, question: QuestionId) -> Option<TicketId> {
        let wanted_by = &self.ledger.questions.get(question)?.wanted_by;
        let (kind, what) = match wanted_by {
            WantedBy::Round(_, key) => ("round", key.clone()),
            WantedBy::Approval(_) => ("approval", String::new()),
            WantedBy::Link(_, nth) => ("link", nth.to_string()),
            WantedBy::Request(..) | WantedBy::Sampling(..) => return None,
        };
        let call = wanted_by.call()?;
        let key = self.key_of(call)?;
        let rounds = self.ledger.calls.get(call)?.rounds();
        let round = rounds.map_or(0, |rounds| rounds.count);
        Some(key.ticket(round, kind, &what))
    }

    /// Writes down every call that has changed, and lets go what waited for that.
    pub(super) fn writes_down(&mut self, now: Moment, out: Out<'_>) {
        if self.setup.saves.is_none() {
            return self.ledger.questions.changes.touched.clear();
        }
        loop {
            let mut touched = std::mem::take(&mut self.saves.touched);
            touched.append(&mut self.ledger.calls.touched);
            touched.append(&mut self.ledger.questions.changes.touched);
            if touched.is_empty() {
                return;
            }
            touched.sort_unstable();
            touched.dedup();
            for call in touched {
                self.writes_call(now, call, out);
            }
        }
    }

    fn writes_call(&mut self, now: Moment, id: CallId, out: Out<'_>) {
        if !self.is_recorded(id) {
            return self.forgets(id, out);
        }
        let repeats = self.may_repeat(id);
        let Some(server) = &self.setup.saves else {
            return;
        };
        let record = match Record::of(&self.ledger, id, server, repeats) {
            None => return,
            Some(Err(why)) => {
                return self.not_written(now, (id, u64::MAX), &why.to_string(), out);
            }
            Some(Ok(record)) => record,
        };
        let content = digest(&SHA256, record.content());
        let content = content.as_ref().first_chunk().copied();
        let saving = self.saves.of(id, record.key);
        if saving.content != content {
            saving.content = content;
            saving.latest += 1;
        }
        for (number, _, _) in &mut saving.held {
            number.get_or_insert(saving.latest);
        }
        if saving.under_way.is_none() && saving.done < saving.latest {
            saving.under_way = Some(saving.latest);
            out.push(Output::Save(saving.latest, Box::new(record)));
        }
        let done = saving.done;
        let is_due = |number: Option<u64>| number.is_some_and(|number| number <= done);
        while saving.held.front().is_some_and(|held| is_due(held.0)) {
            out.extend(saving.held.pop_front().map(|(_, _, output)| output));
        }
    }

    /// A save is done.
    pub(super) fn saved(&mut self, key: CallKey, number: u64) {
        let Some((id, saving)) = self.saves.under_way(key, number) else {
            return;
        };
        saving.under_way = None;
        saving.done = number;
        self.saves.touched.push(id);
    }

    /// A save failed, and this is why.
    pub(super) fn not_saved(
        &mut self,
        now: Moment,
        key: CallKey,
        number: u64,
        why: &str,
        out: Out<'_>,
    ) {
        let Some((id, saving)) = self.saves.under_way(key, number) else {
            return;
        };
        (saving.under_way, saving.content) = (None, None);
        self.not_written(now, (id, number), why, out);
    }

    /// A call can't be written down. Whoever would have been told to come back waits on, and results don't wait; but what
    /// can't be told in another way ends the call.
    fn not_written(&mut self, now: Moment, (id, failed): (CallId, u64), why: &str, out: Out<'_>) {
        let Some(saving) = self.saves.calls.get_mut(&id) else {
            return;
        };
        let mut fails = false;
        for (number, held, output) in std::mem::take(&mut saving.held) {
            let is_later = number.is_some_and(|number| number > failed);
            match held {
                // It is in the next save.
                _ if is_later => self.keeps(id, (number, held, output)),
                Held::Name(waiter) => {
                    tracing::error!("a client can't be told to come back: {why}");
                    self.waits_on(now, id, waiter, out);
                    fails |= self.is_asking(id);
                }
                Held::Result { .. } => out.push(output),
                Held::Server => {
                    fails = true;
                    if let Output::Sent(question) = output {
                        self.ledger.receipts.unsend(id, question);
                    }
                }
                Held::Desk => {
                    fails = true; // Ending the call takes it out.
                    self.keeps(id, (number, held, output));
                }
            }
        }
        if fails {
            let words = format!("midcall: the call can't go on because it can't be stored: {why}");
            self.fail(now, id, &words, out);
        }
    }

    /// A request that can't be told to come back waits on, or gets the result that there is meanwhile.
    fn waits_on(&mut self, now: Moment, id: CallId, mut waiter: Waiter, out: Out<'_>) {
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        if let Stage::Done { result, .. } = call.stage() {
            let result = client::result(&call.request, result, &waiter.id);
            return out.push(Output::ToClient(result));
        }
        let waits = Duration::from_secs_f64(self.wait_seconds());
        waiter.since = now;
        waiter.until = waiter.until.map(|_| now + waits);
        self.ledger
            .calls
            .change(id, |call| call.audience.join(waiter));
    }

    fn keeps(&mut self, call: CallId, held: (Option<u64>, Held, Output)) {
        if let Some(saving) = self.saves.calls.get_mut(&call) {
            saving.held.push_back(held);
            self.saves.touched.push(call);
        }
    }

    /// True if the client or its model was told a question that it gets in no other way than by a result of the call.
    fn is_asking(&self, call: CallId) -> bool {
        let questions = &self.ledger.questions;
        let is_told = |question: &Question| match &question.place {
            Place::Client {
                at: AtClient::Round { call: at, .. },
                ..
            } => *at == call,
            Place::Model { told_in, .. } => *told_in == Some(call),
            _ => false,
        };
        let mut of_call = questions.of_call(call).into_iter();
        of_call.any(|id| questions.get(id).is_some_and(is_told))
    }

    /// A call that is over, or was taken back, has no record. What the client was about to be told, it is told.
    fn forgets(&mut self, id: CallId, out: Out<'_>) {
        let Some(saving) = self.saves.calls.remove(&id) else {
            return;
        };
        self.saves.ids.remove(&saving.key);
        let told = saving.held.into_iter();
        let told = told.filter(|(_, held, _)| matches!(held, Held::Name(_) | Held::Result { .. }));
        out.extend(told.map(|(_, _, output)| output));
        if saving.latest > 0 || saving.is_adopted {
            out.push(Output::Forget(saving.key));
        }
    }

    /// The client left: what was held for requests of its own, nobody reads.
    pub(super) fn drops_held_for_client(&mut self) {
        for saving in self.saves.calls.values_mut() {
            saving.held.retain(|(_, held, _)| match held {
                Held::Name(Waiter { is_guest, .. }) | Held::Result { is_guest } => *is_guest,
                Held::Server | Held::Desk => true,
            });
        }
    }

    /// The server doesn't get what was held for it. True if that was something.
    pub(super) fn drops_held(&mut self, call: CallId) -> bool {
        let Some(saving) = self.saves.calls.get_mut(&call) else {
            return false;
        };
        let held = std::mem::take(&mut saving.held).into_iter();
        let (dropped, held): (Vec<_>, VecDeque<_>) = {
            let (dropped, held): (Vec<_>, Vec<_>) =
                held.partition(|(_, held, _)| matches!(held, Held::Server));
            (dropped, held.into())
        };
        saving.held = held;
        let dropped_some = !dropped.is_empty();
        for (_, _, output) in dropped {
            if let Output::Sent(question) = output {
                self.ledger.receipts.unsend(call, question);
            }
        }
        dropped_some
    }

    /// A question isn't put on the desk after all; false if it is there already.
    pub(super) fn unasks(&mut self, call: Option<CallId>, question: QuestionId) -> bool {
        let saving = call.and_then(|call| self.saves.calls.get_mut(&call));
        let Some(saving) = saving else { return false };
        let before = saving.held.len();
        saving
            .held
            .retain(|(_, _, output)| !matches!(output, Output::Ask(id, _, _) if *id == question));
        saving.held.len() < before
    }

    /// Another process has a call. Nothing is taken back: not at the server, not at the desk.
    pub(super) fn lost(&mut self, now: Moment, key: CallKey, out: Out<'_>) {
        let Some(id) = self.saves.ids.remove(&key) else {
            return;
        };
        let saving = self.saves.calls.remove(&id);
        let held = saving.into_iter().flat_map(|saving| saving.held);
        let receipts = &mut self.ledger.receipts;
        let told = held.filter_map(|(_, _, output)| match output {
            Output::Sent(question) => {
                receipts.unsend(id, question);
                None
            }
            Output::ToClient(frame) => match frame.peek()?.0 {
                Kind::Response { id } => id,
                _ => None,
            },
            _ => None,
        });
        let mut told: Vec<_> = told.collect();
        for question in self.ledger.questions.of_call(id) {
            let belongs = self.ledger.questions.get(question);
            if belongs.is_none_or(|it| it.wanted_by.call() != Some(id)) {
                continue;
            }
            let Some(gone) = self.ledger.questions.remove(question) else {
                continue;
            };
            if gone.is_at_desk() {
                out.push(Output::Detach(question));
            } else if let Some(request) = gone.request_id() {
                out.push(Output::ToClient(Frame::cancelled(request)));
            }
        }
        for (question, was_sent) in self.ledger.receipts.take(id) {
            out.push(match was_sent {
                true => Output::Unknown(question),
                false => Output::Detach(question),
            });
        }
        let left = self.left_in(id);
        if let Some(call) = self.ledger.calls.close(id) {
            told.extend(call.audience.waiters().iter().map(|it| it.id.clone()));
        }
        let words = "midcall: another process goes on with this call. Make it again with what you were given to come back by";
        let told = told.into_iter();
        out.extend(
            told.map(|id| Output::ToClient(Frame::error(Some(&id), code::INTERNAL_ERROR, words))),
        );
        self.ask_elsewhere(now, left, out);
    }

    /// True if the server may get a call again though it may have it already.
    fn may_repeat(&self, call: CallId) -> bool {
        let Some(call) = self.ledger.calls.get(call) else {
            return false;
        };
        let hints = self.tools.hints(call.request.name.as_deref());
        let joins = &self.servers.get(call.server).facts.said["_meta"][meta::JOINS];
        call.request.kind == CallKind::Text
            || hints.read_only == Some(true)
            || hints.idempotent == Some(true)
            || *joins == true
    }

    /// True if a call came from another process.
    pub(super) fn is_adopted(&self, call: CallId) -> bool {
        let saving = self.saves.calls.get(&call);
        saving.is_some_and(|saving| saving.is_adopted)
    }

    /// True if a call of this name is here already.
    pub(super) fn has_call(&self, key: CallKey) -> bool {
        self.saves.ids.contains_key(&key)
    }

    /// A call came from another process.
    pub(super) fn has_adopted(&mut self, call: CallId, key: CallKey) {
        self.saves.of(call, key).is_adopted = true;
        self.saves.touched.push(call);
    }
}

impl Saves {
    fn of(&mut self, call: CallId, key: CallKey) -> &mut Saving {
        self.ids.insert(key, call);
        self.calls.entry(call).or_insert_with(|| Saving {
            key,
            latest: 0,
            content: None,
            under_way: None,
            done: 0,
            is_adopted: false,
            held: VecDeque::new(),
        })
    }

    /// The call that is being written down by this number.
    fn under_way(&mut self, key: CallKey, number: u64) -> Option<(CallId, &mut Saving)> {
        let id = *self.ids.get(&key)?;
        let saving = self.calls.get_mut(&id)?;
        (saving.under_way == Some(number)).then_some((id, saving))
    }
}
