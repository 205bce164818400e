//! The MCP clients whose config files we read: their names, file locations and dialects.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use switchboard_core::environment::Environment;
use switchboard_core::spec::Layer;

use super::places::{self, Places};
use super::source::Syntax;

/// An MCP client whose config files we read.
///
/// `Display` writes its name, which `FromStr` parses: `claude-desktop`, `vscode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Windsurf.
    Windsurf,
    /// Cline.
    Cline,
    /// Roo Code.
    Roo,
    /// OpenCode.
    OpenCode,
    /// Zed.
    Zed,
    /// Goose.
    Goose,
    /// mcporter.
    Mcporter,
    /// NEXUS3.
    Nexus3,
    /// This program.
    Switchboard,
}

/// A text that is not the name of a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown client {name:?}: there are {}", client_names())]
pub struct ParseClientError {
    name: String,
}

fn client_names() -> String {
    let names: Vec<&str> = Client::ALL.iter().map(|client| client.name()).collect();
    names.join(", ")
}

impl Client {
    /// All clients.
    pub const ALL: &[Self] = &[
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
        Self::Cline,
        Self::Roo,
        Self::OpenCode,
        Self::Zed,
        Self::Goose,
        Self::Mcporter,
        Self::Nexus3,
        Self::Switchboard,
    ];

