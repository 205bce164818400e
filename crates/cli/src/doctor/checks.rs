//! Findings about a server that was connected to.

use switchboard::catalog::{Notice, ServerCatalog, ToolEntry};
use switchboard::host::Status;
use switchboard::pins::Drift;
use switchboard::schema::{Bounds, Checker, Cost};
use switchboard::session::Counts;
use switchboard::spec::NameStyle;
use switchboard::text::shell_word;

use super::{Check, Finding};

/// Maximum number of lines of evidence in one finding.
const MOST: usize = 10;

/// Checks the lists of a server.
pub(crate) fn lists(status: &Status, part: Option<&ServerCatalog>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Lists that failed first: they explain missing items below.
    for (kind, error) in &status.unlisted {
        let finding = Finding::from_error(Check::Listing, error);
        let finding = finding.fact("list", format!("{kind}s"));
        findings.push(
            if finding.evidence.is_empty() && !status.stderr.is_empty() {
                finding.evidence("last lines of stderr", status.stderr.clone())
            } else {
                finding
            },
        );
    }
    let Some(part) = part else { return findings };
    findings.extend(definitions(part.notices()));
    findings.extend(schemas(part));
    findings.extend(names(part));
    if part.tools().is_empty() && part.hidden() > 0 {
        let text = format!("its allow and block lists hide all {} tools", part.hidden());
        let finding = Finding::remark(Check::Definitions, text);
        findings.push(finding.fix("look at `allowed_tools` and `blocked_tools` of its entry"));
    }
    findings
}

/// Reports definitions that were left out or cut.
fn definitions(notices: &[Notice]) -> Option<Finding> {
    if notices.is_empty() {
        return None;
    }
    let text = match notices.len() {
        1 => "a definition was left out or cut".to_owned(),
        many => format!("{many} definitions were left out or cut"),
    };
    let lines = notices.iter().map(ToString::to_string).collect();
    let finding =
        Finding::remark(Check::Definitions, text).evidence("which, and why", first_lines(lines));
    Some(finding.fix("tell the server's author: the other definitions are used"))
}

