//! What a client is given to come back by.

use ring::digest::{SHA256, digest};

use crate::token::Token;

/// A claim, a state or the id of a question for the model, as Midcall keeps it: the digest of a secret that only the
/// client has. Finding it in a map takes a time that says nothing about the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name([u8; 32]);

impl Name {
    /// A new secret for the client, and the name that is kept.
    pub fn mint() -> (Token, Self) {
        let token = Token::random();
        let name = Self::of(token.reveal());
        (token, name)
    }

    /// The name of what a client came back with.
    pub fn of(secret: &str) -> Self {
        let digest = digest(&SHA256, secret.as_bytes());
        Self(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}
