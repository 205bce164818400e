//! What a run shows of a server, read from its JSON, in a form that can be held against the truth.

use serde_json::Value;

use crate::run::Run;
use crate::servers::{Server, Truth};

/// What a run shows of one server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The exit code, of a run that was about this server alone.
    exit: Option<i32>,
    /// `tools` shows none: it lists the tools of those that are connected, and the failures of the others.
    state: Option<String>,
    version: Option<String>,
    tools: Option<usize>,
    /// The cause, where all that is shown has it in it; otherwise all that is shown.
    failure: Option<String>,
    /// What `doctor` remarks, and what the lists leave out.
    remarks: Vec<String>,
}

impl Seen {
    /// What a run has to show of a server.
    pub(crate) fn truth(verb: &str, server: &Server) -> Self {
        let (state, version, tools) = match server.truth {
            Truth::Works { version, tools } => ("connected", Some(version), tools),
            Truth::NoTools { version, .. } => ("connected", Some(version), 0),
            Truth::Fails { .. } => ("failed", None, 0),
        };
        let failure = server.truth.cause();
        let is_list = verb == "tools";
        Self {
            exit: None,
            state: (!is_list).then(|| state.to_owned()),
            version: version.filter(|_| !is_list).map(str::to_owned),
            tools: (!is_list || failure.is_none()).then_some(tools),
            failure: failure.map(str::to_owned),
            remarks: if verb == "doctor" {
                server.remarks.iter().map(ToString::to_string).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// What a run about this server alone has to show of it.
    pub(crate) fn truth_alone(verb: &str, server: &Server) -> Self {
        let exit = Some(server.truth.exit());
        Self {
            exit,
            ..Self::truth(verb, server)
        }
    }

    /// What a run about this server alone shows of it.
    pub(crate) fn alone(verb: &str, run: &Run, server: &Server) -> Self {
        let document = serde_json::from_str::<Value>(&run.stdout);
        let seen = match (verb, document) {
            ("doctor", Ok(document)) => Self::by_doctor(&document["servers"][0], server),
            ("servers", Ok(document)) => Self::by_servers(&document, server),
            (_, Ok(document)) => Self::by_tools(&document),
            // Nothing on stdout: the error object on stderr says why.
            (_, Err(_)) => Self::failed(cause(&run.stderr, server)),
        };
        let exit = run.code;
        Self { exit, ..seen }
    }

    /// What a run about several servers shows of this one.
    pub(crate) fn among_others(verb: &str, run: &Run, server: &Server) -> Self {
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let find = |list: &str| {
            let mut entries = document[list].as_array().into_iter().flatten();
            entries.find(|entry| entry["server"] == server.name)
        };
        match (verb, find("servers"), find("failed")) {
            ("doctor", Some(shown), _) => Self::by_doctor(shown, server),
            ("servers", Some(shown), _) => Self::by_servers(shown, server),
            (_, Some(shown), _) => Self::by_tools(shown),
            // Of several servers, `tools` shows the exit code and a title; the other verbs have the report.
            (_, None, Some(failure)) => {
                let is_right = failure["exit"] == server.truth.exit();
                let known = server.truth.cause().filter(|_| is_right);
                Self::failed(known.map_or_else(|| failure.to_string(), str::to_owned))
            }
            (_, None, None) => Self::failed("it is not shown".to_owned()),
        }
    }

    fn by_doctor(shown: &Value, server: &Server) -> Self {
        let findings = shown["findings"].as_array().cloned().unwrap_or_default();
        let (broken, remarks): (Vec<Value>, Vec<Value>) = findings
            .into_iter()
            .partition(|finding| finding["broken"] == true);
        let failure = (!broken.is_empty()).then(|| Value::from(broken));
        Self {
            exit: None,
            state: text(&shown["state"]),
            version: text(&shown["version"]),
            tools: count(&shown["tools"]),
            failure: failure.map(|failure| cause(&failure.to_string(), server)),
            remarks: remarks.iter().map(|shown| remark(shown, server)).collect(),
        }
    }

    fn by_servers(shown: &Value, server: &Server) -> Self {
        let failure = shown.get("error").filter(|error| !error.is_null());
        Self {
            exit: None,
            state: text(&shown["state"]),
            version: text(&shown["version"]),
            tools: count(&shown["tools"]),
            failure: failure.map(|failure| cause(&failure.to_string(), server)),
            remarks: Vec::new(),
        }
    }

    fn by_tools(shown: &Value) -> Self {
        let notices = shown["notices"].as_array().cloned().unwrap_or_default();
        Self {
            exit: None,
            state: None,
            version: None,
            tools: shown["tools"].as_array().map(Vec::len),
            failure: None,
            remarks: notices.iter().map(ToString::to_string).collect(),
        }
    }

    fn failed(failure: String) -> Self {
        Self {
            exit: None,
            state: None,
            version: None,
            tools: None,
            failure: Some(failure),
            remarks: Vec::new(),
        }
    }
}

/// The server's cause where it is shown.
fn cause(shown: &str, server: &Server) -> String {
    let known = server.truth.cause().filter(|cause| shown.contains(cause));
    known.unwrap_or(shown).to_owned()
}

/// The name of the check where the server is known to get its remark; otherwise the whole remark.
fn remark(shown: &Value, server: &Server) -> String {
    let mut known = server.remarks.iter();
    known
        .find(|check| shown["check"] == **check)
        .map_or_else(|| shown.to_string(), ToString::to_string)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn count(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
