//! A gateway ends at each save of a call, and another goes on: the last save is lost, done, or nobody knows.

use midcall_core::Elicitation;

use super::accepted;
use super::eras::*;
use super::records::{BREAK, HOLD, Store, again, call, done, opened, round};
use crate::session::Input;
use crate::session::world::Delivered;

/// What a person and a server have seen of a call, however many gateways it went through.
#[derive(Default)]
struct Seen {
    answered: bool,
    /// Whether the answer is still in the ticket, because no gateway has said that it is on its way.
    said: bool,
    /// How often the server got the answer.
    effects: usize,
    results: Vec<Value>,
    /// What people see now and haven't answered.
    open: Vec<(u64, Box<Elicitation>)>,
}

/// Where a gateway ends: at this save, counted from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Crash {
    /// The save is lost.
    Lost(usize),
    /// The save is done, and the gateway never hears of it.
    Done(usize),
    /// The gateway hears of it, and ends then.
    Heard(usize),
}

/// Does what a gateway wants until nothing is left to do; false if it ends at a save.
fn runs(
    world: &mut World,
    store: &mut Store,
    seen: &mut Seen,
    crash: Option<Crash>,
    saves: &mut usize,
) -> bool {
    loop {
        let mut is_still = true;
        if !world.saves.is_empty() {
            happens(world, seen); // What didn't wait for the save is out.
            *saves += 1;
            if crash == Some(Crash::Lost(*saves)) {
                return false;
            }
            let written = store.written(world);
            if crash == Some(Crash::Done(*saves)) {
                return false;
            }
            for (key, number) in written {
                world.on(Input::Saved(key, number));
            }
            happens(world, seen);
            if crash == Some(Crash::Heard(*saves)) {
                return false;
            }
            is_still = false;
        }
        is_still &= !happens(world, seen);
        is_still &= !replies(world);
        if is_still {
            return true;
        }
    }
}

/// What leaves the gateway is seen outside, also if it ends right after that.
fn happens(world: &mut World, seen: &mut Seen) -> bool {
    let mut has = false;
    for (_, how) in world.told_of_answers() {
        seen.said &= how != Delivered::Sent;
        has = true;
    }
    for message in &world.to_server {
        if message["params"]["inputResponses"].is_object() && message["seen"].is_null() {
            seen.effects += 1;
            has = true;
        }
    }
    for message in &mut world.to_server {
        message["seen"] = true.into();
    }
    let results = std::mem::take(&mut world.to_client);
    has |= !results.is_empty();
    seen.results.extend(results);
    // People see what is asked, and one of them answers at some time.
    for (nth, question) in std::mem::take(&mut world.asked) {
        has = true;
        world.sees(nth);
        if seen.answered && seen.said {
            let answer = accepted(&question, json!({"day": "2026-11-16"}));
            world.ends(nth, Outcome::Answered(answer, PAGE));
        } else if !seen.answered {
            seen.open.push((nth, question));
        }
    }
    has
}

/// The server answers one message.
fn replies(world: &mut World) -> bool {
    if world.to_server.is_empty() {
        return false;
    }
    let message = world.to_server.remove(0);
    let result = match message["method"].as_str() {
        Some("server/discover") => discovered(),
        Some("tools/call") if message["params"]["inputResponses"].is_object() => done(),
        Some("tools/call") => round(asks("k", day())),
        _ => return true,
    };
    world.server(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
    true
}

/// The person answers at the desk.
fn person(world: &mut World, seen: &mut Seen) {
    for (nth, question) in std::mem::take(&mut seen.open) {
        (seen.answered, seen.said) = (true, true);
        let answer = accepted(&question, json!({"day": "2026-11-16"}));
        world.ends(nth, Outcome::Answered(answer, PAGE));
    }
}

/// A whole call, in which a gateway ends at some save. Returns how many saves there were.
fn lives_through(crash: Option<Crash>) -> usize {
    let (mut store, mut seen, mut saves) = (Store::new(), Seen::default(), 0);
    let mut world = opened(|_| {});
    world.client(call(1));
    let mut lives = runs(&mut world, &mut store, &mut seen, crash, &mut saves);
    if lives {
        world.passes(HOLD);
        lives = runs(&mut world, &mut store, &mut seen, crash, &mut saves);
    }
    let told = seen.results.pop();
    let Some(told) = told else {
        // The client never heard of a name, so it makes the call again, as it would without Midcall.
        assert!(!lives && seen.effects == 0, "{crash:?}");
        return saves;
    };
    if lives {
        person(&mut world, &mut seen);
        lives = runs(&mut world, &mut store, &mut seen, crash, &mut saves);
    }
    if !lives {
        let mut next = World::saving("client,page", |_| {});
        next.now = world.now + BREAK;
        let restored = store.read(&next);
        next.on(Input::Adopt(restored));
        world = next;
        seen.open.clear();
        assert!(runs(&mut world, &mut store, &mut seen, None, &mut 0));
    }
    world.client(again(8, &told, Value::Null));
    runs(&mut world, &mut store, &mut seen, None, &mut 0);
    person(&mut world, &mut seen);
    runs(&mut world, &mut store, &mut seen, None, &mut 0);
    assert!(seen.answered, "{crash:?}: the person was asked");
    let [result] = &seen.results[..] else {
        panic!("{crash:?}: {:#?}", seen.results)
    };
    assert_eq!(result["id"], 8);
    let is_done = result["result"]["content"] == done()["content"];
    let may_have_run = result["error"]["message"]
        .as_str()
        .is_some_and(|told| told.contains("may have run"));
    assert!(is_done != may_have_run, "{crash:?}: {result}");
    match is_done {
        true => assert_eq!(seen.effects, 1, "{crash:?}: the server got the answer once"),
        false => assert!(seen.effects <= 1, "{crash:?}"),
    }
    // The same result again, whenever the client asks.
    world.client(again(9, &told, Value::Null));
    let mut second = world.told_client();
    second["id"] = 8.into();
    assert_eq!(second, *result, "{crash:?}");
    saves
}

#[test]
fn wherever_a_gateway_ends_there_is_one_effect_at_most_and_one_truthful_end() {
    let saves = lives_through(None);
    assert!(saves >= 3, "told, sent and done are written down");
    for nth in 1..=saves {
        for crash in [Crash::Lost(nth), Crash::Done(nth), Crash::Heard(nth)] {
            lives_through(Some(crash));
        }
    }
}
