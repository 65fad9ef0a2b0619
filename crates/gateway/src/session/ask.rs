//! A question comes: from a server's request, a round, a task, an error that names links, or from Midcall itself.

use std::time::Duration;

use crate::moment::Moment;
use midcall_core::wire::{ElicitRequestParams, Mode, Task, code, member};
use midcall_core::{Asker, Elicitation, Wanted};
use midcall_desk::{Outcome, Withdrawn};

use super::save::Held;
use super::settle::Settled;
use super::{Out, Output, Session, sampling, verdict};
use crate::call::{
    Ability, AtClient, CallId, DeskState, Origin, Place, Question, QuestionId, ServerId, TellBy,
    WantedBy, What, rendition,
};
use crate::frame::{Frame, Id, Members};
use crate::leg::server::{legacy, too_many_requests};
use crate::route::{Plan, Route, Secrets};

/// How many questions may be open at once. The desk has its own, lower bounds.
pub const MOST_QUESTIONS: usize = 1_000;

/// Why a server that several clients share can't ask one of them.
pub const ANYBODYS: &str =
    "several clients have calls open here, and which of them this is for isn't known";

/// A request of a server.
pub struct ServerRequest<'a> {
    pub from: ServerId,
    /// The request as it came.
    pub frame: &'a Frame,
    pub id: Id,
    /// The calls that it can have come up in.
    pub origin: Origin,
}

/// A question that has just come.
pub struct Asking {
    pub wanted_by: WantedBy,
    pub origin: Origin,
    /// The question as a request to the client.
    pub request: Frame,
    /// The id of that request.
    pub id: Id,
}

impl Session {
    /// A server asks something by a request.
    pub(super) fn server_asks(
        &mut self,
        now: Moment,
        request: ServerRequest<'_>,
        method: &str,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let ServerRequest {
            from, id, origin, ..
        } = &request;
        if method == ElicitRequestParams::METHOD {
            return self.server_elicits(now, request, out);
        }
        if method == Task::RESULT && self.fetches_answer(now, &request, members, out) {
            return;
        }
        if method == "ping" && (self.client.told == TellBy::Results || self.client.has_left) {
            let pong = Frame::result(id, &serde_json::json!({}));
            return out.push(Output::ToServer(*from, pong));
        }
        if self.client.has_left {
            return out.push(Output::ToServer(*from, super::leave::client_left(Some(id))));
        }
        // What a server wants of one client's model, or to know of its folders, is none of another's business.
        if method != "ping" && self.is_anybodys(*origin) {
            let told = format!("midcall: {ANYBODYS}");
            let error = Frame::error(Some(id), code::INVALID_REQUEST, &told);
            return out.push(Output::ToServer(*from, error));
        }
        match method {
            sampling::METHOD => self.samples(now, request, members, out),
            _ => self.pass_request(now, request, out),
        }
    }

    /// The calls that a server's request can have come up in.
    pub(super) fn origin(&self, from: ServerId, during: Option<&Id>) -> Origin {
        let calls = &self.ledger.calls;
        let origin = self.ledger.origin(from);
        let known = during.and_then(|id| calls.at_server(from, id));
        // Once another window has a call open here, nobody could tell any more.
        let only = || {
            let mut candidates = calls.candidates(origin);
            candidates.next().filter(|_| candidates.next().is_none())
        };
        let known = known.or_else(|| self.is_shared.then(only).flatten());
        known.map_or(origin, Origin::Only)
    }

    /// True if a request of the server may belong to any of several clients. A round belongs to its call.
    pub(super) fn is_anybodys(&self, origin: Origin) -> bool {
        self.is_shared && matches!(origin, Origin::Before(..)) && self.ledger.has_candidates(origin)
    }

    fn server_elicits(&mut self, now: Moment, request: ServerRequest<'_>, out: Out<'_>) {
        let ServerRequest {
            from,
            frame,
            id,
            origin,
        } = request;
        let wanted_by = WantedBy::Request(from, id.clone());
        if let Err(settled) = self.admits(from, &id) {
            return self.turn_away(now, wanted_by, settled, out);
        }
        let (request, id) = self.for_client(frame, id);
        self.elicit(
            now,
            Asking {
                wanted_by,
                origin,
                request,
                id,
            },
            out,
        );
    }

