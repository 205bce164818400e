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
    Gateway,
    Nginx,
}

impl Through {
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Proxy => "hyper proxy",
            Self::Gateway => "gateway",
            Self::Nginx => "nginx",
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
    pub(super) const ALL: [Self; 3] = [
        Self::ONE,
        Self::MANY,
        Self {
            way: Way::HttpStdio,
            lanes: 1,
        },
    ];

    pub(in super::super) fn name(self) -> String {
        format!("{}, {} in flight", self.way.name(), self.lanes)
    }

    /// The programs that can do it: what does not read messages cannot forward them to a pipe.
    pub(super) fn contenders(self, has_nginx: bool) -> Vec<Through> {
        let can = |through: &Through| match through {
            Through::Gateway => true,
            Through::Proxy => self.way == Way::HttpHttp,
            Through::Nginx => self.way == Way::HttpHttp && has_nginx,
        };
        let all = [Through::Proxy, Through::Gateway, Through::Nginx];
        all.into_iter().filter(can).collect()
    }

    /// Number of calls in one run.
    pub(super) fn count(self, quick: bool) -> u32 {
        let full = if self.lanes == 1 { 3000 } else { 20_000 };
        if quick { full / 3 } else { full }
    }
}
