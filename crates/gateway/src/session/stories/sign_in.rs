//! Sign-ins that take a while, with a server that creates a new link on every try: one question, one result, and the
//! server is left alone meanwhile.

use std::time::Duration;

use midcall_core::{Answer, Link};
use midcall_desk::{Lost, Outcome};
use serde_json::{Value, json};

use super::eras::{asks, both, legacy_to_modern, modern, modern_to_legacy, modern_to_modern};
use crate::frame::Frame;
use crate::moment::Moment;
use crate::session::world::Delivered::{No, Sent, Yes};
use crate::session::world::{PAGE, World};

fn call(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "pay", "arguments": {"x": 1}}})
}

fn finished() -> Outcome {
    let link = Link::read("https://example.com", None);
    Outcome::Answered(Answer::Accepted(link.consent().unwrap()), PAGE)
}

/// A sign-in that takes 20 seconds. Until it is done, the server creates a new link whenever it gets the call.
struct SignIn {
    began: Moment,
    links: usize,
    /// After how many seconds the server got the call.
    tries: Vec<u64>,
}

/// A link that the server has just created.
fn minted(nth: usize) -> Value {
    json!({"mode": "url", "message": "Sign in", "elicitationId": format!("id-{nth}"),
        "url": format!("https://example.com/in/{nth}?state={nth}")})
}

fn minted_error(id: &Value, nth: usize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32042, "message": "Sign in first",
        "data": {"elicitations": [minted(nth)]}}})
}

fn minted_round(id: &Value, nth: usize) -> Value {
    let mut link = minted(nth);
    link.as_object_mut().unwrap().remove("elicitationId");
    json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "input_required",
        "inputRequests": asks(&format!("k{nth}"), link), "requestState": format!("s{nth}")}})
}

fn done(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "x": 1}})
}

impl SignIn {
    /// The person signs in from now on, by the first link.
    fn begins(world: &World) -> Self {
        Self {
            began: world.now,
            links: 1,
            tries: Vec::new(),
        }
    }

    /// Time passes, and the server answers every try.
    fn lasts(&mut self, world: &mut World, seconds: u64, needs: fn(&Value, usize) -> Value) {
        for _ in 0..seconds {
            world.passes(Duration::from_secs(1));
            self.answers(world, needs);
        }
    }

    /// The server answers what it got.
    fn answers(&mut self, world: &mut World, needs: fn(&Value, usize) -> Value) {
        while !world.to_server.is_empty() {
            let call = world.to_server.remove(0);
            assert_eq!(call["method"], "tools/call", "{call}");
            let since = world.now.duration_since(self.began);
            self.tries.push(since.as_secs());
            self.links += 1;
            match since < Duration::from_secs(20) {
                true => world.server(needs(&call["id"], self.links)),
                false => world.server(done(&call["id"])),
            }
            assert!(
                self.tries.len() < 100,
                "the server gets the call again and again"
            );
        }
    }
}

/// A modern client comes back with a state that it was given.
fn back(id: u64, round: &Value, responses: Value) -> Value {
    let mut call = modern_call(id);
    call["params"]["requestState"] = round["requestState"].clone();
    if !responses.is_null() {
        call["params"]["inputResponses"] = responses;
    }
    call
}

fn modern_call(id: u64) -> Value {
    let params = json!({"name": "pay", "arguments": {"x": 1}});
    modern(id, "tools/call", params, both())
}

/// A modern client with URL mode, and a call that needs a link.
fn modern_client_needs_a_link() -> (World, Value) {
    let mut world = modern_to_legacy("client,page", both());
    world.client(modern_call(1));
    world.to_server.clear();
    world.server(minted_error(&json!(1), 1));
    let round = world.told_client()["result"].clone();
    assert_eq!(
        round["inputRequests"]["q1"]["params"]["url"],
        minted(1)["url"]
    );
    (world, round)
}

