//! A standard stream behind a thread of its own: whoever should read it may have stopped, and
//! then the rest goes on.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::unseen::terminal_line;

/// Lines on their way out. What there is no room for is left out.
#[derive(Clone)]
pub struct Printer(SyncSender<Order>);

enum Order {
    Print(Vec<u8>),
    /// Say when everything before it is out.
    Tell(SyncSender<()>),
}

/// How many lines may wait.
const LINES: usize = 4 * 1024;

/// How many characters of a server's line are printed.
const NOISE: usize = 4 * 1024;

/// How long the last ones may take to get out.
const LAST: Duration = Duration::from_secs(1);

impl Printer {
    /// A printer to a stream.
    pub fn start(to: impl Write + Send + 'static) -> Self {
        let (sender, orders) = sync_channel(LINES);
        thread::spawn(move || print(to, orders));
        Self(sender)
    }

    /// Prints a line; `false` if there is no room for it.
    pub fn print(&self, line: &[u8]) -> bool {
        let mut line = line.to_vec();
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        self.0.try_send(Order::Print(line)).is_ok()
    }

    /// Prints a line that a server wrote among its messages: as much as people read, and nothing that a terminal would
    /// obey. Returns `false` if there is no room for it.
    pub fn noise(&self, line: &[u8]) -> bool {
        self.print(terminal_line(line, NOISE).as_bytes())
    }

    /// Waits until everything is out, or nobody takes it.
    pub fn finish(&self) {
        let (done, finished) = sync_channel(1);
        if self.0.try_send(Order::Tell(done)).is_ok() {
            let _ = finished.recv_timeout(LAST);
        }
    }
}

fn print(mut to: impl Write, orders: Receiver<Order>) {
    for order in orders {
        match order {
            Order::Print(line) => {
                if to.write_all(&line).and_then(|()| to.flush()).is_err() {
                    return;
                }
            }
            Order::Tell(done) => {
                let _ = done.try_send(());
            }
        }
    }
}

/// A log's lines come whole.
impl Write for Printer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.print(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
