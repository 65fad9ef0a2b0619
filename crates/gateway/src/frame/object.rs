//! A JSON object as the bytes it came in, member by member.
//!
//! Members are taken out, replaced and added without a look at the values of the others: a number keeps all of its
//! digits, and an unknown member stays as it was written.

use std::borrow::Cow;

use serde::Serialize;

use super::scan::Scan;

/// The members of an object, in the order they came.
#[derive(Clone, Default, PartialEq)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Object<'a> {
    /// Reads an object; none if it isn't one.
    pub fn read(json: &'a [u8]) -> Option<Self> {
        let mut members = Vec::new();
        let mut scan = Scan::new(json);
        scan.object(|scan, name| {
            let value = str::from_utf8(scan.value()?).ok()?;
            members.push((Cow::Owned(name.to_owned()), Cow::Borrowed(value)));
            Some(())
        })?;
        scan.is_done().then_some(Self(members))
    }

    /// The JSON of a member. Of two of one name, readers take the last.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut members = self.0.iter().rev();
        let found = members.find(|(known, _)| known == name);
        found.map(|(_, json)| json.as_ref())
    }

    /// True if it has no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets a member in its place, or adds it at the end.
    pub fn set(&mut self, name: impl Into<Cow<'a, str>>, json: impl Into<Cow<'a, str>>) {
        let (name, json) = (name.into(), json.into());
        match self.0.iter_mut().rfind(|(known, _)| *known == name) {
            Some((_, value)) => *value = json,
            None => self.0.push((name, json)),
        }
    }

    /// Sets a member to what a value is as JSON.
    pub fn put(&mut self, name: impl Into<Cow<'a, str>>, value: &impl Serialize) {
        let json = serde_json::to_string(value).expect("our own values can be written");
        self.set(name, json);
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    /// The members by their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        (self.0.iter()).map(|(name, json)| (name.as_ref(), json.as_ref()))
    }

    /// The object as JSON.
    pub fn write(&self) -> String {
        let mut json = String::from("{");
        for (nth, (name, value)) in self.0.iter().enumerate() {
            if nth > 0 {
                json.push(',');
            }
            json += &serde_json::to_string(name).expect("a text can be written");
            json.push(':');
            json += value;
        }
        json.push('}');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_touched_stays_as_it_was_written() {
        let json =
            r#" {"n": 1.0 ,"big":123456789012345678901234567890,"\u0061":[1, 2],"x":1e400} "#;
        let mut object = Object::read(json.as_bytes()).unwrap();
        assert_eq!(object.get("a"), Some("[1, 2]"));
        object.remove("n");
        object.set("x", "2");
        object.put("y", &["z"]);
        assert_eq!(
            object.write(),
            r#"{"big":123456789012345678901234567890,"a":[1, 2],"x":2,"y":["z"]}"#
        );
        for other in ["[1]", "{", r#"{"a":1} x"#, ""] {
            assert!(Object::read(other.as_bytes()).is_none(), "{other}");
        }
    }
}
