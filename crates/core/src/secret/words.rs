//! The words of a text, as a person would read them.
//!
//! A text is folded first: invisible characters and accents go, styled letters become plain
//! ones. Then it is split, once as it is written, and again for each disguise that it may wear:
//! letters of other scripts taken for the Latin ones they look like, digits taken for letters.
//!
//! In: [`readings`].

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::skeleton;

use super::table::TABLE;

/// Visible characters looked at in each text. Whatever a field is for is said by then.
const READ: usize = 2_000;

/// How characters are taken when a text is split.
#[derive(Clone, Copy, Default)]
pub struct Reading {
    /// Take letters for the Latin ones they look like.
    by_look: bool,
    /// Take digits for letters, and a 1 for this one.
    one: Option<char>,
}

/// The words of a text, sentence by sentence, in every way that it can be read.
pub fn readings(text: &str) -> Vec<Vec<Vec<String>>> {
    let letters = fold(text);
    let has_other_scripts = letters
        .iter()
        .any(|letter| !letter.is_ascii() && letter.is_alphabetic());
    let looks: &[bool] = if has_other_scripts {
        &[false, true]
    } else {
        &[false]
    };
    let has = |some: &str| letters.iter().any(|letter| some.contains(*letter));
    let ones: &[Option<char>] = match (has("1!|"), has("03457@$")) {
        (true, _) => &[None, Some('i'), Some('l')],
        (false, true) => &[None, Some('i')],
        (false, false) => &[None],
    };
    let ways = looks.iter().flat_map(|by_look| {
        ones.iter().map(|one| Reading {
            by_look: *by_look,
            one: *one,
        })
    });
    ways.map(|reading| TABLE.splitter.clauses(&letters, reading))
        .collect()
}

/// The visible characters of a text without accents, in their plainest form: `𝐩` is `p`.
pub fn fold(text: &str) -> Vec<char> {
    text.chars()
        .filter(|character| !is_invisible(*character))
        .take(READ)
        .nfkd()
        .filter(|character| !is_combining_mark(*character))
        .take(READ)
        .collect()
}

/// Whether a character is of a script that is written without spaces.
pub fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Takes texts apart.
pub struct Splitter {
    /// Words of scripts that are written without spaces.
    unspaced: HashSet<Vec<char>>,
    /// Characters of the longest of them.
    longest: usize,
    /// Every word of a phrase that needs no help.
    pub known: HashSet<String>,
    /// Words that also count at the end of another, as in `userpassword`.
    pub endings: Vec<String>,
}

impl Splitter {
    /// Knows these words of scripts that are written without spaces.
    pub fn new(unspaced: impl Iterator<Item = String>) -> Self {
        let unspaced: HashSet<Vec<char>> = unspaced.map(|word| word.chars().collect()).collect();
        let longest = unspaced.iter().map(Vec::len).max();
        Self {
            unspaced,
            longest: longest.unwrap_or_default(),
            known: HashSet::new(),
            endings: Vec::new(),
        }
    }

    /// The words of a folded text, sentence by sentence: lower case, without apostrophes and
    /// closing digits, `camelCase` and Chinese taken apart, letters that stand alone put
    /// together. Commas, colons and slashes stay as `","`.
    pub fn clauses(&self, text: &[char], reading: Reading) -> Vec<Vec<String>> {
        let mut text = text.to_vec();
        if reading.by_look {
            text.iter_mut().for_each(|letter| *letter = look(*letter));
        }
        if let Some(one) = reading.one {
            write_symbols(&mut text, one);
        }
        let spaced = spaced(&text);
        spaced
            .split('.')
            .map(|clause| self.words(clause, reading))
            .collect()
    }

    fn words(&self, clause: &str, reading: Reading) -> Vec<String> {
        let words: Vec<&str> = clause.split(' ').filter(|word| !word.is_empty()).collect();
        let is_letter = |word: &str| word != "," && word.chars().nth(1).is_none();
        let mut found = Vec::new();
        for run in words.chunk_by(|one, other| is_letter(one) && is_letter(other)) {
            if run.len() > 2 {
                self.segments(&run.concat(), reading, &mut found);
            } else {
                for word in run {
                    self.segments(word, reading, &mut found);
                }
            }
        }
        found
    }

    /// Takes Chinese and Japanese out of a word, and apart.
    fn segments(&self, word: &str, reading: Reading, found: &mut Vec<String>) {
        let letters: Vec<char> = word.chars().collect();
        let runs = letters.chunk_by(|one, other| is_unspaced(*one) == is_unspaced(*other));
        for run in runs {
            if !is_unspaced(run[0]) {
                self.pieces(run, reading, found);
                continue;
            }
            let mut rest = String::new();
            let mut at = 0;
            while at < run.len() {
                let longest = self.longest.min(run.len() - at);
                let mut words = (1..=longest).rev().map(|length| &run[at..at + length]);
                match words.find(|word| self.unspaced.contains(*word)) {
                    Some(word) => {
                        at += word.len();
                        found.extend(Some(std::mem::take(&mut rest)).filter(|it| !it.is_empty()));
                        found.push(word.iter().collect());
                    }
                    None => {
                        rest.push(run[at]);
                        at += 1;
                    }
                }
            }
            found.extend(Some(rest).filter(|rest| !rest.is_empty()));
        }
    }

