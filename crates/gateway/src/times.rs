//! How long Midcall waits where no flag says so, and how a test changes that.
//!
//! A test can't answer within 250 ms or keep a server quiet for exactly 10 s on a machine that is
//! busy. So in debug builds the environment variable `MIDCALL_TEST_TIMES` replaces these times:
//! `fastest_answer=5m,probe=5m`. Release builds don't read it.
//!
//! Not here: times that people set by a flag (`--hold`, `--timeout`).

use std::sync::LazyLock;
use std::time::Duration;

/// Declares times. Each is known to tests by its own name, in small letters.
macro_rules! times {
    ($($(#[$doc:meta])* $name:ident = $usual:expr;)*) => {
        $($(#[$doc])* pub static $name: Time = Time { name: stringify!($name), usual: $usual };)*

        static ALL: &[&Time] = &[$(&$name),*];
    };
}

times! {
    /// An answer that takes less time than this didn't come from a person who read the question.
    FASTEST_ANSWER = Duration::from_millis(250);

    /// How long a server may take to answer `server/discover` before Midcall sends `initialize`.
    PROBE = Duration::from_secs(10);

    /// How long a server may take to tell all of its tools where it matters what they say of themselves.
    LISTING = Duration::from_secs(10);

    /// After closing a server's input, Midcall waits this long for it to exit, then sends SIGTERM.
    SERVER_END = Duration::from_secs(3);

    /// After asking a server to end by a signal, Midcall waits this long for it to exit, then sends SIGKILL.
    SERVER_KILL = Duration::from_secs(3);

    /// How long a server's last words may take once it has ended: what it started may still hold its
    /// output. Also how long it may take to end once it says nothing more.
    LAST_WORDS = Duration::from_secs(1);

    /// How long a client may take to say something, where there is no server to answer it.
    FIRST_WORDS = Duration::from_secs(2);

    /// How long a server reached by HTTP may take over its last answers once the client has hung up, and a client of
    /// `demo` or `serve` to take them.
    HANG_UP = Duration::from_secs(3);

    /// How long an answer to a legacy client may take to be sent as JSON. After that it is a stream:
    /// the client wants to know early where to come back to.
    JSON = Duration::from_secs(1);

    /// How long an answer to a modern client may take to be sent as JSON. The client reads errors from the HTTP status,
    /// which a stream has sent before the error is known.
    JSON_MODERN = Duration::from_secs(5);

    /// When a gateway shuts down, it waits this long for its open calls to finish.
    DRAIN = Duration::from_secs(10);

    /// How long it may take until a server is connected by HTTP.
    CONNECT = Duration::from_secs(10);

    /// How long calls wait for the stream that a server's questions may come on: some servers say
    /// nothing before there is something to tell.
    HEARS = Duration::from_secs(1);

    /// How long a gateway may take over a call of another one: it is on this machine.
    NEIGHBOUR = Duration::from_secs(1);

    /// How long a browser may take to show the page, before it is opened again.
    TAB_COMES = Duration::from_secs(15);

    /// How long a tab that is open elsewhere may take to hear of a gateway.
    TAB_HEARS = Duration::from_secs(3);

    /// How long a browser may take to say that it can't open a page.
    NO_BROWSER = Duration::from_secs(3);

    /// How long `doctor` waits for an answer to `server/discover`, beside what the server took to
    /// start: many servers never answer what they don't know.
    DOCTOR_PROBE = Duration::from_secs(5);

    /// How long the demo's question about seats can be answered.
    HURRY = Duration::from_secs(40);

    /// When the demo's question about a meeting room is taken back.
    CHANGE_OF_MIND = Duration::from_secs(5);

    /// How long a client may take from connecting until it has sent the headers of its first request.
    HEADERS = Duration::from_secs(5);

    /// How long a client may take from one response until it has sent the headers of the next request. Most clients
    /// close a connection sooner by themselves, and a client that reuses it as Midcall closes it would fail.
    BETWEEN_REQUESTS = Duration::from_secs(30);

    /// How long a client that has just connected or just got a response keeps its connection although too many others
    /// are waiting, too: it may be about to send a request.
    FRESH = Duration::from_secs(1);

    /// While somebody thinks about a question, clients hear this often that their calls go on. Many of them give up after a
    /// minute, some after half of one.
    SIGN_OF_LIFE = Duration::from_secs(10);

    /// How long Midcall waits, after a person agreed to open a link that a call needs, before it makes the call again. The
    /// pauses after that get longer, up to fifteen times this.
    LINK_AGAIN = Duration::from_secs(1);

    /// How often a stream of events that nothing happens on is shown to be alive.
    KEEP_ALIVE = Duration::from_secs(15);

    /// When `doctor` is done with a server, it waits this long for the server to exit, before and after SIGTERM.
    DOCTOR_END = Duration::from_millis(700);
}

/// A time that a test can replace.
pub struct Time {
    name: &'static str,
    usual: Duration,
}

impl Time {
    /// The usual time, or what `MIDCALL_TEST_TIMES` says in a debug build.
    pub fn get(&self) -> Duration {
        if cfg!(debug_assertions) {
            let replaced = REPLACED.iter().find(|(name, _)| *name == self.name);
            return replaced.map_or(self.usual, |(_, time)| *time);
        }
        self.usual
    }
}

/// What `MIDCALL_TEST_TIMES` says. A test with a typing error must not pass by accident, so that panics.
static REPLACED: LazyLock<Vec<(&str, Duration)>> = LazyLock::new(|| {
    let text = std::env::var("MIDCALL_TEST_TIMES").unwrap_or_default();
    read(&text).unwrap_or_else(|wrong| panic!("MIDCALL_TEST_TIMES: {wrong}"))
});

fn read(text: &str) -> Result<Vec<(&'static str, Duration)>, String> {
    let entries = text.split(',').filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (name, time) = entry
                .split_once('=')
                .ok_or(format!("{entry} isn't name=time"))?;
            let known = ALL.iter().find(|known| known.name.to_lowercase() == name);
            let known = known.ok_or(format!("there is no time called {name}"))?;
            let time = crate::duration::read(time).map_err(|usage| format!("{name}: {usage}"))?;
            Ok((known.name, time))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_replaced_by_name() {
        assert_eq!(read(""), Ok(vec![]));
        let replaced = read("fastest_answer=5m,probe=0ms").unwrap();
        let five_minutes = Duration::from_secs(300);
        assert_eq!(
            replaced,
            [("FASTEST_ANSWER", five_minutes), ("PROBE", Duration::ZERO)]
        );
        for wrong in ["probe", "prob=1s", "probe=1", "probe=1s;fastest_answer=1s"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
