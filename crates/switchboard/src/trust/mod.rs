//! Trust: the server entries that the user has approved.
//!
//! A project's file comes with a clone and names commands to run. None of them is run before the user has
//! seen the entry and approved it, and the approval covers exactly what was shown: a [`Claim`] has a
//! [`Fingerprint`] over everything that decides what would happen, and a [`Store`] keeps the approved
//! ones. A [`Question`] contains everything to show; an [`Operator`](crate::Operator) answers it. No
//! answer counts as a refusal.
//!
//! The module does not read config files: the host makes a claim of each entry whose
//! [layer](crate::spec::Layer::needs_approval) needs approval. It starts no process and opens no
//! connection. Reading and writing the store blocks for as long as a small file takes.
//!
//! ```
//! use switchboard::spec::{Layer, ServerName};
//! use switchboard::trust::{self, Claim, Only, ServerApproval, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let entry = serde_json::json!({"command": "uvx", "args": ["mcp-server-time"]});
//! let claim = Claim::new(ServerName::parse("time")?, "/src/app/.mcp.json", Layer::Project, entry);
//! let store = Store::in_memory();
//! let refuse = |_| async { ServerApproval::Refuse };
//! assert!(!trust::admit(&store, &claim, refuse).await?.is_admitted());
//!
//! let only = Only(vec![claim.fingerprint()]);
//! let ask = |question| async move { only.answer(&question) };
//! assert!(trust::admit(&store, &claim, ask).await?.is_admitted());
//! # Ok(())
//! # })
//! # }
//! ```

mod admit;
mod bound;
mod careful;
mod claim;
mod fingerprint;
mod lines;
mod path;
mod question;
mod store;
#[cfg(test)]
mod tests;

pub use admit::{Admission, Only, ServerApproval, admit};
pub use bound::{Bind, Content, EnvFile, ParseBindError};
pub use claim::Claim;
pub use fingerprint::{Fingerprint, ParseFingerprintError, Prefix};
pub use question::{Question, Reason};
pub use store::{Approval, Difference, Standing, Store, StoreError, StoreLimits, Which};
