//! Whether one host is dressed up as another.
//!
//! Judged is the registrable part of a name, `github.com` in `api.github.com`: who owns
//! it owns all below it, so subdomains, parents and siblings are never look-alikes. There
//! is no public suffix list here; a short rule tells `example.co.uk` from `example.com`,
//! and sites of one hosting service (`a.vercel.app`, `b.vercel.app`) pass as siblings.
//!
//! The same name under another ending (`amazon.com`, `amazon.com.br`) and a name as a
//! subdomain (`acme.okta.com`) are everyday life, and no look-alikes.

use unicode_security::skeleton;

/// Labels that stand before a country's two letters in a public ending.
const SECOND_LEVEL: [&str; 14] = [
    "ac", "co", "com", "edu", "go", "gob", "gov", "jus", "leg", "mil", "ne", "net", "or", "org",
];

/// Letters a name must have before one slip in it is taken for intent.
const TELLING: usize = 5;

/// Whether `link` could be taken for `asker` although somebody else may own it. Both are
/// host names in Unicode.
pub(super) fn imitates(link: &str, asker: &str) -> bool {
    let (Some(link), Some(asker)) = (Domain::of(link), Domain::of(asker)) else {
        return false;
    };
    if link.own == asker.own {
        return false;
    }
    look_same(&link.own, &asker.own)
        || link.name != asker.name
            && (look_same(&link.name, &asker.name) || one_slip(&link.name, &asker.name))
        || link.wears(&asker)
}

struct Domain {
    /// `github.com` of `api.github.com`
    own: String,
    /// `github`
    name: String,
    /// `api.github`
    front: String,
}

impl Domain {
    /// `None` for a host without an ending, such as `intranet`.
    fn of(host: &str) -> Option<Domain> {
        let labels: Vec<&str> = host.strip_suffix('.').unwrap_or(host).split('.').collect();
        let ending = match labels[..] {
            [.., second, country] if country.len() == 2 && SECOND_LEVEL.contains(&second) => 2,
            _ => 1,
        };
        let name = labels.len().checked_sub(ending + 1)?;
        Some(Domain {
            own: labels[name..].join("."),
            name: labels[name].to_owned(),
            front: labels[..=name].join("."),
        })
    }

    /// Whether the other's full name stands in front of this one's ending, as in
    /// `github.com.evil.example` or `github-com.evil.example`.
    fn wears(&self, other: &Domain) -> bool {
        let worn: Vec<&str> = other.own.split(['.', '-']).collect();
        let front: Vec<&str> = self.front.split(['.', '-']).collect();
        front.windows(worn.len()).any(|part| part == worn)
    }
}

fn look_same(one: &str, other: &str) -> bool {
    one != other && drawn(one) == drawn(other)
}

/// A name reduced to how it looks. For ASCII the replacements alone say the same.
fn drawn(name: &str) -> String {
    skeleton(name)
        .collect::<String>()
        .to_lowercase()
        .replace('0', "o")
        .replace('1', "l")
        .replace("rn", "m")
        .replace("vv", "w")
}

/// Whether one letter was added, lost or changed, or two neighbours swapped. Names that
/// differ in a digit only (`node1`, `node2`) are numbered, not forged.
fn one_slip(link: &str, asker: &str) -> bool {
    let (link, asker): (Vec<char>, Vec<char>) = (link.chars().collect(), asker.chars().collect());
    if asker.len() < TELLING {
        return false;
    }
    let start = link.iter().zip(&asker).take_while(|(a, b)| a == b).count();
    let (link, asker) = (&link[start..], &asker[start..]);
    let end = link
        .iter()
        .rev()
        .zip(asker.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    match (&link[..link.len() - end], &asker[..asker.len() - end]) {
        ([_], []) | ([], [_]) => true,
        ([a], [b]) => !(a.is_ascii_digit() && b.is_ascii_digit()),
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}
