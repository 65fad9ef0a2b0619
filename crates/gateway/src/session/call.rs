//! A call comes.

use crate::moment::Moment;
use midcall_core::wire::{Modes, code};
use serde_json::{Value, json};

use super::save::Held;
use super::{Out, Output, Session};
use crate::call::{
    Call, CallId, CallKind, Declared, Happened, LegacyTask, Request, Sent, ServerId, Stage, TellBy,
    Todo,
};
use crate::frame::{Frame, Id, Members};
use crate::leg::client::{self, modern};
use crate::leg::server::opening::Opening;
use crate::leg::server::{self, Offer};

/// How many requests may be open. The server may never answer one.
const MOST: usize = 10_000;

/// Longer names aren't shown to anybody.
const LONGEST_NAME: usize = 1_000;

/// A call that has just come.
pub struct NewCall {
    pub request: Request,
    pub server: ServerId,
    /// What its client declared, if it did so with the request.
    pub declared: Option<Box<Declared>>,
    /// True if messages about it pass as they came.
    pub hands_off: bool,
}

impl Session {
    pub(super) fn client_requests(
        &mut self,
        now: Moment,
        frame: &Frame,
        id: Id,
        method: &str,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        if method == "initialize" && members.revision.is_some() {
            return out.push(Output::ToClient(modern::no_opening(&id)));
        }
        let stays = self.client.told == TellBy::Results && method != "initialize";
        let is_modern = members.revision.is_some() || method == "server/discover" || stays;
        let told = if is_modern {
            TellBy::Results
        } else {
            TellBy::Requests
        };
        if told != self.client.told && self.has_calls() {
            let told = "midcall: this client has calls open in the other era of the protocol";
            return out.push(Output::ToClient(Frame::error(
                Some(&id),
                code::INVALID_REQUEST,
                told,
            )));
        }
        self.client.told = told;
        if let Some(gone) = self.servers.gone.clone() {
            // What the client was told to come back for is still here.
            if !self.comes_back(now, frame, &id, members, out) {
                let error = Frame::error(Some(&id), code::INTERNAL_ERROR, &gone);
                out.push(Output::ToClient(error));
            }
            return;
        }
        if self.opens(now, frame, told, members, out) {
            return;
        }
        if let Some(refused) = self.refused_request(&id, members) {
            return out.push(Output::ToClient(refused));
        }
        if self.is_local(now, frame, &id, method, members, out) {
            return;
        }
        self.call(now, frame, id, method, members, out);
    }

    /// The error for a request that nobody could tell from another, or that is one too many.
    fn refused_request(&self, id: &Id, members: &Members<'_>) -> Option<Frame> {
        let calls = &self.ledger.calls;
        if calls.by_id(id).is_some() || calls.at_server(ServerId::First, id).is_some() {
            return Some(client::in_use(id));
        }
        let refused = |told| Some(Frame::error(Some(id), code::INVALID_REQUEST, told));
        if calls.open_count() >= MOST {
            return refused("midcall: too many requests are open");
        }
        if members.is_ambiguous && self.setup.may_confirm() {
            return refused(
                "midcall: this call can't be shown to a person: its params have a member twice, or in other letters",
            );
        }
        match self.client.told {
            TellBy::Results => modern::refused_revision(id, members),
            TellBy::Requests => None,
        }
    }

    /// Answers what the server's era has no words for; false if the server has to hear it.
    fn is_local(
        &mut self,
        now: Moment,
        frame: &Frame,
        id: &Id,
        method: &str,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        let has_rounds = self.servers.first.facts.has_rounds();
        let told = match (self.client.told, method) {
            (TellBy::Requests, "initialize") => {
                self.initializes(now, frame, id, members, out);
                return true;
            }
            (TellBy::Results, "server/discover") if !has_rounds => {
                modern::discovered(id, &self.servers.first.facts)
            }
            (TellBy::Results, "ping") if !has_rounds => modern::pong(id),
            (TellBy::Results, "subscriptions/listen") if !has_rounds => {
                self.listens(id, members.params.unwrap_or_default(), out);
                return true;
            }
            (TellBy::Requests, "ping") if has_rounds => Frame::result(id, &json!({})),
            (TellBy::Requests, "logging/setLevel") => match self.sets_level(id, members) {
                Some(told) => told,
                None => return false,
            },
            (TellBy::Requests, "resources/subscribe" | "resources/unsubscribe") if has_rounds => {
                let params = members
                    .params
                    .and_then(|json| serde_json::from_slice::<Value>(json).ok());
                let uri = params
                    .as_ref()
                    .and_then(|params| params["uri"].as_str())
                    .unwrap_or_default();
                let (own, meta) = (self.own_ids.fresh(), self.meta(ServerId::First));
                let wants = method == "resources/subscribe";
                let listen = self
                    .servers
                    .first
                    .listening
                    .resource(own, uri, wants, &meta);
                out.extend(
                    listen
                        .into_iter()
                        .map(|frame| Output::ToServer(ServerId::First, frame)),
                );
                Frame::result(id, &json!({}))
            }
            _ => return false,
        };
        out.push(Output::ToClient(told));
        true
    }

