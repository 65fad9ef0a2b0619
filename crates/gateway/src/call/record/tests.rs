//! Every stage of a call, with a question at every place, is read as it was written.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::call::link::{LinkKey, NamedLink};
use crate::call::{
    Answers, AtClient, CallKind, Declared, DeskState, Happened, LegacyTask, Name, Origin, Place,
    Request, Sent, ServerId, Task, TellBy, Waiter, WantedBy, What,
};
use midcall_core::wire::RequestState;
use midcall_core::{Asker, Elicitation};
use midcall_desk::{By, Route};

const SECRET: &str = "xyzzy";

fn moment(seconds: u64) -> Moment {
    Moment::now() + Duration::from_secs(seconds)
}

fn raw(value: &Value) -> Raw {
    to_raw_value(value).unwrap()
}

fn sent(is_again: bool, task: Option<LegacyTask>) -> Sent {
    Sent {
        id: Id::from(7),
        is_again,
        task,
    }
}

fn answers(text: &str) -> Answers {
    let mut answers = Answers::default();
    let answer = json!({"action": "accept", "content": {"day": text}});
    let outcome = json!({"state": "answered"});
    answers.add("k".to_owned(), raw(&answer), Some(outcome));
    answers
}

fn task(text: &str) -> Task {
    let mut task = Task::new(moment(0), text.to_owned(), Some(5_000));
    task.asked.insert("k".to_owned());
    task.updates.push(crate::call::Update {
        id: Id::from(9),
        answers: answers(text),
        misses: 1,
    });
    task
}

/// Every row of the stage table that leads somewhere: what happens to a call that its server has, and the stage after it.
fn happened(nth: usize, text: &str) -> Vec<Happened> {
    let result = Frame::result(
        &Id::from(7),
        &json!({"content": [{"type": "text", "text": text}]}),
    );
    let round = |asks, text: &str| Happened::Round {
        state: Some(RequestState(text.to_owned())),
        asks,
        again: Vec::new(),
    };
    let links = || Happened::Links {
        named: vec![NamedLink {
            key: LinkKey {
                message: text.to_owned(),
                origin: "https://example.com".to_owned(),
            },
            id: Some(text.to_owned()),
            url: format!("https://example.com/{text}"),
        }],
        error: result.clone(),
    };
    let answered = |key: &str| Happened::Answered {
        key: key.to_owned(),
        result: raw(&json!({"action": "decline"})),
        outcome: None,
    };
    let until = moment(600);
    match nth {
        0 => vec![],
        1 => vec![round(2, text)],
        2 => vec![round(2, text), answered("l")],
        3 => vec![
            round(1, text),
            answered("l"),
            Happened::Sent(sent(true, None)),
        ],
        4 => vec![round(0, text)],
        5 => vec![links()],
        6 => vec![Happened::Task(task(text))],
        7 => vec![Happened::Task(task(text)), answered("l")],
        8 => vec![Happened::WrongEra],
        9 => vec![Happened::TakenBack],
        10 => vec![Happened::Over { result, until }],
        11 => vec![round(1, text), Happened::Over { result, until }],
        12 => vec![
            links(),
            Happened::Consented {
                link: 0,
                patience: Duration::from_secs(60),
            },
        ],
        _ => vec![Happened::Sent(sent(
            true,
            Some(LegacyTask::Running(text.to_owned())),
        ))],
    }
}

const HAPPENED: usize = 14;

