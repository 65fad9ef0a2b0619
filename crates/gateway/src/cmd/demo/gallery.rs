//! What the demo can ask: which tool of its server is called, and how.

use serde::Serialize;

/// One button of the gallery.
#[derive(Serialize)]
pub struct Piece {
    /// The tool. The catalog has words for it.
    pub name: &'static str,
    /// The part of the gallery it stands in.
    pub group: &'static str,
    /// The arguments of each call; several calls are made at once.
    #[serde(skip)]
    pub calls: &'static [&'static str],
}

/// Every piece, in its order.
pub static GALLERY: [Piece; 28] = [
    one("fields", "text"),
    one("fields", "textarea"),
    one("fields", "email"),
    one("fields", "uri"),
    one("fields", "date"),
    one("fields", "date_time"),
    one("fields", "pattern"),
    one("fields", "number"),
    one("fields", "integer"),
    one("fields", "switch"),
    one("fields", "choice"),
    one("fields", "choice_list"),
    one("fields", "choices"),
    one("fields", "tags"),
    one("fields", "group"),
    one("fields", "json"),
    one("forms", "approve"),
    one("forms", "danger"),
    one("forms", "long"),
    one("forms", "secret"),
    one("forms", "hostile"),
    one("links", "link"),
    one("links", "link_odd"),
    one("links", "link_refused"),
    one("moments", "wizard"),
    Piece {
        calls: &[
            r#"{"part":"size"}"#,
            r#"{"part":"colour"}"#,
            r#"{"part":"order"}"#,
        ],
        ..one("moments", "three")
    },
    one("moments", "hurry"),
    one("moments", "taken_back"),
];

const fn one(group: &'static str, name: &'static str) -> Piece {
    Piece {
        name,
        group,
        calls: &["{}"],
    }
}

/// The piece of that name.
pub fn named(name: &str) -> Option<&'static Piece> {
    GALLERY.iter().find(|piece| piece.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use midcall_core::catalog::Locale;

    #[test]
    fn every_piece_has_words() {
        for Piece { name, group, .. } in &GALLERY {
            for key in [name, group].map(|part| format!("mcp.elicitation.demo.{part}")) {
                for locale in Locale::ALL {
                    assert_ne!(locale.say(&key, &[]), key);
                }
            }
        }
    }
}
