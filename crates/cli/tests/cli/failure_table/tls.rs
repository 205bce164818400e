//! Servers whose certificates prove nothing. The certificates are in `certs`, valid until 2120 but for
//! the one that is not; the authority's key is gone.

use std::net::TcpListener;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use super::Case;
use super::stage::{Made, Stage};
use crate::serving::Serving;

const AUTHORITY: &str = include_str!("certs/authority.pem");
const KEY: &str = include_str!("certs/server.key.pem");

const USUAL: Case = Case::usual((4, "connect"));

/// A server with this certificate, which goes no further than to show it. It ends with the tests.
fn showing(certificate: &str) -> String {
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut server = ServerConnection::new(Arc::clone(&config)).unwrap();
            // The client hangs up, which is what this is about.
            server.complete_io(&mut stream.unwrap()).ok();
        }
    });
    url
}

/// The tools of such a server, for a person who trusts the authority.
fn trusting(stage: &Stage, certificate: &str) -> Made {
    stage.file("authority.pem", AUTHORITY, 0o644);
    let made = stage.url(&showing(certificate));
    made.with("SSL_CERT_FILE", stage.path("authority.pem"))
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "tls-unknown-issuer",
            title: "127.0.0.1:PORT has a certificate of an authority that this machine does not know",
            shows: &[
                "problem: invalid peer certificate: UnknownIssuer",
                "one of a company's own",
            ],
            step: "--ca-file CA.pem`",
            make: |stage| stage.url(&showing(include_str!("certs/good.pem"))),
            ..USUAL
        },
        Case {
            name: "tls-expired",
            title: "the certificate of 127.0.0.1:PORT has expired",
            shows: &["certificate expired", "this machine's clock is wrong"],
            step: "`date`",
            make: |stage| trusting(stage, include_str!("certs/expired.pem")),
            ..USUAL
        },
        Case {
            name: "tls-wrong-name",
            title: "the certificate of 127.0.0.1:PORT is for another name",
            shows: &["DnsName(\"elsewhere.example\")"],
            step: "write the name that the certificate has into the URL",
            make: |stage| trusting(stage, include_str!("certs/elsewhere.pem")),
            ..USUAL
        },
        Case {
            name: "tls-without-tls",
            title: "127.0.0.1:PORT does not use TLS, but the URL begins with https",
            shows: &["uses plain HTTP"],
            step: "`switchboard tools --url http://127.0.0.1:PORT/mcp`",
            make: |stage| {
                let server = Serving::start(&[]);
                let url = server.url().replacen("http:", "https:", 1);
                stage.url(&url).keeping(server)
            },
            ..USUAL
        },
    ]
}