fn call(nth: usize, text: &str) -> Call {
    let (id, name) = (Id::from(3), json!({"name": text}));
    let frame = Frame::request(&id, "tools/call", &json!({"name": text, "n": 1.0}));
    let request = Request {
        id,
        kind: CallKind::Tool,
        told: TellBy::Results,
        name: Some(name["name"].to_string().into_bytes().into()),
        token: Some((*b"\"t\"").into()),
        bytes: Some(frame),
        is_opening: false,
        is_cacheable: false,
        since: moment(0),
    };
    let declared = Declared {
        modes: Modes {
            form: true,
            url: false,
        },
        capabilities: "{}".into(),
        level: Some("\"info\"".into()),
        ..Declared::default()
    };
    let stage = match nth {
        HAPPENED => Stage::Confirming,
        _ => Stage::AtServer(sent(false, None)),
    };
    let mut call = Call::new(request, ServerId::First, stage, Some(Box::new(declared)));
    call.key = Some(CallKey::random());
    for happened in happened(nth.min(HAPPENED), text)
        .into_iter()
        .take(if nth == HAPPENED { 0 } else { 9 })
    {
        call.on(moment(0), happened);
    }
    let (_, claim) = Name::mint();
    let (_, state) = Name::mint();
    call.audience.claim(claim);
    call.audience.state(state, Some([9; 32]));
    call.audience
        .join(Waiter::new(moment(0), Id::from(4), None));
    call
}

/// Every place, and everything that a question can be about.
fn places(id: CallId) -> Vec<Place> {
    let by = By {
        route: Route::Page,
        human: true,
    };
    let (token, name) = Name::mint();
    let client = |at| Place::Client {
        at,
        since: moment(1),
        rendition: None,
    };
    let model = |told_in| Place::Model {
        name,
        token: Some(token.clone()),
        told_in,
    };
    vec![
        client(AtClient::Round {
            call: id,
            key: "q1".to_owned(),
            is_told: true,
        }),
        client(AtClient::Request(Id::from(11))),
        Place::Desk(DeskState::Coming),
        Place::Desk(DeskState::There),
        Place::Desk(DeskState::Opened(by)),
        Place::Desk(DeskState::Leaving),
        model(Some(id)),
        model(None),
        Place::Undecided,
    ]
}

fn whats(text: &str) -> Vec<What> {
    let read = |params: Value| {
        let asker = Asker::named("books");
        let read = Elicitation::read(&params.to_string(), asker, &Limits::default());
        Box::new(read.unwrap())
    };
    let secret = json!({"type": "string", "title": "Password"});
    let form = json!({"message": text, "requestedSchema": {"type": "object",
        "properties": {"day": {"type": "string"}, "password": secret}}});
    let link = json!({"mode": "url", "message": text, "url": "https://example.com/in", "elicitationId": "e"});
    let params = || Some(raw(&json!({"new": text})));
    vec![
        What::Elicit(read(form.clone())),
        What::Elicit(read(link)),
        What::Unread(read(form), params()),
        What::Other {
            method: "roots/list".to_owned(),
            params: params(),
        },
    ]
}

fn wanted(id: CallId) -> Vec<WantedBy> {
    vec![
        WantedBy::Round(id, "k".to_owned()),
        WantedBy::Approval(id),
        WantedBy::Link(id, 0),
        WantedBy::Request(ServerId::First, Id::from(5)),
    ]
}

fn server() -> Fingerprint {
    Fingerprint::of("books", ["node", "books.js"])
}

fn write(ledger: &Ledger, id: CallId) -> Record {
    Record::of(ledger, id, &server(), true)
        .unwrap()
        .ok()
        .unwrap()
}

/// What a record says, without the times that the two clocks disagree about.
fn without_times(content: &[u8]) -> Value {
    fn clear(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    match name.as_str() {
                        "since" | "until" | "deadline" => *value = Value::Null,
                        // When somebody agreed, and how long it may take from then on.
                        "consent" if value.is_array() => value[0] = Value::Null,
                        _ => clear(value),
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(clear),
            _ => {}
        }
    }
    let mut value = serde_json::from_slice(content).unwrap();
    clear(&mut value);
    value
}

