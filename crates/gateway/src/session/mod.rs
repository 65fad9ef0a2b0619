//! One client's dealings with one server.
//!
//! The session is told what happened and says what to do; whoever holds the pipes does it.
//! Messages pass as they came. A question is answered by the client if it can ask it, else it
//! waits at the desk, and while it does the client's calls are kept alive.
//!
//! In: [`Session::on`]. Out: [`Act`]s.
//! Elsewhere: pipes (`transport`), the desk (`route::page`), the opening (`era`).

mod alive;
mod calls;
mod candidates;
mod client;
mod confirm;
mod errand;
mod hold;
mod lapse;
mod links;
mod model;
mod passed;
mod plan;
mod question;
mod questions;
mod sampling;
mod server;
#[cfg(test)]
mod stories;
mod task;
mod unclaimed;
mod unread;
pub mod verdict;
#[cfg(test)]
pub mod world;

use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::wire::{ElicitRequestParams, Mode, Modes, Revision, code};
use midcall_core::{Asker, Elicitation, Limits};
use midcall_desk::{By, Outcome, Unavailable, Withdrawn};
use serde::Deserialize;
use tokio::time::Instant;

use crate::claim::tools::Tools;
use crate::claim::{Claims, Waiting};
use crate::era::legacy;
use crate::frame::{Frame, Id, OwnIds};
use crate::route::{Policy, Profile, Route, Routes};
use calls::Calls;
pub use calls::{Closed, Wants};
use candidates::Candidates;
pub use client::in_use;
pub use confirm::Confirm;
use errand::Errands;
use passed::Passed;
use question::{At, Question, State, WantedBy};
use questions::Questions;
pub use questions::Turn;
pub use server::gone_words;
pub use unclaimed::{Inseparable, forget_each, unclaimed};

/// What happened.
pub enum Event {
    /// The client sent a line.
    Client(Frame),
    /// The server sent a line.
    Server(Frame),
    /// The second process of the server did.
    Beside(Frame),
    /// The second process of the server is gone, or could not be started.
    BesideGone,
    /// A question is on the desk: what those who wait for it are told.
    Asked(Turn, Waiting),
    /// The desk did not take a question, and this is why.
    Refused(Turn, String),
    /// Somebody opened the link of a question that waits at the desk.
    Opened(Turn, By),
    /// A question at the desk ended.
    Ended(Turn, Outcome),
    /// The time came that [`Session::wakes_at`] told.
    Woke,
    /// The client is gone.
    ClientGone,
    /// The server is gone, and this is how.
    ServerGone(String),
}

/// What is to be done.
#[derive(Debug)]
pub enum Act {
    /// Send the client a line.
    ToClient(Frame),
    /// Send the server a line.
    ToServer(Frame),
    /// Put a question on the desk.
    Ask(Turn, Box<Elicitation>),
    /// Take it back.
    Withdraw(Turn, Withdrawn),
    /// What the link was for is done: whoever opened it need not say so.
    Complete(Turn, By),
    /// The server wrote a line that is no message.
    Noise(Frame),
    /// The server cannot do a call in the era it was opened in: its id, the call as it was made,
    /// and the refusal.
    Elsewhere(Id, Frame, Frame),
    /// Start a second process of the server, to speak another era with.
    StartBeside,
    /// Send that process a line.
    ToBeside(Frame),
}

/// How a session is set up.
#[derive(Clone)]
pub struct Rules {
    pub routes: Routes,
    /// What holds for some servers, tools and modes instead.
    pub policy: Policy,
    /// What the client is known not to show.
    pub profile: Option<Profile>,
    pub limits: Limits,
    /// The language of what the gateway itself says.
    pub locale: Locale,
    /// How long a client's call is kept open while a person thinks; for ever if none.
    pub hold: Option<Duration>,
    /// How long a model has to answer.
    pub patience: Duration,
    /// Which calls a person agrees to first.
    pub confirm: Confirm,
    pub on_unavailable: OnUnavailable,
    /// The server: where it is reached, and what it is called until it says so itself.
    pub asker: Asker,
}

