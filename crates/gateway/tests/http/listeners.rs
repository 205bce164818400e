//! Listeners: TCP on loopback and off it, TLS, Unix sockets.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchboard::Host;
use switchboard_gateway::http::{HttpAuth, HttpListener, HttpOptions, HttpService, TlsFiles};
use switchboard_gateway::{Gateway, GatewayOptions};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::support::{Ask, Connection, front, front_with, within};

fn service(auth: HttpAuth, change: impl FnOnce(&mut HttpOptions)) -> HttpService {
    let host = Host::builder().build().unwrap();
    let mut options = HttpOptions::new(auth).unwrap();
    change(&mut options);
    let gateway = Gateway::new(host, GatewayOptions::default()).unwrap();
    gateway.http(options).unwrap()
}

/// Serves for a moment; returns the reason if that is refused.
async fn refusal(service: HttpService, address: &str) -> Option<String> {
    let listener = HttpListener::tcp(address.parse().unwrap()).await.unwrap();
    let served = service.serve(listener, async {}).await;
    served.err().map(|error| error.to_string())
}

fn token() -> HttpAuth {
    let token = switchboard_gateway::http::Token::new(crate::support::TOKEN);
    HttpAuth::Token(token.unwrap())
}

#[tokio::test]
async fn plain_http_off_loopback_needs_a_certificate_or_a_proxy() {
    assert_eq!(refusal(service(token(), |_| {}), "127.0.0.1:0").await, None);
    let why = refusal(service(token(), |_| {}), "0.0.0.0:0")
        .await
        .unwrap();
    assert!(
        why.contains("plain HTTP is served on loopback alone"),
        "{why}"
    );
    let proxied = service(token(), |options| options.behind_proxy = true);
    assert_eq!(refusal(proxied, "0.0.0.0:0").await, None);
}

#[tokio::test]
async fn without_a_token_loopback_alone_is_served() {
    assert_eq!(
        refusal(service(HttpAuth::None, |_| {}), "127.0.0.1:0").await,
        None
    );
    let open = |proxied| {
        service(HttpAuth::None, move |options| {
            options.behind_proxy = proxied;
        })
    };
    assert!(refusal(open(true), "0.0.0.0:0").await.is_some());
    assert!(refusal(open(false), "0.0.0.0:0").await.is_some());
    assert!(refusal(open(true), "127.0.0.1:0").await.is_some());
}

#[tokio::test]
async fn clients_without_a_token_are_served_if_none_is_needed() {
    let front = front_with(|http, _| http.auth = HttpAuth::None).await;
    let answer = front
        .ask(&Ask::modern_echo("x").without("Authorization"))
        .await;
    assert_eq!(answer.text(), "x");
}