/// A legacy client without URL mode, and a call that needs a link, which people see.
fn page_needs_a_link() -> World {
    let mut world = World::plain();
    world.client(call(1));
    world.to_server.clear();
    world.server(minted_error(&json!(1), 1));
    world.see();
    assert_eq!(world.asked.len(), 1);
    world
}

#[test]
fn a_modern_client_is_asked_once_and_its_call_is_made_again_slowly() {
    let (mut world, round) = modern_client_needs_a_link();
    world.client(back(2, &round, json!({"q1": {"action": "accept"}})));
    assert!(world.to_server.is_empty(), "opening is not finishing");
    let mut sign_in = SignIn::begins(&world);
    sign_in.lasts(&mut world, 29, minted_error);
    assert!(world.to_client.is_empty(), "{:#?}", world.to_client);
    sign_in.lasts(&mut world, 1, minted_error);
    assert_eq!(sign_in.tries, [1, 3, 7, 15, 30]);
    let told = world.told_client();
    assert_eq!((&told["id"], &told["result"]["x"]), (&json!(2), &json!(1)));
    sign_in.lasts(&mut world, 600, minted_error);
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
}

#[test]
fn a_modern_client_that_has_nothing_to_answer_is_told_to_come_back() {
    let (mut world, round) = modern_client_needs_a_link();
    world.client(back(2, &round, json!({"q1": {"action": "accept"}})));
    let mut sign_in = SignIn::begins(&world);
    sign_in.began = sign_in.began + Duration::from_secs(60); // It takes longer.
    sign_in.lasts(&mut world, 46, minted_error);
    let round = world.told_client()["result"].clone();
    assert_eq!(round["resultType"], "input_required");
    assert!(round.get("inputRequests").is_none(), "{round}");
    world.client(back(3, &round, Value::Null));
    sign_in.lasts(&mut world, 44, minted_error);
    let told = world.told_client();
    assert_eq!((&told["id"], &told["result"]["x"]), (&json!(3), &json!(1)));
}

#[test]
fn on_the_page_a_link_is_asked_once_and_leads_to_the_newest_address() {
    let mut world = page_needs_a_link();
    world.follows(1, PAGE);
    assert!(world.to_server.is_empty(), "opening is not finishing");
    let mut sign_in = SignIn::begins(&world);
    sign_in.lasts(&mut world, 30, minted_error);
    assert_eq!(sign_in.tries, [1, 3, 7, 15, 30]);
    assert_eq!(world.asked.len(), 1);
    assert_eq!(world.told_client()["result"]["x"], 1);
    let renewed: Vec<&str> = world.renewed.iter().map(|(_, url)| url.as_str()).collect();
    assert_eq!(
        renewed,
        ["2?state=2", "3?state=3", "4?state=4", "5?state=5"]
            .map(|end| format!("https://example.com/in/{end}"))
    );
    // Nobody has to say any more that it is finished.
    assert_eq!(world.completed, [(1, PAGE)]);
    assert!(world.withdrawn.is_empty());
    world.ends(1, finished());
    assert_eq!(world.told_of_answers(), [(1, Yes)]);
    sign_in.lasts(&mut world, 600, minted_error);
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
}

#[test]
fn finished_makes_the_call_again_at_once_and_too_early_costs_nothing() {
    let mut world = page_needs_a_link();
    world.follows(1, PAGE);
    let mut sign_in = SignIn::begins(&world);
    world.ends(1, finished());
    sign_in.answers(&mut world, minted_error);
    assert_eq!(sign_in.tries, [0]);
    sign_in.lasts(&mut world, 40, minted_error);
    assert_eq!(sign_in.tries, [0, 2, 6, 14, 29]);
    assert_eq!(world.asked.len(), 1, "there is no second ticket");
    assert_eq!(world.told_client()["result"]["x"], 1);
    assert_eq!(world.told_of_answers(), [(1, Sent), (1, Yes)]);

    // Not too early.
    let mut world = page_needs_a_link();
    world.follows(1, PAGE);
    let mut sign_in = SignIn::begins(&world);
    sign_in.lasts(&mut world, 20, minted_error);
    world.ends(1, finished());
    sign_in.answers(&mut world, minted_error);
    assert_eq!(sign_in.tries, [1, 3, 7, 15, 20]);
    assert_eq!(world.told_client()["result"]["x"], 1);
    assert_eq!(world.told_of_answers(), [(1, Sent), (1, Yes)]);
}

