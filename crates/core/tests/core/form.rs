//! What becomes of a schema: kinds, repairs, refusals, and what is kept.

use midcall_core::{Extra, Form, FormError, Kind, Limits, Values};
use serde_json::{Value, json};

use crate::check::oracle;

fn try_read(schema: Value) -> Result<Form, FormError> {
    Form::from_value(schema, &Limits::default())
}

fn read(schema: Value) -> Form {
    try_read(schema).unwrap()
}

/// A form of one field, called `it`.
fn asking(field: Value) -> Value {
    json!({"type": "object", "properties": {"it": field}})
}

fn values(content: &Value) -> Values {
    Values::from(content.as_object().unwrap().clone())
}

fn problems(form: &Form, content: &Value) -> String {
    let told = form.problems(&values(content)).into_iter().map(|problem| {
        let (_, name) = problem.key().rsplit_once('.').unwrap();
        format!("{} {name}", problem.path)
    });
    told.collect::<Vec<_>>().join(", ")
}

/// The lines of a table: what is given, and what is told about it.
fn lines(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = table.trim().lines();
    lines.map(|line| {
        let (given, told) = line.split_once("=>").unwrap();
        (given.trim(), told.trim())
    })
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Each field with its kind, and `?` where `null` is a value too.
fn kinds(form: &Form) -> String {
    let told = form.walk().into_iter().map(|(path, field)| {
        let null = if field.nullable { "?" } else { "" };
        format!("{path} {}{null}", field.kind.name())
    });
    told.collect::<Vec<_>>().join(", ")
}

#[test]
fn each_repair_is_told_with_its_place() {
    let table = r##"
        {"properties": {}} => "" TypeMissing
        {"type": "object", "required": ["token"]} => "/properties/token" RequiredUnknown
        {"$ref": "#/definitions/A", "definitions": {"A": {"type": "object"}}} => "" RefInlined
    "##;
    for (schema, told) in lines(table) {
        assert_eq!(repairs(&read(json(schema))), told, "{schema}");
    }
    let table = r##"
        {"enum": ["a", "b"]} => "/it" TypeMissing
        {"properties": {"a/b": {"const": 1}}} => "/it/properties/a~1b" TypeMissing, "/it" TypeMissing
        {"type": "array", "items": {"enum": ["a"]}} => "/it/items" TypeMissing
        {"type": "string", "anyOf": [{"const": "a"}]} => "/it" AnyOfForOneOf
        {"anyOf": [{"type": "string"}, {"type": "null"}]} => "/it" Nullable
        {"type": ["null", "integer"]} => "/it" Nullable
        {"$ref": "#/$defs/A"} => "/it" RefInlined
        {"type": "array", "items": {"$ref": "#/$defs/A"}} => "/it/items" RefInlined
        {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]} => "/it" Nullable, "/it" RefInlined
        {"type": "string", "enum": ["a", "b"], "enumNames": ["A"]} => "/it/enumNames" NamesMismatch
        {"type": "string", "enum": ["a", "b", "a"]} => "/it/enum/2" OptionDropped
        {"type": "integer", "oneOf": [{"const": 1}, {"const": "2"}]} => "/it/oneOf/1" OptionDropped
        {"type": "array", "items": {"type": "string", "enum": ["a", 1]}} => "/it/items/enum/1" OptionDropped
    "##;
    for (field, told) in lines(table) {
        let mut schema = asking(json(field));
        schema["$defs"] = json!({"A": {"type": "string", "enum": ["a"]}});
        let told = told.replace("\"/it", "\"/properties/it");
        assert_eq!(repairs(&read(schema)), told, "{field}");
    }
}

fn repairs(form: &Form) -> String {
    let told = form.repairs.iter();
    let told: Vec<_> = told
        .map(|it| format!("{:?} {:?}", it.path, it.what))
        .collect();
    told.join(", ")
}

