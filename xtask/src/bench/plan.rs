//! The plan of a benchmark: rows, clients and counts, the same in every run.

/// A client of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Client {
    Raw,
    Ours,
    Rmcp,
    /// rmcp with an HTTP client that keeps its connections.
    RmcpPooled,
}

impl Client {
    pub(super) const ALL: [Self; 4] = [Self::Raw, Self::Ours, Self::Rmcp, Self::RmcpPooled];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Ours => "ours",
            Self::Rmcp => "rmcp",
            Self::RmcpPooled => "rmcp-pooled",
        }
    }
}

/// The runtime that an asynchronous client runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Runtime {
    Current,
    Multi,
}

impl Runtime {
    pub(super) const ALL: [Self; 2] = [Self::Current, Self::Multi];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Multi => "multi",
        }
    }
}

/// A client on a runtime. The raw client has none, nor has what only we have; they stand as on the current thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Contender {
    pub(super) client: Client,
    pub(super) runtime: Runtime,
}

impl Contender {
    /// Returns the participants of a round of a row.
    pub(super) fn among(row: Row, clients: &[Client]) -> Vec<Self> {
        let clients = row.clients(clients);
        let all = Runtime::ALL.into_iter().flat_map(|runtime| {
            let on = move |&client: &Client| Self { client, runtime };
            clients.iter().map(on)
        });
        let has_runtime = |client| client != Client::Raw && !row.is_ours_alone();
        all.filter(|one| has_runtime(one.client) || one.runtime == Runtime::Current)
            .collect()
    }
}

/// A kind of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Row {
    Echo,
    EchoOneCore,
    Echo64,
    Big,
    BigLines,
    List,
    Connect20,
    HttpEcho,
    HttpEchoSse,
    HttpEchoHeader,
    HttpEchoToken,
    HostEcho,
    HostEchoAgent,
    HostConnect1,
    HostConnect20,
    CatalogFind,
    CatalogRebuild,
}

impl Row {
    pub(super) const ALL: [Self; 17] = [
        Self::Echo,
        Self::EchoOneCore,
        Self::Echo64,
        Self::Big,
        Self::BigLines,
        Self::List,
        Self::Connect20,
        Self::HttpEcho,
        Self::HttpEchoSse,
        Self::HttpEchoHeader,
        Self::HttpEchoToken,
        Self::HostEcho,
        Self::HostEchoAgent,
        Self::HostConnect1,
        Self::HostConnect20,
        Self::CatalogFind,
        Self::CatalogRebuild,
    ];

