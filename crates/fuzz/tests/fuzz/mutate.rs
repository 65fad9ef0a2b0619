//! Inputs that are almost like the seeds.

/// What random bytes seldom hit upon.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    // schemas
    "\"type\"", "\"object\"", "\"string\"", "\"integer\"", "\"number\"", "\"boolean\"", "\"array\"",
    "\"properties\"", "\"required\"", "\"enum\"", "\"enumNames\"", "\"oneOf\"", "\"anyOf\"",
    "\"const\"", "\"title\"", "\"items\"", "\"default\"", "\"format\"", "\"date-time\"",
    "\"pattern\"", "\"minLength\"", "\"maximum\"", "\"multipleOf\"", "\"additionalProperties\"",
    // messages
    "\"action\"", "\"content\"", "\"_meta\"", "\"mode\"", "\"url\"", "\"requestState\"",
    // JSON
    "{", "}", "[", "]", ":", ",", "null", "true", "false", "0", "-1", "1.0", "1e308",
    "9007199254740993", "18446744073709551616", "\"\"", "\\u0000", "\\ud83d", "\u{202e}", "é",
    // links
    "https://", "http://", "javascript:", "data:", "//", "@", ":443", "xn--", "%2e", "127.0.0.1",
    "[::1]", "\n", "\t", "\\",
];

/// Longer inputs find little more and cost time.
const LONGEST: usize = 4096;

pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    state: u64,
}

impl Mutator {
    pub fn new(seeds: Vec<Vec<u8>>, seed: u64) -> Self {
        Self {
            seeds,
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// A seed with one to four changes.
    pub fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.any_seed();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes);
        }
        bytes.truncate(LONGEST);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = (at + self.below(16)).min(bytes.len());
        match self.below(6) {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => bytes.insert(at, self.random() as u8),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                let other = self.any_seed();
                let from = self.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..end, word.bytes());
            }
        }
    }

    fn any_seed(&mut self) -> Vec<u8> {
        let at = self.below(self.seeds.len());
        self.seeds[at].clone()
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.random() % bound as u64) as usize
    }

    /// Marsaglia's xorshift: fast, and the same everywhere.
    fn random(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}
