//! Text of others, written so that a person sees all of it and a terminal obeys none of it.
//!
//! Escape sequences can clear a screen or set a clipboard, and controls for the direction of text can make one word
//! look like another. Here such a character becomes its number: `<U+001B>`.

pub use midcall_core::is_unseen;

/// Returns the first `most` characters of a text on one line, and "…" if there are more. Line breaks and tabs become
/// spaces.
pub fn one_line(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (nth, character) in text.chars().enumerate() {
        if nth == most {
            shown.push('…');
            break;
        }
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            other => push(&mut shown, other),
        }
    }
    shown
}

/// Returns the first `most` characters of a line for a terminal, and how many bytes were left out. Tabs stay, the
/// line's own end doesn't, and bytes that aren't UTF-8 become U+FFFD.
pub fn terminal_line(line: &[u8], most: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A character has at most four bytes, so the rest of a long line needn't be read.
    let beginning = &line[..line.len().min(most.saturating_mul(4))];
    let mut shown = String::with_capacity(beginning.len());
    let (mut characters, mut bytes) = (0, 0);
    'all: for chunk in beginning.utf8_chunks() {
        let valid = chunk.valid().chars().map(|it| (it, it.len_utf8()));
        let invalid = Some(('\u{fffd}', chunk.invalid().len())).filter(|(_, length)| *length > 0);
        for (character, length) in valid.chain(invalid) {
            if characters == most {
                break 'all;
            }
            match character {
                '\t' => shown.push('\t'),
                other => push(&mut shown, other),
            }
            characters += 1;
            bytes += length;
        }
    }
    match line.len() - bytes {
        0 => {}
        1 => shown += "… (1 more byte)",
        more => shown += &format!("… ({more} more bytes)"),
    }
    shown
}

fn push(shown: &mut String, character: char) {
    if is_unseen(character) {
        *shown += &format!("<U+{:04X}>", u32::from(character));
    } else {
        shown.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_in_a_line() {
        for (line, shown) in [
            (&b"plain \xc3\xa9\ttext\n"[..], "plain é\ttext"),
            (b"\x1b[31mred\x1b[0m\r\n", "<U+001B>[31mred<U+001B>[0m"),
            (b"\x1b]0;title\x07", "<U+001B>]0;title<U+0007>"),
            (b"50%\r60%\r\n", "50%<U+000D>60%"),
            ("\u{9b}2J\u{7f}".as_bytes(), "<U+009B>2J<U+007F>"),
            (b"\x9b2J", "\u{fffd}2J"),
            (
                "a\u{2028}b\u{202e}c\u{2066}d".as_bytes(),
                "a<U+2028>b<U+202E>c<U+2066>d",
            ),
            (b"\xe2\x82", "\u{fffd}"),
            (b"\n", ""),
            (b"", ""),
        ] {
            assert_eq!(terminal_line(line, 100), shown);
        }
    }

    #[test]
    fn a_long_line_ends_with_how_much_is_left_out() {
        for (line, shown) in [
            ("abc\n", "abc"),
            ("abcd\n", "abc… (1 more byte)"),
            ("éééé", "ééé… (2 more bytes)"),
            ("🦀🦀🦀🦀🦀", "🦀🦀🦀… (8 more bytes)"),
            ("\u{1b}[2J", "<U+001B>[2… (1 more byte)"),
        ] {
            assert_eq!(terminal_line(line.as_bytes(), 3), shown);
        }
        let invalid = [0xff; 20];
        assert_eq!(
            terminal_line(&invalid, 3),
            "\u{fffd}\u{fffd}\u{fffd}… (17 more bytes)"
        );
    }

    #[test]
    fn one_line_has_no_breaks() {
        assert_eq!(one_line("a\nb\tc\u{1b}", 10), "a b c<U+001B>");
        assert_eq!(one_line("abcd", 3), "abc…");
    }
}
