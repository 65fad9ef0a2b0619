//! What a call is called outside of its ledger.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use midcall_desk::TicketId;
use ring::digest::{Context, SHA256};

use crate::token::random;

/// The name of a call's record: 128 random bits. A [`CallId`](super::CallId) is a number in one ledger of one process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey([u8; 16]);

impl CallKey {
    pub fn random() -> Self {
        Self(random())
    }

    /// The ticket of a question in the call: the same whenever and wherever it is asked. A server may use its keys again
    /// in another round.
    pub fn ticket(&self, round: u32, kind: &str, key: &str) -> TicketId {
        let mut sum = Context::new(&SHA256);
        sum.update(&self.0);
        sum.update(&round.to_le_bytes());
        sum.update(kind.as_bytes());
        sum.update(&[0]);
        sum.update(key.as_bytes());
        let digest = sum.finish();
        let first = digest.as_ref().first_chunk().expect("SHA-256 has 32 bytes");
        TicketId::from(*first)
    }
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Not the name of a call's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the name of a call")]
pub struct NoCallKey;

impl FromStr for CallKey {
    type Err = NoCallKey;

    fn from_str(text: &str) -> Result<Self, NoCallKey> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| NoCallKey)?;
        bytes.try_into().map(Self).map_err(|_| NoCallKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_the_same_ticket_in_every_process_and_no_other_has_it() {
        let key = CallKey::random();
        let read: CallKey = key.to_string().parse().unwrap();
        assert_eq!(read.ticket(1, "round", "k"), key.ticket(1, "round", "k"));
        let others = [
            key.ticket(2, "round", "k"),
            key.ticket(1, "link", "k"),
            key.ticket(1, "round", "l"),
            CallKey::random().ticket(1, "round", "k"),
        ];
        for other in others {
            assert_ne!(other, key.ticket(1, "round", "k"));
        }
        assert_eq!("xyzzy".parse::<CallKey>(), Err(NoCallKey));
    }
}
