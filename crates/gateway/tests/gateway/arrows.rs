//! The arrows between the crates, read from their manifests.
//!
//! A dependency is easy to add and hard to take back, so a new arrow is drawn
//! here first. Dev-dependencies are free: tests may reach anywhere.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

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

/// Each module of the gateway, and those below it, in the order in which ARCHITECTURE.md draws them. Modules that aren't
/// named here hold one small thing each, and may be used anywhere.
const MODULES: &[(&str, &[&str])] = &[
    ("frame", &[]),
    ("route", &[]),
    ("call", &["frame", "route"]),
    ("leg", &["call", "frame", "route"]),
    ("session", &["call", "frame", "leg", "route"]),
    ("http", &[]),
    ("transport", &["call", "frame", "http", "leg"]),
    (
        "relay",
        &["frame", "http", "local", "route", "session", "transport"],
    ),
    ("config", &["route", "transport"]),
    ("local", &["http"]),
    (
        "cmd",
        &[
            "config",
            "frame",
            "http",
            "local",
            "relay",
            "route",
            "session",
            "transport",
        ],
    ),
];

/// Crates whose folder links to a file of another, instead of having it twice: as good as a dependency.
const LINKS: &[(&str, &str)] = &[("core", "web")];

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
fn every_module_of_the_gateway_follows_an_arrow() {
    let names: Vec<&str> = MODULES.iter().map(|(name, _)| *name).collect();
    for (name, allowed) in MODULES {
        for file in sources(name) {
            let used = modules_in(&without_tests(&file), &names);
            for module in used.into_iter().filter(|used| used != name) {
                assert!(
                    allowed.contains(&module),
                    "{} uses crate::{module}; `{name}` may use {allowed:?} only: draw the arrow in MODULES and in \
                     ARCHITECTURE.md, or turn it round",
                    file.display()
                );
            }
        }
    }
}

/// Modules that use each other can't be understood one by one. This counts the small ones, too.
#[test]
fn no_modules_of_the_gateway_use_each_other() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
    let names: Vec<&str> = lib
        .lines()
        .filter_map(|line| line.split("mod ").nth(1)?.strip_suffix(';'))
        .collect();
    let mut left: BTreeMap<&str, BTreeSet<&str>> = names
        .iter()
        .map(|name| {
            let texts = sources(name).into_iter().map(|file| without_tests(&file));
            let used = texts.flat_map(|text| modules_in(&text, &names));
            (*name, used.filter(|used| used != name).collect())
        })
        .collect();
    // Take away what uses nothing that is left, until nothing can be taken away.
    loop {
        let free: Vec<&str> = left
            .iter()
            .filter(|(_, used)| used.iter().all(|used| !left.contains_key(used)))
            .map(|(name, _)| *name)
            .collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|name| drop(left.remove(name)));
    }
    assert!(left.is_empty(), "these use each other: {left:?}");
}

#[test]
fn every_link_to_a_file_of_another_crate_is_an_arrow() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders = vec![crates.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let crate_of = |path: &Path| {
                let inside = path.strip_prefix(crates.canonicalize().unwrap()).unwrap();
                let first = inside.components().next().unwrap();
                first.as_os_str().to_str().unwrap().to_owned()
            };
            match path.is_symlink() {
                true => {
                    let folder = path.parent().unwrap().canonicalize().unwrap();
                    let arrow = (crate_of(&folder), crate_of(&path.canonicalize().unwrap()));
                    let is_drawn = LINKS.contains(&(&arrow.0, &arrow.1));
                    assert!(
                        is_drawn || arrow.0 == arrow.1,
                        "{} is a new arrow: {arrow:?}",
                        path.display()
                    );
                }
                false if path.is_dir() && !path.ends_with("node_modules") => folders.push(path),
                false => {}
            }
        }
    }
}

/// A file's text, up to its unit tests.
pub fn without_tests(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let production = text.split("#[cfg(test)]\nmod tests").next();
    production.unwrap_or_default().to_owned()
}

/// The modules of the gateway that a text names.
fn modules_in<'a>(text: &str, names: &[&'a str]) -> Vec<&'a str> {
    let used = text.split("crate::").skip(1).filter_map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let module = &rest[..end.unwrap_or(rest.len())];
        names.iter().find(|known| **known == module)
    });
    used.copied().collect()
}

/// The files of a module, but for its tests.
pub fn sources(module: &str) -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![source.join(format!("{module}.rs"))];
    let mut folders = vec![source.join(module)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let is_test = path.ends_with("stories")
                || path.ends_with("stories.rs")
                || path.ends_with("tests.rs")
                || path.ends_with("world.rs");
            match path.is_dir() {
                _ if is_test => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.retain(|file| file.extension().is_some_and(|kind| kind == "rs") && file.exists());
    files
}

/// Every file and folder that the map names is there.
#[test]
fn the_map_names_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    // A name stands for a place in the repository, in the gateway, or in a folder that its line is about.
    let places = [
        "",
        "crates",
        "crates/gateway",
        "crates/gateway/src",
        "crates/gateway/src/cmd",
        "crates/gateway/src/session",
        "crates/gateway/src/call",
        "crates/gateway/src/leg",
        "crates/gateway/src/transport",
        "crates/gateway/src/route",
        "crates/gateway/src/http",
        "crates/core/src",
        "crates/server/src",
        "crates/terminal/src",
        "crates/web",
        "crates/web/js",
        "crates/web/js/page",
        "tests",
        "tests/grid",
        "tests/peers",
        "tests/web",
        "crates/gateway/tests/gateway",
    ];
    let named = map.split('`').skip(1).step_by(2);
    let is_path = |name: &&str| {
        let ending = [".rs", ".js", ".mjs", ".json", ".toml", "/"];
        !name.contains([' ', '*', ':', '<', '{', '('])
            && ending.iter().any(|ending| name.ends_with(ending))
    };
    let missing: Vec<&str> = named
        .filter(is_path)
        .filter(|name| {
            !places
                .iter()
                .any(|place| root.join(place).join(name).exists())
        })
        .collect();
    assert_eq!(missing, [] as [&str; 0]);
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
