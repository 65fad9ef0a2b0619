//! Stepping over what lies between matching brackets, a block of bytes at a time.
//!
//! Looking at one byte after the other means a branch that nobody can foresee at every quote and
//! bracket, and that is what takes the time. So each block becomes four numbers with a bit per byte:
//! where the quotes, backslashes, opening and closing brackets are. The rest is arithmetic.

use memchr::memchr2;

/// One bit per byte.
type Places = u64;
const BLOCK: usize = 64;
/// Each second of them.
const ODD: Places = 0xAAAA_AAAA_AAAA_AAAA;

/// How long the object or array at the start of some JSON is; none if it has no end. Brackets are
/// counted, not compared: whether they match is for the receiver to say.
pub(super) fn brackets(json: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut depth = 0_u64;
    let mut strings = Strings::default();
    loop {
        let rest = json.get(at..).filter(|rest| !rest.is_empty())?;
        let mut last = [b' '; BLOCK];
        let block = match rest.first_chunk::<BLOCK>() {
            Some(block) => block,
            None => {
                last[..rest.len()].copy_from_slice(rest);
                &last
            }
        };
        let quotes = places(block, |byte| byte == b'"');
        let slashes = places(block, |byte| byte == b'\\');
        if strings.is_all_text(quotes | slashes) {
            let rest = rest.get(BLOCK..)?;
            at += BLOCK + memchr2(b'"', b'\\', rest)?; // A long text has a faster way.
            continue;
        }
        let text = strings.text(quotes, slashes);
        // `[` and `{`, `]` and `}` differ by one bit.
        let opening = places(block, |byte| byte | 0x20 == b'{') & !text;
        let closing = places(block, |byte| byte | 0x20 == b'}') & !text;
        if count(closing) < depth {
            depth = depth + count(opening) - count(closing);
        } else if let Some(end) = end(opening, closing, &mut depth)? {
            return Some(at + end);
        }
        at += BLOCK;
    }
}

/// What of the strings goes on from one block to the next.
#[derive(Default)]
struct Strings {
    /// All bits are set if a string goes on.
    inside: Places,
    /// Whether its next byte has a backslash before it.
    escaped: bool,
}

impl Strings {
    /// Whether a block is within a string from its first byte to its last.
    fn is_all_text(&self, marks: Places) -> bool {
        self.inside != 0 && marks == 0 && !self.escaped
    }

    /// Which bytes of the next block belong to strings, the opening quotes included.
    fn text(&mut self, quotes: Places, slashes: Places) -> Places {
        // Of a run of backslashes, each second one is escaped by the one before. Subtracting a run
        // borrows up to its end; whether that is an odd place tells whether what follows is escaped.
        let before = Places::from(self.escaped);
        let runs = slashes & !before;
        let ends = ((runs << 1) | ODD).wrapping_sub(runs) ^ ODD;
        let escaped = ends ^ (slashes | before);
        self.escaped = (ends & slashes) >> (BLOCK - 1) != 0;
        // Each byte is text if the number of quotes up to it is odd.
        let mut text = quotes & !escaped;
        for distance in [1, 2, 4, 8, 16, 32] {
            text ^= text << distance;
        }
        text ^= self.inside;
        self.inside = if text >> (BLOCK - 1) == 0 {
            0
        } else {
            Places::MAX
        };
        text
    }
}

/// Where in a block the first bracket is closed, if it is; none if one is closed that was not
/// opened.
fn end(mut opening: Places, mut closing: Places, depth: &mut u64) -> Option<Option<usize>> {
    while closing != 0 {
        let place = closing.trailing_zeros();
        let before = (1 << place) - 1;
        *depth = (*depth + count(opening & before)).checked_sub(1)?;
        if *depth == 0 {
            return Some(Some(place as usize + 1));
        }
        opening &= !before;
        closing &= closing - 1;
    }
    *depth += count(opening);
    Some(None)
}

fn count(places: Places) -> u64 {
    places.count_ones().into()
}

/// The places of the bytes that are of some kind. Written so that the compiler finds the
/// machine's instructions for many bytes at once: each of eight bytes becomes a bit of its own,
/// and multiplying adds them up.
#[inline(always)]
fn places(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> Places {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let mut bits = [0; BLOCK];
    for (n, (bit, byte)) in bits.iter_mut().zip(block).enumerate() {
        *bit = if is(*byte) { 1 << (n % 8) } else { 0 };
    }
    let (eights, _) = bits.as_chunks::<8>();
    let mut places = 0;
    for (n, eight) in eights.iter().enumerate() {
        places |= u64::from_le_bytes(*eight).wrapping_mul(EACH) >> 56 << (8 * n);
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, one byte after the other.
    fn slowly(json: &[u8]) -> Option<usize> {
        let (mut depth, mut inside, mut escaped) = (0_usize, false, false);
        for (at, byte) in json.iter().enumerate() {
            match byte {
                b'"' if !escaped => inside = !inside,
                b'{' | b'[' if !inside => depth += 1,
                b'}' | b']' if !inside => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            escaped = !escaped && *byte == b'\\';
        }
        None
    }

    #[test]
    fn an_end_is_found_wherever_blocks_end() {
        for length in 0..200 {
            let text = "x".repeat(length);
            for json in [
                format!(r#"["{text}"]"#),
                format!(r#"["{text}\\"]"#),
                format!(r#"["{text}\"]"]"#),
                format!(r#"["{text}\\\"]"]"#),
                format!(r#"{{"{text}":[{{}},"}}"]}}"#),
                format!("{}{}", "[".repeat(length + 1), "]".repeat(length + 1)),
            ] {
                for (line, end) in [
                    (format!("{json} , ]}}"), Some(json.len())),
                    (json.clone(), Some(json.len())),
                    (json[..json.len() - 1].to_owned(), None),
                ] {
                    assert_eq!(brackets(line.as_bytes()), end, "{line}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn blocks_find_what_bytes_find(json in r#"[\[\{]([\[\]{}"\\a ]{0,80}|a{60,70}|\\{60,70}){0,5}"#) {
            prop_assert_eq!(brackets(json.as_bytes()), slowly(json.as_bytes()));
        }
    }
}