/// What a server is told when nobody can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnavailable {
    /// That the question was cancelled, and why in `_meta`.
    #[default]
    Cancel,
    /// An error.
    Error,
}

pub struct Session {
    rules: Rules,
    /// What the client said of itself.
    client: Option<legacy::Client>,
    /// The id of its `initialize`, while that is not answered.
    opening: Option<Id>,
    server: legacy::Server,
    calls: Calls,
    questions: Questions,
    errands: Errands,
    /// Whether the client is asked in the results of its calls, not by requests.
    in_rounds: bool,
    /// True while the session hears a question of a round, which can't be answered with an error.
    in_round: bool,
    /// True if several clients share the session, and one must not see what another is asked.
    is_shared: bool,
    passed: Passed,
    /// Whether the client is gone.
    client_gone: bool,
    /// How the server went, once it is gone.
    server_gone: Option<String>,
    /// When the client's calls are kept alive next.
    keep_alive: Option<Instant>,
    tools: Tools,
    claims: Claims,
    waiting: Waiting,
    answered: model::Answered,
    lately: plan::Lately,
    own_ids: OwnIds,
}

impl Session {
    pub fn new(rules: Rules) -> Self {
        let server = legacy::Server {
            revision: Revision::V2025_11_25,
            asker: rules.asker.clone(),
            runs_tasks: false,
        };
        Self {
            rules,
            client: None,
            opening: None,
            server,
            calls: Calls::default(),
            questions: Questions::default(),
            errands: Errands::default(),
            in_rounds: false,
            in_round: false,
            is_shared: false,
            passed: Passed::default(),
            client_gone: false,
            server_gone: None,
            keep_alive: None,
            tools: Tools::default(),
            claims: Claims::default(),
            waiting: Waiting::default(),
            answered: model::Answered::default(),
            lately: plan::Lately::default(),
            own_ids: OwnIds::default(),
        }
    }

    /// Hears what happened, and adds to `acts` what is to be done.
    pub fn on(&mut self, now: Instant, event: Event, acts: &mut Vec<Act>) {
        match event {
            Event::Client(frame) => self.client_says(now, frame, acts),
            Event::Server(frame) => self.server_says(now, frame, acts),
            Event::Asked(turn, waiting) => self.asked(turn, waiting),
            Event::Refused(turn, why) => self.refused(now, turn, &why, acts),
            Event::Opened(turn, by) => self.opened(turn, by, acts),
            Event::Ended(turn, outcome) => self.ended(now, turn, outcome, acts),
            // They are for whoever started it.
            Event::Woke | Event::Beside(_) | Event::BesideGone => {}
            Event::ClientGone => self.client_gone(acts),
            Event::ServerGone(how) => self.server_gone(now, how, acts),
        }
        self.lapse(now, acts);
        self.let_go(now, acts);
        self.keep_alive(now, acts);
    }

    /// Hears what a modern server asks in a round. Other keys of the round are asked whatever becomes of this one, so
    /// a refusal is a cancelled question with the reason, not an error.
    pub fn on_round(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        self.in_round = true;
        self.on(now, Event::Server(frame), acts);
        self.in_round = false;
    }

    /// Whether the client is asked in the results of its calls, and told to wait there too.
    pub fn ask_in_rounds(&mut self, in_rounds: bool) {
        self.in_rounds = in_rounds;
    }

    /// True if a request of the client isn't answered yet.
    pub fn has_calls(&self) -> bool {
        self.calls.has_any()
    }

    /// True if several clients may share the session.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Several clients may share the session.
    pub fn share(&mut self) {
        self.is_shared = true;
    }

    /// True if a request of the server may belong to any of several clients. A round belongs to its call.
    fn is_anybodys(&self, calls: &Candidates) -> bool {
        self.is_shared && !self.in_round && self.has_candidates(calls)
    }

