//! Taking turns: ours, peer, ours, peer, so that a slow minute of the machine hits all alike.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
const TURN: Duration = Duration::from_millis(20);

/// AJV compiles schemas 2.5 times faster after a thousand of them than after the first few:
/// a cold peer would flatter ours.
const WARM_UP: Duration = Duration::from_secs(2);

/// One of those who are compared.
pub struct Side<'a> {
    name: &'static str,
    run: Box<dyn FnMut(u64) -> Duration + 'a>,
    times: u64,
    turns: Vec<f64>,
}

impl<'a> Side<'a> {
    /// `run` does the work so many times and says how long that took.
    pub fn new(name: &'static str, run: impl FnMut(u64) -> Duration + 'a) -> Self {
        Self {
            name,
            run: Box::new(run),
            times: 1,
            turns: Vec::new(),
        }
    }

    /// Work in this process, timed here.
    pub fn here<T>(name: &'static str, mut work: impl FnMut() -> T + 'a) -> Self {
        Self::new(name, move |times| {
            let start = Instant::now();
            for _ in 0..times {
                black_box(work());
            }
            start.elapsed()
        })
    }

    /// Works until caches and compilers are warm, and finds how often the work fits a turn.
    fn warm_up(&mut self) {
        let start = Instant::now();
        loop {
            if (self.run)(self.times) < TURN {
                self.times *= 2;
            } else if start.elapsed() >= WARM_UP {
                return;
            }
        }
    }

    fn take_turn(&mut self) {
        let taken = (self.run)(self.times);
        self.turns.push(taken.as_secs_f64() / self.times as f64);
    }

    fn median(&mut self) -> Seconds {
        median(&mut self.turns)
    }
}

/// Compares ours with each peer and prints a line per peer.
pub fn figure(name: &str, budget: &str, mut ours: Side, mut peers: Vec<Side>) {
    ours.warm_up();
    peers.iter_mut().for_each(Side::warm_up);
    for _ in 0..ROUNDS {
        ours.take_turn();
        peers.iter_mut().for_each(Side::take_turn);
    }
    let x = ours.median();
    for peer in &mut peers {
        let (y, peer) = (peer.median(), peer.name);
        println!(
            "{name}: {} {x}, {peer} {y}, ratio {:.2} (budget {budget})",
            ours.name,
            y.0 / x.0
        );
    }
}

/// Compares some with what they all add to, and prints a line for each. The ratio is by the base's
/// time, in the same round: below the budget is better.
pub fn beside(name: &str, budget: &str, mut base: Side, mut sides: Vec<Side>) {
    base.warm_up();
    sides.iter_mut().for_each(Side::warm_up);
    for _ in 0..ROUNDS {
        base.take_turn();
        sides.iter_mut().for_each(Side::take_turn);
    }
    for side in &mut sides {
        let rounds = side.turns.iter().zip(&base.turns);
        let mut ratios: Vec<f64> = rounds.map(|(turn, base)| turn / base).collect();
        let ratio = median(&mut ratios).0;
        let x = median(&mut base.turns.clone());
        let (y, side) = (side.median(), side.name);
        println!(
            "{name}: {} {x}, {side} {y}, ratio {ratio:.2} (budget {budget})",
            base.name
        );
    }
}

/// The middle one of some times.
pub fn median(times: &mut [f64]) -> Seconds {
    times.sort_by(f64::total_cmp);
    Seconds(times[times.len() / 2])
}

/// A time, in the unit that suits it.
#[derive(Clone, Copy)]
pub struct Seconds(f64);

impl Seconds {
    /// So many.
    pub fn new(seconds: f64) -> Self {
        Self(seconds)
    }

    /// The number itself.
    pub fn seconds(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s < 1e-3 => write!(f, "{:.3} µs", s * 1e6),
            s if s < 1.0 => write!(f, "{:.3} ms", s * 1e3),
            s => write!(f, "{s:.3} s"),
        }
    }
}
