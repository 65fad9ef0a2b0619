//! The arrows between the crates, read from their manifests.
//!
//! A dependency is easy to add and hard to take back, so a new arrow is drawn
//! here first. Dev-dependencies are free: tests may reach anywhere.

use std::{collections::BTreeMap, fs, path::Path};

use toml::{Table, Value};

/// Each crate, and the crates of ours that it may depend on. Nothing depends on `bench` or `fuzz`.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("store", &["core"]),
    ("sqlite", &["core", "store"]),
    ("redis", &["core", "store"]),
    ("desk", &["core", "store"]),
    ("web", &[]),
    ("terminal", &["core"]),
    ("client", &["core"]),
    ("server", &["core", "store", "web"]),
    ("gateway", LIBRARIES),
    ("bench", ALL),
    ("fuzz", ALL),
];
const LIBRARIES: &[&str] = &[
    "client", "core", "desk", "redis", "server", "sqlite", "store", "terminal", "web",
];
const ALL: &[&str] = &[
    "client", "core", "desk", "gateway", "redis", "server", "sqlite", "store", "terminal", "web",
];

/// What would give `core` a runtime or a socket.
const NEVER_IN_CORE: &[&str] = &[
    "async-std",
    "axum",
    "hyper",
    "mio",
    "reqwest",
    "rmcp",
    "smol",
    "tokio",
];

#[test]
fn every_dependency_follows_an_arrow() {
    for (name, manifest) in crates() {
        let (_, allowed) = ARROWS
            .iter()
            .find(|(from, _)| *from == name)
            .unwrap_or_else(|| {
                panic!(
                    "crates/{name} is new: draw its arrows in ARROWS ({}) and in ARCHITECTURE.md",
                    file!()
                )
            });
        for dependency in dependencies(&manifest) {
            let ours = match dependency.as_str() {
                "midcall" => "gateway",
                other => match other.strip_prefix("midcall-") {
                    Some(ours) => ours,
                    None => continue,
                },
            };
            assert!(
                allowed.contains(&ours),
                "crates/{name} depends on {dependency}; it may depend on {allowed:?} only ({})",
                file!()
            );
        }
    }
}

#[test]
fn core_has_no_runtime_and_no_sockets() {
    for dependency in dependencies(&crates()["core"]) {
        assert!(
            !NEVER_IN_CORE.contains(&dependency.as_str()),
            "core depends on {dependency}"
        );
    }
}

#[test]
fn optional_things_are_crates_not_features() {
    for (name, manifest) in crates() {
        assert!(
            !manifest.contains_key("features"),
            "crates/{name} declares [features]"
        );
    }
}

/// The manifests under `crates/`, by folder name.
fn crates() -> BTreeMap<String, Table> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate lies in crates/");
    fs::read_dir(folder)
        .expect("crates/ can be listed")
        .map(|entry| entry.expect("crates/ can be listed").path())
        .filter(|path| path.is_dir())
        .map(|path| {
            let name = path
                .file_name()
                .expect("a folder has a name")
                .to_string_lossy()
                .into_owned();
            let manifest = fs::read_to_string(path.join("Cargo.toml"))
                .unwrap_or_else(|error| panic!("crates/{name}/Cargo.toml: {error}"));
            (
                name,
                manifest
                    .parse()
                    .expect("cargo has read this manifest before us"),
            )
        })
        .collect()
}

/// The packages that a crate is built from, for any target, under their real names.
fn dependencies(manifest: &Table) -> Vec<String> {
    let targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    targets
        .filter_map(|(_, target)| target.as_table())
        .chain([manifest])
        .flat_map(|table| [table.get("dependencies"), table.get("build-dependencies")])
        .flatten()
        .filter_map(Value::as_table)
        .flatten()
        .map(|(key, spec)| {
            spec.get("package")
                .and_then(Value::as_str)
                .unwrap_or(key)
                .to_owned()
        })
        .collect()
}
