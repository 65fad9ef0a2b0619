//! What is no question passes as it came.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::frame::{Frame, Kind};
use crate::session::world::{Line, World};

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A message as some peer may write it: any members, ids and spacing.
fn message() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        any::<i64>().prop_map(|id| id.to_string()),
        any::<u64>().prop_map(|id| id.to_string()),
        Just("1.0".to_owned()),
        Just("1e300".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        ".*".prop_map(|id| json!(id).to_string()),
    ];
    let method = prop_oneof![
        Just("tools/call".to_owned()),
        Just("notifications/progress".to_owned()),
        Just("resources/updated".to_owned()),
        "[a-z/$é]{1,20}"
    ];
    (id, method, anything(), anything(), 0..3, prop_oneof![Just(""), Just(" "), Just("\t")], prop_oneof![Just("\n"), Just("\r\n")])
        .prop_map(|(id, method, params, extra, kind, gap, end)| {
            let method = json!(method);
            let body = match kind {
                0 => format!(r#"{{"jsonrpc":"2.0",{gap}"id":{id},"method":{gap}{method},"params":{params},"x":{extra}}}"#),
                1 => format!(r#"{{"params":{params},{gap}"method":{method},"jsonrpc":"2.0","x":{extra}}}"#),
                _ => format!(r#"{{"result":{params},"x":{extra},{gap}"jsonrpc":"2.0","id":{id}{gap}}}"#),
            };
            format!("{gap}{body}{end}")
        })
}

proptest! {
    #[test]
    fn what_is_no_question_passes_byte_for_byte(lines in prop::collection::vec((any::<bool>(), message()), 1..20)) {
        let mut world = World::plain();
        world.keep_bytes();
        let mut used = HashSet::new();
        for (from_client, line) in lines {
            let frame = Frame::new(line.clone().into());
            let says = |world: &mut World, frame, by_client| if by_client { world.client_frame(frame) } else { world.server_frame(frame) };
            // A request passes if its id isn't in use, and an answer if somebody asked.
            if let Some((Kind::Request { id, .. }, _)) = frame.peek() && from_client && !used.insert(id) {
                continue;
            }
            if let Some((Kind::Response { id: Some(id) }, _)) = frame.peek() {
                let asks = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, id.as_json());
                says(&mut world, Frame::new(asks.into()), !from_client);
                world.told_bytes();
            }
            says(&mut world, frame, from_client);
            let mut told = world.told_bytes();
            prop_assert_eq!(told.len(), 1, "{}", line);
            let passed = match told.remove(0) {
                Line::ToServer(frame) if from_client => frame,
                Line::ToClient(frame) if !from_client => frame,
                other => return Err(TestCaseError::fail(format!("{other:?} for {line}"))),
            };
            prop_assert_eq!(passed.into_bytes(), line.into_bytes());
        }
    }
}
