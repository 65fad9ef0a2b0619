//! Every status, and what every response carries.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use super::day;
use super::desk::Desk;

/// What a call answers: its status and its JSON, after a look at the headers.
pub async fn answer(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    dressed(&response);
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

pub fn dressed(response: &Response) {
    let csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
        connect-src 'self' http://127.0.0.1:*; font-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'";
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", csp),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(response.headers()[name], value, "{name}");
    }
    assert!(response.headers().contains_key("permissions-policy"));
    for name in response.headers().keys() {
        assert!(!name.as_str().starts_with("access-control-"), "{name}");
        assert_ne!(name, "set-cookie");
    }
}

#[tokio::test]
async fn what_openapi_describes_is_answered() {
    let mut desk = Desk::start(&[]).await;
    let script = desk.script();
    let (status, document) = answer(desk.nobody().get("/openapi.json")).await;
    assert_eq!((status, &document["openapi"]), (200, &json!("3.1.0")));
    for (path, calls) in document["paths"].as_object().unwrap() {
        let id = desk.ask(day()).await;
        let real = path.replace("{id}", &id);
        for (method, call) in calls.as_object().unwrap() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let response = script.call(method, &real).send().await.unwrap();
            dressed(&response);
            let status = response.status().as_u16();
            assert!(
                call["responses"][status.to_string()].is_object(),
                "{path} {status}"
            );
            assert!(![404, 405].contains(&status), "{path} {status}");
        }
        let response = script.call(Method::PUT, &real).send().await.unwrap();
        dressed(&response);
        assert_eq!(response.status(), 405, "{path}");
        assert!(response.headers().contains_key("allow"), "{path}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "method_not_allowed");
    }
    let healthy = answer(desk.nobody().get("/healthz")).await;
    assert_eq!(healthy, (200, json!({"status": "ok"})));
}

