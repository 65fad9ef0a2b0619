//! `elicitation/create`: what a server wants to know.

use std::fmt;

use serde_json::Value;

use super::{
    JsonObject, Members, Mode, Modes, Revision, Unreadable, Unsayable,
    fault::excerpt,
    members::{
        object, put, put_required, put_rest, put_some, take, take_members, take_meta, take_text,
    },
    meta,
};

/// The params of `elicitation/create`, in either mode.
///
/// ```
/// use midcall_core::wire::{ElicitRequestParams, Revision};
/// # use serde_json::json;
///
/// let params = ElicitRequestParams::read(json!({
///     "message": "For which day?",
///     "requestedSchema": {"type": "object", "properties": {"day": {"type": "string"}}},
/// }))?;
/// assert_eq!(params.message, "For which day?");
///
/// let modern = params.write(Revision::V2026_07_28).unwrap();
/// assert_eq!(modern["mode"], "form");
/// assert!(params.write(Revision::V2025_03_26).is_err());
/// # Ok::<(), midcall_core::wire::Unreadable>(())
/// ```
#[derive(Clone, PartialEq)] // Debug is written by hand: a link may carry a secret
pub struct ElicitRequestParams {
    /// What the server says to the person. Empty if it said nothing.
    pub message: String,
    /// What it asks for.
    pub asked: Asked,
    /// The server's `_meta`.
    pub meta: Option<Members>,
    /// The wish to be answered by a task. 2025-11-25 alone has it; who drops
    /// it answers at once, as without tasks.
    pub task: Option<Value>,
    /// A guest UI (`{uri, mode, context}`), as rich elicitation sends it.
    pub ui: Option<Value>,
    /// Members we do not know.
    pub rest: Members,
}

/// What a server asks for.
#[derive(Clone, PartialEq)]
pub enum Asked {
    /// Fields to fill in.
    Form {
        /// An object, otherwise as the server wrote it.
        requested_schema: Value,
    },
    /// A link to open.
    Url {
        /// Where it leads. Not checked here.
        url: String,
        /// The name by which 2025-11-25 speaks of it later.
        elicitation_id: Option<String>,
    },
}

impl ElicitRequestParams {
    /// The method these are the params of.
    pub const METHOD: &str = "elicitation/create";

