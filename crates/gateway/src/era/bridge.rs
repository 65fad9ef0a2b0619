//! A session, and the interpreters that its two peers need.
//!
//! Which era the client speaks is seen from what it says. Which one the server speaks is found
//! out: a legacy client's `initialize` is simply passed on, and only if that fails the server is
//! asked whether it is a modern one; for a modern client it is asked first. Where both speak the
//! same era and the client can ask everything by itself, messages pass as they are.
//!
//! In: [`Bridge::on`]. Out: [`Act`]s.

use std::collections::HashMap;
use std::time::Duration;

use midcall_core::wire::{Era, code};
use serde::Deserialize;
use tokio::time::Instant;

use super::Step;
use super::back::Back;
use super::beside::Beside;
use super::elsewhere::question;
use super::front::Front;
use super::opening::{Leg, Probe, discovered};
use super::passing::Passing;
use super::words::too_much;
use crate::frame::{Frame, Id, Kind, OwnIds};
use crate::session::{Act, Event, Inseparable, Rules, Session, gone_words, in_use, unclaimed};

pub struct Bridge {
    pub(super) session: Session,
    hold: Option<Duration>,
    patience: Duration,
    /// Which era the server is said to speak.
    pub(super) said: ServerEra,
    pub(super) server: Leg,
    /// The question whether it is a modern one, if it did not answer in time.
    pub(super) late: Option<Id>,
    /// What the client says while nobody knows yet what the server speaks.
    pub(super) held: Vec<Frame>,
    pub(super) front: Option<Front>,
    pub(super) back: Option<Back>,
    pub(super) passing: Passing,
    /// What the session opened the server by.
    pub(super) initialize: Option<Frame>,
    /// The server in the other era, and the tools that can only be called there, with the
    /// words in which they were refused here.
    pub(super) beside: Option<Beside>,
    pub(super) elsewhere: HashMap<String, Frame>,
    /// Whether the server may be spoken to in the other era, as far as anybody knows.
    pub(super) speaks_both: bool,
    pub(super) own_ids: OwnIds,
}

/// Which era a server is said to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerEra {
    /// It is found out.
    #[default]
    Auto,
    /// Up to 2025-11-25.
    Legacy,
    /// Since 2026-07-28.
    Modern,
}

/// How much a client may say before that is known.
const MOST_HELD: usize = 1_000;

impl Bridge {
    pub fn new(rules: Rules, said: ServerEra) -> Self {
        Self {
            hold: rules.hold,
            patience: rules.patience,
            session: Session::new(rules),
            said,
            server: Leg::Unknown,
            late: None,
            held: Vec::new(),
            front: None,
            back: None,
            passing: Passing::default(),
            initialize: None,
            beside: None,
            elsewhere: HashMap::new(),
            speaks_both: said == ServerEra::Auto,
            own_ids: OwnIds::default(),
        }
    }

    /// The same, for several clients that share the server.
    pub fn shared(mut self) -> Self {
        self.session.share();
        self
    }

    /// Hears what happened, and adds to `acts` what is to be done.
    pub fn on(&mut self, now: Instant, event: Event, acts: &mut Vec<Act>) {
        let is_plain = self.front.is_none() && self.beside.is_none();
        if is_plain && matches!(self.server, Leg::Known(Era::Legacy)) {
            let before = acts.len();
            self.session.on(now, event, acts);
            if acts[before..]
                .iter()
                .any(|act| matches!(act, Act::Elsewhere(..)))
            {
                let said = acts.split_off(before);
                self.carry(now, said, acts);
            }
            return;
        }
        match event {
            Event::Client(frame) => self.client_says(now, frame, acts),
            Event::Server(frame) => self.server_says(now, frame, acts),
            Event::Beside(frame) => self.beside_says(now, frame, acts),
            Event::BesideGone => self.beside_gone(now, acts),
            Event::ServerGone(how) => {
                for id in self.passing.drain() {
                    let error = Frame::error(Some(&id), code::INTERNAL_ERROR, &gone_words(&how));
                    acts.push(Act::ToClient(error));
                }
                self.tell(now, Event::ServerGone(how), acts);
            }
            other => self.tell(now, other, acts),
        }
        self.woke(now, acts);
    }

    /// When it wants to be woken.
    pub fn wakes_at(&self) -> Option<Instant> {
        let thinks = self.session.somebody_thinks();
        let probe = match &self.server {
            Leg::Probing(probe) => self.lapses(probe),
            _ => None,
        };
        let times = [
            self.session.wakes_at(),
            self.front.as_ref().and_then(|front| front.wakes_at(thinks)),
            self.back.as_ref().and_then(Back::wakes_at),
            self.beside.as_ref().and_then(Beside::wakes_at),
            probe,
        ];
        times.into_iter().flatten().min()
    }