#[tokio::test]
async fn health_needs_no_token_but_a_host_that_is_ours() {
    let front = front().await;
    for path in ["/healthz", "/readyz"] {
        let ask = Ask::new("GET", path).without("Authorization");
        assert_eq!(front.ask(&ask).await.status, 200, "{path}");
        let head = Ask::new("HEAD", path).without("Authorization");
        let mut connection = front.connect().await;
        connection.send(&head.bytes()).await;
        assert_eq!(connection.head().await.unwrap().status, 200, "{path}");
        let foreign = ask.replace("Host", "evil.example");
        assert_eq!(front.ask(&foreign).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn pages_of_allowed_origins_may_ask() {
    let front = front_with(|http, _| {
        http.allow_origins = vec!["https://app.example".to_owned()];
    })
    .await;
    let preflight = Ask::new("OPTIONS", "/mcp")
        .without("Authorization")
        .header("Origin", "https://app.example")
        .header("Access-Control-Request-Method", "POST")
        .header(
            "Access-Control-Request-Headers",
            "authorization, mcp-param-region, x-other",
        );
    let answer = front.ask(&preflight).await;
    assert_eq!(answer.status, 204, "{answer:?}");
    let allowed = answer.header("access-control-allow-headers").unwrap();
    assert!(
        allowed.contains("Mcp-Session-Id") && allowed.contains("mcp-param-region"),
        "{allowed}"
    );
    assert!(!allowed.contains("x-other"), "{allowed}");
    let origin = answer.header("access-control-allow-origin");
    assert_eq!(origin, Some("https://app.example"));
    let call = Ask::modern_echo("x").header("Origin", "https://app.example");
    let answer = front.ask(&call).await;
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    assert!(
        answer
            .header("access-control-expose-headers")
            .unwrap()
            .contains("Mcp-Session-Id")
    );
    assert_eq!(answer.text(), "x");
    let foreign = preflight.replace("Origin", "https://evil.example");
    let answer = front.ask(&foreign).await;
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn connections_over_the_cap_are_closed_at_once() {
    let front = front_with(|_, gateway| gateway.limits.connections = 2).await;
    let mut kept = [front.connect().await, front.connect().await];
    for connection in &mut kept {
        assert_eq!(
            connection.ask(&Ask::new("GET", "/healthz")).await.status,
            200
        );
    }
    let mut over = front.connect().await;
    assert_eq!(over.until_closed().await, b"");
    assert_eq!(front.service.stats().connections_refused, 1);
    assert_eq!(kept[0].ask(&Ask::modern_echo("x")).await.text(), "x");
}

#[tokio::test]
async fn tls_is_served_with_a_certificate_from_files() {
    // Valid until 2120, for 127.0.0.1.
    let certs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/certs");
    let (cert, key) = (certs.join("good.pem"), certs.join("server.key.pem"));
    let authority = CertificateDer::from_pem_file(certs.join("authority.pem")).unwrap();
    let files = TlsFiles {
        certificates: cert.clone(),
        key,
    };
    let front = front_with(|http, _| http.tls = Some(files)).await;
    let mut roots = RootCertStore::empty();
    roots.add(authority).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(front.address).await.unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let stream = within("TLS", connector.connect(name, stream))
        .await
        .unwrap();
    let mut connection = Connection::over(stream);
    assert_eq!(
        connection.ask(&Ask::modern_echo("secret")).await.text(),
        "secret"
    );
    // Plain HTTP is no TLS.
    let mut plain = front.connect().await;
    plain.send(&Ask::modern_echo("x").bytes()).await;
    let rest = plain.until_closed().await;
    assert!(!rest.starts_with(b"HTTP"), "{rest:?}");
    assert_eq!(front.record.count("tools/call"), 1);

    let broken = TlsFiles {
        certificates: cert.clone(),
        key: cert,
    };
    let broken = service(token(), |options| options.tls = Some(broken));
    assert!(
        refusal(broken, "127.0.0.1:0")
            .await
            .unwrap()
            .contains("tls-key")
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_serves_the_same_user_without_a_token() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let front = front().await;
    let folder = tempfile::tempdir().unwrap();
    set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let path = folder.path().join("gateway");
    let listener = HttpListener::unix(&path).unwrap();
    assert_eq!(listener.address(), None);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let service = front.service.clone();
    let serving = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        service.serve(listener, stopped).await.unwrap();
    });
    let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
    let mut connection = Connection::over(stream);
    let echo = Ask::modern_echo("near").without("Authorization");
    assert_eq!(connection.ask(&echo).await.text(), "near");
    let foreign = connection
        .ask(&echo.clone().replace("Host", "evil.example"))
        .await;
    assert_eq!(foreign.status, 403);
    assert_eq!(
        front.ask(&echo).await.status,
        401,
        "over TCP it needs the token"
    );
    stop.send(()).unwrap();
    within("the end", serving).await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_connection_may_be_idle_for_longer_than_a_head_may_take() {
    let front = front_with(|_, gateway| {
        gateway.limits.head_time = Duration::from_millis(100);
        gateway.limits.idle_time = Duration::from_secs(60);
    })
    .await;
    let mut idle = front.connect().await;
    assert_eq!(idle.ask(&Ask::modern_echo("a")).await.text(), "a");
    // Closed after the time for a head, in which the other one was idle.
    let mut silent = front.connect().await;
    assert_eq!(silent.until_closed().await, b"");
    assert_eq!(idle.ask(&Ask::modern_echo("b")).await.text(), "b");
}
