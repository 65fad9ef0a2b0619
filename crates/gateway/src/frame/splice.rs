//! One member cut out of a message, and another put in its place.

use std::ops::Range;

use bytes::{BufMut, BytesMut};

use super::scan::Scan;
use super::{Frame, Id, Kind, Object};

impl Frame {
    /// The same message with other JSON at a path of names. A member that is not there is added
    /// to its object; where that is not an object, there is no such message.
    pub fn with(&self, path: &[&str], json: &str) -> Option<Self> {
        let bytes = &self.0;
        let found = find(&mut Scan::new(bytes), path)?;
        let mut line = BytesMut::with_capacity(bytes.len() + json.len() + 32);
        line.put(&bytes[..found.place.start]);
        if let Some(name) = found.missing {
            if found.follows {
                line.put_u8(b',');
            }
            line.put(&serde_json::to_vec(name).ok()?[..]);
            line.put_u8(b':');
        }
        line.put(json.as_bytes());
        line.put(&bytes[found.place.end..]);
        Some(Self(line.freeze()))
    }
}

impl Frame {
    /// The same message with another id.
    pub fn with_id(&self, id: &Id) -> Self {
        let has_it = self.peek().is_some_and(|(kind, _)| match kind {
            Kind::Request { id: known, .. } | Kind::Response { id: Some(known) } => known == *id,
            _ => false,
        });
        match has_it {
            true => self.clone(),
            false => self
                .with(&["id"], id.as_json())
                .unwrap_or_else(|| self.clone()),
        }
    }

    /// The same request with other params.
    pub fn with_params(&self, params: &Object<'_>) -> Self {
        self.with(&["params"], &params.write())
            .unwrap_or_else(|| self.clone())
    }
}

/// Where something is to be put.
struct Found<'a> {
    place: Range<usize>,
    /// The name it needs there, if the place is the end of an object.
    missing: Option<&'a str>,
    /// Whether other members stand before it.
    follows: bool,
}

fn find<'a>(scan: &mut Scan<'_>, path: &[&'a str]) -> Option<Found<'a>> {
    let (wanted, deeper) = path.split_first()?;
    let mut found = None;
    let mut follows = false;
    scan.object(|scan, name| {
        follows = true;
        if name != *wanted {
            return scan.value().map(drop);
        }
        // Of two members of one name, readers take the last.
        found = if deeper.is_empty() {
            let start = scan.at();
            scan.value()?;
            Some(Found {
                place: start..scan.at(),
                missing: None,
                follows: false,
            })
        } else {
            Some(find(scan, deeper)?)
        };
        Some(())
    })?;
    found.or_else(|| {
        let end = scan.at() - 1; // the closing bracket
        deeper.is_empty().then_some(Found {
            place: end..end,
            missing: Some(wanted),
            follows,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_changes_and_nothing_else() {
        for (line, path, json, expected) in [
            (
                r#"{"id": 1 ,"x":[1, 2]}"#,
                &["id"][..],
                "\"a\"",
                r#"{"id": "a" ,"x":[1, 2]}"#,
            ),
            (
                r#"{"p":{"a":1,"b":{"c":2}}}"#,
                &["p", "b", "c"],
                "3",
                r#"{"p":{"a":1,"b":{"c":3}}}"#,
            ),
            (
                r#"{"p":{"a":1}}"#,
                &["p", "b"],
                "{}",
                r#"{"p":{"a":1,"b":{}}}"#,
            ),
            (r#"{"p":{ }}"#, &["p", "b"], "{}", r#"{"p":{ "b":{}}}"#),
            (r#"{"a":1,"a":2}"#, &["a"], "3", r#"{"a":1,"a":3}"#),
            (r#"{"\u0061":1}"#, &["a"], "3", r#"{"\u0061":3}"#),
        ] {
            let frame = Frame::new(line.as_bytes().to_vec().into());
            let spliced = frame.with(path, json).unwrap().into_bytes();
            assert_eq!(str::from_utf8(&spliced).unwrap(), expected);
        }
    }

    #[test]
    fn what_has_no_such_object_is_left_alone() {
        for (line, path) in [
            (r#"{"p":[1]}"#, &["p", "b"][..]),
            (r#"{"p":1}"#, &["q", "b"]),
            ("[]", &["a"]),
            (r#"{"p""#, &["p"]),
        ] {
            assert!(
                Frame::new(line.as_bytes().to_vec().into())
                    .with(path, "1")
                    .is_none(),
                "{line}"
            );
        }
    }
}