#[test]
fn the_server_says_that_any_of_its_links_is_done() {
    let complete = |id: &str| json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": id}});
    // On the page, the ticket closes by itself.
    for id in ["id-1", "id-3", "id-5"] {
        let mut world = page_needs_a_link();
        world.follows(1, PAGE);
        let mut sign_in = SignIn::begins(&world);
        sign_in.lasts(&mut world, 22, minted_error);
        assert_eq!(sign_in.tries, [1, 3, 7, 15]);
        world.server(complete(id));
        assert_eq!(world.completed, [(1, PAGE)], "{id}");
        world.ends(1, finished());
        sign_in.answers(&mut world, minted_error);
        assert_eq!(sign_in.tries, [1, 3, 7, 15, 22]);
        assert_eq!(world.told_client()["result"]["x"], 1);
        assert_eq!(world.told_of_answers(), [(1, Sent), (1, Yes)]);
    }
    // A client that has opened it knows nothing of that.
    let (mut world, round) = modern_client_needs_a_link();
    world.client(back(2, &round, json!({"q1": {"action": "accept"}})));
    let mut sign_in = SignIn::begins(&world);
    sign_in.lasts(&mut world, 22, minted_error);
    world.server(complete("id-2"));
    sign_in.answers(&mut world, minted_error);
    assert_eq!(sign_in.tries, [1, 3, 7, 15, 22]);
    assert_eq!(world.told_client()["id"], 2);
    // One that hasn't come back yet gets the result when it does.
    let (mut world, round) = modern_client_needs_a_link();
    world.server(complete("id-1"));
    let again = world.told_server();
    world.server(done(&again["id"]));
    assert!(world.to_client.is_empty());
    world.client(back(2, &round, json!({"q1": {"action": "accept"}})));
    assert_eq!(world.told_client()["result"]["x"], 1);
}

#[test]
fn finished_while_the_server_looks_is_heard_soon() {
    let mut world = page_needs_a_link();
    world.follows(1, PAGE);
    let mut sign_in = SignIn::begins(&world);
    sign_in.lasts(&mut world, 14, minted_error);
    world.passes(Duration::from_secs(1));
    let looks = world.told_server();
    world.ends(1, finished());
    world.server(minted_error(&looks["id"], 9));
    assert!(world.to_server.is_empty());
    world.passes(Duration::from_secs(1));
    let again = world.told_server();
    world.server(done(&again["id"]));
    assert_eq!(world.told_client()["result"]["x"], 1);
}

#[test]
fn finished_while_the_server_looks_has_arrived_if_that_succeeds() {
    let mut world = page_needs_a_link();
    world.follows(1, PAGE);
    let mut sign_in = SignIn::begins(&world);
    sign_in.lasts(&mut world, 14, minted_error);
    world.passes(Duration::from_secs(1));
    let looks = world.told_server();
    world.ends(1, finished());
    assert_eq!(world.told_of_answers(), [(1, Sent)]);
    world.server(done(&looks["id"]));
    assert_eq!(world.told_of_answers(), [(1, Yes)]);
    assert_eq!(world.told_client()["result"]["x"], 1);
}

#[test]
fn an_error_that_names_one_link_again_and_again_is_refused_at_once() {
    let mut world = page_needs_a_link();
    world.follows(1, PAGE);
    let mut sign_in = SignIn::begins(&world);
    sign_in.lasts(&mut world, 14, minted_error);
    world.passes(Duration::from_secs(1));
    let looks = world.told_server();
    let mut error = minted_error(&looks["id"], 1);
    let link = error["error"]["data"]["elicitations"][0].clone();
    error["error"]["data"]["elicitations"] = vec![link; 100_000].into();
    world.server(error);
    assert_eq!(world.told_client()["error"]["code"], -32603);
}

