//! Tests of recognising the package that a command downloads.

use serde_json::json;

use super::{Runner, package, package_of};

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// The package of a command line, as `runner name version`, with `-` where none is fixed.
fn of(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (command, args) = words.split_first().unwrap();
    match package(command, args) {
        Some(package) => {
            let version = package.version.as_deref().unwrap_or("-");
            assert_eq!(package.is_pinned(), version != "-");
            format!("{} {} {version}", package.runner, package.name)
        }
        None => "none".to_owned(),
    }
}

#[test]
fn packages_of_npm_are_found() {
    for (line, expected) in [
        ("npx -y @scope/pkg@1.2.3", "npx @scope/pkg 1.2.3"),
        ("npx pkg", "npx pkg -"),
        ("npx @scope/pkg", "npx @scope/pkg -"),
        ("npx pkg@latest --flag x@1.2.3", "npx pkg -"),
        ("npx pkg@^1.2.3", "npx pkg -"),
        ("npx pkg@~1.2.3", "npx pkg -"),
        ("npx pkg@1", "npx pkg -"),
        ("npx pkg@1.2", "npx pkg -"),
        ("npx pkg@1.2.x", "npx pkg -"),
        ("npx pkg@>=1.0.0", "npx pkg -"),
        ("npx pkg@=1.2.3", "npx pkg 1.2.3"),
        ("npx pkg@v1.2.3-beta.1+5", "npx pkg 1.2.3-beta.1+5"),
        ("npx pkg@2026.1.14", "npx pkg 2026.1.14"),
        ("npx -p pkg@1.0.0 bin", "npx pkg 1.0.0"),
        ("npx --package=pkg@1.0.0 -- bin", "npx pkg 1.0.0"),
        (
            "npx --registry https://r.example -y pkg@1.0.0",
            "npx pkg 1.0.0",
        ),
        ("npx --yes -- pkg@1.0.0", "npx pkg 1.0.0"),
        ("npx alias@npm:@scope/real@1.0.0", "npx @scope/real 1.0.0"),
        ("npm exec -- pkg@1.0.0", "npx pkg 1.0.0"),
        ("npm x pkg", "npx pkg -"),
        ("npm run start", "none"),
        ("pnpm dlx pkg@1.0.0", "pnpm dlx pkg 1.0.0"),
        ("pnpm --silent dlx pkg", "pnpm dlx pkg -"),
        ("yarn dlx -p pkg@1.0.0 bin", "yarn dlx pkg 1.0.0"),
        ("bunx pkg@1.0.0", "bunx pkg 1.0.0"),
        ("bunx --bun pkg", "bunx pkg -"),
        ("bun x pkg@1.0.0", "bunx pkg 1.0.0"),
        ("/usr/local/bin/npx pkg", "npx pkg -"),
        ("C:\\node\\NPX.cmd pkg", "npx pkg -"),
        ("cmd /c npx -y pkg@1.0.0", "npx pkg 1.0.0"),
        ("npx github:user/repo", "npx github:user/repo -"),
        ("npx user/repo#main", "npx user/repo -"),
        ("npx ./server", "none"),
        ("npx", "none"),
        ("npx -y", "none"),
        ("cmd /c cmd /c npx x", "none"),
        ("node server.js", "none"),
    ] {
        assert_eq!(of(line), expected, "{line}");
    }
    assert_eq!(
        of(&format!("npx user/repo#{SHA}")),
        format!("npx user/repo {SHA}")
    );
}

