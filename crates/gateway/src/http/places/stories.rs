//! Who stays and who goes, in memory and with paused time.

use super::*;
use futures_util::FutureExt;
use std::time::Duration;
use tokio::time::{advance, sleep};

const MOST: usize = 8_192;

fn crowd(places: &Arc<Places>, count: usize) -> Vec<Taken> {
    (0..count).map(|_| places.enter()).collect()
}

/// How many of them don't have to go.
fn stay(crowd: &[Taken]) -> usize {
    let goes = |one: &&Taken| has_to_go(&one.0);
    crowd.len() - crowd.iter().filter(goes).count()
}

fn has_to_go(place: &Place) -> bool {
    let all = place.places.lock();
    all.connections[&place.id].standing == Standing::Going
}

#[tokio::test(start_paused = true)]
async fn a_fresh_crowd_stays_for_a_moment_then_the_oldest_go() {
    let places = Arc::new(Places::new(MOST));
    let tended = places.clone();
    let tending = tokio::spawn(async move { tended.tend().await });
    let first = crowd(&places, WAITING_FRESH);
    assert_eq!(stay(&first), WAITING_FRESH);
    let second = crowd(&places, 1);
    assert_eq!(stay(&first), WAITING_FRESH - 1);
    assert!(has_to_go(&first[0].0), "the oldest");
    sleep(FRESH.get() + Duration::from_millis(10)).await;
    assert_eq!(stay(&first) + stay(&second), WAITING);
    assert_eq!(stay(&second), 1, "the youngest stays");
    let late = crowd(&places, 1);
    assert_eq!(stay(&first) + stay(&second), WAITING - 1, "one makes room");
    assert_eq!(stay(&second) + stay(&late), 2);
    drop((first, second, late));
    assert!(places.lock().waiting.is_empty());
    tending.abort();
}

#[tokio::test(start_paused = true)]
async fn who_is_served_or_known_stays_and_counts_no_more_as_waiting() {
    let places = Arc::new(Places::new(MOST));
    let (known, served, slow) = (places.enter(), places.enter(), places.enter());
    known.0.keep();
    let (answering, arrival) = served.0.answer();
    arrival.complete();
    let (_refused, late) = slow.0.answer();
    advance(FRESH.get()).await;
    let flood = crowd(&places, WAITING);
    assert!(has_to_go(&slow.0), "its body doesn't come");
    assert_eq!(stay(&flood), WAITING);
    assert!(!has_to_go(&known.0) && !has_to_go(&served.0));

    // It does come, in the last moment.
    late.complete();
    assert!(!has_to_go(&slow.0));
    assert!(slow.0.goes().now_or_never().is_none());

    drop(answering);
    arrival.complete(); // The body's rest came after the answer: nothing is served.
    assert_eq!(places.lock().served, 1, "the slow one");
    advance(FRESH.get()).await;
    let _more = crowd(&places, WAITING);
    assert!(has_to_go(&served.0), "it waits for its next request");
    assert!(!has_to_go(&known.0));
}

#[tokio::test(start_paused = true)]
async fn who_has_sent_half_a_request_is_not_fresh() {
    let places = Arc::new(Places::new(MOST));
    let half = places.enter();
    let fresh = crowd(&places, WAITING);
    assert!(!has_to_go(&half.0));
    half.0.speaks();
    assert!(has_to_go(&half.0));
    assert_eq!(stay(&fresh), WAITING);
    half.0.goes().await;
}

#[tokio::test]
async fn places_are_kept_for_those_with_a_key() {
    let places = Arc::new(Places::new(1_000));
    let taken = crowd(&places, 1_000 - KEPT - WAITING + 1);
    let mut answering = Vec::new();
    for one in &taken {
        assert!(!one.0.is_crowded());
        let (answer, arrival) = one.0.answer();
        arrival.complete();
        answering.push(answer);
    }
    assert!(taken[0].0.is_crowded());
    taken[0].0.keep();
    assert!(!taken[1].0.is_crowded());
    drop(answering);
    assert_eq!(places.lock().served, 0);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_may_open_few_files_serves_its_page_all_the_same() {
    for most in [1, 128, 448] {
        let places = Arc::new(Places::new(most));
        let one = places.enter();
        let (_answering, arrival) = one.0.answer();
        arrival.complete();
        assert!(!one.0.is_crowded(), "{most}");
    }
}
