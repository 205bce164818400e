//! Reads the section `limits`.

use std::time::Duration;

use switchboard_core::limits::{Budget, Deadline, Limits, Timeouts};

use super::measure::Measures;
use super::{get, object, unknown_keys};
use crate::fields::Visibility;
use crate::limits::LIMITS;
use crate::problem::ProblemKind;
use crate::report::{Note, Report};
use crate::size;
use crate::tree::Member;

/// All keys, each with the values that an excerpt may show.
const KEYS: &[(&str, Visibility)] = &[
    ("message_bytes", Visibility::Size),
    ("held_bytes", Visibility::Size),
    ("total_held_bytes", Visibility::Size),
    ("queued_bytes", Visibility::Size),
    ("in_flight", Visibility::Number),
    ("inbound_requests", Visibility::Number),
    ("input_rounds", Visibility::Number),
    ("json_depth", Visibility::Number),
    ("list_items", Visibility::Number),
    ("list_pages", Visibility::Number),
    ("stderr_lines", Visibility::Number),
    ("sampling_requests", Visibility::Number),
    ("sampling_tokens", Visibility::Number),
    ("sampling_rounds", Visibility::Number),
    ("list_age", Visibility::Time),
    ("timeouts", Visibility::Never),
];
const TIMES: &[&str] = &["idle", "connect", "list", "call", "total", "probe"];

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The limits in the user's own file. An absent one keeps its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitsSection {
    /// [`Limits::message_bytes`].
    pub message_bytes: Option<usize>,
    /// [`Limits::held_bytes`].
    pub held_bytes: Option<usize>,
    /// The limit for all servers together: a [`Budget`] in place of the process's.
    pub total_held_bytes: Option<usize>,
    /// [`Limits::queued_bytes`].
    pub queued_bytes: Option<usize>,
    /// [`Limits::in_flight`].
    pub in_flight: Option<usize>,
    /// [`Limits::inbound_requests`].
    pub inbound_requests: Option<usize>,
    /// [`Limits::input_rounds`].
    pub input_rounds: Option<usize>,
    /// [`Limits::json_depth`].
    pub json_depth: Option<usize>,
    /// [`Limits::items`]: tools, prompts or resources of one server.
    pub list_items: Option<usize>,
    /// [`Limits::pages`].
    pub list_pages: Option<usize>,
    /// [`Limits::stderr_lines`].
    pub stderr_lines: Option<usize>,
    /// Sampling requests of one server per minute.
    pub sampling_requests: Option<usize>,
    /// Sampling tokens of one server per minute.
    pub sampling_tokens: Option<usize>,
    /// Consecutive rounds of tool use that a server may request from a model.
    pub sampling_rounds: Option<usize>,
    /// Time that a list is cached, unless a server specifies one.
    pub list_age: Option<Duration>,
    /// [`Limits::probe`].
    pub probe: Option<Duration>,
    /// Longest idle time.
    pub idle: Option<Duration>,
    /// Longest idle time while connecting.
    pub connect: Option<Duration>,
    /// Longest idle time while reading a list.
    pub list: Option<Duration>,
    /// Longest idle time of a call.
    pub call: Option<Duration>,
    /// Longest total time of any request.
    pub total: Option<Duration>,
}

impl LimitsSection {
    /// Applies the section to the limits of connections.
    pub fn apply(&self, limits: &mut Limits) {
        let fields = [
            (&mut limits.message_bytes, self.message_bytes),
            (&mut limits.held_bytes, self.held_bytes),
            (&mut limits.queued_bytes, self.queued_bytes),
            (&mut limits.in_flight, self.in_flight),
            (&mut limits.inbound_requests, self.inbound_requests),
            (&mut limits.input_rounds, self.input_rounds),
            (&mut limits.json_depth, self.json_depth),
            (&mut limits.items, self.list_items),
            (&mut limits.pages, self.list_pages),
            (&mut limits.stderr_lines, self.stderr_lines),
        ];
        for (limit, said) in fields {
            *limit = said.unwrap_or(*limit);
        }
        limits.probe = self.probe.unwrap_or(limits.probe);
    }

