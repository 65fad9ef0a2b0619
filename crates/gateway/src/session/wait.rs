//! What has to be done as time passes: calls are kept alive, let go and collected, and what waited too long ends.

use std::time::Duration;

use crate::moment::Moment;
use midcall_core::wire::code;
use midcall_desk::Outcome;
use serde_json::Value;

use super::save::Held;
use super::{Out, Output, Session, Waiting};
use crate::call::{
    AWAY, Call, CallId, CallKind, Happened, Name, Named, Origin, Question, ServerId, Stage, TellBy,
    Waiter, WantedBy,
};
use crate::frame::{Frame, Id, Members};
use crate::leg::client::{self, modern};
use crate::times::SIGN_OF_LIFE;

/// How long a call that collects a result may wait.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// How many calls may be let go at once.
const MOST_LET_GO: usize = 256;

impl Session {
    /// When the session wants to be woken.
    pub fn wakes_at(&self) -> Option<Moment> {
        let held = self.hold_ends_at();
        let second = self
            .servers
            .second
            .as_ref()
            .and_then(|second| second.until());
        let times = [
            self.client.keep_alive.filter(|_| self.thinks()),
            held,
            self.ledger.calls.due_at(),
            self.ledger.questions.ends_at(),
            self.servers.first.until(),
            second,
            self.servers.listing_until(ServerId::First),
            self.servers.listing_until(ServerId::Second),
        ];
        times.into_iter().flatten().min()
    }

    /// True if something may have to be done as time passes.
    pub(super) fn is_busy(&self) -> bool {
        self.thinks() || self.client.keep_alive.is_some() || self.wakes_at().is_some()
    }

    /// Does what it is time for.
    pub(super) fn sweep(&mut self, now: Moment, out: Out<'_>) {
        self.opening_lapses(now, out);
        self.lists_lapse(now, out);
        for question in self.ledger.questions.late(now) {
            self.end_question(now, question, Outcome::TimedOut, out);
        }
        self.ledger.tasks.lapse(now);
        self.lets_go(now, out);
        for call in self.ledger.calls.due(now) {
            self.is_due(now, call, out);
        }
        self.keeps_alive(now, out);
    }

    /// Something is to be done about a call.
    fn is_due(&mut self, now: Moment, id: CallId, out: Out<'_>) {
        let late = self.ledger.calls.change(id, |call| call.audience.late(now));
        for waiter in late.into_iter().flatten() {
            let told = self.waiting_result(id, &waiter);
            let told = Output::ToClient(self.replied(told));
            self.tells(id, told, Held::Name(waiter), out);
        }
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        if let Stage::Done { until, .. } | Stage::Cancelled { until, .. } = call.stage() {
            if *until <= now {
                self.ledger.calls.close(id);
            }
            return;
        }
        if call.audience.away_until.is_some_and(|until| until <= now) {
            return self.never_came_back(now, id, out);
        }
        let todo = self
            .ledger
            .calls
            .change(id, |call| call.on(now, Happened::Due));
        self.does(now, id, todo, out);
    }

    /// True while somebody thinks about a question: the client, or somebody else.
    fn thinks(&self) -> bool {
        let questions = &self.ledger.questions;
        self.others_think() || questions.are_with_client() || self.ledger.tasks.are_open()
    }

    /// True while somebody other than the client thinks, or is busy with what a link leads to.
    fn others_think(&self) -> bool {
        self.ledger.questions.wait() || self.ledger.calls.await_links()
    }

    /// Tells the client that its calls go on while somebody thinks. Its user may be typing in its own dialog, but the time
    /// that it gives a call runs all the same.
    fn keeps_alive(&mut self, now: Moment, out: Out<'_>) {
        if !self.ledger.calls.are_followed() || !self.thinks() {
            self.client.keep_alive = None;
            return;
        }
        let next = self.client.keep_alive;
        let next = next.unwrap_or_else(|| self.first_sign(now));
        if next > now {
            self.client.keep_alive = Some(next);
            return;
        }
        self.client.kept_alive = Some(now);
        self.client.keep_alive = Some(now + SIGN_OF_LIFE.get());
        let words = self.say("mcp.elicitation.wait.person");
        for (token, progress) in self.ledger.calls.move_on() {
            out.extend(client::progress(&token, progress, &words).map(Output::ToClient));
        }
    }

