//! What a call came to.

use serde_json::Value;

/// What a call came to.
///
/// ```
/// use midcall_server::testing::Got;
/// # use serde_json::json;
/// let got = Got(json!({"error": {"code": -32602, "message": "no"}}));
/// assert!(got.is_error());
/// assert_eq!((got.code(), got.text(), got.pending()), (Some(-32602), "no", None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Got(pub Value);

impl Got {
    /// The text of the result, or the message of the error.
    ///
    /// ```
    /// use midcall_server::testing::Got;
    /// # use serde_json::json;
    /// let got = Got(json!({"result": {"content": [{"type": "text", "text": "Booked"}]}}));
    /// assert_eq!(got.text(), "Booked");
    /// ```
    pub fn text(&self) -> &str {
        let result = self.0["result"]["content"][0]["text"].as_str();
        result
            .or(self.0["error"]["message"].as_str())
            .unwrap_or_default()
    }

    /// Whether the tool could not do what it was called for.
    ///
    /// ```
    /// use midcall_server::testing::Got;
    /// # use serde_json::json;
    /// let got = Got(json!({"result": {"isError": true, "content": []}}));
    /// assert!(got.is_error() && got.code().is_none());
    /// ```
    pub fn is_error(&self) -> bool {
        self.0["result"]["isError"] == true || self.code().is_some()
    }

    /// The code of a protocol error.
    ///
    /// ```
    /// use midcall_server::testing::Got;
    /// # use serde_json::json;
    /// let got = Got(json!({"error": {"code": -32042, "message": "Sign in first"}}));
    /// assert_eq!(got.code(), Some(-32042));
    /// ```
    pub fn code(&self) -> Option<i64> {
        self.0["error"]["code"].as_i64()
    }

    /// The question that a model must ask again, since the answer did not fit.
    pub(super) fn mend<'a>(&self, asked: &'a Value) -> Option<&'a Value> {
        let problems = self.0["result"]["_meta"].get("dev.midcall/problems");
        problems.map(|_| asked)
    }

    /// What a model was told to ask.
    ///
    /// ```
    /// # use midcall_server::testing::Connected;
    /// # use serde_json::json;
    /// # async fn story<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    /// // What a client without elicitation gets: its model is told to ask.
    /// let got = connected.once("tools/call", json!({"name": "book_table"})).await;
    /// assert_eq!(got.pending().unwrap()["message"], "Which table?");
    /// # }
    /// ```
    pub fn pending(&self) -> Option<&Value> {
        self.0["result"]["_meta"].get("elicitationPending")
    }
}
