//! Findings about a server that was connected to.

use switchboard::Error;
use switchboard::catalog::{ItemKind, Notice, ServerCatalog, ToolEntry};
use switchboard::host::Status;
use switchboard::pins::Drift;
use switchboard::schema::{Checker, Cost, SchemaLimits};
use switchboard::session::Counts;
use switchboard::spec::NameStyle;
use switchboard::text::shell_word;

use super::{Check, Finding};
use crate::tokens;

/// Maximum number of lines of evidence in one finding.
const MOST: usize = 10;

/// Tokens of definitions above which a server gets a remark: a tenth of a usual context is spent before the first
/// question.
const MOST_TOKENS: usize = 10_000;

/// Number of the largest definitions that the remark names.
const LARGEST: usize = 5;

/// Checks the lists of a server.
pub(crate) fn lists(status: &Status, part: Option<&ServerCatalog>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Lists that failed first: they explain missing items below.
    for (kinds, error) in merged(&status.unlisted) {
        let mut finding = Finding::from_error(Check::Listing, error);
        if kinds.len() > 1 {
            let error = error.to_string();
            let name = format!("{}: ", status.name);
            finding.text = error.strip_prefix(&name).unwrap_or(&error).to_owned();
        }
        let finding = finding.fact("lists", kinds.join(", "));
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
    findings.extend(context(part));
    if part.tools().is_empty() && part.hidden() > 0 {
        let text = format!("its allow and block lists hide all {} tools", part.hidden());
        let finding = Finding::remark(Check::Definitions, text);
        findings.push(finding.fix("check `allowed_tools` and `blocked_tools` in its entry"));
    }
    findings
}

/// Joins lists that failed with the same error, so that it is reported once.
fn merged(unlisted: &[(ItemKind, Error)]) -> Vec<(Vec<String>, &Error)> {
    let mut all: Vec<(Vec<String>, &Error)> = Vec::new();
    for (kind, error) in unlisted {
        // The title of a report names the list, so it tells them apart.
        let text = error.to_string();
        let known = all.iter_mut().find(|(_, known)| known.to_string() == text);
        match known {
            Some((kinds, _)) => kinds.push(format!("{kind}s")),
            None => all.push((vec![format!("{kind}s")], error)),
        }
    }
    all
}

/// Reports definitions that take much of a model's context.
fn context(part: &ServerCatalog) -> Option<Finding> {
    let all = tokens::of_tools(part.tools());
    if all <= MOST_TOKENS {
        return None;
    }
    let text = format!(
        "its tool definitions take {} of a model's context (estimate)",
        tokens::format_estimate(all)
    );
    let mut costs: Vec<(usize, &str)> = part
        .tools()
        .iter()
        .map(|tool| (tokens::of_tool(tool), tool.name()))
        .collect();
    costs.sort_by(|one, other| other.cmp(one));
    let lines = costs.iter().take(LARGEST);
    let lines = lines.map(|(cost, name)| format!("{name}: {}", tokens::format_estimate(*cost)));
    let finding = Finding::remark(Check::Context, text).evidence("largest", lines.collect());
    Some(finding.fix("list only the tools that you need in `allowed_tools` of its entry"))
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
    let finding = Finding::remark(Check::Definitions, text).evidence("details", first_lines(lines));
    Some(finding.fix("report it to the server's author; the other definitions work"))
}

/// Reports tools whose arguments or results cannot be checked against their schemas.
fn schemas(part: &ServerCatalog) -> Option<Finding> {
    let limits = SchemaLimits::default();
    let unchecked = |tool: &ToolEntry, what: &str, checker: Option<&Checker>| match checker?.cost()
    {
        Cost::Unchecked(reason) => Some(format!("{} of {}: {reason}", what, tool.name())),
        Cost::Cheap | Cost::Dear => None,
    };
    let lines = part.tools().iter().flat_map(|tool| {
        let input = unchecked(tool, "arguments", Some(tool.input(&limits)));
        let output = unchecked(tool, "results", tool.output(&limits));
        [input, output].into_iter().flatten()
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return None;
    }
    let text = "some schemas cannot be used: only the server checks these values";
    Some(Finding::remark(Check::Schemas, text).evidence("details", first_lines(lines)))
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
        1 => "a tool name was changed for models".to_owned(),
        many => format!("{many} tool names were changed for models"),
    };
    let finding = Finding::remark(Check::Names, text).evidence("for models", first_lines(changed));
    Some(finding.fix("a shorter server name leaves more room for tool names"))
}

/// Reports definitions that differ from the approved ones.
pub(crate) fn changes(server: &str, drifts: &[Drift]) -> Option<Finding> {
    if drifts.is_empty() {
        return None;
    }
    let text =
        "definitions have changed since they were approved; agents do not see the changed ones";
    let lines = drifts.iter().map(ToString::to_string).collect();
    let word = shell_word(server);
    let finding = Finding::remark(Check::Changes, text).evidence("changes", first_lines(lines));
    Some(
        finding
            .fix(format!("switchboard pins diff {word}"))
            .fix(format!("switchboard pins approve {word}")),
    )
}

/// Reports messages of a server that were dropped or refused.
pub(crate) fn messages(counts: &Counts) -> Option<Finding> {
    const STDOUT: &str = "make the server log to stderr: stdout is for protocol messages";
    const AUTHOR: &str = "report it to the server's author: it violates the protocol";
    // Lines that are not messages are usually logs on stdout; the others are faults of the server.
    let table = [
        (
            counts.noise_lines,
            "lines that are not JSON objects",
            STDOUT,
        ),
        (counts.invalid_utf8, "lines that are not UTF-8", STDOUT),
        (counts.blank_lines, "blank lines", STDOUT),
        (counts.over_limit, "messages over the size limit", AUTHOR),
        (counts.no_room, "messages over the memory limit", AUTHOR),
        (counts.malformed, "objects that are not messages", AUTHOR),
        (counts.unmatched_answers, "unexpected responses", AUTHOR),
        (
            counts.dropped_notices,
            "notifications dropped because they came too fast",
            AUTHOR,
        ),
        (
            counts.odd_progress,
            "progress reports for unknown calls",
            AUTHOR,
        ),
        (counts.refused_requests, "requests over the limit", AUTHOR),
        (
            counts.forbidden_requests,
            "requests that are not allowed",
            AUTHOR,
        ),
        (
            counts.shed_answers,
            "responses that it did not read",
            AUTHOR,
        ),
    ];
    let mut fixes: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for (count, words, fix) in table {
        if count > 0 {
            lines.push(format!("{words}: {count}"));
            // Several counters may have the same fix, which is named once.
            if !fixes.contains(&fix) {
                fixes.push(fix);
            }
        }
    }
    if lines.is_empty() {
        return None;
    }
    let text = "some of its messages were ignored";
    let finding = Finding::remark(Check::Messages, text).evidence("ignored", lines);
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
                "lines that are not JSON objects: 2",
                "objects that are not messages: 1"
            ]
        );
        assert_eq!(finding.fixes.len(), 2);
    }

    #[test]
    fn definitions_that_fill_a_context_are_a_remark() {
        let tool = |letters: usize| {
            let description = "x".repeat(letters);
            format!(
                r#"{{"name": "log", "description": "{description}", "inputSchema": {{"type": "object"}}}}"#
            )
        };
        let limit = MOST_TOKENS * 4;
        let of = |letters: usize| context(&part("git", &[&tool(letters)]));
        let rest = tokens::of_tools(part("git", &[&tool(0)]).tools()) * 4;
        assert_eq!(of(limit - rest), None);
        let finding = of(limit).unwrap();
        assert_eq!(finding.exit, None);
        assert_eq!(
            finding.text,
            "its tool definitions take about 10,000 tokens of a model's context (estimate)"
        );
        assert_eq!(finding.evidence[0].1, ["log: about 10,000 tokens"]);
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
