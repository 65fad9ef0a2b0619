//! A client, a server and a person around a gateway, in memory.
//!
//! Stories say what these send and do, and look at what they get. How the gateway works inside
//! is none of their business: a question is called by its place among those that were put on the
//! desk (the first is 1), and rules are set before anything is said.
//!
//! In: [`World::with`]. Not here: whole scripts of anything (`replay`).

use std::collections::HashMap;
use std::time::Duration;

use crate::moment::Moment;
use midcall_core::catalog::Locale;
use midcall_core::wire::{ElicitationPending, meta};
use midcall_core::{Asker, Elicitation, Limits};
use midcall_desk::{By, Lost, Outcome, Route, TicketId, Withdrawn};
use serde_json::{Value, json};

use super::{Input, Output, QuestionId, ServerId, Session, Waiting};
use crate::call::{CallKey, GivenName, Name, NameUse, Record, Tools};
use crate::frame::{Frame, Id};
use crate::principal::principal;
use crate::route::{Choices, Fingerprint, OnUnavailable, Policy, ServerEra, Setting, Setup};

/// A gateway between a client and a server, what it did, and the clock.
pub struct World {
    session: Session,
    pub now: Moment,
    pub to_client: Vec<Value>,
    /// What of that was said to belong to a request of the client, by its id.
    pub in_calls: Vec<(Value, Value)>,
    pub to_server: Vec<Value>,
    /// What the second process of the server was sent.
    pub to_beside: Vec<Value>,
    /// How often a second process of the server was started.
    pub started: usize,
    /// Which questions were put on the desk.
    pub asked: Vec<(u64, Box<Elicitation>)>,
    pub withdrawn: Vec<(u64, Withdrawn)>,
    pub completed: Vec<(u64, By)>,
    /// Which links lead elsewhere now, and where.
    pub renewed: Vec<(u64, String)>,
    /// What became of the answers that people gave at the desk.
    deliveries: Vec<(u64, Delivered)>,
    pub noise: usize,
    /// What the client can come back by.
    pub named: HashMap<Name, GivenName>,
    /// What the gateway learned of the server's tools.
    learned: Option<Tools>,
    /// True if the client answers before a person can have read the question.
    pub answers_at_once: bool,
    /// The gateway's names of the questions on the desk, and the tickets that they have to be.
    questions: Vec<QuestionId>,
    pub tickets: Vec<Option<TicketId>>,
    /// Questions that were left to another process.
    pub detached: Vec<u64>,
    /// What is to be written down, and which records may go.
    pub saves: Vec<(u64, Box<Record>)>,
    pub forgotten: Vec<CallKey>,
    /// True if the server must not be started a second time, since both sides speak the legacy era.
    is_alone: bool,
    /// Lines as they are, if these are looked at and not what they say.
    bytes: Option<Vec<Line>>,
}

/// What the gateway says of an answer that was given at the desk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delivered {
    Sent,
    Yes,
    No(Lost),
    Unknown,
}

/// What the gateway did, byte for byte.
#[derive(Debug)]
pub enum Line {
    ToClient(Frame),
    ToServer(Frame),
    /// Something else than to send one of these a line.
    Other,
}

impl World {
    pub fn new(ask: &str) -> Self {
        Self::with(ask, |_| {})
    }

    /// Under other rules than usual.
    pub fn with(ask: &str, change: impl FnOnce(&mut Choices)) -> Self {
        let mut rules = choices(ask);
        change(&mut rules);
        Self::around(Session::new(Setup::new(rules), ServerEra::Auto))
    }

    /// A gateway that writes calls down.
    pub fn saving(ask: &str, change: impl FnOnce(&mut Choices)) -> Self {
        Self::with(ask, |rules| {
            rules.saves = Some(Fingerprint::of("books", ["books.js"]));
            change(rules);
        })
    }

    /// With a server that is said to speak this era.
    pub fn of(ask: &str, era: ServerEra) -> Self {
        Self::around(Session::new(Setup::new(choices(ask)), era))
    }

    fn around(session: Session) -> Self {
        Self {
            session,
            now: Moment::now(),
            to_client: Vec::new(),
            in_calls: Vec::new(),
            to_server: Vec::new(),
            to_beside: Vec::new(),
            started: 0,
            asked: Vec::new(),
            withdrawn: Vec::new(),
            completed: Vec::new(),
            renewed: Vec::new(),
            deliveries: Vec::new(),
            noise: 0,
            named: HashMap::new(),
            learned: None,
            answers_at_once: false,
            questions: Vec::new(),
            tickets: Vec::new(),
            detached: Vec::new(),
            saves: Vec::new(),
            forgotten: Vec::new(),
            is_alone: false,
            bytes: None,
        }
    }

