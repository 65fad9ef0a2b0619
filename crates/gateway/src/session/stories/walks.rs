//! Random walks: a client, a server, a person, a store and the clock do whatever they may, in any order. In some walks
//! the gateway ends in between, and another goes on with what the store has.
//!
//! However they walk, every request of the client is answered exactly once, every question of the server and every
//! question on the desk ends exactly once, what became of each answer at the desk is said exactly once, and the ledger's indexes are what they are made of (`Session::on` checks that
//! in tests). A walk is made from a number, so one that fails can be walked again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, SystemTime};

use crate::moment::Moment;
use midcall_core::{Answer, Elicitation, Values, Wanted};
use midcall_desk::{Outcome, TicketId, Withdrawn};
use serde_json::{Value, json};

use super::eras::{PAGE, discovered, initialized, modern};
use crate::call::{CallKey, Restored};
use crate::frame::{Frame, Id};
use crate::route::{Confirm, Fingerprint, ServerEra, Setup};
use crate::session::world::choices;
use crate::session::{Input, Output, QuestionId, ServerId, Session};

/// How many walks there are in all, unless `MIDCALL_WALKS` says otherwise.
const WALKS: u64 = 10_000;

/// How many steps each has.
const STEPS: usize = 30;

/// Walks a quarter of the way, so that the quarters can be walked side by side.
fn walks(quarter: u64) {
    let walks = std::env::var("MIDCALL_WALKS")
        .ok()
        .and_then(|count| count.parse().ok());
    let each = walks.unwrap_or(WALKS) / 4;
    let mut met = Met::default();
    for seed in quarter * each..(quarter + 1) * each {
        let walked = std::panic::catch_unwind(|| Walk::new(seed).walks());
        met.add(walked.unwrap_or_else(|_| panic!("walk {seed}")));
    }
    // A walk that meets nothing shows nothing.
    let all = [
        met.answers,
        met.rounds,
        met.claims,
        met.models,
        met.on_desk,
        met.second,
        met.renewed,
        met.completed,
        met.left,
        met.guests,
        met.saves,
        met.adopted,
    ];
    assert!(all.iter().all(|count| *count > 0), "{all:?}");
    assert_eq!(met.delivered.len(), 3, "{:?}", met.delivered);
}

#[test]
fn walks_of_the_first_quarter() {
    walks(0);
}

#[test]
fn walks_of_the_second_quarter() {
    walks(1);
}

#[test]
fn walks_of_the_third_quarter() {
    walks(2);
}

#[test]
fn walks_of_the_fourth_quarter() {
    walks(3);
}

/// What a walk met, or all together.
#[derive(Default)]
struct Met {
    /// Requests of the client that were answered.
    answers: usize,
    /// Calls that it was told to repeat, results to collect, and questions for its model.
    rounds: usize,
    claims: usize,
    models: usize,
    /// Questions on the desk.
    on_desk: usize,
    /// Second processes of the server.
    second: usize,
    /// Links that lead elsewhere after they were opened, and those that closed by themselves.
    renewed: usize,
    completed: usize,
    /// Sessions that went on without their clients.
    left: usize,
    /// Results that another session got.
    guests: usize,
    /// Calls that were written down, and that another gateway went on with.
    saves: usize,
    adopted: usize,
    /// Answers at the desk, by what became of them.
    delivered: BTreeMap<&'static str, usize>,
}

impl Met {
    fn add(&mut self, other: Self) {
        self.answers += other.answers;
        self.rounds += other.rounds;
        self.claims += other.claims;
        self.models += other.models;
        self.on_desk += other.on_desk;
        self.second += other.second;
        self.renewed += other.renewed;
        self.completed += other.completed;
        self.left += other.left;
        self.guests += other.guests;
        self.saves += other.saves;
        self.adopted += other.adopted;
        for (how, count) in other.delivered {
            *self.delivered.entry(how).or_default() += count;
        }
    }
}

