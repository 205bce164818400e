//! A host with one server at a URL and the logins of a sealed file, which calls the server for each line that it
//! reads: one of several processes that share a login.
//!
//! `login-host FOLDER URL [STEP]`: with a step of a renewal, it kills itself there. It answers each line with `ok`,
//! `login` where a person has to log in, or the error.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use switchboard::auth::{
    Change, CredentialKey, CredentialSet, KeyFile, RenewalLock, SealedFile, Storing, TokenStore,
};
use switchboard::host::Caller;
use switchboard::spec::ServerSpec;
use switchboard::{Host, Limits};
use tokio::io::{AsyncBufReadExt, BufReader};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().ok_or("too few arguments");
    let (folder, url) = (std::path::PathBuf::from(next()?), next()?);
    let key = Arc::new(KeyFile::at(folder.clone()));
    let store = Mortal {
        store: SealedFile::at(folder, key, &Limits::default()),
        step: args.next().unwrap_or_default(),
        changes: AtomicU32::new(0),
    };
    let host = Host::builder()
        .server(ServerSpec::http("theirs", &url)?)
        .token_store(Arc::new(store))
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Some(line) = lines.next_line().await? {
            let answer = match call(&host, &line).await {
                Ok(()) => "ok".to_owned(),
                Err(error) if error.needs_login().is_some() => "login".to_owned(),
                Err(error) => error.to_string(),
            };
            let mut stdout = std::io::stdout();
            writeln!(stdout, "{answer}")?;
            stdout.flush()?;
        }
        host.shutdown().await;
        Ok(())
    })
}

async fn call(host: &Host, words: &str) -> Result<(), switchboard::Error> {
    let tool = host.view(Caller::owner()).find("theirs/echo").await?;
    let result = tool.call(BTreeMap::from([("message", words)])).await?;
    if result.text() == words {
        Ok(())
    } else {
        Err(switchboard::Error::configuration("another answer"))
    }
}

/// A store that kills its process at a step of a renewal: a renewal locks, changes the set to say that it began, asks
/// the issuer, and changes the set to have the new tokens.
struct Mortal {
    store: SealedFile,
    step: String,
    changes: AtomicU32,
}

impl Mortal {
    /// Dies if this is the step.
    fn reach(&self, step: &str) {
        if self.step == step {
            let own = std::process::id().to_string();
            let killed = std::process::Command::new("kill")
                .args(["-KILL", &own])
                .status();
            drop(killed);
            // It is dead before it gets here.
            std::process::abort();
        }
    }
}

impl TokenStore for Mortal {
    fn read(&self) -> Storing<'_, Arc<CredentialSet>> {
        self.store.read()
    }

    fn change(&self, change: Change) -> Storing<'_, ()> {
        let name = match self.changes.fetch_add(1, Ordering::SeqCst) {
            0 => "begin",
            _ => "keep",
        };
        Box::pin(async move {
            self.reach(&format!("before-{name}"));
            self.store.change(change).await?;
            self.reach(&format!("after-{name}"));
            Ok(())
        })
    }

    fn lock<'a>(&'a self, key: &'a CredentialKey, patience: Duration) -> Storing<'a, RenewalLock> {
        Box::pin(async move {
            self.reach("before-lock");
            let lock = self.store.lock(key, patience).await?;
            self.reach("after-lock");
            Ok(lock)
        })
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}
