//! Sockets: accepted, bounded in number, size of headers and time, and closed in good order.
//!
//! Who makes room when there are too many is decided in `places`.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::http::{Request, Response};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SetOnce};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::places::{Answering, Arrival, Place, Places, Taken};
use crate::awake::within;
use crate::times;

/// Connections at once, if this process may open as many files. Those beyond wait in the system's own
/// queue.
const MOST: usize = 8_192;
/// Files that are left for everything else.
const OTHER_FILES: usize = 128;
/// Bytes of a request's line and headers together.
const HEAD_BYTES: usize = 32 * 1024;
/// Headers of a request.
const HEADERS: usize = 64;
/// How long responses may take to get out once the server shuts down.
const GOODBYE: Duration = Duration::from_secs(5);

/// Serves until `closing` is cancelled, then lets what was begun come to its end.
pub async fn serve(listener: TcpListener, router: Router, closing: CancellationToken) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(times::BETWEEN_REQUESTS.get())
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS);
    let most = most();
    let room = Arc::new(Semaphore::new(most));
    let places = Arc::new(Places::new(most));
    let open = GracefulShutdown::new();
    let accepting = async {
        loop {
            let (stream, permit) = accept(&listener, &room, &places).await;
            let connection = Connection {
                taken: places.enter(),
                stream,
                http: http.clone(),
                router: TowerToHyperService::new(router.clone()),
                watcher: open.watcher(),
                closing: closing.clone(),
            };
            tokio::spawn(async move {
                connection.run().await;
                drop(permit);
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = places.tend() => {}
        () = closing.cancelled() => {}
    }
    drop(listener);
    if within(GOODBYE, open.shutdown()).await.is_err() {
        tracing::debug!("some clients did not take their last response in time");
    }
}

/// How many connections there may be.
fn most() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    files.saturating_sub(OTHER_FILES).clamp(1, MOST)
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
    places: &Places,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    if room.available_permits() == 0 {
        places.make_room();
    }
    let permit = room.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Events are small and should not wait for each other.
                let _ = stream.set_nodelay(true);
                return (stream, permit);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // Out of file handles: whoever goes leaves one.
                let pause = match has_no_files(&error) && places.make_room() {
                    true => Duration::from_millis(1),
                    false => Duration::from_millis(100),
                };
                sleep(pause).await;
            }
        }
    }
}

fn has_no_files(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::MFILE, Errno::NFILE]
        .iter()
        .any(|errno| code == Some(errno.raw_os_error()))
}

/// A socket, and what it takes to serve it.
struct Connection {
    taken: Taken,
    stream: TcpStream,
    http: http1::Builder,
    router: TowerToHyperService<Router>,
    watcher: Watcher,
    closing: CancellationToken,
}

impl Connection {
    /// Serves the connection until the client has gone, or has to go.
    async fn run(self) {
        let Self {
            taken,
            stream,
            http,
            router,
            watcher,
            closing,
        } = self;
        let place = &taken.0;
        let begun = Arc::new(SetOnce::new());
        let calls = Calls {
            router,
            place: place.clone(),
            begun: begun.clone(),
        };
        let served = async {
            // What it takes to read a request is made only for a client that sends something.
            let mut byte = [0];
            let first = tokio::select! {
                first = stream.peek(&mut byte) => first,
                () = closing.cancelled() => return,
            };
            if !matches!(first, Ok(1)) {
                return; // It has hung up.
            }
            place.speaks();
            let connection = http.serve_connection(TokioIo::new(stream), calls);
            // A client that hangs up or talks nonsense is its own business.
            let _ = watcher.watch(connection).await;
        };
        let is_late = async {
            if within(times::HEADERS.get(), begun.wait()).await.is_ok() {
                pending::<()>().await;
            }
        };
        tokio::select! {
            biased; // What has arrived is read before a client has to go.
            () = served => {}
            () = is_late => {}
            () = place.goes() => {}
        }
    }
}

/// The calls of one connection.
struct Calls {
    router: TowerToHyperService<Router>,
    place: Place,
    /// Set when the headers of the first request have arrived.
    begun: Arc<SetOnce<()>>,
}

impl Service<Request<Incoming>> for Calls {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let _ = self.begun.set(());
        let (answering, arrival) = self.place.answer();
        if request.body().is_end_stream() {
            arrival.complete();
        }
        request.extensions_mut().insert(self.place.clone());
        let answer = self
            .router
            .call(request.map(|body| Arriving { body, arrival }));
        Box::pin(async move {
            let response = answer.await?;
            Ok(response.map(|body| {
                Body::new(Leaving {
                    body,
                    _answering: answering,
                })
            }))
        })
    }
}

/// The body of a request, which tells when it has arrived whole.
struct Arriving {
    body: Incoming,
    arrival: Arrival,
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.arrival.complete();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response. Its request is answered when this has been sent.
struct Leaving {
    body: Body,
    _answering: Answering,
}

impl HttpBody for Leaving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
