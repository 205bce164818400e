//! Errors of the host as the errors that a client gets.
//!
//! A client learns what a direct connection would tell it: the server's own error verbatim, or that there
//! is no such item. What only a gateway knows (a server that cannot be reached, a denial, a limit) is an
//! error that names the server, whether the request may have run, and for clients on this machine the
//! next step.

use switchboard::{Error, ErrorKind};
use switchboard_wire::{Era, RpcError, Version, code};

use super::params::invalid;
use super::result::Members;
use crate::caller::ClientIdentity;
use crate::offer::LeftOutReason;

/// The thing that a request is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'a> {
    Tool(&'a str),
    Prompt(&'a str),
    Resource(&'a str),
    Completion(&'a str),
}

impl Subject<'_> {
    /// The error for a thing that does not exist, or that the client may not know of.
    pub(super) fn unknown(self, version: Version) -> RpcError {
        match self {
            Self::Tool(name) => invalid(&format!("unknown tool: {name}")),
            Self::Prompt(name) => invalid(&format!("unknown prompt: {name}")),
            Self::Completion(name) => {
                invalid(&format!("unknown prompt or resource template: {name}"))
            }
            Self::Resource(uri) => {
                // 2026-07-28 has no code of its own for it any more.
                let code = match version.era() {
                    Era::Legacy => code::RESOURCE_NOT_FOUND,
                    Era::Modern => code::INVALID_PARAMS,
                };
                let data = Members::new().text("uri", uri).end_raw();
                RpcError::with_data(code, "resource not found", data)
            }
        }
    }
}

/// The error that a client gets for an error of the host.
pub(super) fn failure(
    identity: &ClientIdentity,
    version: Version,
    subject: Subject<'_>,
    error: &Error,
) -> RpcError {
    // The server's own error first: the client sees what a direct connection would show.
    if let Some(rpc) = error.rpc() {
        return of_server(version, subject, rpc);
    }
    match error.kind() {
        ErrorKind::NotFound => subject.unknown(version),
        // A remote client must not learn which denied items exist.
        ErrorKind::Denied if identity.is_remote() => subject.unknown(version),
        ErrorKind::Denied => denied(error),
        ErrorKind::Arguments => invalid(&error.to_string()),
        ErrorKind::NotOffered => RpcError::new(code::METHOD_NOT_FOUND, &error.to_string()),
        kind => gone_wrong(identity, kind, error),
    }
}

/// The server's own error, with a code that the client's version has.
fn of_server(version: Version, subject: Subject<'_>, rpc: &RpcError) -> RpcError {
    let names_uri = || rpc.data().is_some_and(|data| data.member("uri").is_some());
    let code = match (version.era(), rpc.code()) {
        // 2026-07-28, resources: "not found" is this code, with the address in the data.
        (Era::Legacy, code::INVALID_PARAMS)
            if matches!(subject, Subject::Resource(_)) && names_uri() =>
        {
            code::RESOURCE_NOT_FOUND
        }
        // 2026-07-28: servers must not use the first any more, and do not know the second.
        (Era::Modern, code::RESOURCE_NOT_FOUND) => code::INVALID_PARAMS,
        (Era::Modern, code::URL_ELICITATION_REQUIRED) => code::INTERNAL_ERROR,
        _ => return rpc.clone(),
    };
    match rpc.data() {
        Some(data) => RpcError::with_data(code, rpc.message(), data.clone()),
        None => RpcError::new(code, rpc.message()),
    }
}

/// The error for a local client's use that the policy denies.
fn denied(error: &Error) -> RpcError {
    let mut data = Members::new();
    data.text("reason", "denied");
    if let Some(denial) = error.denial() {
        data.text("server", denial.server.as_str());
        data.text("rule", &denial.rule.to_string());
    }
    RpcError::with_data(code::INVALID_PARAMS, &error.to_string(), data.end_raw())
}

/// The error for a server that cannot be used, or has not answered.
fn gone_wrong(identity: &ClientIdentity, kind: ErrorKind, error: &Error) -> RpcError {
    let (reason, plain) = describe(kind, error.is_timeout());
    // Commands, addresses and files are none of the business of a client that the network brought.
    let mut message = match (identity.is_remote(), error.server()) {
        (false, _) => error.to_string(),
        (true, Some(server)) => format!("{server}: {plain}"),
        (true, None) => plain.to_owned(),
    };
    // Repeating a call that has run may do harm, so the message says it and not only the data.
    if error.was_sent() {
        message.push_str("; the request may have run");
    }
    let mut data = Members::new();
    data.text("reason", reason);
    if let Some(server) = error.server() {
        data.text("server", server.as_str());
    }
    let may_have_run = if error.was_sent() { "true" } else { "false" };
    data.raw("mayHaveRun", may_have_run);
    let command = error
        .server()
        .and_then(|server| help(kind)?.command(server));
    if let Some(command) = command.filter(|_| !identity.is_remote()) {
        message.push_str("; what helps: ");
        message.push_str(&command);
        data.text("command", &command);
    }
    RpcError::with_data(code::INTERNAL_ERROR, &message, data.end_raw())
}

/// The case that has the command which helps.
fn help(kind: ErrorKind) -> Option<LeftOutReason> {
    match kind {
        ErrorKind::Untrusted => Some(LeftOutReason::NeedsApproval),
        ErrorKind::Authorization => Some(LeftOutReason::NeedsLogin),
        // The server works, and asks what this client cannot answer.
        ErrorKind::Input => None,
        _ => Some(LeftOutReason::Failed),
    }
}

/// The reason for programs, and in words that say nothing of how the server is reached.
fn describe(kind: ErrorKind, is_timeout: bool) -> (&'static str, &'static str) {
    match kind {
        _ if is_timeout => ("timeout", "the server did not answer in time"),
        ErrorKind::Timeout => ("timeout", "the server did not answer in time"),
        ErrorKind::Closed => ("closed", "the connection to the server was lost"),
        ErrorKind::Connect => ("unreachable", "the server cannot be reached"),
        ErrorKind::Authorization => ("login", "the server demands a login"),
        ErrorKind::Untrusted => ("not-approved", "the server is not approved"),
        ErrorKind::Configuration => ("configuration", "the server cannot be used"),
        ErrorKind::Protocol => ("protocol", "the server sent an answer that cannot be used"),
        ErrorKind::Input => (
            "input",
            "the server asked for input that is not available here",
        ),
        _ => ("other", "the request failed"),
    }
}

#[cfg(test)]
mod tests {
    use switchboard::CallError;
    use switchboard::policy::Caller;
    use switchboard_wire::Raw;

    use super::*;

    const LEGACY: Version = Version::V2025_11_25;
    const MODERN: Version = Version::V2026_07_28;

    fn local() -> ClientIdentity {
        ClientIdentity::local(Caller::agent("gateway").unwrap())
    }

    fn text(version: Version, error: &Error) -> String {
        let subject = Subject::Resource("file:///a");
        failure(&local(), version, subject, error)
            .raw()
            .as_str()
            .to_owned()
    }

    #[test]
    fn a_servers_own_error_passes_verbatim() {
        let own = r#"{"message":"no","x":1.0,"code":-7,"data":{"b":1e9}}"#;
        let own: RpcError = switchboard_wire::FromRaw::from_raw(&Raw::parse(own).unwrap()).unwrap();
        let error = Error::from(CallError::Rpc(Box::new(own.clone())));
        assert_eq!(text(LEGACY, &error), own.raw().as_str());
        assert_eq!(text(MODERN, &error), own.raw().as_str());
    }

    #[test]
    fn a_resource_that_is_not_there_has_the_code_of_the_version() {
        let own = RpcError::with_data(code::RESOURCE_NOT_FOUND, "gone", Raw::parse("7").unwrap());
        let error = Error::from(CallError::Rpc(Box::new(own)));
        assert_eq!(
            text(LEGACY, &error),
            r#"{"code":-32002,"message":"gone","data":7}"#
        );
        assert_eq!(
            text(MODERN, &error),
            r#"{"code":-32602,"message":"gone","data":7}"#
        );
        let unknown = |version| Subject::Resource("x").unknown(version).code();
        assert_eq!((unknown(LEGACY), unknown(MODERN)), (-32002, -32602));
    }

    #[test]
    fn a_capability_that_a_server_lacks_is_a_method_that_it_lacks() {
        let error = Error::from(CallError::NotOffered { what: "resources" });
        let expected = r#"{"code":-32601,"message":"the server does not offer resources"}"#;
        assert_eq!(text(LEGACY, &error), expected);
    }

    #[test]
    fn a_client_of_the_network_learns_nothing_of_how_a_server_is_reached() {
        let error = Error::configuration("no program /home/me/bin/server");
        let remote = ClientIdentity::remote(Caller::agent("a").unwrap(), "token:a");
        let error = failure(&remote, LEGACY, Subject::Tool("t"), &error);
        let expected = r#"{"code":-32603,"message":"the server cannot be used","data":{"reason":"configuration","mayHaveRun":false}}"#;
        assert_eq!(error.raw().as_str(), expected);
    }
}