/// Writes a call with questions down and reads it in another ledger, at a later time of day.
fn goes_round(nth: usize, text: &str) -> Ledger {
    let mut ledger = Ledger::default();
    let id = ledger.calls.open(call(nth, text));
    let deadline = moment(300);
    for place in places(id) {
        for what in whats(text) {
            let wanted_by = wanted(id).swap_remove(text.len() % 4);
            let only = Origin::Only(id);
            ledger.questions.add(Question::new(
                what,
                wanted_by,
                only,
                place_again(&place, id),
                deadline,
            ));
        }
    }
    let (then, written) = (Moment::now(), SystemTime::now());
    let record = write(&ledger, id);
    let before = record.content().to_vec();
    let json = record.write(then, written);
    assert!(serde_json::from_slice::<Value>(&json).unwrap()["content"]["call"].is_object());

    // Ninety seconds later, in a process that started an hour ago by its own clock.
    let (now, wall) = (
        then + Duration::from_secs(3_600),
        written + Duration::from_secs(90),
    );
    let restored = Restored::read(&json, now, wall).unwrap();
    assert!(restored.repeats && restored.server == server());
    let since = restored.call().request.since;
    assert_eq!(
        now.duration_since(since),
        then.duration_since(ledger.calls.get(id).unwrap().request.since) + Duration::from_secs(90)
    );
    let mut other = Ledger::default();
    other.calls.open(call(0, "older"));
    let (adopted, questions) = other.adopt(restored, &Limits::default());
    let questions = questions.unwrap();
    for question in questions {
        let question = other.questions.get(question).unwrap();
        assert_eq!(
            question.wanted_by.call(),
            Some(adopted),
            "it is this call's"
        );
        let left = question.deadline.duration_since(now);
        assert!(
            left.abs_diff(Duration::from_secs(210)) < Duration::from_secs(5),
            "{left:?}"
        );
    }
    other.check();
    let again = write(&other, adopted);
    let (before, after) = (without_times(&before), without_times(again.content()));
    let updates = |value: &Value| value.pointer("/call/stage/Task/updates").cloned();
    let has_updates = updates(&before).is_some_and(|it| it != json!([]));
    assert!(has_updates || before == after, "{before}\n{after}");
    other
}

fn place_again(place: &Place, id: CallId) -> Place {
    let at = |wanted: &Place| std::mem::discriminant(wanted) == std::mem::discriminant(place);
    match place {
        Place::Desk(state) => Place::Desk(*state),
        Place::Client { at, .. } => Place::Client {
            at: at.clone(),
            since: moment(1),
            rendition: None,
        },
        Place::Model { name, told_in, .. } => Place::Model {
            name: *name,
            token: None,
            told_in: *told_in,
        },
        Place::Undecided => places(id).into_iter().find(at).unwrap(),
    }
}

#[test]
fn every_stage_with_a_question_at_every_place_is_read_as_it_was_written() {
    let mut met = BTreeSet::new();
    for nth in 0..=HAPPENED {
        for text in ["a", "bb", "ccc", "dddd"] {
            let ledger = goes_round(nth, text);
            let (_, call) = ledger.calls.iter().last().unwrap();
            assert!(call.audience.has_names() && call.audience.waiters().is_empty());
            met.insert(match call.stage() {
                Stage::Confirming => "confirming",
                Stage::Queued => "queued",
                Stage::AtServer(_) => "at server",
                Stage::Asking { .. } => "asking",
                Stage::Paused { .. } => "paused",
                Stage::Task(_) => "task",
                Stage::Cancelled { .. } => "cancelled",
                Stage::Done { .. } => "done",
            });
        }
    }
    assert_eq!(met.len(), 8, "{met:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_said_in_it(nth in 0..=HAPPENED, text in "\\PC{0,20}") {
        goes_round(nth, &text);
    }

    #[test]
    fn no_bytes_make_it_panic(json in "\\PC{0,100}") {
        let _ = Restored::read(json.as_bytes(), Moment::now(), SystemTime::now());
    }
}

