//! The desk in memory: how fast tickets come and go, how much they weigh, how punctual it is.

use std::time::{Duration, Instant};

use midcall_core::{Asker, Elicitation, Limits, Scope, Values};
use midcall_desk::{By, Desk, News, Outcome, Route, Rules, Submission};
use midcall_store::{Mailroom, Memory};
use tokio::runtime::Builder;

use crate::MEMORY;
use crate::side::median;

type MemoryDesk = Desk<Memory, Mailroom>;

const BY: By = By {
    route: Route::Page,
    human: true,
};

pub fn run() {
    // One core: what is measured is the desk, not the machine.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    runtime.block_on(ask_and_settle());
    runtime.block_on(weigh());
    runtime.block_on(expire());
    runtime.block_on(news());
}

async fn open() -> MemoryDesk {
    let mut rules = Rules::default();
    rules.open_per_user = usize::MAX;
    rules.open_per_server = usize::MAX;
    rules.asks_per_minute = u32::MAX;
    let desk = Desk::open(Memory::default(), Mailroom::default(), rules).await;
    desk.expect("a desk in memory opens")
}

fn question() -> Elicitation {
    let params = r#"{"message": "Delete 3 files?", "requestedSchema": {"type": "object",
        "properties": {"sure": {"type": "boolean", "title": "Yes, delete them"}}, "required": ["sure"]}}"#;
    let question = Elicitation::read(params, Asker::named("files"), &Limits::default());
    question.expect("the question can be asked")
}

fn yes() -> Submission {
    let typed = Values::read(r#"{"sure": true}"#, &Limits::default());
    Submission::Accept(typed.expect("it is an object"))
}

async fn ask_and_settle() {
    const TURNS: usize = 9;
    const TIMES: u32 = 50_000;
    let desk = open().await;
    let (scope, question, yes) = (Scope::user("ana"), question(), yes());
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let start = Instant::now();
        for _ in 0..TIMES {
            let ticket = desk
                .ask(&scope, &question, None)
                .await
                .expect("there is room");
            let settled = desk.settle(&scope, ticket.id(), yes.clone(), BY).await;
            settled.expect("it fits");
            assert!(matches!(ticket.await, Outcome::Answered(..)));
        }
        turns.push(start.elapsed().as_secs_f64() / f64::from(TIMES));
    }
    let each = median(&mut turns);
    println!(
        "desk, ask and settle: ours {each}, {:.0} a second (budget ≥ 200,000)",
        1.0 / each.seconds()
    );
}

async fn weigh() {
    const TICKETS: usize = 1_000_000;
    let desk = open().await;
    let (scope, question) = (Scope::user("ana"), question());
    let before = MEMORY.current_usage();
    let mut tickets = Vec::with_capacity(TICKETS);
    for _ in 0..TICKETS {
        tickets.push(
            desk.ask(&scope, &question, None)
                .await
                .expect("there is room"),
        );
    }
    let used = MEMORY.current_usage() - before;
    println!(
        "desk, 1,000,000 open tickets: ours {:.0} MB, {} bytes each (budget ≤ 1 GB)",
        used as f64 / 1e6,
        used / TICKETS
    );
    // With so many open, one more costs what it always costs.
    let start = Instant::now();
    const MORE: u32 = 10_000;
    for _ in 0..MORE {
        let ticket = desk
            .ask(&scope, &question, None)
            .await
            .expect("there is room");
        let settled = desk.settle(&scope, ticket.id(), yes(), BY).await;
        settled.expect("it fits");
    }
    println!(
        "desk, ask and settle beside 1,000,000 open: ours {:.3} µs (budget: as alone)",
        start.elapsed().as_secs_f64() * 1e6 / f64::from(MORE)
    );
}

async fn expire() {
    const TICKETS: u64 = 100_000;
    let desk = open().await;
    let (scope, question) = (Scope::user("ana"), question());
    let mut waiting = Vec::new();
    let start = Instant::now();
    for n in 0..TICKETS {
        // Spread over two seconds, after all of them are asked.
        let patience = Duration::from_secs(3) + Duration::from_micros(n * 20);
        let due = Instant::now() + patience;
        let ticket = desk.ask(&scope, &question, Some(patience)).await;
        let ticket = ticket.expect("there is room");
        waiting.push(tokio::spawn(async move {
            assert_eq!(ticket.await, Outcome::TimedOut);
            Instant::now().saturating_duration_since(due).as_secs_f64()
        }));
    }
    let asking = start.elapsed();
    let mut lags = Vec::new();
    for lag in waiting {
        lags.push(lag.await.expect("it ends"));
    }
    let worst = lags.iter().copied().fold(0.0, f64::max);
    println!(
        "desk, expiry of 100,000 deadlines: ours median {}, worst {:.1} ms, asked in {:.1} s (budget ≤ 50 ms)",
        median(&mut lags),
        worst * 1e3,
        asking.as_secs_f64()
    );
}

async fn news() {
    const WATCHERS: usize = 1_000;
    const ROUNDS: usize = 15;
    let desk = open().await;
    let scope = Scope::user("ana");
    let (heard, mut hearing) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..WATCHERS {
        let mut watch = desk.watch(&scope).await.expect("there is room");
        let heard = heard.clone();
        tokio::spawn(async move {
            while let Ok(news) = watch.next().await {
                if let News::Closed { .. } = news {
                    let _ = heard.send(Instant::now());
                }
            }
        });
    }
    let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let ticket = desk
            .ask(&scope, &question(), None)
            .await
            .expect("there is room");
        tokio::time::sleep(Duration::from_millis(50)).await;
        let start = Instant::now();
        let settled = desk.settle(&scope, ticket.id(), yes(), BY).await;
        settled.expect("it fits");
        let mut times = Vec::new();
        for _ in 0..WATCHERS {
            let at = hearing.recv().await.expect("watchers live");
            times.push(at.duration_since(start).as_secs_f64());
        }
        firsts.push(times.iter().copied().fold(f64::MAX, f64::min));
        lasts.push(times.iter().copied().fold(0.0, f64::max));
    }
    println!(
        "desk, from settle to event with 1,000 watchers: ours first {}, last {}",
        median(&mut firsts),
        median(&mut lasts)
    );
}
