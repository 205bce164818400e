//! Every secret of a login that passes a host: none is in an event, an error, a log, a trace or a `Debug` text of the
//! library. The issuer writes down what really passed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard::auth::{
    Authorizer, CallbackListener, DeviceLogin, KeyFile, Login, LoginOptions, SealedFile, TokenStore,
};
use switchboard::events::write_line;
use switchboard::host::{Caller, Host};
use switchboard::spec::ServerSpec;
use switchboard::transport::{Tap, TapLimits};
use switchboard::{Error, Limits, explain};
use switchboard_testkit::http::Server as Running;
use switchboard_testkit::issuer::{Issuer, IssuerOptions};
use switchboard_tests::browser::Browser;
use switchboard_tests::issuers;
use tempfile::TempDir;

use crate::host_support::secrets::Traced;
use crate::support::alone::is_alone;

/// Everything that was shown, and where.
type Shown = Vec<(String, String)>;

/// A server behind an issuer that writes down the secrets, and the folder of the logins.
struct Place {
    issuer: Issuer,
    running: Running,
    folder: TempDir,
}

impl Place {
    async fn new(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = IssuerOptions::default();
        options.secrets = Some(folder.path().join("passed"));
        let (issuer, running) = issuers::start_with(options, settings).await;
        Self {
            issuer,
            running,
            folder,
        }
    }

    fn tokens(&self) -> PathBuf {
        self.folder.path().join("tokens")
    }

    fn store(&self) -> Arc<SealedFile> {
        let key = Arc::new(KeyFile::at(self.tokens()));
        Arc::new(SealedFile::at(self.tokens(), key, &Limits::default()))
    }

    /// Logs in, connects, calls, renews and fails; shows all that the library gives out meanwhile, and returns the
    /// secrets of it.
    async fn use_host(&self, shown: &mut Shown, is_device: bool) -> BTreeMap<String, String> {
        let store = self.store();
        let (tap, mut wire) = Tap::new(&TapLimits::default());
        let host = Host::builder()
            .server(ServerSpec::http("theirs", &self.running.url()).unwrap())
            .token_store(Arc::clone(&store) as Arc<dyn TokenStore>)
            .tap(&tap)
            .build()
            .unwrap();
        let mut events = host.events();
        let mut logs = host.logs();
        let authorizer = host.authorizer("theirs").await.unwrap();
        add(shown, "authorizer", &authorizer);
        if is_device {
            log_in_by_device(&authorizer, shown).await;
        } else {
            log_in(&authorizer, shown).await;
        }
        for round in 0..3 {
            let place = format!("call {round}");
            match call(&host).await {
                Ok(text) => assert_eq!(text, "hello"),
                Err(error) => add_error(shown, &place, &error),
            }
            let status = host.server("theirs").unwrap();
            add(shown, "status", &status);
            if let Some(error) = status.error() {
                add_error(shown, "status", error);
            }
            self.issuer.expire_access_tokens();
        }
        add(shown, "set", &*store.read().await.unwrap());
        add(shown, "store", &store);
        add(shown, "host", &host);
        add(shown, "authorizer", &authorizer);
        add(shown, "secrets", &host.secrets());
        // Before they are forgotten.
        let mut secrets = self.secrets().await;
        self.issuer.revoke_all();
        if let Err(error) = call(&host).await {
            add_error(shown, "revoked", &error);
        }
        host.shutdown().await;
        drop((host, tap));
        while let Ok(event) = events.try_recv() {
            let mut line = String::new();
            write_line(&event, &mut line);
            shown.push(("line of an event".to_owned(), line));
            add(shown, "event", &event);
        }
        while let Some(log) = logs.next().await {
            add(shown, "log", &log);
        }
        while let Some(passed) = wire.next().await {
            add(shown, "wire", &passed);
        }
        for entry in fs::read_dir(self.tokens()).unwrap() {
            let path = entry.unwrap().path();
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            shown.push((path.display().to_string(), text));
        }
        secrets.extend(self.secrets().await);
        secrets
    }

    /// The secrets that passed the issuer, and those that are stored, by kind.
    async fn secrets(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let text = fs::read_to_string(self.folder.path().join("passed")).unwrap();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            found.insert(text("value"), text("kind"));
        }
        let stored = self.store().read().await.unwrap().to_json();
        let stored: Value = serde_json::from_str(stored.expose()).unwrap();
        if let Some(key) = stored["credentials"][0]["dpop_key"].as_str() {
            found.insert(key.to_owned(), "dpop_key".to_owned());
        }
        found
    }
}

