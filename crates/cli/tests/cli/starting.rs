//! Starting servers: slow ones, many at once, those of either era, and what is remembered of them.

use std::fs;

use serde_json::{Map, Value, json};

use crate::home::Home;
use crate::run::Run;

const MINE: &str = "config/switchboard/mcp.json";

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

fn home(servers: &Value) -> Home {
    let home = Home::new();
    home.write(MINE, &json!({"mcpServers": servers}).to_string());
    home
}

/// The test server of an era, which reads nothing before so many milliseconds are over.
fn slow(era: &str, milliseconds: u32) -> Value {
    let delay = milliseconds.to_string();
    json!({
        "command": env!("CARGO_BIN_EXE_switchboard"),
        "args": ["test-server", "--era", era, "--start-delay", delay],
    })
}

/// A home whose one server is a shell script, which has `reply ID RESULT`, `refuse ID` and `id_of LINE`.
fn scripted(script: &str) -> Home {
    let home = Home::new();
    add_script(&home, script);
    home
}

fn add_script(home: &Home, script: &str) {
    let helpers = r#"
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$1"; }
id_of() { rest=${1#*\"id\":}; printf '%s' "${rest%%,*}"; }
legacy='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}'
modern='{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}'
tools='{"resultType":"complete","tools":[{"name":"go","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}'
"#;
    // In a file: what looks like a placeholder would be one in an entry.
    home.write("it.sh", &format!("{helpers}{script}"));
    let it = json!({"command": "/bin/sh", "args": [home.path("it.sh")]});
    home.write(MINE, &json!({"mcpServers": {"it": it}}).to_string());
}

/// The version that was spoken with each server, once all of them are found to be without fault.
fn versions(run: &Run) -> Vec<(String, String)> {
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    let all: Value = serde_json::from_str(&run.stdout).unwrap();
    let servers = all["servers"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    servers
        .map(|server| {
            assert_eq!(server["findings"], json!([]), "{server}");
            (text(&server["server"]), text(&server["version"]))
        })
        .collect()
}

#[test]
fn a_slow_start_changes_neither_the_era_nor_what_doctor_says() {
    for (era, version) in [("legacy", LEGACY), ("modern", MODERN), ("both", MODERN)] {
        for delay in [100, 3500] {
            let home = home(&json!({"it": slow(era, delay)}));
            // The second time it is remembered.
            for _ in 0..2 {
                let found = versions(&home.run(&["doctor", "--json"]));
                let wanted = [("it".to_owned(), version.to_owned())];
                assert_eq!(found, wanted, "{era} {delay}");
            }
        }
    }
}

#[test]
fn ten_slow_starts_at_once_change_neither_the_eras_nor_what_doctor_says() {
    for delay in [100, 3500] {
        let mut servers = Map::new();
        let mut wanted = Vec::new();
        for n in 0..10 {
            let (era, version) = match n % 2 {
                0 => ("legacy", LEGACY),
                _ => ("modern", MODERN),
            };
            let name = format!("server-{n}");
            servers.insert(name.clone(), slow(era, delay));
            wanted.push((name, version.to_owned()));
        }
        let home = home(&Value::Object(servers));
        for _ in 0..2 {
            let found = versions(&home.run(&["doctor", "--json"]));
            assert_eq!(found, wanted, "{delay}");
        }
    }
}

#[test]
fn a_server_that_is_slow_with_the_probe_alone_is_not_blamed_for_it() {
    // It says that it is up, answers the probe when all else is done, and everything else at once.
    let home = scripted(
        r#"echo up >&2
while read -r line; do
  case "$line" in
    *server/discover*) late=$(id_of "$line") ;;
    *'"initialize"'*) reply "$(id_of "$line")" "$legacy" ;;
    *tools/list*) reply "$(id_of "$line")" "$tools"; [ -z "$late" ] || refuse "$late"; late= ;;
    *'"ping"'*) reply "$(id_of "$line")" '{}' ;;
  esac
done"#,
    );
    for _ in 0..2 {
        let found = versions(&home.run(&["doctor", "--json"]));
        assert_eq!(found, [("it".to_owned(), LEGACY.to_owned())]);
    }
}

/// A server whose era is the word in a file, and which writes down what it is asked first.
fn changing() -> Home {
    let home = Home::new();
    let (era, asked) = (home.path("era"), home.path("asked"));
    let script = format!(
        r#"read -r era < '{}'
first=1
while read -r line; do
  [ -z "$first" ] || printf '%s\n' "$line" >> '{}'; first=
  id=$(id_of "$line")
  case "$era $line" in
    legacy*'"initialize"'*) reply "$id" "$legacy" ;;
    modern*server/discover*) reply "$id" "$modern" ;;
    *tools/list*) reply "$id" "$tools" ;;
    *'"id"'*) refuse "$id" ;;
  esac
