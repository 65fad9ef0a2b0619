//! One HTTP request and the head of its response.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Body, Method, Response, StatusCode, Url};
use tokio::time::sleep;

use super::body::{Load, Parcel, beginning};
use super::came::Came;
use super::target::{Target, chain, place};

/// Why there is no response that could be read.
pub enum Refusal {
    /// The server was not reached: it knows nothing of the request.
    Unreached(String),
    /// It hung up without a word.
    HungUp(String),
    /// It sends us somewhere else.
    Moved(String),
    /// It does not take the request.
    Status {
        /// What it says to that; not all of it, if it is long.
        came: Came,
        /// What it wants to see, if it wants to see something.
        challenge: Option<String>,
    },
}

/// How often a server that does not take connections is tried again, and after how long: it may
/// be starting.
const AGAIN: [Duration; 3] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_millis(1_000),
];

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// How much of a refusal is read.
const WORDS: usize = 64 * 1024;

/// Sends a message.
pub async fn post(
    target: &Target,
    headers: &HeaderMap,
    message: Bytes,
    load: Arc<Load>,
) -> Result<Response, Refusal> {
    let mut headers = headers.clone();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    let body = || {
        let (bytes, load) = (Some(message.clone()), load.clone());
        Some(Body::wrap(Parcel { bytes, load }))
    };
    request(target, Method::POST, headers, body).await
}

/// Opens a stream, or goes on with one.
pub async fn get(target: &Target, headers: &HeaderMap) -> Result<Response, Refusal> {
    let mut headers = headers.clone();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    request(target, Method::GET, headers, || None).await
}

/// Ends a session.
pub async fn delete(target: &Target, headers: &HeaderMap) -> Result<Response, Refusal> {
    request(target, Method::DELETE, headers.clone(), || None).await
}

async fn request(
    target: &Target,
    method: Method,
    headers: HeaderMap,
    body: impl Fn() -> Option<Body>,
) -> Result<Response, Refusal> {
    let client = target.client().map_err(Refusal::Unreached)?;
    let mut url = target.url().clone();
    let mut tries = AGAIN.iter();
    let mut redirects = 0;
    loop {
        let mut request = client.request(method.clone(), url.clone());
        request = request.headers(target.headers().clone());
        request = request.headers(headers.clone());
        if let Some(body) = body() {
            request = request.body(body);
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(error)
                if is_not_there(&error)
                    && let Some(time) = tries.next() =>
            {
                sleep(*time).await;
                continue;
            }
            Err(error) if error.is_connect() => return Err(Refusal::Unreached(chain(&error))),
            Err(error) => return Err(Refusal::HungUp(chain(&error))),
        };
        if response.status().is_redirection() && response.headers().contains_key(LOCATION) {
            redirects += 1;
            url = follow(&url, &method, &response, redirects)?;
        } else if response.status().is_success() {
            return Ok(response);
        } else {
            return Err(refused(response).await);
        }
    }
}

/// Where a redirect leads: on the same origin only, or what a person gave for this server would
/// be told to another one.
fn follow(from: &Url, method: &Method, response: &Response, count: usize) -> Result<Url, Refusal> {
    let location = response.headers().get(LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    let to = location.and_then(|location| from.join(location).ok());
    let Some(to) = to else {
        return Err(Refusal::Moved("a place that is no address".to_owned()));
    };
    // The other kinds would turn a message into a question for a page.
    let keeps = method == Method::GET
        || matches!(
            response.status(),
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
    if to.origin() != from.origin() || !keeps || count > REDIRECTS {
        return Err(Refusal::Moved(place(&to)));
    }
    Ok(to)
}

async fn refused(response: Response) -> Refusal {
    let challenges = response.headers().get_all(WWW_AUTHENTICATE);
    let challenges: Vec<&str> = challenges
        .iter()
        .filter_map(|challenge| challenge.to_str().ok())
        .collect();
    let challenge = (!challenges.is_empty()).then(|| challenges.join(", "));
    let came = Came::new(&response);
    let came = came.with(beginning(response, WORDS).await);
    Refusal::Status { came, challenge }
}

/// Whether nobody takes connections: then nothing was sent, and it may be sent again.
fn is_not_there(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = error.is_connect().then_some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>()
            && error.kind() == io::ErrorKind::ConnectionRefused
        {
            return true;
        }
        next = error.source();
    }
    false
}
