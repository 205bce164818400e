//! Logins that fail: each with its exit code, its cause and what to do.

use super::{Stage, answered};

/// A login that cannot be begun: settings, faults, exit code, title, and what one of the hints says.
type Row = (
    &'static [&'static str],
    &'static [&'static str],
    i32,
    &'static str,
    &'static str,
);

const NOT_BEGUN: &[Row] = &[
    (
        &[
            "resource-place=nowhere",
            "names-place=no",
            "metadata-place=nowhere",
            "registration=no",
        ],
        &[],
        11,
        "",
        "\"oauth\": {\"issuer\": \"https://...\"}",
    ),
    (
        &["registration=no"],
        &[],
        6,
        "the issuer lets no client register, and there is no client id",
        "\"oauth\": {\"clientId\": \"...\"}",
    ),
    (
        &[],
        &["resource-mismatch"],
        11,
        "the server's metadata is about another server",
        "write that URL into its entry",
    ),
    (
        &[],
        &["issuer-wrong"],
        11,
        "the issuer's metadata is that of another issuer",
        "\"oauth\": {\"issuer\": ",
    ),
    (
        &[],
        &["servers-private"],
        4,
        "has an address that is not allowed",
        "\"oauth\": {\"issuer\": \"https://...\"}",
    ),
    (
        &[],
        &["register-forbidden"],
        3,
        "refused",
        "switchboard login tickets",
    ),
];

#[test]
fn a_login_that_cannot_be_begun_says_why_and_what_to_do() {
    let mut wrong = Vec::new();
    for (settings, faults, exit, title, hint) in NOT_BEGUN {
        let stage = Stage::with(settings, faults);
        let run = stage.run(&["login", "tickets", "--no-browser", "--json"]);
        let error = run.error();
        let hints = error["hints"].to_string().replace("\\\"", "\"");
        let message = error["message"].as_str().unwrap_or_default();
        if run.code != Some(*exit) || !message.contains(title) || !hints.contains(hint) {
            wrong.push(format!("{settings:?} {faults:?}: {}", run.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_that_is_not_the_issuers_or_too_late_is_refused() {
    let rows = [
        ("iss-wrong", "the answer is from another issuer than http"),
        ("iss-missing", "the answer does not name its issuer, http"),
        ("code-missing", "the answer has neither a code nor an error"),
        (
            "code-expired",
            "the code of the login has expired, or was used already",
        ),
        ("consent-refused", "the login was refused at the issuer"),
    ];
    let mut wrong = Vec::new();
    for (fault, title) in rows {
        let stage = Stage::with(&[], &[fault]);
        let begun = stage.run(&["login", "tickets", "--no-browser"]);
        let answer = answered(begun.stdout.trim());
        let run = stage.run(&["login", "tickets", "--finish", &answer, "--json"]);
        let error = run.error();
        let message = error["message"].as_str().unwrap_or_default();
        let hints = error["hints"].to_string();
        if run.code != Some(3)
            || !message.starts_with(title)
            || !hints.contains("`switchboard login tickets`")
        {
            wrong.push(format!("{fault}: {}", run.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_issuer_that_refuses_the_resource_is_told_nothing_of_it_as_the_report_says() {
    let stage = Stage::new(&["resource=refused"]);
    let begun = stage.run(&["login", "tickets", "--no-browser"]);
    let answer = answered(begun.stdout.trim());
    let refused = stage.run(&["login", "tickets", "--finish", &answer]);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    let title = "the issuer refuses the `resource` that tokens are asked for";
    assert!(refused.stderr.contains(title), "{}", refused.stderr);
    let step = r#"write `"oauth": {"resource": "omit"}` into the server's entry"#;
    assert!(refused.stderr.contains(step), "{}", refused.stderr);
    stage.describe(r#"{"resource": "omit"}"#);
    stage.log_in(&[]);
    assert_eq!(
        stage.run(&["call", "tickets/echo", "message=hello"]).stdout,
        "hello\n"
    );
}

#[test]
fn without_a_person_a_login_says_which_ways_there_are() {
    let stage = Stage::new(&[]);
    let run = stage.run(&["login", "tickets", "--json"]);
    assert_eq!(run.code, Some(3));
    let error = run.error();
    assert_eq!(error["message"], "a login needs a person at a terminal");
    assert_eq!(
        error["hints"][0],
        "`switchboard login tickets --no-browser`"
    );
    let local = stage.run(&["login", "demo", "--json"]);
    assert_eq!(local.error()["exit"], 6, "{}", local.stderr);
}
