//! How servers say that they can't do a call in the era they were opened in.
//!
//! No code of the protocol means that, so Midcall knows the texts of other SDKs (`refusals.toml`).

use std::sync::LazyLock;

use memchr::memmem;
use serde::Deserialize;

use crate::frame::Members;

/// True if a response says that the server could do the call in the other era.
pub fn refuses_era(members: &Members<'_>) -> bool {
    let is_error = |result: &&[u8]| memmem::find(result, b"\"isError\":true").is_some();
    let said = members.error.or(members.result.filter(is_error));
    said.is_some_and(|said| {
        REFUSALS
            .iter()
            .any(|refusal| memmem::find(said, refusal.text.as_bytes()).is_some())
    })
}

/// How one SDK refuses a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    #[expect(
        dead_code,
        reason = "it tells readers of the file whose words these are"
    )]
    from: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusals {
    refusal: Vec<Refusal>,
}

/// Read when a server first answers with an error.
static REFUSALS: LazyLock<Vec<Refusal>> = LazyLock::new(|| {
    let read: Result<Refusals, _> = toml::from_str(include_str!("../../refusals.toml"));
    read.expect("refusals.toml is part of the program").refusal
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    fn refuses(response: &str) -> bool {
        let frame = Frame::new(response.to_owned().into());
        frame
            .peek()
            .is_some_and(|(_, members)| refuses_era(&members))
    }

    #[test]
    fn a_refusal_counts_in_errors_alone() {
        for Refusal { text, .. } in REFUSALS.iter() {
            for (response, counts) in [
                (
                    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"X"}}"#,
                    true,
                ),
                (
                    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"X"}],"isError":true}}"#,
                    true,
                ),
                (
                    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"X"}]}}"#,
                    false,
                ),
            ] {
                assert_eq!(refuses(&response.replace('X', text)), counts, "{text}");
            }
        }
        assert_eq!(REFUSALS.len(), 7);
    }

    #[test]
    fn another_error_is_no_refusal() {
        assert!(!refuses(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The disk is full"}}"#
        ));
    }
}