    /// When the client hears first that its calls go on. If others think, that is at once. A client that thinks itself
    /// hears it when its oldest call gets old; however many questions it answers, never more often than it has to.
    fn first_sign(&self, now: Moment) -> Moment {
        if self.others_think() {
            return now;
        }
        let last = self.ledger.calls.held_since().max(self.client.kept_alive);
        last.unwrap_or(now) + SIGN_OF_LIFE.get()
    }

    /// True if a legacy client may have to be told to collect a result.
    pub(super) fn may_let_go(&self) -> bool {
        let leaves = self
            .client
            .modes()
            .is_some_and(|modes| self.leaves_some(modes));
        self.client.told == TellBy::Requests && self.setup.hold.is_some() && leaves
    }

    /// When the next call is let go, because somebody other than the client thinks.
    fn hold_ends_at(&self) -> Option<Moment> {
        let hold = self.setup.hold.filter(|_| self.others_think())?;
        let may = match self.client.told {
            TellBy::Requests => self.may_let_go() && self.ledger.calls.let_go() < MOST_LET_GO,
            TellBy::Results => true,
        };
        self.ledger
            .calls
            .held_since()
            .filter(|_| may)
            .map(|since| since + hold)
    }

    /// Answers calls that have been open for too long: the client comes back for them.
    fn lets_go(&mut self, now: Moment, out: Out<'_>) {
        if self.hold_ends_at().is_none_or(|at| at > now) {
            return;
        }
        let Some(hold) = self.setup.hold else { return };
        for id in self.ledger.calls.held(hold, now) {
            let Some(call) = self.ledger.calls.get(id) else {
                continue;
            };
            let Some(maker) = call.audience.maker().cloned() else {
                continue;
            };
            let waiter = maker.id.clone();
            match (call.request.told, call.request.kind) {
                (TellBy::Results, _) => {
                    let away = Some(now + AWAY);
                    let state = self.gives_state(id, &waiter, Vec::new(), away);
                    let told = modern::round(&waiter, &Default::default(), &state);
                    self.tells(id, Output::ToClient(told), Held::Name(maker), out);
                }
                (TellBy::Requests, _) if self.ledger.calls.let_go() >= MOST_LET_GO => return,
                (TellBy::Requests, CallKind::Tool) => {
                    let told = self.waiting_result(id, &maker);
                    self.ledger
                        .calls
                        .change(id, |call| call.audience.leave(&waiter));
                    self.tells(id, Output::ToClient(told), Held::Name(maker), out);
                }
                (TellBy::Requests, _) => {
                    let waiting = self.waiting_of(id).unwrap_or_default();
                    let words = self.waiting_words("mcp.elicitation.wait.elsewhere", &waiting);
                    self.ledger
                        .calls
                        .change(id, |call| call.audience.leave(&waiter));
                    out.push(Output::ToClient(Frame::error(
                        Some(&waiter),
                        code::INTERNAL_ERROR,
                        &words,
                    )));
                }
            }
        }
    }

    /// The result of a request that has waited long enough, with a claim to collect the real one by.
    fn waiting_result(&mut self, id: CallId, waiter: &Waiter) -> Frame {
        let claim = match &waiter.claim {
            Some(claim) => claim.to_string(),
            None => self.gives_claim(id),
        };
        let (waiting, key) = match self.waiting_of(id) {
            Some(waiting) => (waiting, "mcp.elicitation.wait.claim"),
            None => (Waiting::default(), "mcp.elicitation.wait.running"),
        };
        let words = self.waiting_words(key, &waiting);
        let told = waiting.result(&claim, &words, self.may_be_structured(id));
        Frame::result(&waiter.id, &told)
    }

    /// A claim for the result of a call.
    pub(super) fn gives_claim(&mut self, id: CallId) -> String {
        let (token, name) = Name::mint();
        self.ledger
            .calls
            .change(id, |call| call.audience.claim(name));
        token.reveal().to_owned()
    }

    /// What a call waits for at the desk: of its own questions, the one that closes first. None if no person has to
    /// answer anything.
    fn waiting_of(&self, id: CallId) -> Option<Waiting> {
        let call = self.ledger.calls.get(id)?;
        let names = |question: &&Question| match (question.origin, &question.wanted_by) {
            (_, WantedBy::Round(of, _) | WantedBy::Approval(of) | WantedBy::Link(of, _)) => {
                *of == id
            }
            (Origin::Only(only), _) => only == id,
            (Origin::Before(..), _) if self.is_shared => false, // It may be another window's.
            (Origin::Before(server, next), _) => server == call.server && id < next,
        };
        let questions = self.ledger.questions.iter().map(|(_, question)| question);
        let is_opened = |question: &Question| call.awaits_link() && question.opened_by().is_some();
        let at_desk = questions
            .filter(|question| question.is_at_desk() && (question.waits() || is_opened(question)));
        let own = at_desk.filter(names);
        let first = own.min_by(|one, other| one.waiting.deadline.cmp(&other.waiting.deadline));
        first.map(|question| question.waiting.clone())
    }

