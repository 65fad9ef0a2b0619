//! What a field asks of a value, said before anything is wrong.

use super::{Count, Fault, Field, Format, Kind, Range, Text};

impl Field {
    /// The faults a value can have here beyond its kind, in the order they are checked. Their
    /// texts are written so that they serve as hints. A pattern is not among them: it is no
    /// help to anyone who could not write it.
    pub fn rules(&self) -> Vec<Fault> {
        match &self.kind {
            Kind::Text(text) => text.rules(),
            Kind::Number(range) | Kind::Integer(range) => range.rules(),
            Kind::Choices(choices) => choices.count.rules(),
            Kind::Tags(tags) => {
                let mut rules = tags.text.rules();
                rules.extend(tags.count.rules());
                rules
            }
            Kind::Switch | Kind::Choice(_) | Kind::Group(_) | Kind::Json(_) => Vec::new(),
        }
    }
}

impl Text {
    fn rules(&self) -> Vec<Fault> {
        let format = match &self.format {
            Some(Format::Email) => Some(Fault::Email),
            Some(Format::Uri) => Some(Fault::Uri),
            Some(Format::Date) => Some(Fault::Date),
            Some(Format::DateTime) => Some(Fault::DateTime),
            Some(Format::Textarea | Format::Password) | None => None,
            Some(Format::Other(other)) => Some(Fault::Format(other.name().to_owned())),
        };
        [
            self.min_length.filter(|min| *min > 0).map(Fault::TooShort),
            self.max_length.map(Fault::TooLong),
            format,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Range {
    fn rules(&self) -> Vec<Fault> {
        [
            self.minimum.clone().map(Fault::TooSmall),
            self.maximum.clone().map(Fault::TooLarge),
            self.above.clone().map(Fault::NotAbove),
            self.below.clone().map(Fault::NotBelow),
            self.step
                .as_ref()
                .map(|step| Fault::NotMultiple(step.of.clone())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Count {
    fn rules(&self) -> Vec<Fault> {
        [
            self.min.filter(|min| *min > 0).map(Fault::TooFew),
            self.max.map(Fault::TooMany),
            self.unique.then_some(Fault::Duplicate),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
