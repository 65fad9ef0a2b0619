//! An ordinary message, which others are measured by.

use std::time::Instant;

use bytes::Bytes;

use crate::MEMORY;
use crate::side::{Seconds, median};

const ROUNDS: usize = 5;

/// How long a round lasts, in seconds. What takes longer is done once in it.
const ROUND: f64 = 0.02;

/// What is done with messages, and what that costs for an ordinary one.
pub struct Ordinary<W> {
    name: &'static str,
    work: W,
    bytes: usize,
    seconds: f64,
}

impl<W: Fn(&Bytes) -> bool> Ordinary<W> {
    /// Measures an ordinary message. `work` says whether it is taken.
    pub fn new(name: &'static str, message: Bytes, work: W) -> Self {
        let seconds = time(|| work(&message)).seconds();
        println!(
            "hostile, {name}: {} for {} bytes",
            Seconds::new(seconds),
            message.len()
        );
        Self {
            name,
            work,
            bytes: message.len(),
            seconds,
        }
    }

    /// Prints what another message costs: in all, by byte, and in memory beside itself.
    pub fn beside(&self, name: &str, message: Bytes) {
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let verdict = if (self.work)(&message) {
            "taken"
        } else {
            "refused"
        };
        let peak = MEMORY.peak_usage().saturating_sub(before);
        let taken = time(|| (self.work)(&message));
        let ratio = taken.seconds() / self.seconds;
        let size = message.len() as f64 / self.bytes as f64;
        println!(
            "hostile, {name}: {taken} ({verdict}), {ratio:.1} × {}, {:.2} × by byte, peak {:.1} kB",
            self.name,
            ratio / size,
            peak as f64 / 1e3
        );
    }
}

/// How long some work takes, in the middle of several rounds.
pub fn time<T>(mut work: impl FnMut() -> T) -> Seconds {
    let once = {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let times = (ROUND / once.max(1e-9)).clamp(1.0, 1e5) as u32;
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..times {
                std::hint::black_box(work());
            }
            start.elapsed().as_secs_f64() / f64::from(times)
        })
        .collect();
    median(&mut rounds)
}
