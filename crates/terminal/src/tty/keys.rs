//! Keys, read by a thread of their own while a prompt wants them.
//!
//! Not by crossterm's `EventStream`: dropping one leaves a wake-up behind, and a key that comes together with that is not
//! seen until the next one. Its reader also blocks in the middle of an escape sequence, which must not hold up the rest.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How often the thread looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// How long the end of the thread is waited for. It may be in the middle of a sequence that never ends.
const LONGEST: Duration = Duration::from_millis(200);

/// What is typed from now on, until this is dropped.
pub(super) struct Keys {
    events: UnboundedReceiver<io::Result<Event>>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Keys {
    /// Begins to read, after everything that was read before.
    pub fn listen() -> io::Result<Self> {
        while event::poll(Duration::ZERO)? {
            event::read()?;
        }
        let (sender, events) = unbounded_channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let is_ended = Arc::clone(&is_over);
        let thread = thread::spawn(move || read(&sender, &is_ended));
        Ok(Self {
            events,
            is_over,
            thread,
        })
    }

    /// What is typed next.
    pub async fn next(&mut self) -> io::Result<Event> {
        match self.events.recv().await {
            Some(event) => event,
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Drop for Keys {
    /// Waits until nothing is read anymore: what is typed next is somebody else's.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        let begun = Instant::now();
        while !self.thread.is_finished() && begun.elapsed() < LONGEST {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn read(to: &UnboundedSender<io::Result<Event>>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        let event = match event::poll(LOOK) {
            Ok(false) => continue,
            Ok(true) => event::read(),
            Err(error) => Err(error),
        };
        let is_error = event.is_err();
        if to.send(event).is_err() || is_error {
            return;
        }
    }
}
