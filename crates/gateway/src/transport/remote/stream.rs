//! What one request brings, from its first byte to its last, however often the connection breaks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{HeaderMap, HeaderValue};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::answer::Open;
use super::body::{Broken, Load, beginning, whole};
use super::came::{Came, ENOUGH};
use super::events::{Events, line};
use super::target::Target;
use super::wire::{self, Refusal};
use crate::frame::{Frame, Id};
use crate::times::HEARS;

/// Which request something is about.
pub type Tag = u64;

/// What a request brings, told to whoever sent it.
pub struct Report {
    pub tag: Tag,
    pub news: News,
}

/// One thing it brings. There is room for so many messages only: a server is not read on while
/// nobody takes what it said.
pub enum News {
    /// It is taken; this is the session the server has it in.
    Taken(Option<HeaderValue>),
    /// The server said something; the message's place is free once it is dropped.
    Said(Frame, Place),
    /// It brings nothing more.
    Ended(Ending),
}

/// A place among what waits to be taken.
pub struct Place {
    _room: OwnedSemaphorePermit,
}

/// How it ended.
pub enum Ending {
    /// As it should.
    Well,
    /// The server did not take it.
    Refused(Refusal),
    /// The response is over, and a request that it had to answer isn't answered.
    Other(Came),
    /// What the server had to say was cut off.
    Broken {
        why: String,
        /// The response; none if there was none in time.
        came: Option<Came>,
    },
    /// What was cut off cannot be gone on with: the session is not known any more.
    Forgotten,
}

/// A request, or the stream that belongs to none.
pub struct Stream {
    pub tag: Tag,
    pub target: Target,
    pub headers: HeaderMap,
    /// The requests that it has to answer.
    pub wants: Vec<Id>,
    /// Whether what broke can be gone on with.
    pub resumes: bool,
    /// The longest message that is taken, in bytes.
    pub most: usize,
    /// How long to wait before it is sent.
    pub delay: Duration,
    pub told: Telling,
}

/// Where news are told.
#[derive(Clone)]
pub struct Telling {
    news: UnboundedSender<Report>,
    room: Arc<Semaphore>,
}

/// How many messages may wait to be taken.
const ROOM: usize = 16;

impl Telling {
    pub fn new(news: UnboundedSender<Report>) -> Self {
        let room = Arc::new(Semaphore::new(ROOM));
        Self { news, room }
    }

    pub fn tell(&self, tag: Tag, news: News) {
        let _ = self.news.send(Report { tag, news }); // Without a receiver nobody waits.
    }

    async fn say(&self, tag: Tag, frame: Frame) {
        let room = self.room.clone().acquire_owned().await;
        let place = Place {
            _room: room.expect("it is never closed"),
        };
        self.tell(tag, News::Said(frame, place));
    }
}

/// How long a server may keep a stream open that has brought its answer: a connection that is
/// read to its end can be used again.
const GRACE: Duration = Duration::from_secs(2);

/// How often a broken stream is gone on with in vain before it is given up.
const TRIES: u32 = 8;

/// How long is waited before the first try, unless the server says it, and at most.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(15);

/// Between what a server may say instead.
const SAID: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(300));

impl Stream {
    /// Sends a request and tells what it brings.
    pub async fn request(self, message: Bytes, load: Arc<Load>) {
        sleep(self.delay).await;
        let sent = wire::post(&self.target, &self.headers, message, load).await;
        let ending = match sent {
            Ok(response) => {
                let session = response.headers().get("mcp-session-id").cloned();
                self.told.tell(self.tag, News::Taken(session));
                self.read(response).await
            }
            Err(refusal) => Ending::Refused(refusal),
        };
        self.told.tell(self.tag, News::Ended(ending));
    }

    /// Listens to what belongs to no request, for as long as the server can be reached.
    pub async fn listen(self) {
        let connecting = self.connect(None, None);
        tokio::pin!(connecting);
        let connected = timeout(HEARS.get(), &mut connecting).await;
        self.told.tell(self.tag, News::Taken(None));
        let connected = match connected {
            Ok(connected) => connected,
            Err(_) => connecting.await,
        };
        let ending = match connected {
            Ok((events, came)) => self.events(events, came).await,
            Err(ending) => ending,
        };
        self.told.tell(self.tag, News::Ended(ending));
    }

