//! Letting go of calls that are older than their client may bear.
//!
//! Only while a question waits at the desk, and only for clients that do not know of it: one
//! that asks by itself knows why it waits.

use midcall_core::wire::code;
use tokio::time::Instant;

use super::calls::Wants;
use super::{Act, Session};
use crate::era::legacy::Client;
use crate::frame::{Frame, Id, Members};

impl Session {
    /// Whether the client may have to be told to wait.
    pub(super) fn may_let_go(&self) -> bool {
        let leaves_some = |client: &Client| self.rules.routes.leaves(client.modes);
        self.rules.hold.is_some() && self.client.as_ref().is_some_and(leaves_some)
    }

    /// When the next call is let go.
    pub(super) fn lets_go_at(&self) -> Option<Instant> {
        let hold = self.rules.hold?;
        let since = self.calls.oldest()?;
        let may = self.somebody_thinks() && self.may_let_go() && self.claims.has_room();
        may.then(|| since + hold)
    }

    /// Lets calls go that are too old, and tells those who collect them that it takes longer.
    pub(super) fn let_go(&mut self, now: Instant, acts: &mut Vec<Act>) {
        if self.lets_go_at().is_some_and(|at| at <= now)
            && let Some(hold) = self.rules.hold
        {
            for (id, wants) in self.calls.older(hold, now) {
                if self.claims.has_room() {
                    self.let_one_go(id, wants, acts);
                }
            }
        }
        if self.claims.wakes_at().is_some_and(|at| at <= now) {
            let words = self.waiting_words("mcp.elicitation.wait.claim");
            let told = self.claims.woke(now, &words, &self.waiting);
            self.collected(told, acts);
        }
    }

    fn let_one_go(&mut self, id: Id, wants: Wants, acts: &mut Vec<Act>) {
        let token = self.calls.close(&id).and_then(|(_, token)| token);
        let told = if wants == Wants::Tool {
            let words = self.waiting_words("mcp.elicitation.wait.claim");
            self.claims.let_go(id, token, &words, &self.waiting)
        } else {
            let words = self.waiting_words("mcp.elicitation.wait.elsewhere");
            let told = Frame::error(Some(&id), code::INTERNAL_ERROR, &words);
            self.claims.abandon(id, token);
            told
        };
        acts.push(Act::ToClient(told));
    }

    /// Whether a call is one of the added tool.
    pub(super) fn is_claim(&self, members: &Members<'_>) -> bool {
        self.may_let_go() && self.tools.is_await(members.name)
    }

    /// A call of the added tool.
    pub(super) fn collect(
        &mut self,
        now: Instant,
        id: Id,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        match self.claims.collect(id.clone(), members.params, now) {
            Some(told) => acts.push(Act::ToClient(told)),
            None => self.calls.open(id, Wants::Claim, members, now),
        }
    }

    /// Calls of the added tool are answered.
    pub(super) fn collected(&mut self, told: Vec<(Id, Frame)>, acts: &mut Vec<Act>) {
        for (id, frame) in told {
            self.calls.close(&id);
            acts.push(Act::ToClient(frame));
        }
    }

    fn waiting_words(&mut self, key: &str) -> String {
        let tool = self.tools.await_name();
        let page = self.waiting.page.as_deref().unwrap_or_default();
        let server = self.server.asker.server.as_str();
        let params = [
            ("server", server.into()),
            ("page", page.into()),
            ("tool", tool.into()),
        ];
        self.rules.locale.say(key, &params)
    }
}
