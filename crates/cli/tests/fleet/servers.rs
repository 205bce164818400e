//! The fleet: how each server is started, and what it is then.

use switchboard_tests::partners::{Launch, fleet_npm, fleet_python};

use crate::home::Home;

/// What is true of a server whenever it is started.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Truth {
    /// It connects and lists as many tools.
    Works { version: &'static str, tools: usize },
    /// It connects, and answers the question for its tools with an error.
    NoTools {
        version: &'static str,
        cause: &'static str,
    },
    /// It writes why to stderr, and ends.
    Fails { cause: &'static str },
}

impl Truth {
    /// Why it fails, in words of its own.
    pub(crate) fn cause(&self) -> Option<&'static str> {
        match self {
            Self::Works { .. } => None,
            Self::NoTools { cause, .. } | Self::Fails { cause } => Some(cause),
        }
    }

    /// The exit code of a run that is about it.
    pub(crate) fn exit(&self) -> i32 {
        match self {
            Self::Works { .. } => 0,
            Self::Fails { .. } => 4,
            Self::NoTools { .. } => 5,
        }
    }
}

/// One server.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) launch: Launch,
    pub(crate) truth: Truth,
    /// Checks of `doctor` that remark on it.
    pub(crate) remarks: &'static [&'static str],
}

impl Server {
    /// Its tool definitions take more of a model's context than `doctor` lets pass without a remark.
    fn fills_the_context(mut self) -> Self {
        self.remarks = &["context"];
        self
    }
}

/// How many there are.
pub(crate) const COUNT: usize = 26;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";
const FIRST: &str = "2024-11-05";

/// The servers, with files of theirs in `home`. Eras, runtimes and failures are mixed, so that each ten in a row has
/// all of them. Keys are made up: no server uses its key before a tool is called.
pub(crate) fn servers(home: &Home) -> [Server; COUNT] {
    let path = |path: &str| home.path(path).to_str().unwrap().to_owned();
    [
        works(
            "context7",
            MODERN,
            2,
            fleet_npm("@upstash/context7-mcp/dist/index.js"),
        ),
        works(
            "playwright",
            LEGACY,
            25,
            fleet_npm("@playwright/mcp/cli.js"),
        ),
        works(
            "atlassian",
            LEGACY,
            98,
            fleet_python("fleet-mcp1", "mcp-atlassian")
                .env("JIRA_URL", "http://127.0.0.1:9")
                .env("JIRA_USERNAME", "me")
                .env("JIRA_API_TOKEN", "made-up")
                .env("CONFLUENCE_URL", "http://127.0.0.1:9/wiki")
                .env("CONFLUENCE_USERNAME", "me")
                .env("CONFLUENCE_API_TOKEN", "made-up"),
        )
        .fills_the_context(),
        works(
            "fetch",
            MODERN,
            1,
            fleet_python("fleet-mcp2", "mcp-server-fetch"),
        ),
        fails(
            "kubernetes",
            "no current-context is set and no contexts are defined in kubeconfig",
            fleet_npm("kubernetes-mcp-server/bin/index.js"),
        ),
        works(
            "github",
            FIRST,
            26,
            fleet_npm("@modelcontextprotocol/server-github/dist/index.js")
                .env("GITHUB_PERSONAL_ACCESS_TOKEN", "made-up"),
        ),
        works(
            "notion",
            LEGACY,
            24,
            fleet_npm("@notionhq/notion-mcp-server/bin/cli.mjs").env("NOTION_TOKEN", "made-up"),
        )
        .fills_the_context(),
        works(
            "shadcn",
            MODERN,
            7,
            fleet_npm("shadcn/dist/index.js").arg("mcp"),
        ),
        works(
            "chrome-devtools",
            LEGACY,
            32,
            fleet_npm("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"),
        ),
        works(
            "chart",
            LEGACY,
            27,
            fleet_npm("@antv/mcp-server-chart/build/index.js"),
        )
        .fills_the_context(),
        works(
            "obsidian",
            MODERN,
            12,
            fleet_npm("obsidian-mcp/dist/main.js").arg(path("vault")),
        ),
        works(
            "sqlite",
            LEGACY,
            6,
            fleet_python("fleet-mcp1", "mcp-server-sqlite")
                .arg("--db-path")
                .arg(path("sqlite.db")),
        ),
        fails(
            "sqlite-newer-sdk",
            "AttributeError: 'Server' object has no attribute 'list_resources'",
            fleet_python("fleet-mcp2", "mcp-server-sqlite")
                .arg("--db-path")
                .arg(path("other.db")),
        ),
        works(
            "sentry",
            LEGACY,
            9,
            fleet_npm("@sentry/mcp-server/dist/index.js").env("SENTRY_ACCESS_TOKEN", "made-up"),
        ),
        works(
            "excel",
            MODERN,
            46,
            fleet_python("fleet-mcp2", "excel-mcp-server").arg("stdio"),
        )
        .fills_the_context(),
        works(
            "exa",
            LEGACY,
            2,
            fleet_npm("exa-mcp-server/dist/stdio.cjs").env("EXA_API_KEY", "made-up"),
        ),
        Server {
            name: "supabase",
            launch: fleet_npm("@supabase/mcp-server-supabase/dist/cli.js")
                .env("SUPABASE_ACCESS_TOKEN", "made-up"),
            truth: Truth::NoTools {
                version: MODERN,
                cause: "fetch failed",
            },
            remarks: &[],
        },
        works(
            "figma",
            LEGACY,
            2,
            fleet_npm("figma-developer-mcp/dist/bin.js")
                .arg("--stdio")
                .env("FIGMA_API_KEY", "made-up"),
        ),
        works(
            "arxiv",
            LEGACY,
            19,
            fleet_python("fleet-mcp1", "arxiv-mcp-server")
                .arg("--storage-path")
                .arg(path("arxiv")),
        ),
        works(
            "aws-documentation",
            MODERN,
            5,
            fleet_python("fleet-mcp2", "awslabs.aws-documentation-mcp-server"),
        ),
        fails(
            "heroku",
            "Cannot find module",
            fleet_npm("@heroku/mcp-server/bin/heroku-mcp-server.mjs")
                .env("HEROKU_API_KEY", "made-up"),
        ),
        works("eslint", LEGACY, 1, fleet_npm("@eslint/mcp/src/mcp-cli.js")),
        works(
            "tavily",
            LEGACY,
            5,
            fleet_npm("tavily-mcp/build/index.js").env("TAVILY_API_KEY", "made-up"),
        ),
        works(
            "duckduckgo",
            MODERN,
            3,
            fleet_python("fleet-mcp2", "duckduckgo-mcp-server"),
        ),
        works(
            "firecrawl",
            LEGACY,
            29,
            fleet_npm("firecrawl-mcp/dist/index.js").env("FIRECRAWL_API_KEY", "made-up"),
        )
        .fills_the_context(),
        works(
            "brave",
            LEGACY,
            8,
            fleet_npm("@brave/brave-search-mcp-server/dist/index.js")
                .env("BRAVE_API_KEY", "made-up"),
        ),
    ]
}

fn works(name: &'static str, version: &'static str, tools: usize, launch: Launch) -> Server {
    Server {
        name,
        launch,
        truth: Truth::Works { version, tools },
        remarks: &[],
    }
}

fn fails(name: &'static str, cause: &'static str, launch: Launch) -> Server {
    Server {
        name,
        launch,
        truth: Truth::Fails { cause },
        remarks: &[],
    }
}
