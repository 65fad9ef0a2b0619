//! What a client is given to come back by.

use std::collections::HashMap;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

use super::CallId;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::moment::Moment;
use crate::token::Token;

/// A claim, a state or the id of a question for the model, as Midcall keeps it: the digest of a secret that only the
/// client has. Finding it in a map takes a time that says nothing about the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name([u8; 32]);

/// What every secret of Midcall's begins with. A state that doesn't is a server's own.
const PREFIX: &str = "mc1.";

/// What a client comes back with a name for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameUse {
    /// To collect the result of a call.
    Claim,
    /// To repeat a call with answers.
    State,
    /// To answer a question that its model was told to ask.
    Question,
}

/// A name that a client was given, for those who lead the client's next request to it.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenName {
    pub name: Name,
    pub used_for: NameUse,
    /// The call that it leads to. None for a question that the model hasn't been told yet.
    pub call: Option<CallId>,
    /// When it leads nowhere any more, if that is known: while the call is open, nobody knows how long it takes.
    pub until: Option<Moment>,
    /// True while the client hasn't got what it was told to come back for.
    pub is_owed: bool,
}

/// What became of a name.
pub enum NameChange {
    Given(GivenName),
    Forgotten(Name),
}

/// The names that others have been told of.
#[derive(Default)]
pub struct ToldNames(HashMap<Name, GivenName>);

impl Name {
    /// A new secret for the client, and the name that is kept.
    pub fn mint() -> (Token, Self) {
        let token = Token::starting_with(PREFIX);
        let name = Self::of(token.reveal());
        (token, name)
    }

    /// The name of what a client came back with.
    pub fn of(secret: &str) -> Self {
        let digest = digest(&SHA256, secret.as_bytes());
        Self(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }

    /// The same, if it can be a secret of Midcall's.
    pub fn of_ours(secret: &str) -> Option<Self> {
        secret.starts_with(PREFIX).then(|| Self::of(secret))
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digest = BASE64_URL_SAFE_NO_PAD.decode(text).ok();
        let digest = digest.and_then(|digest| digest.try_into().ok());
        digest
            .map(Self)
            .ok_or_else(|| D::Error::custom("this isn't a name"))
    }
}

impl ToldNames {
    /// What is to be told of a name, which leads somewhere now or doesn't.
    pub fn tell(&mut self, name: Name, now: Option<GivenName>) -> Option<NameChange> {
        match now {
            Some(given) if self.0.get(&name) == Some(&given) => None,
            Some(given) => {
                self.0.insert(name, given.clone());
                Some(NameChange::Given(given))
            }
            None => {
                let told = self.0.remove(&name);
                told.map(|_| NameChange::Forgotten(name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_ours_are_told_from_others() {
        let (token, name) = Name::mint();
        assert_eq!(Name::of_ours(token.reveal()), Some(name));
        assert!(token.reveal().len() > 40);
        for other in ["", "mc1", "abc", "eyJ0eXAi"] {
            assert_eq!(Name::of_ours(other), None, "{other}");
        }
    }
}
