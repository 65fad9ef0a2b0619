//! Nothing that people typed is printed, whatever they typed it into.

use serde_json::json;

use super::day;
use super::desk::Desk;

const MARK: &str = "xyzzy7294";

#[tokio::test]
async fn nothing_typed_is_printed_at_any_level() {
    let mut desk = Desk::start(&["--log", "trace"]).await;
    let (script, person) = (desk.script(), desk.person().await);
    let text = json!({"message": "Name?", "requestedSchema":
        {"type": "object", "properties": {"name": {"type": "string"}}}});
    let accepted = desk.ask(text).await;
    let declined = desk.ask(day()).await;
    let open = desk.ask(day()).await;
    let typed = |kind: &str, body: String| {
        let request = script.post(&format!("/elicitation/{open}/accept"));
        request.header("content-type", kind).body(body)
    };
    let garbage = |body: String| typed("application/json", body);
    let requests = [
        (
            200,
            person
                .post(&format!("/elicitation/{accepted}/accept"))
                .json(&json!({"content": {"name": MARK}})),
        ),
        (
            409,
            person
                .post(&format!("/elicitation/{accepted}/accept"))
                .json(&json!({"content": {"name": MARK}})),
        ),
        (
            200,
            script
                .post(&format!("/elicitation/{declined}/reject"))
                .json(&json!({"reason": MARK})),
        ),
        (
            422,
            garbage(json!({"content": {"day": MARK, MARK: MARK}}).to_string()),
        ),
        (400, garbage(MARK.to_owned())),
        (400, garbage(json!([MARK]).to_string())),
        (400, garbage(json!({"content": MARK}).to_string())),
        (
            400,
            garbage(
                json!({"content": {"day": MARK}})
                    .to_string()
                    .replace('}', ""),
            ),
        ),
        (413, garbage(MARK.repeat(200_000))),
        (415, typed(MARK, MARK.to_owned())),
        (404, script.get(&format!("/{MARK}?{MARK}={MARK}"))),
        (404, script.get(&format!("/elicitation/status/{MARK}"))),
        (
            404,
            script
                .post(&format!("/elicitation/{MARK}/accept"))
                .json(&json!({"content": {MARK: 1}})),
        ),
        (
            405,
            script.call(MARK.to_uppercase().parse().unwrap(), "/healthz"),
        ),
        (
            200,
            script
                .get(&format!("/elicitation/events?workspace={MARK}"))
                .header("last-event-id", MARK),
        ),
        (
            200,
            script
                .get("/healthz")
                .header("x-mark", MARK)
                .header("cookie", MARK)
                .header("user-agent", MARK),
        ),
        (403, script.get("/healthz").header("origin", MARK)),
        (403, script.get("/healthz").header("host", MARK)),
        (401, desk.caller(MARK).get("/elicitation/status/x")),
        (
            401,
            desk.nobody()
                .post("/launch")
                .header("origin", desk.page())
                .json(&json!({"token": MARK})),
        ),
    ];
    for (number, (status, request)) in requests.into_iter().enumerate() {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status, "request {number}");
        if !status.to_string().starts_with('2') {
            let body = response.text().await.unwrap();
            assert!(!body.contains(MARK), "request {number}: {body}");
        }
    }
    let secrets = [&desk.announced["bearer"], &desk.announced["launch"]];
    let secrets = secrets.map(|secret| secret.as_str().unwrap().to_owned());
    let token = desk.launch_token().to_owned();
    let printed = desk.last_words().await;
    assert!(printed.contains("\"state\":\"answered\""), "{printed}");
    assert!(
        printed.contains("/elicitation/{id}/accept"),
        "trace says something: {printed}"
    );
    assert!(!printed.to_lowercase().contains(MARK), "{printed}");
    for secret in secrets.iter().chain([&token]) {
        assert!(!printed.contains(secret), "{printed}");
    }
}
