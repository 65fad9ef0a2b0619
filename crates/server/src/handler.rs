//! The layer as a handler, for transports that take nothing else.
//!
//! `rmcp`'s Streamable HTTP service wants a `ServerHandler`. What a question says goes through
//! `rmcp`'s own types then: keywords that those do not know (`pattern`, `examples`) stay behind,
//! and their words do not.

use std::borrow::Cow;

use midcall_core::wire::{self, member};
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, Service};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::layer::Layer;

/// A [`Layer`] that is a handler itself: [`Asks::handler`](crate::Asks::handler).
///
/// ```
/// use midcall_server::{Asks, Handler};
/// # #[derive(Clone)] struct Files;
/// # impl rmcp::ServerHandler for Files {}
///
/// // Whatever takes a `ServerHandler` takes this.
/// let handler: Handler<Files> = Asks::new().handler(Files);
/// ```
pub struct Handler<H>(Layer<H>);

impl<H: ServerHandler> Handler<H> {
    pub(crate) fn new(layer: Layer<H>) -> Self {
        Self(layer)
    }

    fn inner(&self) -> &H {
        self.0.inner()
    }
}

/// What the layer answers with, as the handler's own types say it.
fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|_| odd())
}

fn odd() -> ErrorData {
    ErrorData::internal_error(
        "the handler answered with what is no result of this request",
        None,
    )
}

fn is_round(value: &Value) -> bool {
    value[member::RESULT_TYPE] == wire::InputRequiredResult::RESULT_TYPE
}

/// Hands a request on to the handler itself, as it came.
macro_rules! handed_on {
    ($($name:ident($request:ty) -> $result:ty;)*) => {$(
        async fn $name(
            &self,
            request: $request,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            self.inner().$name(request, context).await
        }
    )*};
}

#[expect(
    deprecated,
    reason = "as of 2026-07-28, and still there for older clients"
)]
impl<H: ServerHandler> ServerHandler for Handler<H> {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
        Ok(match self.0.handle_request(request, context).await? {
            ServerResult::CallToolResult(result) => result.into(),
            ServerResult::InputRequiredResult(round) => round.into(),
            ServerResult::CreateTaskResult(task) => task.into(),
            ServerResult::CustomResult(CustomResult(value)) if is_round(&value) => {
                typed::<InputRequiredResult>(value)?.into()
            }
            ServerResult::CustomResult(CustomResult(value)) => {
                typed::<CallToolResult>(value)?.into()
            }
            _ => return Err(odd()),
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(request));
        Ok(match self.0.handle_request(request, context).await? {
            ServerResult::GetPromptResult(result) => result.into(),
            ServerResult::InputRequiredResult(round) => round.into(),
            ServerResult::CustomResult(CustomResult(value)) => {
                typed::<InputRequiredResult>(value)?.into()
            }
            _ => return Err(odd()),
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(request));
        Ok(match self.0.handle_request(request, context).await? {
            ServerResult::ReadResourceResult(result) => result.into(),
            ServerResult::InputRequiredResult(round) => round.into(),
            ServerResult::CustomResult(CustomResult(value)) => {
                typed::<InputRequiredResult>(value)?.into()
            }
            _ => return Err(odd()),
        })
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let request = ListToolsRequest {
            params: request,
            ..Default::default()
        };
        let request = ClientRequest::ListToolsRequest(request);
        match self.0.handle_request(request, context).await? {
            ServerResult::ListToolsResult(list) => Ok(list),
            _ => Err(odd()),
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.0.opens();
        self.inner().initialize(request, context).await
    }

    handed_on! {
        complete(CompleteRequestParams) -> CompleteResult;
        set_level(SetLevelRequestParams) -> ();
        list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult;
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult;
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        subscribe(SubscribeRequestParams) -> ();
        unsubscribe(UnsubscribeRequestParams) -> ();
        on_custom_request(CustomRequest) -> CustomResult;
        get_task(GetTaskParams) -> GetTaskResult;
        update_task(UpdateTaskParams) -> ();
        cancel_task(CancelTaskParams) -> ();
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.inner().ping(context).await
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.inner().discover(context).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.inner().accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner().listen(context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.inner().get_tool(name)
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.inner().on_cancelled(notification, context).await;
    }

    async fn on_progress(
        &self,
        notification: ProgressNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.inner().on_progress(notification, context).await;
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.inner().on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.inner().on_roots_list_changed(context).await;
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        self.inner()
            .on_custom_notification(notification, context)
            .await;
    }

    fn get_info(&self) -> ServerConfig {
        self.inner().get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(self.inner())
    }
}