/// Reports tools whose arguments or results cannot be checked against their schemas.
fn schemas(part: &ServerCatalog) -> Option<Finding> {
    let bounds = Bounds::default();
    let unchecked = |tool: &ToolEntry, what: &str, checker: Option<&Checker>| match checker?.cost()
    {
        Cost::Unchecked(reason) => Some(format!("{} of {}: {reason}", what, tool.name())),
        Cost::Cheap | Cost::Dear => None,
    };
    let lines = part.tools().iter().flat_map(|tool| {
        let input = unchecked(tool, "arguments", Some(tool.input(&bounds)));
        let output = unchecked(tool, "results", tool.output(&bounds));
        [input, output].into_iter().flatten()
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return None;
    }
    let text = "values that cannot be held against their schemas are left to the server to check";
    Some(Finding::remark(Check::Schemas, text).evidence("which, and why", first_lines(lines)))
}

/// Reports tools whose model-facing name had to be changed.
fn names(part: &ServerCatalog) -> Option<Finding> {
    let head = match part.style() {
        NameStyle::Single => format!("mcp_{}_", part.name()),
        _ => format!("mcp__{}__", part.name()),
    };
    let changed = part.tools().iter().filter_map(|tool| {
        let is_plain = tool.exposed().strip_prefix(&head) == Some(tool.name());
        (!is_plain).then(|| format!("{} is {}", tool.name(), tool.exposed()))
    });
    let changed: Vec<String> = changed.collect();
    if changed.is_empty() {
        return None;
    }
    let text = match changed.len() {
        1 => "a tool's name had to be changed or shortened for models".to_owned(),
        many => format!("{many} names of tools had to be changed or shortened for models"),
    };
    let finding = Finding::remark(Check::Names, text).evidence("for models", first_lines(changed));
    Some(finding.fix("a shorter name for the server leaves more room for those of its tools"))
}

/// Reports definitions that differ from the approved ones.
pub(crate) fn changes(server: &str, drifts: &[Drift]) -> Option<Finding> {
    if drifts.is_empty() {
        return None;
    }
    let text = "it is not what it was when it was approved: agents do not get what has changed";
    let lines = drifts.iter().map(ToString::to_string).collect();
    let word = shell_word(server);
    let finding =
        Finding::remark(Check::Changes, text).evidence("what has changed", first_lines(lines));
    Some(
        finding
            .fix(format!("switchboard pins diff {word}"))
            .fix(format!("switchboard pins approve {word}")),
    )
}

/// Reports messages of a server that were dropped or refused.
pub(crate) fn messages(counts: &Counts) -> Option<Finding> {
    const STDOUT: &str = "have the server write its logs to stderr: stdout is for messages";
    const AUTHOR: &str = "tell the server's author: it does not keep to the protocol";
    // Lines that are not messages are usually logs on stdout; the others are faults of the server.
    let table = [
        (
            counts.noise_lines,
            "lines that were no JSON objects",
            STDOUT,
        ),
        (counts.invalid_utf8, "lines that were not UTF-8", STDOUT),
        (counts.blank_lines, "lines with nothing in them", STDOUT),
        (counts.over_limit, "messages over the size limit", AUTHOR),
        (
            counts.no_room,
            "messages for which there was no room",
            AUTHOR,
        ),
        (counts.malformed, "objects that were no messages", AUTHOR),
        (
            counts.unmatched_answers,
            "answers that nobody waited for",
            AUTHOR,
        ),
        (
            counts.dropped_notices,
            "notifications that nobody read in time",
            AUTHOR,
        ),
        (
            counts.odd_progress,
            "reports of progress that belonged to no call",
            AUTHOR,
        ),
        (counts.refused_requests, "requests too many at once", AUTHOR),
        (
            counts.forbidden_requests,
            "requests that it may not make",
            AUTHOR,
        ),
        (counts.shed_answers, "answers that it did not read", AUTHOR),
    ];
    let mut fixes: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for (count, words, fix) in table {
        if count > 0 {
            lines.push(format!("{count} {words}"));
            // Several counters may have the same fix, which is named once.
            if !fixes.contains(&fix) {
                fixes.push(fix);
            }
        }
    }
    if lines.is_empty() {
        return None;
    }
    let text = "some of what it sent was passed over";
    let finding = Finding::remark(Check::Messages, text).evidence("what", lines);
    Some(fixes.into_iter().fold(finding, Finding::fix))
}

/// Returns the first lines, and a line with the number of the others.
pub(super) fn first_lines(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use switchboard::catalog::ItemKind;
    use switchboard::protocol::{FromRaw as _, Raw, Tool};
    use switchboard::spec::ServerName;

    use super::*;

    fn part(server: &str, tools: &[&str]) -> ServerCatalog {
        let tools = tools.iter();
        let tools = tools.map(|text| Tool::from_raw(&Raw::parse(text).unwrap()).unwrap());
        ServerCatalog::builder(ServerName::parse(server).unwrap())
            .tools(tools.collect())
            .build(None)
    }

    #[test]
    fn plain_tools_are_nothing_to_speak_of() {
        let part = part(
            "git",
            &[r#"{"name": "log", "inputSchema": {"type": "object"}}"#],
        );
        assert_eq!(names(&part), None);
        assert_eq!(schemas(&part), None);
        assert_eq!(definitions(part.notices()), None);
    }

    #[test]
    fn names_that_models_cannot_have_are_told() {
        let part = part(
            "git",
            &[r#"{"name": "log.all", "inputSchema": {"type": "object"}}"#],
        );
        let finding = names(&part).unwrap();
        assert_eq!(finding.exit, None);
        assert_eq!(
            finding.evidence,
            [(
                "for models".to_owned(),
                vec!["log.all is mcp__git__log_all_475fcd5f254aa45e".to_owned()]
            )]
        );
    }

    #[test]
    fn schemas_that_cannot_be_used_are_told() {
        let part = part(
            "git",
            &[r#"{"name": "log", "inputSchema": {"type": "object",
                  "properties": {"a": {"$ref": "https://example.com/s.json"}}}}"#],
        );
        let finding = schemas(&part).unwrap();
        let lines = &finding.evidence[0].1;
        assert!(
            lines[0].starts_with("arguments of log: not validated: "),
            "{lines:?}"
        );
    }

    #[test]
    fn what_was_passed_over_is_counted() {
        let mut counts = Counts::default();
        assert_eq!(messages(&counts), None);
        counts.noise_lines = 2;
        counts.malformed = 1;
        let finding = messages(&counts).unwrap();
        assert_eq!(
            finding.evidence[0].1,
            [
                "2 lines that were no JSON objects",
                "1 objects that were no messages"
            ]
        );
        assert_eq!(finding.fixes.len(), 2);
    }

    #[test]
    fn much_is_cut() {
        let notice = |n: usize| Notice::set_aside(ItemKind::Tool, Some(&n.to_string()), "odd");
        let notices: Vec<Notice> = (0..12).map(notice).collect();
        let finding = definitions(&notices).unwrap();
        assert_eq!(finding.text, "12 definitions were left out or cut");
        assert_eq!(finding.evidence[0].1.last().unwrap(), "and 2 more");
    }
}