    /// Whether a server's question can be put at all, or what becomes of it at once.
    pub(super) fn admits(&mut self, from: ServerId, id: &Id) -> Result<(), Settled> {
        let nobody = |why| Err(Settled::Ended(Outcome::Withdrawn(why)));
        if self.client.is_gone {
            return nobody(Withdrawn::ByClient);
        }
        if self.ledger.questions.take_cancelled(from, id) {
            return nobody(Withdrawn::ByServer);
        }
        let questions = &self.ledger.questions;
        let is_used = questions.asked_by(from, id).is_some() || self.passed.is(from, id);
        if is_used || questions.len() >= MOST_QUESTIONS {
            let why = "this id is in use, or too many questions are open".to_owned();
            return Err(Settled::Refused(code::INVALID_REQUEST, why));
        }
        Ok(())
    }

    /// A server's request as the client gets it: another server may ask by the same id.
    pub(super) fn for_client(&mut self, frame: &Frame, id: Id) -> (Frame, Id) {
        let is_taken = self.ledger.questions.asked_to(&id).is_some() || self.passed.has(&id);
        match is_taken {
            true => {
                let own = self.own_ids.fresh();
                (frame.with_id(&own), own)
            }
            false => (frame.clone(), id),
        }
    }

    /// Puts a server's question to somebody.
    pub(super) fn elicit(&mut self, now: Moment, mut wanted: Asking, out: Out<'_>) {
        if !self.may_be_task(&wanted.wanted_by)
            && let Some(plain) = legacy::without_task(&wanted.request)
        {
            wanted.request = plain;
        }
        let peeked = wanted.request.peek();
        if peeked
            .as_ref()
            .is_some_and(|(_, members)| members.is_ambiguous)
        {
            let why = "the question's params have a member twice, or in other letters".to_owned();
            return self.turn_away(
                now,
                wanted.wanted_by,
                Settled::Refused(code::INVALID_REQUEST, why),
                out,
            );
        }
        let params = peeked
            .as_ref()
            .and_then(|(_, members)| str::from_utf8(members.params?).ok());
        let asker = self.asker(wanted.origin);
        let read = Elicitation::read(params.unwrap_or("null"), asker, &self.setup.limits);
        let elicitation = match read {
            Ok(elicitation) => elicitation,
            Err(error) => {
                let has_link = peeked
                    .as_ref()
                    .is_some_and(|(_, members)| super::unread::has_link(members));
                if let Err(why) = self.pass_unread(now, &wanted, &error, has_link, out) {
                    let refused = Settled::Refused(code::INVALID_PARAMS, why);
                    self.turn_away(now, wanted.wanted_by, refused, out);
                }
                return;
            }
        };
        drop(peeked);
        let plan = self.plan(&elicitation, wanted.origin);
        if let Some(why) = self.forbidden(now, &elicitation, &plan) {
            let refused = Settled::Refused(code::INVALID_REQUEST, why);
            return self.turn_away(now, wanted.wanted_by, refused, out);
        }
        let Asking {
            wanted_by,
            origin,
            request,
            id,
        } = wanted;
        let question = self.question(now, elicitation, wanted_by, origin, &plan);
        if let Err(question) = self.place(now, question, &plan, Some((request, id)), out) {
            if self.is_anybodys(origin) {
                let anybodys = Settled::Refused(code::INVALID_REQUEST, ANYBODYS.to_owned());
                return self.settle(now, *question, anybodys, out);
            }
            self.asks_nobody(now, *question, out);
        }
    }

    /// A question that anybody may be asked whom its plan names.
    fn question(
        &self,
        now: Moment,
        elicitation: Elicitation,
        wanted_by: WantedBy,
        origin: Origin,
        plan: &Plan,
    ) -> Question {
        let deadline = now + self.patience(&elicitation, plan);
        let what = What::Elicit(Box::new(self.timed(elicitation, plan)));
        let place = Place::Desk(DeskState::Coming);
        let mut question = Question::new(what, wanted_by, origin, place, deadline);
        question.others = plan.routes.clone();
        question
    }

    /// Asks what Midcall itself needs to know before it passes something on; false if nobody can be asked. A model can't
    /// agree for a person to what a model wants to do.
    pub(super) fn ask_for(
        &mut self,
        now: Moment,
        elicitation: Elicitation,
        wanted_by: WantedBy,
        origin: Origin,
        out: Out<'_>,
    ) -> bool {
        let mut plan = self.plan(&elicitation, origin);
        plan.routes = plan.routes.without(Route::Model);
        if let Some(why) = self.forbidden(now, &elicitation, &plan) {
            tracing::warn!("nobody is asked for an approval: {why}");
            return false;
        }
        let id = self.own_ids.fresh();
        let request = Frame::request(&id, ElicitRequestParams::METHOD, elicitation.params());
        let question = self.question(now, elicitation, wanted_by, origin, &plan);
        self.place(now, question, &plan, Some((request, id)), out)
            .is_ok()
    }

