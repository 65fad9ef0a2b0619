//! Messages and ids in records: as the JSON that they are, not as text.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Frame, Id};

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let raw = serde_json::from_slice::<&RawValue>(&self.0);
        // Why not would quote it.
        let raw = raw.map_err(|_| S::Error::custom("a message isn't JSON"))?;
        raw.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        Ok(Self::line(raw.get()))
    }
}

impl Id {
    /// The id of a request that this process hasn't sent, in what it read from a record.
    pub fn nobodys() -> Self {
        Self::from(0)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let raw = serde_json::from_str::<&RawValue>(self.as_json());
        let raw = raw.map_err(|_| S::Error::custom("an id isn't JSON"))?;
        raw.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        let id = Self::read(raw.get().as_bytes());
        id.ok_or_else(|| D::Error::custom("this can't be an id"))
    }
}
