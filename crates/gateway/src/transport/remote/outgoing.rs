//! What is on its way to a server elsewhere, each message as a task of its own.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::body::{Load, Waiting, What};
use super::lane::{Item, Lane};
use super::stream::{Ending, News, Report, Stream, Tag, Telling};
use super::target::Target;
use crate::frame::{Frame, Id};

/// The tasks that carry messages to a server, and what they report.
pub struct Outgoing {
    pub target: Target,
    /// The longest message that is taken, in bytes.
    most: usize,
    telling: Telling,
    reports: UnboundedReceiver<Report>,
    tasks: JoinSet<()>,
    /// Where messages that want no answer queue.
    lane: Option<Lane>,
    waiting: Waiting,
    last_tag: Tag,
}

/// How a request can be stopped.
pub struct Sent {
    pub task: AbortHandle,
    /// Done once it has left.
    pub left: CancellationToken,
    pub at: Instant,
}

/// How many bytes may wait before the other side is read no more.
const FULL: usize = 256 * 1024;

/// How many bytes of answers may wait before the server that causes them is read no more.
const FLOODED: usize = 1024 * 1024;

impl Outgoing {
    pub fn new(target: Target, most: usize) -> Self {
        let (telling, reports) = unbounded_channel();
        Self {
            target,
            most,
            telling: Telling::new(telling),
            reports,
            tasks: JoinSet::new(),
            lane: None,
            waiting: Waiting::default(),
            last_tag: 0,
        }
    }

    /// True if enough waits to be sent.
    pub fn is_full(&self) -> bool {
        self.waiting.bytes() >= FULL
    }

    /// True if the server causes more of our answers than it takes.
    pub fn is_flooded(&self) -> bool {
        self.waiting.answers() >= FLOODED
    }

    /// What a task reports next, if somebody `hears`; none if less waits to be sent than before.
    pub async fn next(&mut self, hears: bool) -> Option<Report> {
        while self.tasks.try_join_next().is_some() {}
        tokio::select! {
            report = self.reports.recv(), if hears => report,
            () = self.waiting.less() => None,
        }
    }

    /// The stream of a new message.
    pub fn stream(&mut self, headers: HeaderMap, wants: Vec<Id>, resumes: bool) -> Stream {
        self.last_tag += 1;
        Stream {
            tag: self.last_tag,
            target: self.target.clone(),
            headers,
            wants,
            resumes,
            most: self.most,
            delay: Duration::ZERO,
            told: self.telling.clone(),
        }
    }

    /// Sends requests, and reads what they bring.
    pub fn request(&mut self, stream: Stream, message: Bytes) -> Sent {
        let load = self.hold(message.len());
        Sent {
            left: load.sent(),
            task: self.tasks.spawn(stream.request(message, load)),
            at: Instant::now(),
        }
    }

    /// Sends what wants no answer, after the messages before it, and after what has to be gone first.
    pub fn queue(
        &mut self,
        stream: Stream,
        frame: Frame,
        what: What,
        after: Option<CancellationToken>,
    ) {
        let load = self.waiting.add(frame.len(), what);
        let lane = self.lane.get_or_insert_with(Lane::new);
        lane.push(Item {
            stream,
            message: frame.into_bytes(),
            load,
            after,
        });
    }

    /// Reads the stream of what belongs to no request.
    pub fn listen(&mut self, stream: Stream) -> AbortHandle {
        self.tasks.spawn(stream.listen())
    }

    /// Counts a message among what waits, though it can't be sent yet.
    pub fn hold(&self, bytes: usize) -> Arc<Load> {
        self.waiting.add(bytes, What::Said)
    }

    /// Stops a task after a while, and reports that it ended.
    pub fn stop_after(&mut self, grace: Duration, tag: Tag, task: AbortHandle) {
        let telling = self.telling.clone();
        self.tasks.spawn(async move {
            sleep(grace).await;
            task.abort();
            telling.tell(tag, News::Ended(Ending::Well));
        });
    }

    /// Ends what waits for answers; what wants none may take so long to leave.
    pub async fn close(&mut self, within: Duration) {
        self.tasks.abort_all();
        if let Some(lane) = self.lane.take() {
            lane.close(within).await;
        }
    }
}
