//! What a run shows of a server, read from its JSON, in a form that can be held against the truth.

use serde_json::Value;

use crate::run::Run;
use crate::servers::{Server, Truth};

/// What a run shows of one server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// `tools` shows none: it lists the tools of those that are connected, and the failures of the others.
    state: Option<String>,
    version: Option<String>,
    tools: Option<u64>,
    /// The cause, where all that is shown has it in it; otherwise all that is shown.
    failure: Option<String>,
    /// What `doctor` remarks, and what the lists leave out.
    remarks: Vec<String>,
}

impl Seen {
    /// What a run has to show of a server.
    pub(crate) fn truth(verb: &str, server: &Server) -> Self {
        let (state, version, tools, failure) = match server.truth {
            Truth::Works { version, tools } => ("connected", Some(version), Some(tools), None),
            Truth::NoTools { version, cause } => ("connected", Some(version), Some(0), Some(cause)),
            Truth::Fails { cause } => ("failed", None, Some(0), Some(cause)),
        };
        let is_list = verb == "tools";
        Self {
            state: (!is_list).then(|| state.to_owned()),
            version: version.filter(|_| !is_list).map(str::to_owned),
            tools: tools
                .filter(|_| !is_list || failure.is_none())
                .map(|tools| tools as u64),
            failure: failure.map(str::to_owned),
            remarks: Vec::new(),
        }
    }

    /// What a run shows that was about one server.
    pub(crate) fn one(verb: &str, run: &Run, server: &Server) -> Self {
        let Ok(document) = serde_json::from_str::<Value>(&run.stdout) else {
            // Nothing on stdout: the error object on stderr says why.
            return Self::failed(&run.stderr, server);
        };
        match verb {
            "doctor" => Self::by_doctor(&document["servers"][0], server),
            "servers" => Self::by_servers(&document, server),
            _ => Self::by_tools(&document),
        }
    }

    /// What a run shows that was about all of the servers, which are shown in the order of their names.
    pub(crate) fn all(verb: &str, run: &Run, servers: &[Server]) -> Vec<Self> {
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let entries = |list: &str| {
            let entries = document[list].as_array().cloned();
            entries.unwrap_or_default().into_iter()
        };
        let find = |list: &str, server: &Server| {
            entries(list).find(|entry| entry["server"] == server.name)
        };
        let seen = servers.iter().filter_map(|server| {
            let shown = find("servers", server);
            match (verb, shown) {
                ("doctor", Some(shown)) => Some(Self::by_doctor(&shown, server)),
                ("servers", Some(shown)) => Some(Self::by_servers(&shown, server)),
                (_, Some(shown)) => Some(Self::by_tools(&shown)),
                (_, None) => {
                    let failure = find("failed", server)?;
                    Some(Self::failed(&failure.to_string(), server))
                }
            }
        });
        seen.collect()
    }

    fn by_doctor(shown: &Value, server: &Server) -> Self {
        let findings = shown["findings"].as_array().cloned().unwrap_or_default();
        let (broken, remarks): (Vec<Value>, Vec<Value>) = findings
            .into_iter()
            .partition(|finding| finding["broken"] == true);
        let failure = (!broken.is_empty()).then(|| Value::from(broken));
        Self {
            state: text(&shown["state"]),
            version: text(&shown["version"]),
            tools: shown["tools"].as_u64(),
            failure: failure.map(|failure| cause(&failure.to_string(), server)),
            remarks: remarks.iter().map(ToString::to_string).collect(),
        }
    }

    fn by_servers(shown: &Value, server: &Server) -> Self {
        let failure = shown.get("error").filter(|error| !error.is_null());
        Self {
            state: text(&shown["state"]),
            version: text(&shown["version"]),
            tools: shown["tools"].as_u64(),
            failure: failure.map(|failure| cause(&failure.to_string(), server)),
            remarks: Vec::new(),
        }
    }

    fn by_tools(shown: &Value) -> Self {
        let notices = shown["notices"].as_array().cloned().unwrap_or_default();
        Self {
            state: None,
            version: None,
            tools: shown["tools"].as_array().map(|tools| tools.len() as u64),
            failure: None,
            remarks: notices.iter().map(ToString::to_string).collect(),
        }
    }

    fn failed(shown: &str, server: &Server) -> Self {
        Self {
            state: None,
            version: None,
            tools: None,
            failure: Some(cause(shown, server)),
            remarks: Vec::new(),
        }
    }
}

/// The server's cause where it is shown.
fn cause(shown: &str, server: &Server) -> String {
    match server.truth {
        Truth::NoTools { cause, .. } | Truth::Fails { cause } if shown.contains(cause) => cause,
        _ => shown,
    }
    .to_owned()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