    /// Whether nothing would happen here to a request of a client that can do these.
    pub fn stays_out(&self, method: &str, modes: Modes) -> bool {
        let leaves = |mode| self.rules.leaves_one(mode, modes);
        let asks_all = !leaves(Mode::Form) && !leaves(Mode::Url);
        match Wants::of(method) {
            Wants::Tool | Wants::Text => {
                let may_confirm = self.rules.policy.restricts()
                    || self.rules.confirm != Confirm::Never
                    || self.rules.policy.confirms();
                !may_confirm && asks_all
            }
            // A server may have other tools for those who cannot be asked.
            Wants::Tools => asks_all && !self.reads_tools(),
            Wants::Ours | Wants::Other => true,
        }
    }

    /// What the client can ask by itself from now on.
    pub fn client_can(&mut self, modes: Modes) {
        if let Some(client) = &mut self.client {
            client.modes = modes;
        }
    }

    /// When it wants to be woken.
    pub fn wakes_at(&self) -> Option<Instant> {
        let times = [
            self.keep_alive,
            self.lets_go_at(),
            self.claims.wakes_at(),
            self.questions.lapse_at(),
        ];
        times.into_iter().flatten().min()
    }

    fn asked(&mut self, turn: Turn, waiting: Waiting) {
        if self.questions.change(turn, Question::asked).is_some() {
            self.waiting = waiting;
        }
    }

    fn refused(&mut self, now: Instant, turn: Turn, why: &str, acts: &mut Vec<Act>) {
        let Some(question) = self.questions.remove(turn) else {
            return;
        };
        if let WantedBy::Server(id) = &question.wanted_by {
            acts.push(Act::ToServer(match question.in_round {
                true => question::refused(id, why),
                false => Frame::error(Some(id), code::INTERNAL_ERROR, &format!("midcall: {why}")),
            }));
        } else {
            let nobody = Outcome::Unavailable(Unavailable::NoRoute);
            self.question_ended(now, question, nobody, acts);
        }
    }

    /// Opening a link is consent, and that is all the server asked for.
    fn opened(&mut self, turn: Turn, by: By, acts: &mut Vec<Act>) {
        let opened = self.questions.change(turn, |question| question.opened(by));
        acts.extend(opened.flatten().map(Act::ToServer));
    }

    fn ended(&mut self, now: Instant, turn: Turn, outcome: Outcome, acts: &mut Vec<Act>) {
        let Some(question) = self.questions.remove(turn) else {
            return;
        };
        let plan = self.plan(&question.elicitation);
        if outcome == Outcome::Unavailable(Unavailable::NoRoute)
            && plan
                .routes
                .as_ref()
                .is_some_and(|routes| routes.has(Route::Model))
            && let WantedBy::Server(id) = question.wanted_by.clone()
            && self.model_may(&question.elicitation, &question.calls, &plan)
        {
            return self.ask_model(now, question, Some(id), acts);
        }
        self.question_ended(now, question, outcome, acts);
    }

    /// Tells whoever wanted to know how a question ended.
    fn question_ended(
        &mut self,
        now: Instant,
        question: Question,
        outcome: Outcome,
        acts: &mut Vec<Act>,
    ) {
        if let At::Model(model) = &question.at {
            self.answered.ended(model, &outcome);
        }
        match question.wanted_by.clone() {
            WantedBy::Server(id) => match &outcome {
                Outcome::Unavailable(why) if self.rules.on_unavailable == OnUnavailable::Error => {
                    acts.push(Act::ToServer(question::unavailable(&id, *why)));
                }
                _ => acts.extend(question.ended(&id, outcome).map(Act::ToServer)),
            },
            WantedBy::Confirmation(call) => self.confirmed(now, &call, &outcome, acts),
            WantedBy::Links(call) => self.link_ended(now, &call, &outcome, acts),
            WantedBy::Sampling(id, request) => self.sampled(&id, request, &outcome, acts),
        }
    }

