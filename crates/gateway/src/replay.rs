//! A session played from a script, for tests that try anything.
//!
//! A script is lines. The first says who may be asked and which calls need approval (`client,page all`), and with a third
//! word that calls are written down (`client,page never saves`). Each other line
//! is a step: what one side sends as it is, an answer to something that side was asked, what the person does, or how
//! much time passes. What must hold for any script is checked here, after every step; a broken promise panics.
//!
//! In: [`play`]. Not here: pipes, sockets and the real clock.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use crate::moment::Moment;
use midcall_core::catalog::Locale;
use midcall_core::{Answer, Asker, Elicitation, Limits, Values, Wanted};
use midcall_desk::{By, Outcome, Route};

use crate::call::{CallKey, Record, Restored};
use crate::frame::{Frame, Id, Kind};
use crate::principal::principal;
use crate::route::{
    Choices, Confirm, Fingerprint, OnUnavailable, Policy, ServerEra, Setting, Setup,
};
use crate::session::{Input, Output, QuestionId, ServerId, Session, Waiting};

/// Plays a script to its end.
///
/// | line | what happens |
/// |---|---|
/// | `c TEXT`, `s TEXT` | the client or the server sends TEXT |
/// | `C NTH JSON`, `S NTH JSON` | it answers the NTH request that it was sent with a result |
/// | `p NTH a` | the person accepts the NTH question on the page; `d` declines, `c` cancels, `o` opens a link, `t`: time is up |
/// | `t MILLISECONDS` | time passes |
/// | `x`, `y` | the client is gone, the server is gone |
/// | `g TEXT`, `l` | another session of the same person sends TEXT, the client leaves |
/// | `n`, `o` | the next save fails, or another process has the call by then |
/// | `r` | the gateway ends, and another goes on with what was written down |
pub fn play(script: &str) {
    let mut lines = script.lines();
    let Some(mut stage) = lines.next().and_then(Stage::new) else {
        return;
    };
    for line in lines {
        stage.step(line);
    }
    stage.on(Input::ClientGone);
    stage.on(Input::ServerGone(ServerId::First, "exited".to_owned()));
    assert!(
        stage.page.is_empty(),
        "questions are left on the page: {:?}",
        stage.page.keys()
    );
}

/// How long a question waits at most.
const PATIENCE: Duration = Duration::from_secs(300);

/// The longest time that may pass in one step.
const A_DAY: u64 = 24 * 60 * 60 * 1_000;

/// Requests and answers of one id.
#[derive(Default)]
struct Count {
    asked: usize,
    answered_by_peer: usize,
    answered: usize,
}

/// One side of the session.
#[derive(Default)]
struct Side {
    /// The ids of the requests that it was sent.
    was_asked: Vec<Id>,
    /// Its own requests, and what came of them.
    counts: HashMap<Id, Count>,
}

/// What outlives a gateway.
#[derive(Default)]
struct Store {
    records: BTreeMap<CallKey, Vec<u8>>,
    /// What becomes of the next save, if it isn't done.
    next: Option<Fault>,
}

/// What becomes of a save that isn't done.
enum Fault {
    Fails,
    Lost,
}

struct Stage {
    setup: Setup,
    session: Session,
    now: Moment,
    client: Side,
    server: Side,
    /// Questions that wait for a person, and until when.
    page: BTreeMap<QuestionId, (Box<Elicitation>, Moment)>,
    /// Every question that was ever put there.
    asked: Vec<QuestionId>,
    store: Store,
    /// Bytes that came in, and that went out.
    heard: usize,
    said: usize,
}

impl Stage {
    fn new(line: &str) -> Option<Self> {
        let (ask, confirm) = line.split_once(' ')?;
        let (confirm, saves) = confirm.split_once(' ').unwrap_or((confirm, ""));
        let flags = Setting {
            routes: Some(ask.parse().ok()?),
            patience: Some(PATIENCE),
            confirm: Some(match confirm {
                "all" => Confirm::All,
                "destructive" => Confirm::Destructive,
                _ => Confirm::Never,
            }),
            ..Setting::default()
        };
        let setup = Setup::new(Choices {
            flags,
            policy: Policy::default(),
            profile: None,
            limits: Limits::default(),
            locale: Locale::EnUs,
            hold: Some(Duration::from_secs(45)),
            on_unavailable: OnUnavailable::Cancel,
            asker: Asker::named("server"),
            scope: principal(),
            saves: (saves == "saves").then(|| Fingerprint::of("server", [])),
        });
        Some(Self {
            session: Session::new(setup.clone(), ServerEra::Auto),
            setup,
            now: Moment::now(),
            client: Side::default(),
            server: Side::default(),
            page: BTreeMap::new(),
            asked: Vec::new(),
            store: Store::default(),
            heard: 0,
            said: 0,
        })
    }