    /// With several clients that share the server, before any of them says something.
    pub fn shared(mut self) -> Self {
        self.session = self.session.shared();
        self
    }

    /// A session that is open: the client's revision and capabilities, the server's revision.
    pub fn opened(ask: &str, client: &str, capabilities: Value, server: &str) -> Self {
        let mut world = Self::new(ask);
        world.open(client, capabilities, server);
        world
    }

    pub fn open(&mut self, client: &str, capabilities: Value, server: &str) {
        self.client(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
            {"protocolVersion": client, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}}));
        self.server(
            json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": server,
            "capabilities": {}, "serverInfo": {"name": "books", "version": "2"}}}),
        );
        self.to_client.clear();
        self.to_server.clear();
        self.is_alone = true;
    }

    /// With a client that declares nothing.
    pub fn plain() -> Self {
        Self::opened("client,page", "2025-11-25", json!({}), "2025-11-25")
    }

    /// From here on, lines are kept as they are, and not read.
    pub fn keep_bytes(&mut self) {
        self.bytes = Some(Vec::new());
    }

    /// What was done since it was last looked at.
    pub fn told_bytes(&mut self) -> Vec<Line> {
        std::mem::take(self.bytes.as_mut().expect("bytes are kept"))
    }

    pub fn on(&mut self, input: Input) {
        let mut out = Vec::new();
        self.session.on(self.now, input, &mut out);
        self.act(out);
    }

    fn act(&mut self, acts: Vec<Output>) {
        let read = |frame: Frame| serde_json::from_slice(&frame.into_bytes()).unwrap();
        for act in acts {
            let act = match (&mut self.bytes, act) {
                (None, act) => act,
                (Some(_), act @ (Output::Named(_) | Output::Unnamed(_) | Output::Learned(_))) => {
                    act
                }
                (Some(bytes), Output::ToClient(frame) | Output::InCall(frame, _)) => {
                    bytes.push(Line::ToClient(frame));
                    continue;
                }
                (Some(bytes), Output::ToServer(ServerId::First, frame)) => {
                    bytes.push(Line::ToServer(frame));
                    continue;
                }
                (Some(bytes), act) => {
                    bytes.push(Line::Other);
                    act
                }
            };
            match act {
                Output::ToClient(frame) => {
                    let told = read(frame);
                    self.check_names(&told);
                    self.to_client.push(told);
                }
                Output::InCall(frame, request) => {
                    let request = serde_json::from_str(request.as_json()).unwrap();
                    self.in_calls.push((request, read(frame.clone())));
                    self.to_client.push(read(frame));
                }
                Output::ToServer(ServerId::First, frame) => self.to_server.push(read(frame)),
                Output::Ask(turn, ticket, elicitation) => {
                    assert!(!self.questions.contains(&turn), "{turn:?} is asked twice");
                    self.questions.push(turn);
                    self.tickets.push(ticket);
                    self.asked.push((self.questions.len() as u64, elicitation));
                }
                Output::Withdraw(turn, why) => self.withdrawn.push((self.nth(turn), why)),
                Output::Complete(turn, by) => self.completed.push((self.nth(turn), by)),
                Output::Renew(turn, link) => {
                    let url = link.href().unwrap_or_default().to_owned();
                    self.renewed.push((self.nth(turn), url));
                }
                Output::Sent(turn) => self.note(turn, Delivered::Sent),
                Output::Delivered(turn) => self.note(turn, Delivered::Yes),
                Output::Undelivered(turn, why) => self.note(turn, Delivered::No(why)),
                Output::Unknown(turn) => self.note(turn, Delivered::Unknown),
                Output::Detach(turn) => self.detached.push(self.nth(turn)),
                Output::Save(number, record) => self.saves.push((number, record)),
                Output::Forget(key) => self.forgotten.push(key),
                Output::Noise(_) => self.noise += 1,
                Output::Named(given) => drop(self.named.insert(given.name, given)),
                Output::Unnamed(name) => {
                    let known = self.named.remove(&name);
                    assert!(known.is_some(), "{name:?} leads nowhere");
                }
                Output::Learned(tools) => self.learned = Some(*tools),
                Output::StartSecond | Output::ToServer(ServerId::Second, _) if self.is_alone => {
                    panic!("this server is one process")
                }
                Output::StartSecond => self.started += 1,
                Output::ToServer(ServerId::Second, frame) => self.to_beside.push(read(frame)),
            }
        }
    }

    /// Whatever a client is given to come back by leads somewhere before the client has it.
    fn check_names(&self, told: &Value) {
        let result = &told["result"];
        let given = [
            (NameUse::State, &result["requestState"]),
            (NameUse::Claim, &result["_meta"][meta::WAITING]["claim"]),
            (
                NameUse::Question,
                &result["_meta"][ElicitationPending::MEMBER]["elicitId"],
            ),
        ];
        for (used_for, secret) in given {
            // A state that isn't ours is the server's.
            let name = secret.as_str().and_then(Name::of_ours);
            let Some(name) = name else { continue };
            let given = self.named.get(&name);
            let given = given.unwrap_or_else(|| panic!("{used_for:?} leads nowhere: {told}"));
            assert_eq!(given.used_for, used_for, "{told}");
        }
    }

    fn note(&mut self, turn: QuestionId, how: Delivered) {
        self.deliveries.push((self.nth(turn), how));
    }

    /// What became of answers since it was last looked at.
    pub fn told_of_answers(&mut self) -> Vec<(u64, Delivered)> {
        std::mem::take(&mut self.deliveries)
    }

    /// Which question on the desk the gateway means.
    fn nth(&self, turn: QuestionId) -> u64 {
        let at = self.questions.iter().position(|asked| *asked == turn);
        at.expect("it is on the desk") as u64 + 1
    }

    /// What the gateway calls a question on the desk.
    fn turn(&self, nth: u64) -> QuestionId {
        self.questions[nth as usize - 1]
    }

    pub fn client(&mut self, message: Value) {
        if !self.answers_at_once && is_answer(&message) {
            self.passes(A_MOMENT);
        }
        self.client_frame(Frame::write(&message));
    }

    /// The client sends a line as it is.
    pub fn client_frame(&mut self, frame: Frame) {
        self.on(Input::Client(frame));
    }

    /// Another session of the same person sends what was given out here.
    pub fn guest(&mut self, message: Value) {
        self.on(Input::Guest(Frame::write(&message)));
    }

    pub fn client_left(&mut self) {
        self.on(Input::ClientLeft);
    }

    /// True while somebody may come back.
    pub fn is_named(&self) -> bool {
        self.session.is_named()
    }

    /// True while the server may still do something.
    pub fn needs_server(&self) -> bool {
        self.session.needs_server()
    }

    /// A session of the same client that begins later, with what this one learned.
    pub fn later(&mut self, ask: &str) -> Self {
        let mut later = Self::new(ask);
        if let Some(tools) = self.learned.clone() {
            later.session = later.session.knowing(tools);
        }
        later
    }

    pub fn client_gone(&mut self) {
        self.on(Input::ClientGone);
    }

    pub fn server(&mut self, message: Value) {
        self.server_frame(Frame::write(&message));
    }

    /// The server sends a line as it is.
    pub fn server_frame(&mut self, frame: Frame) {
        self.on(said(ServerId::First, frame));
    }

    /// The server says something on the stream of this request.
    pub fn server_during(&mut self, request: impl Into<Id>, message: Value) {
        let during = Some(request.into());
        let (from, frame) = (ServerId::First, Frame::write(&message));
        self.on(Input::Server {
            from,
            frame,
            during,
        });
    }

    pub fn server_gone(&mut self, how: &str) {
        self.on(Input::ServerGone(ServerId::First, how.to_owned()));
    }

    /// A message of this id doesn't get through to the server.
    pub fn unreached(&mut self, id: impl Into<Id>) {
        self.on(Input::Unreached(ServerId::First, id.into()));
    }

    /// The server was started again, since it ended when it was asked what it is.
    pub fn restarted(&mut self) {
        self.on(Input::Restarted);
    }

    /// The second process of the server sends a line.
    pub fn beside(&mut self, message: Value) {
        self.on(said(ServerId::Second, Frame::write(&message)));
    }

    pub fn beside_gone(&mut self) {
        self.on(Input::ServerGone(ServerId::Second, "ended".to_owned()));
    }

    pub fn calls(&mut self, id: u64) {
        self.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "book", "_meta": {"progressToken": format!("t{id}")}}}));
        self.to_server.clear();
    }

    /// The client lists the tools, and this is what the server says they are.
    pub fn lists(&mut self, tools: Value) -> Value {
        self.client(json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}));
        self.server(json!({"jsonrpc": "2.0", "id": "list", "result": {"tools": tools}}));
        self.to_server.clear();
        self.told_client()["result"]["tools"].clone()
    }

    /// A question comes, and if it goes to the desk, people see it.
    pub fn asks(&mut self, id: u64, params: Value) {
        let before = self.asked.len();
        self.server(
            json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params}),
        );
        self.see_since(before);
    }

    /// People see what was asked.
    pub fn see(&mut self) {
        self.see_since(0);
    }

    /// People see a question.
    pub fn sees(&mut self, nth: u64) {
        self.on(Input::Asked(self.turn(nth), waiting()));
    }

    fn see_since(&mut self, before: usize) {
        let asked: Vec<u64> = self.asked[before..].iter().map(|(nth, _)| *nth).collect();
        for nth in asked {
            self.sees(nth);
        }
    }

    /// The desk doesn't take a question.
    pub fn refuses(&mut self, nth: u64, why: &str) {
        self.on(Input::Refused(self.turn(nth), why.to_owned()));
    }

    /// Somebody opens the link of a question.
    pub fn follows(&mut self, nth: u64, by: By) {
        self.on(Input::Opened(self.turn(nth), by));
    }

    /// The question that was put on the desk as the nth ends.
    pub fn ends(&mut self, nth: u64, outcome: Outcome) {
        self.on(Input::Ended(self.turn(nth), outcome));
    }

    pub fn passes(&mut self, time: Duration) {
        self.now = self.now + time;
        if self.wakes_at().is_some_and(|at| at <= self.now) {
            self.on(Input::Woke);
        }
    }

    /// Time passes, and the gateway isn't woken however much it wanted to be.
    pub fn sleeps(&mut self, time: Duration) {
        self.now = self.now + time;
    }

    /// When the gateway wants to be woken.
    pub fn wakes_at(&self) -> Option<Moment> {
        self.session.wakes_at()
    }

    /// Whether the server is only being asked what it is, and may end at that.
    pub fn is_probing(&self) -> bool {
        self.session.is_probing()
    }

    /// Whether what the client said waits for the server to be open.
    pub fn holds(&self) -> bool {
        self.session.holds()
    }

    /// The only line the server was sent since it was last looked at.
    pub fn told_server(&mut self) -> Value {
        assert_eq!(self.to_server.len(), 1, "{:#?}", self.to_server);
        self.to_server.remove(0)
    }

    pub fn told_client(&mut self) -> Value {
        assert_eq!(self.to_client.len(), 1, "{:#?}", self.to_client);
        self.to_client.remove(0)
    }

    pub fn told_beside(&mut self) -> Value {
        assert_eq!(self.to_beside.len(), 1, "{:#?}", self.to_beside);
        self.to_beside.remove(0)
    }

    /// The server answers the only line it was sent.
    pub fn server_answers(&mut self, result: Value) -> Value {
        let asked = self.told_server();
        self.server(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
        asked
    }
}