#[test]
fn a_modern_server_hears_the_accept_at_once_and_the_same_link_again_slowly() {
    // The client opens it, or the page.
    for (ask, capabilities) in [
        ("client,page", json!({"elicitation": both()})),
        ("page", json!({})),
    ] {
        let mut world = legacy_to_modern(ask, capabilities);
        world.client(call(1));
        let sent = world.told_server();
        world.server(minted_round(&sent["id"], 1));
        world.see();
        let mut sign_in = SignIn::begins(&world);
        if ask == "page" {
            world.follows(1, PAGE);
        } else {
            let asked = world.told_client();
            assert_eq!(asked["params"]["url"], minted(1)["url"]);
            world.client(
                json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}}),
            );
            sign_in = SignIn::begins(&world);
        }
        assert_eq!(world.to_server.len(), 1, "the server waits for that");
        let told = world.to_server[0]["params"].clone();
        assert_eq!(told["inputResponses"]["k1"]["action"], "accept");
        sign_in.answers(&mut world, minted_round);
        sign_in.lasts(&mut world, 29, minted_round);
        assert!(world.to_client.iter().all(|told| told.get("id").is_none()));
        world.passes(Duration::from_secs(1));
        let told = world.to_server[0]["params"].clone();
        assert_eq!(told["inputResponses"], json!({"k6": {"action": "accept"}}));
        assert_eq!(told["requestState"], "s6");
        sign_in.answers(&mut world, minted_round);
        assert_eq!(sign_in.tries, [0, 1, 3, 7, 15, 30], "{ask}");
        let told = world.to_client.pop().unwrap();
        assert_eq!((&told["id"], &told["result"]["x"]), (&json!(1), &json!(1)));
        if ask == "page" {
            assert_eq!(world.asked.len(), 1);
            assert_eq!(world.renewed.len(), 5);
            assert_eq!(world.completed, [(1, PAGE)]);
            world.ends(1, finished());
            assert_eq!(world.told_of_answers(), [(1, Yes)]);
        }
    }
}

#[test]
fn finished_is_heard_in_a_round_too() {
    let mut world = modern_to_modern("page", Value::Null);
    world.client(modern(1, "tools/call", json!({"name": "pay"}), Value::Null));
    let sent = world.told_server();
    world.server(minted_round(&sent["id"], 1));
    world.see();
    world.follows(1, PAGE);
    let mut sign_in = SignIn::begins(&world);
    sign_in.answers(&mut world, minted_round);
    sign_in.lasts(&mut world, 22, minted_round);
    world.ends(1, finished());
    sign_in.answers(&mut world, minted_round);
    assert_eq!(sign_in.tries, [0, 1, 3, 7, 15, 22]);
    let told = world.to_client.pop().unwrap();
    assert_eq!((&told["id"], &told["result"]["x"]), (&json!(1), &json!(1)));
    assert_eq!(world.told_of_answers(), [(1, Sent), (1, Yes)]);
}