    /// Adds a word to `found` without the digits at its end. A word such as `userpassword` is added in two parts.
    fn pieces(&self, word: &[char], reading: Reading, found: &mut Vec<String>) {
        let closing = word.iter().rev().take_while(|it| it.is_ascii_digit());
        let trimmed = &word[..word.len() - closing.count()];
        if trimmed.is_empty() {
            return;
        }
        let read = match reading.one {
            // A digit at the end mostly counts the fields.
            Some(one) => Some(written(word, one))
                .filter(|whole| self.known.contains(whole))
                .unwrap_or_else(|| written(trimmed, one)),
            None => trimmed.iter().collect(),
        };
        // The rest has to be letters as it was written: 1password is a program.
        let rest = self.endings.iter().find_map(|ending| {
            let rest = read.strip_suffix(ending.as_str())?;
            let mut as_written = word.iter().take(rest.chars().count());
            (!rest.is_empty() && as_written.all(|it| it.is_alphabetic())).then_some(rest.len())
        });
        match rest {
            Some(rest) => {
                let (rest, ending) = read.split_at(rest);
                found.extend([rest.to_owned(), ending.to_owned()]);
            }
            None => found.push(read),
        }
    }
}

/// A text in lower case, with a space at each edge of a word and a full stop after each sentence.
fn spaced(text: &[char]) -> String {
    let mut spaced = String::new();
    for (at, character) in text.iter().copied().enumerate() {
        let previous = at.checked_sub(1).map_or(' ', |at| text[at]);
        let next = text.get(at + 1).copied().unwrap_or(' ');
        if character.is_uppercase()
            && (previous.is_lowercase() || previous.is_alphanumeric() && next.is_lowercase())
        {
            spaced.push(' ');
        }
        match character {
            '\'' | '’' => {}
            ',' | ':' | '/' => spaced.push_str(" , "),
            '.' if previous.is_alphanumeric() && next.is_alphanumeric() => spaced.push(' '),
            '.' | '!' | '?' | ';' | '(' | ')' | '\n' | '。' | '、' => spaced.push('.'),
            _ if character.is_alphanumeric() => {
                let lower = character.to_lowercase();
                spaced.extend(lower.filter(|letter| !is_combining_mark(*letter)));
            }
            _ => spaced.push(' '),
        }
    }
    spaced
}

/// Writes letters for symbols that stand for them beside other letters: `p@$$word`, `p!n`.
fn write_symbols(text: &mut [char], one: char) {
    let is_money = |letter: &char| matches!(letter, '@' | '$');
    let mut at = 0;
    while at < text.len() {
        let run = text[at..].iter().take_while(|it| is_money(it)).count();
        let before = at.checked_sub(1).map_or(' ', |at| text[at]);
        let after = text.get(at + run.max(1)).copied().unwrap_or(' ');
        if run > 0 && (before.is_alphabetic() || after.is_alphabetic()) {
            for symbol in &mut text[at..at + run] {
                *symbol = if *symbol == '@' { 'a' } else { 's' };
            }
        }
        if matches!(text[at], '!' | '|') && before.is_alphanumeric() && after.is_alphanumeric() {
            text[at] = one;
        }
        at += run.max(1);
    }
}

/// A word with the letters that its digits are written for, in "leetspeak".
fn written(word: &[char], one: char) -> String {
    let letters = word.iter().map(|digit| match digit {
        '0' => 'o',
        '1' => one,
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        other => *other,
    });
    letters.collect()
}

/// The Latin letter that a letter of another script looks like, in the same case; else itself.
fn look(letter: char) -> char {
    if letter.is_ascii() || is_unspaced(letter) || !letter.is_alphanumeric() {
        return letter;
    }
    let is_large = letter.is_uppercase();
    // Unicode draws a capital I as l.
    let drawn = match latin(letter) {
        Some('l') if is_large => Some('i'),
        Some(drawn) => Some(drawn),
        None => letter.to_lowercase().next().and_then(latin),
    };
    match drawn {
        Some(drawn) if is_large => drawn.to_ascii_uppercase(),
        Some(drawn) => drawn,
        None => letter,
    }
}

/// Small capitals and the letters they stand for. Unicode doesn't count most as look-alikes.
const SMALL_CAPITALS: &str = "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz";

fn latin(letter: char) -> Option<char> {
    let mut pairs = SMALL_CAPITALS.chars();
    while let (Some(small), Some(plain)) = (pairs.next(), pairs.next()) {
        if small == letter {
            return Some(plain);
        }
    }
    let mut bytes = [0; 4];
    let mut drawn = skeleton(letter.encode_utf8(&mut bytes));
    let both = (drawn.next(), drawn.next(), drawn.next());
    match both {
        (Some(drawn), None, None) if drawn.is_ascii_alphanumeric() => {
            Some(drawn.to_ascii_lowercase())
        }
        (Some('r'), Some('n'), None) => Some('m'), // so does Unicode draw an m
        _ => None,
    }
}

/// Whether a character takes no room: those that Unicode calls ignorable, and those that only
/// steer how others are set.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}