#[tokio::test]
async fn what_is_not_there_looks_the_same_everywhere() {
    let desk = Desk::start(&[]).await;
    let script = desk.script();
    let mut bodies = Vec::new();
    for id in [
        "AAAAAAAAAAAAAAAAAAAAAA",
        "x",
        "%FF",
        "%2e%2e",
        &"A".repeat(3_000),
    ] {
        for request in [
            script.get(&format!("/elicitation/status/{id}")),
            script.post(&format!("/elicitation/{id}/accept")),
            script.post(&format!("/elicitation/{id}/reject")),
            script.post(&format!("/elicitation/{id}/cancel")),
            script.post(&format!("/elicitation/{id}/opened")),
        ] {
            let response = request.send().await.unwrap();
            dressed(&response);
            assert_eq!(response.status(), 404, "{id}");
            bodies.push(response.text().await.unwrap());
        }
    }
    for path in [
        "/elicitation",
        "/nowhere",
        "/assets/",
        "/assets/nowhere.js",
        "/demo",
    ] {
        let response = script.get(path).send().await.unwrap();
        dressed(&response);
        assert_eq!(response.status(), 404);
        bodies.push(response.text().await.unwrap());
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_a_reason_and_stays_open() {
    let mut desk = Desk::start(&[]).await;
    let script = desk.script();
    let id = desk.ask(day()).await;
    let accept = |kind: &str, body: String| {
        let request = script.post(&format!("/elicitation/{id}/accept"));
        answer(request.header("content-type", kind).body(body))
    };
    let json = "application/json; charset=utf-8";
    for (body, message) in [
        ("{\"content\"", "the body is not JSON (line 1, column 10)"),
        (
            "[{}]",
            "the body is JSON, but not the object this call takes (line 1, column 1)",
        ),
        (
            "{\"content\":7}",
            "the content is not a JSON object (its line 1, column 1)",
        ),
        (
            "{\"content\":{\"day\":[}}",
            "the body is not JSON (line 1, column 20)",
        ),
    ] {
        let (status, told) = accept(json, body.to_owned()).await;
        assert_eq!((status, &told["message"]), (400, &json!(message)), "{body}");
        assert_eq!(told["error"], "bad_request");
    }
    let deep = format!("{{\"content\":{}}}", "[".repeat(100_000));
    assert_eq!(accept(json, deep).await.0, 400);
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/jsonp",
    ] {
        let (status, told) = accept(kind, "{}".to_owned()).await;
        assert_eq!(
            (status, &told["error"]),
            (415, &json!("not_json")),
            "{kind}"
        );
    }
    let large = |bytes: usize| format!("{{\"content\":{{\"day\":\"{}\"}}}}", "x".repeat(bytes));
    assert_eq!(accept(json, large(1024 * 1024)).await.0, 413, "the content");
    assert_eq!(
        accept(json, large(1024 * 1024 + 8 * 1024)).await.0,
        413,
        "the body"
    );
    let repeated = script.get("/elicitation/events?workspace=a&workspace=b");
    assert_eq!(answer(repeated).await.0, 400);

    let (status, told) = accept(json, json!({"content": {"day": "tomorrow"}}).to_string()).await;
    assert_eq!(status, 422);
    let problem = json!({"path": "/day", "key": "mcp.elicitation.problem.date", "params": {}});
    assert_eq!(told["problems"], json!([problem]));
    let (status, told) = accept("", String::new()).await;
    assert_eq!(status, 422);
    assert_eq!(
        told["problems"][0]["key"],
        "mcp.elicitation.problem.required"
    );
    let (status, told) = answer(script.get(&format!("/elicitation/status/{id}"))).await;
    assert_eq!((status, &told["state"]), (200, &json!("open")));
}

#[tokio::test]
async fn whoever_sends_much_still_hears_why_it_is_refused() {
    let desk = Desk::start(&[]).await;
    let much = || "x".repeat(8 * 1024 * 1024);
    let accept = "/elicitation/AAAAAAAAAAAAAAAAAAAAAA/accept";
    for (status, request) in [
        (401, desk.nobody().post(accept)),
        (403, desk.script().post(accept).header("origin", "null")),
        (404, desk.script().post("/nowhere")),
        (413, desk.script().post(accept)),
    ] {
        assert_eq!(answer(request.body(much())).await.0, status);
    }
}

#[tokio::test]
async fn a_closed_question_says_how_it_closed() {
    let mut desk = Desk::start(&["--timeout", "300ms"]).await;
    let (script, person) = (desk.script(), desk.person().await);
    let calls = ["accept", "reject", "cancel", "opened"];

    let declined = desk.ask(day()).await;
    let reject = person.post(&format!("/elicitation/{declined}/reject"));
    assert_eq!(
        answer(reject.json(&json!({"reason": "too dear"}))).await.0,
        200
    );
    desk.line().await;
    for call in calls {
        let again = script.post(&format!("/elicitation/{declined}/{call}"));
        let (status, told) = answer(again).await;
        let how = json!({"error": "closed", "message": "the question is closed",
            "state": "answered", "action": "decline", "by": {"route": "page", "human": true},
            "delivery": "delivered"});
        assert_eq!((status, told), (409, how), "{call}");
    }
    let (_, mut told) = answer(script.get(&format!("/elicitation/status/{declined}"))).await;
    assert!(told["deadline"].take().is_string());
    assert_eq!(
        told,
        json!({"id": declined, "state": "answered", "deadline": null, "action": "decline",
            "by": {"route": "page", "human": true}, "delivery": "delivered"}),
        "as the calls do, and nobody's words"
    );

    let late = desk.ask(day()).await;
    assert_eq!(desk.line().await["state"], "timed_out");
    let cancelled = answer(script.post(&format!("/elicitation/{late}/cancel"))).await;
    assert_eq!(
        (cancelled.0, &cancelled.1["state"]),
        (409, &json!("timed_out"))
    );
    let (_, told) = answer(script.get(&format!("/elicitation/status/{late}"))).await;
    assert_eq!(told["state"], "timed_out");
    assert_eq!(told.as_object().unwrap().len(), 3, "{told}");
}

#[tokio::test]
async fn an_unsafe_link_cannot_be_accepted() {
    let mut desk = Desk::start(&[]).await;
    let script = desk.script();
    let link =
        |url: &str| json!({"mode": "url", "message": "Sign in", "elicitationId": "1", "url": url});
    let bad = desk.ask(link("javascript:alert(1)")).await;
    let (status, told) = answer(script.post(&format!("/elicitation/{bad}/accept"))).await;
    assert_eq!((status, &told["error"]), (422, &json!("unsafe_link")));
    assert_eq!(told["problems"][0]["key"], "mcp.elicitation.link.scheme");
    assert_eq!(
        answer(script.post(&format!("/elicitation/{bad}/reject")))
            .await
            .0,
        200
    );
    desk.line().await;

    let good = desk.ask(link("https://example.com/in")).await;
    let opened = answer(script.post(&format!("/elicitation/{good}/opened"))).await;
    assert_eq!(opened, (200, json!({"id": good, "state": "open"})));
    assert_eq!(
        answer(script.post(&format!("/elicitation/{good}/accept")))
            .await
            .0,
        200
    );
    let by = json!({"route": "api", "human": false});
    assert_eq!(desk.line().await["by"], by);
}

#[tokio::test]
async fn whoever_calls_too_often_waits() {
    let desk = Desk::start(&["--calls-per-second", "2"]).await;
    let (script, person) = (desk.script(), desk.person().await);
    let mut statuses = Vec::new();
    for _ in 0..12 {
        let response = script.get("/elicitation/status/x").send().await.unwrap();
        dressed(&response);
        if response.status() == 429 {
            assert_eq!(response.headers()["retry-after"], "1");
        }
        statuses.push(response.status().as_u16());
    }
    assert_eq!(statuses[..8], [404; 8]);
    assert!(statuses[8..].contains(&429), "{statuses:?}");
    assert_eq!(
        answer(person.get("/elicitation/status/x")).await.0,
        404,
        "others may call"
    );
}