done"#,
        era.display(),
        asked.display(),
    );
    add_script(&home, &script);
    home
}

/// The method that the server was asked first the last time.
fn asked_first(home: &Home) -> String {
    let asked = home.read("asked");
    let line: Value = serde_json::from_str(asked.lines().last().unwrap()).unwrap();
    line["method"].as_str().unwrap().to_owned()
}

#[test]
fn an_era_is_remembered_in_a_private_file_and_mended_when_it_is_wrong() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = changing();
    let spoken = || {
        let run = home.run(&["servers", "--json"]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        let all: Value = serde_json::from_str(&run.stdout).unwrap();
        all["servers"][0]["version"].as_str().unwrap().to_owned()
    };
    // What it is, what it is taken for at first, and what it is asked first then.
    for (era, version, first) in [
        ("legacy", LEGACY, "server/discover"),
        ("legacy", LEGACY, "initialize"),
        // It was brought up to date.
        ("modern", MODERN, "initialize"),
        ("modern", MODERN, "server/discover"),
        // It was taken back.
        ("legacy", LEGACY, "server/discover"),
        ("legacy", LEGACY, "initialize"),
    ] {
        home.write("era", &format!("{era}\n"));
        assert_eq!(spoken(), version, "{era}");
        assert_eq!(asked_first(&home), first, "{era}");
    }
    let file = home.path("state/switchboard/eras/eras.json");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Without the file it is found out again.
    fs::write(&file, "no JSON").unwrap();
    assert_eq!(spoken(), LEGACY);
    assert_eq!(asked_first(&home), "server/discover");
}

#[test]
fn what_was_tried_before_is_told_with_verbose_alone() {
    let home = scripted("read -r line; exit 3");
    let told = |args: &[&str]| home.run(args).stderr;
    let fact = "  first attempt: tried protocol 2026-07-28 first, and the server ended with exit \
                code 3; retried with 2025-11-25\n";
    let brief = told(&["tools", "it"]);
    assert!(
        brief.contains("the server ended with exit code 3"),
        "{brief}"
    );
    assert!(!brief.contains("2026-07-28"), "{brief}");
    let whole = told(&["tools", "it", "-v"]);
    assert!(whole.contains(fact), "{whole}");
    let json: Value = serde_json::from_str(&told(&["tools", "it", "-v", "--json"])).unwrap();
    let facts = json["facts"].as_array().unwrap().iter();
    let mut names = facts.map(|fact| fact["name"].as_str().unwrap());
    assert!(names.any(|name| name == "first attempt"), "{json}");
}

#[test]
fn a_cause_before_pages_of_usage_leads_the_report() {
    let usage = r#"echo 'Error: invalid configuration, try setting KUBERNETES_MASTER environment variable' >&2
n=0; while [ $n -lt 150 ]; do echo "  --flag-$n" >&2; n=$((n + 1)); done; exit 1"#;
    let home = scripted(usage);
    let told = home.run(&["tools", "it"]).stderr;
    let cause =
        "    | Error: invalid configuration, try setting KUBERNETES_MASTER environment variable\n";
    let leads =
        format!("  likely cause, from stderr:\n{cause}  first and last lines of stderr:\n{cause}");
    assert!(told.contains(&leads), "{told}");
    assert!(told.contains("    | ... 121 lines ...\n    | "), "{told}");
    assert!(
        told.contains("the variable KUBERNETES_MASTER is not set for it"),
        "{told}"
    );
}

#[test]
fn a_proxy_that_is_kept_back_is_named_where_a_start_fails_for_it() {
    let home = scripted("echo 'npm error code ENOTFOUND' >&2; exit 1");
    let mut command = home.command(&["tools", "it"]);
    command.env("HTTPS_PROXY", "http://me:s3cret@proxy:3128");
    let run = Run::of(command.output().unwrap());
    let told = home.hide(&run.stderr);
    assert!(
        told.contains("HTTPS_PROXY is not passed on to servers, because it contains a user name"),
        "{told}"
    );
    assert!(
        told.contains("write `\"env_passthrough\": [\"HTTPS_PROXY\"]` into its entry: ~/config"),
        "{told}"
    );
    assert!(!told.contains("s3cret"), "{told}");
}