#[test]
fn fields_keep_the_order_they_were_sent_in() {
    let schema = r#"{"type": "object", "properties": {
        "z": {"type": "string"}, "10": {"type": "string"}, "9": {"type": "object", "properties": {
            "b": {"type": "string"}, "a": {"type": "string"}}},
        "": {"type": "string"}}, "required": ["gone"]}"#;
    let form = Form::read(schema, &Limits::default()).unwrap();
    assert_eq!(
        kinds(&form),
        "/z text, /10 text, /9 group, /9/b text, /9/a text, / text, /gone json"
    );
}

#[test]
fn what_a_form_has_no_use_for_is_kept() {
    let form = read(json!({
        "type": "object", "$schema": "x", "x-theme": "dark", "title": "T",
        "properties": {"it": {
            "type": "string", "minLength": 1, "x-order": 2, "deprecated": true, "not": {"const": "x"},
        }},
        "minProperties": 1,
    }));
    assert_eq!(
        Value::Object(form.rest),
        json!({"$schema": "x", "x-theme": "dark", "minProperties": 1})
    );
    let it = form.fields.get("it").unwrap();
    let kept = json!({"x-order": 2, "deprecated": true, "not": {"const": "x"}});
    assert_eq!(Value::Object(it.rest.clone()), kept);

    let rules = |schema: &Option<midcall_core::Schema>| schema.as_ref().unwrap().source().clone();
    assert_eq!(
        Value::Object(rules(&form.fields.beyond)),
        json!({"minProperties": 1})
    );
    assert_eq!(
        Value::Object(rules(&it.beyond)),
        json!({"not": {"const": "x"}})
    );
}

#[test]
fn nonsense_is_refused_where_it_stands() {
    let table = r#"
        [] => at `/`: the schema must be a JSON object
        true => at `/`: the schema must be a JSON object
        {"type": "string"} => at `/type`: a form's own type must be "object"
        {"type": 1} => at `/type`: a form's own type must be "object"
        {"properties": []} => at `/properties`: expected an object of properties
        {"required": "name"} => at `/required`: expected an array of texts
        {"required": [1]} => at `/required`: expected an array of texts
        {"title": 1} => at `/title`: expected a text
        {"additionalProperties": 0} => at `/additionalProperties`: expected true, false or a schema
    "#;
    for (schema, told) in lines(table) {
        assert_eq!(
            try_read(json(schema)).unwrap_err().to_string(),
            told,
            "{schema}"
        );
    }
    let table = r#"
        "string" => at `/it`: expected a schema: an object, true or false
        null => at `/it`: expected a schema: an object, true or false
        {"type": "text"} => at `/it/type`: expected the name of a JSON type
        {"type": []} => at `/it/type`: expected the name of a JSON type
        {"type": ["string", "date"]} => at `/it/type`: expected the name of a JSON type
        {"description": []} => at `/it/description`: expected a text
        {"type": "string", "minLength": -1} => at `/it/minLength`: expected a whole number, zero or more
        {"type": "string", "maxLength": 1.5} => at `/it/maxLength`: expected a whole number, zero or more
        {"type": "string", "maxLength": "9"} => at `/it/maxLength`: expected a whole number, zero or more
        {"type": "string", "pattern": 1} => at `/it/pattern`: expected a text
        {"type": "string", "format": {}} => at `/it/format`: expected a text
        {"type": "number", "minimum": "0"} => at `/it/minimum`: expected a number
        {"type": "number", "exclusiveMinimum": "5"} => at `/it/exclusiveMinimum`: expected a number
        {"type": "number", "multipleOf": 0} => at `/it/multipleOf`: expected a number greater than zero
        {"type": "number", "multipleOf": -1} => at `/it/multipleOf`: expected a number greater than zero
        {"enum": []} => at `/it/enum`: there is no option to choose
        {"enum": {"a": 1}} => at `/it/enum`: expected an array of options
        {"type": "string", "enum": [1, 2]} => at `/it/enum`: there is no option to choose
        {"enum": ["a"], "enumNames": "A"} => at `/it/enumNames`: expected an array of texts
        {"oneOf": {"const": "a"}} => at `/it/oneOf`: expected an array of schemas
        {"oneOf": [{"const": "a", "title": 1}]} => at `/it/oneOf/0/title`: expected a text
        {"type": "array", "items": {"type": "sting"}} => at `/it/items/type`: expected the name of a JSON type
        {"type": "array", "items": {"enum": ["a"]}, "minItems": -1} => at `/it/minItems`: expected a whole number, zero or more
        {"type": "array", "items": {"type": "string"}, "uniqueItems": 1} => at `/it/uniqueItems`: expected true or false
        {"properties": {"a/b": {"type": "x"}}} => at `/it/properties/a~1b/type`: expected the name of a JSON type
    "#;
    for (field, told) in lines(table) {
        let error = try_read(asking(json(field))).unwrap_err();
        assert_eq!(
            error.to_string(),
            told.replace("`/it", "`/properties/it"),
            "{field}"
        );
    }
}

