//! The packages of `cargo metadata` and their dependents.

use serde_json::Value;

/// The dependency graph of the workspace.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) packages: Vec<Package>,
    /// Pairs of ids: the first depends directly on the second.
    edges: Vec<(String, String)>,
}

/// One package in one version.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) licence: Option<String>,
    pub(super) description: Option<String>,
    /// The registry or repository; nothing for a package that is found by its path.
    pub(super) source: Option<String>,
    /// True for a member of the workspace.
    pub(super) ours: bool,
    /// True if its manifest allows publishing.
    pub(super) published: bool,
}

impl Graph {
    /// Reads the output of `cargo metadata --format-version 1`.
    ///
    /// # Errors
    ///
    /// Names the member that is missing: an empty graph would follow every rule.
    pub(super) fn parse(metadata: &str) -> Result<Self, String> {
        let metadata: Value = serde_json::from_str(metadata)
            .map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
        let members: Vec<&str> = list(&metadata, "workspace_members")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let mut packages = Vec::new();
        for package in list(&metadata, "packages")? {
            let id = text(package, "id")?;
            packages.push(Package {
                ours: members.contains(&id.as_str()),
                id,
                name: text(package, "name")?,
                version: text(package, "version")?,
                licence: text(package, "license").ok(),
                description: text(package, "description").ok(),
                source: text(package, "source").ok(),
                // Absent or null is "anywhere"; an empty list is `publish = false`.
                published: list(package, "publish").map_or(true, |places| !places.is_empty()),
            });
        }
        let mut edges = Vec::new();
        for node in list(metadata.get("resolve").unwrap_or_default(), "nodes")? {
            for dependency in list(node, "deps")? {
                edges.push((text(node, "id")?, text(dependency, "pkg")?));
            }
        }
        Ok(Self { packages, edges })
    }

    /// Returns the names of the packages that depend directly on the one with this id.
    pub(super) fn direct_users<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a String> {
        self.packages
            .iter()
            .filter(move |package| {
                let mut edges = self.edges.iter();
                edges.any(|(user, used)| *user == package.id && used == id)
            })
            .map(|package| &package.name)
    }
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    let found = value.get(name).and_then(Value::as_array);
    found.ok_or_else(|| format!("cargo metadata has no list `{name}`"))
}

fn text(value: &Value, name: &str) -> Result<String, String> {
    let found = value.get(name).and_then(Value::as_str);
    let found = found.ok_or_else(|| format!("cargo metadata has no text `{name}`"))?;
    Ok(found.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_without_packages_or_edges_is_an_error() {
        for text in [
            "[]",
            r#"{ "workspace_members": [] }"#,
            r#"{ "workspace_members": [], "packages": [] }"#,
            r#"{ "workspace_members": [], "packages": [], "resolve": null }"#,
        ] {
            assert!(Graph::parse(text).is_err(), "{text}");
        }
    }
}