    /// Puts a question where its plan says: to the first that can show it. Returns it if there is nobody.
    ///
    /// `request` is the question as the client gets it; without one, the client isn't asked.
    pub(super) fn place(
        &mut self,
        now: Moment,
        mut question: Question,
        plan: &Plan,
        request: Option<(Frame, Id)>,
        out: Out<'_>,
    ) -> Result<QuestionId, Box<Question>> {
        let (route, is_certain) = self.route(&question, plan, request.is_some());
        let Some(route) = route else {
            return Err(Box::new(question));
        };
        if !is_certain {
            return Ok(self.waits_for_list(now, question, request, out));
        }
        question.others = question.others.clone().after(route);
        match (route, request) {
            (Route::Client, Some((request, id))) => {
                Ok(self.ask_client(now, question, request, id, out))
            }
            (Route::Model, _) => Ok(self.ask_model(now, question, out)),
            _ => {
                question.place = Place::Desk(DeskState::Coming);
                let id = self.ledger.questions.add(question);
                self.asks_at_desk(id, out);
                Ok(id)
            }
        }
    }

    /// Puts a question on the desk.
    fn asks_at_desk(&mut self, id: QuestionId, out: Out<'_>) {
        let question = self.ledger.questions.get(id);
        let call = question.and_then(|question| question.wanted_by.call());
        match (self.ask_of(id), call) {
            (Some(ask), Some(call)) => self.tells(call, ask, Held::Desk, out),
            (ask, _) => out.extend(ask),
        }
    }

    /// A question as it is put on the desk.
    pub(super) fn ask_of(&mut self, id: QuestionId) -> Option<Output> {
        let ticket = self.ticket_of(id);
        let elicitation = self.ledger.questions.get(id)?.elicitation()?;
        Some(Output::Ask(id, ticket, Box::new(elicitation.clone())))
    }

    /// The first of those that may be asked and can show a question, and whether that is certain: it may depend on tools
    /// that aren't known yet.
    fn route(&self, question: &Question, plan: &Plan, may_client: bool) -> (Option<Route>, bool) {
        let Some(elicitation) = question.elicitation() else {
            return (None, true);
        };
        let is_anybodys = self.is_anybodys(question.origin);
        let mut is_certain = true;
        let route = question.others.first(|route| match route {
            Route::Client | Route::Model if is_anybodys => false,
            Route::Client => may_client && self.can_ask(question) && self.renders(elicitation),
            Route::Page | Route::Api => true,
            Route::Model => {
                let may = self.model_may(question, plan);
                is_certain = may.is_some();
                may.unwrap_or(true)
            }
        });
        (route, is_certain)
    }

    /// True if the client can be asked by itself.
    fn can_ask(&self, question: &Question) -> bool {
        let Some(elicitation) = question.elicitation() else {
            return false;
        };
        match self.client.told {
            _ if self.client.has_left => false,
            TellBy::Requests => self
                .client
                .modes()
                .is_some_and(|modes| modes.has(mode_of(elicitation))),
            TellBy::Results => self.hosts(question, ability_of(elicitation)).is_some(),
        }
    }

    /// The call that the client is told a question in.
    fn hosts(&self, question: &Question, ability: Ability) -> Option<CallId> {
        let origin = match &question.wanted_by {
            WantedBy::Round(call, _) | WantedBy::Approval(call) | WantedBy::Link(call, _) => {
                Origin::Only(*call)
            }
            WantedBy::Request(..) | WantedBy::Sampling(..) => question.origin,
        };
        self.ledger.calls.askable(ability, origin, self.is_shared)
    }

    /// Puts a question to the client: by a request, or in the result of a call.
    pub(super) fn ask_client(
        &mut self,
        now: Moment,
        mut question: Question,
        request: Frame,
        id: Id,
        out: Out<'_>,
    ) -> QuestionId {
        let rendition = question
            .elicitation()
            .and_then(|elicitation| self.rendition(elicitation));
        if self.client.told == TellBy::Requests {
            let mut told = request;
            if let Some(rendition) = &rendition
                && let Ok(schema) = serde_json::to_string(&rendition.schema)
            {
                told = told
                    .with(&["params", member::REQUESTED_SCHEMA], &schema)
                    .unwrap_or(told);
            }
            if let Some(elicitation) = question.elicitation() {
                told = self.warned(elicitation, told);
            }
            question.may_be_task = legacy::wants_task(&told);
            out.push(self.to_client(question.origin.only(), told));
            question.place = Place::Client {
                at: AtClient::Request(id),
                since: now,
                rendition,
            };
            return self.ledger.questions.add(question);
        }
        let ability = question.elicitation().map_or(Ability::Form, ability_of);
        let call = self.hosts(&question, ability);
        self.ask_in_round(now, question, call, rendition)
    }

