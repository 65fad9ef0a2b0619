//! Letters arrive, and every caller hears something.

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::{SOON, fresh, race};
use crate::{Letter, NodeId, Post, PostError};

pub(super) async fn arrive<P: Post>(post: &P) {
    a_letter_is_answered(post).await;
    replies_find_their_callers(post).await;
    nobody_lives_at_an_unknown_node(post).await;
    a_dropped_letter_is_told(post).await;
    a_node_lives_as_long_as_its_inbox(post).await;
    letters_left_in_a_dropped_inbox_are_told(post).await;
    a_new_inbox_replaces_the_old(post).await;
    any_body_fits(post).await;
}

async fn a_letter_is_answered<P: Post>(post: &P) {
    let node = node("answer");
    let mut inbox = post.inbox(&node).await.unwrap();
    let serve = async { next(&mut inbox).await.reply("pong".into()) };
    let (reply, ()) = tokio::join!(post.call(&node, "ping".into()), serve);
    assert_eq!(reply.unwrap(), "pong");
}

async fn replies_find_their_callers<P: Post>(post: &P) {
    const CALLS: usize = 500;
    let node = node("many");
    let mut inbox = post.inbox(&node).await.unwrap();
    let serve = async {
        let mut kept = Vec::new();
        for at in 0..CALLS {
            kept.push(next(&mut inbox).await);
            // The latest of each hundred is answered first.
            if at % 100 == 99 {
                for letter in kept.drain(..).rev() {
                    let body = letter.body.clone();
                    letter.reply(body);
                }
            }
        }
    };
    let calls = race(CALLS, |at| {
        let (post, node) = (post.clone(), node.clone());
        async move {
            let reply = post.call(&node, at.to_string().into()).await;
            assert_eq!(reply.unwrap(), at.to_string());
        }
    });
    tokio::join!(calls, serve);
}

async fn nobody_lives_at_an_unknown_node<P: Post>(post: &P) {
    let node = node("unknown");
    assert!(!post.alive(&node).await.unwrap());
    assert_gone(post, &node).await;
}

async fn a_dropped_letter_is_told<P: Post>(post: &P) {
    let node = node("dropped");
    let mut inbox = post.inbox(&node).await.unwrap();
    tokio::join!(assert_gone(post, &node), async {
        drop(next(&mut inbox).await);
    });
    assert!(post.alive(&node).await.unwrap(), "the node itself lives on");
}

async fn a_node_lives_as_long_as_its_inbox<P: Post>(post: &P) {
    let node = node("life");
    let inbox = post.inbox(&node).await.unwrap();
    assert!(post.alive(&node).await.unwrap());
    drop(inbox);
    until_dead(post, &node).await;
    assert_gone(post, &node).await;
    let _inbox = post.inbox(&node).await.unwrap();
    assert!(post.alive(&node).await.unwrap(), "it may come back");
}

async fn letters_left_in_a_dropped_inbox_are_told<P: Post>(post: &P) {
    let node = node("left");
    let mut inbox = post.inbox(&node).await.unwrap();
    let calls = async { tokio::join!(assert_gone(post, &node), assert_gone(post, &node)) };
    tokio::join!(calls, async {
        let letter = next(&mut inbox).await;
        drop((letter, inbox));
    });
}

async fn a_new_inbox_replaces_the_old<P: Post>(post: &P) {
    let node = node("replaced");
    let mut old = post.inbox(&node).await.unwrap();
    let mut new = post.inbox(&node).await.unwrap();
    let serve = async { next(&mut new).await.reply("new".into()) };
    let (reply, ()) = tokio::join!(post.call(&node, "who?".into()), serve);
    assert_eq!(reply.unwrap(), "new");
    let ended = timeout(SOON, old.recv()).await;
    assert!(ended.expect("the old inbox ends soon").is_none());
    drop(old);
    assert!(post.alive(&node).await.unwrap(), "the new inbox stays");
}

async fn any_body_fits<P: Post>(post: &P) {
    let node = node("size");
    let mut inbox = post.inbox(&node).await.unwrap();
    let every: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    for body in [vec![], vec![0], every] {
        let body = Bytes::from(body);
        let serve = async {
            let letter = next(&mut inbox).await;
            let body = letter.body.clone();
            letter.reply(body);
        };
        let (reply, ()) = tokio::join!(post.call(&node, body.clone()), serve);
        assert!(reply.unwrap() == body, "{} bytes come back", body.len());
    }
}

fn node(case: &str) -> NodeId {
    NodeId(fresh(case))
}

async fn next(inbox: &mut mpsc::Receiver<Letter>) -> Letter {
    let letter = timeout(SOON, inbox.recv()).await;
    letter
        .expect("letters come soon")
        .expect("the inbox is open")
}

async fn assert_gone<P: Post>(post: &P, node: &NodeId) {
    let reply = timeout(SOON, post.call(node, "anyone?".into())).await;
    let reply = reply.expect("a caller hears soon that nobody answers");
    assert_eq!(reply, Err(PostError::Gone(node.clone())));
}

async fn until_dead<P: Post>(post: &P, node: &NodeId) {
    let dead = async {
        while post.alive(node).await.unwrap() {
            sleep(SOON / 1_000).await;
        }
    };
    timeout(SOON, dead)
        .await
        .expect("a node without an inbox dies soon");
}