#[test]
fn frames_are_json_in_it_and_every_digit_stays() {
    let mut ledger = Ledger::default();
    let mut call = call(1, SECRET);
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book","arguments":{"n":123456789012345678901234567890,"f":1.0}}}"#;
    call.request.bytes = Some(Frame::new(line.to_vec().into()));
    let id = ledger.calls.open(call);
    let json = write(&ledger, id).write(Moment::now(), SystemTime::now());
    let text = String::from_utf8(json.clone()).unwrap();
    assert!(
        text.contains(r#""n":123456789012345678901234567890,"f":1.0"#),
        "{text}"
    );
    let restored = Restored::read(&json, Moment::now(), SystemTime::now()).unwrap();
    let bytes = restored.call().request.bytes.clone().unwrap().into_bytes();
    assert_eq!(bytes, [&line[..], b"\n"].concat());
}

#[test]
fn what_another_version_wrote_is_refused_before_it_is_read() {
    let read = |json: &str| Restored::read(json.as_bytes(), Moment::now(), SystemTime::now()).err();
    let newer = r#"{"version": 2, "key": {}, "content": "xyzzy"}"#;
    assert_eq!(read(newer), Some(UnreadableRecord::Version(2)));
    for damaged in [
        "",
        "{}",
        "[]",
        r#"{"version": "1"}"#,
        r#"{"version": 1, "version": 1}"#,
    ] {
        assert_eq!(read(damaged), Some(UnreadableRecord::Damaged), "{damaged}");
    }
    let long = " ".repeat(LONGEST + 1);
    assert_eq!(read(&long), Some(UnreadableRecord::TooLarge(long.len())));
}

#[test]
fn a_stage_that_nobody_knows_is_refused_and_nothing_of_it_is_repeated() {
    let mut ledger = Ledger::default();
    let id = ledger.calls.open(call(4, SECRET));
    let json = write(&ledger, id).write(Moment::now(), SystemTime::now());
    let text = String::from_utf8(json).unwrap();
    for (from, to) in [
        (r#""stage":{"Paused":"#, r#""stage":{"Xyzzy":"#),
        (r#""kind":"Tool""#, r#""kind":"Xyzzy""#),
        (r#""hands_off":"#, r#""xyzzy":1,"hands_off":"#),
        (r#""attempts":0"#, r#""attempt":0"#),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let changed = text.replacen(from, to, 1);
        let error = Restored::read(changed.as_bytes(), Moment::now(), SystemTime::now()).err();
        let error = error.expect(to);
        assert_eq!(error, UnreadableRecord::Damaged);
        assert!(!error.to_string().contains(SECRET));
    }
}

#[test]
fn a_result_that_is_too_large_is_an_error_in_it_and_a_call_that_is_too_large_has_none() {
    let mut ledger = Ledger::default();
    let result = Frame::result(&Id::from(1), &"x".repeat(LONGEST_RESULT));
    let mut over = call(0, SECRET);
    over.on(
        moment(0),
        Happened::Over {
            result,
            until: moment(9),
        },
    );
    let id = ledger.calls.open(over);
    let json = write(&ledger, id).write(Moment::now(), SystemTime::now());
    assert!(json.len() < 10_000);
    let restored = Restored::read(&json, Moment::now(), SystemTime::now()).unwrap();
    let Stage::Done { result, .. } = restored.call().stage() else {
        panic!("it is over");
    };
    assert_eq!(
        result.peek().unwrap().1.error_code(),
        Some(code::INTERNAL_ERROR)
    );

    let large = ledger.calls.open(call(0, &"x".repeat(LONGEST)));
    let record = Record::of(&ledger, large, &server(), false).unwrap();
    assert!(matches!(record.err(), Some(Unwritable::TooLarge(_))));
    let mut odd = call(0, SECRET);
    odd.request.bytes = Some(Frame::new(b"{\"n\": 01}".to_vec().into()));
    let odd = ledger.calls.open(odd);
    let record = Record::of(&ledger, odd, &server(), false).unwrap();
    assert_eq!(record.err(), Some(Unwritable::NotJson));
}