    /// The time limits for servers whose entries do not set them.
    pub fn timeouts(&self) -> Timeouts {
        // A specific time wins over `idle`, and `idle` over the default.
        let idle = self.idle.unwrap_or(Deadline::default().idle);
        let one = |own: Option<Duration>| self.deadline(own.unwrap_or(idle));
        Timeouts {
            connect: one(self.connect),
            discovery: one(self.list),
            execution: one(self.call),
        }
    }

    /// The deadline for an idle time. The total is at least as long, unless the user sets one.
    pub fn deadline(&self, idle: Duration) -> Deadline {
        let usual = Deadline::default().total.max(idle);
        Deadline {
            idle,
            total: self.total.unwrap_or(usual),
        }
    }
}

/// The values of a key that an excerpt may show.
pub(super) fn visibility(key: &str, is_called: impl Fn(&str, &str) -> bool) -> Visibility {
    if TIMES.iter().any(|name| is_called(key, name)) {
        return Visibility::Time;
    }
    let found = KEYS.iter().find(|(name, _)| is_called(key, name));
    found.map_or(Visibility::Never, |(_, shown)| *shown)
}

pub(super) fn limits(member: &Member, report: &mut Report) -> LimitsSection {
    let node = &member.value;
    let names: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
    unknown_keys(node, "limits", &names, report);
    let mut of = Measures {
        node,
        of: "limits",
        report,
    };
    let day = Duration::from_secs(24 * 3600);
    let mut section = LimitsSection {
        message_bytes: of.size("message_bytes", 64 * KIB..=256 * MIB),
        held_bytes: of.size("held_bytes", 256 * KIB..=GIB),
        total_held_bytes: of.size("total_held_bytes", MIB..=4 * GIB),
        queued_bytes: of.size("queued_bytes", 64 * KIB..=GIB),
        in_flight: of.count("in_flight", 1..=4096),
        inbound_requests: of.count("inbound_requests", 1..=256),
        input_rounds: of.count("input_rounds", 1..=100),
        // The comparison with approved definitions does not sort deeper values.
        json_depth: of.count("json_depth", 16..=256),
        list_items: of.count("list_items", 1..=65_536),
        list_pages: of.count("list_pages", 1..=10_000),
        stderr_lines: of.count("stderr_lines", 1..=10_000),
        sampling_requests: of.count("sampling_requests", 1..=1000),
        sampling_tokens: of.count("sampling_tokens", 1..=100_000_000),
        sampling_rounds: of.count("sampling_rounds", 1..=100),
        list_age: of.time("list_age", Duration::from_secs(1)..=day),
        ..LimitsSection::default()
    };
    let times = get(node, "timeouts");
    let expected = "an object such as `{ \"call\": \"2m\" }`";
    if let Some(times) = times
        && object("timeouts", times, expected, report).is_some()
    {
        unknown_keys(times, "timeouts", TIMES, report);
        let mut of = Measures {
            node: times,
            of: "timeouts",
            report,
        };
        let mut time = |key| of.time(key, Duration::from_millis(1)..=LIMITS.duration);
        section.idle = time("idle");
        section.connect = time("connect");
        section.list = time("list");
        section.call = time("call");
        section.total = time("total");
        let least = Duration::from_millis(100);
        section.probe = of.time("probe", least..=Duration::from_secs(300));
    }
    // Last, because it compares limits with each other.
    fits(&section, member, report);
    section
}

/// Warns if one limit makes another one useless.
fn fits(section: &LimitsSection, member: &Member, report: &mut Report) {
    let usual = Limits::default();
    let held = section.held_bytes.unwrap_or(usual.held_bytes);
    let pairs = [
        (
            "message_bytes",
            section.message_bytes.unwrap_or(usual.message_bytes),
            "held_bytes",
            held,
        ),
        (
            "held_bytes",
            held,
            "total_held_bytes",
            section
                .total_held_bytes
                .unwrap_or_else(|| Budget::of_process().limit_bytes()),
        ),
    ];
    for (inner, bytes, outer, room) in pairs {
        if bytes > room {
            let most = size::text(u64::try_from(room).unwrap_or(u64::MAX));
            let message = format!("`{inner}` is more than `{outer}`, which is {most}");
            let at = member.key_span.clone();
            let note = Note::warning(ProblemKind::Suspicious, at, message);
            report.add(note.hint(format!("raise `{outer}` too, or what is larger is refused")));
        }
    }
}