#[test]
fn patience_after_consent_ends_with_one_error() {
    let never = |world: &World| {
        let mut sign_in = SignIn::begins(world);
        sign_in.began = sign_in.began + Duration::from_secs(10_000);
        sign_in
    };
    let ends = |mut world: World, needs| {
        let told = world.to_client.pop().unwrap();
        assert_eq!(told["error"]["code"], -32603, "{told}");
        let words = told["error"]["message"].as_str().unwrap().to_owned();
        assert!(words.contains("still asks for it"), "{words}");
        world.to_client.clear();
        never(&world).lasts(&mut world, 1_000, needs);
        assert!(world.to_server.is_empty() && world.to_client.is_empty());
        words
    };
    let has_failed = |world: &World| {
        world
            .to_client
            .iter()
            .any(|told| told.get("error").is_some())
    };

    // The ticket has a deadline of its own, and that isn't the end of the sign-in.
    let mut world = page_needs_a_link();
    world.passes(Duration::from_secs(30));
    world.follows(1, PAGE);
    let mut sign_in = never(&world);
    sign_in.lasts(&mut world, 270, minted_error);
    world.ends(1, Outcome::TimedOut);
    world.to_client.clear(); // It was let go.
    sign_in.lasts(&mut world, 29, minted_error);
    assert!(!has_failed(&world) && world.to_client.is_empty());
    sign_in.lasts(&mut world, 1, minted_error);
    assert!(world.asked.len() == 1 && world.withdrawn.is_empty());

    let (mut world, mut round) = modern_client_needs_a_link();
    world.client(back(2, &round, json!({"q1": {"action": "accept"}})));
    let mut sign_in = never(&world);
    for second in 0..300 {
        assert!(!has_failed(&world), "{second}");
        if let Some(told) = world.to_client.pop() {
            round = told["result"].clone();
            assert!(round["requestState"].is_string(), "{told}");
            world.client(back(100 + second, &round, Value::Null));
        }
        sign_in.lasts(&mut world, 1, minted_error);
    }
    let words = ends(world, minted_error);
    assert!(words.starts_with("Sign in first (midcall: "), "{words}");

    let mut world = legacy_to_modern("client,page", json!({"elicitation": both()}));
    world.client(call(1));
    let sent = world.told_server();
    world.server(minted_round(&sent["id"], 1));
    let asked = world.told_client();
    world.client(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}}));
    let mut sign_in = never(&world);
    sign_in.answers(&mut world, minted_round);
    sign_in.lasts(&mut world, 299, minted_round);
    assert!(!has_failed(&world));
    sign_in.lasts(&mut world, 1, minted_round);
    ends(world, minted_round);
}

#[test]
fn a_call_whose_client_is_away_for_good_is_not_made_again_for_ever() {
    let (mut world, round) = modern_client_needs_a_link();
    world.client(back(2, &round, json!({"q1": {"action": "accept"}})));
    let mut sign_in = SignIn::begins(&world);
    sign_in.began = sign_in.began + Duration::from_secs(10_000);
    sign_in.lasts(&mut world, 46, minted_error);
    assert_eq!(
        world.told_client()["result"]["resultType"],
        "input_required"
    );
    sign_in.lasts(&mut world, 60, minted_error);
    let tries = sign_in.tries.len();
    sign_in.lasts(&mut world, 600, minted_error);
    assert_eq!(sign_in.tries.len(), tries);
    assert!(world.to_client.is_empty());
}

#[test]
fn whoever_gives_up_after_opening_a_link_is_believed() {
    let says_no = || Outcome::Answered(Answer::Declined { reason: None }, PAGE);
    // While nothing is at the server, or while it looks.
    for looks in [false, true] {
        let mut world = page_needs_a_link();
        world.follows(1, PAGE);
        if looks {
            world.passes(Duration::from_secs(1));
            let again = world.told_server();
            world.ends(1, says_no());
            world.server(minted_error(&again["id"], 2));
        } else {
            world.ends(1, says_no());
        }
        let told = world.told_client();
        assert_eq!(told["error"]["code"], -32603);
        let words = told["error"]["message"].as_str().unwrap();
        assert!(
            words.starts_with("Sign in first (") && words.contains("said no"),
            "{words}"
        );
        assert_eq!(world.told_of_answers(), [(1, Yes)]);
        world.passes(Duration::from_secs(600));
        assert!(world.to_server.is_empty() && world.asked.len() == 1);
    }
    // A modern server hears it as the answer to its link.
    for looks in [false, true] {
        let mut world = legacy_to_modern("page", json!({}));
        world.client(call(1));
        let sent = world.told_server();
        world.server(minted_round(&sent["id"], 1));
        world.see();
        world.follows(1, PAGE);
        let accepts = world.told_server();
        if looks {
            world.ends(1, says_no());
            assert!(
                world.told_of_answers().is_empty(),
                "the server hasn't heard it"
            );
            world.server(minted_round(&accepts["id"], 2));
        } else {
            world.server(minted_round(&accepts["id"], 2));
            world.ends(1, says_no());
        }
        let told = world.told_server();
        assert_eq!(
            told["params"]["inputResponses"]["k2"]["action"], "decline",
            "{looks}"
        );
        assert_eq!(told["params"]["requestState"], "s2");
        assert_eq!(world.told_of_answers(), [(1, Sent)]);
        world.server(done(&told["id"]));
        assert_eq!(world.told_of_answers(), [(1, Yes)]);
        assert_eq!(world.asked.len(), 1);
    }
    // A server that never asks again never hears it.
    let mut world = legacy_to_modern("page", json!({}));
    world.client(call(1));
    let sent = world.told_server();
    world.server(minted_round(&sent["id"], 1));
    world.see();
    world.follows(1, PAGE);
    let accepts = world.told_server();
    world.ends(1, says_no());
    world.server(done(&accepts["id"]));
    assert_eq!(world.told_of_answers(), [(1, No(Lost::CallEnded))]);
}

