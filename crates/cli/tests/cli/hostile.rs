//! Servers that write to the terminal, or repeat what they were told in confidence.

use std::process::Command;

use crate::run::{Run, switchboard, switchboard_with};
use crate::script::Script;

/// Writes escapes into everything that a server can say.
const ESCAPES: &str = r#"
BAD = "\x1b[31m\x07\x9b2J\u202e\u200b\r"
TOOLS = [tool("say" + BAD, description="It" + BAD, inputSchema={"type": "object", "properties": {"k" + BAD: {"enum": [BAD]}}}),
         {"name": "odd" + BAD},
         tool("go"), tool("data"), tool("fail"), tool("refuse"), tool("die")]
def call(request):
    name = request["params"]["name"]
    sys.stderr.write("words" + BAD + "\n")
    sys.stderr.flush()
    if name == "go":
        answer(request, {"content": [
            {"type": "text", "text": BAD},
            {"type": BAD},
            {"type": "image", "mimeType": BAD, "data": ""},
            {"type": "resource_link", "uri": BAD, "name": BAD},
            {"type": "resource", "resource": {"uri": BAD, "text": BAD}}]})
    elif name == "data":
        answer(request, {"content": [], "structuredContent": {BAD: BAD}})
    elif name == "fail":
        answer(request, {**text(BAD), "isError": True})
    elif name == "refuse":
        refuse(request, -32000, BAD, data=BAD)
    else:
        write(BAD)
        os._exit(1)
"#;

/// The tools that answer with a result.
const WITH_RESULT: [&str; 3] = ["s/go", "s/data", "s/fail"];

/// Runs everything that shows what a server says, as text and as JSON. Results have `of_results` added.
fn every_output(
    server: &Script,
    variables: &[(&str, &str)],
    options: &[&str],
    of_results: &[&str],
) -> Vec<Run> {
    let stdio = server.command();
    let mut runs = Vec::new();
    for json in [&[][..], &["--json"]] {
        let mut lines = vec![
            vec!["tools", "s"],
            vec!["servers", "s"],
            vec!["tool", "s/go"],
            vec!["tool", "s/say\u{1b}[31m\u{7}\u{9b}2J\u{202e}\u{200b}\r"],
            vec!["call", "s/missing"],
            vec!["call", "s/odd"],
        ];
        for tool in ["s/go", "s/data", "s/fail", "s/refuse", "s/die"] {
            lines.push(vec!["call", tool]);
        }
        for mut args in lines {
            args.extend(["--stdio", &stdio]);
            if WITH_RESULT.contains(&args[1]) && args[0] == "call" {
                args.extend(of_results);
            }
            args.extend(options);
            args.extend(json);
            runs.push(switchboard_with(variables, &args));
        }
    }
    runs
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let server = Script::new(ESCAPES);
    for run in every_output(&server, &[], &[], &[]) {
        let printed = format!("{}{}", run.stdout, run.stderr);
        let bad = printed
            .chars()
            .find(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{200b}'));
        assert_eq!(bad, None, "{printed:?}");
        assert!(!printed.is_empty());
    }
}

/// Repeats its variables in everything that a server can say.
const PARROT: &str = r#"
TOLD = " ".join(os.environ.get(name, "") for name in ["GIVEN_TOKEN", "PASSED_KEY"]) + " " + " ".join(sys.argv[1:])
sys.stderr.write(TOLD + "\n")
TOOLS = [tool("say " + TOLD, description=TOLD, inputSchema={"type": "object", "properties": {TOLD: {"enum": [TOLD]}}}),
         {"name": "odd " + TOLD},
         tool("go"), tool("data"), tool("fail"), tool("refuse"), tool("die")]
def call(request):
    name = request["params"]["name"]
    if name == "go":
        answer(request, {**text(TOLD), TOLD: TOLD})
    elif name == "data":
        answer(request, {"content": [], "structuredContent": {TOLD: [TOLD, 8877665544887766]}})
    elif name == "fail":
        answer(request, {**text(TOLD), "isError": True})
    elif name == "refuse":
        refuse(request, -32000, TOLD, data={TOLD: TOLD})
    else:
        write(TOLD)
        os._exit(1)
"#;

#[test]
fn no_secret_is_printed_whoever_repeats_it() {
    let server = Script::new(PARROT);
    let stdio = format!("{} --api-key canary-three", server.command());
    let options = [
        "--env",
        "GIVEN_TOKEN=canary-one",
        "--env",
        "NUMBER_KEY=8877665544887766",
        "--env-passthrough",
        "PASSED_KEY",
    ];
    let passed = [("PASSED_KEY", "canary-two")];
    let mut runs = every_output(&server, &passed, &options, &["--mask"]);
    for (tool, mask) in [("s/go", &["--mask"][..]), ("s/die", &[])] {
        for json in [&[][..], &["--json"]] {
            let args = [&["call", tool, "--stdio", &stdio][..], mask, json].concat();
            runs.push(switchboard(&args));
        }
    }
    for run in &runs {
        let printed = format!("{}{}", run.stdout, run.stderr);
        for secret in ["canary", "8877665544887766"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }
    // Without --mask the result on stdout is whole, and nothing else.
    let mut whole = 0;
    for run in every_output(&server, &passed, &options, &[]) {
        assert!(!run.stderr.contains("canary"), "{}", run.stderr);
        whole += usize::from(run.stdout.contains("canary-one canary-two"));
    }
    assert_eq!(whole, 2 * WITH_RESULT.len());
    // The parrot was heard: it is the secrets that are missing, not what it said.
    assert!(runs.iter().any(|run| run.stdout.contains("***")));
    assert!(runs.iter().any(|run| run.stderr.contains("***")));
}

#[test]
fn json_without_its_secrets_is_still_json() {
    let server = Script::new(PARROT);
    let stdio = server.command();
    let args = [
        "call",
        "s/data",
        "--stdio",
        &stdio,
        "--json",
        "--mask",
        "--env",
        "GIVEN_TOKEN=8877665544887766",
    ];
    let run = switchboard(&args);
    let result: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let data = result["structuredContent"].as_object().unwrap();
    let (key, values) = data.iter().next().unwrap();
    assert_eq!(key.trim(), "***");
    assert_eq!(values[1], "***");
}

#[test]
fn no_process_is_left_behind() {
    let mark = format!("switchboard-test-{}", std::process::id());
    let server = Script::new("");
    let stdio = format!("{} {mark}", server.command());
    assert_eq!(
        switchboard(&["call", "--stdio", &stdio, "go"]).code,
        Some(0)
    );
    assert_eq!(
        switchboard(&["call", "--stdio", &stdio, "missing"]).code,
        Some(5)
    );
    let listed = Command::new("ps")
        .args(["-A", "-o", "args="])
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(!listed.contains(&mark), "{listed}");
}
