//! The `data` of the errors that say what is missing. Their codes: [`code`].
//!
//! [`code`]: super::code

use serde_json::Value;

use super::{
    ElicitRequestParams, Era, JsonObject, Members, Mode, Modes, Revision, Unreadable, Unsayable,
    fault::only,
    members::{object, put, put_rest, take, take_members, take_text},
};

/// The data of `-32042`: links to follow before the call is repeated.
/// 2025-11-25 alone has it.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlElicitationRequired {
    /// The links. Reading takes no forms and writing refuses them.
    pub elicitations: Vec<ElicitRequestParams>,
    /// Members we do not know.
    pub rest: Members,
}

impl UrlElicitationRequired {
    /// Reads the data. A link without a `mode` is forgiven: it can be no other.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut data = object(json, "data")?;
        let Some(elicitations) = take(&mut data, "elicitations") else {
            return Err(Unreadable::Missing("elicitations"));
        };
        let Value::Array(elicitations) = elicitations else {
            return Err(Unreadable::Unfit {
                member: "elicitations",
                expected: "an array",
            });
        };
        let elicitations = elicitations
            .into_iter()
            .enumerate()
            .map(|(index, json)| {
                ElicitRequestParams::read_link(json)
                    .map_err(|why| why.within(&format!("elicitations[{index}]")))
            })
            .collect::<Result<_, _>>()?;
        Ok(UrlElicitationRequired {
            elicitations,
            rest: Members(data),
        })
    }

    /// Writes the data.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        only(revision == Revision::V2025_11_25, "error -32042", revision)?;
        let elicitations = self
            .elicitations
            .iter()
            .map(|params| {
                let is_link = params.mode() == Mode::Url;
                only(is_link, "forms in error -32042", revision)?;
                params.write(revision).map(Value::Object)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut data = JsonObject::new();
        put(&mut data, "elicitations", elicitations);
        put_rest(&mut data, &self.rest);
        Ok(data)
    }
}

/// The data of `-32021`: what the client would have to declare.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingClientCapability {
    /// Client capabilities, in their usual shape.
    pub required: Members,
    /// Members we do not know.
    pub rest: Members,
}

impl MissingClientCapability {
    /// These modes of elicitation are missing.
    pub fn of(modes: Modes) -> Self {
        let mut required = Members::default();
        modes.declare(&mut required, Revision::V2026_07_28);
        MissingClientCapability {
            required,
            rest: Members::default(),
        }
    }

    /// Reads the data.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut data = object(json, "data")?;
        Ok(MissingClientCapability {
            required: take_members(&mut data, "requiredCapabilities")?
                .ok_or(Unreadable::Missing("requiredCapabilities"))?,
            rest: Members(data),
        })
    }

    /// Writes the data.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        only(revision.era() == Era::Modern, "error -32021", revision)?;
        let mut data = JsonObject::new();
        put(&mut data, "requiredCapabilities", self.required.clone());
        put_rest(&mut data, &self.rest);
        Ok(data)
    }

    /// The modes of elicitation among what is required.
    pub fn modes(&self) -> Modes {
        Modes::read(&self.required)
    }
}

/// The data of `-32022`: what the server speaks instead. Legacy servers send
/// the same data with `-32602` when `initialize` names a revision they do not
/// know.
#[derive(Clone, Debug, PartialEq)]
pub struct UnsupportedVersion {
    /// What the server speaks. May name revisions that we do not know.
    pub supported: Vec<String>,
    /// What the client asked for. Empty if the server does not say.
    pub requested: String,
    /// Members we do not know.
    pub rest: Members,
}

impl UnsupportedVersion {
    /// Reads the data. Not to say what was requested is forgiven.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut data = object(json, "data")?;
        let Some(supported) = take(&mut data, "supported") else {
            return Err(Unreadable::Missing("supported"));
        };
        Ok(UnsupportedVersion {
            supported: serde_json::from_value(supported).map_err(|_| Unreadable::Unfit {
                member: "supported",
                expected: "an array of strings",
            })?,
            requested: take_text(&mut data, "requested")?.unwrap_or_default(),
            rest: Members(data),
        })
    }

    /// Writes the data.
    pub fn write(&self) -> JsonObject {
        let mut data = JsonObject::new();
        put(&mut data, "supported", self.supported.clone());
        put(&mut data, "requested", self.requested.as_str());
        put_rest(&mut data, &self.rest);
        data
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_to_follow_are_read_leniently() {
        let data = UrlElicitationRequired::read(json!({
            "elicitations": [{"url": "https://example.com/in", "elicitationId": "e-1"}],
            "x": 1,
        }))
        .unwrap();
        assert_eq!(
            Value::Object(data.write(Revision::V2025_11_25).unwrap()),
            json!({
                "elicitations": [{
                    "mode": "url", "message": "",
                    "url": "https://example.com/in", "elicitationId": "e-1",
                }],
                "x": 1,
            })
        );
    }

    #[test]
    fn what_is_not_a_list_of_links_is_named() {
        let form = json!({"mode": "form", "requestedSchema": {}});
        for (data, expected) in [
            (json!({}), "`elicitations` is missing"),
            (
                json!({"elicitations": {}}),
                "`elicitations` must be an array",
            ),
            (
                json!({"elicitations": [form]}),
                r#"in `elicitations[0]`: `mode` must be "url""#,
            ),
            (
                json!({"elicitations": [{"url": "u"}, {}]}),
                "in `elicitations[1]`: `url` is missing",
            ),
        ] {
            let unreadable = UrlElicitationRequired::read(data).unwrap_err();
            assert_eq!(unreadable.to_string(), expected);
        }
    }

    #[test]
    fn errors_are_written_only_where_they_exist() {
        let form = ElicitRequestParams::read(json!({"requestedSchema": {}})).unwrap();
        let forms = UrlElicitationRequired {
            elicitations: vec![form],
            rest: Members::default(),
        };
        for (written, expected) in [
            (
                forms.write(Revision::V2025_11_25),
                "MCP 2025-11-25 has no forms in error -32042",
            ),
            (
                forms.write(Revision::V2026_07_28),
                "MCP 2026-07-28 has no error -32042",
            ),
            (
                MissingClientCapability::of(Modes::default()).write(Revision::V2025_11_25),
                "MCP 2025-11-25 has no error -32021",
            ),
        ] {
            assert_eq!(written.unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn missing_modes_are_said_and_heard() {
        let modes = Modes {
            form: false,
            url: true,
        };
        let missing = MissingClientCapability::of(modes);
        let data = missing.write(Revision::V2026_07_28).unwrap();
        assert_eq!(
            Value::Object(data.clone()),
            json!({"requiredCapabilities": {"elicitation": {"url": {}}}})
        );
        let heard = MissingClientCapability::read(data.into()).unwrap();
        assert_eq!(heard.modes(), modes);
        assert!(MissingClientCapability::read(json!({})).is_err());
    }

    #[test]
    fn an_unsupported_version_names_the_supported_ones() {
        let data = UnsupportedVersion::read(json!({"supported": ["2024-11-05", "new"]})).unwrap();
        assert_eq!(data.supported, ["2024-11-05", "new"]);
        assert_eq!(data.requested, "");
        for odd in [
            json!({}),
            json!({"supported": "x"}),
            json!({"supported": [1]}),
        ] {
            assert!(UnsupportedVersion::read(odd).is_err());
        }
    }
}