    /// Tells the client a question in the result of a call.
    pub(super) fn ask_in_round(
        &mut self,
        now: Moment,
        mut question: Question,
        call: Option<CallId>,
        rendition: Option<Box<midcall_core::wire::Telling>>,
    ) -> QuestionId {
        let call = call.unwrap_or(CallId(0));
        let asked = self.ledger.calls.change(call, |call| {
            call.audience.asked += 1;
            call.hands_off = false;
            call.audience.asked
        });
        let key = self.key(call, &question.wanted_by, asked.unwrap_or(1));
        let at = AtClient::Round {
            call,
            key,
            is_told: false,
        };
        question.place = Place::Client {
            at,
            since: now,
            rendition,
        };
        self.ledger.untold.push(call);
        self.ledger.questions.add(question)
    }

    /// What a question is called in a call's round: as its server calls it, if it is that call's, or by a name of ours.
    fn key(&self, call: CallId, wanted_by: &WantedBy, asked: usize) -> String {
        let own = match wanted_by {
            WantedBy::Round(of, key) if *of == call => Some(key.clone()),
            _ => None,
        };
        let ours = (asked..).map(|nth| format!("q{nth}"));
        let mut keys = own.into_iter().chain(ours);
        let questions = &self.ledger.questions;
        keys.find(|key| !questions.has_key(call, key))
            .unwrap_or_default()
    }

    /// A form in words that the client knows, if it doesn't know the server's.
    pub(super) fn rendition(
        &self,
        elicitation: &Elicitation,
    ) -> Option<Box<midcall_core::wire::Telling>> {
        let server = self.servers.first.facts.revision;
        let opened = self
            .client
            .opened
            .as_ref()
            .filter(|_| self.client.told == TellBy::Requests);
        let revision = opened.map_or(crate::leg::NEWEST_LEGACY.max(server), |opened| {
            opened.revision
        });
        rendition(elicitation, revision, revision < server, self.locale())
    }

    /// A question as the client is sent it: with what it has to tell the person about the link.
    fn warned(&self, elicitation: &Elicitation, frame: Frame) -> Frame {
        let message = verdict::warning(elicitation, self.locale());
        let warned = message.and_then(|message| {
            let message = serde_json::to_string(&message).ok()?;
            frame.with(&["params", "message"], &message)
        });
        warned.unwrap_or(frame)
    }

    /// Passes a request of a server on that isn't a person's to answer.
    pub(super) fn pass_request(&mut self, now: Moment, request: ServerRequest<'_>, out: Out<'_>) {
        let ServerRequest {
            from,
            frame,
            id,
            origin,
        } = request;
        let is_modern = self.servers.get(from).facts.has_rounds() || from == ServerId::Second;
        let refused =
            |told: &str, code| Output::ToServer(from, Frame::error(Some(&id), code, told));
        if self.client.told == TellBy::Requests {
            if is_modern && self.passed.are_many() {
                return out.push(Output::ToServer(from, too_many_requests(&id)));
            }
            let is_taken = self.passed.has(&id) || self.ledger.questions.asked_to(&id).is_some();
            if is_taken && !self.passed.is(from, &id) {
                let own = self.own_ids.fresh();
                out.push(self.to_client(origin.only(), frame.with_id(&own)));
                return self.passed.add(own, from, id);
            }
            self.passed.add(id.clone(), from, id);
            return out.push(self.to_client(origin.only(), frame.clone()));
        }
        let Some((crate::frame::Kind::Request { method, .. }, members)) = frame.peek() else {
            return;
        };
        let ability = super::result::ability_of(&method);
        let host =
            ability.and_then(|ability| self.ledger.calls.askable(ability, origin, self.is_shared));
        if host.is_none() {
            return out.push(refused(
                "midcall: the client cannot do this",
                code::METHOD_NOT_FOUND,
            ));
        }
        let is_used = self.ledger.questions.asked_by(from, &id).is_some();
        if is_used || self.ledger.questions.len() >= MOST_QUESTIONS {
            return out.push(refused(
                "midcall: too many questions are open",
                code::INVALID_REQUEST,
            ));
        }
        let params = members
            .params
            .and_then(|json| serde_json::from_slice(json).ok());
        let what = What::Other {
            method: method.into_owned(),
            params,
        };
        let place = Place::Desk(DeskState::Coming);
        let deadline = now + self.setup.patience();
        let question = Question::new(what, WantedBy::Request(from, id), origin, place, deadline);
        self.ask_in_round(now, question, host, None);
    }

