//! The list of tools, which is not the same for every client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use midcall_server::testing::{Client, Person, for_every_client};
use midcall_server::{Ask, Asks, WithAsks};
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams,
    Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

/// Lists a tool by hand, and fails at that so many times first.
#[derive(Clone, Default)]
struct Listing {
    fails: Arc<AtomicUsize>,
    says_nothing: bool,
}

impl ServerHandler for Listing {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let fails = |left: usize| left.checked_sub(1);
        let failed = self
            .fails
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails);
        if failed.is_ok() {
            return Err(ErrorData::internal_error("not now", None));
        }
        let harmless = ToolAnnotations::new().destructive(false);
        let tool = Tool::new("publish", "Asks first", Arc::default()).annotate(harmless);
        let list = ListToolsResult::with_all_items(vec![tool]);
        Ok(match self.says_nothing {
            true => list,
            false => list
                .with_ttl_ms(60_000)
                .with_cache_scope(CacheScope::Public),
        })
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = Ask::of(&context).confirm("Publish?").await;
        let told = answer.map(|answer| answer.agreed().to_string());
        told.into_call_tool_result()
    }
}

#[tokio::test]
async fn a_list_that_differs_by_client_is_nobody_elses() {
    for_every_client(|client| async move {
        for says_nothing in [false, true] {
            let listing = Listing {
                says_nothing,
                ..Listing::default()
            };
            let connected = client.connect(listing.with_asks(), &Person::quiet()).await;
            let got = connected.once("tools/list", json!({})).await;
            let list = &got.0["result"];
            let said = (list.get("cacheScope"), list.get("ttlMs"));
            // Only this revision has words for it, and must use them.
            let expected = client.is_modern().then(|| (json!("private"), json!(0)));
            let expected = expected.as_ref().map(|(scope, ttl)| (scope, ttl)).unzip();
            assert_eq!(said, expected, "{client}: {list}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_list_that_is_the_same_for_all_is_cached_as_its_handler_says() {
    for client in [Client::V2026_07_28, Client::ModernModel] {
        let asks = Asks::new().without_model();
        let connected = client
            .connect(asks.around(Listing::default()), &Person::quiet())
            .await;
        let got = connected.once("tools/list", json!({})).await;
        let list = &got.0["result"];
        assert_eq!(
            (&list["cacheScope"], &list["ttlMs"]),
            (&json!("public"), &json!(60_000))
        );
    }
}

#[tokio::test]
async fn a_list_that_failed_once_is_asked_for_again() {
    let listing = Listing::default();
    listing.fails.store(1, Ordering::SeqCst);
    let person = Person::answers(json!({"confirmed": true}));
    let connected = Client::Model.connect(listing.with_asks(), &person).await;
    let unknown = connected.call("publish", json!({})).await;
    assert!(unknown.is_error(), "it may destroy something: {unknown:?}");
    assert_eq!(connected.call("publish", json!({})).await.text(), "true");
}