    fn waiting_words(&mut self, key: &str, waiting: &Waiting) -> String {
        let tool = self.tools.await_name();
        let page = waiting.page.as_deref().unwrap_or_default();
        let server = self.servers.first.facts.asker.server.as_str();
        let params = [
            ("server", server.into()),
            ("page", page.into()),
            ("tool", tool.as_ref().into()),
        ];
        self.setup.locale.say(key, &params)
    }

    /// True if a call brings a claim that was given out.
    pub(super) fn has_claimed(&self, members: &Members<'_>) -> bool {
        let claim = claim_of(members).unwrap_or_default();
        matches!(self.ledger.named(Name::of(&claim)), Some(Named::Call(_)))
    }

    /// A call of the tool that collects results.
    pub(super) fn collects(&mut self, now: Moment, id: Id, members: &Members<'_>, out: Out<'_>) {
        let params = members
            .params
            .and_then(|params| serde_json::from_slice::<Value>(params).ok());
        let arguments = params
            .as_ref()
            .map_or(&Value::Null, |params| &params["arguments"]);
        let claim = arguments["claim"].as_str().unwrap_or_default();
        let seconds = arguments["waitSeconds"]
            .as_f64()
            .unwrap_or_else(|| self.wait_seconds());
        let call = match self.ledger.named(Name::of(claim)) {
            Some(Named::Call(call)) => Some(call),
            _ => None,
        };
        let mut waiter = self.collector(now, id, seconds, members);
        waiter.claim = Some(claim.into());
        self.joins(call, waiter, out);
    }

    /// A request that waits so many seconds for the result of a call.
    pub(super) fn collector(
        &self,
        now: Moment,
        id: Id,
        seconds: f64,
        members: &Members<'_>,
    ) -> Waiter {
        let wait = Duration::try_from_secs_f64(seconds.clamp(0.0, LONGEST.as_secs_f64()));
        Waiter {
            until: Some(now + wait.unwrap_or_default()),
            is_guest: self.client.hears_guest,
            ..Waiter::new(now, id, members.progress_token)
        }
    }

    /// Gives a request the result of a call; false if there is none yet.
    pub(super) fn hands_out(&mut self, id: CallId, waiter: &Waiter, out: Out<'_>) -> bool {
        let Some(call) = self.ledger.calls.get(id) else {
            return false;
        };
        let Stage::Done { result, .. } = call.stage() else {
            return false;
        };
        let told = client::result(&call.request, result, &waiter.id);
        let is_guest = waiter.is_guest;
        self.tells(id, Output::ToClient(told), Held::Result { is_guest }, out);
        let got = |call: &mut Call| call.audience.has_result = true;
        self.ledger.calls.change(id, got);
        true
    }

    /// A request waits for the result of a call, or is told what came up in it.
    pub(super) fn joins(&mut self, call: Option<CallId>, waiter: Waiter, out: Out<'_>) {
        let id = waiter.id.clone();
        let found = call.and_then(|call| Some((call, self.ledger.calls.get(call)?)));
        let Some((call_id, call)) = found else {
            let unknown = Frame::result(&id, &midcall_core::model::unknown_claim());
            return self.reply(unknown, out);
        };
        if !call.audience.has_room() {
            let told = midcall_core::model::too_many_collect();
            return self.reply(Frame::result(&id, &told), out);
        }
        if self.hands_out(call_id, &waiter, out) {
            return;
        }
        if let Some(question) = self.to_be_told(call_id) {
            return self.tell_model(question, call_id, waiter, out);
        }
        self.ledger.calls.change(call_id, |call| {
            let away = call.audience.away_until;
            call.audience.join(waiter);
            call.audience.away_until = away;
        });
    }
}

/// The claim that a call brings.
fn claim_of(members: &Members<'_>) -> Option<String> {
    let params: Value = serde_json::from_slice(members.params?).ok()?;
    params["arguments"]["claim"].as_str().map(str::to_owned)
}