#[test]
fn another_message_or_site_is_another_question_and_one_list_can_have_two_alike() {
    let needs = |id: &Value, links: &[(&str, &str)]| {
        let links: Vec<Value> = links
            .iter()
            .map(|(message, url)| json!({"mode": "url", "message": message, "url": url, "elicitationId": url}))
            .collect();
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32042, "message": "Sign in first", "data": {"elicitations": links}}})
    };
    for (message, url, is_new) in [
        ("Sign in", "https://example.com:443/b?c#d", false),
        ("Sign in", "HTTPS://Example.COM/b", false),
        ("Sign in", "https://example.com:8443/a", true),
        ("Sign in", "https://www.example.com/a", true),
        ("Sign in", "http://localhost/a", true),
        ("Sign in to mail", "https://example.com/a", true),
    ] {
        let mut world = World::plain();
        world.client(call(1));
        world.to_server.clear();
        world.server(needs(&json!(1), &[("Sign in", "https://example.com/a")]));
        world.see();
        world.follows(1, PAGE);
        world.passes(Duration::from_secs(1));
        let again = world.told_server();
        world.server(needs(&again["id"], &[(message, url)]));
        assert_eq!(
            world.asked.len(),
            1 + usize::from(is_new),
            "{message} {url}"
        );
        // The first has served its purpose, or leads elsewhere now.
        assert_eq!(
            world.completed.len(),
            usize::from(is_new),
            "{message} {url}"
        );
        assert_eq!(world.renewed.len(), usize::from(!is_new), "{message} {url}");
    }

    let two = [
        ("Sign in", "https://example.com/a"),
        ("Sign in", "https://example.com/b"),
    ];
    let mut world = World::plain();
    world.client(call(1));
    world.to_server.clear();
    world.server(needs(&json!(1), &two));
    world.see();
    assert_eq!(world.asked.len(), 2, "two accounts");
    world.follows(1, PAGE);
    world.passes(Duration::from_secs(10));
    assert!(
        world.to_server.is_empty(),
        "nobody has agreed to the other one"
    );
    world.follows(2, PAGE);
    world.passes(Duration::from_secs(1));
    let again = world.told_server();
    // Of one, the address is known, so the other one is done.
    world.server(needs(&again["id"], &two[1..]));
    assert_eq!(world.completed, [(1, PAGE)]);
    assert!(world.renewed.is_empty() && world.asked.len() == 2);
    world.ends(1, finished());
    assert!(
        world.to_server.is_empty(),
        "the one that is left isn't finished"
    );
    world.ends(2, finished());
    let again = world.told_server();
    world.server(done(&again["id"]));
    assert_eq!(
        world.told_of_answers(),
        [(1, Sent), (2, Sent), (1, Yes), (2, Yes)]
    );
}

