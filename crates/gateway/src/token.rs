//! Names that nobody guesses.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// So many random bytes.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}

/// 256 random bits as text. No `Debug`: who sees one can use it.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    pub fn random() -> Self {
        Self(BASE64_URL_SAFE_NO_PAD.encode(random::<32>()))
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
