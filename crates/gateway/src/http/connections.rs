//! Sockets: accepted, bounded in number, size of headers and time, and closed in good order.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::awake::within;
use crate::times;

/// Connections at once. Those beyond wait in the system's own queue.
const MOST: usize = 8_192;
/// Bytes of a request's line and headers together.
const HEAD_BYTES: usize = 32 * 1024;
/// Headers of a request.
const HEADERS: usize = 64;
/// How long responses may take to get out once the server shuts down.
const GOODBYE: Duration = Duration::from_secs(5);

/// Serves until `closing` is cancelled, then lets what was begun come to its end.
pub async fn serve(listener: TcpListener, router: Router, closing: CancellationToken) {
    let service = TowerToHyperService::new(router);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(times::HEADERS.get())
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS);
    let room = Arc::new(Semaphore::new(MOST));
    let open = GracefulShutdown::new();
    loop {
        let (stream, place) = tokio::select! {
            next = accept(&listener, &room) => next,
            () = closing.cancelled() => break,
        };
        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
        let connection = open.watch(connection);
        tokio::spawn(async move {
            // A client that hangs up or talks nonsense is its own business.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    if within(GOODBYE, open.shutdown()).await.is_err() {
        tracing::debug!("some clients did not take their last response in time");
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    let place = room.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Events are small and should not wait for each other.
                let _ = stream.set_nodelay(true);
                return (stream, place);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(Duration::from_millis(100)).await; // Out of file handles: some will close.
            }
        }
    }
}
