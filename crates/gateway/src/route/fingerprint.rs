//! Which server a record belongs to.

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

/// A server as it is configured: its name, and a digest of its command or address. No process goes on with a call of a
/// server that has been configured otherwise since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    name: String,
    digest: [u8; 32],
}

impl Fingerprint {
    /// A server of this name. `parts` are its address, or its command and the arguments of that.
    pub fn of<'a>(name: &str, parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut sum = Context::new(&SHA256);
        for part in parts {
            sum.update(&part.len().to_le_bytes());
            sum.update(part.as_bytes());
        }
        let digest = sum.finish();
        Self {
            name: name.to_owned(),
            digest: *digest.as_ref().first_chunk().expect("SHA-256 has 32 bytes"),
        }
    }
}
