//! `notifications/elicitation/complete`: what a link led to is done.
//!
//! 2025-11-25 alone has it. In 2026-07-28 a client learns it by retrying.

use serde_json::Value;

use super::{
    JsonObject, Members, Revision, Unreadable, Unsayable,
    fault::only,
    members::{object, put, put_rest, take_text},
};

/// The params of `notifications/elicitation/complete`.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitationCompleteParams {
    /// The link, by the id its question had.
    pub elicitation_id: String,
    /// Members we do not know, and `_meta`.
    pub rest: Members,
}

impl ElicitationCompleteParams {
    /// The method these are the params of.
    pub const METHOD: &str = "notifications/elicitation/complete";

    /// Reads them.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut params = object(json, "params")?;
        Ok(ElicitationCompleteParams {
            elicitation_id: take_text(&mut params, "elicitationId")?
                .ok_or(Unreadable::Missing("elicitationId"))?,
            rest: Members(params),
        })
    }

    /// Writes them.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        only(revision == Revision::V2025_11_25, Self::METHOD, revision)?;
        let mut params = JsonObject::new();
        put(&mut params, "elicitationId", self.elicitation_id.as_str());
        put_rest(&mut params, &self.rest);
        Ok(params)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_one_revision_says_that_a_link_is_done() {
        let json = json!({"elicitationId": "e-1", "x": 1});
        let done = ElicitationCompleteParams::read(json.clone()).unwrap();
        for revision in Revision::ALL {
            let written = done.write(revision);
            if revision == Revision::V2025_11_25 {
                assert_eq!(Value::Object(written.unwrap()), json);
            } else {
                let unsayable = written.unwrap_err().to_string();
                assert!(unsayable.ends_with("has no notifications/elicitation/complete"));
            }
        }
        assert_eq!(
            ElicitationCompleteParams::read(json!({})),
            Err(Unreadable::Missing("elicitationId"))
        );
    }
}
