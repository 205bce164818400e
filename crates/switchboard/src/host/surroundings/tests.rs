//! Which folders mislead which launchers.

use std::fs;
use std::path::Path;

use super::problems;
use crate::config::{Config, Problem};
use crate::spec::Layer;

/// What is told about an entry in a project below a home, where these files are.
fn told(entry: &str, files: &[(&str, &str)], layer: Layer) -> Vec<Problem> {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("p/sub");
    fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let text = format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#);
    let config = Config::read(&text, Path::new("/home/me/mcp.json"), layer);
    assert!(config.get("a").is_some(), "{:?}", config.problems());
    problems(&config, &folder, Some(home.path()))
}

const NPX: &str = r#"{"command": "npx", "args": ["-y", "@scope/pkg@1.0.0"]}"#;
const PYTHON: &str =
    r#"{"command": "/usr/bin/python3.12", "args": ["-u", "-m", "mcp_time.server"]}"#;

#[test]
fn a_file_that_a_launcher_would_take_is_named() {
    let bunx = NPX.replace("npx", "bunx");
    let yarn = r#"{"command": "yarn", "args": ["dlx", "pkg"]}"#;
    let uv = r#"{"command": "uv", "args": ["run", "x.py"]}"#;
    for (entry, file, text) in [
        (NPX, "p/node_modules/.bin/pkg", ""),
        (NPX, "p/sub/node_modules/@scope/pkg/package.json", "{}"),
        (
            NPX,
            "p/.npmrc",
            "; own\n@scope:registry=http://evil.example\n",
        ),
        (NPX, "p/sub/.npmrc", "script-shell = ./x"),
        (NPX, "p/package.json", r#"{"bin": {"pkg": "x.js"}}"#),
        (NPX, "p/package.json", r#"{"name": "@scope/pkg"}"#),
        (&bunx, "p/bunfig.toml", ""),
        (yarn, "p/.yarnrc.yml", ""),
        (uv, "p/pyproject.toml", ""),
        (PYTHON, "p/sub/mcp_time.py", ""),
        (PYTHON, "p/sub/mcp_time/__init__.py", ""),
    ] {
        let found = told(entry, &[(file, text)], Layer::User);
        assert_eq!(found.len(), 1, "{entry} {file}");
        assert_eq!(found[0].server(), Some("a"));
        assert!(!found[0].is_error());
        let shown = found[0].to_string();
        let end = Path::new(file).components().nth(1).unwrap().as_os_str();
        assert!(shown.contains(end.to_str().unwrap()), "{shown}");
        // The same from a named file, and not from one that came with the folder.
        assert_eq!(told(entry, &[(file, text)], Layer::Named).len(), 1);
        assert_eq!(told(entry, &[(file, text)], Layer::Project), []);
        let cwd = entry.replacen('{', r#"{"cwd": "/", "#, 1);
        assert_eq!(told(&cwd, &[(file, text)], Layer::User), []);
        let off = entry.replacen('{', r#"{"enabled": false, "#, 1);
        assert_eq!(told(&off, &[(file, text)], Layer::User), []);
    }
}

#[test]
fn an_ordinary_folder_and_launchers_that_look_elsewhere_are_not_told() {
    let usual: &[(&str, &str)] = &[
        (
            "p/package.json",
            r#"{"name": "mine", "bin": {"mine": "x.js"}}"#,
        ),
        ("p/.npmrc", "save-exact=true\nfund=false\n"),
        ("p/node_modules/other/package.json", "{}"),
        ("p/mcp_time.py", ""),
        ("p/pyproject.toml", ""),
        // The home folder is the person's own.
        (".npmrc", "registry=http://x.example"),
        ("node_modules/.bin/pkg", ""),
    ];
    for entry in [
        NPX,
        PYTHON,
        r#"{"command": "uvx", "args": ["mcp-server-time"]}"#,
        r#"{"command": "uv", "args": ["run", "--no-project", "x"]}"#,
        r#"{"command": "uv", "args": ["--directory", "/x", "run", "y"]}"#,
        r#"{"command": "files-server", "args": ["."]}"#,
        r#"{"command": "python", "args": ["server.py"]}"#,
        r#"{"url": "https://x.example"}"#,
    ] {
        assert_eq!(told(entry, usual, Layer::User), [], "{entry}");
    }
    let beside: &[(&str, &str)] = &[("p/sub/mcp_time.py", "")];
    for entry in [
        PYTHON.replace("-u", "-I"),
        PYTHON.replace("-u", "-uP"),
        PYTHON.replace("{", r#"{"env": {"PYTHONSAFEPATH": "1"}, "#),
        PYTHON.replace("mcp_time.server", "../x"),
    ] {
        assert_eq!(told(&entry, beside, Layer::User), [], "{entry}");
    }
}