#[test]
fn packages_of_python_are_found() {
    for (line, expected) in [
        ("uvx mcp-server-time", "uvx mcp-server-time -"),
        ("uvx mcp-server-time==1.0", "uvx mcp-server-time 1.0"),
        (
            "uvx mcp-server-time[cli]==1.0.post1",
            "uvx mcp-server-time 1.0.post1",
        ),
        ("uvx pkg===1.0", "uvx pkg 1.0"),
        ("uvx pkg@1.2", "uvx pkg 1.2"),
        ("uvx pkg@latest", "uvx pkg -"),
        ("uvx pkg>=1.0", "uvx pkg -"),
        ("uvx pkg~=1.0", "uvx pkg -"),
        ("uvx pkg==1.*", "uvx pkg -"),
        ("uvx pkg<2,>=1", "uvx pkg -"),
        ("uvx --from pkg@1.2 bin", "uvx pkg 1.2"),
        ("uvx --from=pkg==1.2 bin", "uvx pkg 1.2"),
        ("uvx --python 3.12 --with other pkg==2.0", "uvx pkg 2.0"),
        ("uvx -q pkg", "uvx pkg -"),
        ("uvx --from . bin", "none"),
        ("uvx --from ../x bin", "none"),
        (
            "uvx git+https://h.example/u/r",
            "uvx git+https://h.example/u/r -",
        ),
        (
            "uvx git+https://h.example/u/r@main",
            "uvx git+https://h.example/u/r@main -",
        ),
        ("uv tool run pkg==1.0", "uvx pkg 1.0"),
        ("uv run server.py", "none"),
        ("pipx run pkg==1.0", "pipx run pkg 1.0"),
        ("pipx run --spec pkg==1.0 bin", "pipx run pkg 1.0"),
        ("pipx install pkg", "none"),
    ] {
        assert_eq!(of(line), expected, "{line}");
    }
    let place = "git+https://h.example/u/r";
    for line in [
        format!("uvx {place}@{SHA}"),
        format!("uvx --from {place}@{SHA}#subdirectory=x bin"),
    ] {
        assert_eq!(of(&line), format!("uvx {place} {SHA}"), "{line}");
    }
    let spaced = format!("pkg @ {place}@{SHA}");
    let found = package("uvx", &["--from", &spaced, "bin"]).unwrap();
    assert_eq!(
        (found.name.as_str(), found.version.as_deref()),
        (place, Some(SHA))
    );
    let found = package("uvx", &["pkg == 1.0"]).unwrap();
    assert_eq!(found.version.as_deref(), Some("1.0"));
}

#[test]
fn images_are_found_behind_the_options() {
    let digest = format!("sha256:{}", "ab".repeat(32));
    for (line, expected) in [
        ("docker run -i --rm mcp/time", "docker run mcp/time -"),
        (
            "docker run -i --rm mcp/time:latest",
            "docker run mcp/time -",
        ),
        ("docker run mcp/time:1", "docker run mcp/time -"),
        (
            "docker run mcp/time:1.2.3 --x y:2.0.0",
            "docker run mcp/time 1.2.3",
        ),
        (
            "docker run -it -e KEY mcp/time:v1.2.3-alpine",
            "docker run mcp/time v1.2.3-alpine",
        ),
        ("docker run -ite KEY mcp/time", "docker run mcp/time -"),
        ("docker run -eKEY=1 mcp/time", "docker run mcp/time -"),
        (
            "docker run --env KEY --network=host r.example:5000/x",
            "docker run r.example:5000/x -",
        ),
        (
            "docker run -v a:b --mount type=bind r.example:5000/x:1.0.0",
            "docker run r.example:5000/x 1.0.0",
        ),
        ("docker --context x run y", "docker run y -"),
        ("docker container run y:1.2.3", "docker run y 1.2.3"),
        ("podman run --rm y", "podman run y -"),
        ("docker run mcp/time@sha256:abc", "docker run mcp/time -"),
        ("docker compose up", "none"),
        ("docker run --rm", "none"),
    ] {
        assert_eq!(of(line), expected, "{line}");
    }
    assert_eq!(
        of(&format!("docker run --rm mcp/time:1.0@{digest}")),
        format!("docker run mcp/time {digest}")
    );
}

#[test]
fn all_shapes_of_an_entry_are_read() {
    for entry in [
        json!({"command": "npx", "args": ["-y", "pkg@1.0.0"]}),
        json!({"command": ["npx", "-y", "pkg@1.0.0"]}),
        json!({"command": ["npx", "-y"], "args": ["pkg@1.0.0"]}),
        json!({"command": {"path": "npx", "args": ["-y", "pkg@1.0.0"]}}),
    ] {
        let found = package_of(&entry).unwrap();
        assert_eq!((found.runner, found.name.as_str()), (Runner::Npx, "pkg"));
        assert_eq!(found.version.as_deref(), Some("1.0.0"));
    }
    for entry in [
        json!({"url": "https://x.example"}),
        json!({"command": []}),
        json!({"command": 1}),
        json!({"command": "npx", "args": [1, null]}),
        json!({"command": {"args": ["x"]}}),
        json!(null),
    ] {
        assert_eq!(package_of(&entry), None, "{entry}");
    }
}

#[test]
fn a_token_in_an_address_is_masked() {
    let line = format!("uvx git+https://me:canary@h.example/u/r@{SHA}");
    assert!(!of(&line).contains("canary"), "{}", of(&line));
    assert!(of(&line).ends_with(SHA));
}
