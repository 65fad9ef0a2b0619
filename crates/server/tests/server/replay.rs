//! Tools that run again with the answers so far, in another process or after a restart.
//!
//! A replica here is a server with calls of its own; all that two have in common are their keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use midcall_server::midcall_core::seal::{Keys, Secret};
use midcall_server::testing::{Client, Connected, Got, Person, Said, for_every_client};
use midcall_server::{Ask, AskError, Asks, Resume};
use midcall_store::Memory;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use serde_json::{Value, json};

const MODERN: Client = Client::V2026_07_28;

/// Tools that run again, well or badly.
#[derive(Clone, Default)]
struct Shop {
    /// How often a tool began.
    ran: Arc<AtomicUsize>,
    /// What tools find that somebody changes between two runs.
    changed: Arc<AtomicUsize>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct About {
    /// How long
    size: usize,
}

#[tool_router]
impl Shop {
    #[tool(description = "Three steps", annotations(destructive_hint = false))]
    async fn wizard(&self, ask: Ask) -> Result<String, AskError> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        let name = ask.text("Your name?").min(2).await?.accepted()?;
        let (town, sure) = ask
            .together((ask.text("Which town?").min(2), ask.confirm("Sure?")))
            .await?;
        let (town, sure) = (town.accepted()?, sure.accepted()?);
        let day = ask.date(format!("When, {name}?")).await?.accepted()?;
        Ok(format!("{name} {town} {sure} {day}"))
    }

    #[tool(
        description = "Says how many there are",
        annotations(destructive_hint = false)
    )]
    async fn words(&self, ask: Ask) -> Result<String, AskError> {
        let files = 3 + self.changed.load(Ordering::SeqCst);
        let first = ask
            .confirm(format!("Delete {files} files?"))
            .await?
            .agreed();
        let second = ask.confirm("Really?").await?.agreed();
        Ok(format!("{files} {first} {second}"))
    }

    #[tool(
        description = "Changes its words all the time",
        annotations(destructive_hint = false)
    )]
    async fn restless(&self, ask: Ask) -> Result<String, AskError> {
        let time = self.ran.fetch_add(1, Ordering::SeqCst);
        ask.confirm(format!("It is {time} o'clock. Go on?"))
            .await?
            .accepted()?;
        Ok("done".into())
    }

    #[tool(
        description = "Asks something else the next time",
        annotations(destructive_hint = false)
    )]
    async fn other(&self, ask: Ask) -> Result<String, AskError> {
        let name = match self.changed.load(Ordering::SeqCst) {
            0 => ask.text("Your name?").await?.accepted()?,
            _ => ask.integer("Your number?").await?.accepted()?.to_string(),
        };
        let sure = ask.confirm("Sure?").await?.accepted()?;
        Ok(format!("{name} {sure}"))
    }

    #[tool(
        description = "A rule beyond the form",
        annotations(destructive_hint = false)
    )]
    async fn rule(&self, ask: Ask) -> Result<String, AskError> {
        let odd = |lilies: &i64| match lilies % 2 {
            0 => Err("an even number is for funerals"),
            _ => Ok(()),
        };
        let questions = (
            ask.integer("How many lilies?").must(odd),
            ask.integer("How many tulips?").must(odd),
        );
        let (lilies, tulips) = ask.together(questions).await?;
        Ok(format!("{} {}", lilies.accepted()?, tulips.accepted()?))
    }

    #[tool(
        description = "Two dialogues side by side",
        annotations(destructive_hint = false)
    )]
    async fn side_by_side(&self, ask: Ask) -> Result<String, AskError> {
        let about_name = async {
            let first = ask.text("First name?").await?.accepted()?;
            let last = ask.text(format!("{first} what?")).await?.accepted()?;
            Ok::<_, AskError>(format!("{first} {last}"))
        };
        let about_town = async { ask.text("Which town?").await?.accepted() };
        let (name, town) = tokio::join!(about_name, about_town);
        Ok(format!("{} of {}", name?, town?))
    }

    #[tool(description = "A long story", annotations(destructive_hint = false))]
    async fn story(
        &self,
        ask: Ask,
        Parameters(About { size }): Parameters<About>,
    ) -> Result<String, AskError> {
        let story = ask
            .text(format!("{size} letters, please"))
            .await?
            .accepted()?;
        ask.confirm("Print it?").await?.accepted()?;
        Ok(story.len().to_string())
    }

    #[tool(
        description = "Nobody may answer",
        annotations(destructive_hint = false)
    )]
    async fn patient(&self, ask: Ask) -> Result<String, AskError> {
        let minute = Duration::from_secs(60);
        let first = match ask.text("Your name?").within(minute).await {
            Err(AskError::TimedOut { .. }) => "nobody".to_owned(),
            answer => answer?.accepted()?,
        };
        let sure = ask.confirm("Sure?").await?.accepted()?;
        Ok(format!("{first} {sure}"))
    }

    #[tool(description = "Opens a link", annotations(destructive_hint = false))]
    async fn link(&self, ask: Ask) -> Result<String, AskError> {
        let link = ask.link("Sign in", "https://example.com/in?state={id}");
        let expected = link.link_id().to_owned();
        let opened = link.await?.accepted()?;
        ask.confirm("Are you in?").await?.accepted()?;
        Ok(format!("{expected} {}", opened.id()))
    }
}

