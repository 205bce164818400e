//! Reads the section `limits`.

use std::time::Duration;

use switchboard_core::limits::{Budget, Deadline, Limits, Timeouts};

use super::measure::Measures;
use super::{get, object, unknown_keys};
use crate::fields::MESSAGE_BYTES;
use crate::keys::ValueType::{Count, Object, Size, Time};
use crate::keys::{self, Key};
use crate::limits::LONGEST_MS;
use crate::problem::ProblemKind;
use crate::report::{Note, Report};
use crate::size;
use crate::tree::Member;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// All keys with their ranges.
pub(crate) const KEYS: &[Key] = &[
    Key::new(
        "message_bytes",
        Size(MESSAGE_BYTES.0, MESSAGE_BYTES.1),
        "One message, and so one result",
    )
    .or("`10 MiB`"),
    Key::new(
        "held_bytes",
        Size(256 * KIB, GIB),
        "All data that is held for one server",
    )
    .or("`64 MiB`"),
    Key::new(
        "total_held_bytes",
        Size(MIB, 4 * GIB),
        "All data that is held for all servers",
    )
    .or("`256 MiB`"),
    Key::new(
        "queued_bytes",
        Size(64 * KIB, GIB),
        "Data that waits to be written to one server",
    )
    .or("`64 MiB`"),
    Key::new(
        "in_flight",
        Count(1, 4096),
        "Concurrent calls to one server; others wait",
    )
    .or("`64`"),
    Key::new(
        "inbound_requests",
        Count(1, 256),
        "Concurrent requests from one server; others are refused",
    )
    .or("`8`"),
    Key::new(
        "input_rounds",
        Count(1, 100),
        "Rounds of questions in one call",
    )
    .or("`10`"),
    // The comparison with approved definitions does not sort deeper values.
    Key::new("json_depth", Count(16, 256), "Nesting of one message").or("`128`"),
    Key::new(
        "list_items",
        Count(1, 65_536),
        "Tools of one server; the same for prompts and for resources",
    )
    .or("`2048`"),
    Key::new("list_pages", Count(1, 10_000), "Pages of one list").or("`100`"),
    Key::new(
        "stderr_lines",
        Count(1, 10_000),
        "Last lines of a server's stderr that are kept, besides the first 10",
    )
    .or("`20`"),
    Key::new(
        "sampling_requests",
        Count(1, 1000),
        "Sampling requests of one server per minute",
    )
    .or("`10`"),
    Key::new(
        "sampling_tokens",
        Count(1, 100_000_000),
        "Sampling tokens of one server per minute, prompts and answers together",
    )
    .or("`100000`"),
    Key::new(
        "sampling_rounds",
        Count(1, 100),
        "Rounds of tool use in a row that a server may have a model make",
    )
    .or("`10`"),
    Key::new(
        "list_age",
        Time(1000, 24 * 3_600_000),
        "How long a list is kept with `cache_tools_list`, unless the server says",
    )
    .or("`5m`"),
    Key::new(
        "timeouts",
        Object(TIMES),
        "Time limits for servers whose entries set none",
    ),
];

/// The keys of `timeouts`.
pub(crate) const TIMES: &[Key] = &[
    Key::new(
        "idle",
        Time(1, LONGEST_MS),
        "The longest silence, for the three below",
    )
    .or("`30s`"),
    Key::new(
        "connect",
        Time(1, LONGEST_MS),
        "The longest silence while connecting",
    )
    .or("`idle`"),
    Key::new(
        "list",
        Time(1, LONGEST_MS),
        "The longest silence while reading a list",
    )
    .or("`idle`"),
    Key::new(
        "call",
        Time(1, LONGEST_MS),
        "The longest silence during a call",
    )
    .or("`idle`"),
    Key::new(
        "total",
        Time(1, LONGEST_MS),
        "The longest that any of them may take in all",
    )
    .or("`10m`"),
    Key::new(
        "probe",
        Time(100, 300_000),
        "How long a server has to answer the probe for 2026-07-28 after its first byte, \
         before the older handshake is sent as well; a server that writes nothing has ten \
         seconds, or this time if it is longer",
    )
    .or("`3s`"),
];

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

pub(super) fn limits(member: &Member, report: &mut Report) -> LimitsSection {
    let node = &member.value;
    unknown_keys(node, "limits", &keys::names(KEYS), report);
    let mut of = Measures {
        node,
        of: "limits",
        keys: KEYS,
        report,
    };
    let mut section = LimitsSection {
        message_bytes: of.size("message_bytes"),
        held_bytes: of.size("held_bytes"),
        total_held_bytes: of.size("total_held_bytes"),
        queued_bytes: of.size("queued_bytes"),
        in_flight: of.count("in_flight"),
        inbound_requests: of.count("inbound_requests"),
        input_rounds: of.count("input_rounds"),
        json_depth: of.count("json_depth"),
        list_items: of.count("list_items"),
        list_pages: of.count("list_pages"),
        stderr_lines: of.count("stderr_lines"),
        sampling_requests: of.count("sampling_requests"),
        sampling_tokens: of.count("sampling_tokens"),
        sampling_rounds: of.count("sampling_rounds"),
        list_age: of.time("list_age"),
        ..LimitsSection::default()
    };
    let times = get(node, "timeouts");
    let expected = "an object such as `{ \"call\": \"2m\" }`";
    if let Some(times) = times
        && object("timeouts", times, expected, report).is_some()
    {
        unknown_keys(times, "timeouts", &keys::names(TIMES), report);
        let mut of = Measures {
            node: times,
            of: "timeouts",
            keys: TIMES,
            report,
        };
        section.idle = of.time("idle");
        section.connect = of.time("connect");
        section.list = of.time("list");
        section.call = of.time("call");
        section.total = of.time("total");
        section.probe = of.time("probe");
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
