//! Command lines that are wrong.

use crate::run::{said, switchboard, switchboard_with};

#[test]
fn alone_it_shows_what_can_be_done() {
    assert_eq!(
        switchboard(&[]),
        said(
            2,
            "",
            "switchboard: no command given\n\nExamples:\n  switchboard tools demo\n  \
             switchboard call demo/echo message=hello\n  \
             switchboard call --stdio \"uvx mcp-server-time\" get_current_time timezone=Europe/Berlin\n  \
             switchboard tools --url https://example.com/mcp -H \"Authorization: Bearer TOKEN\"\n\n\
             `switchboard --help` shows everything.\n"
        )
    );
}

#[test]
fn help_and_version_are_results() {
    let version = concat!("switchboard ", env!("CARGO_PKG_VERSION"));
    assert_eq!(switchboard(&["-V"]), said(0, &format!("{version}\n"), ""));
    // With the platform, which a report about a download needs.
    let long = switchboard(&["--version"]);
    assert_eq!((long.code, long.stderr.as_str()), (Some(0), ""));
    let platform = long.stdout.trim_end().strip_prefix(version);
    let platform = platform.and_then(|text| text.strip_prefix(" (")?.strip_suffix(')'));
    assert!(
        platform.is_some_and(|name| name.starts_with(std::env::consts::ARCH)),
        "{}",
        long.stdout
    );
    let help = switchboard(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    assert!(
        help.stdout
            .contains("switchboard call demo/echo message=hello")
    );
}

#[test]
fn a_tool_that_no_server_has_is_refused() {
    assert_eq!(
        switchboard(&["call", "nowhere", "message=hi"]),
        said(
            5,
            "",
            "error: no server has a tool named \"nowhere\"\n  what to do:\n    \
             - list all tools: `switchboard tools`\n"
        )
    );
    for odd in ["", "/", "demo/", "/echo"] {
        let run = switchboard(&["call", odd]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{odd:?}");
    }
}

#[test]
fn naming_no_server_means_all_that_are_known() {
    let run = switchboard(&["tools"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let named = switchboard(&["tools", "demo"]);
    let lines = named.stdout.lines().count();
    assert_eq!(run.stdout.lines().count(), lines);
    assert!(
        run.stdout.lines().all(|line| line.starts_with("demo/")),
        "{run:?}"
    );
}

#[test]
fn a_server_that_nobody_described_is_a_matter_of_configuration() {
    for args in [["tools", "demp"], ["call", "demp/echo"]] {
        let meant = args.join(" ").replace("demp", "demo");
        let stderr = format!(
            "error: there is no server named \"demp\"\n  what to do:\n    \
             - did you mean `switchboard {meant}`?\n    \
             - `switchboard add demp -- CMD ARGS` adds it\n    \
             - or start one with --stdio \"CMD ARGS\", or reach it with --url URL\n"
        );
        assert_eq!(switchboard(&args), said(6, "", &stderr));
    }
    let run = switchboard_with(&[("MCP_PAGE_SIZE", "0")], &["test-server"]);
    assert_eq!(
        run,
        said(
            6,
            "",
            "error: MCP_PAGE_SIZE must be a whole number from 1 to 100000, not \"0\"\n"
        )
    );
}

#[test]
fn a_command_that_cannot_be_split_is_shown() {
    assert_eq!(
        switchboard(&["tools", "--stdio", "run 'it --token abcdef"]),
        said(
            2,
            "",
            "error: --stdio: a quote is not closed\n  \
             command: run 'it --token ***\n"
        )
    );
    assert_eq!(switchboard(&["tools", "--stdio", " "]).code, Some(2));
    assert_eq!(switchboard(&["tools", "--stdio", "''"]).code, Some(2));
    assert_eq!(
        switchboard(&["tools", "a b", "--stdio", "cat"]).code,
        Some(2)
    );
}

#[test]
fn every_badly_written_argument_is_refused() {
    for bad in [
        &["message"][..],
        &["=x"],
        &["message:=x"],
        &["message=a", "message=b"],
        &["message=a", "--args", r#"{"message":"b"}"#],
        &["--args", "[]"],
        &["--args", "{"],
        &["message=@/nowhere/at/all"],
        &["message=a", "--timeout", "soon"],
        &["message=a", "--timeout", "0"],
        &["message=a", "--protocol", "2025-11-25"],
        &["message=a", "--env", "=x"],
        &["message=a", "--env-passthrough", "A=b"],
        &["message=a", "--no-such-option"],
    ] {
        let mut args = vec!["call", "demo/echo"];
        args.extend(bad);
        let run = switchboard(&args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{bad:?}");
        assert!(run.stderr.starts_with("error: "), "{bad:?}: {}", run.stderr);
        args.push("--json");
        let run = switchboard(&args);
        assert_eq!(run.error()["exit"], 2, "{bad:?}");
        assert_eq!(run.error()["kind"], "usage", "{bad:?}");
    }
}

#[test]
fn a_timeout_of_minutes_is_accepted_and_an_unknown_unit_named() {
    for time in ["2m", "1h", "1m30s"] {
        let run = switchboard(&["call", "demo/echo", "message=a", "--timeout", time]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), "a\n"), "{time}");
    }
    let run = switchboard(&["call", "demo/echo", "message=a", "--timeout", "2min"]);
    assert_eq!(run.code, Some(2));
    let problem = "`min` is not a unit of time; write a time as 30s, 500ms, 2m, 1h or 1m30s, or as \
                   a number of seconds";
    assert!(run.stderr.contains(problem), "{}", run.stderr);
}

#[test]
fn a_variable_without_a_name_is_refused_without_its_value() {
    let run = switchboard(&["tools", "demo", "--env", "hunter2-in-the-wrong-place"]);
    assert_eq!(
        run,
        said(
            2,
            "",
            "error: --env must be NAME=VALUE\n  what to do:\n    \
             - to pass on a variable of this shell, use --env-passthrough NAME\n"
        )
    );
}
