//! A store whose replies take a while, so that something happens between asking and hearing.

use std::time::Duration;

use bytes::Bytes;
use midcall_server::midcall_core::Scope;
use midcall_store::{Changes, Key, Memory, Record, Store, StoreError, Version};
use tokio::task::yield_now;

/// The memory store, late.
#[derive(Clone, Default)]
pub struct Late(Memory);

async fn late<T>(reply: T) -> T {
    for _ in 0..3 {
        yield_now().await;
    }
    reply
}

impl Store for Late {
    async fn insert(
        &self,
        scope: &Scope,
        id: &str,
        bytes: Bytes,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        late(self.0.insert(scope, id, bytes, ttl).await).await
    }

    async fn replace(
        &self,
        key: &Key,
        version: Version,
        bytes: Bytes,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        late(self.0.replace(key, version, bytes, ttl).await).await
    }

    async fn take(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        late(self.0.take(key).await).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        late(self.0.get(key).await).await
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<Record>, StoreError> {
        late(self.0.list(scope).await).await
    }

    async fn changes(&self, scope: &Scope) -> Result<Changes, StoreError> {
        self.0.changes(scope).await
    }
}