    async fn read(&self, response: Response) -> Ending {
        let came = Came::new(&response);
        if came.is_events() {
            return self.events(Events::new(response, self.most), came).await;
        }
        if !came.is_json() {
            return match self.wants.is_empty() {
                true => Ending::Well, // It only had to be taken.
                false => Ending::Other(came.with(beginning(response, ENOUGH).await)),
            };
        }
        let body = match whole(response, self.most).await {
            Ok(body) => body,
            Err(broken) => return cut(broken, came),
        };
        let mut open = Open::new(&self.wants, came.with(body.clone()));
        self.take(line(body), &mut open).await;
        match open.is_answered() {
            true => Ending::Well,
            false => Ending::Other(open.came),
        }
    }

    /// Reads events, on as many connections as it takes. `came` is the head of the first.
    async fn events(&self, mut events: Events, came: Came) -> Ending {
        let mut open = Open::new(&self.wants, came);
        let mut last = None;
        let mut retry = None;
        loop {
            let why = loop {
                match events.next().await {
                    Ok(Some(event)) => {
                        retry = event.retry.or(retry);
                        if let Some(message) = event.message {
                            self.take(message, &mut open).await;
                        }
                        if let Some(id) = event.id {
                            last = HeaderValue::try_from(id).ok();
                        }
                        if self.wants.is_empty() || !open.is_over() {
                            continue;
                        }
                        if !open.is_answered() {
                            return Ending::Other(open.came);
                        }
                        let _ = timeout(GRACE, self.drain(&mut events)).await;
                        return Ending::Well;
                    }
                    Ok(None) => break "the connection was closed".to_owned(),
                    Err(broken @ Broken::Cut(_)) => break broken.to_string(),
                    Err(broken) => return cut(broken, open.came),
                }
            };
            // An answer that is not on its way any more will not come by another connection.
            if !self.resumes || (last.is_none() && !self.wants.is_empty()) {
                return match self.wants.is_empty() {
                    true => Ending::Well,
                    false => cut(why, open.came),
                };
            }
            sleep(pause(retry, 0)).await;
            events = match self.connect(last.as_ref(), retry).await {
                Ok((events, _)) => events,
                Err(Ending::Refused(refusal)) if refusal.forgot_session(None) => {
                    return Ending::Forgotten;
                }
                Err(_) => return cut(why, open.came),
            };
        }
    }

    /// Opens a stream that nothing is posted for, after what came last.
    async fn connect(
        &self,
        last: Option<&HeaderValue>,
        retry: Option<Duration>,
    ) -> Result<(Events, Came), Ending> {
        let mut headers = self.headers.clone();
        if let Some(last) = last {
            headers.insert("last-event-id", last.clone());
        }
        let mut failed = 0;
        loop {
            let refusal = match wire::get(&self.target, &headers).await {
                Ok(response) => {
                    let came = Came::new(&response);
                    return match came.is_events() {
                        true => Ok((Events::new(response, self.most), came)),
                        false => Err(Ending::Well), // It has nothing to tell.
                    };
                }
                Err(refusal) => refusal,
            };
            failed += 1;
            if !refusal.may_pass() || failed > TRIES {
                return Err(Ending::Refused(refusal));
            }
            sleep(pause(retry, failed)).await;
        }
    }

    /// Tells what a message says, if it is one.
    async fn take(&self, message: Frame, open: &mut Open) {
        if open.hear(&message) {
            self.told.say(self.tag, message).await;
        }
    }

    /// Reads what comes after the answer.
    async fn drain(&self, events: &mut Events) {
        while let Ok(Some(event)) = events.next().await {
            if let Some(message) = event.message {
                self.told.say(self.tag, message).await;
            }
        }
    }
}

fn cut(why: impl ToString, came: Came) -> Ending {
    Ending::Broken {
        why: why.to_string(),
        came: Some(came),
    }
}

/// How long to wait before a try: as long as the server says, and longer each time that was in
/// vain.
pub fn pause(said: Option<Duration>, failed: u32) -> Duration {
    let first = said.map_or(FIRST, |said| said.clamp(SAID.0, SAID.1));
    let later = first.saturating_mul(1 << failed.min(10));
    later.min(LONGEST.max(first))
}
