//! Names with `*` in them.

use serde::Deserialize;

/// A name, in which `*` stands for any characters, or none. Case matters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Glob(String);

impl Glob {
    /// Everything.
    pub fn any() -> Self {
        Self("*".to_owned())
    }

    /// Whether it is for everything, known or not.
    pub fn is_any(&self) -> bool {
        self.0 == "*"
    }

    /// Whether a name is meant.
    pub fn matches(&self, name: &str) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else {
            return self.0 == name;
        };
        let Some(mut name) = name.strip_prefix(start) else {
            return false;
        };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        // What stands between stars is found where it comes first: that leaves most for the rest.
        for part in middle.split('*') {
            match name.find(part) {
                Some(at) => name = &name[at + part.len()..],
                None => return false,
            }
        }
        name.ends_with(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (glob, matches, others) in [
            ("a", &["a"][..], &["", "A", "ab", "*"][..]),
            ("*", &["", "a", "é"], &[]),
            ("a*", &["a", "ab"], &["", "ba"]),
            ("*a", &["a", "ba", "aa"], &["", "ab"]),
            ("a*a", &["aa", "aba"], &["a", "ab"]),
            ("*a*", &["a", "bab"], &["", "b"]),
            (
                "a*b*c",
                &["abc", "axbxc", "abbc", "abcbc"],
                &["acb", "ab", "bc"],
            ),
            ("a**c", &["ac", "abc"], &["a"]),
            ("*ab*ab", &["abab", "xabxab"], &["ab", "aba"]),
            ("**", &["", "a"], &[]),
            ("", &[""], &["a"]),
        ] {
            let is = |name: &&str| Glob(glob.to_owned()).matches(name);
            let wrong: Vec<_> = matches.iter().filter(|name| !is(name)).collect();
            assert!(wrong.is_empty(), "{glob} should match {wrong:?}");
            let wrong: Vec<_> = others.iter().filter(|name| is(name)).collect();
            assert!(wrong.is_empty(), "{glob} should not match {wrong:?}");
        }
    }
}
