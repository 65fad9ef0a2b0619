//! `-32042`: a call that the server takes only after links have been followed.
//!
//! A client that knows nothing of links never sees that error. A person follows them on the
//! page, and then the call is made again.

use memchr::memmem;
use midcall_core::wire::{
    Asked, ElicitRequestParams, ElicitationCompleteParams, Mode, UrlElicitationRequired, code,
};
use midcall_core::{Answer, Asker, Elicitation, Link, is_ambiguous};
use midcall_desk::{Outcome, Unavailable, Withdrawn};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::candidates::Candidates;
use super::errand::Stage;
use super::question::{Question, WantedBy};
use super::{Act, Session, verdict};
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
    /// Whether calls may have to be made again because somebody other than the client follows
    /// their links, or the client would not understand that it has to.
    pub(super) fn follows_links(&self) -> bool {
        let can = self.modes().url || self.rules.added().url;
        self.leaves_one(Mode::Url) || (self.in_rounds && can)
    }

    /// An error in the place of one that names a link which nobody should open, or whose links can't be judged.
    pub(super) fn refused_links(&self, id: &Id, error: &[u8]) -> Option<Frame> {
        let needed = match links(error) {
            Needed::Nothing => return None,
            Needed::Links(needed) => needed,
            Needed::Unclear => {
                let told = "midcall: the server's error was refused: it may name links, and has a member twice, in other letters or of the wrong type";
                return Some(Frame::error(Some(id), code::INTERNAL_ERROR, told));
            }
        };
        let asker = self.asker();
        let refusal = needed.elicitations.iter().filter_map(url).find_map(|url| {
            let link = Link::read_allowing(&url, asker.host.as_deref(), &asker.links);
            verdict::refusal_of(&link, self.rules.locale)
        })?;
        let told = format!("midcall: the server wants a link opened that is refused: {refusal}");
        Some(Frame::error(Some(id), code::INTERNAL_ERROR, &told))
    }

    /// An error that names links, with what the person has to hear about them; none if that is nothing.
    pub(super) fn warned_links(&self, frame: &Frame, error: &[u8]) -> Option<Frame> {
        #[derive(Deserialize)]
        struct Data {
            data: Elicitations,
        }
        #[derive(Deserialize)]
        struct Elicitations {
            elicitations: Vec<Value>,
        }
        let asker = self.asker();
        let Needed::Links(named) = links(error) else {
            return None;
        };
        let named: Vec<String> = named.elicitations.iter().filter_map(url).collect();
        let mut needed = serde_json::from_slice::<Data>(error).ok()?.data;
        let mut is_warned = false;
        for (question, url) in needed.elicitations.iter_mut().zip(named) {
            let link = Link::read_allowing(&url, asker.host.as_deref(), &asker.links);
            let said = question["message"].as_str().unwrap_or_default();
            if let Some(message) = verdict::warning_of(&link, said, self.rules.locale) {
                question["message"] = message.into();
                is_warned = true;
            }
        }
        let needed = Value::Array(needed.elicitations).to_string();
        let path = ["error", "data", "elicitations"];
        is_warned.then(|| frame.with(&path, &needed)).flatten()
    }

    /// Asks for the links that a call needs, if its response names any.
    pub(super) fn needs_links(
        &mut self,
        now: Instant,
        call: &Id,
        frame: &Frame,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) -> bool {
        if !self.follows_links() {
            return false;
        }
        let Some(errand) = self.errands.get(call) else {
            return false;
        };
        let Some(Needed::Links(needed)) = members.error.map(links) else {
            return false;
        };
        let urls: Vec<String> = needed.elicitations.iter().filter_map(url).collect();
        let again = urls.iter().any(|url| errand.followed.contains(url));
        if again || errand.followed.len() + urls.len() > MOST {
            let key = if again {
                "mcp.elicitation.links.again"
            } else {
                "mcp.elicitation.links.too_many"
            };
            let error = self.links_error(frame, key);
            self.answer(now, call, error, acts);
            return true;
        }
        let asker = Asker {
            tool: errand.tool(),
            ..self.asker()
        };
        let read = |params: &ElicitRequestParams| {
            let params = serde_json::to_string(&params.write(self.server.revision).ok()?).ok()?;
            Elicitation::read(&params, asker.clone(), &self.rules.limits).ok()
        };
        let Some(links) = needed
            .elicitations
            .iter()
            .map(read)
            .collect::<Option<Vec<_>>>()
        else {
            return false;
        };
        let (left, error) = (links.len(), frame.kept());
        self.errands.hold(call, Stage::Links { left, error });
        if let Some(errand) = self.errands.get_mut(call) {
            errand.followed.extend(urls);
        }
        for link in links {
            let wanted_by = WantedBy::Links(call.clone());
            if !self.ask_for(now, link, wanted_by, Candidates::Only(call.clone()), acts) {
                let nobody = Outcome::Unavailable(Unavailable::NoRoute);
                self.link_ended(now, call, &nobody, acts);
                break;
            }
        }
        true
    }

    /// How a link that a call needs ended.
    pub(super) fn link_ended(
        &mut self,
        now: Instant,
        call: &Id,
        outcome: &Outcome,
        acts: &mut Vec<Act>,
    ) {
        let key = match outcome {
            Outcome::Answered(Answer::Accepted(_), _) => return self.followed(call, acts),
            Outcome::Answered(..) => "mcp.elicitation.links.declined",
            Outcome::TimedOut => "mcp.elicitation.links.timed_out",
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => "mcp.elicitation.links.nobody",
        };
        if let Some(Stage::Links { error, .. }) = self.errands.get(call).map(|it| &it.stage) {
            let error = self.links_error(error, key);
            self.withdraw_for(call, acts);
            self.answer(now, call, error, acts);
        }
    }

    /// One of the links that a call needs has served its purpose.
    fn followed(&mut self, call: &Id, acts: &mut Vec<Act>) {
        if let Some(errand) = self.errands.get_mut(call)
            && let Stage::Links { left, .. } = &mut errand.stage
        {
            *left -= 1;
            if *left == 0 {
                self.make(call, acts);
            }
        }
    }

    /// What a link was for is done; `true` if the client never heard of the link.
    pub(super) fn complete(&mut self, members: &Members<'_>, acts: &mut Vec<Act>) -> bool {
        let params = members
            .params
            .and_then(|params| serde_json::from_slice(params).ok());
        let Some(Ok(done)) = params.map(ElicitationCompleteParams::read) else {
            return false;
        };
        let mut open = self.questions.iter();
        let is_meant =
            |question: &Question| question.is_at_desk() && question.is_link(&done.elicitation_id);
        let Some((turn, question)) = open.find(|(_, question)| is_meant(question)) else {
            return false;
        };
        let (opened_by, wanted_by) = (question.opened_by(), question.wanted_by.clone());
        drop(open);
        match (opened_by, wanted_by) {
            (Some(by), _) => acts.push(Act::Complete(turn, by)),
            // It was followed elsewhere, and the call needs no more than that.
            (None, WantedBy::Links(call)) => {
                self.questions.remove(turn);
                acts.push(Act::Withdraw(turn, Withdrawn::ByServer));
                self.followed(&call, acts);
            }
            // Nobody has opened it here, so nobody has said yes.
            (None, _) => {
                self.questions.change(turn, Question::leaves);
                acts.push(Act::Withdraw(turn, Withdrawn::ByServer));
            }
        }
        true
    }

    /// An error that named links, with words for a client that cannot follow them.
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
        (frame.with(&["error", "message"], &words)).unwrap_or_else(|| frame.clone())
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
    let links = data["elicitations"].as_array().into_iter().flatten();
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
