//! Results are the server's text as it was sent; `--mask` takes the server's secrets out of it.

use std::fs;

use serde_json::{Value, json};

use crate::home::Home;
use crate::pty::Pty;
use crate::run::{Run, said, switchboard};
use crate::script::Script;
use crate::serving::Serving;

/// Variables of a server: settings, and secrets.
const VARIABLES: [(&str, &str); 8] = [
    ("FASTMCP_LOG_LEVEL", "ERROR"),
    ("REGION", "us-east-1"),
    ("DATA_DIR", "/srv/data"),
    ("TZ", "Europe/Berlin"),
    ("MAX_TOKENS", "4096"),
    ("API_TOKEN", "correct-horse-battery"),
    ("DATABASE_URL", "postgres://me:p4ss-w0rd@db.example/x"),
    ("SESSION", "3f2c9a7e1b4d4c7e9f00aa11"),
];

/// Answers with the texts of the file that it is given.
const SPEAKER: &str = r#"
def call(request):
    texts = json.load(open(sys.argv[1]))
    answer(request, {"content": [{"type": "text", "text": text} for text in texts]})
"#;

/// Random texts of these values, of ordinary words and of letters from everywhere.
fn texts(count: usize, more: &[&str]) -> Vec<String> {
    const WORDS: [&str; 16] = [
        "3", " ", "lines", "é", "東京", "\n", "\t", "***", "\"", "\\", "%2F", "&amp;", "<b>", "🙂",
        "=", ":",
    ];
    let values = VARIABLES.iter().map(|(_, value)| *value);
    let pieces: Vec<&str> = values.chain(WORDS).chain(more.iter().copied()).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % most as u64).unwrap()
    };
    let mut text = || {
        (0..1 + below(12))
            .map(|_| pieces[below(pieces.len())])
            .collect()
    };
    (0..count).map(|_| text()).collect()
}

struct Speaker {
    script: Script,
    folder: tempfile::TempDir,
}

impl Speaker {
    fn new(texts: &[String]) -> Self {
        let speaker = Self {
            script: Script::new(SPEAKER),
            folder: tempfile::tempdir().unwrap(),
        };
        fs::write(speaker.file(), json!(texts).to_string()).unwrap();
        speaker
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("texts.json")
    }

    fn call(&self, more: &[&str]) -> Run {
        let stdio = format!("{} '{}'", self.script.command(), self.file().display());
        let given = VARIABLES.map(|(name, value)| format!("{name}={value}"));
        let mut args = vec!["call", "go", "--stdio", &stdio];
        for word in &given {
            args.extend(["-e", word]);
        }
        switchboard(&[&args, more].concat())
    }
}

/// Texts one below the other, as they are printed.
fn lines(texts: &[String]) -> String {
    let line = |text: &String| match text.ends_with('\n') {
        true => text.clone(),
        false => format!("{text}\n"),
    };
    texts.iter().map(line).collect()
}

#[test]
fn a_setting_of_a_server_is_no_secret_and_stays_in_its_results() {
    let text = "3 ERROR lines of us-east-1 in /srv/data, 4096 at Europe/Berlin".to_owned();
    let speaker = Speaker::new(std::slice::from_ref(&text));
    assert_eq!(speaker.call(&[]), said(0, &format!("{text}\n"), ""));
    // Nor is it masked where that is asked for.
    assert_eq!(speaker.call(&["--mask"]), said(0, &format!("{text}\n"), ""));
}

#[test]
fn the_text_of_a_result_arrives_as_it_was_sent() {
    let sent = texts(300, &[]);
    let speaker = Speaker::new(&sent);
    assert_eq!(speaker.call(&[]), said(0, &lines(&sent), ""));
    // With what a terminal would obey, where no terminal is.
    let sent = texts(300, &["\u{1b}[31m", "\u{0}", "\r", "\u{202e}", "\u{7f}"]);
    let speaker = Speaker::new(&sent);
    let run = speaker.call(&["--json"]);
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    let blocks = result["content"].as_array().unwrap().iter();
    let arrived: Vec<&str> = blocks
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    assert_eq!(arrived, sent);
    let joined = lines(&sent);
    let joined = joined
        .strip_suffix('\n')
        .filter(|_| !sent[299].ends_with('\n'));
    let joined = joined.map_or_else(|| lines(&sent), str::to_owned);
    assert_eq!(speaker.call(&["--raw"]), said(0, &joined, ""));
    let file = speaker.folder.path().join("out");
    let run = speaker.call(&["--output", file.to_str().unwrap()]);
    assert_eq!(run, said(0, "", ""));
    assert_eq!(fs::read_to_string(file).unwrap(), joined);
}

