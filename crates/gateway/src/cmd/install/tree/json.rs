//! JSON, with comments and trailing commas as many clients allow them.

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Member, NULL, Node, Unreadable, Value};

pub fn read(text: &str) -> Result<Option<Node>, Unreadable> {
    // JSON5 and missing commas: no client reads those, so a file with them is broken.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| Unreadable::at(text, error.range().start, error.kind().to_string()))?;
    Ok(parsed.value.as_ref().map(|value| node(text, value)))
}

fn node(text: &str, ast: &Ast<'_>) -> Node {
    let range = ast.range();
    let span = range.start..range.end;
    let value = match ast {
        Ast::Object(object) => {
            let members = object.properties.iter().map(|property| {
                let key = property.name.range();
                Member {
                    name: property.name.as_str().to_owned(),
                    key: key.start..key.end,
                    node: node(text, &property.value),
                }
            });
            Value::Map(members.collect())
        }
        Ast::Array(array) => {
            Value::List(array.elements.iter().map(|one| node(text, one)).collect())
        }
        Ast::StringLit(string) => Value::Text(string.value.clone().into_owned()),
        Ast::NullKeyword(_) => Value::Other(NULL.to_owned()),
        Ast::BooleanLit(_) | Ast::NumberLit(_) => Value::Other(text[span.clone()].to_owned()),
    };
    Node { span, value }
}
