//! Approvals, their four scopes, and attacks on their file.

mod file;
mod scopes;

use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::*;
use crate::policy::{Caller, CallerId, Level, Scope, Target};
use crate::spec::{Identity, ServerName};

/// Says the same every time, and counts how often it was asked.
struct Says(UseApproval, AtomicUsize);

impl Says {
    fn new(answer: UseApproval) -> Self {
        Self(answer, AtomicUsize::new(0))
    }

    async fn answer(&self, _request: UseRequest) -> UseApproval {
        self.1.fetch_add(1, Ordering::SeqCst);
        // Others may come in between, as they do while a person thinks.
        tokio::task::yield_now().await;
        self.0
    }

    fn times(&self) -> usize {
        self.1.load(Ordering::SeqCst)
    }
}

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

fn identity(number: u8) -> Identity {
    Identity::new([number; 32])
}

/// What is asked when an agent calls a tool of a server with this name and number.
fn ask(agent: &str, (name, number): (&str, u8), tool: &str) -> UseRequest {
    let (caller, server) = (Caller::agent(agent).unwrap(), server(name));
    let target = Target::Tool {
        server: &server,
        name: tool,
    };
    let reason = Reason::Level(Level::Trusted);
    let request = Request::usual(&caller, target);
    UseRequest::new(
        &request,
        reason,
        Scope::Server,
        identity(number),
        "/src/app/.mcp.json",
    )
}

/// How a call stands.
fn standing(approvals: &Approvals, ask: &UseRequest) -> Result<Option<Lasts>, StoreError> {
    let target = Target::Tool {
        server: &ask.server,
        name: &ask.item.name,
    };
    approvals.standing(&Request::usual(&ask.caller, target), &ask.identity)
}

fn always(approvals: &Approvals, ask: &UseRequest) -> Result<(), StoreError> {
    approvals.remember(ask, Covers::Server, Lasts::Always)
}

/// A folder to keep approvals in.
struct Place {
    _folder: TempDir,
    state: PathBuf,
    file: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state/switchboard");
        let file = state.join("approvals.json");
        Self {
            _folder: folder,
            state,
            file,
        }
    }

    fn approvals(&self) -> Approvals {
        Approvals::at(&self.state)
    }

    /// With one approval in it.
    fn used(&self) -> Approvals {
        let approvals = self.approvals();
        always(&approvals, &ask("a", ("s", 1), "x")).unwrap();
        approvals
    }
}