    /// Whether the server is only being asked what it is. One that ends at that is a legacy one,
    /// and can be started again.
    pub fn is_probing(&self) -> bool {
        matches!(self.server, Leg::Probing(_))
    }

    /// Whether what the client said waits for the server to be open.
    pub fn holds(&self) -> bool {
        self.is_probing() || self.front.as_ref().is_some_and(Front::is_opening)
    }

    /// When a server that says nothing is taken for a legacy one.
    fn lapses(&self, probe: &Probe) -> Option<Instant> {
        (self.said != ServerEra::Modern).then_some(probe.until)
    }

    /// The server was started again.
    pub fn restarted(&mut self, now: Instant, acts: &mut Vec<Act>) {
        self.probed(now, None, acts);
    }

    fn client_says(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        if let Some((Kind::Request { id, method }, members)) = frame.peek() {
            match unclaimed(&frame, &members) {
                Ok(None) => {}
                Ok(Some(unclaimed)) => return self.client_says(now, unclaimed, acts),
                Err(_) => {
                    let error = Frame::error(Some(&id), code::INVALID_PARAMS, Inseparable::WORDS);
                    return acts.push(Act::ToClient(error));
                }
            }
            let becomes_modern = members.revision.is_some() || method == "server/discover";
            let becomes_legacy = !becomes_modern && method == "initialize";
            let changes = if self.front.is_some() {
                becomes_legacy
            } else {
                becomes_modern
            };
            if changes && self.has_calls() {
                let told = "midcall: this client has calls open in the other era of the protocol";
                let error = Frame::error(Some(&id), code::INVALID_REQUEST, told);
                return acts.push(Act::ToClient(error));
            }
            if changes {
                self.front = becomes_modern
                    .then(|| Front::new(self.hold, self.patience, self.session.is_shared()));
                self.session.ask_in_rounds(becomes_modern);
            }
        }
        let is_modern = self.front.is_some();
        match &self.server {
            Leg::Unknown => match self.said {
                ServerEra::Legacy => self.server = Leg::Known(Era::Legacy),
                ServerEra::Auto if !is_modern => {}
                ServerEra::Auto | ServerEra::Modern => {
                    self.probe(now, None, acts);
                    return self.held.push(frame);
                }
            },
            Leg::Probing(_) => {
                if self.held.len() < MOST_HELD {
                    self.held.push(frame);
                } else if let Some(id) = question(&frame) {
                    acts.push(Act::ToClient(too_much(&id)));
                }
                return;
            }
            Leg::Opening(..) | Leg::Known(_) => {}
        }
        self.pass(now, frame, acts);
    }

    /// True if a request of the client isn't answered yet.
    fn has_calls(&self) -> bool {
        let is_parked = self.front.as_ref().is_some_and(Front::has_calls);
        is_parked || self.passing.has_any() || self.session.has_calls()
    }

    /// True if a request of the client that isn't answered yet has this id.
    fn is_used(&self, id: &Id) -> bool {
        let front = self.front.as_ref();
        front.is_some_and(|front| front.has(id)) || self.passing.has(id)
    }

    /// Takes what the client says to whoever understands it.
    pub(super) fn pass(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        if let Some(id) = question(&frame).filter(|id| self.is_used(id)) {
            return acts.push(Act::ToClient(in_use(&id)));
        }
        if self.client_passes(&frame) {
            return acts.push(Act::ToServer(frame));
        }
        self.interpret(now, frame, acts);
    }

    /// The session hears what the client says, in its own era.
    pub(super) fn interpret(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        let Some(front) = &mut self.front else {
            return self.tell(now, Event::Client(frame), acts);
        };
        let mut steps = Vec::new();
        front.server_has_rounds(self.back.is_some());
        front.client_says(now, frame, &mut steps);
        self.session.client_can(front.modes());
        self.front_steps(now, steps, acts);
    }