    /// Reads them. Without a `mode` they are a form.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        Self::read_or(json, Mode::Form)
    }

    /// Reads one of a list of links, where `mode` can only be `url`.
    pub(super) fn read_link(json: Value) -> Result<Self, Unreadable> {
        let params = Self::read_or(json, Mode::Url)?;
        match params.mode() {
            Mode::Url => Ok(params),
            Mode::Form => Err(Unreadable::Unfit {
                member: "mode",
                expected: "\"url\"",
            }),
        }
    }

    fn read_or(json: Value, default: Mode) -> Result<Self, Unreadable> {
        let mut params = object(json, "params")?;
        let mode = match take_text(&mut params, "mode")?.as_deref() {
            None => default,
            Some("form") => Mode::Form,
            Some("url") => Mode::Url,
            Some(other) => return Err(Unreadable::Mode(excerpt(other))),
        };
        let asked = match mode {
            Mode::Form => Asked::Form {
                requested_schema: take_members(&mut params, "requestedSchema")?
                    .ok_or(Unreadable::Missing("requestedSchema"))?
                    .into(),
            },
            Mode::Url => Asked::Url {
                url: take_text(&mut params, "url")?.ok_or(Unreadable::Missing("url"))?,
                elicitation_id: take_text(&mut params, "elicitationId")?,
            },
        };
        Ok(ElicitRequestParams {
            message: take_text(&mut params, "message")?.unwrap_or_default(),
            asked,
            meta: take_meta(&mut params),
            task: take(&mut params, "task"),
            ui: take(&mut params, "ui"),
            rest: Members(params),
        })
    }

    /// Writes them as a revision says them.
    ///
    /// A link in 2025-11-25 needs an id: see [`identify`](Self::identify). What
    /// the revision has no member for (`elicitationId`, `task`) is left out.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        let mode = self.mode();
        if !Modes::sayable(revision).has(mode) {
            return Err(Unsayable::Mode { mode, revision });
        }
        // Ids of links and tasks of questions came with this revision and went
        // with it.
        let with_ids_and_tasks = revision == Revision::V2025_11_25;
        let mut params = JsonObject::new();
        if revision.links() {
            put(&mut params, "mode", mode.as_str());
        }
        put(&mut params, "message", self.message.as_str());
        match &self.asked {
            Asked::Form { requested_schema } => {
                put(&mut params, "requestedSchema", requested_schema.clone());
            }
            Asked::Url {
                url,
                elicitation_id,
            } => {
                put(&mut params, "url", url.as_str());
                if with_ids_and_tasks {
                    put_required(&mut params, "elicitationId", elicitation_id, revision)?;
                }
            }
        }
        if with_ids_and_tasks {
            put_some(&mut params, "task", &self.task);
        }
        put_some(&mut params, "ui", &self.ui);
        put_some(&mut params, "_meta", &self.meta);
        put_rest(&mut params, &self.rest);
        Ok(params)
    }

    /// How the person is asked.
    pub fn mode(&self) -> Mode {
        match self.asked {
            Asked::Form { .. } => Mode::Form,
            Asked::Url { .. } => Mode::Url,
        }
    }

    /// Gives a link the id that 2025-11-25 wants, unless it has one. A form
    /// has none.
    pub fn identify(&mut self, mint: impl FnOnce() -> String) {
        if let Asked::Url { elicitation_id, .. } = &mut self.asked {
            elicitation_id.get_or_insert_with(mint);
        }
    }

    /// How long the server wants the question to wait, if it says.
    pub fn timeout_ms(&self) -> Option<u64> {
        meta::timeout_ms(self.meta.as_ref())
    }

    /// Whether the server says that accepting it destroys something.
    pub fn is_destructive(&self) -> bool {
        let said = self.meta.as_ref();
        said.and_then(|said| said.get(meta::DESTRUCTIVE)) == Some(&Value::Bool(true))
    }

    /// The task of 2025-11-25 that asks this, if it says.
    pub fn related_task(&self) -> Option<&str> {
        self.meta
            .as_ref()?
            .get(meta::RELATED_TASK)?
            .get("taskId")?
            .as_str()
    }
}

