//! Faults of HTTP, and the requests that they strike.
//!
//! A fault strikes tool calls, or the requests that its argument names: a tool, a method of the
//! protocol (`tools/list`, `server/discover`), a verb (`GET`), or all (`*`).

use std::sync::atomic::{AtomicU64, Ordering};

use hyper::Method;
use serde_json::Value;

use super::events::Looks;
use crate::chaos::{Chaos, Flag};

/// The faults of a server, each with the number of its strikes.
pub(super) struct HttpFaults {
    of_chaos: Vec<(Chaos, AtomicU64)>,
    /// The tool whose stream ends before its answer in a session, which is no fault: the client
    /// finds the answer when it resumes.
    pausing: Option<&'static str>,
}

/// The parts of a request that decide about faults.
#[derive(Debug, Default)]
pub(super) struct Target {
    pub(super) verb: Method,
    pub(super) method: String,
    pub(super) tool: Option<String>,
    pub(super) id: Value,
}

impl Target {
    pub(super) fn read(verb: &Method, body: &[u8]) -> Self {
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let method = text(message.get("method")).unwrap_or_default();
        let params = message.get("params");
        let tool = params.filter(|_| method == "tools/call");
        Self {
            verb: verb.clone(),
            tool: text(tool.and_then(|params| params.get("name"))),
            id: message.get("id").cloned().unwrap_or_default(),
            method,
        }
    }

    pub(super) fn is_call(&self) -> bool {
        self.method == "tools/call"
    }

    fn is(&self, named: Option<&str>) -> bool {
        match named {
            None => self.is_call(),
            Some("*") => true,
            Some(name) => {
                self.method == name || self.tool.as_deref() == Some(name) || self.verb == name
            }
        }
    }
}

/// The premature end of an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Cut {
    #[default]
    Whole,
    /// In order, and final.
    NoFinal,
    /// In order, to be resumed.
    Pause,
    /// With the connection.
    Drop,
}

/// The faults of the stream that answers a request.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The answer must be a stream.
    pub(super) sse: bool,
    pub(super) cut: Cut,
    pub(super) retry: Option<u64>,
    pub(super) comments: u64,
    /// The size of the answer in MiB.
    pub(super) huge: Option<u64>,
}

impl HttpFaults {
    pub(super) fn new(chaos: &[Chaos], pausing: Option<&'static str>) -> Self {
        let counted = chaos.iter().map(|chaos| (chaos.clone(), AtomicU64::new(0)));
        Self {
            of_chaos: counted.collect(),
            pausing,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of_chaos.is_empty() && self.pausing.is_none()
    }

    fn find(&self, flag: Flag) -> Option<&(Chaos, AtomicU64)> {
        self.of_chaos.iter().find(|(chaos, _)| chaos.flag() == flag)
    }

    /// The number of a flag that is set, for any target.
    pub(super) fn number(&self, flag: Flag) -> Option<u64> {
        self.find(flag).map(|(chaos, _)| chaos.number())
    }

    /// The number of a flag that strikes this target.
    pub(super) fn strikes(&self, flag: Flag, target: &Target) -> Option<u64> {
        let (chaos, _) = self.find(flag)?;
        target.is(chaos.tool()).then(|| chaos.number())
    }

    /// Counts a strike; returns the number of earlier ones.
    pub(super) fn count(&self, flag: Flag) -> u64 {
        let count = |(_, count): &(Chaos, AtomicU64)| count.fetch_add(1, Ordering::Relaxed);
        self.find(flag).map_or(0, count)
    }

    /// Collects the faults of the stream that answers a request.
    pub(super) fn plan(&self, target: &Target, session: bool) -> Plan {
        let mut plan = Plan::default();
        if self.is_empty() {
            return plan;
        }
        for (flag, cut) in [
            (Flag::SseNoFinal, Cut::NoFinal),
            (Flag::SseRetry, Cut::Pause),
            (Flag::SseDrop, Cut::Drop),
        ] {
            if let Some(number) = self.strikes(flag, target) {
                plan.cut = cut;
                plan.retry = (flag == Flag::SseRetry).then_some(number);
            }
        }
        if session && self.pausing.is_some() && target.tool.as_deref() == self.pausing {
            plan.cut = Cut::Pause;
        }
        if session && (target.is_call() || target.verb == Method::GET) {
            let times = self.number(Flag::SseFlap).unwrap_or_default();
            if times > 0 && self.count(Flag::SseFlap) < times {
                plan.cut = Cut::Pause;
            }
        }
        plan.comments = self
            .strikes(Flag::SseCommentFlood, target)
            .unwrap_or_default();
        plan.huge = self.strikes(Flag::SseHugeEvent, target);
        plan.sse = plan.cut != Cut::Whole || plan.comments > 0 || plan.huge.is_some();
        plan
    }

    /// Sets formatting that is unusual but valid.
    pub(super) fn dress(&self, looks: &mut Looks) {
        looks.crlf = self.find(Flag::Crlf).is_some();
        looks.bom = self.find(Flag::Bom).is_some();
        looks.bytewise = self.find(Flag::SplitEveryByte).is_some();
        looks.noise = self.find(Flag::NoiseBetween).is_some();
        looks.blank_lines = self.number(Flag::BlankLines).unwrap_or_default();
    }
}

/// Returns true for faults of line framing, which event streams express in their own way.
pub(super) fn is_of_lines(flag: Flag) -> bool {
    use Flag::{BlankLines, Bom, Crlf, NoiseBetween, SplitEveryByte};
    matches!(
        flag,
        BlankLines | Bom | Crlf | NoiseBetween | SplitEveryByte
    )
}
