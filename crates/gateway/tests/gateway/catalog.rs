//! The catalog and the code agree on which texts there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use midcall_core::catalog::Locale;

/// Keys with these prefixes are used by Rust code, each by its full name.
const SPELLED_OUT: [&str; 6] = ["problem.", "link.", "secret.", "lint.", "doctor.", "tell."];

#[test]
fn every_key_in_the_code_is_in_the_catalog_and_the_other_way_round() {
    let mut used = BTreeSet::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut used);
    let known: BTreeSet<String> = Locale::keys().map(str::to_owned).collect();

    let unknown: Vec<_> = used.difference(&known).collect();
    assert!(unknown.is_empty(), "not in the catalog: {unknown:?}");
    let is_spelled_out = |key: &&String| {
        let name = key.trim_start_matches("mcp.elicitation.");
        SPELLED_OUT.iter().any(|prefix| name.starts_with(prefix))
    };
    let unused: Vec<_> = known.difference(&used).filter(is_spelled_out).collect();
    assert!(
        unused.is_empty(),
        "in the catalog, but nobody says it: {unused:?}"
    );
    assert!(
        used.len() > 80,
        "only {} keys were found in the code",
        used.len()
    );
}

/// Most people never start the demo: what they read elsewhere is about their own servers.
#[test]
fn the_demo_is_mentioned_in_the_demo_only() {
    let is_demos = |key: &str| key.contains(".demo.") || key.contains(".demo_");
    for key in Locale::keys().filter(|key| !is_demos(key)) {
        for locale in Locale::ALL {
            let text = locale.say(key, &[("count", 2.into())]);
            let words = text.to_lowercase();
            let names = words.split(|letter: char| !letter.is_alphabetic());
            let mentions = names.filter(|word| ["demo", "demonstração"].contains(word));
            assert_eq!(mentions.count(), 0, "{key}: {text}");
        }
    }
}

/// The keys spelled out in the sources of every crate.
fn collect(folder: &Path, used: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap();
            if name != "tests" && name != "target" {
                collect(&path, used);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            for rest in source.split("\"mcp.elicitation.").skip(1) {
                let name = rest.split('"').next().unwrap_or_default();
                if !name.contains('{') {
                    used.insert(format!("mcp.elicitation.{name}"));
                }
            }
        }
    }
}