#[test]
fn a_link_keeps_calls_alive_and_lets_them_go_though_nobody_is_asked_any_more() {
    let mut world = page_needs_a_link();
    world.follows(1, PAGE);
    world.ends(1, finished()); // Too early, and the ticket is closed.
    let mut sign_in = SignIn::begins(&world);
    sign_in.began = sign_in.began + Duration::from_secs(40);
    sign_in.answers(&mut world, minted_error);
    sign_in.lasts(&mut world, 46, minted_error);
    let told = world.told_client();
    let claim = told["result"]["_meta"]["dev.midcall/waiting"]["claim"].clone();
    assert!(claim.is_string(), "{told}");
    sign_in.lasts(&mut world, 30, minted_error);
    world.client(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "awaitElicitation", "arguments": {"claim": claim}}}));
    assert_eq!(world.told_client()["result"]["x"], 1);

    let mut world = modern_to_legacy("client,page", both());
    let with_token = |mut call: Value, token: &str| {
        call["params"]["_meta"]["progressToken"] = token.into();
        call
    };
    world.client(with_token(modern_call(1), "s"));
    world.to_server.clear();
    world.server(minted_error(&json!(1), 1));
    let round = world.told_client()["result"].clone();
    world.client(with_token(
        back(2, &round, json!({"q1": {"action": "accept"}})),
        "t",
    ));
    let mut sign_in = SignIn::begins(&world);
    sign_in.lasts(&mut world, 15, minted_error);
    let heard = world.to_client.iter();
    let heard = heard.filter(|told| told["params"]["progressToken"] == "t");
    assert!(heard.count() >= 2, "{:#?}", world.to_client);
}

#[test]
fn an_error_that_only_some_clients_know_reaches_no_other() {
    let error = |code: &str, data: &str| {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"Sign in first"{data}}}}}"#
        );
        Frame::new(line.into_bytes().into())
    };
    let link = r#","data":{"elicitations":[{"mode":"url","message":"m","url":"https://example.com/","elicitationId":"e"}]}"#;
    let codes = [
        ("-32042", ""),
        ("-32042.0", ""),
        ("-32042", r#","data":{"elicitations":[]}"#),
        ("-32042", link),
        ("-32042.0", link),
    ];
    for (code, data) in codes {
        // Nobody can be asked.
        let forms = json!({"elicitation": {"form": {}}});
        for capabilities in [json!({}), forms] {
            let mut world = World::opened("client", "2025-11-25", capabilities, "2025-11-25");
            world.client(call(1));
            world.server_frame(error(code, data));
            let told = world.told_client();
            assert_eq!(told["error"]["code"], -32603, "{code} {data}");
            assert!(
                told["error"]["message"]
                    .as_str()
                    .unwrap()
                    .starts_with("Sign in first")
            );
        }
        let mut world = modern_to_legacy("client", Value::Null);
        world.client(modern(1, "tools/call", json!({"name": "pay"}), Value::Null));
        world.server_frame(error(code, data));
        assert_eq!(
            world.told_client()["error"]["code"],
            -32603,
            "{code} {data}"
        );
        let mut world = modern_to_modern("client", both());
        world.client(modern_call(1));
        let code = match data.contains("mode") {
            true => continue,
            false => code,
        };
        world.server_frame(error(code, data));
        assert_eq!(
            world.told_client()["error"]["code"],
            -32603,
            "{code} {data}"
        );
    }
    // Not when its result was kept for it, either.
    let mut world = page_needs_a_link();
    world.passes(Duration::from_secs(46));
    let told = world.told_client();
    let claim = told["result"]["_meta"]["dev.midcall/waiting"]["claim"].clone();
    world.ends(1, Outcome::TimedOut);
    world.client(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "awaitElicitation", "arguments": {"claim": claim}}}));
    assert_eq!(world.told_client()["error"]["code"], -32603);
}
