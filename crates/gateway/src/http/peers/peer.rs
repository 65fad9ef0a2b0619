//! Another gateway of the same person, as this process calls it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST};
use axum::http::{HeaderValue, Request, StatusCode};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use super::Standing;
use super::calls::{Admitted, Hello, Status};
use crate::awake::within;
use crate::times::NEIGHBOUR;

/// Where it is, and the key that it left for others like it. No `Debug`: it holds that key.
#[derive(Clone)]
pub struct Peer {
    /// The number of its process.
    pub pid: u32,
    /// The origin of its page.
    pub page: String,
    address: SocketAddr,
    key: HeaderValue,
}

/// Why a gateway said nothing of use.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// It takes no call, or takes too long over it.
    #[error("the gateway cannot be reached")]
    Unreachable,
    /// It has other words than we have.
    #[error("the gateway answered {0}")]
    Refused(StatusCode),
}

/// Bytes of what it says: some thousands of questions may wait there.
const MOST_BYTES: usize = 4 * 1024 * 1024;

impl Peer {
    /// The gateway with this page, unless that is on another machine.
    pub fn new(pid: u32, page: String, key: String) -> Option<Self> {
        let address: SocketAddr = page.strip_prefix("http://")?.parse().ok()?;
        let ours = [
            IpAddr::from(Ipv4Addr::LOCALHOST),
            Ipv6Addr::LOCALHOST.into(),
        ];
        let mut key = HeaderValue::try_from(format!("Bearer {key}")).ok()?;
        key.set_sensitive(true);
        ours.contains(&address.ip()).then_some(Self {
            pid,
            page,
            address,
            key,
        })
    }

    /// Whether a page of another origin may call it: policies can name no other address.
    pub fn can_be_gathered(&self) -> bool {
        self.address.is_ipv4()
    }

    /// Tells it that somebody is here, and hears whether a person has a page open there.
    pub async fn hello(&self) -> Result<Standing, PeerError> {
        let Hello { page } = self.call("/peers/hello", json!({})).await?;
        Ok(page)
    }

    /// A launch token for a page of that origin.
    pub async fn admit(&self, origin: &str) -> Result<String, PeerError> {
        let told = self.call("/peers/admit", json!({"origin": origin})).await;
        told.map(|Admitted { token }| token)
    }

    /// Its servers, and what waits there.
    pub async fn status(&self) -> Result<Status, PeerError> {
        self.call("/peers/status", json!({})).await
    }

    async fn call<T: DeserializeOwned>(&self, path: &str, body: Value) -> Result<T, PeerError> {
        let answered = within(NEIGHBOUR.get(), self.post(path, body)).await;
        let (status, text) = answered
            .map_err(|_| PeerError::Unreachable)?
            .ok_or(PeerError::Unreachable)?;
        serde_json::from_slice(&text)
            .ok()
            .filter(|_| status == StatusCode::OK)
            .ok_or(PeerError::Refused(status))
    }

    async fn post(&self, path: &str, body: Value) -> Option<(StatusCode, bytes::Bytes)> {
        let stream = TcpStream::connect(self.address).await.ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
        let request = Request::post(path)
            .header(HOST, self.page.strip_prefix("http://")?)
            .header(AUTHORIZATION, &self.key)
            .header(CONTENT_TYPE, "application/json")
            .header(CONNECTION, "close")
            .body(Body::from(body.to_string()))
            .ok()?;
        let response = sender.send_request(request).await.ok()?;
        let status = response.status();
        let text = to_bytes(Body::new(response.into_body()), MOST_BYTES).await;
        Some((status, text.ok()?))
    }
}
