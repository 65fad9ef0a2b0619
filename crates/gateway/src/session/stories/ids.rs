//! Ids and tokens: what one peer writes another may write in other letters, and it is the same all the same.

use super::eras::*;
use crate::session::world::Line;

/// An id as a peer writes it, and as a peer writes it that reads numbers as doubles.
const IDS: [(&str, &str); 9] = [
    ("1.0", "1"),
    ("-0", "0"),
    ("-0.0", "0"),
    ("1e2", "100"),
    ("0.5", "5e-1"),
    ("1e400", "1e400"),
    (
        "123456789012345678901234567890",
        "123456789012345678901234567890",
    ),
    (r#""\u0061\/b""#, r#""a/b""#),
    (r#""\ud83d\ude00""#, r#""😀""#),
];

fn line(text: String) -> Frame {
    Frame::new(text.into())
}

/// Lines to the client, or to the server.
fn told(world: &mut World, to_client: bool) -> Vec<String> {
    let lines = world.told_bytes().into_iter();
    let frames = lines.filter_map(|line| match line {
        Line::ToClient(frame) if to_client => Some(frame),
        Line::ToServer(frame) if !to_client => Some(frame),
        _ => None,
    });
    frames
        .map(|frame| String::from_utf8(frame.into_bytes().to_vec()).unwrap())
        .collect()
}

fn id_of(line: &str) -> &str {
    let (_, rest) = line
        .split_once(r#""id":"#)
        .unwrap_or_else(|| panic!("{line}"));
    rest.split_once([',', '}']).unwrap().0
}

/// A call by an id in its client's era.
fn call(id: &str, more: &str, is_modern: bool) -> Frame {
    let envelope = r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}"#;
    let envelope = if is_modern { envelope } else { "" };
    line(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"book"{more},"_meta":{{"x":1{envelope}}}}}}}"#
    ))
}

fn worlds() -> [(World, bool); 4] {
    let capabilities = json!({"elicitation": {}});
    [
        (modern_to_legacy("client,page", both()), true),
        (modern_to_modern("client,page", json!({"form": {}})), true),
        (legacy_to_modern("client,page", capabilities.clone()), false),
        (
            World::opened("client,page", "2025-11-25", capabilities, "2025-11-25"),
            false,
        ),
    ]
}

#[test]
fn a_call_is_answered_however_its_id_is_written() {
    for (written, other) in IDS {
        for (mut world, is_modern) in worlds() {
            world.keep_bytes();
            for answered_by in [written, other] {
                world.client_frame(call(written, "", is_modern));
                let sent = told(&mut world, false);
                assert_eq!((sent.len(), id_of(&sent[0])), (1, written));
                let result =
                    r#"{"content":[],"n":[1.0,1e400,123456789012345678901234567890],"t":"\u0061"}"#;
                world.server_frame(line(format!(
                    r#"{{"jsonrpc":"2.0","id":{answered_by},"result":{result}}}"#
                )));
                let heard = told(&mut world, true);
                assert_eq!(heard.len(), 1, "{written} {answered_by}: {heard:?}");
                assert!([written, other].contains(&id_of(&heard[0])), "{}", heard[0]);
                assert!(
                    heard[0].contains(&result[..result.len() - 1]),
                    "{}",
                    heard[0]
                );
            }
        }
    }
}

#[test]
fn a_call_is_taken_back_however_its_id_is_written() {
    for (written, other) in IDS {
        for (mut world, is_modern) in worlds() {
            world.keep_bytes();
            world.client_frame(call(written, "", is_modern));
            told(&mut world, false);
            world.client_frame(line(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{other}}}}}"#
            )));
            let sent = told(&mut world, false);
            assert_eq!(sent.len(), 1, "{written} {other}");
            assert!(sent[0].contains("notifications/cancelled"));
        }
    }
}

