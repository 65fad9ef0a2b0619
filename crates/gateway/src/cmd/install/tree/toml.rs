//! TOML.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Member, Node, Unreadable, Value};

pub fn read(text: &str) -> Result<Option<Node>, Unreadable> {
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Unreadable::at(text, offset, error.message())
    })?;
    Ok(Some(Node {
        span: table.span(),
        value: members(text, table.get_ref()),
    }))
}

fn members(text: &str, table: &DeTable<'_>) -> Value {
    let members = table.iter().map(|(key, value)| Member {
        name: key.get_ref().to_string(),
        key: key.span(),
        node: node(text, value),
    });
    let mut members: Vec<Member> = members.collect();
    members.sort_by_key(|member| member.key.start);
    Value::Map(members)
}

fn node(text: &str, value: &Spanned<DeValue<'_>>) -> Node {
    let span = value.span();
    let value = match value.get_ref() {
        DeValue::Table(table) => members(text, table),
        DeValue::Array(array) => Value::List(array.iter().map(|one| node(text, one)).collect()),
        DeValue::String(string) => Value::Text(string.to_string()),
        _ => Value::Other(text.get(span.clone()).unwrap_or_default().to_owned()),
    };
    Node { span, value }
}
