//! The measured work: its clients, runtimes and servers.

use clap::ValueEnum;

use crate::facts::Big;
use crate::http::Answers;
use crate::server::Era;

/// Number of echoes that `echo64` keeps in flight.
pub const LANES: usize = 64;
/// Number of servers that `connect20` starts at once.
pub const SERVERS: usize = 20;

/// Start time of the servers of `host-connect`, like that of a small npx or uvx server.
pub const START_DELAY_MS: u64 = 300;

/// The client that does the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Client {
    /// Blocking reads and writes on the pipe: the limit.
    Raw,
    /// The session of this project.
    Ours,
    /// The official Rust SDK.
    Rmcp,
    /// The same with an HTTP client that keeps its connections, which its own does not.
    RmcpPooled,
}

/// The tokio runtime that an asynchronous client runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Runtime {
    /// Everything on one thread.
    Current,
    /// Two workers, however many cores the process may use.
    Multi,
}

/// The work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Work {
    /// Echoes, one at a time.
    Echo,
    /// Echoes, 64 in flight.
    Echo64,
    /// Results with 1 MiB of text that needs no escapes.
    Big,
    /// Results with 1 MiB of text in lines, an escape at the end of each.
    BigLines,
    /// A list of 1,000 tools.
    List,
    /// Connecting to 20 new servers at once and listing the tools of each.
    Connect20,
    /// Echoes over HTTP, one at a time, answered with JSON.
    HttpEcho,
    /// Echoes over HTTP, one at a time, answered with a stream.
    HttpEchoSse,
    /// Echoes over HTTP with an `Authorization` header that is configured.
    HttpEchoHeader,
    /// Echoes over HTTP with an access token of a token store.
    HttpEchoToken,
    /// Echoes through the host: found by name, checked, told of.
    HostEcho,
    /// The same by an agent, with a policy, pins and an audit.
    HostEchoAgent,
    /// Connecting a host to one server that takes its time to start.
    HostConnect1,
    /// Connecting a host to 20 servers that take their time to start.
    HostConnect20,
    /// Looking tools up in the catalog.
    CatalogFind,
    /// Taking a new list of tools into the catalog.
    CatalogRebuild,
}

impl Work {
    /// The tool to call, where the work is calling one with a big answer.
    pub fn big(self) -> Option<Big> {
        match self {
            Self::Big => Some(Big::Plain),
            Self::BigLines => Some(Big::Lines),
            _ => None,
        }
    }

    /// Returns the form of the server's answers, if the work is done over HTTP.
    pub fn answers(self) -> Option<Answers> {
        match self {
            Self::HttpEcho | Self::HttpEchoHeader | Self::HttpEchoToken => Some(Answers::Json),
            Self::HttpEchoSse => Some(Answers::Sse),
            _ => None,
        }
    }

    /// Returns the number of tools of the server. Twenty servers with few tools are a common set-up; one
    /// with a thousand is the stress.
    pub fn tool_count(self) -> usize {
        match self {
            Self::Connect20
            | Self::HttpEcho
            | Self::HttpEchoSse
            | Self::HttpEchoHeader
            | Self::HttpEchoToken
            | Self::HostEcho
            | Self::HostEchoAgent
            | Self::HostConnect1
            | Self::HostConnect20 => 20,
            _ => 1000,
        }
    }
}

/// The authorization of requests over HTTP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Authorization {
    /// None.
    None,
    /// A configured header.
    Header,
    /// An access token that an earlier login has stored.
    StoredToken,
}

impl Work {
    /// Returns the authorization of the requests.
    pub fn authorization(self) -> Authorization {
        match self {
            Self::HttpEchoHeader => Authorization::Header,
            Self::HttpEchoToken => Authorization::StoredToken,
            _ => Authorization::None,
        }
    }
}

/// The command that starts the server.
#[derive(Clone, Debug)]
pub struct ServerCommand {
    /// The program to run.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The era it speaks.
    pub era: Era,
    /// Number of tools.
    pub tool_count: usize,
    /// The authorization of requests to it.
    pub authorization: Authorization,
}

impl ServerCommand {
    /// Starts `server` for some work, on `cpu` alone if one is named.
    pub fn new(server: &str, cpu: Option<usize>, era: Era, work: Work) -> Self {
        let (tool_count, answers) = (work.tool_count(), work.answers());
        let mut args = vec!["--tools".to_owned(), tool_count.to_string()];
        if era == Era::Modern {
            args.push("--modern".to_owned());
        }
        if let Some(answers) = answers {
            args.extend(["--http".to_owned(), answers.name().to_owned()]);
        }
        if let Work::HostEcho | Work::HostEchoAgent = work {
            args.push("--echo".to_owned());
        }
        if let Work::HostConnect1 | Work::HostConnect20 = work {
            args.extend(["--start-delay".to_owned(), START_DELAY_MS.to_string()]);
        }
        let mut program = server.to_owned();
        if let Some(cpu) = cpu {
            // The launcher becomes the server: same process, same pipes.
            let pinned = ["-c".to_owned(), cpu.to_string(), program];
            args.splice(0..0, pinned);
            program = "taskset".to_owned();
        }
        Self {
            program,
            args,
            era,
            tool_count,
            authorization: work.authorization(),
        }
    }
}