#[test]
fn a_question_is_answered_however_its_id_is_written() {
    let form = r#"{"message":"?","mode":"form","requestedSchema":{"type":"object","properties":{"n":{"type":"number"}}}}"#;
    let content = r#"{"n":123456789012345678901234567890}"#;
    for (written, other) in IDS {
        // A legacy client is asked by a request, a modern one in its call.
        let mut world = worlds().into_iter().next_back().unwrap().0;
        world.keep_bytes();
        world.server_frame(line(format!(
            r#"{{"jsonrpc":"2.0","id":{written},"method":"elicitation/create","params":{form}}}"#
        )));
        assert_eq!(told(&mut world, true).len(), 1);
        world.passes(Duration::from_secs(1));
        world.client_frame(line(format!(
            r#"{{"jsonrpc":"2.0","id":{other},"result":{{"action":"accept","content":{content}}}}}"#
        )));
        let heard = told(&mut world, false);
        assert_eq!(heard.len(), 1, "{written} {other}");
        assert!([written, other].contains(&id_of(&heard[0])));
        assert!(heard[0].contains(content), "{}", heard[0]);

        let mut world = modern_to_legacy("client,page", both());
        world.keep_bytes();
        world.client_frame(call("7", "", true));
        told(&mut world, false);
        world.server_frame(line(format!(
            r#"{{"jsonrpc":"2.0","id":{written},"method":"elicitation/create","params":{form}}}"#
        )));
        let round = told(&mut world, true).remove(0);
        let (_, state) = round.split_once(r#""requestState":"#).unwrap();
        let state = state.trim_end().trim_end_matches('}');
        world.passes(Duration::from_secs(1));
        let back = format!(
            r#","requestState":{state},"inputResponses":{{"q\u0031":{{"action":"accept","content":{content}}}}}"#
        );
        world.client_frame(call("8", &back, true));
        let heard = told(&mut world, false);
        assert_eq!(heard.len(), 1, "{written}: {heard:?}");
        assert!([written, other].contains(&id_of(&heard[0])), "{}", heard[0]);
        assert!(heard[0].contains(content), "{}", heard[0]);
    }
}

#[test]
fn progress_is_heard_however_its_token_is_written() {
    for (written, other) in IDS {
        let mut world = modern_to_legacy("client,page", both());
        world.keep_bytes();
        let token = |id: &str, token: &str, more: &str| {
            let text = format!(r#""_meta":{{"progressToken":{token},"#);
            let call = call(id, more, true).into_bytes();
            let call = String::from_utf8(call.to_vec()).unwrap();
            line(call.replace(r#""_meta":{"#, &text))
        };
        world.client_frame(token("7", written, ""));
        told(&mut world, false);
        let ask =
            json!({"jsonrpc": "2.0", "id": "s", "method": "elicitation/create", "params": day()});
        world.server(ask);
        let round = told(&mut world, true).remove(0);
        let (_, state) = round.split_once(r#""requestState":"#).unwrap();
        let state = state.trim_end().trim_end_matches('}');
        // It comes back by another token, and the server goes on with the first.
        world.client_frame(token("8", r#""u""#, &format!(r#","requestState":{state}"#)));
        told(&mut world, true);
        world.server_frame(line(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{other},"progress":1.0}}}}"#
        )));
        let heard = told(&mut world, true);
        assert!(
            heard
                .iter()
                .all(|heard| heard.contains(r#""progressToken":"u""#)),
            "{written} {heard:?}"
        );
    }
}

#[test]
fn the_result_of_a_task_keeps_its_digits() {
    let mut makes_tasks = discovered();
    makes_tasks["capabilities"]["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    let mut world = World::new("client,page");
    world.client(modern(0, "server/discover", json!({}), both()));
    world.server_answers(makes_tasks.clone());
    world.server_answers(makes_tasks);
    world.to_client.clear();
    world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
    world.server_answers(json!({"resultType": "task", "taskId": "t", "status": "working"}));
    world.passes(Duration::from_secs(1));
    let poll = world.told_server();
    assert_eq!(poll["method"], "tasks/get");
    world.keep_bytes();
    let result = r#"{"content":[],"n":[1.0,1e400,123456789012345678901234567890]"#;
    world.server_frame(line(format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"complete","taskId":"t","status":"completed","result":{result}}}}}}}"#,
        poll["id"]
    )));
    let heard = told(&mut world, true).remove(0);
    assert!(heard.contains(result), "{heard}");
}
