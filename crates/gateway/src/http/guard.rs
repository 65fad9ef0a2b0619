//! What every request must show and every response carries.
//!
//! A page of another origin can make a browser send requests here, and a name of its own can
//! be made to point here (DNS rebinding). So `Host` must be ours, and `Origin`, which browsers
//! send with whatever could do harm, must match it. No response allows another origin anything,
//! but for the page of another gateway of the same person, once that has asked for it (`peers`).

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, CACHE_CONTROL, CONTENT_SECURITY_POLICY,
    HOST, HeaderName, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::auth::Keys;
use super::places::Place;
use super::refusal::Refusal;
use super::rest::read_whole;

/// The names this server goes by.
pub struct Guard {
    hosts: [String; 3],
    keys: Arc<Keys>,
}

/// Which page calls, as its browser says; where there is none, a page of our own could.
#[derive(Clone)]
pub struct Whence {
    pub origin: String,
    /// Whether it is a page of this server.
    pub is_ours: bool,
}

const HEADERS: [(HeaderName, &str); 8] = [
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self' http://127.0.0.1:*; font-src 'self'; base-uri 'none'; form-action 'none'; \
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

/// What browsers want to hear before a page of another origin may call.
const PREFLIGHT: [(HeaderName, &str); 3] = [
    (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
    (
        ACCESS_CONTROL_ALLOW_HEADERS,
        "authorization, content-type, last-event-id",
    ),
    (ACCESS_CONTROL_MAX_AGE, "600"),
];

/// Lets a request in or refuses it, and dresses the response.
pub async fn stand(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    // The route as it is written in the code: paths and queries can hold what people typed.
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut request = read_whole(request);
    let whence = guard
        .check(&request)
        .and_then(|whence| guard.stays(&request, whence));
    let guest = whence.as_ref().ok().and_then(Whence::guest);
    let mut response = match whence {
        Ok(whence) if !whence.is_ours && is_preflight(&request) => {
            (StatusCode::NO_CONTENT, PREFLIGHT).into_response()
        }
        Ok(whence) => {
            request.extensions_mut().insert(whence);
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    };
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    tracing::debug!(route, status = response.status().as_u16(), "answered");
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(guest) = guest.and_then(|guest| HeaderValue::from_str(&guest).ok()) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, guest);
    }
    response
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

impl Guard {
    pub fn new(port: u16, keys: Arc<Keys>) -> Self {
        let hosts = NAMES.map(|name| host(name, port));
        Self { hosts, keys }
    }

    /// The page of a gateway on this machine, if that is what an origin names.
    pub fn whence(&self, origin: &str) -> Option<Whence> {
        let named = origin.strip_prefix("http://")?;
        let port = match named.rsplit_once(':') {
            Some((_, port)) if !named.ends_with(']') => port.parse().ok()?,
            _ => 80,
        };
        let is_here = NAMES.iter().any(|name| host(name, port) == named);
        is_here.then(|| Whence {
            origin: origin.to_owned(),
            is_ours: self.is_ours(named),
        })
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours == host)
    }

    fn check(&self, request: &Request) -> Result<Whence, Refusal> {
        let headers = request.headers();
        let host = only(headers, &HOST).ok_or(Refusal::ForeignHost)?;
        let named = request.uri().authority();
        if !self.is_ours(host) || named.is_some_and(|named| named.as_str() != host) {
            return Err(Refusal::ForeignHost);
        }
        let own = Whence {
            origin: format!("http://{host}"),
            is_ours: true,
        };
        if !headers.contains_key(ORIGIN) {
            return Ok(own);
        }
        let origin = only(headers, &ORIGIN).ok_or(Refusal::ForeignOrigin)?;
        if origin == own.origin {
            return Ok(own);
        }
        self.whence(origin)
            .filter(|whence| !whence.is_ours && self.keys.admits(whence))
            .ok_or(Refusal::ForeignOrigin)
    }

    /// Keeps the connection of a request with a valid key. Where too many have none, the request is
    /// refused.
    fn stays(&self, request: &Request, whence: Whence) -> Result<Whence, Refusal> {
        let Some(place) = request.extensions().get::<Place>() else {
            return Ok(whence);
        };
        if self.keys.know(request.headers(), &whence) {
            place.keep();
        } else if place.is_crowded() {
            return Err(Refusal::TooManyStrangers);
        }
        Ok(whence)
    }
}

impl Whence {
    /// Its origin, if it is not ours.
    pub fn guest(&self) -> Option<String> {
        (!self.is_ours).then(|| self.origin.clone())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Whence {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        // Nothing gets past the guard without one.
        let whence = parts.extensions.get().cloned();
        whence.ok_or(Refusal::ForeignOrigin)
    }
}

/// The names of this machine.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// A name and a port, as browsers write them: they leave the port of plain HTTP out.
fn host(name: &str, port: u16) -> String {
    match port {
        80 => name.to_owned(),
        port => format!("{name}:{port}"),
    }
}

/// The origin of a page.
pub fn origin(address: SocketAddr) -> String {
    let name = match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    };
    format!("http://{}", host(&name, address.port()))
}

/// The value of a header that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok()
}