impl fmt::Debug for ElicitRequestParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElicitRequestParams")
            .field("mode", &self.mode())
            .field("message", &self.message)
            .field("meta", &self.meta)
            .field("rest", &self.rest)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(more: Value) -> ElicitRequestParams {
        let mut params = json!({"message": "Why?", "requestedSchema": {"type": "object"}});
        for (member, value) in more.as_object().unwrap() {
            params[member] = value.clone();
        }
        ElicitRequestParams::read(params).unwrap()
    }

    fn link(id: Option<&str>) -> ElicitRequestParams {
        ElicitRequestParams::read(json!({
            "mode": "url", "message": "Sign in", "url": "https://example.com/in",
            "elicitationId": id, "task": {"ttl": 1},
        }))
        .unwrap()
    }

    #[test]
    fn small_sins_are_forgiven() {
        assert_eq!(form(json!({"mode": null})), form(json!({"mode": "form"})));
        assert_eq!(form(json!({"message": null})).message, "");
        assert_eq!(form(json!({"_meta": null})).meta, None);
        assert_eq!(form(json!({"_meta": "junk"})).meta, None);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (params, expected) in [
            (json!([]), "`params` must be a JSON object"),
            (json!({}), "`requestedSchema` is missing"),
            (
                json!({"requestedSchema": null}),
                "`requestedSchema` is missing",
            ),
            (
                json!({"requestedSchema": "{}"}),
                "`requestedSchema` must be a JSON object",
            ),
            (json!({"mode": "url"}), "`url` is missing"),
            (json!({"mode": "url", "url": 7}), "`url` must be a string"),
            (
                json!({"mode": "url", "url": "u", "message": ["x"]}),
                "`message` must be a string",
            ),
            (json!({"mode": 1}), "`mode` must be a string"),
            (
                json!({"mode": "voice\u{7}"}),
                r#"the elicitation mode "voice\u{7}" is unknown: it must be "form" or "url""#,
            ),
        ] {
            let unreadable = ElicitRequestParams::read(params.clone()).unwrap_err();
            assert_eq!(unreadable.to_string(), expected, "{params}");
        }
    }

    #[test]
    fn each_revision_is_written_in_its_own_words() {
        use Revision::*;
        let (form, link) = (form(json!({"task": {"ttl": 1}})), link(Some("e-1")));
        for (params, revision, members) in [
            (&form, V2025_06_18, "message requestedSchema"),
            (&form, V2025_11_25, "mode message requestedSchema task"),
            (&form, V2026_07_28, "mode message requestedSchema"),
            (&link, V2025_11_25, "mode message url elicitationId task"),
            (&link, V2026_07_28, "mode message url"),
        ] {
            let written = params.write(revision).unwrap();
            let names: Vec<_> = written.keys().map(String::as_str).collect();
            assert_eq!(names.join(" "), members, "{revision}");
        }
    }

    #[test]
    fn what_a_revision_has_no_words_for_is_refused() {
        for (params, revision, expected) in [
            (
                form(json!({})),
                Revision::V2025_03_26,
                "MCP 2025-03-26 has no elicitation in form mode",
            ),
            (
                link(Some("e-1")),
                Revision::V2025_06_18,
                "MCP 2025-06-18 has no elicitation in url mode",
            ),
            (
                link(None),
                Revision::V2025_11_25,
                "MCP 2025-11-25 requires `elicitationId`, which was not given",
            ),
        ] {
            let unsayable = params.write(revision).unwrap_err();
            assert_eq!(unsayable.to_string(), expected);
        }
    }

    #[test]
    fn an_id_is_minted_only_where_one_is_missing() {
        let mint = || "minted".to_owned();
        for (mut params, expected) in [
            (link(None), json!("minted")),
            (link(Some("e-1")), json!("e-1")),
            (form(json!({})), Value::Null),
        ] {
            params.identify(mint);
            let written = Value::Object(params.write(Revision::V2025_11_25).unwrap());
            assert_eq!(written["elicitationId"], expected);
        }
    }

    #[test]
    fn unknown_members_and_meta_pass() {
        let more = json!({"_meta": {"a": [1]}, "ui": {"uri": "ui://x"}, "x-new": {"b": null}});
        for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
            let written = form(more.clone()).write(revision).unwrap();
            for member in ["_meta", "ui", "x-new"] {
                assert_eq!(written[member], more[member], "{member} in {revision}");
            }
        }
    }

    #[test]
    fn debug_shows_the_question_and_no_values_of_meta() {
        let params = form(json!({"_meta": {"k": "s3cr3t"}, "x": "s3cr3t"}));
        let printed = format!("{params:?}");
        assert!(printed.contains("Why?") && printed.contains("\"k\""));
        assert!(!printed.contains("s3cr3t"), "{printed}");
    }

    #[test]
    fn meta_is_heard() {
        for (timeout, expected) in [
            (json!(1500), Some(1500)),
            (json!(0), None),
            (json!(-5), None),
            (json!("1500"), None),
        ] {
            let params = form(json!({"_meta": {meta::TIMEOUT: timeout}}));
            assert_eq!(params.timeout_ms(), expected, "{timeout}");
        }
        let asked_by = json!({"_meta": {meta::RELATED_TASK: {"taskId": "t-1"}}});
        assert_eq!(form(asked_by).related_task(), Some("t-1"));
        assert_eq!(form(json!({})).related_task(), None);
    }
}
