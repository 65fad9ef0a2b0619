//! Gateways of one person: who finds whom, and whose page is let in.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use super::day;
use super::desk::{Caller, Desk};
use super::events::Events;
use super::statuses::{answer, dressed};
use crate::program::midcall;

/// Another desk of the same person.
async fn beside(desk: &Desk, flags: &[&str]) -> Desk {
    let session = desk.session.to_str().unwrap();
    Desk::start_with("desk", flags, &[("XDG_RUNTIME_DIR", session)]).await
}

/// What a desk left for its like.
fn left(desk: &Desk, in_session_of: &Desk) -> Value {
    let name = format!("{}.json", desk.pid().unwrap());
    let file = in_session_of.session.join("midcall").join(name);
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

fn peer(desk: &Desk) -> Caller {
    desk.caller(left(desk, desk)["peer"].as_str().unwrap())
}

async fn admit(desk: &Desk, origin: &str) -> (u16, Value) {
    answer(
        peer(desk)
            .post("/peers/admit")
            .json(&json!({"origin": origin})),
    )
    .await
}

fn launch(desk: &Desk, token: &Value, origin: Option<&str>) -> RequestBuilder {
    let request = desk.nobody().post("/launch").json(&json!({"token": token}));
    match origin {
        Some(origin) => request.header("origin", origin),
        None => request,
    }
}

fn preflight(desk: &Desk, origin: &str, path: &str) -> RequestBuilder {
    let request = desk.nobody().call(Method::OPTIONS, path);
    request
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type",
        )
}

async fn send(request: RequestBuilder) -> Response {
    request.send().await.unwrap()
}

fn allowed(response: &Response) -> Option<&str> {
    let origin = response.headers().get("access-control-allow-origin")?;
    origin.to_str().ok()
}

const OTHER: &str = "http://127.0.0.1:4711";