    fn listens(&mut self, id: &Id, params: &[u8], out: Out<'_>) {
        let capabilities = &self.servers.first.facts.said["capabilities"];
        let told = self
            .client
            .follows
            .start(id.clone(), params, capabilities, &mut self.own_ids);
        out.extend(told.client.into_iter().map(Output::ToClient));
        out.extend(
            told.server
                .into_iter()
                .map(|frame| Output::ToServer(ServerId::First, frame)),
        );
    }

    fn call(
        &mut self,
        now: Moment,
        frame: &Frame,
        id: Id,
        method: &str,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let told = self.client.told;
        let declared = (told == TellBy::Results).then(|| Box::new(modern::declared(members)));
        let modes = declared
            .as_ref()
            .map(|declared| declared.modes)
            .or(self.client.modes());
        let kind = CallKind::of(method);
        if kind == CallKind::Tool && self.is_added(now, &id, modes, members, out) {
            return;
        }
        let server = match kind == CallKind::Tool && self.servers.is_moved(members.name) {
            true => ServerId::Second,
            false => ServerId::First,
        };
        let hands_off = server == ServerId::First && self.hands_off(kind, declared.as_deref());
        if kind.can_ask() && self.comes_back(now, frame, &id, members, out) {
            return;
        }
        let has_state = told == TellBy::Results && modern::state(members).is_some();
        if has_state && kind.can_ask() && !hands_off {
            return out.push(Output::ToClient(super::retry::invalid_state(&id)));
        }
        let new = NewCall {
            request: self.request(now, frame, id, method, members),
            server,
            declared,
            hands_off,
        };
        if kind == CallKind::Tool && !hands_off && self.must_confirm(members) {
            return self.confirms(now, new, members, out);
        }
        self.send_new(now, frame, new, out);
    }

    /// True if messages about a call pass as they came, because both peers are modern and the client can ask everything
    /// by itself.
    fn hands_off(&self, kind: CallKind, declared: Option<&Declared>) -> bool {
        let facts = &self.servers.first.facts;
        let Some(declared) = declared.filter(|_| facts.has_rounds()) else {
            return false;
        };
        let is_task = facts.makes_tasks && kind == CallKind::Tool && !declared.tasks;
        !is_task && self.stays_out(kind, declared.modes)
    }

    /// True if the session would do nothing about a request of a client that can ask in these modes.
    fn stays_out(&self, kind: CallKind, modes: Modes) -> bool {
        let asks_all = !self.leaves_some(modes);
        match kind {
            CallKind::Tool | CallKind::Text => {
                asks_all && !self.setup.restricts() && !self.setup.may_confirm()
            }
            // A server may have other tools for those who cannot be asked.
            CallKind::ToolList => asks_all && !self.reads_tools(Some(modes)),
            CallKind::Other => true,
        }
    }

    pub(super) fn request(
        &self,
        now: Moment,
        frame: &Frame,
        id: Id,
        method: &str,
        members: &Members<'_>,
    ) -> Request {
        let kind = CallKind::of(method);
        let name = members.name.filter(|name| name.len() <= LONGEST_NAME);
        Request {
            id,
            kind,
            told: self.client.told,
            name: name.map(Into::into),
            token: members.progress_token.map(Into::into),
            bytes: kind.can_ask().then(|| frame.kept()),
            is_opening: matches!(method, "initialize" | "server/discover"),
            is_cacheable: method.ends_with("/list") || method == "resources/read",
            since: now,
        }
    }

    /// Notes a call that its server has.
    pub(super) fn open(
        &mut self,
        request: Request,
        server: ServerId,
        declared: Option<Box<Declared>>,
    ) -> CallId {
        let sent = Sent {
            id: request.id.clone(),
            is_again: false,
            task: None,
        };
        self.ledger
            .calls
            .open(Call::new(request, server, Stage::AtServer(sent), declared))
    }

