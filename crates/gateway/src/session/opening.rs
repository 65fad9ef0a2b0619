//! How the session opens its servers.
//!
//! A legacy client's `initialize` is passed on; only if the server refuses it, Midcall asks whether the server is a
//! modern one. For a modern client it asks first. The second process is opened in the other era than the first.

use std::time::Duration;

use crate::moment::Moment;
use midcall_core::wire::code;
use midcall_desk::Lost;
use serde_json::Value;

use super::servers::{MOST_HELD, Server};
use super::{Out, Output, Session};
use crate::call::{CallId, Declared, Happened, ServerId, Stage, TellBy};
use crate::frame::{Frame, Id, Kind, Members};
use crate::leg::client::{self, modern};
use crate::leg::server::opening::{Asked, Failure, Offered, Opening, Probe, discovered};
use crate::leg::server::{Offer, legacy, modern as modern_server};
use crate::route::ServerEra;
use crate::times::PROBE;

/// How long a second process may take to start and to open. The first has started before.
const SECOND_OPENS: Duration = Duration::from_secs(60);

impl Session {
    /// Sees to it that the first server is open, or being opened. True if a request has to wait for that.
    pub(super) fn opens(
        &mut self,
        now: Moment,
        frame: &Frame,
        told: TellBy,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        if self.servers.first.holds() {
            self.hold(frame, out);
            return true;
        }
        if !matches!(self.servers.first.opening, Opening::NotYet) {
            return false;
        }
        match (self.servers.said, told) {
            (ServerEra::Auto | ServerEra::Legacy, TellBy::Requests) => return false,
            (ServerEra::Legacy, TellBy::Results) => {
                self.open_legacy(&modern::declared(members), out)
            }
            (ServerEra::Auto | ServerEra::Modern, _) => self.probe(now, None, out),
        }
        self.hold(frame, out);
        true
    }

    /// Keeps what the client says until the server is open.
    pub(super) fn hold(&mut self, frame: &Frame, out: Out<'_>) {
        if self.servers.held.len() < MOST_HELD {
            self.servers.held.push(frame.clone());
        } else if let Some((Kind::Request { id, .. }, _)) = frame.peek() {
            out.push(Output::ToClient(client::too_much(&id)));
        } else {
            tracing::warn!("a message of the client was dropped: too much is waiting");
        }
    }

    /// Asks the server whether it is a modern one.
    pub(super) fn probe(&mut self, now: Moment, failed: Option<Failure>, out: Out<'_>) {
        // It may not have answered that yet.
        let late = self.servers.first.late.take();
        let id = late.unwrap_or_else(|| {
            let id = self.own_ids.fresh();
            out.push(Output::ToServer(
                ServerId::First,
                modern_server::discover(&id),
            ));
            id
        });
        let may_lapse = self.servers.said != ServerEra::Modern;
        let until = may_lapse.then(|| now + PROBE.get());
        self.servers.first.opening = Opening::Probing(Probe { id, until, failed });
    }

    /// Opens the server as a legacy one, for a client that doesn't do that.
    pub(super) fn open_legacy(&mut self, declared: &Declared, out: Out<'_>) {
        let id = self.own_ids.fresh();
        let frame = legacy::initialize(&id, declared, self.setup.added());
        self.servers.first.offered = Some(Offered::new(declared, self.setup.added()));
        self.servers.first.opening = Opening::Asked(Asked {
            id,
            is_clients: false,
            until: None,
        });
        out.push(Output::ToServer(ServerId::First, frame));
    }

    /// Hears a response that belongs to the opening of a server; false if it doesn't.
    pub(super) fn opening_answered(
        &mut self,
        now: Moment,
        from: ServerId,
        id: &Id,
        frame: &Frame,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        let server = self.servers.get_mut(from);
        match &server.opening {
            Opening::Probing(probe) if probe.id == *id => {
                let found = discovered(members);
                match from {
                    ServerId::First => self.probed(now, found, out),
                    ServerId::Second => self.second_opened(now, found.map(Some), out),
                }
                true
            }
            // It has refused the client's `initialize` already.
            Opening::Probing(Probe {
                failed: Some(failed),
                ..
            }) if failed.clients.as_ref() == Some(id) => true,
            Opening::Asked(asked) if asked.id == *id => {
                let is_clients = asked.is_clients;
                match (from, members.result) {
                    (ServerId::Second, result) => {
                        let opened = result.filter(|result| server.facts.initialized(result));
                        self.second_opened(now, opened.map(|_| None), out);
                        true
                    }
                    (ServerId::First, Some(result)) => {
                        server.facts.initialized(result);
                        server.opening = Opening::Open;
                        if !is_clients {
                            server.is_told = true;
                            out.push(Output::ToServer(from, legacy::opened()));
                            self.release(now, out);
                        }
                        !is_clients
                    }
                    (ServerId::First, None) => {
                        self.initialize_failed(now, is_clients, id, frame, out)
                    }
                }
            }
            // It took longer than it was given.
            _ if server.late.as_ref() == Some(id) => {
                server.late = None;
                if let Some(found) = discovered(members) {
                    self.is_modern_after_all(now, found, out);
                }
                true
            }
            _ => false,
        }
    }

