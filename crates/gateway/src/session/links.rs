//! Links that a call needs followed: `-32042`, and links of rounds that a server asks for again.
//!
//! A client that knows nothing of links never sees that error. A person opens them once, and the call is made again when
//! what they lead to is done: when the server or a person says so, and slowly meanwhile.

use std::time::Duration;

use crate::moment::Moment;
use memchr::memmem;
use midcall_core::wire::{
    Asked, ElicitRequestParams, ElicitationCompleteParams, Mode, UrlElicitationRequired, code,
    member,
};
use midcall_core::{Answer, Asker, Elicitation, Link, is_ambiguous};
use midcall_desk::{Outcome, Withdrawn};
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Out, Output, Session, verdict};
use crate::call::{
    Call, CallId, DeskState, Happened, LinkEnd, Links, NamedLink, Origin, Place, Question,
    QuestionId, Refusal, TellBy, Todo, WantedBy,
};
use crate::frame::{ERROR, Frame, Id, LINKS, Members, PARAMS, repeats};

/// A link that somebody opened, and how long what it leads to may take.
pub type OpenedLink = (NamedLink, Duration);

#[derive(Deserialize)]
struct RpcError<'a> {
    /// Some clients take `-32042.0` for `-32042`.
    code: f64,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// What an error says about links.
enum Needed {
    Nothing,
    Links(UrlElicitationRequired),
    /// It can be read in two ways, or names links in a way that can't be read.
    Unclear,
}

impl Session {
    /// True if a call may have to be made again because somebody other than the client follows its links, or the client
    /// wouldn't understand that it has to.
    fn follows_links(&self, call: &Call) -> bool {
        let modes = self.declared(call).modes;
        let is_known = call.request.told == TellBy::Results || self.client.opened.is_some();
        let leaves = is_known && self.setup.leaves_one(Mode::Url, modes);
        let can = modes.url || self.setup.added().url;
        leaves || (call.request.told == TellBy::Results && can)
    }

    /// An error in the place of one that names a link which nobody should open, or whose links can't be judged.
    pub(super) fn refused_links(&self, call: CallId, id: &Id, error: &[u8]) -> Option<Frame> {
        let needed = match links(error) {
            Needed::Nothing => return None,
            Needed::Links(needed) => needed,
            Needed::Unclear => {
                let told = "midcall: the server's error was refused: it may name links, and has a member twice, in other letters or of the wrong type";
                return Some(Frame::error(Some(id), code::INTERNAL_ERROR, told));
            }
        };
        let asker = self.asker(Origin::Only(call));
        let refusal = needed.elicitations.iter().filter_map(url).find_map(|url| {
            let link = Link::read_allowing(&url, asker.host.as_deref(), &asker.links);
            verdict::refusal_of(&link, self.setup.locale)
        })?;
        let told = format!("midcall: the server wants a link opened that is refused: {refusal}");
        Some(Frame::error(Some(id), code::INTERNAL_ERROR, &told))
    }

    /// An error that names links, with what the person has to hear about them; none if that is nothing.
    pub(super) fn warned_links(&self, call: CallId, frame: &Frame, error: &[u8]) -> Option<Frame> {
        #[derive(Deserialize)]
        struct Data {
            data: Elicitations,
        }
        #[derive(Deserialize)]
        struct Elicitations {
            elicitations: Vec<Value>,
        }
        let Needed::Links(named) = links(error) else {
            return None;
        };
        let asker = self.asker(Origin::Only(call));
        let named: Vec<String> = named.elicitations.iter().filter_map(url).collect();
        let mut needed = serde_json::from_slice::<Data>(error).ok()?.data;
        let mut is_warned = false;
        for (question, url) in needed.elicitations.iter_mut().zip(named) {
            let link = Link::read_allowing(&url, asker.host.as_deref(), &asker.links);
            let said = question["message"].as_str().unwrap_or_default();
            if let Some(message) = verdict::warning_of(&link, said, self.setup.locale) {
                question["message"] = message.into();
                is_warned = true;
            }
        }
        let needed = Value::Array(needed.elicitations).to_string();
        let path = ["error", "data", member::ELICITATIONS];
        is_warned.then(|| frame.with(&path, &needed)).flatten()
    }

