//! What the largest message that is taken costs, and the smallest that is refused, beside an ordinary one of 2 KB.

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use midcall::frame::{Frame, Kind};
use midcall_core::{Asker, Elicitation, Limits, Wanted, is_ambiguous, secret};
use serde_json::{Value, json};

use super::ordinary::Ordinary;

/// The default of `--max-message`.
const LINE: usize = 64 << 20;

/// Every bound on one message.
pub fn run() {
    lines();
    questions();
    events();
}

/// A line is peeked: by that it is passed on, or refused.
fn lines() {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "book", "arguments": {"text": "x".repeat(1_900)}}});
    let ordinary = Ordinary::new("a line", line(&call), peek);
    let batch = |parts: usize| line(&Value::Array(vec![call.clone(); parts]));
    ordinary.beside("batch of 100", batch(100));
    ordinary.beside("batch of 101", batch(101));
    let nested = format!(
        "{}{call}{}",
        format!("[{call},").repeat(2_000),
        "]".repeat(2_000)
    );
    ordinary.beside("batches in batches, 2,000 deep", nested.into());
    let long = |argument: String| {
        Bytes::from(format!(
            r#"{{"id":1,"method":"tools/call","params":{{"arguments":{argument}}}}}"#
        ))
    };
    let brackets = LINE / 2 - 100;
    ordinary.beside(
        "line of 64 MB, one text",
        long(format!("\"{}\"", "x".repeat(LINE - 100))),
    );
    ordinary.beside(
        "line of 64 MB, quotes",
        long(format!("[{}0]", r#""","#.repeat(LINE / 3 - 100))),
    );
    ordinary.beside(
        "line of 64 MB, brackets",
        long("[".repeat(brackets) + &"]".repeat(brackets)),
    );
    ordinary.beside("line of 64 MB, no message", "x".repeat(LINE).into());

    let members = |count: usize| {
        let members = (0..count).map(|n| (format!("m{n}"), n.into()));
        Value::Object(members.collect()).to_string()
    };
    let ordinary = Ordinary::new("a call to confirm", members(160).into(), |call| {
        !is_ambiguous(str::from_utf8(call).expect("it is text"))
    });
    let members = members(1_000_000);
    ordinary.beside("call of a million members", members.clone().into());
    let twice = format!(r#"{},"m0":0}}"#, &members[..members.len() - 1]);
    ordinary.beside("the same, one of them twice", twice.into());
}

/// A question is read, and each of its fields looked at for a secret.
fn questions() {
    let form = |properties: Value| json!({"type": "object", "properties": properties});
    let ask = |message: &str, schema: Value| {
        line(&json!({"message": message, "requestedSchema": schema}))
    };
    let fields = |count: usize, field: Value| {
        let fields = (0..count).map(|n| (format!("f{n}"), field.clone()));
        form(Value::Object(fields.collect()))
    };
    let text = json!({"type": "string", "title": "Where to"});
    let ordinary = Ordinary::new("a question", ask("Where?", fields(40, text.clone())), read);
    ordinary.beside("form of 200 fields", ask("?", fields(200, text.clone())));
    ordinary.beside("form of 201 fields", ask("?", fields(201, text.clone())));
    let message = |bytes: usize| ask(&"x".repeat(bytes), fields(1, text.clone()));
    ordinary.beside("message of 64 KB", message(64 << 10));
    ordinary.beside("message of 64 KB and a byte", message((64 << 10) + 1));
    let schema = |bytes: usize| {
        ask(
            "?",
            fields(
                1,
                json!({"type": "string", "description": "x".repeat(bytes)}),
            ),
        )
    };
    ordinary.beside("schema of 256 KB", schema((256 << 10) - 200));
    ordinary.beside("schema of more", schema(256 << 10));
    let nested = |levels: usize| {
        let nested = r#"{"items":"#.repeat(levels) + "{}" + &"}".repeat(levels);
        let schema = format!(r#"{{"type":"object","properties":{{"f":{nested}}}}}"#);
        Bytes::from(format!(r#"{{"message":"?","requestedSchema":{schema}}}"#))
    };
    ordinary.beside("schema of 120 levels", nested(120));
    ordinary.beside("schema of 200 levels", nested(200));
    let mut again = fields(199, json!({"type": "string"}));
    again["required"] = json!(vec!["x"; 60_000]);
    ordinary.beside("60,000 required names", ask("?", again));
    // Every word may begin the name of a secret, in six ways to read it.
    let disguised = "p1n \u{440}in c0de ".repeat(130);
    let words = json!({"type": "string", "description": disguised});
    ordinary.beside(
        "200 KB that may ask for secrets",
        ask("?", fields(90, words)),
    );
    let twice = r#"{"message":"?","message":"!","requestedSchema":{}}"#;
    ordinary.beside("question with a member twice", twice.into());

    let link = |bytes: usize| {
        let host = "https://xn--mnchen-3ya.example/";
        let url = host.to_owned() + &"a".repeat(bytes - host.len());
        line(&json!({"mode": "url", "message": "?", "url": url}))
    };
    ordinary.beside("link of 8 KB", link(8 << 10));
    ordinary.beside("link of 8 KB and a byte", link((8 << 10) + 1));
    let labels = "xn--a1.".repeat(1_000);
    let labels = json!({"mode": "url", "message": "?", "url": format!("https://{labels}example/")});
    ordinary.beside("link of 1,000 labels", line(&labels));

    let ordinary = Ordinary::new("a name", "delivery_address".into(), is_harmless);
    ordinary.beside(
        "name of 1 MB that nobody sees",
        "\u{200b}".repeat(350_000).into(),
    );
    ordinary.beside("name of 1 MB", "pass".repeat(256 << 10).into());
}

/// Events come in pieces; the reader is the one that the gateway uses.
fn events() {
    let event = |bytes: usize| Bytes::from(format!("data: {}\n\n", "x".repeat(bytes)));
    let read = |event: &Bytes, piece: usize| {
        let pieces: Vec<_> = (0..event.len())
            .step_by(piece)
            .map(|at| Ok::<_, std::io::Error>(event.slice(at..event.len().min(at + piece))))
            .collect();
        let mut events = sse_stream::SseByteStream::new(stream::iter(pieces));
        let event = events.next().now_or_never().flatten();
        event.is_some_and(|event| event.is_ok())
    };
    let ordinary = Ordinary::new("an event", event(2_048), |event| read(event, 1_400));
    ordinary.beside("event of 16 MB", event(16 << 20));
    let ordinary = Ordinary::new("an event, byte by byte", event(2_048), |event| {
        read(event, 1)
    });
    ordinary.beside("event of 4 MB, byte by byte", event(4 << 20));
}

fn line(message: &Value) -> Bytes {
    message.to_string().into()
}

fn peek(line: &Bytes) -> bool {
    let frame = Frame::new(line.clone());
    let peeked = frame.peek();
    peeked.is_some_and(|(kind, _)| !matches!(kind, Kind::Wrong { .. }))
}

fn read(params: &Bytes) -> bool {
    let params = str::from_utf8(params).expect("it is text");
    let read = Elicitation::read(params, Asker::named("bench"), &Limits::default());
    read.is_ok_and(|question| match question.wanted {
        Wanted::Form(_) => true,
        Wanted::Link(link) => link.href().is_some(),
    })
}

fn is_harmless(name: &Bytes) -> bool {
    let name = str::from_utf8(name).expect("it is text");
    secret::asks(name, None, None, None).is_none()
}
