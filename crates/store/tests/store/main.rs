//! The stores and the posts of this crate keep their promises.

mod memory;

use midcall_store::{Mailroom, Memory, contract};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_the_contract() {
    contract::holds(Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn memory_keeps_the_contract_in_paused_time() {
    contract::holds(Memory::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_mailroom_keeps_the_contract() {
    contract::delivers(Mailroom::default()).await;
}

#[tokio::test(start_paused = true)]
async fn the_mailroom_keeps_the_contract_in_paused_time() {
    contract::delivers(Mailroom::default()).await;
}
