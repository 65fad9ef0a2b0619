//! What every request must show and every response carries.
//!
//! A page of another origin can make a browser send requests here, and a name of its own can
//! be made to point here (DNS rebinding). So `Host` must be ours, and `Origin`, which browsers
//! send with whatever could do harm, must match it. No response allows another origin anything.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::refusal::Refusal;
use super::rest::read_whole;

/// The names this server goes by.
pub struct Guard {
    hosts: [String; 3],
}

const HEADERS: [(HeaderName, &str); 8] = [
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    (X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// Lets a request in or refuses it, and dresses the response.
pub async fn stand(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    // The route as it is written in the code: paths and queries can hold what people typed.
    let route = request.extensions().get::<MatchedPath>().cloned();
    let request = read_whole(request);
    let mut response = match guard.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    tracing::debug!(route, status = response.status().as_u16(), "answered");
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

impl Guard {
    pub fn new(port: u16) -> Self {
        // Browsers leave the port of plain HTTP out.
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| match port {
            80 => name.to_owned(),
            port => format!("{name}:{port}"),
        });
        Self { hosts }
    }

    fn check(&self, request: &Request) -> Result<(), Refusal> {
        let headers = request.headers();
        let host = only(headers, &HOST).ok_or(Refusal::ForeignHost)?;
        let named = request.uri().authority();
        let is_ours = self.hosts.iter().any(|ours| ours == host);
        if !is_ours || named.is_some_and(|named| named.as_str() != host) {
            return Err(Refusal::ForeignHost);
        }
        if headers.contains_key(ORIGIN) {
            only(headers, &ORIGIN)
                .and_then(|origin| origin.strip_prefix("http://"))
                .filter(|origin| *origin == host)
                .ok_or(Refusal::ForeignOrigin)?;
        }
        Ok(())
    }
}

/// The value of a header that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok()
}