/// What a person takes at least to read a question and answer it.
const A_MOMENT: Duration = Duration::from_millis(300);

/// True if a client's message answers questions, in the words of either era.
fn is_answer(message: &Value) -> bool {
    message["result"]["action"].is_string() || message["params"]["inputResponses"].is_object()
}

pub const PAGE: By = By {
    route: Route::Page,
    human: true,
};

/// The usual rules.
pub fn choices(ask: &str) -> Choices {
    Choices {
        flags: Setting {
            routes: Some(ask.parse().unwrap()),
            ..Setting::default()
        },
        policy: Policy::default(),
        profile: None,
        limits: Limits::default(),
        locale: Locale::EnUs,
        hold: Some(Duration::from_secs(45)),
        on_unavailable: OnUnavailable::Cancel,
        asker: Asker::named("server.js"),
        scope: principal(),
        saves: None,
    }
}

/// A server says something.
fn said(from: ServerId, frame: Frame) -> Input {
    let during = None;
    Input::Server {
        from,
        frame,
        during,
    }
}

fn waiting() -> Waiting {
    Waiting {
        deadline: Some("2026-11-16T12:00:00.000Z".to_owned()),
        page: Some("http://127.0.0.1:1".to_owned()),
    }
}

pub fn day() -> Value {
    json!({"message": "For which day?", "requestedSchema": {"type": "object",
        "properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]}})
}

pub fn link() -> Value {
    json!({"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "e1"})
}