    /// Who asks, in the calls that a question can have come up in.
    pub(super) fn asker(&self, origin: Origin) -> Asker {
        let facts = &self.servers.first.facts;
        let links = match self.setup.allows_links() {
            true => {
                self.setup
                    .plan(&facts.asker.server, &self.tools_of(origin), Mode::Url)
                    .links
            }
            false => Vec::new(),
        };
        Asker {
            tool: self.tool_of(origin),
            links,
            ..facts.asker.clone()
        }
    }

    /// The tools that are called in these calls, if any rule is about some tools only.
    pub(super) fn tools_of(&self, origin: Origin) -> Vec<String> {
        if !self.setup.minds_tools() {
            return Vec::new();
        }
        let tools = self.ledger.calls.tools(origin);
        let named = tools.filter_map(|(name, _)| name);
        named
            .filter_map(|name| serde_json::from_slice(name).ok())
            .collect()
    }

    /// The tool that is called in these calls, if there is no doubt about it.
    fn tool_of(&self, origin: Origin) -> Option<String> {
        let tools = self.ledger.calls.tools(origin);
        let mut named = tools.filter_map(|(name, count)| Some((name?, count)));
        let (name, _) = named
            .next()
            .filter(|(_, count)| *count == 1 && named.next().is_none())?;
        serde_json::from_slice(name).ok()
    }

    /// What applies to a question that comes up now.
    pub(super) fn plan(&self, elicitation: &Elicitation, origin: Origin) -> Plan {
        let server = self.servers.first.facts.asker.server.as_str();
        self.setup
            .plan(server, &self.tools_of(origin), mode_of(elicitation))
    }

    /// Why a question isn't asked, if the policy says so.
    fn forbidden(&mut self, now: Moment, elicitation: &Elicitation, plan: &Plan) -> Option<String> {
        if let Some(why) = verdict::refusal(elicitation, self.locale()) {
            return Some(format!("this link is refused: {why}"));
        }
        if plan.secrets != Secrets::Allow && elicitation.asks_secret {
            if plan.secrets == Secrets::Refuse {
                let why = "this form asks for a secret, and the policy forbids that: use URL mode";
                return Some(why.to_owned());
            }
            tracing::warn!("the server asks for a secret in a form");
        }
        let most = plan.asks_per_minute;
        let allows = self.rate.allows(most, now);
        (!allows).then(|| format!("the policy allows {most} questions a minute"))
    }

    /// How long a question waits.
    pub(super) fn patience(&self, elicitation: &Elicitation, plan: &Plan) -> Duration {
        plan.wait(elicitation.timeout_ms.map(Duration::from_millis))
    }

    /// The question, waiting no longer than its plan allows.
    fn timed(&self, mut elicitation: Elicitation, plan: &Plan) -> Elicitation {
        if plan.longest < crate::route::LONGEST {
            let most = u64::try_from(plan.longest.as_millis()).unwrap_or(u64::MAX);
            let wanted = elicitation.timeout_ms.unwrap_or(most);
            elicitation.timeout_ms = Some(wanted.min(most));
        }
        elicitation
    }

    /// True if the client can show a question to a person.
    pub(super) fn renders(&self, elicitation: &Elicitation) -> bool {
        let profile = self.setup.profile.as_ref();
        let rendered = profile.map_or(Ok(()), |profile| profile.renders(elicitation));
        rendered
            .inspect_err(|why| tracing::info!("the client is not asked: {why}"))
            .is_ok()
    }
}

pub fn mode_of(elicitation: &Elicitation) -> Mode {
    match elicitation.wanted {
        Wanted::Form(_) => Mode::Form,
        Wanted::Link(_) => Mode::Url,
    }
}

pub fn ability_of(elicitation: &Elicitation) -> Ability {
    match elicitation.wanted {
        Wanted::Form(_) => Ability::Form,
        Wanted::Link(_) => Ability::Url,
    }
}
