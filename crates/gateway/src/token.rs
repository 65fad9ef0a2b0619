//! Names that nobody guesses.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// 256 random bits as text. No `Debug`: who sees one can use it.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    pub fn random() -> Self {
        let mut bits = [0; 32];
        getrandom::fill(&mut bits).expect("the system has randomness");
        Self(BASE64_URL_SAFE_NO_PAD.encode(bits))
    }

    /// The same behind a few letters that tell what it is.
    pub fn starting_with(prefix: &str) -> Self {
        let mut token = Self::random();
        token.0.insert_str(0, prefix);
        token
    }

    /// The token itself, to be given away.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether this is it. Takes the same time wherever the two differ.
    pub fn is(&self, claimed: &str) -> bool {
        self.0.as_bytes().ct_eq(claimed.as_bytes()).into()
    }
}
