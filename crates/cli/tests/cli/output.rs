//! What becomes of results: shown, cut, kept in files, handed on untouched.

use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;

use crate::pty::Pty;
use crate::run::{command, said, switchboard};
use crate::script::Script;

const MEDIA: &str = r#"
TOOLS = [tool("../../go"), tool("none"), tool("fail")]
def call(request):
    if request["params"]["name"] == "none":
        return answer(request, {"content": [{"type": "image", "mimeType": "image/png", "data": "AAEC"}]})
    if request["params"]["name"] == "fail":
        return answer(request, {**text("no"), "isError": True})
    answer(request, {"content": [
        {"type": "text", "text": "a\x1b[1mb"},
        {"type": "image", "mimeType": "image/png", "data": "AAEC"},
        {"type": "audio", "mimeType": "audio/x-evil/../../sh", "data": "AAE"},
        {"type": "resource", "resource": {"uri": "file:///../../x.sh", "mimeType": "text/csv", "blob": "YSxi"}},
        {"type": "text", "text": "c"}]})
"#;

fn call<'a>(stdio: &'a str, tool: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["call", "--stdio", stdio, tool][..], more].concat()
}

#[test]
fn what_is_no_text_is_saved_under_names_of_our_own() {
    let server = Script::new(MEDIA);
    let stdio = server.command();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("new/folder");
    let saved = saved.to_str().unwrap();
    let args = call(&stdio, "s/../../go", &["--save", saved]);
    let shown = |number: u32| {
        format!(
            "a\\u{{1b}}[1mb\n[image image/png 3 B, saved as {saved}/s-go-{number}.png]\n\
             [audio audio/x-evil/../../sh 2 B, saved as {saved}/s-go-{number}.bin]\n\
             [resource file:///../../x.sh text/csv 3 B, saved as {saved}/s-go-{number}.csv]\nc\n"
        )
    };
    assert_eq!(switchboard(&args), said(0, &shown(1), ""));
    let file = format!("{saved}/s-go-1.png");
    assert_eq!(fs::read(&file).unwrap(), [0, 1, 2]);
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The next ones go beside them, and through no link.
    for ending in ["png", "bin", "csv"] {
        let away = folder.path().join("away");
        symlink(&away, format!("{saved}/s-go-2.{ending}")).unwrap();
    }
    assert_eq!(switchboard(&args), said(0, &shown(3), ""));
    assert!(!folder.path().join("away").exists());
    assert_eq!(fs::read_dir(saved).unwrap().count(), 9);
}

