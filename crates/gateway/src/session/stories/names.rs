//! What a client is given to come back by, and how long it leads to its call.
//!
//! `World` looks in every story whether a name is known before the client has it.

use super::client::{asked, back, result};
use super::eras::*;
use crate::call::{Name, NameUse};

/// How long results are kept.
const KEPT: Duration = Duration::from_secs(10 * 60);

#[test]
fn a_state_leads_to_its_call_until_the_result_is_forgotten() {
    let (mut world, round) = asked(day());
    let state = round["requestState"].as_str().unwrap();
    assert!(state.starts_with("mc1."), "{state}");
    let name = Name::of_ours(state).unwrap();
    let given = world.named[&name].clone();
    assert_eq!((given.used_for, given.until), (NameUse::State, None));
    assert!(given.call.is_some());

    world.client(back(2, &round, json!({"q1": monday()})));
    world.server(result(1));
    let until = world.named[&name].until.expect("the call is over");
    assert_eq!(until, world.now + KEPT);
    world.passes(KEPT);
    assert!(world.named.is_empty());
}

#[test]
fn a_call_that_is_taken_back_leads_nowhere() {
    let (mut world, round) = asked(day());
    world.client(back(2, &round, json!({})));
    let again = world.told_client()["result"].clone();
    assert_eq!(
        again["requestState"], round["requestState"],
        "it is asked the same"
    );
    assert_eq!(world.named.len(), 1);
    world.client(back(3, &again, json!({"q1": monday()})));
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}),
    );
    assert!(world.named.is_empty());
}

#[test]
fn a_state_that_is_no_text_is_nobodys() {
    let (mut world, mut round) = asked(day());
    round["requestState"] = json!({"of": "nothing"});
    world.client(back(2, &round, json!({})));
    assert_eq!(world.told_client()["error"]["code"], -32602);
    assert!(world.to_server.is_empty());
    round["requestState"] = Value::Null;
    world.client(back(3, &round, json!({})));
    assert_eq!(world.told_server()["id"], 3, "a new call");
}