    fn server_says(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        let peeked = frame.peek();
        let response = match &peeked {
            Some((Kind::Response { id: Some(id) }, _)) => Some(id),
            _ => None,
        };
        match &mut self.server {
            Leg::Probing(probe) if response == Some(&probe.id) => {
                let found = peeked.and_then(|(_, members)| discovered(&members));
                return self.probed(now, found, acts);
            }
            // It took longer than it was given.
            Leg::Known(Era::Legacy) | Leg::Opening(..)
                if response.is_some() && response == self.late.as_ref() =>
            {
                self.late = None;
                let found = peeked.and_then(|(_, members)| discovered(&members));
                return self.is_modern_after_all(now, found, acts);
            }
            // It answers what nobody asked, or talks to itself.
            Leg::Probing(_) if response.is_some() => return,
            Leg::Opening(id, request) if response == Some(&*id) => {
                let is_refused = peeked.is_some_and(|(_, members)| members.result.is_none());
                if is_refused {
                    let failed = (request.clone(), frame);
                    return self.probe(now, Some(failed), acts);
                }
                self.server = Leg::Known(Era::Legacy);
            }
            _ => {}
        }
        let Some(frame) = self.server_passes(now, frame, acts) else {
            return;
        };
        let Some(back) = &mut self.back else {
            return self.tell(now, Event::Server(frame), acts);
        };
        let mut steps = Vec::new();
        back.server_says(now, frame, &mut steps);
        self.back_steps(now, steps, acts);
    }

    fn woke(&mut self, now: Instant, acts: &mut Vec<Act>) {
        if let Leg::Probing(probe) = &self.server
            && self.lapses(probe).is_some_and(|at| at <= now)
        {
            self.late = Some(probe.id.clone());
            self.probed(now, None, acts);
        }
        let mut steps = Vec::new();
        if let Some(back) = &mut self.back {
            back.woke(now, &mut steps);
            self.back_steps(now, std::mem::take(&mut steps), acts);
        }
        if let Some(beside) = &mut self.beside {
            beside.woke(now, &mut steps);
            self.beside_steps(now, std::mem::take(&mut steps), acts);
        }
        let thinks = self.session.somebody_thinks();
        if let Some(front) = &mut self.front {
            front.woke(now, thinks, &mut steps);
            self.front_steps(now, steps, acts);
        }
    }

    /// Tells the session, and takes what it says to whoever understands it.
    pub(super) fn tell(&mut self, now: Instant, event: Event, acts: &mut Vec<Act>) {
        let mut said = Vec::new();
        self.session.on(now, event, &mut said);
        self.carry(now, said, acts);
    }

    /// Tells the session what a modern server asks in a round.
    pub(super) fn tell_round(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        let mut said = Vec::new();
        self.session.on_round(now, frame, &mut said);
        self.carry(now, said, acts);
    }

    /// Takes what the session says to whoever understands it.
    fn carry(&mut self, now: Instant, said: Vec<Act>, acts: &mut Vec<Act>) {
        for act in said {
            let mut steps = Vec::new();
            match act {
                Act::ToClient(frame) if let Some(front) = &mut self.front => {
                    let back = self.back.as_ref();
                    let of = back.and_then(|back| back.asked.get(&question(&frame)?));
                    front.session_says(now, frame, of, &mut steps);
                    self.front_steps(now, steps, acts);
                }
                Act::Elsewhere(id, request, refusal) => {
                    self.move_call(now, id, request, refusal, acts);
                }
                Act::ToServer(frame) if self.is_for_beside(&frame) => {
                    self.tell_beside(now, frame, acts);
                }
                Act::ToServer(frame) if self.back.is_some() => {
                    self.opens(&frame);
                    let Some(back) = &mut self.back else { continue };
                    back.session_says(frame, &mut steps);
                    self.back_steps(now, steps, acts);
                }
                act => {
                    if let Act::ToServer(frame) = &act {
                        self.opens(frame);
                    }
                    acts.push(act);
                }
            }
        }
    }

    fn front_steps(&mut self, now: Instant, steps: Vec<Step>, acts: &mut Vec<Act>) {
        for step in steps {
            match step {
                Step::In(frame) => self.tell(now, Event::Client(frame), acts),
                Step::Out(frame) => acts.push(Act::ToClient(frame)),
            }
        }
    }

    pub(super) fn back_steps(&mut self, now: Instant, steps: Vec<Step>, acts: &mut Vec<Act>) {
        for step in steps {
            match step {
                Step::In(frame) => {
                    // It may have been taken back in the same breath.
                    let back = self.back.as_ref();
                    let asks = |id: &Id| back.is_some_and(|back| back.asks(id));
                    let is_round = |id: &Id| back.is_some_and(|back| back.asks_in_round(id));
                    match question(&frame) {
                        Some(id) if is_round(&id) => self.tell_round(now, frame, acts),
                        Some(id) if !asks(&id) => {}
                        _ => self.tell(now, Event::Server(frame), acts),
                    }
                }
                Step::Out(frame) => acts.push(Act::ToServer(frame)),
            }
        }
    }
}