#[test]
fn what_is_no_base64_is_told_of_and_costs_nothing_else() {
    let server = Script::new(
        r#"
def call(request):
    answer(request, {"content": [{"type": "image", "mimeType": "image/png", "data": "***"},
                                 {"type": "image", "mimeType": "image/gif", "data": "AAEC"}]})
"#,
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let run = switchboard(&call(&server.command(), "go", &["--save", path]));
    let stdout =
        format!("[image image/png 2 B]\n[image image/gif 3 B, saved as {path}/stdio-go-1.gif]\n");
    let stderr = "error: the server's data is not valid base64 and was not saved\n";
    assert_eq!(run, said(11, &stdout, stderr));
}

#[test]
fn a_text_goes_to_a_file_untouched_and_over_no_other() {
    let server = Script::new(MEDIA);
    let stdio = server.command();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let path = file.to_str().unwrap();
    let args = call(&stdio, "s/../../go", &["--output", path]);
    let rest = "[image image/png 3 B]\n[audio audio/x-evil/../../sh 2 B]\n\
                [resource file:///../../x.sh text/csv 3 B]\n";
    assert_eq!(switchboard(&args), said(0, rest, ""));
    assert_eq!(fs::read_to_string(&file).unwrap(), "a\u{1b}[1mb\nc");
    let refused = format!(
        "error: the file of --output already exists\n  file: {path}\n  what to do:\n    \
         - name another, or remove it\n"
    );
    assert_eq!(switchboard(&args), said(2, "", &refused));
    fs::remove_file(&file).unwrap();
    symlink(folder.path().join("away"), &file).unwrap();
    assert_eq!(switchboard(&args), said(2, "", &refused));
    fs::remove_file(&file).unwrap();
    // An image that is all there is.
    let run = switchboard(&call(&stdio, "none", &["--output", path]));
    assert_eq!(run, said(0, "[image image/png 3 B]\n", ""));
    assert_eq!(fs::read(&file).unwrap(), [0, 1, 2]);
    fs::remove_file(&file).unwrap();
    // What went wrong is for whoever asked, and not for the file.
    let run = switchboard(&call(&stdio, "fail", &["--output", path]));
    assert_eq!((run.code, run.stdout.as_str()), (Some(5), "no\n"));
    assert!(!file.exists());
}

#[test]
fn a_file_named_like_an_image_gets_the_image() {
    let server = Script::new(MEDIA);
    let stdio = server.command();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let png = file("x.png");
    let run = switchboard(&call(&stdio, "s/../../go", &["--output", &png]));
    // What is not in the file is shown.
    let rest = "a\\u{1b}[1mb\n[image image/png 3 B]\n[audio audio/x-evil/../../sh 2 B]\n\
                [resource file:///../../x.sh text/csv 3 B]\nc\n";
    let warning = format!(
        "warning: {png} has only the png; the text and 2 other parts of the result are not in it\n"
    );
    assert_eq!(run, said(0, rest, &warning));
    assert_eq!(fs::read(&png).unwrap(), [0, 1, 2]);
    // An image that the result does not have.
    let jpg = file("x.jpg");
    let run = switchboard(&call(&stdio, "s/../../go", &["--output", &jpg]));
    let warning = format!(
        "warning: {jpg} has the text of the result: no part of it is jpg; --save DIR writes what \
         there is\n"
    );
    assert_eq!((run.code, run.stderr), (Some(0), warning));
    assert_eq!(fs::read_to_string(&jpg).unwrap(), "a\u{1b}[1mb\nc");
    // One that is all there is, and of another type.
    let gif = file("x.gif");
    let run = switchboard(&call(&stdio, "none", &["--output", &gif]));
    let warning = format!("warning: {gif} is not gif: the result is image/png\n");
    assert_eq!(run, said(0, "[image image/png 3 B]\n", &warning));
    assert_eq!(fs::read(&gif).unwrap(), [0, 1, 2]);
}

#[test]
fn a_pipe_can_have_the_text_to_the_letter_and_a_terminal_cannot() {
    let server = Script::new(MEDIA);
    let stdio = server.command();
    let run = switchboard(&call(&stdio, "s/../../go", &["--raw", "--quiet"]));
    assert_eq!(run, said(0, "a\u{1b}[1mb\nc", ""));
    let run = switchboard(&["read", "demo", "file:///data/users.csv", "--raw"]);
    assert!(run.stdout.starts_with("id,name,role\n"), "{run:?}");
    let journal = tempfile::NamedTempFile::new().unwrap();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let stdio = format!(
        "'{own}' test-server --journal '{}'",
        journal.path().display()
    );
    let args = ["call", "--stdio", &stdio, "echo", "message=hi", "--raw"];
    let (code, screen) = Pty::spawn(&args, &[], 80).finish();
    assert_eq!(code, 2);
    assert!(
        screen.contains("--raw does not print to a terminal"),
        "{screen}"
    );
    assert_eq!(fs::read(journal.path()).unwrap(), b"", "nothing was called");
    assert_eq!(switchboard(&args), said(0, "hi", ""));
}

#[test]
fn ways_that_exclude_each_other_are_refused() {
    for odd in [
        ["--raw", "--json"],
        ["--output=x", "--json"],
        ["--output=x", "--raw"],
        ["--save=x", "--json"],
    ] {
        let run = switchboard(&[&["call", "demo/echo", "message=a"][..], &odd].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{odd:?}");
    }
    let run = switchboard(&["call", "demo/echo", "message=a", "--save", "/dev/null"]);
    assert_eq!(run.code, Some(2), "{run:?}");
}

const TABLE: &str = r#"
def call(request):
    rows = [{"id": n, "name": "Ada\x1b", "note": "x" * 60} for n in range(2)]
    data = {"rows": rows}
    answer(request, {**text(json.dumps(data)), "structuredContent": data})
"#;

#[test]
fn data_that_is_a_table_is_one_at_a_terminal_alone() {
    let server = Script::new(TABLE);
    let stdio = server.command();
    let args = call(&stdio, "go", &[]);
    let run = switchboard(&args);
    assert!(
        run.stdout.starts_with("{\"rows\": [{\"id\": 0, "),
        "{run:?}"
    );
    let (code, screen) = Pty::spawn(&args, &[], 60).finish();
    let note = format!("{}…", "x".repeat(44));
    let table = format!(
        "rows:\nid  name       note\n--  ----       ----\n0   Ada\\u{{1b}}  {note}\n1   Ada\\u{{1b}}  {note}"
    );
    assert_eq!((code, screen), (0, table));
    let (_, screen) = Pty::spawn(&args, &[], 20).finish();
    assert!(
        screen.starts_with("rows:\nid: 0\nname: Ada\\u{1b}\nnote: xxxx"),
        "{screen}"
    );
}

const LONG: &str = r#"
def call(request):
    answer(request, text("".join("line %d\n" % n for n in range(2000))))
"#;

#[test]
fn a_long_text_is_cut_at_a_terminal_and_whole_elsewhere() {
    let server = Script::new(LONG);
    let stdio = server.command();
    let args = call(&stdio, "go", &[]);
    assert_eq!(switchboard(&args).stdout.lines().count(), 2000);
    let (code, screen) = Pty::spawn(&args, &[], 80).finish();
    assert_eq!(code, 0);
    let mut lines = screen.lines().rev();
    assert_eq!(
        lines.next(),
        Some("[1000 lines more, 9.8 KiB, not shown; --output FILE writes all of the text]")
    );
    assert_eq!(lines.next(), Some("line 999"));
}

#[test]
fn a_quiet_run_says_nothing_but_results_and_errors() {
    let server = Script::new(r#"TOOLS = [tool("go"), {"name": "bad", "inputSchema": 5}]"#);
    let stdio = server.command();
    let run = switchboard(&["tools", "--stdio", &stdio, "-q"]);
    assert_eq!(run, said(0, "go\n", ""));
    let run = switchboard(&["call", "demo/fail", "message=no", "--quiet"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(5), "no\n"));
    assert!(run.stderr.starts_with("error: "), "{run:?}");
}

#[test]
fn what_cannot_be_written_as_an_image_is_told_of() {
    let server = Script::new(
        r#"
TOOLS = [tool("bad"), tool("two")]
def call(request):
    image = {"type": "image", "mimeType": "image/png", "data": "AAEC"}
    if request["params"]["name"] == "two":
        return answer(request, {"content": [image, image]})
    answer(request, {"content": [{"type": "text", "text": "a text"}, {**image, "data": "***"}]})
"#,
    );
    let stdio = server.command();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.png");
    let path = file.to_str().unwrap();
    let run = switchboard(&call(&stdio, "two", &["--output", path]));
    assert_eq!(run.code, Some(5), "{run:?}");
    assert!(run.stderr.contains("has 2 parts and no text"), "{run:?}");
    assert!(run.stderr.contains("--save DIR writes them all"), "{run:?}");
    assert!(!file.exists());
    let run = switchboard(&call(&stdio, "bad", &["--output", path]));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("is not valid base64"), "{run:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "a text");
}

#[test]
fn a_stdout_that_never_waits_gets_all_of_a_result() {
    const BYTES: usize = 3_000_000;
    let server = Script::new(&format!(
        "def call(request):\n    answer(request, text('x' * {BYTES}))\n"
    ));
    let stdio = server.command();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let mut command = command(&call(&stdio, "go", &[]));
    let mut child = command.stdout(OwnedFd::from(theirs)).spawn().unwrap();
    drop(command);
    let mut read = Vec::new();
    ours.read_to_end(&mut read).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(read.len(), BYTES + 1);
}