#[tool_handler(name = "shop")]
impl ServerHandler for Shop {}

fn asks(resume: Resume) -> Asks {
    let keys = Keys::new(Secret::from([7; 32]));
    Asks::new().keys(keys).resume(resume)
}

async fn replica(asks: &Asks, shop: &Shop) -> Connected<Shop> {
    let server = asks.around(shop.clone());
    MODERN.connect(server, &Person::quiet()).await
}

/// Calls of one tool, each to the next replica.
struct Turns<'a> {
    replicas: &'a [Connected<Shop>],
    call: Value,
    turn: usize,
}

impl<'a> Turns<'a> {
    fn new(replicas: &'a [Connected<Shop>], tool: &str) -> Self {
        Self::with(replicas, tool, json!({}))
    }

    fn with(replicas: &'a [Connected<Shop>], tool: &str, arguments: Value) -> Self {
        Self {
            replicas,
            call: json!({"name": tool, "arguments": arguments}),
            turn: 0,
        }
    }

    /// Calls with the state of the round before, at the replica after the last.
    async fn next(&mut self, answers: Value) -> Got {
        let mut responses = json!({});
        for (key, content) in answers.as_object().into_iter().flatten() {
            responses[key] = json!({"action": "accept", "content": content});
        }
        self.call["inputResponses"] = responses;
        let replica = &self.replicas[self.turn % self.replicas.len()];
        self.turn += 1;
        let got = replica.once("tools/call", self.call.clone()).await;
        self.call["requestState"] = got.0["result"]["requestState"].clone();
        got
    }
}

/// The words of a round.
fn asked(got: &Got) -> Vec<&str> {
    let requests = got.0["result"]["inputRequests"].as_object();
    let requests = requests.into_iter().flatten();
    let words = requests.map(|(_, request)| request["params"]["message"].as_str());
    words.map(Option::unwrap_or_default).collect()
}

#[tokio::test]
async fn each_round_of_a_wizard_may_land_on_another_replica() {
    for resume in [Resume::ReplayOnly, Resume::ParkThenReplay] {
        let shop = Shop::default();
        let (a, b) = (asks(resume), asks(resume));
        let replicas = [replica(&a, &shop).await, replica(&b, &shop).await];
        let mut call = Turns::new(&replicas, "wizard");
        assert_eq!(asked(&call.next(json!({})).await), ["Your name?"]);
        let got = call.next(json!({"question1": {"value": "Ana"}})).await;
        assert_eq!(asked(&got), ["Which town?", "Sure?"], "{got:?}");
        // One of two answers: the other is asked again, wherever.
        let got = call.next(json!({"question3": {"confirmed": true}})).await;
        assert_eq!(asked(&got), ["Which town?"], "{got:?}");
        let got = call.next(json!({"question2": {"value": "Faro"}})).await;
        assert_eq!(asked(&got), ["When, Ana?"], "{got:?}");
        let got = call
            .next(json!({"question4": {"value": "2026-12-24"}}))
            .await;
        assert_eq!(got.text(), "Ana Faro true 2026-12-24");
        assert_eq!(got.0["result"]["resultType"], "complete");
    }
}