    /// The name of the row.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::EchoOneCore => "echo-one-core",
            Self::Echo64 => "echo64",
            Self::Big => "big",
            Self::BigLines => "big-lines",
            Self::List => "list",
            Self::Connect20 => "connect20",
            Self::HttpEcho => "http-echo",
            Self::HttpEchoSse => "http-echo-sse",
            Self::HttpEchoHeader => "http-echo-header",
            Self::HttpEchoToken => "http-echo-token",
            Self::HostEcho => "host-echo",
            Self::HostEchoAgent => "host-echo-agent",
            Self::HostConnect1 => "host-connect1",
            Self::HostConnect20 => "host-connect20",
            Self::CatalogFind => "catalog-find",
            Self::CatalogRebuild => "catalog-rebuild",
        }
    }

    /// The name of the work, as `bench-client` takes it.
    pub(super) fn work(self) -> &'static str {
        match self {
            Self::EchoOneCore => Self::Echo.name(),
            _ => self.name(),
        }
    }

    /// Returns true if client and server talk over HTTP.
    pub(super) fn is_http(self) -> bool {
        matches!(self, Self::HttpEcho | Self::HttpEchoSse)
    }

    /// Returns true if the work is done in the catalog, without a server.
    pub(super) fn is_catalog(self) -> bool {
        matches!(self, Self::CatalogFind | Self::CatalogRebuild)
    }

    /// Returns true if the work is connecting a host, which only we have.
    pub(super) fn is_host_connect(self) -> bool {
        matches!(self, Self::HostConnect1 | Self::HostConnect20)
    }

    /// Returns the clients that can do the work: a pipe has no pool, and only we have a host and a catalog.
    /// An echo through the host is compared with a bare one of rmcp.
    pub(super) fn clients(self, clients: &[Client]) -> Vec<Client> {
        let can = |client: &Client| match client {
            Client::Ours => true,
            Client::Raw => !self.is_ours_alone() && !self.is_host_echo(),
            Client::Rmcp => !self.is_ours_alone(),
            Client::RmcpPooled => self.is_http(),
        };
        clients.iter().copied().filter(can).collect()
    }

    fn is_host_echo(self) -> bool {
        matches!(self, Self::HostEcho | Self::HostEchoAgent)
    }

    /// Returns true if the requests are authorized: by a configured header or by a stored token.
    pub(super) fn is_authorized(self) -> bool {
        matches!(self, Self::HttpEchoHeader | Self::HttpEchoToken)
    }

    /// Returns true if no other client does the work.
    pub(super) fn is_ours_alone(self) -> bool {
        self.is_catalog() || self.is_host_connect() || self.is_authorized()
    }

    /// Returns true if the server shares the core of the client. Two cores that take turns fall asleep in
    /// between, and waking them up can cost more than all the rest; on one core nothing sleeps.
    pub(super) fn one_core(self) -> bool {
        self == Self::EchoOneCore
    }

    /// Describes the work.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Echo => "echo a short message, one at a time",
            Self::EchoOneCore => "the same with client and server on one core: no core to wake up",
            Self::Echo64 => "echo short messages, 64 in flight",
            Self::Big => "get a result with 1 MiB of plain text",
            Self::BigLines => "get a result with 1 MiB of text in lines, an escape at each end",
            Self::List => "list 1,000 tools of about 1 KB each",
            Self::Connect20 => "start 20 servers at once and list 20 tools of each",
            Self::HttpEcho => "echo a short message over HTTP, one at a time, answered with JSON",
            Self::HttpEchoSse => "the same, answered with a stream of one event",
            Self::HttpEchoHeader => "echo over HTTP with a configured `Authorization` header",
            Self::HttpEchoToken => "the same with an access token from a token store",
            Self::HostEcho => {
                "echo through the host: found by name, arguments checked, events read; rmcp's is a bare echo"
            }
            Self::HostEchoAgent => {
                "the same by an agent with a policy, pins and an audit; rmcp's is a bare echo"
            }
            Self::HostConnect1 => "connect a host to a server that takes 300 ms to start",
            Self::HostConnect20 => "connect a host to 20 such servers",
            Self::CatalogFind => {
                "find a tool by its name for models, 50 servers with 200 tools each"
            }
            Self::CatalogRebuild => {
                "take in a new list of one of these servers, one tool changed, and tell what changed"
            }
        }
    }

    /// Returns the number of repetitions in one timed run: long enough to outlast a hiccup of the
    /// machine, short enough that rounds stay close to each other in time.
    pub(super) fn count(self, quick: bool) -> u32 {
        let full = match self {
            Self::Echo => 6000,
            Self::EchoOneCore => 20_000,
            Self::Echo64 => 40_000,
            Self::Big | Self::BigLines => 60,
            Self::List => 30,
            Self::Connect20 => 6,
            Self::HttpEcho | Self::HttpEchoSse | Self::HttpEchoHeader | Self::HttpEchoToken => 3000,
            Self::HostEcho | Self::HostEchoAgent => 6000,
            Self::HostConnect1 | Self::HostConnect20 => 3,
            Self::CatalogFind => 1_000_000,
            Self::CatalogRebuild => 150,
        };
        if quick { full / 3 } else { full }
    }

    /// The two lengths whose difference is counted; none where starting processes is the work.
    pub(super) fn lengths(self) -> Option<(u32, u32)> {
        match self {
            Self::Echo | Self::HostEcho | Self::HostEchoAgent => Some((500, 2500)),
            Self::Echo64 => Some((640, 3200)),
            Self::Big | Self::BigLines => Some((2, 8)),
            Self::List => Some((1, 4)),
            Self::HttpEcho | Self::HttpEchoSse | Self::HttpEchoHeader | Self::HttpEchoToken => {
                Some((200, 1000))
            }
            Self::CatalogFind => Some((10_000, 50_000)),
            Self::CatalogRebuild => Some((2, 10)),
            Self::EchoOneCore | Self::Connect20 | Self::HostConnect1 | Self::HostConnect20 => None,
        }
    }
}

/// Returns the number of rounds; the median of each figure is reported.
pub(super) fn rounds(quick: bool) -> usize {
    if quick { 3 } else { 9 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_takes_part_once_a_runtime_and_the_raw_one_once() {
        let among = |row| {
            let names: Vec<String> = Contender::among(row, &Client::ALL)
                .iter()
                .map(|one| format!("{} {}", one.client.name(), one.runtime.name()))
                .collect();
            names.join(", ")
        };
        let expected = "raw current, ours current, rmcp current, ours multi, rmcp multi";
        assert_eq!(among(Row::Echo), expected);
        let expected = "raw current, ours current, rmcp current, rmcp-pooled current, \
                        ours multi, rmcp multi, rmcp-pooled multi";
        assert_eq!(among(Row::HttpEcho), expected);
        assert_eq!(among(Row::CatalogFind), "ours current");
    }
}
