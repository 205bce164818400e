//! One server in full, for `servers NAME`.

use std::time::Duration;

use switchboard::host::{State, Status};
use switchboard::protocol::ServerCapabilities;
use switchboard::text::shell_word;
use switchboard::transport::Environment;
use switchboard_terminal::card::Card;

use super::{era, many, tokens_of, transport};
use crate::hosting::Hosting;
use crate::login::explained;
use crate::scope::layer_words;
use crate::state;
use crate::status_table::{milliseconds, short_place, state_words};
use crate::style::Style;
use crate::table::columns;
use crate::tokens;

/// Formats everything that is known of a server.
pub(super) fn full(status: &Status, latency: Option<Duration>, hosting: &Hosting<'_>) -> String {
    let screen = hosting.screen;
    let secrets = screen.secrets();
    let mut page = Card::new(&secrets, Style::of_stdout(), columns());
    let state = state_words(status.state.word());
    page.title(&format!("{}: {state}", status.name));
    if let Some(error) = status.problem() {
        page.fact("error", Some(&explained(error).title));
    }
    // What a server writes there may name things that are not for an agent.
    if !hosting.is_agent() || status.problem().is_some() {
        page.list("last lines of stderr", &status.stderr);
    }
    if let Some(info) = &status.server {
        let version = info.version().map(|version| format!(" {version}"));
        let says = format!("{}{}", info.name(), version.unwrap_or_default());
        page.fact("server info", Some(&says));
        page.fact("title", info.title());
        page.fact("about", info.description());
        page.fact("website", info.website_url());
    }
    page.fact("identity", status.identity.as_deref());
    page.fact("transport", transport(status).as_deref());
    let version = status.version;
    let protocol = version.map(|version| format!("{version} ({})", era(version)));
    page.fact("protocol", protocol.as_deref());
    page.fact("process", status.pid.map(|pid| pid.to_string()).as_deref());
    page.fact("connected in", status.took.map(milliseconds).as_deref());
    page.fact("ping", latency.map(milliseconds).as_deref());
    let offers = status.offers;
    let offers = [
        many(offers.tools, "tool"),
        many(offers.resources, "resource"),
        many(offers.templates, "template"),
        many(offers.prompts, "prompt"),
    ];
    let offers = Some(offers.join(", ")).filter(|_| status.is_ready());
    page.fact("offers", offers.as_deref());
    let cost = tokens::format_estimate(tokens_of(status, hosting));
    let cost = format!("{cost} of a model's context (estimate)");
    page.fact("definitions", Some(&*cost).filter(|_| status.is_ready()));
    let able = status.capabilities.as_ref().map(describe_capabilities);
    page.fact("capabilities", able.as_deref());
    let origin = &status.origin;
    let described = match short_place(origin) {
        place if place.is_empty() => "the command line".to_owned(),
        place => format!("{place} ({})", layer_words(&origin.layer)),
    };
    page.fact("config", Some(&described));
    if !hosting.is_agent() {
        page.fact("approval", Some(approval(status)));
        page.fact("pins", pins(status, hosting).as_deref());
    }
    if let Some(counts) = status.counts {
        let shed = [
            (counts.noise_lines, "lines that are not JSON"),
            (counts.invalid_utf8, "lines that are not UTF-8"),
            (counts.over_limit, "over the size limit"),
            (counts.no_room, "over the memory limit"),
            (counts.malformed, "malformed"),
            (counts.unmatched_answers, "unexpected responses"),
            (counts.dropped_notices, "notifications dropped"),
            (counts.odd_progress, "unexpected progress"),
            (counts.refused_requests, "requests refused"),
            (counts.forbidden_requests, "requests forbidden"),
            (counts.shed_answers, "responses not sent"),
        ];
        let shed = shed.iter().filter(|(count, _)| *count > 0);
        let shed: Vec<String> = shed
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let shed = Some(shed.join(", ")).filter(|shed| !shed.is_empty());
        page.fact("ignored", shed.as_deref());
    }
    page.list("notices", &status.notices);
    // Instructions are text for models. Agents get them elsewhere, and only while they match the pins.
    if !hosting.is_agent() {
        let catalog = hosting.host.catalog();
        let part = catalog.server(status.name.as_str());
        page.text("instructions", part.and_then(|part| part.instructions()));
    }
    page.write()
}

/// Formats the capabilities that a server declares.
fn describe_capabilities(capabilities: &ServerCapabilities) -> String {
    let with = |name: &str, more: &[(bool, &str)]| {
        let more = more.iter().filter(|(is_so, _)| *is_so);
        let more: Vec<&str> = more.map(|(_, what)| *what).collect();
        if more.is_empty() {
            name.to_owned()
        } else {
            format!("{name} ({})", more.join(", "))
        }
    };
    let mut all = Vec::new();
    if capabilities.has_tools() {
        all.push(with(
            "tools",
            &[(capabilities.tools_list_changed(), "notifies of changes")],
        ));
    }
    if capabilities.has_resources() {
        let more = [
            (capabilities.resources_list_changed(), "notifies of changes"),
            (capabilities.resources_subscribe(), "subscriptions"),
        ];
        all.push(with("resources", &more));
    }
    if capabilities.has_prompts() {
        let more = [(capabilities.prompts_list_changed(), "notifies of changes")];
        all.push(with("prompts", &more));
    }
    // Capabilities without details, then extensions by their names.
    for (has, name) in [
        (capabilities.has_logging(), "logging"),
        (capabilities.has_completions(), "completions"),
        (capabilities.has_tool_tasks(), "tasks"),
    ] {
        if has {
            all.push(name.to_owned());
        }
    }
    let extensions = capabilities.extensions().map(|all| all.members());
    all.extend(
        extensions
            .unwrap_or_default()
            .into_iter()
            .map(|(name, _)| name),
    );
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(", ")
    }
}

/// Returns the approval status of a server.
fn approval(status: &Status) -> &'static str {
    if !status.origin.layer.needs_approval() {
        "not needed"
    } else if status.is_ready() {
        // A server that is connected was approved.
        "given"
    } else if matches!(status.state, State::NeedsApproval(_)) {
        "needed"
    } else {
        "checked when connecting"
    }
}

/// Compares the definitions of a server with the approved ones, in words.
fn pins(status: &Status, hosting: &Hosting<'_>) -> Option<String> {
    let name = status.name.as_str();
    let kept = state::pins(&Environment::of_process());
    let baseline = kept.baseline(&hosting.host.identity(name).ok()?).ok()?;
    if baseline.is_none() {
        return Some("not pinned".to_owned());
    }
    let changes = hosting.host.drifts(name).ok()?.len();
    Some(match changes {
        0 => "unchanged since they were approved".to_owned(),
        _ => format!(
            "{} since they were approved (`switchboard pins diff {}` shows it)",
            many(changes, "change"),
            shell_word(name)
        ),
    })
}
