//! Reads servers of other clients' files for ours.
//!
//! [`read`] parses another client's file and gives every server a name that is valid here, [`convert`] writes
//! an entry in our own format. Nothing is expanded, looked up or run.
//!
//! ```
//! use std::path::Path;
//! use switchboard_config::{Client, import};
//! use switchboard_core::spec::Layer;
//!
//! let text = r#"{"servers": {"my wiki": {"command": "./wiki", "envFile": ".env"}}}"#;
//! let file = Path::new("/project/.vscode/mcp.json");
//! let read = import::read(text, file, &Layer::Project, Client::VsCode);
//! assert_eq!(read.renamed[0].from, "my wiki");
//! let wiki = read.config.get("my-wiki").ok_or("it is renamed")?;
//! let converted = import::convert(wiki, None);
//! assert_eq!(converted["command"], "/project/wiki");
//! assert_eq!(converted["env_file"], "/project/.env");
//! # Ok::<(), &str>(())
//! ```

mod convert;
mod rename;

pub use convert::convert;
pub use rename::{ClientFile, RenamedServer, read};
