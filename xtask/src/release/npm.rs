//! The npm packages: one for each platform with the program, and one that depends on them and starts the right one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::platform::{ALL, Platform};
use super::{NAME, copy, copy_folder, lay_out, list, make_folder, told};
use crate::{tool, workspace};

const DESCRIPTION: &str = "See what Model Context Protocol servers offer, call them, and put one gateway in front of them";

/// The packed files.
pub(super) struct Packages {
    /// The one with the program. It can be used alone.
    pub(super) platform: PathBuf,
    /// The one that people name.
    pub(super) main: PathBuf,
}

/// Packs both packages.
///
/// # Errors
///
/// Carries npm's own words.
pub(super) fn make(
    platform: Platform,
    version: &str,
    program: &Path,
    shared: &Path,
    stage: &Path,
    folder: &Path,
) -> Result<Packages, String> {
    let root = workspace::root();
    let own = stage.join("npm-platform");
    lay_out(platform, program, shared, &own)?;
    let pages = pages(shared)?;
    let manifest = platform_manifest(platform, version, &pages);
    let platform = pack(&own, &manifest, folder)?;

    let own = stage.join("npm-main");
    copy_folder(shared, &own)?;
    make_folder(&own.join("bin"))?;
    copy(
        &root.join("dist/npm/switchboard.js"),
        &own.join("bin/switchboard.js"),
    )?;
    let main = pack(&own, &main_manifest(version, &pages), folder)?;
    Ok(Packages { platform, main })
}

/// The manual pages, as a manifest names them.
fn pages(shared: &Path) -> Result<Vec<String>, String> {
    let paths = list(&shared.join("share/man/man1"))?;
    let name = |path: &PathBuf| {
        path.file_name()
            .map(|name| format!("share/man/man1/{}", name.to_string_lossy()))
    };
    let mut pages: Vec<String> = paths.iter().filter_map(name).collect();
    pages.sort();
    Ok(pages)
}

fn pack(own: &Path, manifest: &Value, folder: &Path) -> Result<PathBuf, String> {
    copy(
        &workspace::root().join("crates/cli/README.md"),
        &own.join("README.md"),
    )?;
    let path = own.join("package.json");
    let text = format!("{manifest:#}\n");
    fs::write(&path, text).map_err(|error| told("write", &path, &error))?;
    let mut npm = tool::npm();
    npm.args(["pack", "--json", "--ignore-scripts", "--pack-destination"])
        .arg(folder);
    let told = tool::output(npm.current_dir(own))?;
    let packed: Value =
        serde_json::from_str(&told).map_err(|error| format!("npm pack: {error}"))?;
    let name = packed.pointer("/0/filename").and_then(Value::as_str);
    Ok(folder.join(name.ok_or("npm pack names no file")?))
}

pub(super) fn package_of(platform: Platform) -> String {
    format!("{NAME}-{}-{}", platform.os, platform.cpu)
}

fn base(name: &str, version: &str, program: &str, pages: &[String]) -> Map<String, Value> {
    let mut manifest = Map::new();
    for (key, value) in [
        ("name", json!(name)),
        ("version", json!(version)),
        ("description", json!(DESCRIPTION)),
        ("license", json!("MIT OR Apache-2.0")),
        (
            "keywords",
            json!(["mcp", "model-context-protocol", "cli", "agent", "gateway"]),
        ),
        ("bin", json!({ "switchboard": format!("bin/{program}") })),
        ("man", json!(pages)),
        ("files", json!(["bin", "share"])),
    ] {
        manifest.insert(key.to_owned(), value);
    }
    manifest
}

fn platform_manifest(platform: Platform, version: &str, pages: &[String]) -> Value {
    let mut manifest = base(&package_of(platform), version, platform.program(), pages);
    manifest.insert("os".to_owned(), json!([platform.os]));
    manifest.insert("cpu".to_owned(), json!([platform.cpu]));
    if platform.os == "linux" {
        manifest.insert("libc".to_owned(), json!(["glibc"]));
    }
    Value::Object(manifest)
}

fn main_manifest(version: &str, pages: &[String]) -> Value {
    let mut manifest = base(NAME, version, "switchboard.js", pages);
    let platforms = ALL.map(|platform| (package_of(platform), json!(version)));
    let platforms: Map<String, Value> = platforms.into_iter().collect();
    manifest.insert("optionalDependencies".to_owned(), Value::Object(platforms));
    manifest.insert("engines".to_owned(), json!({ "node": ">=18" }));
    Value::Object(manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_package_depends_on_exactly_this_version_of_each_platform() {
        let manifest = main_manifest("1.2.3", &[]);
        let platforms = manifest["optionalDependencies"].as_object().unwrap();
        assert_eq!(platforms.len(), ALL.len());
        for platform in ALL {
            let package = platform_manifest(platform, "1.2.3", &[]);
            assert_eq!(
                platforms[package["name"].as_str().unwrap()],
                package["version"]
            );
        }
    }
}