    /// Asks for the links that a call needs, if its response names any.
    pub(super) fn needs_links(
        &mut self,
        now: Moment,
        id: CallId,
        frame: &Frame,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        let Some(Needed::Links(needed)) = members.error.map(links) else {
            return false;
        };
        let Some(call) = self.ledger.calls.get(id) else {
            return false;
        };
        if call.request.bytes.is_none() || !self.follows_links(call) {
            return false;
        }
        let asker = Asker {
            tool: call.request.tool(),
            ..self.asker(Origin::Only(id))
        };
        let revision = self.servers.get(call.server).facts.revision;
        let read = |params: &ElicitRequestParams| {
            let params = serde_json::to_string(&params.write(revision).ok()?).ok()?;
            let link = Elicitation::read(&params, asker.clone(), &self.setup.limits).ok()?;
            Some((NamedLink::of(&link)?, link))
        };
        let read: Option<Vec<_>> = needed.elicitations.iter().map(read).collect();
        let Some(read) = read else { return false };
        let (named, links): (Vec<NamedLink>, Vec<Elicitation>) = read.into_iter().unzip();
        let error = frame.kept();
        let happened = Happened::Links { named, error };
        let todo = self.ledger.calls.change(id, |call| call.on(now, happened));
        match todo {
            Some(Todo::Follow(new)) => {
                self.leaves_links(now, id, out);
                self.follow(now, id, links.into_iter().zip(new), out);
            }
            Some(Todo::Nothing) => self.leaves_links(now, id, out),
            todo => self.does(now, id, todo, out),
        }
        true
    }

    /// Asks somebody to open those links of a call that have a number.
    fn follow(
        &mut self,
        now: Moment,
        id: CallId,
        links: impl Iterator<Item = (Elicitation, Option<usize>)>,
        out: Out<'_>,
    ) {
        for (link, nth) in links {
            let Some(nth) = nth else { continue };
            let wanted_by = WantedBy::Link(id, nth);
            if !self.ask_for(now, link, wanted_by, Origin::Only(id), out) {
                return self.happens(now, id, Happened::Unopened(LinkEnd::Nobody), out);
            }
        }
    }

    /// The server has the call no more, and asks for links that may be others than before.
    fn leaves_links(&mut self, now: Moment, id: CallId, out: Out<'_>) {
        let mut questions = self.ledger.questions_of(id);
        let wants = |links: &Links, at: usize| links.all.get(at).is_some_and(|it| it.is_wanted);
        questions.retain(|question| {
            let links = self.ledger.calls.get(id).and_then(|call| call.rounds());
            let at = self.link_of(*question);
            let is_wanted = links
                .zip(at)
                .is_some_and(|(rounds, (_, at))| wants(&rounds.links, at));
            !is_wanted && !self.completes(*question, id, false, out)
        });
        self.end_questions(now, id, questions, Withdrawn::ByServer, out);
        self.renews_links(id, out);
    }

    /// Tells whoever has links of a call open where these lead by now.
    pub(super) fn renews_links(&mut self, id: CallId, out: Out<'_>) {
        let has_links = |call: &Call| call.rounds().is_some_and(|it| !it.links.all.is_empty());
        if !self.ledger.calls.get(id).is_some_and(has_links) {
            return;
        }
        let calls = &mut self.ledger.calls;
        let renewed = calls.change(id, |call| call.rounds_mut().links.take_renewed());
        let renewed = renewed.unwrap_or_default();
        for question in self.ledger.questions.of_call(id) {
            let Some((_, at)) = self.link_of(question) else {
                continue;
            };
            let is_opened = self.ledger.questions.get(question);
            let is_opened = is_opened.is_some_and(|it| it.opened_by().is_some());
            let url = renewed.iter().find(|(nth, _)| is_opened && *nth == at);
            let asker = self.asker(Origin::Only(id));
            out.extend(url.map(|(_, url)| {
                let link = Link::read_allowing(url, asker.host.as_deref(), &asker.links);
                Output::Renew(question, Box::new(link))
            }));
        }
    }

