//! Words as a terminal shows them: nothing that it would obey, and measured in columns.

use midcall_core::is_unseen;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A server's words on one line, without what a terminal would obey, as `midcall lint` draws them.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| harmless(c, false)).collect()
}

/// What a person typed, shown back. Joiners stay: emoji and several scripts are written with them.
pub(crate) fn own(text: &str) -> String {
    text.chars().map(|c| harmless(c, true)).collect()
}

/// The beginning of a server's words, on one line.
pub(crate) fn short(text: &str, most: usize) -> String {
    let text = plain(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn harmless(character: char, is_own: bool) -> char {
    match character {
        '\n' | '\r' | '\t' => ' ',
        '\u{200c}' | '\u{200d}' if is_own => character,
        hidden if is_unseen(hidden) => '\u{fffd}',
        seen => seen,
    }
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Where the character at `at` ends, with the marks, joiners and modifiers that belong to it.
pub(crate) fn next(text: &str, at: usize) -> usize {
    let mut ends = text[at..]
        .char_indices()
        .map(|(start, c)| at + start + c.len_utf8());
    let Some(mut end) = ends.next() else {
        return at;
    };
    for further in ends {
        let added = text[end..further].chars().next().and_then(char::width);
        let joins = added == Some(0) || width(&text[at..further]) <= width(&text[at..end]);
        if !joins || text[at..end] == *"\n" || text[end..further] == *"\n" {
            break;
        }
        end = further;
    }
    end
}

/// Where the character that ends at `at` begins.
pub(crate) fn previous(text: &str, at: usize) -> usize {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    if line == at {
        return at.saturating_sub(1);
    }
    // Characters can't be told from behind. A window is enough: nobody joins more than that.
    let mut here = text[line..at]
        .char_indices()
        .rev()
        .nth(31)
        .map_or(line, |(start, _)| line + start);
    loop {
        let end = next(text, here);
        if end >= at {
            return here;
        }
        here = end;
    }
}

/// Breaks a text into lines of so many columns: between words, or within one that is longer. Its own line breaks stay.
/// Each line is without anything that a terminal would obey.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(4);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let paragraph = plain(paragraph.trim_end_matches('\r'));
        // A text that is indented keeps that, as far as it leaves room.
        let indent = paragraph.len() - paragraph.trim_start_matches(' ').len();
        let mut used = indent.min(columns / 2);
        let mut line = " ".repeat(used);
        let mut is_first = true;
        for word in paragraph[indent..].split(' ') {
            let size = width(word);
            if !is_first && used > 0 && used + 1 + size > columns {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                used = 0;
            } else if !is_first && used > 0 {
                line.push(' ');
                used += 1;
            }
            is_first = false;
            for piece in pieces(word) {
                let size = width(piece);
                if used + size > columns {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                line.push_str(piece);
                used += size;
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// A text, character by character as people count them.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at = next(text, start);
        (at > start).then(|| &text[start..at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_what_people_call_one() {
        for (text, expected) in [
            ("ab", &["a", "b"][..]),
            ("e\u{301}x", &["e\u{301}", "x"]),
            ("日本", &["日", "本"]),
            ("👍🏽!", &["👍🏽", "!"]),
            ("👩\u{200d}💻a", &["👩\u{200d}💻", "a"]),
            ("❤\u{fe0f}b", &["❤\u{fe0f}", "b"]),
            ("a\nb", &["a", "\n", "b"]),
        ] {
            assert_eq!(pieces(text).collect::<Vec<_>>(), expected);
            let mut backwards = Vec::new();
            let mut at = text.len();
            while at > 0 {
                let start = previous(text, at);
                backwards.insert(0, &text[start..at]);
                at = start;
            }
            assert_eq!(backwards, expected);
        }
    }

    #[test]
    fn lines_are_no_wider_than_the_screen() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("a\n\nb", 8), ["a", "", "b"]);
        assert_eq!(wrap("日本語日本語", 5), ["日本", "語日", "本語"]);
        assert_eq!(wrap("xxxxxxxxxx y", 4), ["xxxx", "xxxx", "xx y"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("  a b", 8), ["  a b"]);
        assert_eq!(wrap("a  b", 8), ["a  b"]);
    }

    #[test]
    fn a_terminal_obeys_nothing() {
        assert_eq!(
            plain("\u{1b}[2J\u{202e}a\tb\u{9b}"),
            "\u{fffd}[2J\u{fffd}a b\u{fffd}"
        );
        assert_eq!(own("👩\u{200d}💻\u{1b}"), "👩\u{200d}💻\u{fffd}");
        assert_eq!(short("abcd", 3), "abc…");
    }
}