    fn step(&mut self, line: &str) {
        self.heard += line.len() + 1;
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "c" => self.client_sends(Frame::new(format!("{rest}\n").into())),
            "s" => self.server_sends(Frame::new(format!("{rest}\n").into())),
            "C" | "S" => {
                let side = if verb == "C" {
                    &self.client
                } else {
                    &self.server
                };
                let Some(answer) = answer(side, rest) else {
                    return;
                };
                match verb {
                    "C" => self.client_sends(answer),
                    _ => self.server_sends(answer),
                }
            }
            "p" => self.person(rest),
            "t" => self.passes(rest),
            "g" => self.guest_sends(Frame::new(format!("{rest}\n").into())),
            "l" => self.on(Input::ClientLeft),
            "x" => self.on(Input::ClientGone),
            "y" => self.on(Input::ServerGone(ServerId::First, "exited".to_owned())),
            "n" => self.store.next = Some(Fault::Fails),
            "o" => self.store.next = Some(Fault::Lost),
            "r" => self.restarts(),
            _ => {}
        }
    }

    /// The gateway ends with all its connections, and another goes on with the calls that were written down.
    fn restarts(&mut self) {
        self.session = Session::new(self.setup.clone(), ServerEra::Auto);
        (self.client, self.server) = (Side::default(), Side::default());
        self.page.clear();
        self.asked.clear();
        for json in self.store.records.values().cloned().collect::<Vec<_>>() {
            let restored = Restored::read(&json, self.now, SystemTime::UNIX_EPOCH);
            let restored = restored.expect("what was written can be read");
            self.on(Input::Adopt(Box::new(restored)));
        }
    }

    fn client_sends(&mut self, frame: Frame) {
        self.client.sends(&frame);
        self.server.is_answered_by(&frame);
        self.on(Input::Client(frame));
    }

    fn guest_sends(&mut self, frame: Frame) {
        self.client.sends(&frame);
        self.on(Input::Guest(frame));
    }

    fn server_sends(&mut self, frame: Frame) {
        self.server.sends(&frame);
        self.client.is_answered_by(&frame);
        self.on(Input::Server {
            from: ServerId::First,
            frame,
            during: None,
        });
    }

    fn person(&mut self, rest: &str) {
        let (nth, does) = rest.split_once(' ').unwrap_or((rest, ""));
        let nth: usize = nth.parse().unwrap_or_default();
        let Some(turn) = self.page.keys().nth(nth).copied() else {
            return;
        };
        let by = By {
            route: Route::Page,
            human: true,
        };
        let outcome = match does {
            "o" => return self.on(Input::Opened(turn, by)),
            "a" => Outcome::Answered(accepted(&self.page[&turn].0), by),
            "d" => Outcome::Answered(Answer::Declined { reason: None }, by),
            "c" => Outcome::Answered(Answer::Cancelled, by),
            _ => Outcome::TimedOut,
        };
        self.page.remove(&turn);
        self.on(Input::Ended(turn, outcome));
    }

    /// Time passes, with every stop that the session asks for.
    fn passes(&mut self, rest: &str) {
        let milliseconds = rest.parse().unwrap_or(0).min(A_DAY);
        let until = self.now + Duration::from_millis(milliseconds);
        for _ in 0..10_000 {
            let deadlines = self.page.iter().map(|(turn, (_, at))| (*at, Some(*turn)));
            let wakes = self.session.wakes_at().map(|at| (at, None));
            let next = deadlines.chain(wakes).min().filter(|(at, _)| *at <= until);
            let Some((at, turn)) = next else { break };
            self.now = self.now.max(at);
            match turn {
                Some(turn) => {
                    self.page.remove(&turn);
                    self.on(Input::Ended(turn, Outcome::TimedOut));
                }
                None => self.on(Input::Woke),
            }
        }
        self.now = until;
    }

    /// The store does a save, or doesn't.
    fn saves(&mut self, number: u64, record: Record) -> Input {
        let key = record.key;
        match self.store.next.take() {
            None => {
                let json = record.write(self.now, SystemTime::UNIX_EPOCH);
                self.store.records.insert(key, json);
                Input::Saved(key, number)
            }
            Some(Fault::Fails) => Input::NotSaved(key, number, "full".to_owned()),
            Some(Fault::Lost) => {
                self.store.records.remove(&key);
                Input::Lost(key)
            }
        }
    }

    fn on(&mut self, input: Input) {
        let mut acts = Vec::new();
        self.session.on(self.now, input, &mut acts);
        let mut news = Vec::new();
        for act in acts {
            match act {
                Output::ToClient(frame) | Output::InCall(frame, _) => {
                    self.said += frame.len();
                    self.client.hears(&frame);
                }
                Output::ToServer(ServerId::First, frame) => {
                    self.said += frame.len();
                    self.server.hears(&frame);
                }
                Output::Ask(turn, _, elicitation) => {
                    assert!(!self.asked.contains(&turn), "{turn:?} is asked twice");
                    self.asked.push(turn);
                    let patience = elicitation.timeout_ms.map(Duration::from_millis);
                    let until = self.now + patience.unwrap_or(PATIENCE).min(PATIENCE);
                    self.page.insert(turn, (elicitation, until));
                    news.push(Input::Asked(turn, Waiting::default()));
                }
                Output::Withdraw(turn, why) => {
                    if self.page.remove(&turn).is_some() {
                        news.push(Input::Ended(turn, Outcome::Withdrawn(why)));
                    }
                }
                Output::Complete(turn, by) => {
                    if let Some((elicitation, _)) = self.page.remove(&turn) {
                        let answer = accepted(&elicitation);
                        news.push(Input::Ended(turn, Outcome::Answered(answer, by)));
                    }
                }
                Output::StartSecond => {
                    news.push(Input::ServerGone(ServerId::Second, "exited".to_owned()))
                }
                Output::Noise(_) | Output::Renew(..) | Output::ToServer(ServerId::Second, _) => {}
                Output::Named(_) | Output::Unnamed(_) | Output::Learned(_) => {}
                Output::Save(number, record) => news.push(self.saves(number, *record)),
                Output::Forget(key) => drop(self.store.records.remove(&key)),
                Output::Detach(turn) => drop(self.page.remove(&turn)),
                Output::Sent(_)
                | Output::Delivered(_)
                | Output::Undelivered(..)
                | Output::Unknown(_) => {}
            }
        }
        let most = 4 * 1024 * 1024 + 256 * self.heard;
        assert!(
            self.said <= most,
            "{} bytes said for {}",
            self.said,
            self.heard
        );
        for event in news {
            self.on(event);
        }
    }
}

