//! Which descriptions of servers the person has approved.
//!
//! What is in a project's file came with a clone, and says what is to be run. Nothing of it is done
//! before the person has seen it and said yes, and the yes is for exactly what was seen: a [`Claim`]
//! has a [`Fingerprint`] over all that decides what would happen, and a [`Store`] keeps those that
//! were approved. A [`Question`] has what there is to see; an [`Operator`](crate::Operator) answers it.
//! Without an answer, it is a no.
//!
//! The module knows no config files: the host makes a claim of each entry whose
//! [layer](crate::spec::Layer::needs_approval) asks for approval. It starts and dials nothing itself.
//! Reading and writing the store blocks for as long as a small file takes.
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
pub use fingerprint::{BadFingerprint, Fingerprint, Prefix};
pub use question::{Question, Reason};
pub use store::{Approval, Difference, Standing, Store, StoreError, StoreLimits, Which};