#[tokio::test]
async fn the_key_for_other_gateways_lies_where_they_look_and_nowhere_else() {
    let desk = Desk::start(&["--log", "trace"]).await;
    let told = left(&desk, &desk);
    assert_eq!(told["page"], desk.announced["page"]);
    assert_eq!(told["pid"].as_u64(), desk.pid());
    assert_ne!(told["launch"], desk.announced["launch"], "each works once");
    let key = told["peer"].as_str().unwrap().to_owned();
    assert_eq!(key.len(), 43);
    assert!(!desk.announced.to_string().contains(&key));
    assert!(desk.announced.get("peer").is_none());
    let folder = desk.session.join("midcall");
    let mode = |path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.clone()), 0o700);
    assert_eq!(
        mode(folder.join(format!("{}.json", desk.pid().unwrap()))),
        0o600
    );

    let mut other = beside(&desk, &["--log", "trace"]).await;
    let token = admit(&desk, OTHER).await.1["token"].clone();
    let person = other.person().await;
    let through = person.post("/peers/launch");
    let through = answer(through.json(&json!({"page": desk.page()}))).await;
    assert_eq!(through.0, 200);
    let mut desk = desk;
    for desk in [&mut desk, &mut other] {
        let printed = desk.last_words().await;
        assert!(printed.contains("/peers/"), "trace says something");
        for secret in [&json!(key), &token, &through.1["token"]] {
            assert!(!printed.contains(secret.as_str().unwrap()), "{printed}");
        }
    }
    assert_eq!(folder.read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn a_page_of_another_gateway_is_let_in_once_it_was_asked_for() {
    let mut desk = Desk::start(&[]).await;
    let id = desk.ask(day()).await;
    let cancel = format!("/elicitation/{id}/cancel");
    let refused = send(preflight(&desk, OTHER, "/launch")).await;
    dressed(&refused);
    assert_eq!(refused.status(), 403);

    let (status, admitted) = admit(&desk, OTHER).await;
    assert_eq!(status, 200);
    let token = &admitted["token"];
    for path in ["/launch", "/elicitation/events", &cancel] {
        let asked = send(preflight(&desk, OTHER, path)).await;
        assert_eq!(asked.status(), 204, "{path}");
        assert_eq!(allowed(&asked), Some(OTHER));
        assert_eq!(asked.headers()["access-control-allow-methods"], "GET, POST");
        assert_eq!(
            asked.headers()["access-control-allow-headers"],
            "authorization, content-type, last-event-id"
        );
    }

    // Only that page gets in by it, and nobody is told that it is another's.
    for origin in ["http://127.0.0.1:4712", "http://localhost:4711", "null"] {
        let foreign = send(launch(&desk, token, Some(origin))).await;
        assert_eq!(
            (foreign.status(), allowed(&foreign)),
            (reqwest::StatusCode::FORBIDDEN, None)
        );
        assert_eq!(
            send(preflight(&desk, origin, "/launch")).await.status(),
            403
        );
    }
    for origin in [Some(desk.page()), None] {
        assert_eq!(send(launch(&desk, token, origin)).await.status(), 401);
    }
    let own = json!(desk.launch_token());
    assert_eq!(send(launch(&desk, &own, Some(OTHER))).await.status(), 401);
    let launched = send(launch(&desk, token, Some(OTHER))).await;
    assert_eq!(launched.status(), 200);
    assert_eq!(allowed(&launched), Some(OTHER));
    let bearer = launched.json::<Value>().await.unwrap()["bearer"].clone();
    assert_eq!(send(launch(&desk, token, Some(OTHER))).await.status(), 401);

    let page = desk.caller(bearer.as_str().unwrap());
    let post = |origin: Option<&str>| {
        let request = page.post(&cancel).json(&json!({}));
        origin
            .iter()
            .fold(request, |request, origin| request.header("origin", *origin))
    };
    assert_eq!(send(post(None)).await.status(), 401);
    assert_eq!(send(post(Some(desk.page()))).await.status(), 401);
    assert_eq!(
        send(post(Some("http://127.0.0.1:4712"))).await.status(),
        403
    );
    let done = send(post(Some(OTHER))).await;
    assert_eq!((done.status().as_u16(), allowed(&done)), (200, Some(OTHER)));
    let ended = desk.line().await;
    assert_eq!(ended["by"], json!({"route": "page", "human": true}));
}

#[tokio::test]
async fn only_pages_on_this_machine_can_be_asked_for() {
    let desk = Desk::start(&[]).await;
    for origin in [
        "http://evil.example",
        "http://127.0.0.1.evil.example:80",
        "https://127.0.0.1:4711",
        "http://127.0.0.2:4711",
        "http://127.0.0.1:4711/",
        "http://127.0.0.1:04711",
        "http://127.0.0.1:80",
        "http://127.0.0.1:x",
        "null",
        "",
    ] {
        assert_eq!(admit(&desk, origin).await.0, 403, "{origin:?}");
    }
    for origin in ["http://127.0.0.1", "http://[::1]", "http://localhost:1"] {
        assert_eq!(admit(&desk, origin).await.0, 200, "{origin:?}");
    }
}

#[tokio::test]
async fn every_key_opens_its_own_door_only() {
    let desk = Desk::start(&[]).await;
    let other = beside(&desk, &[]).await;
    let (script, person) = (desk.script(), desk.person().await);
    let peer = peer(&desk);
    let to_other = json!({"page": other.page()});
    for (caller, path, status) in [
        (&script, "/peers/hello", 401),
        (&script, "/peers/admit", 401),
        (&script, "/peers/launch", 403),
        (&person, "/peers/hello", 401),
        (&person, "/peers/admit", 401),
        (&person, "/peers/launch", 200),
        (&peer, "/peers/hello", 200),
        (&peer, "/peers/admit", 403),
        (&peer, "/peers/launch", 401),
        (&desk.nobody(), "/peers/hello", 401),
        (&desk.nobody(), "/peers/admit", 401),
        (&desk.nobody(), "/peers/launch", 401),
    ] {
        let (told, _) = answer(caller.post(path).json(&to_other)).await;
        assert_eq!(told, status, "{path}");
    }
    let events = answer(peer.get("/elicitation/events")).await;
    assert_eq!(events.0, 401);
    let nowhere = person.post("/peers/launch");
    let nowhere = answer(nowhere.json(&json!({"page": OTHER}))).await;
    assert_eq!(nowhere.0, 404);
}

#[tokio::test]
async fn a_page_is_told_who_else_is_there_and_gets_in() {
    let desk = Desk::start(&[]).await;
    let person = desk.person().await;
    let mut events = Events::of(&person, "?gateways=true", None).await;
    let mut pages = async || {
        let event = events.next().await.unwrap();
        assert_eq!(event.name, "gateways");
        event.data["pages"].clone()
    };
    assert_eq!(pages().await, json!([]));
    let mut other = beside(&desk, &[]).await;
    assert_eq!(pages().await, json!([other.page()]));

    let invited = person.post("/peers/launch");
    let invited = answer(invited.json(&json!({"page": other.page()}))).await;
    assert_eq!(invited.0, 200);
    let token = &invited.1["token"];
    assert_eq!(send(launch(&other, token, Some(OTHER))).await.status(), 403);
    let launched = send(launch(&other, token, Some(desk.page()))).await;
    assert_eq!(launched.status(), 200);

    // A gateway on the other loopback address has a page of its own: no policy can name it.
    let apart = match std::net::TcpListener::bind("[::1]:0") {
        Ok(_) => Some(beside(&desk, &["--page-addr", "[::1]:0"]).await),
        Err(_) => None,
    };
    other.signal("KILL");
    other.end().await;
    assert_eq!(pages().await, json!([]));
    drop(apart);
}

#[tokio::test]
async fn a_folder_that_others_can_open_is_left_alone_and_the_gateway_works_by_itself() {
    let session = std::env::temp_dir().join(format!("midcall-open-{}", std::process::id()));
    let folder = session.join("midcall");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let place = session.to_str().unwrap();
    let mut desk = Desk::start_with("desk", &[], &[("XDG_RUNTIME_DIR", place)]).await;
    assert_eq!(folder.read_dir().unwrap().count(), 0);
    desk.ask(day()).await;
    let printed = desk.last_words().await;
    assert!(printed.contains("stays by itself"), "{printed}");

    let open = tokio::process::Command::from(midcall())
        .args(["open", "--print"])
        .env("XDG_RUNTIME_DIR", place)
        .output();
    let open = open.await.unwrap();
    assert_eq!(open.status.code(), Some(2));
    let said = String::from_utf8(open.stderr).unwrap();
    assert!(said.contains("nobody else can open"), "{said}");
    fs::remove_dir_all(&session).unwrap();
}

#[tokio::test]
async fn a_gateway_that_starts_removes_what_a_killed_one_left_and_nothing_of_a_living_one() {
    let desk = Desk::start(&[]).await;
    let folder = desk.session.join("midcall");
    let names = || {
        let entries = folder.read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    };
    let file = |desk: &Desk| format!("{}.json", desk.pid().unwrap());
    let all = |desks: &[&Desk]| {
        let mut files: Vec<String> = desks.iter().map(|desk| file(desk)).collect();
        files.sort_unstable();
        files
    };
    let mut killed = beside(&desk, &[]).await;
    assert_eq!(names(), all(&[&desk, &killed]));
    let left = file(&killed);
    killed.signal("KILL");
    killed.end().await;
    assert!(names().contains(&left), "a killed gateway leaves its file");

    let other = beside(&desk, &[]).await;
    assert_eq!(names(), all(&[&desk, &other]));

    // `midcall open` does the same.
    let mut killed = beside(&desk, &[]).await;
    let left = file(&killed);
    killed.signal("KILL");
    killed.end().await;
    assert!(names().contains(&left), "a killed gateway leaves its file");
    let open = tokio::process::Command::from(midcall())
        .args(["open", "--print"])
        .env("XDG_RUNTIME_DIR", &desk.session)
        .env("MIDCALL_TEST_TIMES", "neighbour=5m")
        .output();
    assert!(open.await.unwrap().status.success());
    assert_eq!(names(), all(&[&desk, &other]));
}