    /// The name for command lines and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Windsurf => "windsurf",
            Self::Cline => "cline",
            Self::Roo => "roo",
            Self::OpenCode => "opencode",
            Self::Zed => "zed",
            Self::Goose => "goose",
            Self::Mcporter => "mcporter",
            Self::Nexus3 => "nexus3",
            Self::Switchboard => "switchboard",
        }
    }

    /// Guesses the client of a file by the file's name and folder.
    pub fn of_file(file: &Path) -> Option<Self> {
        // Distinctive file names decide alone; common ones like `mcp.json` need their folder.
        let name = file.file_name()?.to_str()?;
        let folder = file.parent().and_then(Path::file_name);
        let folder = folder.and_then(|name| name.to_str()).unwrap_or_default();
        Some(match (folder, name) {
            (_, "claude_desktop_config.json") => Self::ClaudeDesktop,
            (_, ".claude.json" | ".mcp.json") => Self::ClaudeCode,
            (_, "mcp_config.json") => Self::Windsurf,
            (_, "cline_mcp_settings.json") => Self::Cline,
            (".roo", "mcp.json") | (_, "mcp_settings.json") => Self::Roo,
            (_, "opencode.json" | "opencode.jsonc") => Self::OpenCode,
            (".cursor", "mcp.json") => Self::Cursor,
            (".vscode" | "User", "mcp.json" | "settings.json") => Self::VsCode,
            (".nexus3", "mcp.json") => Self::Nexus3,
            (".switchboard" | "switchboard", "mcp.json") => Self::Switchboard,
            (".gemini", "settings.json") => Self::Gemini,
            ("zed" | ".zed" | "Zed", "settings.json") => Self::Zed,
            (_, "mcporter.json" | "mcporter.jsonc") => Self::Mcporter,
            _ => match Path::new(name).extension()?.to_str()? {
                "toml" => Self::Codex,
                // No other client has YAML.
                "yaml" | "yml" => Self::Goose,
                _ => return None,
            },
        })
    }

    /// The locations of its files, the farthest layer first, whether or not they exist.
    pub fn places(self, environment: &Environment, folder: &Path) -> Vec<(Layer, PathBuf)> {
        let home = places::home(environment);
        let apps = places::app_folder(environment);
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let below_apps = |path: &str| apps.as_ref().map(|apps| apps.join(path));
        let storage = |path: &str| below_apps(&format!("Code/User/globalStorage/{path}"));
        let (own, project): (Vec<Option<PathBuf>>, &[&str]) = match self {
            Self::ClaudeDesktop => (vec![below_apps("Claude/claude_desktop_config.json")], &[]),
            Self::ClaudeCode => {
                let folder = places::folder_of(environment, "CLAUDE_CONFIG_DIR");
                let file = folder.or_else(|| home.clone());
                (
                    vec![file.map(|folder| folder.join(".claude.json"))],
                    &[".mcp.json"],
                )
            }
            Self::Cursor => (vec![below_home(".cursor/mcp.json")], &[".cursor/mcp.json"]),
            Self::VsCode => (
                vec![below_apps("Code/User/mcp.json")],
                &[".vscode/mcp.json"],
            ),
            Self::Codex => {
                let folder = places::folder_of(environment, "CODEX_HOME");
                let folder = folder.or_else(|| below_home(".codex"));
                let file = folder.map(|folder| folder.join("config.toml"));
                (vec![file], &[".codex/config.toml"])
            }
            Self::Gemini => {
                let file = ".gemini/settings.json";
                (vec![below_home(file)], &[".gemini/settings.json"])
            }
            Self::Windsurf => (vec![below_home(".codeium/windsurf/mcp_config.json")], &[]),
            Self::Cline => {
                let file = "saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
                (vec![storage(file)], &[])
            }
            Self::Roo => {
                let file = "rooveterinaryinc.roo-cline/settings/mcp_settings.json";
                (vec![storage(file)], &[".roo/mcp.json"])
            }
            Self::OpenCode => {
                let folder = places::folder_of(environment, "XDG_CONFIG_HOME");
                let folder = folder.or_else(|| below_home(".config"));
                let folder = folder.map(|folder| folder.join("opencode"));
                let file = |name: &str| folder.as_ref().map(|folder| folder.join(name));
                let own = vec![file("opencode.json"), file("opencode.jsonc")];
                (own, &["opencode.json", "opencode.jsonc"])
            }
            Self::Zed => {
                let file = if cfg!(windows) {
                    below_apps("Zed/settings.json")
                } else {
                    below_home(".config/zed/settings.json")
                };
                (vec![file], &[".zed/settings.json"])
            }
            Self::Goose => {
                let folder = places::folder_of(environment, "XDG_CONFIG_HOME");
                let folder = folder.or_else(|| below_home(".config"));
                let file = if cfg!(windows) {
                    below_apps("Block/goose/config/config.yaml")
                } else {
                    folder.map(|folder| folder.join("goose/config.yaml"))
                };
                (vec![file], &[])
            }
            Self::Mcporter => (
                vec![
                    below_home(".mcporter/mcporter.json"),
                    below_home(".mcporter/mcporter.jsonc"),
                ],
                &["config/mcporter.json"],
            ),
            Self::Nexus3 => (vec![below_home(".nexus3/mcp.json")], &[".nexus3/mcp.json"]),
            Self::Switchboard => return Places::of(environment, folder).files(),
        };
        let own = own.into_iter().flatten().map(|file| (Layer::User, file));
        let project = project
            .iter()
            .map(|path| (Layer::Project, folder.join(path)));
        let mut files: Vec<(Layer, PathBuf)> = own.collect();
        // In the home folder both are the same file, which is then the user's own.
        for (layer, file) in project {
            if !files.iter().any(|(_, known)| *known == file) {
                files.push((layer, file));
            }
        }
        files
    }

    /// The client itself, or the one that a file without a distinctive name is of by its text: only Zed has this key.
    pub(super) fn or_of_text(self, text: &str) -> Self {
        if self == Self::Switchboard && text.contains("\"context_servers\"") {
            return Self::Zed;
        }
        self
    }

    pub(super) fn syntax(self) -> Syntax {
        match self {
            Self::Codex => Syntax::Toml,
            Self::Goose => Syntax::Yaml,
            _ => Syntax::Json,
        }
    }

    /// The paths of keys to the maps of servers in its files.
    pub(super) fn roots(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Switchboard | Self::Nexus3 => &[&["mcpServers"], &["servers"]],
            Self::VsCode => &[&["servers"], &["mcp", "servers"]],
            Self::Codex => &[&["mcp_servers"]],
            Self::OpenCode => &[&["mcp"]],
            Self::Zed => &[&["context_servers"]],
            Self::Goose => &[&["extensions"]],
            Self::ClaudeDesktop
            | Self::ClaudeCode
            | Self::Cursor
            | Self::Gemini
            | Self::Windsurf
            | Self::Cline
            | Self::Roo
            | Self::Mcporter => &[&["mcpServers"]],
        }
    }

    /// Returns true if we know every key at the top of its files.
    pub(super) fn is_ours(self) -> bool {
        matches!(self, Self::Switchboard | Self::Nexus3)
    }

    /// Returns true if a bare number in `timeout` is in milliseconds.
    pub(super) fn counts_milliseconds(self) -> bool {
        matches!(self, Self::Gemini | Self::OpenCode)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Client {
    type Err = ParseClientError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.iter();
        all.find(|client| client.name() == name)
            .copied()
            .ok_or_else(|| ParseClientError {
                name: name.to_owned(),
            })
    }
}