fn add(shown: &mut Shown, place: &str, value: &dyn std::fmt::Debug) {
    shown.push((place.to_owned(), format!("{value:?} {value:#?}")));
}

fn add_error(shown: &mut Shown, place: &str, error: &Error) {
    shown.push((place.to_owned(), error.to_string()));
    add(shown, place, error);
    add(shown, place, &explain(error));
    add(shown, place, &error.context());
    add(shown, place, &error.auth_error());
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        shown.push((place.to_owned(), error.to_string()));
        add(shown, place, &error);
        source = error.source();
    }
}

async fn log_in(authorizer: &Authorizer, shown: &mut Shown) {
    let listener = CallbackListener::bind(None).await.unwrap();
    let login = Login::new(authorizer);
    let options = LoginOptions::default().redirect_uri(listener.redirect_uri());
    let request = login.begin(options).await.unwrap();
    add(shown, "login", &login);
    add(shown, "request", &request);
    add(shown, "listener", &listener);
    let url = request.url.expose().to_string();
    let browser = tokio::task::spawn_blocking(move || Browser::default().visit(&url));
    let callback = listener.wait(&request.state).await.unwrap();
    add(shown, "callback", &callback);
    let finished = login.finish(callback.expose()).await;
    add(shown, "credential", &finished);
    if let Err(error) = &finished {
        shown.push(("login".to_owned(), error.to_string()));
    }
    browser.await.unwrap().unwrap();
    // A second time, which fails.
    let again = login.finish(callback.expose()).await.unwrap_err();
    shown.push(("login".to_owned(), again.to_string()));
    add(shown, "login", &again);
}

async fn log_in_by_device(authorizer: &Authorizer, shown: &mut Shown) {
    let login = DeviceLogin::new(authorizer);
    let request = login.begin(LoginOptions::default()).await.unwrap();
    add(shown, "device", &login);
    add(shown, "device", &request);
    add(shown, "device", &login.finish(&request).await);
}

async fn call(host: &Host) -> Result<String, Error> {
    let tool = host.view(Caller::owner()).find("theirs/echo").await?;
    Ok(tool.call(json!({"message": "hello"})).await?.text())
}

#[tokio::test]
async fn no_secret_of_a_login_is_in_anything_that_the_library_gives_out() {
    if !is_alone(&no_secret_of_a_login_is_in_anything_that_the_library_gives_out) {
        return;
    }
    let traced = Traced::default();
    tracing::subscriber::set_global_default(traced.clone()).unwrap();
    let stages: [(&[&str], bool); 6] = [
        (
            &[
                "auth=client_secret_post",
                "scopes=tools,openid",
                "resource-scopes=tools,openid",
            ],
            false,
        ),
        (&["device-interval=0"], true),
        (&["dpop=required", "dpop-nonces=yes"], false),
        (&["fault token-repeats"], false),
        (&["fault refresh-repeats", "fault challenge-repeats"], false),
        (&["fault always-401", "fault challenge-repeats"], false),
    ];
    let mut shown = Shown::new();
    let mut secrets = BTreeMap::new();
    for (settings, is_device) in stages {
        let place = Place::new(settings).await;
        secrets.extend(place.use_host(&mut shown, is_device).await);
        place.running.shutdown().await;
    }
    shown.push(("trace".to_owned(), traced.0.lock().unwrap().clone()));
    let mut hits = Vec::new();
    for (value, kind) in &secrets {
        let mut places = shown.iter();
        hits.extend(
            places
                .find(|(_, text)| text.contains(value))
                .map(|(place, text)| {
                    let at = text.find(value).unwrap_or_default();
                    let start = text.floor_char_boundary(at.saturating_sub(200));
                    format!("{kind} in {place}: {}", &text[start..at + value.len()])
                }),
        );
    }
    assert!(hits.is_empty(), "{} hits:\n{}", hits.len(), hits.join("\n"));
    // They passed: the issuer saw them, and the library had something to say about each.
    assert!(secrets.len() >= 40, "{}", secrets.len());
    for kind in [
        "access_token",
        "client_secret",
        "code",
        "code_verifier",
        "device_code",
        "dpop",
        "dpop_key",
        "id_token",
        "refresh_token",
        "registration_access_token",
        "state",
    ] {
        assert!(secrets.values().any(|known| known == kind), "{kind}");
    }
    for place in ["event", "wire", "revoked", "trace", "credential", "request"] {
        let mut all = shown.iter();
        assert!(
            all.any(|(known, text)| known == place && !text.is_empty()),
            "{place}"
        );
    }
}