    /// Sends a call that has just come.
    fn send_new(&mut self, now: Moment, frame: &Frame, new: NewCall, out: Out<'_>) {
        let NewCall {
            request,
            server,
            declared,
            hands_off,
        } = new;
        let facts = &self.servers.first.facts;
        let is_same_era = request.told == TellBy::Requests && !facts.has_rounds();
        if hands_off || (is_same_era && server == ServerId::First && !self.needs_task(&request)) {
            let call = self.open(request, server, declared);
            let mut told = None;
            if hands_off {
                self.ledger.calls.change(call, |call| call.hands_off = true);
                let peeked = frame.peek();
                told = peeked.and_then(|(_, members)| modern::with_reasons(frame, &members));
            }
            let told = told.unwrap_or_else(|| frame.clone());
            return out.push(Output::ToServer(server, told));
        }
        if server == ServerId::Second || self.needs_task(&request) {
            let call = self
                .ledger
                .calls
                .open(Call::new(request, server, Stage::Queued, declared));
            return self.send(now, call, out);
        }
        let offer = Offer {
            declared: declared
                .as_deref()
                .unwrap_or_else(|| self.client.declared()),
            added: self.setup.added(),
        };
        let Some(told) = server::call(&self.servers.first.facts, &request, frame, &offer) else {
            let told = "midcall: the params can't be read, so they can't be said in the other era";
            let error = Frame::error(Some(&request.id), code::INVALID_PARAMS, told);
            return out.push(Output::ToClient(error));
        };
        self.open(request, server, declared);
        self.tunes_log(out);
        out.push(Output::ToServer(server, told));
    }

    /// True if a tool can only be called as a task, and Midcall has to see to that.
    fn needs_task(&self, request: &Request) -> bool {
        let is_tool = request.kind == CallKind::Tool && !self.servers.first.facts.has_rounds();
        is_tool && self.tools.hints(request.name.as_deref()).needs_task
    }

    /// Sends a call that was kept, with what was found out for it.
    pub(super) fn send(&mut self, now: Moment, id: CallId, out: Out<'_>) {
        if self.waits_for_server(now, id, out) {
            return;
        }
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let at = call.server;
        if at == ServerId::Second && !self.opens_second(now, id, out) {
            return;
        }
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let is_first = matches!(call.stage(), Stage::Confirming | Stage::Queued);
        let is_task = self.needs_task(&call.request) && at == ServerId::First;
        let bytes = call.request.bytes.as_ref().filter(|_| is_task);
        let task = bytes.and_then(server::legacy::as_task);
        let is_sent_as_task = task.is_some(); // Else the client makes a task of it by itself.
        // The server has answered the first of them, and no id may be used twice.
        let is_free = self.ledger.calls.at_server(at, &call.request.id).is_none();
        let server_id = match is_first && is_free && task.is_none() {
            true => call.request.id.clone(),
            false => self.own_ids.fresh(),
        };
        let facts = &self.servers.get(at).facts;
        let frame = match task {
            Some(task) => Some(server::legacy::call(call.request.told, &task).with_id(&server_id)),
            None => server::again(facts, call, &server_id, &self.offer(call)),
        };
        let Some(frame) = frame else {
            let told = "midcall: the params can't be read, so they can't be said in the other era";
            let error = Frame::error(Some(&call.request.id), code::INVALID_PARAMS, told);
            return self.finish(now, id, error, out);
        };
        let sent = Sent {
            id: server_id,
            is_again: !is_first,
            task: is_sent_as_task.then_some(LegacyTask::Starting),
        };
        self.ledger
            .calls
            .change(id, |call| call.on(now, Happened::Sent(sent)));
        self.tunes_log(out);
        self.tells(id, Output::ToServer(at, frame), Held::Server, out);
        self.answers_sent(id, out);
    }

    /// Opens the second process for a call; false if the call has to wait for it.
    fn opens_second(&mut self, now: Moment, call: CallId, out: Out<'_>) -> bool {
        let declared = self.ledger.calls.get(call);
        let declared = declared.map(|call| self.declared(call).clone());
        self.start_second(now, &declared.unwrap_or_default(), out);
        if self.servers.get(ServerId::Second).is_open() {
            return true;
        }
        let second = self.servers.second.as_ref();
        if second.is_some_and(|it| matches!(it.opening, Opening::Failed)) {
            self.second_failed(now, out);
        }
        false
    }

    /// Does what a call needs next.
    pub(super) fn does(&mut self, now: Moment, call: CallId, todo: Option<Todo>, out: Out<'_>) {
        match todo {
            None | Some(Todo::Nothing | Todo::Ask | Todo::Follow(_)) => {}
            Some(Todo::Send) => self.send(now, call, out),
            Some(Todo::Poll) => self.poll(call, out),
            Some(Todo::Update) => self.update(call, out),
            Some(Todo::Unlinked(error, end)) => self.unlinked(now, call, error, end, out),
            Some(Todo::Fail(why)) => self.fail(now, call, &format!("midcall: {why}"), out),
        }
    }
}