#[test]
fn limits_hold_at_their_edge() {
    let mut limits = Limits::default();
    (limits.fields, limits.options, limits.nesting) = (2, 2, 1);
    let ok = json!({"type": "object", "properties": {
        "size": {"type": "string", "enum": ["s", "m"]},
        "on": {"type": "boolean"},
    }});
    let text = ok.to_string();
    limits.schema_bytes = text.len();
    assert!(Form::read(&text, &limits).is_ok());

    assert_eq!(
        Form::read(&(text.clone() + " "), &limits)
            .unwrap_err()
            .to_string(),
        format!(
            "the schema is longer than the {} bytes that are read",
            text.len()
        )
    );
    limits.schema_bytes = 10_000;
    let told = |schema: Value| Form::from_value(schema, &limits).unwrap_err().to_string();
    let mut more = ok.clone();
    more["required"] = json!(["third"]);
    assert_eq!(told(more), "the form has more than 2 fields");
    let inner = asking(json!({"type": "object", "properties": {"a": {}, "b": {}}}));
    assert_eq!(told(inner), "the form has more than 2 fields");
    let options = asking(json!({"type": "string", "enum": ["s", "m", "l"]}));
    assert_eq!(
        told(options),
        "at `/properties/it/enum`: more than 2 options"
    );
    let options = asking(json!({"type": "array", "items": {"enum": [1, 2, 3]}}));
    assert_eq!(
        told(options),
        "at `/properties/it/items/enum`: more than 2 options"
    );

    let deep =
        json!({"type": "object", "properties": {"it": {"type": "boolean"}}, "required": ["it"]});
    let form = Form::from_value(asking(asking(deep)), &limits).unwrap();
    assert_eq!(kinds(&form), "/it group, /it/it json");
    let wrong = json!({"it": {"it": {"it": 1}}});
    assert_eq!(
        problems(&form, &wrong),
        "/it/it json_unfit",
        "still held against its schema"
    );

    limits.content_bytes = 10;
    assert!(Values::read(r#"{"a":"12"}"#, &limits).is_ok());
    assert_eq!(
        Values::read(r#"{"a":"123"}"#, &limits)
            .unwrap_err()
            .to_string(),
        "the content is 11 bytes long; at most 10 are taken"
    );
}

#[test]
fn text_that_is_no_json_is_refused_by_its_position() {
    let limits = Limits::default();
    let error = Form::read("{\"type\": ", &limits).unwrap_err();
    assert!(
        error.to_string().starts_with("the schema is not JSON: EOF"),
        "{error}"
    );
    for (text, line, column) in [
        ("{\"pin\": 1234", 1, 12),
        ("[\"1234\"]", 1, 0),
        ("{\n\"pin\": 1234.}", 2, 13),
    ] {
        let error = Values::read(text, &limits).unwrap_err();
        let told = format!("the content is not a JSON object (line {line}, column {column})");
        assert_eq!(error.to_string(), told, "{text}");
    }
}

#[test]
fn rules_that_cannot_be_enforced_are_named() {
    let form = read(json!({
        "type": "object",
        "properties": {
            "plain": {"type": "string", "pattern": "^a+$"},
            "back": {"type": "string", "pattern": "^(a)\\1$"},
            "tags": {"type": "array", "items": {"type": "string", "pattern": "(?=a)"}},
            "group": {"type": "object", "properties": {"a/b": {"type": "string", "pattern": "("}}},
            "json": {"type": "array", "items": {"$ref": "https://example.com/schema"}},
            "circle": {"$ref": "#/$defs/Node"},
            "beyond": {"type": "string", "not": {"$ref": "#/nowhere"}},
        },
        "$defs": {"Node": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        "allOf": [{"$ref": "#"}],
    }));
    assert_eq!(
        form.unenforced().join(" "),
        " /back /tags /group/a~1b /json /circle /beyond",
        "the form itself first, its path is empty"
    );
}

#[test]
fn nothing_that_holds_values_shows_them() {
    const SECRET: &str = "hunter2";
    let limits = Limits::default();
    let form = read(
        json!({"type": "object", "additionalProperties": false, "properties": {
            "text": {"type": "string", "maxLength": 1, "format": "email", "pattern": "^x$"},
            "number": {"type": "number", "maximum": 1},
            "choice": {"type": "string", "enum": ["a"]},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 1}, "uniqueItems": true},
            "json": {"type": "array", "maxItems": 0},
        }}),
    );
    let content = json!({"text": SECRET, "number": 8_675_309, "choice": SECRET,
        "tags": [SECRET, SECRET], "json": [SECRET], "other": {"inner": SECRET}});
    let typed = values(&content);
    let unfit = form.check(typed.clone()).unwrap_err();
    let fits = read(json!({})).check(typed.clone()).unwrap();
    let broken = Values::read(&format!("{{\"pin\": \"{SECRET}"), &limits).unwrap_err();
    let json = serde_json::to_string(&unfit.problems).unwrap();

    assert_eq!(
        format!("{typed:?}"),
        format!("{fits:?}").replace("Checked", "Values")
    );
    let said = format!("{typed:?} {fits:?} {unfit} {unfit:?} {broken} {broken:?} {json}");
    assert!(
        !said.contains(SECRET) && !said.contains("8675309"),
        "{said}"
    );
    for name in ["text", "number", "choice", "tags", "json", "other"] {
        assert!(said.contains(name), "{name} is named");
    }
    assert_eq!(
        unfit.to_string(),
        "10 value(s) do not fit the form: /text, /number, /choice, /tags/0, /tags/1, /tags, /json, /other"
    );
}

#[test]
fn the_protocols_own_examples_need_no_repair() {
    let table = r##"
        {"type": "boolean", "title": "Display Name", "description": "Description text", "default": false} => switch
        {"type": "number", "title": "Display Name", "minimum": 0, "maximum": 100, "default": 50} => number
        {"type": "integer", "title": "Display Name", "minimum": 0, "maximum": 100, "default": 50} => integer
        {"type": "string", "minLength": 3, "maxLength": 50, "format": "email", "default": "user@example.com"} => text
        {"type": "string", "enum": ["Red", "Green"], "default": "Red"} => choice
        {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g"} => choice
        {"type": "string", "oneOf": [{"const": "#F00", "title": "Red"}], "default": "#F00"} => choice
        {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["Red", "Green"]}, "default": ["Red"]} => choices
        {"type": "array", "minItems": 1, "maxItems": 2, "items": {"anyOf": [{"const": "#F00", "title": "Red"}]}, "default": ["#F00"]} => choices
    "##;
    for (field, kind) in lines(table) {
        let form = read(asking(json(field)));
        assert_eq!(form.repairs, [], "{field}");
        let it = form.fields.get("it").unwrap();
        assert_eq!(it.kind.name(), kind, "{field}");
        assert_eq!(it.default(), json(field).get("default"), "{field}");
        assert!(it.beyond.is_none() && it.rest.is_empty(), "{field}");
    }
    let contact = read(json!({"type": "object", "properties": {
        "name": {"type": "string", "description": "Your full name"},
        "email": {"type": "string", "format": "email", "description": "Your email address"},
        "age": {"type": "number", "minimum": 18, "description": "Your age"},
    }, "required": ["name", "email"]}));
    assert_eq!(contact.repairs, []);
    let required: Vec<_> = contact.fields.iter().map(|field| field.required).collect();
    assert_eq!(required, [true, true, false]);
}

#[test]
fn options_are_read_with_their_titles() {
    let table = r#"
        {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]} => r Red, g Green
        {"type": "string", "enum": ["r", 1, "g"], "enumNames": ["Red", "One", "Green"]} => r Red, g Green
        {"type": "string", "enum": ["r", "g"], "enumNames": ["Red"]} => r Red, g g
        {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g"}]} => r Red, g g
        {"type": "array", "items": {"anyOf": [{"const": "r", "title": "Red"}]}} => r Red
        {"type": "integer", "enum": [1, 2], "enumNames": ["One", "Two"]} => 1 One, 2 Two
    "#;
    for (field, told) in lines(table) {
        assert_eq!(offers(&read(asking(json(field)))), told, "{field}");
    }
}

/// What the one field of a form offers: each value and what people read.
fn offers(form: &Form) -> String {
    let offers = match &form.fields.get("it").unwrap().kind {
        Kind::Choice(offers) => offers,
        Kind::Choices(choices) => &choices.offers,
        other => panic!("{other:?}"),
    };
    let told = offers.list.iter().map(|offer| {
        let value = offer
            .value
            .as_str()
            .map_or(offer.value.to_string(), str::to_owned);
        format!("{value} {}", offer.label())
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Shapes as these libraries generate them, each with the kinds a person should meet.
#[test]
fn what_peers_send_is_read_as_they_mean_it() {
    let fastmcp = json!({"type": "object", "title": "Order", "properties": {
        "value": {"type": "array", "title": "Value", "items": {"enum": ["a", "b"]}},
        "titled": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
    }, "required": ["value"]});
    let pydantic = json!({
        "$defs": {
            "Color": {"enum": ["red", "green"], "title": "Color", "type": "string"},
            "Home": {"properties": {"city": {"title": "City", "type": "string"}}, "required": ["city"],
                     "title": "Home", "type": "object"},
        },
        "properties": {
            "name": {"anyOf": [{"minLength": 1, "type": "string"}, {"type": "null"}], "default": null, "title": "Name"},
            "color": {"$ref": "#/$defs/Color", "default": "red"},
            "colors": {"items": {"$ref": "#/$defs/Color"}, "title": "Colors", "type": "array"},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}], "default": null},
            "size": {"enum": [1, 2], "title": "Size", "type": "integer"},
            "only": {"const": "x", "title": "Only", "type": "string"},
            "tags": {"items": {"type": "string"}, "title": "Tags", "type": "array", "uniqueItems": true},
            "home": {"$ref": "#/$defs/Home"},
            "meta": {"additionalProperties": {"type": "integer"}, "title": "Meta", "type": "object"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}], "title": "Either"},
            "day": {"format": "date", "title": "Day", "type": "string"},
        },
        "required": ["colors", "home"], "title": "Ask", "type": "object",
    });
    let zod = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {
            "mail": {"type": "string", "format": "email", "pattern": "^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$"},
            "count": {"type": "integer", "minimum": -9_007_199_254_740_991_i64, "maximum": 9_007_199_254_740_991_i64},
            "kind": {"type": "string", "const": "order"},
            "size": {"anyOf": [{"type": "string", "const": "s"}, {"type": "string", "const": "m"}]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "on": {"default": false, "type": "boolean"},
        },
        "required": ["mail", "on"], "additionalProperties": false,
    });
    let schemars = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Ask", "type": "object",
        "properties": {
            "age": {"type": ["integer", "null"], "format": "uint32", "minimum": 0},
            "level": {"$ref": "#/$defs/Level", "description": "How much"},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}]},
            "ratio": {"type": "number", "format": "double"},
        },
        "required": ["level", "ratio"],
        "$defs": {"Level": {"oneOf": [
            {"description": "Little", "type": "string", "const": "low"},
            {"description": "Much", "type": "string", "const": "high"},
        ]}},
    });
    for (peer, schema, expected) in [
        ("fastmcp", fastmcp, "/value choices, /titled choices"),
        (
            "pydantic",
            pydantic,
            "/name text?, /color choice, /colors choices, /maybe choice?, /size choice, \
             /only choice, /tags tags, /home group, /home/city text, /meta json, /either json, \
             /day text",
        ),
        (
            "zod",
            zod,
            "/mail text, /count integer, /kind choice, /size choice, /note text?, /on switch",
        ),
        (
            "schemars",
            schemars,
            "/age integer?, /level choice, /maybe choice?, /ratio number",
        ),
    ] {
        let form = read(schema);
        assert_eq!(kinds(&form), expected, "{peer}");
        let closed = matches!(form.fields.extra, Extra::Refused);
        assert_eq!(closed, peer == "zod", "{peer}");
        // Zod's pattern for addresses looks ahead; the format is held all the same.
        let unenforced = form.unenforced().join(" ");
        assert_eq!(unenforced, if peer == "zod" { "/mail" } else { "" });
    }
}