    /// Asks what Midcall itself needs to know before it passes something on; `false` if nobody can be asked. A
    /// model cannot agree for a person to what a model wants to do.
    fn ask_for(
        &mut self,
        now: Instant,
        mut elicitation: Elicitation,
        wanted_by: WantedBy,
        calls: Candidates,
        acts: &mut Vec<Act>,
    ) -> bool {
        let mut plan = self.plan(&elicitation);
        plan.routes = plan.routes.map(|routes| routes.without(Route::Model));
        if let Some(why) = self.forbidden(now, &mut elicitation, &plan) {
            tracing::warn!("nobody is asked for an approval: {why}");
            return false;
        }
        match self.route(&elicitation, &calls, &plan) {
            Some(Route::Client) => {
                let id = self.own_ids.fresh();
                let asked = Frame::request(&id, ElicitRequestParams::METHOD, elicitation.params());
                acts.push(Act::ToClient(self.warned(&elicitation, asked)));
                let at = At::Client {
                    told: None,
                    since: now,
                    until: now + self.patience(&elicitation),
                };
                let question = Question::new(elicitation, wanted_by, calls, at);
                self.questions.add(Some(id), question);
            }
            Some(_) => {
                let at = At::Desk(State::Coming);
                let question = Question::new(elicitation.clone(), wanted_by, calls, at);
                let turn = self.questions.add(None, question);
                acts.push(Act::Ask(turn, Box::new(elicitation)));
            }
            None => return false,
        }
        true
    }

    /// Who asks, in the calls that are open now.
    fn asker(&self) -> Asker {
        let links = match self.rules.policy.allows_links() {
            true => {
                self.rules
                    .plan(&self.server.asker.server, &self.open_tools(), Mode::Url)
                    .links
            }
            false => None,
        };
        Asker {
            tool: self.tool(),
            links: links.unwrap_or_default(),
            ..self.server.asker.clone()
        }
    }

    /// Asks somebody else what the client has not asked anybody.
    fn ask_again(
        &mut self,
        now: Instant,
        mut question: Question,
        route: Route,
        acts: &mut Vec<Act>,
    ) {
        let id = match &question.wanted_by {
            WantedBy::Server(id) => Some(id.clone()),
            WantedBy::Confirmation(_) | WantedBy::Links(_) | WantedBy::Sampling(..) => None,
        };
        if route == Route::Model {
            return self.ask_model(now, question, id, acts);
        }
        question.at = At::Desk(State::Coming);
        let elicitation = Box::new(question.elicitation.clone());
        let turn = self.questions.add(id, question);
        acts.push(Act::Ask(turn, elicitation));
    }

    /// Whether a call may be waiting for somebody other than the client.
    pub fn somebody_thinks(&self) -> bool {
        self.questions.wait()
    }

    /// A call is over: no question can belong to it any more.
    fn closed(&mut self, call: &Id) -> Option<Wants> {
        self.calls.close(call).map(|closed| closed.wants)
    }

    /// A question as the client is sent it: with what it has to tell the person about the link.
    fn warned(&self, elicitation: &Elicitation, frame: Frame) -> Frame {
        let message = verdict::warning(elicitation, self.rules.locale);
        let warned = message.and_then(|message| {
            let message = serde_json::to_string(&message).ok()?;
            frame.with(&["params", "message"], &message)
        });
        warned.unwrap_or(frame)
    }

    /// What the client can ask by itself.
    fn modes(&self) -> Modes {
        (self.client.as_ref()).map_or(Modes::default(), |client| client.modes)
    }

    /// A sentence of the catalog.
    fn say(&self, key: &str) -> String {
        let server = self.server.asker.server.as_str();
        self.rules.locale.say(key, &[("server", server.into())])
    }
}
