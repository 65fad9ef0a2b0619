//! How much each server logs, and who reads it.
//!
//! A legacy server has one level, each request of a modern client its own: while several are open, the server logs what
//! the one wants that wants most, and each reads what it asked for. When the last of them ends, the level goes back to
//! the one that a legacy client told the server, or to the quietest: nobody knows what it was before.

use midcall_core::wire::{LogLevel, code};

use super::{Out, Output, Session};
use crate::call::{CallId, ServerId, TellBy};
use crate::frame::{Frame, Id, Members};
use crate::leg::server;

impl Session {
    /// Tells legacy servers how much to log for the requests that a modern client has open.
    pub(super) fn tunes_log(&mut self, out: Out<'_>) {
        if self.client.told == TellBy::Requests || self.client.is_gone {
            return;
        }
        for at in [ServerId::First, ServerId::Second] {
            self.tunes_log_of(at, out);
        }
    }

    fn tunes_log_of(&mut self, at: ServerId, out: Out<'_>) {
        let loudest = self.ledger.calls.loudest(at).map(|(level, _)| level);
        let server = match at {
            ServerId::First => Some(&mut self.servers.first),
            ServerId::Second => self.servers.second.as_mut(),
        };
        let is_legacy =
            |server: &&mut super::servers::Server| server.is_open() && !server.facts.has_rounds();
        let Some(server) = server.filter(is_legacy) else {
            return;
        };
        let quiet = || server.level.map(|_| LogLevel::Emergency);
        let level = loudest.or(server.usual_level).or_else(quiet);
        let Some(level) = level.filter(|_| level != server.level) else {
            return;
        };
        server.level = Some(level);
        if server::legacy::logs(&server.facts) && self.servers.gone.is_none() {
            let frame = server::legacy::set_level(&self.own_ids.fresh(), level);
            out.push(Output::ToServer(at, frame));
        }
    }

    /// A legacy client says how much it wants to read. The answer, if its server has no word for that.
    pub(super) fn sets_level(&mut self, id: &Id, members: &Members<'_>) -> Option<Frame> {
        let level = server::log_level(members);
        let first = &mut self.servers.first;
        if !first.facts.has_rounds() {
            first.usual_level = level.or(first.usual_level);
            first.level = level.or(first.level);
            return None;
        }
        let Some(level) = level else {
            let told = "midcall: there is no such log level";
            return Some(Frame::error(Some(id), code::INVALID_PARAMS, told));
        };
        if let Some(opened) = &mut self.client.opened {
            opened.declared.level = serde_json::to_string(&level).ok().map(Into::into);
        }
        Some(Frame::result(id, &serde_json::json!({})))
    }

    /// The call in which a modern client reads a line of a server's log, if it wants to. A line may belong to a known
    /// `call`; else to that which wants most.
    pub(super) fn reads_log(
        &self,
        from: ServerId,
        call: Option<CallId>,
        members: &Members<'_>,
    ) -> Option<CallId> {
        let calls = &self.ledger.calls;
        let (wanted, call) = match call {
            Some(call) => (calls.get(call)?.log_level()?, call),
            None => calls.loudest(from)?,
        };
        let is_wanted = server::log_level(members).is_none_or(|level| level >= wanted);
        is_wanted.then_some(call)
    }
}