#[test]
fn words_beside_a_ref_win_over_those_it_leads_to() {
    let form = read(json!({"type": "object",
        "$defs": {"Color": {"type": "string", "enum": ["r", "g"], "title": "Color", "default": "r"}},
        "properties": {"it": {"$ref": "#/$defs/Color", "title": "Paint", "default": "g"}}}));
    let it = form.fields.get("it").unwrap();
    assert_eq!((it.label(), it.default()), ("Paint", Some(&json!("g"))));
}

/// Only the `jsonschema` crate can hold values against these, so the browser leaves them to
/// the gateway and they are not in `fixtures/check`.
#[test]
fn what_a_form_cannot_express_is_held_against_its_schema() {
    let table = r#"
        {} takes null =>
        {} takes [{"a": 1}] =>
        false takes 1 => /it json_unfit
        {"type": "array", "items": {"type": "object", "required": ["a"]}, "minItems": 1} takes [{"a": 1}] =>
        {"type": "array", "items": {"type": "object", "required": ["a"]}, "minItems": 1} takes [{}] => /it json_unfit
        {"type": "array", "items": {"type": "object", "required": ["a"]}, "minItems": 1} takes [] => /it json_unfit
        {"type": "array", "items": {"type": "object", "required": ["a"]}, "minItems": 1} takes "[]" => /it json_unfit
        {"type": "object", "additionalProperties": {"type": "integer"}} takes {"a": 1} =>
        {"type": "object", "additionalProperties": {"type": "integer"}} takes {"a": "1"} => /it json_unfit
        {"type": ["string", "integer"]} takes 1 =>
        {"type": ["string", "integer"]} takes "1" =>
        {"type": ["string", "integer"]} takes 1.5 => /it json_unfit
        {"enum": [[1, 2], null]} takes [1, 2.0] =>
        {"enum": [[1, 2], null]} takes null =>
        {"enum": [[1, 2], null]} takes [2, 1] => /it json_unfit
        {"type": "string", "minLength": 2, "not": {"const": "root"}} takes "ada" =>
        {"type": "string", "minLength": 2, "not": {"const": "root"}} takes "root" => /it json_unfit
        {"type": "string", "minLength": 2, "not": {"const": "root"}} takes "a" => /it too_short
        {"type": "string", "enum": ["a", "abc"], "maxLength": 2} takes "a" =>
        {"type": "string", "enum": ["a", "abc"], "maxLength": 2} takes "abc" => /it json_unfit
        {"type": "string", "format": "uuid"} takes "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" =>
        {"type": "string", "format": "uuid"} takes "f81d4fae" => /it format
        {"type": "string", "format": "uuid"} takes 1 => /it not_text
        {"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1} takes {"b": 1} =>
    "#;
    for (given, told) in lines(table) {
        let (schema, content) = given_field(given);
        assert_eq!(problems(&read(schema.clone()), &content), told, "{given}");
        assert_eq!(
            oracle(&schema).is_valid(&content),
            told.is_empty(),
            "{given}"
        );
    }
    let form =
        read(json!({"type": "object", "anyOf": [{"required": ["mail"]}, {"required": ["phone"]}]}));
    assert_eq!(
        problems(&form, &json!({})),
        " json_unfit",
        "the form itself has an empty path"
    );
    assert_eq!(problems(&form, &json!({"phone": "1"})), "");
}

/// A form of one field, and content for it: `schema takes value`.
fn given_field(given: &str) -> (Value, Value) {
    let (field, value) = given.split_once(" takes ").unwrap();
    (asking(json(field)), json!({"it": json(value)}))
}

/// Filling is done once, by the surface. A second time would bring back what a person emptied.
#[test]
fn fill_once() {
    let form = read(asking(json!({"type": "string", "default": "Lisbon"})));
    let emptied = form.fill(values(&json!({"it": ""})));
    assert_eq!(emptied.names().count(), 0);
    assert_eq!(form.fill(emptied).get("it"), Some(&json!("Lisbon")));
}

/// Corners where the kinds and JSON Schema differed once.
#[test]
fn corners_are_judged_as_json_schema_does() {
    let table = r#"
        {"type": ["string", "null"], "oneOf": [{"const": "a"}]} takes null => /it not_an_option
        {"type": ["string", "null"], "not": {"type": "null"}} takes null => /it not_text, /it json_unfit
        {"type": ["string"], "enum": ["a"]} takes "a" =>
        {"type": "integer"} takes -9223372036854775809 => /it too_large_to_keep
        {"properties": {"a": {"type": "string"}}, "additionalProperties": false} takes {"z": 1, "a": 1} => /it/a not_text, /it/z unknown_field
        {"properties": {}, "patternProperties": {"^x-": {}}, "additionalProperties": false} takes {"x-a": "1"} =>
        {"properties": {"a": {"type": "string"}}, "unevaluatedProperties": false} takes {"a": "1"} =>
        {"type": "array", "items": {"type": "string"}, "unevaluatedItems": false} takes ["a"] =>
        {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}} takes [1, "a"] =>
        {"type": "number", "minimum": 1, "exclusiveMinimum": true} takes 1 => /it not_above
        {"type": "number", "maximum": 1, "exclusiveMaximum": false} takes 1 =>
        {"title": null, "type": "string"} takes "a" =>
        {"allOf": [{"type": "string", "maxLength": 1}], "title": "T"} takes "ab" => /it too_long
        {"oneOf": [{"type": "string", "enum": ["a", "b"]}, {"const": "c", "description": "C"}]} takes "d" => /it not_an_option
        {"type": "string", "minLength": null, "maxLength": null, "enum": null} takes "a" =>
        {"required": ["x1"], "properties": {}, "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false} takes {"x1": 5} =>
        {"type": ["string", "null"], "enum": [null]} takes null =>
        {"properties": {}, "required": ["t"], "additionalProperties": {"type": "integer"}} takes {"t": "x"} => /it/t not_integer
        {"type": "string", "pattern": "^.$"} takes "\r" => /it pattern
        {"type": "string", "format": "email"} takes "Ada <ada@example.com>" => /it email
        {"type": "object", "properties": {}, "minProperties": 1} takes {} => /it json_unfit
    "#;
    let mut wrong = Vec::new();
    for (given, told) in lines(table) {
        let (schema, content) = given_field(given);
        let found = try_read(schema).map(|form| problems(&form, &content));
        if found.as_deref() != Ok(told) {
            wrong.push(format!("{given}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn null_among_the_options_takes_its_name_with_it() {
    let field =
        json!({"type": ["string", "null"], "enum": [null, "a"], "enumNames": ["None", "A"]});
    assert_eq!(offers(&read(asking(field))), "a A");
}

#[test]
fn a_default_of_a_group_is_filled_too() {
    let form = read(asking(
        json!({"type": "object", "default": {"a": 1}, "properties": {
        "a": {"type": "integer"}, "b": {"type": "integer", "default": 2}}}),
    ));
    let once = form.fill(Values::default());
    assert_eq!(form.fill(once.clone()), once);
}