struct Walk {
    setup: Setup,
    session: Session,
    now: Moment,
    /// What the walk is made from (xorshift).
    random: u64,
    is_modern_client: bool,
    is_modern_server: bool,
    /// True if the server wants links followed more often than not, and the person opens them.
    insists: bool,
    /// True if a legacy client declared that it opens links.
    has_links: bool,
    next_id: u64,
    /// The numbers of the links that the server has created.
    links: std::ops::Range<u64>,
    /// Requests of the client without an answer.
    waits: HashSet<String>,
    /// Those that came by other sessions.
    guests: HashSet<String>,
    has_left: bool,
    /// Calls as the client made them, by their ids.
    calls: HashMap<String, Value>,
    /// Calls to be repeated, with what is asked in them.
    rounds: Vec<(Value, Value)>,
    claims: Vec<String>,
    elicit_ids: Vec<String>,
    /// Requests that the client was sent.
    asked: Vec<Value>,
    /// Requests that each process of the server was sent.
    at_server: Vec<(ServerId, Value)>,
    /// The server's own questions without an answer.
    server_asks: HashSet<(bool, u64)>,
    page: BTreeMap<QuestionId, Box<Elicitation>>,
    seen: HashSet<QuestionId>,
    /// Answers given at the desk, and whether they were sent.
    answered: HashMap<QuestionId, bool>,
    news: Vec<Input>,
    store: Store,
    met: Met,
}

