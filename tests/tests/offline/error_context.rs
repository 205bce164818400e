//! What a program reads from an error about the server that it is about.

use serde_json::json;
use switchboard::spec::ServerSpec;
use switchboard::{Error, ErrorKind, Host};

const SECRET: &str = "hunter2hunter2";

/// Checks that no part of an error has the secret in it.
fn has_no_secret(error: &Error) {
    let all = format!("{error} {error:?} {:?}", switchboard::explain(error));
    assert!(!all.contains(SECRET), "{all}");
}

#[tokio::test]
async fn an_error_knows_the_description_of_its_server_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let script = "echo bad luck >&2; exit 3";
    let config = json!({"mcpServers": {
        "crashes": {
            "command": "sh", "args": ["-c", script, "x", "--token", SECRET],
            "env": {"API_KEY": SECRET, "MODE": "${HOME}"},
        },
        "away": {
            "url": format!("http://user:{SECRET}@127.0.0.1:9/mcp"),
            "headers": {"Authorization": format!("Bearer {SECRET}")},
        },
    }});
    std::fs::write(&file, serde_json::to_string_pretty(&config).unwrap()).unwrap();
    let host = Host::builder().file(&file).unwrap().build().unwrap();

    let error = host.connect("crashes").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    let context = error.context();
    let command = ["sh", "-c", script, "x", "--token", "***"].map(String::from);
    assert_eq!(context.command.as_deref(), Some(&command[..]));
    assert_eq!(context.url, None);
    assert_eq!(context.file.as_deref(), Some(&*file));
    assert!(context.line.is_some_and(|line| line > 1), "{context:?}");
    assert!(context.layer.is_some(), "{context:?}");
    let entry = context.entry.as_deref().unwrap();
    assert_eq!(entry["command"], "sh");
    assert_eq!(entry["env"]["MODE"], "${HOME}");
    assert_eq!(error.stderr(), ["bad luck"]);
    has_no_secret(&error);

    let error = host.connect("away").await.unwrap_err();
    let context = error.context();
    let url = context.url.as_deref().unwrap();
    assert!(url.contains("127.0.0.1:9/mcp"), "{url}");
    assert_eq!(context.command, None);
    let headers = &context.entry.as_deref().unwrap()["headers"];
    assert_eq!(headers["Authorization"], "Bearer ***");
    has_no_secret(&error);
    host.shutdown().await;
}

#[tokio::test]
async fn an_error_knows_what_a_program_described_too() {
    let spec = ServerSpec::stdio("gone", "no-such-program-anywhere").unwrap();
    let spec = spec.args(["--api-key", SECRET, "-v"]).env("TOKEN", SECRET);
    let host = Host::builder().server(spec).build().unwrap();
    let error = host.connect("gone").await.unwrap_err();
    let context = error.context();
    let command = ["no-such-program-anywhere", "--api-key", "***", "-v"].map(String::from);
    assert_eq!(context.command.as_deref(), Some(&command[..]));
    let entry = context.entry.as_deref().unwrap();
    assert_eq!(entry["args"][1], "${API_KEY}");
    assert_eq!((context.file.as_ref(), context.line), (None, None));
    has_no_secret(&error);
    // A description that cannot be used is an error with its description too.
    let bad = ServerSpec::stdio("bad", "x").unwrap().header("A", SECRET);
    let error = host.add(bad).unwrap_err();
    let command = error.context().command.as_deref();
    assert_eq!(command, Some(&["x".to_owned()][..]));
}