#[tokio::test]
async fn a_tool_whose_call_is_parked_here_does_not_run_again() {
    let shop = Shop::default();
    let replicas = [replica(&asks(Resume::ParkThenReplay), &shop).await];
    let mut call = Turns::new(&replicas, "wizard");
    call.next(json!({})).await;
    call.next(json!({"question1": {"value": "Ana"}})).await;
    assert_eq!(shop.ran.load(Ordering::SeqCst), 1);

    let replicas = [replica(&asks(Resume::ReplayOnly), &shop).await];
    let mut call = Turns::new(&replicas, "wizard");
    call.next(json!({})).await;
    assert_eq!(replicas[0].server().waiting(), 0, "nothing is kept");
    call.next(json!({"question1": {"value": "Ana"}})).await;
    assert_eq!(replicas[0].server().waiting(), 0);
    assert_eq!(shop.ran.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn where_calls_are_parked_only_the_client_hears_that_its_call_is_over() {
    let shop = Shop::default();
    let (a, b) = (asks(Resume::ParkOnly), asks(Resume::ParkOnly));
    let replicas = [replica(&a, &shop).await, replica(&b, &shop).await];
    let mut call = Turns::new(&replicas, "wizard");
    call.next(json!({})).await;
    let got = call.next(json!({"question1": {"value": "Ana"}})).await;
    assert!(got.is_error(), "{got:?}");
    assert_eq!(
        got.text(),
        "This call is over: nobody came back with an answer in time, too many calls were waiting, \
         or the server was started again. Call again"
    );
    assert_eq!(shop.ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_reworded_question_is_asked_again_and_so_is_what_came_after_it() {
    let shop = Shop::default();
    let asks = asks(Resume::ReplayOnly);
    let replicas = [replica(&asks, &shop).await];
    let mut call = Turns::new(&replicas, "words");
    assert_eq!(asked(&call.next(json!({})).await), ["Delete 3 files?"]);
    let got = call.next(json!({"question1": {"confirmed": true}})).await;
    assert_eq!(asked(&got), ["Really?"]);
    shop.changed.store(2, Ordering::SeqCst);
    let got = call.next(json!({"question2": {"confirmed": true}})).await;
    assert_eq!(
        asked(&got),
        ["Delete 5 files?"],
        "a yes to 3 is no yes to 5"
    );
    let got = call.next(json!({"question1": {"confirmed": false}})).await;
    assert_eq!(asked(&got), ["Really?"], "it was said of 3");
    let got = call.next(json!({"question2": {"confirmed": true}})).await;
    assert_eq!(got.text(), "5 false true");
}

#[tokio::test]
async fn words_that_never_stay_are_an_error_at_last() {
    let shop = Shop::default();
    let replicas = [replica(&asks(Resume::ReplayOnly), &shop).await];
    let mut call = Turns::new(&replicas, "restless");
    let mut got = call.next(json!({})).await;
    for time in 0..4 {
        assert_eq!(asked(&got), [format!("It is {time} o'clock. Go on?")]);
        got = call.next(json!({"question1": {"confirmed": true}})).await;
    }
    assert!(got.is_error(), "{got:?}");
    let expected =
        "the tool asked something else when it ran again: question 1 had `confirmed`: yes or no";
    assert!(got.text().starts_with(expected), "{got:?}");
}

#[tokio::test]
async fn a_tool_that_takes_another_way_is_an_error_that_shows_both_questions_and_no_answer() {
    let shop = Shop::default();
    let replicas = [replica(&asks(Resume::ReplayOnly), &shop).await];
    let mut call = Turns::new(&replicas, "other");
    call.next(json!({})).await;
    shop.changed.store(1, Ordering::SeqCst);
    let got = call.next(json!({"question1": {"value": "Mariana"}})).await;
    assert!(got.is_error());
    assert_eq!(
        got.text(),
        "the tool asked something else when it ran again: question 1 had `value`: text, and has `value`: integer. \
         Call the tool again. In its code, ask the same in the same order each time it runs, or park its calls only \
         (`Resume::ParkOnly`). It was \"Your name?\", and is \"Your number?\""
    );
    assert!(!got.text().contains("Mariana"));
}

#[tokio::test]
async fn answers_that_broke_a_rule_are_asked_again_in_whatever_order_they_came() {
    for resume in [Resume::ReplayOnly, Resume::ParkThenReplay] {
        let shop = Shop::default();
        let (a, b) = (asks(resume), asks(resume));
        let replicas = [replica(&a, &shop).await, replica(&b, &shop).await];
        let mut call = Turns::new(&replicas, "rule");
        call.next(json!({})).await;
        let both = |lilies: i64, tulips: i64| json!({"question1": {"value": lilies}, "question2": {"value": tulips}});
        let got = call.next(both(2, 4)).await;
        assert_eq!(asked(&got).len(), 2, "{got:?}");
        assert!(asked(&got)[0].contains("an even number is for funerals"));
        let got = call.next(both(3, 6)).await;
        assert_eq!(asked(&got).len(), 1, "{got:?}");
        let got = call.next(json!({"question2": {"value": 5}})).await;
        assert_eq!(got.text(), "3 5", "{got:?}");
    }
}

#[tokio::test]
async fn dialogues_side_by_side_keep_their_places() {
    for resume in [Resume::ReplayOnly, Resume::ParkThenReplay] {
        let shop = Shop::default();
        let (a, b) = (asks(resume), asks(resume));
        let replicas = [replica(&a, &shop).await, replica(&b, &shop).await];
        let mut call = Turns::new(&replicas, "side_by_side");
        let got = call.next(json!({})).await;
        assert_eq!(asked(&got), ["First name?", "Which town?"], "{got:?}");
        let got = call.next(json!({"question1": {"value": "Ana"}})).await;
        assert_eq!(asked(&got), ["Which town?", "Ana what?"], "{got:?}");
        let last = json!({"question2": {"value": "Faro"}, "question3": {"value": "Sá"}});
        assert_eq!(call.next(last).await.text(), "Ana Sá of Faro");
    }
}

#[tokio::test]
async fn a_link_has_the_same_id_each_time_and_no_call_has_that_of_another() {
    let shop = Shop::default();
    let (a, b) = (asks(Resume::ReplayOnly), asks(Resume::ReplayOnly));
    let replicas = [replica(&a, &shop).await, replica(&b, &shop).await];
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut call = Turns::new(&replicas, "link");
        let round = call.next(json!({})).await;
        let url = &round.0["result"]["inputRequests"]["question1"]["params"]["url"];
        let id = url.as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
        call.next(json!({"question1": {}})).await;
        let got = call.next(json!({"question2": {"confirmed": true}})).await;
        assert_eq!(got.text(), format!("{id} {id}"));
        ids.push(id);
    }
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn more_than_a_state_may_hold_is_an_error_that_says_so() {
    for resume in [Resume::ReplayOnly, Resume::ParkThenReplay] {
        let shop = Shop::default();
        let replicas = [replica(&asks(resume), &shop).await];
        let mut call = Turns::with(&replicas, "story", json!({"size": 1_000}));
        call.next(json!({})).await;
        let got = call
            .next(json!({"question1": {"value": "a".repeat(1_000)}}))
            .await;
        assert_eq!(asked(&got), ["Print it?"], "{got:?}");
        let mut call = Turns::with(&replicas, "story", json!({"size": 3_000}));
        call.next(json!({})).await;
        let got = call
            .next(json!({"question1": {"value": "a".repeat(3_000)}}))
            .await;
        assert!(got.is_error(), "{got:?}");
        let (start, end) = (
            "what was said in this call has to travel",
            "a requestState has at most 3072",
        );
        assert!(
            got.text().starts_with(start) && got.text().contains(end),
            "{got:?}"
        );
    }
}

/// A clock that a test moves.
fn clock(asks: Asks, ahead: &Arc<AtomicUsize>) -> Asks {
    let ahead = ahead.clone();
    asks.clock(move || SystemTime::now() + Duration::from_secs(ahead.load(Ordering::SeqCst) as u64))
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_none_wherever_it_arrives() {
    let shop = Shop::default();
    let ahead = Arc::default();
    let (a, b) = (
        asks(Resume::ReplayOnly),
        clock(asks(Resume::ReplayOnly), &ahead),
    );
    let replicas = [replica(&a, &shop).await, replica(&b, &shop).await];
    let mut call = Turns::new(&replicas, "patient");
    call.next(json!({})).await;
    ahead.store(61, Ordering::SeqCst);
    let got = call.next(json!({"question1": {"value": "Ana"}})).await;
    assert_eq!(asked(&got), ["Sure?"], "{got:?}");
    let got = call.next(json!({"question2": {"confirmed": true}})).await;
    assert_eq!(got.text(), "nobody true");
}

#[tokio::test]
async fn a_state_is_good_for_its_time_its_person_and_its_call_and_nothing_else() {
    let shop = Shop::default();
    let ahead = Arc::default();
    let asks = |resume| {
        asks(resume).principal(|request| {
            let user = request.meta.get("user").and_then(Value::as_str);
            let nobody = || ErrorData::invalid_request("who are you?", None);
            user.map(str::to_owned).ok_or_else(nobody)
        })
    };
    let a = asks(Resume::ReplayOnly);
    let b = clock(asks(Resume::ReplayOnly), &ahead);
    let stranger = asks(Resume::ReplayOnly).keys(Keys::new(Secret::from([8; 32])));
    let (a, b) = (replica(&a, &shop).await, replica(&b, &shop).await);
    let stranger = replica(&stranger, &shop).await;
    let call = json!({"name": "words", "arguments": {}, "_meta": {"user": "ana"}});
    let round = a.once("tools/call", call.clone()).await.0["result"].clone();
    let mut retry = call.clone();
    retry["requestState"] = round["requestState"].clone();
    retry["inputResponses"] =
        json!({"question1": {"action": "accept", "content": {"confirmed": true}}});
    let changed = |path: &str, value: Value| {
        let mut changed = retry.clone();
        *changed.pointer_mut(path).unwrap() = value;
        changed
    };
    let state = round["requestState"].as_str().unwrap();
    let swapped = if state.as_bytes()[99] == b'A' {
        "B"
    } else {
        "A"
    };
    let tampered = format!("{}{swapped}{}", &state[..99], &state[100..]);
    let ran = shop.ran.load(Ordering::SeqCst);
    for (why, params) in [
        ("tampered", changed("/requestState", tampered.into())),
        (
            "cut",
            changed("/requestState", state[..state.len() - 4].into()),
        ),
        ("another principal", changed("/_meta/user", "eve".into())),
        ("another tool", changed("/name", "other".into())),
        ("other arguments", changed("/arguments", json!({"x": 1}))),
    ] {
        assert_eq!(
            b.once("tools/call", params).await.code(),
            Some(-32602),
            "{why}"
        );
    }
    let got = stranger.once("tools/call", retry.clone()).await;
    assert_eq!(got.code(), Some(-32602), "other keys");
    assert_eq!(
        asked(&b.once("tools/call", retry.clone()).await),
        ["Really?"]
    );
    ahead.store(700, Ordering::SeqCst);
    let got = b.once("tools/call", retry).await;
    assert_eq!(got.code(), Some(-32602), "expired");
    assert_eq!(
        got.text(),
        "this requestState is not valid for this request: make the call again without it"
    );
    assert_eq!(
        shop.ran.load(Ordering::SeqCst),
        ran,
        "no refused retry ran a tool"
    );
}

#[tokio::test]
async fn what_was_sealed_with_an_older_key_opens_until_it_is_gone() {
    let shop = Shop::default();
    let (old, new) = (Secret::from([7; 32]), Secret::from([9; 32]));
    let before = asks(Resume::ReplayOnly);
    let between = asks(Resume::ReplayOnly).keys(Keys::new(new.clone()).also(old));
    let after = asks(Resume::ReplayOnly).keys(Keys::new(new));
    let replicas = [
        replica(&before, &shop).await,
        replica(&between, &shop).await,
        replica(&after, &shop).await,
    ];
    let mut call = Turns::new(&replicas, "words");
    call.next(json!({})).await;
    let got = call.next(json!({"question1": {"confirmed": true}})).await;
    assert_eq!(asked(&got), ["Really?"], "{got:?}");
    let got = call.next(json!({"question2": {"confirmed": true}})).await;
    assert_eq!(got.text(), "3 true true");
}

#[tokio::test]
async fn tools_that_may_run_again_are_the_same_for_every_client() {
    for resume in [Resume::ReplayOnly, Resume::ParkThenReplay] {
        for store in [None, Some(Memory::default())] {
            for_every_client(|client| {
                let asks = match &store {
                    Some(store) => asks(resume).store(store.clone()),
                    None => asks(resume),
                };
                async move {
                    let person = Person::who(|heard| {
                        Said::Answer(match heard.message.as_str() {
                            "Sure?" => json!({"confirmed": true}),
                            "When, Ana?" => json!({"value": "2026-12-24"}),
                            _ => json!({"value": "Ana"}),
                        })
                    });
                    let server = asks.around(Shop::default());
                    let connected = client.connect(server, &person).await;
                    let got = connected.call("wizard", json!({})).await;
                    assert_eq!(
                        got.text(),
                        "Ana Ana true 2026-12-24",
                        "{client}, {resume:?}"
                    );
                }
            })
            .await;
        }
    }
}

/// Its call waits in one process: there is no state of it anywhere else.
#[tokio::test(start_paused = true)]
async fn a_question_to_a_model_runs_out_of_time_where_tools_may_run_again() {
    for resume in [Resume::ReplayOnly, Resume::ParkThenReplay] {
        let server = asks(resume).store(Memory::default());
        let server = server.around(Shop::default());
        let connected = Client::ModernModel.connect(server, &Person::quiet()).await;
        let call = json!({"name": "patient", "arguments": {}});
        let asked = connected.once("tools/call", call).await;
        let id = &asked.pending().unwrap()["elicitId"];
        tokio::time::sleep(Duration::from_secs(61)).await;
        let late = json!({"elicitId": id, "action": "accept", "content": {"value": "Ana"}});
        let late = json!({"name": "sendElicitationResult", "arguments": late});
        let got = connected.once("tools/call", late).await;
        assert_eq!(got.pending().unwrap()["message"], "Sure?", "{got:?}");
    }
}

/// A retry that is sent twice at once, to one process, runs the tool once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_retries_at_once_in_one_process_one_runs_and_both_hear_it() {
    for resume in [Resume::ReplayOnly, Resume::ParkThenReplay] {
        for _ in 0..20 {
            let shop = Shop::default();
            let a = replica(&asks(resume), &shop).await;
            let b = [replica(&asks(resume), &shop).await];
            let call = json!({"name": "wizard", "arguments": {}});
            let round = a.once("tools/call", call.clone()).await;
            let mut retry = call;
            retry["requestState"] = round.0["result"]["requestState"].clone();
            let answer = |name: &str| {
                let mut retry = retry.clone();
                retry["inputResponses"] =
                    json!({"question1": {"action": "accept", "content": {"value": name}}});
                retry
            };
            let (one, two) = tokio::join!(
                b[0].once("tools/call", answer("Ana")),
                b[0].once("tools/call", answer("Eve"))
            );
            let words = ["Which town?", "Sure?"];
            assert_eq!((asked(&one), asked(&two)), (words.into(), words.into()));
        }
    }
}