    /// The link that a question is about, if its call needs that followed, and the call.
    fn link_of(&self, question: QuestionId) -> Option<(CallId, usize)> {
        self.link_at(self.ledger.questions.get(question)?)
    }

    fn link_at(&self, question: &Question) -> Option<(CallId, usize)> {
        match question.wanted_by {
            WantedBy::Link(call, at) => Some((call, at)),
            WantedBy::Round(call, _) => {
                let rounds = self.ledger.calls.get(call)?.rounds()?;
                Some((call, rounds.links.by_id(question.link_name()?)?))
            }
            _ => None,
        }
    }

    /// Closes the question of a link that somebody opened for a call, because it has served its purpose, or the call is
    /// over. A round has had its answer: as long as the call goes on, the question stays an opened one, or its end would
    /// count as the answer to another.
    pub(super) fn completes(
        &mut self,
        id: QuestionId,
        call: CallId,
        is_over: bool,
        out: Out<'_>,
    ) -> bool {
        let by = self.ledger.questions.change(id, |question| {
            let by = question
                .opened_by()
                .filter(|_| question.wanted_by.call() == Some(call))?;
            if is_over || !matches!(question.wanted_by, WantedBy::Round(..)) {
                question.place = Place::Desk(DeskState::Leaving);
            }
            Some(by)
        });
        out.extend(by.flatten().map(|by| Output::Complete(id, by)));
        by.flatten().is_some()
    }

    /// The link of a round that a server asks for again, if somebody has answered for it in this call.
    pub(super) fn asked_again(
        &self,
        id: CallId,
        params: &ElicitRequestParams,
    ) -> Option<NamedLink> {
        let links = &self.ledger.calls.get(id)?.rounds()?.links;
        if links.all.is_empty() {
            return None;
        }
        let asker = self.asker(Origin::Only(id));
        let link = Link::read_allowing(&url(params)?, asker.host.as_deref(), &asker.links);
        let named = NamedLink::read(params, &link)?;
        links.knows(&named.key).then_some(named)
    }

    /// The link that a question asked to open, and how long what it leads to may take.
    pub(super) fn opened_link(&self, question: &Question) -> Option<OpenedLink> {
        let named = NamedLink::of(question.elicitation()?)?;
        Some((named, self.link_patience(question)))
    }

    /// How long what a link leads to may take: as long as its question waits.
    pub(super) fn link_patience(&self, question: &Question) -> Duration {
        let elicitation = question.elicitation();
        elicitation.map_or(self.setup.patience(), |it| {
            self.patience(it, &self.plan(it, question.origin))
        })
    }

    /// Somebody opened a link that a call needs, or said that they do.
    pub(super) fn consented(
        &mut self,
        now: Moment,
        id: CallId,
        link: usize,
        patience: Duration,
        out: Out<'_>,
    ) {
        self.happens(now, id, Happened::Consented { link, patience }, out);
    }

    /// How the question about a link ended that a call needs.
    pub(super) fn link_ended(
        &mut self,
        now: Moment,
        (id, link): (CallId, usize),
        question: &Question,
        outcome: Outcome,
        out: Out<'_>,
    ) {
        let end = match &outcome {
            Outcome::Answered(Answer::Accepted(_), _) => {
                let patience = self.link_patience(question);
                self.consented(now, id, link, patience, out);
                // Who answers on the page says that it is finished. A client's word is no more than consent.
                if !question.is_at_client() {
                    self.happens(now, id, Happened::Finished { link }, out);
                }
                return;
            }
            Outcome::Answered(..) => {
                let refusal = refusal(question, outcome);
                return self.happens(now, id, Happened::Refused { link, refusal }, out);
            }
            // The sign-in may take longer than the question.
            _ if question.opened_by().is_some() => return,
            Outcome::TimedOut => LinkEnd::TimedOut,
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => LinkEnd::Nobody,
        };
        self.happens(now, id, Happened::Unopened(end), out);
    }