/// What outlives a gateway.
#[derive(Default)]
struct Store {
    records: BTreeMap<CallKey, Vec<u8>>,
    /// Saves that are under way.
    under_way: Vec<(CallKey, u64, Vec<u8>)>,
    /// The tickets of questions, and how those ended that have.
    tickets: HashMap<QuestionId, TicketId>,
    ended: HashMap<TicketId, Outcome>,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut pick = |from: &[&str]| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            from[random as usize % from.len()].to_owned()
        };
        let mut choices = choices(&pick(&[
            "client,page",
            "page",
            "client,model",
            "client,page,model",
            "client",
        ]));
        choices.flags.confirm = Some(match &*pick(&["never", "never", "never", "all"]) {
            "all" => Confirm::All,
            _ => Confirm::Never,
        });
        let insists = pick(&["no", "yes"]) == "yes";
        if pick(&["saves", "forgets"]) == "saves" {
            choices.saves = Some(Fingerprint::of("books", []));
        }
        let setup = Setup::new(choices);
        let (client, server) = (pick(&["modern", "legacy"]), pick(&["modern", "legacy"]));
        Self {
            session: Session::new(setup.clone(), ServerEra::Auto),
            setup,
            now: Moment::now(),
            random,
            is_modern_client: client == "modern",
            is_modern_server: server == "modern",
            insists,
            has_links: false,
            next_id: 0,
            links: 2..2,
            waits: HashSet::new(),
            guests: HashSet::new(),
            has_left: false,
            calls: HashMap::new(),
            rounds: Vec::new(),
            claims: Vec::new(),
            elicit_ids: Vec::new(),
            asked: Vec::new(),
            at_server: Vec::new(),
            server_asks: HashSet::new(),
            page: BTreeMap::new(),
            seen: HashSet::new(),
            answered: HashMap::new(),
            news: Vec::new(),
            store: Store::default(),
            met: Met::default(),
        }
    }

    fn walks(mut self) -> Met {
        self.opens_client();
        for _ in 0..STEPS {
            self.step();
        }
        // Whatever waits has an end.
        for _ in 0..50 {
            self.stores_all();
            self.passes(Duration::from_secs(60 * 60));
        }
        self.stores_all();
        assert!(
            self.server_asks.is_empty(),
            "questions without an end: {:?}",
            self.server_asks
        );
        self.on(Input::ServerGone(ServerId::First, "ended".to_owned()));
        self.stores_all();
        assert!(
            self.waits.is_empty(),
            "requests without an answer: {:?}",
            self.waits
        );
        assert!(self.page.is_empty(), "questions are left on the desk");
        assert!(
            self.answered.is_empty(),
            "answers of which nobody hears what became: {:?}",
            self.answered
        );
        Met {
            rounds: self.rounds.len(),
            claims: self.claims.len(),
            models: self.elicit_ids.len(),
            on_desk: self.seen.len(),
            ..self.met
        }
    }

    fn opens_client(&mut self) {
        if !self.is_modern_client {
            let capabilities = self.capabilities();
            self.has_links = capabilities["elicitation"]["url"].is_object();
            let opening = json!({"method": "initialize", "params": {"protocolVersion": "2025-11-25",
                "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}});
            self.requests(opening);
        }
    }

    fn random(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % below
    }

    fn capabilities(&mut self) -> Value {
        let all = [
            json!({}),
            json!({"elicitation": {}}),
            json!({"elicitation": {"form": {}, "url": {}}}),
            json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}}),
        ];
        all[self.random(all.len())].clone()
    }

    fn step(&mut self) {
        // A link is seldom followed to its end by chance.
        if self.insists && self.random(2) == 0 {
            return match self.random(3) {
                0 => self.server_answers(),
                1 => self.person(),
                _ => self.passes(Duration::from_secs(10)),
            };
        }
        match self.random(22) {
            // Whoever has left comes by another session, or not at all.
            0..=2 | 8..=10 if self.has_left => self.collects(),
            0..=2 => self.calls(),
            3..=5 => self.server_answers(),
            6 | 7 => self.server_asks(),
            8 | 9 => self.client_answers(),
            10 => self.repeats(),
            11 => self.collects(),
            12 => self.person(),
            13 => {
                let seconds = [0, 1, 10, 46, 61, 301][self.random(6)];
                self.passes(Duration::from_secs(seconds));
            }
            14 => self.takes_back(),
            15 => self.completes(),
            16 if !self.is_modern_client => self.leaves(),
            17 => self.progresses(),
            18..=20 => self.stores(),
            21 if self.random(4) == 0 => self.crashes(),
            _ => {}
        }
    }

    /// The client makes a request.
    fn calls(&mut self) {
        let (method, params) = [
            ("tools/call", json!({"name": "book", "arguments": {"a": 1}})),
            ("tools/call", json!({"name": "pay"})),
            ("prompts/get", json!({"name": "p"})),
            ("tools/list", json!({})),
            ("resources/read", json!({"uri": "a:b"})),
        ][self.random(5)]
        .clone();
        let mut request = json!({"method": method, "params": params});
        if self.is_modern_client {
            request = modern(0, method, params, Value::Null);
            request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                self.capabilities();
        }
        if self.random(2) == 0 {
            request["params"]["_meta"]["progressToken"] = format!("t{}", self.next_id).into();
        }
        self.requests(request);
    }

    fn requests(&mut self, request: Value) {
        let request = self.waits_for(request);
        self.on(Input::Client(Frame::write(&request)));
    }

    fn waits_for(&mut self, mut request: Value) -> Value {
        self.next_id += 1;
        request["jsonrpc"] = "2.0".into();
        request["id"] = self.next_id.into();
        self.waits.insert(request["id"].to_string());
        self.calls
            .insert(request["id"].to_string(), request.clone());
        request
    }

    /// The client ends its session. What it was told to come back for goes on.
    fn leaves(&mut self) {
        if std::mem::replace(&mut self.has_left, true) {
            return;
        }
        self.on(Input::ClientLeft);
        self.waits.retain(|id| self.guests.contains(id));
        self.calls.retain(|id, _| self.guests.contains(id));
        self.asked.clear();
        self.met.left += usize::from(self.session.is_named());
    }

    /// The server answers a request, in one of the ways that it may.
    fn server_answers(&mut self) {
        if self.at_server.is_empty() {
            return;
        }
        let at = self.random(self.at_server.len());
        let (server, request) = self.at_server.remove(at);
        let round = |requests: Value| json!({"resultType": "input_required", "inputRequests": requests, "requestState": "theirs"});
        let form = json!({"method": "elicitation/create", "params": day()});
        let mut link = json!({"method": "elicitation/create", "params": link()});
        let sampling = json!({"method": "sampling/createMessage", "params": {"messages": []}});
        // Some servers create a new link on every try.
        let minted = |link: &mut Value, nth: u64| {
            link["elicitationId"] = format!("e{nth}").into();
            link["url"] = format!("https://example.com/in/{nth}").into();
        };
        let mut links = vec![link["params"].clone()];
        if self.random(2) == 0 {
            minted(&mut links[0], self.links.end);
            minted(&mut link["params"], self.links.end);
            self.links.end += 1;
        }
        if self.random(4) == 0 {
            links.push(links[0].clone());
            links[1]["message"] = "Pay".into();
        }
        let links = json!({"code": -32042, "message": "Sign in", "data": {"elicitations": links}});
        let is_modern = self.is_modern_server == (server == ServerId::First);
        let wants_links = self.insists && self.random(2) == 0;
        let answer = match self.random(8) {
            _ if wants_links => json!({"error": links}),
            0 if is_modern => json!({"result": round(json!({"k": form}))}),
            1 if is_modern => {
                json!({"result": round(json!({"k": form, "l": link, "m": sampling}))})
            }
            2 if is_modern => {
                json!({"result": {"resultType": "input_required", "requestState": "again"}})
            }
            3 => json!({"error": links}),
            4 => json!({"error": {"code": -32603, "message": "broken"}}),
            5 => {
                json!({"error": {"code": -32600, "message": "Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests."}})
            }
            _ if request["method"] == "tools/list" => {
                json!({"result": {"tools": [{"name": "book"}]}})
            }
            _ => json!({"result": {"content": []}}),
        };
        self.answers(server, &request["id"], answer);
    }

    fn answers(&mut self, from: ServerId, id: &Value, mut answer: Value) {
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = id.clone();
        self.server(from, answer);
    }

    fn server(&mut self, from: ServerId, message: Value) {
        let (frame, during) = (Frame::write(&message), None);
        self.on(Input::Server {
            from,
            frame,
            during,
        });
    }

    /// The server asks something by a request.
    fn server_asks(&mut self) {
        self.next_id += 1;
        let id = self.next_id;
        let (method, params) = [
            ("elicitation/create", day()),
            ("elicitation/create", day()),
            ("elicitation/create", link()),
            ("sampling/createMessage", json!({"messages": []})),
            ("roots/list", json!({})),
        ][self.random(5)]
        .clone();
        if method == "elicitation/create" {
            self.server_asks.insert((true, id));
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let at = self.random(2 * self.at_server.len().max(1));
        let during = self
            .at_server
            .get(at)
            .filter(|(at, _)| *at == ServerId::First);
        let during = during.and_then(|(_, request)| Id::read(request["id"].to_string().as_bytes()));
        // By HTTP, the stream may say in which call it came up.
        let (from, frame) = (ServerId::First, Frame::write(&message));
        self.on(Input::Server {
            from,
            frame,
            during,
        });
    }

    /// The client answers a request, perhaps at once, perhaps badly.
    fn client_answers(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let at = self.random(self.asked.len());
        let request = self.asked.remove(at);
        if self.random(3) > 0 {
            self.passes(Duration::from_secs(1));
        }
        let mut answer = self.answer();
        answer = match self.random(6) {
            0 => json!({"error": {"code": -32601, "message": "no"}}),
            _ => json!({"result": answer}),
        };
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = request["id"].clone();
        self.on(Input::Client(Frame::write(&answer)));
    }

    fn answer(&mut self) -> Value {
        [
            json!({"action": "accept", "content": {"day": "2026-11-16"}}),
            json!({"action": "accept", "content": {"day": "xyzzy"}}),
            json!({"action": "decline"}),
            json!({"action": "cancel"}),
        ][self.random(4)]
        .clone()
    }

    /// The client repeats a call, with answers to some of what it was asked.
    fn repeats(&mut self) {
        if self.rounds.is_empty() {
            return;
        }
        let at = self.random(self.rounds.len());
        let (call, round) = self.rounds[at].clone();
        let mut again = call;
        let mut responses = json!({});
        for (key, _) in round["inputRequests"].as_object().into_iter().flatten() {
            if self.random(4) > 0 {
                responses[key] = self.answer();
            }
        }
        self.passes(Duration::from_secs(1));
        again["params"]["requestState"] = round["requestState"].clone();
        again["params"]["inputResponses"] = responses;
        self.requests(again);
    }

    /// The client collects a result, or its model answers a question.
    fn collects(&mut self) {
        let answers = self.random(2) == 0 && !self.elicit_ids.is_empty();
        let params = if answers {
            let at = self.random(self.elicit_ids.len());
            let mut arguments = self.answer();
            arguments["elicitId"] = self.elicit_ids[at].as_str().into();
            json!({"name": "sendElicitationResult", "arguments": arguments})
        } else if !self.claims.is_empty() {
            let at = self.random(self.claims.len());
            json!({"name": "awaitElicitation", "arguments": {"claim": self.claims[at]}})
        } else {
            return;
        };
        if self.has_left || self.random(2) == 0 {
            let request = json!({"method": "tools/call", "params": params});
            let request = self.waits_for(request);
            self.guests.insert(request["id"].to_string());
            return self.on(Input::Guest(Frame::write(&request)));
        }
        let request = match self.is_modern_client {
            true => modern(0, "tools/call", params, Value::Null),
            false => json!({"method": "tools/call", "params": params}),
        };
        self.requests(request);
    }

    /// A person does something about a question on the desk.
    fn person(&mut self) {
        let questions: Vec<QuestionId> = self.page.keys().copied().collect();
        if questions.is_empty() {
            return;
        }
        let question = questions[self.random(questions.len())];
        let answer = match self.random(if self.insists { 8 } else { 4 }) {
            0 | 4.. => return self.on(Input::Opened(question, PAGE)),
            1 => Answer::Declined { reason: None },
            _ => accepted(&self.page[&question]),
        };
        self.page.remove(&question);
        self.answer_at_desk(question, answer);
    }

    fn answer_at_desk(&mut self, question: QuestionId, answer: Answer) {
        self.answered.insert(question, false);
        self.on(Input::Ended(question, Outcome::Answered(answer, PAGE)));
    }

    /// What became of an answer, the last word: it is said once.
    fn arrived(&mut self, question: QuestionId, how: &'static str) {
        let was_sent = self.answered.remove(&question);
        assert!(
            was_sent.is_some(),
            "{question:?} is {how}, or was it before?"
        );
        *self.met.delivered.entry(how).or_default() += 1;
    }

    /// The client or the server takes something back.
    fn takes_back(&mut self) {
        let id = json!(1 + self.random(self.next_id.max(1) as usize));
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        if self.random(2) == 0 && (!self.has_left || self.guests.contains(&id.to_string())) {
            // Its answer may still come, or not any more.
            self.waits.remove(&id.to_string());
            self.on(Input::Client(Frame::write(&cancel)));
        } else {
            self.server_asks
                .remove(&(true, id.as_u64().unwrap_or_default()));
            self.server(ServerId::First, cancel);
        }
    }

    /// The server says that what a link led to is done.
    fn completes(&mut self) {
        let nth = self.random(self.links.end as usize + 1);
        let params = json!({"elicitationId": format!("e{nth}")});
        self.server(
            ServerId::First,
            json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params}),
        );
    }

    fn progresses(&mut self) {
        let params =
            json!({"progressToken": format!("t{}", self.random(20)), "progress": self.random(5)});
        self.server(
            ServerId::First,
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
        );
    }

    /// Time passes, with every stop that the session asks for.
    fn passes(&mut self, time: Duration) {
        let until = self.now + time;
        for _ in 0..10_000 {
            let Some(at) = self.session.wakes_at().filter(|at| *at <= until) else {
                break;
            };
            self.now = self.now.max(at);
            self.on(Input::Woke);
        }
        self.now = until;
        // The desk ends what waited for too long.
        if time >= Duration::from_secs(300) {
            for question in std::mem::take(&mut self.page).into_keys() {
                self.on(Input::Ended(question, Outcome::TimedOut));
            }
        }
    }

    /// The store does a save, or fails to.
    fn stores(&mut self) {
        if self.store.under_way.is_empty() {
            return;
        }
        let at = self.random(self.store.under_way.len());
        let (key, number, json) = self.store.under_way.remove(at);
        match self.random(12) {
            0 => self.on(Input::NotSaved(key, number, "full".to_owned())),
            1 => {
                self.store.records.remove(&key);
                self.on(Input::Lost(key));
            }
            _ => {
                self.store.records.insert(key, json);
                self.on(Input::Saved(key, number));
            }
        }
    }

    fn stores_all(&mut self) {
        while let Some((key, number, json)) = self.store.under_way.pop() {
            self.store.records.insert(key, json);
            self.on(Input::Saved(key, number));
        }
    }

    /// The gateway ends, with its connections, and another goes on. Of the saves under way, nobody knows.
    fn crashes(&mut self) {
        if self.setup.saves.is_none() {
            return;
        }
        for (key, _, json) in std::mem::take(&mut self.store.under_way) {
            if self.random(2) == 0 {
                self.store.records.insert(key, json);
            }
        }
        self.session = Session::new(self.setup.clone(), ServerEra::Auto);
        self.has_left = false;
        self.waits.clear();
        self.guests.clear();
        self.calls.clear();
        self.asked.clear();
        self.at_server.clear();
        self.server_asks.clear();
        self.page.clear();
        self.seen.clear();
        self.answered.clear();
        self.store.tickets.clear();
        for json in self.store.records.values().cloned().collect::<Vec<_>>() {
            let restored = Restored::read(&json, self.now, SystemTime::UNIX_EPOCH);
            self.met.adopted += 1;
            self.on(Input::Adopt(Box::new(restored.unwrap())));
        }
        self.opens_client();
    }

    fn on(&mut self, input: Input) {
        if let Input::Ended(question, outcome) = &input
            && let Some(ticket) = self.store.tickets.get(question)
        {
            self.store.ended.insert(*ticket, outcome.clone());
        }
        let mut out = Vec::new();
        self.session.on(self.now, input, &mut out);
        for output in out {
            match output {
                Output::ToClient(frame) | Output::InCall(frame, _) => {
                    self.client_hears(&read(frame))
                }
                Output::ToServer(server, frame) => self.server_hears(server, read(frame)),
                Output::StartSecond => self.met.second += 1,
                Output::Renew(question, _) => {
                    assert!(
                        self.seen.contains(&question),
                        "{question:?} isn't on the desk"
                    );
                    self.met.renewed += 1;
                }
                Output::Noise(_) | Output::Named(_) | Output::Unnamed(_) | Output::Learned(_) => {}
                Output::Save(number, record) => {
                    let key = record.key;
                    let other = self.store.under_way.iter().find(|save| save.0 == key);
                    assert!(other.is_none(), "two saves of one call are under way");
                    let json = record.write(self.now, SystemTime::UNIX_EPOCH);
                    self.met.saves += 1;
                    self.store.under_way.push((key, number, json));
                }
                Output::Forget(key) => {
                    self.store.under_way.retain(|save| save.0 != key);
                    self.store.records.remove(&key);
                }
                Output::Detach(question) => {
                    self.page.remove(&question);
                    self.answered.remove(&question);
                }
                Output::Ask(question, ticket, elicitation) => {
                    assert!(self.seen.insert(question), "{question:?} is asked twice");
                    self.store
                        .tickets
                        .extend(ticket.map(|ticket| (question, ticket)));
                    let ended = ticket.and_then(|ticket| self.store.ended.get(&ticket).cloned());
                    if let Some(outcome) = ended {
                        if matches!(outcome, Outcome::Answered(..)) {
                            self.answered.insert(question, false);
                        }
                        self.news.push(Input::Ended(question, outcome));
                        continue;
                    }
                    self.page.insert(question, elicitation);
                    self.news.push(Input::Asked(question, Default::default()));
                }
                Output::Withdraw(question, why) => self.withdrawn(question, why),
                Output::Complete(question, by) => {
                    if let Some(elicitation) = self.page.remove(&question) {
                        self.met.completed += 1;
                        let answer = accepted(&elicitation);
                        self.answered.insert(question, false);
                        self.news
                            .push(Input::Ended(question, Outcome::Answered(answer, by)));
                    }
                }
                Output::Sent(question) => {
                    let was_sent = self.answered.insert(question, true);
                    assert_eq!(
                        was_sent,
                        Some(false),
                        "{question:?} is sent twice, or not given"
                    );
                }
                Output::Delivered(question) => self.arrived(question, "delivered"),
                Output::Undelivered(question, _) => self.arrived(question, "undelivered"),
                Output::Unknown(question) => {
                    assert_eq!(
                        self.answered.get(&question),
                        Some(&true),
                        "{question:?} wasn't sent"
                    );
                    self.arrived(question, "unknown");
                }
            }
        }
        for input in std::mem::take(&mut self.news) {
            self.on(input);
        }
    }

    /// A question is taken back. Sometimes a person was faster.
    fn withdrawn(&mut self, question: QuestionId, why: Withdrawn) {
        if let Some(elicitation) = self.page.remove(&question) {
            let outcome = match self.random(8) {
                0 => {
                    self.answered.insert(question, false);
                    Outcome::Answered(accepted(&elicitation), PAGE)
                }
                _ => Outcome::Withdrawn(why),
            };
            self.news.push(Input::Ended(question, outcome));
        }
    }

    fn client_hears(&mut self, message: &Value) {
        let id = message["id"].to_string();
        if message.get("method").is_some() {
            if message.get("id").is_some() {
                assert!(!self.has_left, "nobody answers {message}");
                self.asked.push(message.clone());
            } else if message["method"] == "notifications/cancelled" {
                let gone = &message["params"]["requestId"];
                self.asked.retain(|asked| asked["id"] != *gone);
            }
            return;
        }
        self.met.answers += 1;
        self.met.guests += usize::from(self.guests.contains(&id));
        let is_known = self.waits.remove(&id);
        let call = self.calls.remove(&id);
        assert!(
            is_known || call.is_some(),
            "answered twice, or never asked: {message}"
        );
        let knows_links = !self.is_modern_client && self.has_links;
        assert!(
            message["error"]["code"] != -32042 || knows_links,
            "the client doesn't know what that means: {message}"
        );
        let result = &message["result"];
        let is_ours = |state: &str| state != "theirs" && state != "again";
        if let Some(call) = call
            && result["requestState"].as_str().is_some_and(is_ours)
        {
            self.rounds.push((call, result.clone()));
        }
        let told = &result["_meta"];
        self.claims.extend(
            told["dev.midcall/waiting"]["claim"]
                .as_str()
                .map(str::to_owned),
        );
        self.elicit_ids.extend(
            told["elicitationPending"]["elicitId"]
                .as_str()
                .map(str::to_owned),
        );
    }

    fn server_hears(&mut self, server: ServerId, message: Value) {
        let is_modern = self.is_modern_server == (server == ServerId::First);
        match message["method"].as_str() {
            None => {
                let id = message["id"].as_u64().unwrap_or_default();
                self.server_asks.remove(&(true, id));
            }
            Some("server/discover") => {
                let answer = match is_modern {
                    true => json!({"result": discovered()}),
                    false => json!({"error": {"code": -32601, "message": "?"}}),
                };
                self.opens(server, &message, answer);
            }
            Some("initialize") => {
                let answer = match is_modern {
                    true => json!({"error": {"code": -32601, "message": "?"}}),
                    false => json!({"result": initialized()}),
                };
                self.opens(server, &message, answer);
            }
            Some(_) if message.get("id").is_some() => self.at_server.push((server, message)),
            Some(_) => {}
        }
    }

    /// A server answers what opens it at once.
    fn opens(&mut self, from: ServerId, request: &Value, mut answer: Value) {
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = request["id"].clone();
        let (frame, during) = (Frame::write(&answer), None);
        self.news.push(Input::Server {
            from,
            frame,
            during,
        });
    }
}

fn read(frame: Frame) -> Value {
    serde_json::from_slice(&frame.into_bytes()).unwrap()
}

fn day() -> Value {
    crate::session::world::day()
}

fn link() -> Value {
    crate::session::world::link()
}

/// A yes: the form as it is, or a no if that doesn't do.
fn accepted(elicitation: &Elicitation) -> Answer {
    let checked = match &elicitation.wanted {
        Wanted::Form(form) => form.check(Values::default()).ok(),
        Wanted::Link(link) => link.consent(),
    };
    checked.map_or(Answer::Cancelled, Answer::Accepted)
}
