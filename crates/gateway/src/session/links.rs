//! `-32042`: a call that the server takes only after links have been followed.
//!
//! A client that knows nothing of links never sees that error. A person follows them on the page, and then the call is
//! made again.

use crate::moment::Moment;
use memchr::memmem;
use midcall_core::wire::{
    Asked, ElicitRequestParams, ElicitationCompleteParams, Mode, UrlElicitationRequired, code,
    member,
};
use midcall_core::{Answer, Asker, Elicitation, Link, is_ambiguous};
use midcall_desk::{Outcome, Unavailable, Withdrawn};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Out, Output, Session, verdict};
use crate::call::{
    Call, CallId, DeskState, Happened, Origin, Place, Question, Stage, TellBy, Todo, WantedBy,
};
use crate::frame::{ERROR, Frame, Id, LINKS, Members, PARAMS, repeats};

/// How many links one call may need, all in all.
const MOST: usize = 16;

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
        let urls: Vec<String> = needed.elicitations.iter().filter_map(url).collect();
        let named = call.rounds().map(|rounds| &rounds.named);
        let again = named.is_some_and(|named| urls.iter().any(|url| named.contains(url)));
        if again || named.map_or(0, |named| named.len()) + urls.len() > MOST {
            let key = match again {
                true => "mcp.elicitation.links.again",
                false => "mcp.elicitation.links.too_many",
            };
            let error = self.links_error(frame, key);
            self.finish(now, id, error, out);
            return true;
        }
        let asker = Asker {
            tool: call.request.tool(),
            ..self.asker(Origin::Only(id))
        };
        let revision = self.servers.get(call.server).facts.revision;
        let read = |params: &ElicitRequestParams| {
            let params = serde_json::to_string(&params.write(revision).ok()?).ok()?;
            Elicitation::read(&params, asker.clone(), &self.setup.limits).ok()
        };
        let links: Option<Vec<Elicitation>> = needed.elicitations.iter().map(read).collect();
        let Some(links) = links else { return false };
        let questions = self.ledger.questions_of(id);
        self.end_questions(now, id, questions, Withdrawn::ByServer, out);
        let happened = Happened::Links {
            asks: links.len(),
            error: frame.kept(),
        };
        let todo = self.ledger.calls.change(id, |call| {
            call.rounds_mut().named.extend(urls);
            call.on(now, happened)
        });
        if todo != Some(Todo::Ask) {
            return false;
        }
        for link in links {
            let is_asked = self.ask_for(now, link, WantedBy::Link(id), Origin::Only(id), out);
            if !is_asked {
                self.link_ended(now, id, &Outcome::Unavailable(Unavailable::NoRoute), out);
                break;
            }
        }
        true
    }

    /// How a link that a call needs ended.
    pub(super) fn link_ended(&mut self, now: Moment, id: CallId, outcome: &Outcome, out: Out<'_>) {
        let key = match outcome {
            Outcome::Answered(Answer::Accepted(_), _) => return self.followed(now, id, out),
            Outcome::Answered(..) => "mcp.elicitation.links.declined",
            Outcome::TimedOut => "mcp.elicitation.links.timed_out",
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => "mcp.elicitation.links.nobody",
        };
        let stage = self.ledger.calls.get(id).map(Call::stage);
        if let Some(Stage::Asking {
            error: Some(error), ..
        }) = stage
        {
            let error = self.links_error(error, key);
            self.withdraw_for(id, out);
            self.finish(now, id, error, out);
        }
    }

    /// One of the links that a call needs has served its purpose.
    fn followed(&mut self, now: Moment, id: CallId, out: Out<'_>) {
        let todo = self
            .ledger
            .calls
            .change(id, |call| call.on(now, Happened::Followed));
        self.does(now, id, todo, out);
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
        let is_meant = |question: &Question| {
            question.is_at_desk() && question.is_link_named(&done.elicitation_id)
        };
        let found = self
            .ledger
            .questions
            .iter()
            .find(|(_, question)| is_meant(question));
        let Some((id, question)) = found else {
            return false;
        };
        match (question.opened_by(), question.wanted_by.clone()) {
            (Some(by), _) => out.push(Output::Complete(id, by)),
            // It was followed elsewhere, and the call needs no more than that.
            (None, WantedBy::Link(call)) => {
                self.ledger.questions.remove(id);
                out.push(Output::Withdraw(id, Withdrawn::ByServer));
                self.followed(now, call, out);
            }
            // Nobody has opened it here, so nobody has said yes.
            (None, _) => {
                self.ledger.questions.change(id, |question| {
                    question.place = Place::Desk(DeskState::Leaving)
                });
                out.push(Output::Withdraw(id, Withdrawn::ByServer));
            }
        }
        true
    }

    /// An error that named links, with words for a client that can't follow them.
    fn links_error(&self, frame: &Frame, key: &str) -> Frame {
        #[derive(Deserialize)]
        struct Said {
            #[serde(default)]
            message: String,
        }
        let error = frame.peek().and_then(|(_, members)| members.error);
        let said = error.and_then(|error| serde_json::from_slice::<Said>(error).ok());
        let said = said.map(|said| said.message).unwrap_or_default();
        let why = self.say(key);
        let words = Value::from(format!("{said} (midcall: {why})").trim_start()).to_string();
        frame
            .with(&["error", "message"], &words)
            .unwrap_or_else(|| frame.clone())
    }
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
