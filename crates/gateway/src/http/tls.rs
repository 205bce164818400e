//! The certificate of the gateway.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::options::TlsFiles;
use crate::error::GatewayError;

/// Reads a certificate and its key.
pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, GatewayError> {
    let certificates = CertificateDer::pem_file_iter(&files.certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| bad("tls-cert", &files.certificates, &error))?;
    if certificates.is_empty() {
        let none = io::Error::other("there is no certificate in PEM");
        return Err(bad("tls-cert", &files.certificates, &none));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| bad("tls-key", &files.key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| bad("tls-cert", &files.certificates, &error))?
        .with_no_client_auth()
        .with_single_cert(certificates, key);
    let mut config = config.map_err(|error| bad("tls-key", &files.key, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// No error of this shows anything of the key.
fn bad(option: &'static str, path: &Path, error: &dyn std::error::Error) -> GatewayError {
    let why = format!("{}: {error}", path.display());
    GatewayError::Option { option, why }
}