    /// The server refused `initialize`: it may be a modern one. False if the client is to hear that by itself.
    fn initialize_failed(
        &mut self,
        now: Moment,
        is_clients: bool,
        id: &Id,
        frame: &Frame,
        out: Out<'_>,
    ) -> bool {
        let failure = Failure {
            error: frame.clone(),
            clients: is_clients.then(|| id.clone()),
            held: self.servers.held.len(),
        };
        if self.servers.said == ServerEra::Auto {
            self.probe(now, Some(failure), out);
            return true;
        }
        self.servers.first.opening = Opening::NotYet;
        match is_clients {
            true => false,
            false => {
                self.not_opened(now, &failure, out);
                true
            }
        }
    }

    /// It is known what the server speaks: what it said of itself, if it is a modern one.
    pub(super) fn probed(&mut self, now: Moment, found: Option<Value>, out: Out<'_>) {
        let before = std::mem::take(&mut self.servers.first.opening);
        let Opening::Probing(probe) = before else {
            self.servers.first.opening = before;
            return;
        };
        tracing::info!(
            modern = found.is_some(),
            "it is known what the server speaks"
        );
        match (found, probe.failed) {
            (Some(found), failure) => {
                self.found_modern(found, out);
                self.answer_initialize(failure.and_then(|failure| failure.clients), out);
                self.release(now, out);
            }
            (None, Some(failure)) => {
                self.servers.said = ServerEra::Legacy;
                self.not_opened(now, &failure, out);
            }
            (None, None) => {
                let first = self.servers.held.iter().find_map(|frame| {
                    let (kind, members) = frame.peek()?;
                    matches!(kind, Kind::Request { .. }).then(|| modern::declared(&members))
                });
                match (self.client.told, first) {
                    (TellBy::Results, Some(declared)) => self.open_legacy(&declared, out),
                    _ => match self.adopted_declared() {
                        Some(declared) => self.open_legacy(&declared, out),
                        None => self.release(now, out),
                    },
                }
            }
        }
    }

    /// A server that was taken for a legacy one says that it is modern.
    fn is_modern_after_all(&mut self, now: Moment, found: Value, out: Out<'_>) {
        let before = std::mem::take(&mut self.servers.first.opening);
        self.found_modern(found, out);
        let clients = match before {
            Opening::Asked(asked) if asked.is_clients => Some(asked.id),
            _ => None,
        };
        self.answer_initialize(clients, out);
        self.release(now, out);
    }

    fn found_modern(&mut self, found: Value, out: Out<'_>) {
        let first = &mut self.servers.first;
        first.facts.discovered(found);
        first.opening = Opening::Open;
        if self.client.told == TellBy::Requests {
            let id = self.own_ids.fresh();
            let (meta, first) = (self.meta(ServerId::First), &mut self.servers.first);
            let listen = first
                .listening
                .start(id, &first.facts.said["capabilities"], &meta);
            out.extend(
                listen
                    .into_iter()
                    .map(|frame| Output::ToServer(ServerId::First, frame)),
            );
        }
    }

    /// What goes with a request that no client made.
    pub(super) fn meta(&self, server: ServerId) -> midcall_core::wire::JsonObject {
        let offer = Offer {
            declared: self.client.declared(),
            added: self.setup.added(),
        };
        modern_server::meta_of(&self.servers.get(server).facts, &offer)
    }

