//! `sampling/createMessage`: a server that wants something of the client's model.
//!
//! A policy passes such a request on, refuses it, or has a person approve it first. The approval shows the prompt.

use crate::moment::Moment;
use midcall_core::wire::{Mode, code, member};
use midcall_core::{Answer, Elicitation, is_ambiguous};
use midcall_desk::Outcome;
use serde_json::{Value, json};

use super::ask::{MOST_QUESTIONS, ServerRequest};
use super::{Out, Output, Session, preview};
use crate::call::{Origin, WantedBy};
use crate::frame::{Frame, Id, Members};
use crate::route::Sampling;

pub const METHOD: &str = "sampling/createMessage";

/// What the specification has clients answer if their user refuses.
const REJECTED: i64 = -1;

/// The largest request that waits for an approval, in bytes. It is kept meanwhile.
const LARGEST: usize = 1024 * 1024;

impl Session {
    /// Passes a request on, refuses it, or asks a person about it.
    pub(super) fn samples(
        &mut self,
        now: Moment,
        request: ServerRequest<'_>,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let ServerRequest {
            from,
            ref id,
            origin,
            ..
        } = request;
        let server = self.servers.first.facts.asker.server.as_str();
        let plan = self.setup.plan(server, &self.tools_of(origin), Mode::Form);
        let key = match plan.sampling {
            Sampling::Pass => return self.pass_request(now, request, out),
            Sampling::Refuse => "mcp.elicitation.sampling.forbidden",
            Sampling::Ask if self.ledger.questions.asked_by(from, id).is_some() => {
                let error = Frame::error(
                    Some(id),
                    code::INVALID_REQUEST,
                    "midcall: this id is in use",
                );
                return out.push(Output::ToServer(from, error));
            }
            Sampling::Ask => match self.prompt_approval(members, origin) {
                Some(elicitation) if self.ledger.questions.len() < MOST_QUESTIONS => {
                    let wanted_by = WantedBy::Sampling(from, id.clone(), request.frame.kept());
                    if self.ask_for(now, elicitation, wanted_by, origin, out) {
                        return;
                    }
                    "mcp.elicitation.sampling.nobody"
                }
                _ => "mcp.elicitation.sampling.unreadable",
            },
        };
        out.push(Output::ToServer(from, self.rejected(id, key)));
    }

    /// A person approved a request, or didn't.
    pub(super) fn sampled(
        &mut self,
        now: Moment,
        request: ServerRequest<'_>,
        outcome: &Outcome,
        out: Out<'_>,
    ) {
        let key = match outcome {
            Outcome::Answered(Answer::Accepted(_), _) => {
                return self.pass_request(now, request, out);
            }
            Outcome::Answered(..) => "mcp.elicitation.sampling.refused",
            Outcome::TimedOut => "mcp.elicitation.sampling.timed_out",
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => "mcp.elicitation.sampling.nobody",
        };
        out.push(Output::ToServer(
            request.from,
            self.rejected(&request.id, key),
        ));
    }

    fn rejected(&self, id: &Id, key: &str) -> Frame {
        Frame::error(Some(id), REJECTED, &format!("midcall: {}", self.say(key)))
    }

    /// What a person is asked; none if the request can't be shown as it is.
    fn prompt_approval(&self, members: &Members<'_>, origin: Origin) -> Option<Elicitation> {
        let params = str::from_utf8(members.params?).ok()?;
        if params.len() > LARGEST || members.is_ambiguous || is_ambiguous(params) {
            return None;
        }
        let params: Value = serde_json::from_str(params).ok()?;
        let question = self.say("mcp.elicitation.sampling.ask");
        let message = format!("{question}{}", preview::prompt(&params, self.setup.locale)?);
        let params = json!({"message": message, (member::REQUESTED_SCHEMA): {"type": "object", "properties": {}}});
        Elicitation::read(&params.to_string(), self.asker(origin), &self.setup.limits).ok()
    }
}
