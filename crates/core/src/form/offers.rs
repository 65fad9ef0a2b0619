//! The options of a choice, out of whichever keyword has them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::check::Key;
use super::error::{FormError, nonsense};
use super::keyword::{text, texts};
use super::read::Reader;
use super::repair::Repaired;
use super::shape::has_type;
use super::{At, Offer, Offers};

impl Reader<'_> {
    /// Takes the options out of a schema. The shape has seen that they are options.
    pub fn offers(
        &mut self,
        keyword: &'static str,
        schema: &mut Map<String, Value>,
        at: &At<'_>,
    ) -> Result<Offers, FormError> {
        let within = At::Name(at, keyword);
        let offers = match schema.shift_remove(keyword) {
            Some(Value::Array(options)) if keyword == "enum" => self.named(options, schema, at)?,
            Some(Value::Array(options)) => described(options, &within)?,
            only => only.map(bare).into_iter().collect(),
        };
        let limit = self.limits.options;
        if offers.len() > limit {
            let path = within.pointer();
            return Err(FormError::TooManyOptions { path, limit });
        }
        self.read_options(&offers)?;
        let mut known = HashSet::with_capacity(offers.len());
        let is_new: Vec<bool> = offers
            .iter()
            .map(|offer| known.insert(Key::of(&offer.value)))
            .collect();
        drop(known);
        let mut list: Vec<Offer> = Vec::with_capacity(offers.len());
        for (index, (offer, is_new)) in offers.into_iter().zip(is_new).enumerate() {
            if !is_new || !has_type(&offer.value, schema.get("type")) {
                self.repaired(&At::Index(&within, index), Repaired::OptionDropped);
            } else {
                list.push(offer);
            }
        }
        if list.is_empty() {
            return Err(nonsense(&within, "there is no option to choose"));
        }
        Ok(Offers { list, keyword })
    }

    /// `enum`, with the names that `enumNames` gives.
    fn named(
        &mut self,
        options: Vec<Value>,
        schema: &mut Map<String, Value>,
        at: &At<'_>,
    ) -> Result<Vec<Offer>, FormError> {
        let names = texts(schema, "enumNames", at)?;
        if !names.is_empty() && names.len() != options.len() {
            self.repaired(&At::Name(at, "enumNames"), Repaired::NamesMismatch);
        }
        let mut names = names.into_iter();
        let offers = options.into_iter().map(|value| Offer {
            title: names.next(),
            ..bare(value)
        });
        Ok(offers.collect())
    }
}

/// `oneOf` or `anyOf`: each option with words of its own, or several without.
fn described(options: Vec<Value>, at: &At<'_>) -> Result<Vec<Offer>, FormError> {
    let mut offers = Vec::with_capacity(options.len());
    for (index, option) in options.into_iter().enumerate() {
        let at = At::Index(at, index);
        let Value::Object(mut option) = option else {
            continue;
        };
        if let Some(Value::Array(several)) = option.shift_remove("enum") {
            offers.extend(several.into_iter().map(bare));
        } else if let Some(value) = option.shift_remove("const") {
            offers.push(Offer {
                value,
                title: text(&mut option, "title", &at)?,
                description: text(&mut option, "description", &at)?,
            });
        }
    }
    Ok(offers)
}

fn bare(value: Value) -> Offer {
    Offer {
        value,
        title: None,
        description: None,
    }
}
