//! "Did you mean": the known word that is most like one that isn't known.

/// The known word that a person most likely meant, if one is near enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    // Longer words are no slip of the finger, and comparing them would take long.
    if !(1..=LONGEST).contains(&length) {
        return None;
    }
    let near = known.into_iter().filter_map(|known| {
        let distance = distance(&word, &known.to_lowercase());
        (distance <= (length / 3).max(1)).then_some((distance, known))
    });
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The end of an error that names an unknown word.
pub fn tip<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = nearest(word, known);
    nearest.map_or_else(String::new, |nearest| {
        format!(". Did you mean `{nearest}`?")
    })
}

const LONGEST: usize = 64;

/// How many letters have to be added, removed, replaced or swapped with their neighbor.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    let mut previous = None;
    for (row, letter) in one.chars().enumerate() {
        let mut next = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != *wanted);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let is_swapped = column > 0 && previous == Some(*wanted) && other[column - 1] == letter;
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        previous = Some(letter);
        before = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "ab", 2),
            ("ab", "", 2),
            ("page", "page", 0),
            ("pag", "page", 1),
            ("paeg", "page", 1),
            ("apge", "page", 1),
            ("kitten", "sitting", 3),
            ("não", "nao", 1),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn only_a_near_word_is_suggested() {
        const KNOWN: [&str; 4] = ["client", "page", "api", "timeout"];
        for (word, expected) in [
            ("pag", Some("page")),
            ("Client", Some("client")),
            ("time_out", Some("timeout")),
            ("clinet", Some("client")),
            ("server", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, KNOWN), expected, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), KNOWN), None);
    }
}