    /// How the question about a link of a round ended that was opened before.
    pub(super) fn opened_link_ended(
        &mut self,
        now: Moment,
        id: CallId,
        question: &Question,
        outcome: Outcome,
        out: Out<'_>,
    ) {
        let Some((_, link)) = self.link_at(question) else {
            return;
        };
        match outcome {
            Outcome::Answered(Answer::Accepted(_), _) => {
                self.happens(now, id, Happened::Finished { link }, out)
            }
            Outcome::Answered(..) => {
                let refusal = refusal(question, outcome);
                self.happens(now, id, Happened::Refused { link, refusal }, out);
            }
            _ => {}
        }
    }

    fn happens(&mut self, now: Moment, id: CallId, happened: Happened, out: Out<'_>) {
        let todo = self.ledger.calls.change(id, |call| call.on(now, happened));
        self.does(now, id, todo, out);
    }

    /// Ends a call without its links.
    pub(super) fn unlinked(
        &mut self,
        now: Moment,
        id: CallId,
        error: Option<Frame>,
        end: LinkEnd,
        out: Out<'_>,
    ) {
        let key = match end {
            LinkEnd::Refused => "mcp.elicitation.links.declined",
            LinkEnd::TimedOut => "mcp.elicitation.links.timed_out",
            LinkEnd::Nobody => "mcp.elicitation.links.nobody",
            LinkEnd::Unfinished => "mcp.elicitation.links.again",
            LinkEnd::TooMany => "mcp.elicitation.links.too_many",
        };
        let why = self.say(key);
        let error = match error {
            Some(error) => links_error(&error, Some(&why)),
            None => Frame::error(None, code::INTERNAL_ERROR, &format!("midcall: {why}")),
        };
        self.withdraw_for(id, out);
        self.finish(now, id, error, out);
    }

    /// What a link was for is done; true if the client never heard of the link.
    pub(super) fn link_is_done(
        &mut self,
        now: Moment,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        let params = members
            .params
            .and_then(|params| serde_json::from_slice(params).ok());
        let Some(Ok(done)) = params.map(ElicitationCompleteParams::read) else {
            return false;
        };
        let name = &*done.elicitation_id;
        if let Some((call, link)) = self.ledger.calls.linked(name) {
            self.followed_link_is_done(now, call, link, out);
            return true;
        }
        let is_meant = |it: &Question| it.is_at_desk() && it.link_name() == Some(name);
        let found = self.ledger.questions.iter().find(|(_, it)| is_meant(it));
        let Some((id, opened_by)) = found.map(|(id, it)| (id, it.opened_by())) else {
            return false;
        };
        match opened_by {
            Some(by) => out.push(Output::Complete(id, by)),
            None => self.takes_back_link(now, id, out),
        }
        true
    }

    fn is_for_round(&self, question: QuestionId) -> bool {
        let question = self.ledger.questions.get(question);
        question.is_some_and(|question| matches!(question.wanted_by, WantedBy::Round(..)))
    }

    /// Takes a link back that nobody has opened here, so nobody has said yes.
    fn takes_back_link(&mut self, now: Moment, id: QuestionId, out: Out<'_>) {
        let Some(question) = self.ledger.questions.get(id) else {
            return;
        };
        let (is_at_desk, call) = (question.is_at_desk(), question.wanted_by.call());
        // It isn't on the desk, or not yet.
        if !is_at_desk || self.unasks(call, id) {
            let gone = Outcome::Withdrawn(Withdrawn::ByServer);
            return self.end_question(now, id, gone, out);
        }
        self.ledger.questions.change(id, |question| {
            question.place = Place::Desk(DeskState::Leaving);
        });
        out.push(Output::Withdraw(id, Withdrawn::ByServer));
    }