impl Side {
    /// It sends a message.
    fn sends(&mut self, frame: &Frame) {
        each(frame, &mut |kind| match kind {
            Kind::Request { id, .. } | Kind::Wrong { id: Some(id), .. } => {
                self.counts.entry(id).or_default().asked += 1;
            }
            _ => {}
        });
    }

    /// The other side sends a message that may answer it.
    fn is_answered_by(&mut self, frame: &Frame) {
        each(frame, &mut |kind| {
            if let Kind::Response { id: Some(id) } = kind {
                self.counts.entry(id).or_default().answered_by_peer += 1;
            }
        });
    }

    /// It is sent a message. Nothing is answered more often than it was asked, or than the other side answered.
    fn hears(&mut self, frame: &Frame) {
        let mut asked = Vec::new();
        each(frame, &mut |kind| match kind {
            Kind::Request { id, .. } => asked.push(id),
            Kind::Response { id: Some(id) } => {
                let count = self.counts.entry(id.clone()).or_default();
                count.answered += 1;
                assert!(
                    count.answered <= count.asked.max(count.answered_by_peer),
                    "{id:?} is answered {} times",
                    count.answered
                );
            }
            _ => {}
        });
        self.was_asked.extend(asked);
    }
}

/// Looks at a message, or at each of a batch.
fn each(frame: &Frame, look: &mut impl FnMut(Kind<'_>)) {
    match frame.peek() {
        Some((Kind::Batch, _)) => {
            for part in frame.parts() {
                if let Some((kind, _)) = part.peek() {
                    look(kind);
                }
            }
        }
        Some((kind, _)) => look(kind),
        None => {}
    }
}

/// What a side answers: which of the requests that it was sent, and the result.
fn answer(side: &Side, rest: &str) -> Option<Frame> {
    let (nth, result) = rest.split_once(' ')?;
    let id = side.was_asked.get(nth.parse::<usize>().ok()?)?;
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
        id.as_json()
    );
    Some(Frame::new(format!("{line}\n").into()))
}

/// A yes: the form as it is, or a no if that doesn't do.
fn accepted(elicitation: &Elicitation) -> Answer {
    let checked = match &elicitation.wanted {
        Wanted::Form(form) => form.check(Values::default()).ok(),
        Wanted::Link(link) => link.consent(),
    };
    checked.map_or(Answer::Cancelled, Answer::Accepted)
}