    /// The server could not be opened: whoever waited hears why. What came later tries again.
    fn not_opened(&mut self, now: Moment, failure: &Failure, out: Out<'_>) {
        self.servers.first.opening = Opening::NotYet;
        self.adopted_end(now, &failure.error, out);
        if let Some(id) = &failure.clients {
            if let Some(call) = self.ledger.calls.by_id(id) {
                self.answers_end(call, Lost::CallEnded, out);
                self.ledger.calls.close(call);
            }
            out.push(Output::ToClient(failure.error.clone()));
            return self.release(now, out);
        }
        let later = self
            .servers
            .held
            .split_off(failure.held.min(self.servers.held.len()));
        for frame in std::mem::replace(&mut self.servers.held, later) {
            if let Some((Kind::Request { id, .. }, _)) = frame.peek() {
                out.push(Output::ToClient(failure.error.with_id(&id)));
            }
        }
        self.release(now, out);
    }

    /// The server is open, or will never be: the client's messages go on.
    pub(super) fn release(&mut self, now: Moment, out: Out<'_>) {
        for frame in std::mem::take(&mut self.servers.held) {
            self.client_says(now, frame, out);
        }
    }

    /// Opens the server in the other era, if it isn't open.
    pub(super) fn start_second(&mut self, now: Moment, declared: &Declared, out: Out<'_>) {
        if self.servers.second.is_some() {
            return;
        }
        let first = &self.servers.first.facts;
        tracing::info!("the server is opened in its other era as well");
        let mut second = Server::new(first.asker.clone());
        let id = self.own_ids.fresh();
        let until = Some(now + SECOND_OPENS);
        let open = match first.has_rounds() {
            true => {
                second.opening = Opening::Asked(Asked {
                    id: id.clone(),
                    is_clients: false,
                    until,
                });
                second.offered = Some(Offered::new(declared, self.setup.added()));
                legacy::initialize(&id, declared, self.setup.added())
            }
            false => {
                second.opening = Opening::Probing(Probe {
                    id: id.clone(),
                    until,
                    failed: None,
                });
                modern_server::discover(&id)
            }
        };
        self.servers.second = Some(second);
        out.push(Output::StartSecond);
        out.push(Output::ToServer(ServerId::Second, open));
    }

    /// The second process is open, or doesn't speak its era. `found`: what it says of itself, if that is new.
    fn second_opened(&mut self, now: Moment, found: Option<Option<Value>>, out: Out<'_>) {
        let Some(second) = &mut self.servers.second else {
            return;
        };
        match found {
            None => return self.second_failed(now, out),
            Some(Some(said)) => second.facts.discovered(said),
            Some(None) => out.push(Output::ToServer(ServerId::Second, legacy::opened())),
        }
        second.opening = Opening::Open;
        for call in self.queued() {
            let todo = self
                .ledger
                .calls
                .change(call, |call| call.on(now, Happened::Ready));
            self.does(now, call, todo, out);
        }
    }

    /// The second process doesn't speak its era: the refusals of the first one stand.
    pub(super) fn second_failed(&mut self, now: Moment, out: Out<'_>) {
        self.servers.speaks_both = false;
        if let Some(second) = &mut self.servers.second {
            second.opening = Opening::Failed;
        }
        for id in self.queued() {
            let Some(call) = self.ledger.calls.get(id) else {
                continue;
            };
            let refusal = call
                .request
                .tool()
                .and_then(|tool| self.servers.moved.get(&tool));
            let refusal = refusal.map(|refusal| refusal.with_id(&call.request.id));
            let told = refusal.unwrap_or_else(|| {
                let words = "midcall: the server cannot be spoken to in its other era";
                Frame::error(Some(&call.request.id), code::INTERNAL_ERROR, words)
            });
            self.finish(now, id, told, out);
        }
    }

    /// Calls that wait for the second process.
    fn queued(&self) -> Vec<CallId> {
        let calls = self.ledger.calls.iter();
        let queued = calls.filter(|(_, call)| matches!(call.stage(), Stage::Queued));
        queued.map(|(id, _)| id).collect()
    }

    /// A server has had long enough to say what it is, or to open.
    pub(super) fn opening_lapses(&mut self, now: Moment, out: Out<'_>) {
        let is_late = |server: &Server| server.until().is_some_and(|until| until <= now);
        if is_late(&self.servers.first)
            && let Opening::Probing(probe) = &self.servers.first.opening
        {
            self.servers.first.late = Some(probe.id.clone());
            self.probed(now, None, out);
        }
        if self.servers.second.as_ref().is_some_and(is_late) {
            self.second_failed(now, out);
        }
    }
}
