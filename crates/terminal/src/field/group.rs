//! Fields within a field. A group is asked field by field, each under the group's name.

use midcall_core::{Field, Fields, Kind};
use serde_json::{Map, Value};

/// A field that is asked, and where it stands.
pub(crate) struct Flat<'q> {
    pub field: &'q Field,
    /// The groups it is in, from the outside.
    pub groups: Vec<&'q Field>,
    /// What it starts with.
    pub start: Option<Value>,
}

/// The fields of a form without its groups, in order.
pub(crate) fn flat(fields: &Fields) -> Vec<Flat<'_>> {
    let mut found = Vec::new();
    visit(fields, &[], None, &mut found);
    found
}

fn visit<'q>(
    fields: &'q Fields,
    groups: &[&'q Field],
    given: Option<&Map<String, Value>>,
    found: &mut Vec<Flat<'q>>,
) {
    for field in fields {
        // A group's own default says more than those of its fields.
        let start = given
            .and_then(|given| given.get(&field.name))
            .or_else(|| field.default());
        match &field.kind {
            Kind::Group(inner) => {
                let groups = [groups, &[field]].concat();
                visit(inner, &groups, start.and_then(Value::as_object), found);
            }
            _ => found.push(Flat {
                field,
                groups: groups.to_vec(),
                start: start.cloned(),
            }),
        }
    }
}
