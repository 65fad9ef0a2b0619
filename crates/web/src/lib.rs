//! The files of `js/`, carried in the program: the element, the pages and the locales.
//!
//! Nothing here knows what an elicitation is: whoever serves the files asks for one by its path.

use std::borrow::Cow;

/// A file as a browser wants it.
pub struct File {
    /// What it holds.
    pub bytes: Cow<'static, [u8]>,
    /// Its `Content-Type`.
    pub kind: &'static str,
}

#[derive(rust_embed::RustEmbed)]
#[folder = "js"]
struct Files;

/// The file at a path under `js/`, such as `element.js`.
///
/// ```
/// let words = midcall_web::file("locales/pt-BR.json").unwrap();
/// assert_eq!(words.kind, "application/json");
/// assert!(midcall_web::file("../Cargo.toml").is_none());
/// ```
pub fn file(path: &str) -> Option<File> {
    let kind = match path.rsplit_once('.')?.1 {
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    };
    let bytes = Files::get(path)?.data;
    Some(File { bytes, kind })
}
