//! A tool at work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::model::{ClientRequest, ServerResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, Service};

/// What a handler makes of a request.
pub(crate) type Outcome = Result<ServerResult, ErrorData>;

/// A handler at work. If it panics that is an error like others: the client would wait for ever.
pub(crate) struct Running(Pin<Box<dyn Future<Output = Outcome> + Send>>);

impl Running {
    pub fn new<S: Service<RoleServer>>(
        handler: Arc<S>,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Self {
        // Boxed, or the future has room for both twice: as they are brought, and as they are taken.
        let brought = Box::new((request, context));
        Self(Box::pin(async move {
            let (request, context) = {
                let brought = brought; // Its box ends here.
                *brought
            };
            handler.handle_request(request, context).await
        }))
    }
}

impl Future for Running {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        // It is not polled again after a panic, so nobody sees what that left behind.
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context)));
        let failed = |_| ErrorData::internal_error("the server failed in this call", None);
        polled.unwrap_or_else(|panic| Poll::Ready(Err(failed(panic))))
    }
}