    /// What a link was for is done that a call needs.
    fn followed_link_is_done(&mut self, now: Moment, call: CallId, link: usize, out: Out<'_>) {
        let questions = self.ledger.questions.of_call(call).into_iter();
        let question = questions.filter(|id| self.link_of(*id) == Some((call, link)));
        let question = question.collect::<Vec<_>>().pop();
        let opened_by = question.and_then(|id| self.ledger.questions.get(id)?.opened_by());
        match (question, opened_by) {
            // Whoever has it open says so by that.
            (Some(id), Some(by)) => return out.push(Output::Complete(id, by)),
            // A round waits for an answer, whatever becomes of the link.
            (Some(id), None) if self.is_for_round(id) => {
                return self.takes_back_link(now, id, out);
            }
            // It was followed elsewhere, and the call needs no more than that.
            (Some(id), None) => {
                self.drop_question(id, Withdrawn::ByServer, out);
                self.left_round(now, call);
            }
            (None, _) => {}
        }
        self.happens(now, call, Happened::Finished { link }, out);
    }

    /// An error that names links, for a client to which that means nothing.
    pub(super) fn without_links(&self, id: CallId, response: &Frame) -> Option<Frame> {
        let (_, members) = response.peek()?;
        if members.error_code() != Some(code::URL_ELICITATION_REQUIRED) {
            return None;
        }
        let call = self.ledger.calls.get(id)?;
        if call.request.told == TellBy::Requests && self.declared(call).modes.url {
            return None;
        }
        let why = match links(members.error?) {
            Needed::Links(_) => Some(self.say("mcp.elicitation.links.nobody")),
            Needed::Nothing | Needed::Unclear => None,
        };
        Some(links_error(response, why.as_deref()))
    }
}

/// A no to a link, as a modern server is told.
fn refusal(question: &Question, outcome: Outcome) -> Refusal {
    let (result, outcome) = question.ended(outcome);
    let result = serde_json::value::to_raw_value(&result.write());
    Refusal {
        result: result.expect("our own results are JSON"),
        outcome: Some(outcome),
    }
}

/// An error that named links, with words of ours, for a client that can't follow them.
fn links_error(frame: &Frame, why: Option<&str>) -> Frame {
    #[derive(Deserialize)]
    struct Said {
        #[serde(default)]
        message: String,
    }
    let error = frame.peek().and_then(|(_, members)| members.error);
    let said = error.and_then(|error| serde_json::from_slice::<Said>(error).ok());
    let mut words = said.map(|said| said.message).unwrap_or_default();
    if let Some(why) = why {
        words = format!("{words} (midcall: {why})").trim_start().to_owned();
    }
    let (code, words) = (code::INTERNAL_ERROR.to_string(), json!(words).to_string());
    let told = frame.with(&["error", "code"], &code);
    told.and_then(|told| told.with(&["error", "message"], &words))
        .unwrap_or_else(|| Frame::error(None, code::INTERNAL_ERROR, "midcall: a link was needed"))
}

/// The links that an error names.
fn links(error: &[u8]) -> Needed {
    if repeats(error, &ERROR) {
        return Needed::Unclear;
    }
    let data = match serde_json::from_slice(error) {
        Ok(RpcError { code, data }) if code == code::URL_ELICITATION_REQUIRED as f64 => data,
        Err(_) if memmem::find(error, b"32042").is_some() => return Needed::Unclear,
        _ => return Needed::Nothing,
    };
    let Some(data) = data.map(RawValue::get) else {
        return Needed::Nothing;
    };
    if is_ambiguous(data) || repeats(data.as_bytes(), &LINKS) {
        return Needed::Unclear;
    }
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    let links = data[member::ELICITATIONS].as_array().into_iter().flatten();
    let mut links = links.map(Value::to_string);
    if links.any(|link| repeats(link.as_bytes(), &PARAMS)) {
        return Needed::Unclear;
    }
    match UrlElicitationRequired::read(data) {
        Ok(needed) if needed.elicitations.is_empty() => Needed::Nothing,
        Ok(needed) => Needed::Links(needed),
        Err(_) => Needed::Unclear,
    }
}

fn url(params: &ElicitRequestParams) -> Option<String> {
    match &params.asked {
        Asked::Url { url, .. } => Some(url.clone()),
        Asked::Form { .. } => None,
    }
}
