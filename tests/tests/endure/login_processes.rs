//! Processes that share one login: none of them loses it, however many renew at once and wherever one is killed.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use switchboard::Limits;
use switchboard::auth::{
    Authorizer, CallbackListener, KeyFile, Login, LoginOptions, OAuthSettings, SealedFile,
};
use switchboard::transport::HttpAuthFetch;
use switchboard_testkit::http::Server as Running;
use switchboard_testkit::issuer::Issuer;
use switchboard_tests::browser::Browser;
use switchboard_tests::{issuers, soak_size};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long one answer may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Processes, and how often their token expires.
fn size() -> (usize, usize) {
    soak_size((5, 10), (20, 50))
}

/// A server behind a strict issuer, and a folder with the login.
struct Place {
    issuer: Issuer,
    running: Running,
    folder: TempDir,
}

impl Place {
    async fn new(settings: &[&str]) -> Self {
        let (issuer, running) = issuers::start(settings).await;
        Self {
            issuer,
            running,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn tokens(&self) -> PathBuf {
        self.folder.path().join("tokens")
    }

    /// Logs in as a person does, with the same file.
    async fn log_in(&self) {
        let key = Arc::new(KeyFile::at(self.tokens()));
        let store = Arc::new(SealedFile::at(self.tokens(), key, &Limits::default()));
        let fetch = Arc::new(HttpAuthFetch::new());
        let (url, settings) = (self.running.url(), OAuthSettings::default());
        let authorizer = Authorizer::new(&url, settings, fetch, store, &Limits::default());
        let login = Login::new(&authorizer.unwrap());
        let listener = CallbackListener::bind(None).await.unwrap();
        let options = LoginOptions::default().redirect_uri(listener.redirect_uri());
        let request = login.begin(options).await.unwrap();
        let url = request.url.expose().to_string();
        let browser = tokio::task::spawn_blocking(move || Browser::default().visit(&url));
        let callback = listener.wait(&request.state).await.unwrap();
        login.finish(callback.expose()).await.unwrap();
        browser.await.unwrap().unwrap();
    }

    fn host(&self, step: Option<&str>) -> LoginHost {
        LoginHost::start(&self.tokens(), &self.running.url(), step)
    }
}

/// A host in a process of its own.
struct LoginHost {
    child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl LoginHost {
    fn start(tokens: &Path, url: &str, step: Option<&str>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_login-host"))
            .arg(tokens)
            .arg(url)
            .args(step)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    async fn ask(&mut self, words: &str) {
        let line = format!("{words}\n");
        self.stdin.write_all(line.as_bytes()).await.unwrap();
        self.stdin.flush().await.unwrap();
    }

    /// The answer to what was asked; `None` where the process has died.
    async fn answer(&mut self) -> Option<String> {
        let line = timeout(PATIENCE, self.stdout.next_line()).await;
        line.unwrap().unwrap()
    }

    async fn call(&mut self, words: &str) -> Option<String> {
        self.ask(words).await;
        self.answer().await
    }

    async fn end(mut self) {
        drop(self.stdin);
        let ended = timeout(PATIENCE, self.child.wait()).await;
        assert!(ended.unwrap().unwrap().success());
    }
}

#[tokio::test]
async fn processes_that_share_a_login_renew_it_without_losing_it() {
    let (processes, expiries) = size();
    // A short life, so that tokens also age while the processes wait for one another.
    let place = Place::new(&["access-life=2"]).await;
    place.log_in().await;
    let mut hosts: Vec<LoginHost> = (0..processes).map(|_| place.host(None)).collect();
    for round in 0..expiries {
        place.issuer.expire_access_tokens();
        let words = format!("round {round}");
        // All at once: each meets a token that has expired.
        for host in &mut hosts {
            host.ask(&words).await;
        }
        for (at, host) in hosts.iter_mut().enumerate() {
            let answer = host.answer().await;
            assert_eq!(answer.as_deref(), Some("ok"), "process {at}, round {round}");
        }
    }
    for host in hosts {
        host.end().await;
    }
    let counts = place.issuer.counts();
    assert!(counts.refreshes >= expiries as u64, "{counts:?}");
    assert_eq!(counts.stale_refreshes, 0, "{counts:?}");
    assert_eq!(counts.revoked_families, 0, "{counts:?}");
    assert_eq!((counts.logins, counts.prompts), (1, 1), "{counts:?}");
    place.running.shutdown().await;
}

/// The step at which the issuer has processed a renewal, and its answer does not arrive.
const IN_FLIGHT: &str = "in-flight";

/// Kills a process at a step of a renewal; says how often a person has to log in after it.
async fn logins_after(step: &str) -> u64 {
    let other = Place::new(&[]).await;
    let place = match step {
        IN_FLIGHT => Place::new(&["fault refresh-timeout=1"]).await,
        _ => Place::new(&[]).await,
    };
    place.log_in().await;
    place.issuer.expire_access_tokens();
    let mut killed = place.host(Some(step));
    if step == IN_FLIGHT {
        killed.ask("renew").await;
        let refreshed = async {
            while place.issuer.counts().refreshes == 0 {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, refreshed).await.unwrap();
        killed.child.start_kill().unwrap();
        assert_eq!(killed.answer().await, None, "{step}");
    } else {
        let answer = killed.call("renew").await;
        assert_eq!(answer, None, "{step}: it was not killed");
    }
    let ended = killed.child.wait().await.unwrap();
    assert!(!ended.success(), "{step}");
    // Another process finds what is left, and the lock free.
    let mut next = place.host(None);
    let mut answer = next.call("next").await;
    if answer.as_deref() == Some("login") {
        place.log_in().await;
        answer = next.call("again").await;
    }
    assert_eq!(answer.as_deref(), Some("ok"), "{step}");
    // Nothing of it is good for another server, nor shown to its issuer.
    let mut elsewhere = LoginHost::start(&place.tokens(), &other.running.url(), None);
    assert_eq!(
        elsewhere.call("other").await.as_deref(),
        Some("login"),
        "{step}"
    );
    let counts = other.issuer.counts();
    assert_eq!(
        (counts.refreshes, counts.refused_tokens),
        (0, 0),
        "{step}: {counts:?}"
    );
    next.end().await;
    elsewhere.end().await;
    let logins = place.issuer.counts().logins - 1;
    place.running.shutdown().await;
    other.running.shutdown().await;
    logins
}

#[tokio::test]
async fn a_process_that_is_killed_in_a_renewal_costs_at_most_one_login() {
    for step in ["before-lock", "after-lock", "before-begin", "after-begin"] {
        // The issuer was not asked yet: nothing is lost.
        assert_eq!(logins_after(step).await, 0, "{step}");
    }
    // The issuer has given the new tokens, and they died with the process.
    for step in [IN_FLIGHT, "before-keep"] {
        assert!(logins_after(step).await <= 1, "{step}");
    }
    assert_eq!(logins_after("after-keep").await, 0);
}
