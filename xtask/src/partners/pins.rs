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

/// The servers from npm; they share one folder.
pub(crate) const NPM: &[Pin] = &[
    // For the servers among its examples; those below are built on it.
    pin("@modelcontextprotocol/sdk", "1.32.2"),
    pin("@modelcontextprotocol/server-everything", "2026.8.31"),
    pin("@modelcontextprotocol/server-filesystem", "2026.8.31"),
    pin("@modelcontextprotocol/server-memory", "2026.8.31"),
    pin(
        "@modelcontextprotocol/server-sequential-thinking",
        "2026.8.31",
    ),
];

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