#[test]
fn secrets_are_masked_in_a_result_on_request() {
    let text = "correct-horse-battery of me:p4ss-w0rd, 3f2c9a7e1b4d4c7e9f00aa11\u{7f} at ERROR";
    let speaker = Speaker::new(&[text.to_owned()]);
    let shown = "*** of ***, ***\\u{7f} at ERROR\n";
    assert_eq!(speaker.call(&["--mask"]), said(0, shown, ""));
    let masked = "*** of ***, ***\u{7f} at ERROR";
    assert_eq!(speaker.call(&["--mask", "--raw"]), said(0, masked, ""));
    let run = speaker.call(&["--mask", "--json"]);
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(result["content"][0]["text"], masked);
    let file = speaker.folder.path().join("out");
    let run = speaker.call(&["--mask", "--output", file.to_str().unwrap()]);
    assert_eq!(run, said(0, "", ""));
    assert_eq!(fs::read_to_string(file).unwrap(), masked);
}

/// A home with two servers, each with a secret of its own, that say both.
fn two_servers(speaker: &Speaker) -> Home {
    let command = speaker.script.command();
    let script = command.trim_start_matches("python3 ").trim_matches('\'');
    let path = std::env::var("PATH").unwrap();
    let entry = |secret: &str| {
        json!({"command": "python3", "args": [script, speaker.file()],
               "env": {"PATH": path, "API_TOKEN": secret}})
    };
    let home = Home::new();
    let servers = json!({"one": entry("swordfish-one"), "two": entry("swordfish-two")});
    let file = json!({"mcpServers": servers}).to_string();
    home.write("config/switchboard/mcp.json", &file);
    home
}

#[test]
fn the_secret_of_one_server_masks_nothing_of_another() {
    let speaker = Speaker::new(&["swordfish-one and swordfish-two".to_owned()]);
    let home = two_servers(&speaker);
    for (line, shown) in [
        ("call one/go", "swordfish-one and swordfish-two\n"),
        ("call one/go --mask", "*** and swordfish-two\n"),
        ("call two/go --mask", "swordfish-one and ***\n"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(home.run(&words), said(0, shown, ""), "{line}");
    }
}

#[test]
fn at_the_prompt_results_are_whole_too_and_masked_on_request() {
    let speaker = Speaker::new(&["swordfish-one and swordfish-two".to_owned()]);
    let home = two_servers(&speaker);
    let mut pty = Pty::start(home.command(&[]), 100);
    pty.wait_for("Ctrl-D exits");
    pty.send(b"call two/go --mask\r");
    pty.wait_for("swordfish-one and ***");
    // Both servers are known by now.
    pty.send(b"call one/go\r");
    pty.wait_for("swordfish-one and swordfish-two");
    pty.send(b"exit\r");
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn prompt_content_as_a_string_or_a_list_is_shown_with_a_warning() {
    let server = Serving::start(&["--growing"]);
    for (name, content, shown, said) in [
        ("string", json!("plain"), "user:\nplain\n", "plain string"),
        (
            "list",
            json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
            "user:\na\nb\n",
            "list of blocks",
        ),
    ] {
        let new = json!({"name": name, "content": content}).to_string();
        let run = switchboard(&["call", "--url", server.url(), "add_prompt", "--args", &new]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let prompt = ["prompt", "--url", server.url(), name];
        let run = switchboard(&prompt);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), shown), "{run:?}");
        let warning = format!("{name}: the content of a message is a {said}\n");
        assert!(run.stderr.starts_with("warning: "), "{run:?}");
        assert!(run.stderr.ends_with(&warning), "{run:?}");
        // As JSON it is as it was sent.
        let run = switchboard(&[&prompt[..], &["--json"]].concat());
        let result: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(result["messages"][0]["content"], content);
    }
}

#[test]
fn results_in_other_shapes_are_read() {
    let server = Script::new(
        "RESULTS = {'text': {'text': 'one'}, 'result': {'result': 'one'}, 'plain': 'one',\n           \
         'block': {'content': {'type': 'text', 'text': 'one'}}, 'words': {'content': 'one'}}\n\
         TOOLS = [tool(name) for name in RESULTS]\n\
         def call(request):\n    answer(request, RESULTS[request['params']['name']])",
    );
    let stdio = server.command();
    for tool in ["text", "result", "plain", "block", "words"] {
        let run = switchboard(&["call", tool, "--stdio", &stdio]);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(0), "one\n"),
            "{tool}: {run:?}"
        );
    }
}
