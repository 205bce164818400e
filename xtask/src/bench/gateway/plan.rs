//! What is measured of the gateway: ways through it, eras, and what stands beside it.

/// The two sides of the gateway that calls pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Way {
    StreamStdio,
    HttpStdio,
    HttpHttp,
}

impl Way {
    pub(super) const ALL: [Self; 3] = [Self::StreamStdio, Self::HttpStdio, Self::HttpHttp];

    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::StreamStdio => "stream to stdio",
            Self::HttpStdio => "HTTP to stdio",
            Self::HttpHttp => "HTTP to HTTP",
        }
    }

    /// The names of the two sides, as `bench-gateway` takes them.
    pub(super) fn sides(self) -> (&'static str, &'static str) {
        match self {
            Self::StreamStdio => ("stream", "stdio"),
            Self::HttpStdio => ("http", "stdio"),
            Self::HttpHttp => ("http", "http"),
        }
    }
}

/// The era that the client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Era {
    Modern,
    Legacy,
}

impl Era {
    pub(in super::super) const ALL: [Self; 2] = [Self::Modern, Self::Legacy];

    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Modern => "modern",
            Self::Legacy => "legacy",
        }
    }
}

/// The program that calls pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Through {
    Proxy,
    /// A bare HTTP server before a pipe.
    Pipe,
    Gateway,
    /// The gateway, with hostile clients beside those that are timed.
    Attacked,
    Nginx,
    McpProxy,
    Fastmcp,
    Mcporter,
}

impl Through {
    /// The gateways of others.
    pub(in super::super) const PEERS: [Self; 3] = [Self::McpProxy, Self::Fastmcp, Self::Mcporter];

    /// The name in the arguments of `bench-proxy`.
    pub(super) fn peer(self) -> Option<&'static str> {
        match self {
            Self::McpProxy => Some("mcp-proxy"),
            Self::Fastmcp => Some("fastmcp"),
            Self::Mcporter => Some("mcporter"),
            Self::Proxy | Self::Pipe | Self::Gateway | Self::Attacked | Self::Nginx => None,
        }
    }

    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Proxy => "hyper proxy",
            Self::Pipe => "hyper and a raw pipe",
            Self::Gateway => "gateway",
            Self::Attacked => "gateway, attacked",
            Self::Nginx => "nginx",
            Self::McpProxy => "mcp-proxy 0.6.0",
            Self::Fastmcp => "fastmcp's proxy",
            Self::Mcporter => "mcporter serve",
        }
    }
}

/// One load, put on several programs in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Work {
    pub(in super::super) way: Way,
    /// Number of calls in flight.
    pub(in super::super) lanes: u32,
}

impl Work {
    pub(in super::super) const ONE: Self = Self {
        way: Way::HttpHttp,
        lanes: 1,
    };
    pub(in super::super) const MANY: Self = Self {
        way: Way::HttpHttp,
        lanes: 64,
    };
    pub(in super::super) const PIPE_ONE: Self = Self {
        way: Way::HttpStdio,
        lanes: 1,
    };
    pub(in super::super) const PIPE_MANY: Self = Self {
        way: Way::HttpStdio,
        lanes: 64,
    };
    /// What neighbours of hostile clients do.
    pub(in super::super) const NEIGHBOURS: Self = Self {
        way: Way::HttpStdio,
        lanes: 8,
    };
    pub(super) const ALL: [Self; 5] = [
        Self::ONE,
        Self::MANY,
        Self::PIPE_ONE,
        Self::PIPE_MANY,
        Self::NEIGHBOURS,
    ];

    pub(in super::super) fn name(self) -> String {
        format!("{}, {} in flight", self.way.name(), self.lanes)
    }

    /// The era of the clients. Gateways of others stand on pipes, and not all of them speak the modern one.
    pub(super) fn era(self) -> Era {
        match self.way {
            Way::HttpHttp => Era::Modern,
            Way::HttpStdio | Way::StreamStdio => Era::Legacy,
        }
    }

    /// The programs of those there that take part: what does not read messages cannot forward them to a pipe,
    /// and neighbours are compared with themselves alone.
    pub(super) fn contenders(self, there: &[Through]) -> Vec<Through> {
        let takes_part = |through: &Through| match through {
            Through::Gateway => true,
            Through::Attacked => self == Self::NEIGHBOURS,
            _ if self == Self::NEIGHBOURS => false,
            Through::Proxy | Through::Nginx => self.way == Way::HttpHttp,
            Through::Pipe | Through::McpProxy | Through::Fastmcp | Through::Mcporter => {
                self.way == Way::HttpStdio
            }
        };
        there.iter().copied().filter(takes_part).collect()
    }

    /// Number of calls in one run through a program. Those that take milliseconds for each have fewer of them.
    pub(super) fn count(self, through: Through, quick: bool) -> u32 {
        let full = if self.lanes == 1 { 3000 } else { 20_000 };
        let full = match through {
            Through::Fastmcp | Through::Mcporter => full / 10,
            _ => full,
        };
        if quick { full / 3 } else { full }
    }
}
