//! Which modes of elicitation a client declares.
//!
//! `elicitation: {}` means forms, for that is all there was in 2025-06-18.
//! Clients from before the specification say `experimental.elicitation`.

use std::fmt;

use serde_json::Value;

use super::{JsonObject, Revision, members::object_at};

/// How a question is put to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Fields to fill in.
    Form,
    /// A link to open.
    Url,
}

/// The modes a client can do, or a revision can say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modes {
    /// Fields to fill in.
    pub form: bool,
    /// Links to open.
    pub url: bool,
}

impl Modes {
    /// Reads them from a client's capabilities.
    ///
    /// ```
    /// use midcall_core::wire::{Modes, Revision};
    /// # use serde_json::json;
    ///
    /// let mut capabilities = json!({"roots": {}, "elicitation": {}});
    /// let capabilities = capabilities.as_object_mut().unwrap();
    /// assert_eq!(Modes::read(capabilities), Modes { form: true, url: false });
    ///
    /// let both = Modes { form: true, url: true };
    /// both.declare(capabilities, Revision::V2025_11_25);
    /// assert_eq!(capabilities["elicitation"], json!({"form": {}, "url": {}}));
    /// ```
    pub fn read(capabilities: &JsonObject) -> Modes {
        let said = match capabilities.get("elicitation") {
            Some(Value::Object(modes)) => {
                let given = |mode| modes.get(mode).filter(|said| !said.is_null());
                let (form, url) = (given("form"), given("url"));
                Modes {
                    form: is_declared(form) || (form.is_none() && url.is_none()),
                    url: is_declared(url),
                }
            }
            other => Modes {
                form: is_declared(other),
                url: false,
            },
        };
        let experimental = capabilities
            .get("experimental")
            .and_then(|experimental| experimental.get("elicitation"));
        said.union(Modes {
            form: is_declared(experimental),
            url: false,
        })
    }

    /// Adds these modes to a client's capabilities, in the words of a revision
    /// and as far as it has any. Modes already declared stay declared, in the
    /// same words; all other members are left as they are.
    pub fn declare(self, capabilities: &mut JsonObject, revision: Revision) {
        if !revision.elicits() {
            return;
        }
        let known = self.union(Modes::read(capabilities));
        let modes = Modes {
            url: known.url && revision.links(),
            ..known
        };
        if modes == Modes::default() {
            // A client of links alone must not look like one of forms.
            capabilities.shift_remove("elicitation");
            return;
        }
        let declared = object_at(capabilities, "elicitation");
        // 2025-06-18 says `{}`. Later both modes are spelled out, since
        // `{url: {}}` alone would take forms back.
        let spelled = revision.links();
        for (name, wanted) in [("form", modes.form), ("url", modes.url)] {
            if !(spelled && wanted) {
                declared.shift_remove(name);
            } else {
                object_at(declared, name);
            }
        }
    }

    /// The modes a revision has words for.
    pub fn sayable(revision: Revision) -> Modes {
        Modes {
            form: revision.elicits(),
            url: revision.links(),
        }
    }

    /// Whether a mode is among these.
    pub fn has(self, mode: Mode) -> bool {
        match mode {
            Mode::Form => self.form,
            Mode::Url => self.url,
        }
    }

    /// The modes of either.
    pub fn union(self, other: Modes) -> Modes {
        Modes {
            form: self.form || other.form,
            url: self.url || other.url,
        }
    }
}

impl Mode {
    /// The protocol's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Form => "form",
            Mode::Url => "url",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A capability is declared by an object. Some clients write `true` instead,
/// and `null` or `false` for "no".
fn is_declared(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Object(_) | Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NONE: Modes = Modes {
        form: false,
        url: false,
    };
    const FORM: Modes = Modes { form: true, ..NONE };
    const URL: Modes = Modes { url: true, ..NONE };
    const BOTH: Modes = Modes {
        form: true,
        url: true,
    };

    fn object(json: Value) -> JsonObject {
        crate::wire::members::object(json, "capabilities").unwrap()
    }

    #[test]
    fn capabilities_are_read_leniently() {
        for (capabilities, expected) in [
            (json!({}), NONE),
            (json!({"elicitation": {}}), FORM),
            (json!({"elicitation": {"form": {}}}), FORM),
            (json!({"elicitation": {"url": {}}}), URL),
            (json!({"elicitation": {"form": {}, "url": {}}}), BOTH),
            (json!({"elicitation": {"form": true, "url": null}}), FORM),
            (json!({"elicitation": {"form": false, "url": true}}), URL),
            (json!({"elicitation": {"form": false}}), NONE),
            (json!({"elicitation": {"schemaValidation": true}}), FORM),
            (json!({"elicitation": true}), FORM),
            (json!({"elicitation": false}), NONE),
            (json!({"elicitation": null}), NONE),
            (json!({"elicitation": "yes"}), NONE),
            (json!({"elicitation": [1]}), NONE),
            (json!({"experimental": {"elicitation": {}}}), FORM),
            (json!({"experimental": {"elicitation": false}}), NONE),
            (json!({"experimental": true}), NONE),
            (
                json!({"elicitation": {"url": {}}, "experimental": {"elicitation": {}}}),
                BOTH,
            ),
        ] {
            assert_eq!(
                Modes::read(&object(capabilities.clone())),
                expected,
                "{capabilities}"
            );
        }
    }

    #[test]
    fn modes_are_declared_in_the_words_of_each_revision() {
        use Revision::*;
        for (before, modes, revision, after) in [
            (json!({}), BOTH, V2024_11_05, json!({})),
            (json!({}), BOTH, V2025_03_26, json!({})),
            (json!({}), BOTH, V2025_06_18, json!({"elicitation": {}})),
            (json!({}), URL, V2025_06_18, json!({})),
            (json!({}), NONE, V2025_11_25, json!({})),
            (
                json!({}),
                FORM,
                V2025_11_25,
                json!({"elicitation": {"form": {}}}),
            ),
            (
                json!({}),
                BOTH,
                V2026_07_28,
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            // What was declared before is not taken back, ...
            (
                json!({"elicitation": {}}),
                URL,
                V2025_11_25,
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            (
                json!({"elicitation": true}),
                NONE,
                V2025_06_18,
                json!({"elicitation": {}}),
            ),
            (
                json!({"elicitation": {"url": true}}),
                FORM,
                V2026_07_28,
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            // ... and details and neighbours stay.
            (
                json!({"roots": {"listChanged": true}, "elicitation": {"form": {"x": 1}, "y": 2}}),
                BOTH,
                V2026_07_28,
                json!({"roots": {"listChanged": true}, "elicitation": {"form": {"x": 1}, "y": 2, "url": {}}}),
            ),
            // Links alone cannot be said in 2025-06-18: `{}` would mean forms.
            (
                json!({"elicitation": {"url": {}}}),
                NONE,
                V2025_06_18,
                json!({}),
            ),
            (
                json!({"elicitation": {"form": {}, "url": {}}}),
                NONE,
                V2025_06_18,
                json!({"elicitation": {}}),
            ),
        ] {
            let mut capabilities = object(before.clone());
            modes.declare(&mut capabilities, revision);
            assert_eq!(
                Value::Object(capabilities),
                after,
                "{before} + {modes:?} in {revision}"
            );
        }
    }
}
