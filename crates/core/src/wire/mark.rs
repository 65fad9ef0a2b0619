//! Which fields ask for a secret, said to surfaces.
//!
//! Core sees through disguises that need large tables (`secret`). A page has no such tables, so
//! each field that asks for a secret gets the keyword [`MARK`] in the schema that surfaces read:
//! `"dev.midcall/secret": "card_code"`. A surface masks a marked field, whatever it thinks of the
//! field's words. A mark changes no rule.
//!
//! In: [`of`] and [`apply`], for [`Elicitation::read`](crate::Elicitation::read). Out:
//! [`Field::secret`](crate::Field::secret), which heeds a mark too.

use serde_json::Value;

use crate::form::Form;
use crate::secret::Secret;

/// The keyword of a field that asks for a secret. Its value is the [`name`](crate::Secret::name)
/// of the secret.
pub(crate) const MARK: &str = "dev.midcall/secret";

/// The fields of a form that ask for a secret, by the pointers of their values.
pub(crate) fn of(form: &Form) -> Vec<(String, Secret)> {
    let fields = form.walk().into_iter();
    let marks = fields.filter_map(|(path, field)| Some((path, field.secret()?)));
    marks.collect()
}

/// Writes marks into the schema they are about.
///
/// A field that isn't where its pointer leads, because an `allOf` around it brought it in, stays
/// unmarked: surfaces judge it by its words.
pub(crate) fn apply(schema: &mut Value, marks: &[(String, Secret)]) {
    for (path, secret) in marks {
        if let Some(Value::Object(field)) = schema.pointer_mut(&within_properties(path)) {
            field.insert(MARK.to_owned(), secret.name().into());
        }
    }
}

/// Where the schema of a value is: of `/home/city`, at `/properties/home/properties/city`.
fn within_properties(path: &str) -> String {
    path.replace('/', "/properties/")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Asker, Elicitation, ElicitationError, Limits, Wanted};

    fn read(properties: Value, limits: &Limits) -> Result<Elicitation, ElicitationError> {
        let params = json!({"message": "?", "requestedSchema":
            {"type": "object", "properties": properties, "$defs": {"word": {"type": "string"}}}});
        Elicitation::read(&params.to_string(), Asker::named("x"), limits)
    }

    fn shown(elicitation: &Elicitation) -> Value {
        let params: Value = serde_json::from_str(elicitation.params().get()).unwrap();
        params["requestedSchema"].clone()
    }

    #[test]
    fn a_field_in_disguise_is_marked_whatever_its_kind() {
        let properties = json!({
            "name": {"type": "string"},
            "p\u{430}ss": {"type": "string", "title": "P\u{430}ssword", "format": "email"},
            "a/b": {"type": "object", "properties": {"~": {"type": "integer", "title": "\u{420}\u{406}N"}}},
            "list": {"type": "array", "items": {"type": "string"}, "title": "t\u{43e}ken"},
            "word": {"$ref": "#/$defs/word", "title": "\u{421}VV"},
            "sure": {"type": "boolean", "title": "Password"},
        });
        let limits = Limits::default();
        let elicitation = read(properties.clone(), &limits).unwrap();
        let marked = shown(&elicitation);
        let fields = &marked["properties"];
        assert_eq!(fields["name"], properties["name"]);
        assert_eq!(fields["sure"], properties["sure"]);
        assert_eq!(fields["p\u{430}ss"][MARK], "password");
        assert_eq!(fields["a/b"]["properties"]["~"][MARK], "pin");
        assert_eq!(fields["list"][MARK], "token");
        assert_eq!(fields["word"][MARK], "card_code");
        let form = Form::from_value(marked, &limits).unwrap();
        assert_eq!(
            elicitation.wanted,
            Wanted::Form(Box::new(form)),
            "the page and the check agree"
        );

        let again = Elicitation::read(elicitation.params().get(), Asker::named("x"), &limits);
        let again = again.unwrap();
        assert_eq!(
            again.params().get(),
            elicitation.params().get(),
            "marked once"
        );
    }

    #[test]
    fn a_server_can_mark_a_field_but_not_unmark_one() {
        let properties = json!({
            "word": {"type": "string", MARK: "pin"}, "password": {"type": "string", MARK: "none"},
            "odd": {"type": "string", MARK: "constructor"}, "list": {"type": "string", MARK: ["pin"]},
        });
        let elicitation = read(properties, &Limits::default()).unwrap();
        assert_eq!(
            shown(&elicitation)["properties"]["password"][MARK],
            "password"
        );
        let Wanted::Form(form) = &elicitation.wanted else {
            panic!("a form");
        };
        let secrets: Vec<_> = form
            .walk()
            .iter()
            .map(|(_, field)| field.secret())
            .collect();
        let names: Vec<_> = secrets
            .into_iter()
            .map(|secret| secret.map(Secret::name))
            .collect();
        assert_eq!(names, [Some("pin"), Some("password"), None, None]);
    }

    #[test]
    fn a_form_without_room_for_marks_is_refused() {
        let properties = json!({"password": {"type": "string"}});
        let fits = |bytes| {
            let limits = Limits {
                schema_bytes: bytes,
                ..Limits::default()
            };
            read(properties.clone(), &limits).is_ok()
        };
        assert!(fits(200));
        let plain = json!({"type": "object", "properties": properties, "$defs": {"word": {"type": "string"}}});
        assert!(
            !fits(plain.to_string().len() + 5),
            "padding must not keep a mark away"
        );
    }
}
