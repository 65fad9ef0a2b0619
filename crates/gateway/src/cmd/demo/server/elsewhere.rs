//! The page that the server's link leads to: it stands for a sign-in, and knows nothing of the
//! person but the id in its address.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use axum::routing::post;
use axum::{Extension, Router};
use midcall_desk::{Desk, Rules};
use midcall_store::{Mailroom, Memory};
use tokio::sync::{OnceCell, oneshot};
use tokio_util::sync::CancellationToken;

use crate::http::{Bounds, Name, Refusal, Server};
use crate::local::Site;

/// A page on this machine, served from the first link on.
#[derive(Clone, Default)]
pub struct Elsewhere {
    address: Arc<OnceCell<String>>,
    expected: Expected,
}

/// The links that somebody waits for, by their ids.
type Expected = Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>;

impl Elsewhere {
    /// Where the page is.
    pub async fn page(&self) -> anyhow::Result<&str> {
        let open = async || {
            let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let server = Server::bind(any, Bounds::default()).await?;
            let address = server.door().origin();
            // It has a desk like every page of ours, and nobody is asked there.
            let desk = Desk::open(Memory::default(), Mailroom::default(), Rules::default()).await?;
            let calls = Router::new()
                .route("/demo/elsewhere/{id}", post(finish))
                .layer(Extension(self.expected.clone()));
            let home = "page/elsewhere.html";
            tokio::spawn(server.serve(desk, Site { home, calls }, CancellationToken::new()));
            anyhow::Ok(address)
        };
        self.address.get_or_try_init(open).await.map(String::as_str)
    }

    /// Waits until the person who came with this id is done there.
    pub fn expect(&self, id: &str) -> impl Future<Output = ()> + use<> {
        let (done, waiting) = oneshot::channel();
        let mut expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        expected.retain(|_, done| !done.is_closed());
        expected.insert(id.to_owned(), done);
        async move {
            let _ = waiting.await; // It is never dropped without being sent: it would be closed.
        }
    }
}

/// `POST /demo/elsewhere/{id}`: the person is done. The id is all that their page knows, and good
/// for nothing else, so no bearer is asked for.
async fn finish(
    Extension(expected): Extension<Expected>,
    Name(id): Name,
) -> Result<StatusCode, Refusal> {
    let mut expected = expected.lock().unwrap_or_else(PoisonError::into_inner);
    let done = expected.remove(&id).ok_or(Refusal::NotFound)?;
    done.send(()).map_err(|()| Refusal::NotFound)?;
    Ok(StatusCode::NO_CONTENT)
}
