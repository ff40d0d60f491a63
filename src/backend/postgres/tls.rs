//! Encryption, as libpq's `sslmode` means it.

use super::super::target::PostgresServer;
use super::super::{Error, Kind, Result};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore,
    SignatureScheme,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Mode {
    pub(super) fn of(word: Option<&str>) -> Result<Self> {
        Ok(match word {
            Some("disable") => Self::Disable,
            Some("allow") => Self::Allow,
            None | Some("prefer") => Self::Prefer,
            Some("require") => Self::Require,
            Some("verify-ca") => Self::VerifyCa,
            Some("verify-full") => Self::VerifyFull,
            Some(word) => {
                let what = format!("sslmode is no '{word}'");
                return Err(Error::new(Kind::Config, what)
                    .hint("disable, allow, prefer, require, verify-ca or verify-full"));
            }
        })
    }
}

/// What makes encrypted connections to a host.
///
/// # Errors
/// A certificate that cannot be read.
pub(super) fn maker(server: &PostgresServer, mode: Mode) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(ring::default_provider());
    let roots = roots(server)?;
    // As with libpq, who names a root wants it looked at.
    let check = match (mode, &roots) {
        (Mode::VerifyFull, _) => Check::Name,
        (Mode::VerifyCa, _) | (Mode::Require, Some(_)) => Check::Chain,
        _ => Check::Nothing,
    };
    let verifier: Arc<dyn ServerCertVerifier> = match (check, roots) {
        (Check::Nothing, _) => Arc::new(Trusting(Arc::clone(&provider))),
        (_, None) => {
            let what = "sslmode=verify-… wants a root certificate, and there is none";
            return Err(Error::new(Kind::Config, what)
                .hint("add ?sslrootcert=FILE to the URL, or put it at ~/.postgresql/root.crt"));
        }
        (check, Some(roots)) => {
            let chain =
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                    .build()
                    .map_err(|error| {
                        Error::new(Kind::Config, "the root certificate cannot be used")
                            .because(error)
                    })?;
            if check == Check::Name {
                chain
            } else {
                Arc::new(AnyName(chain))
            }
        }
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::bug("no version of TLS").because(error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match identity(server)? {
        None => config.with_no_client_auth(),
        Some((chain, key)) => config.with_client_auth_cert(chain, key).map_err(|error| {
            Error::new(Kind::Config, "the client's certificate cannot be used").because(error)
        })?,
    };
    Ok(MakeRustlsConnect::new(config))
}

/// What of a certificate is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    Nothing,
    Chain,
    Name,
}

/// A file of the URL's or the environment's, or libpq's own if it is there.
fn file(server: &PostgresServer, option: &str, variable: &str, own: &str) -> Option<PathBuf> {
    server
        .option(option)
        .map(PathBuf::from)
        .or_else(|| std::env::var_os(variable).map(PathBuf::from))
        .or_else(|| {
            let path = PathBuf::from(std::env::var_os("HOME")?)
                .join(".postgresql")
                .join(own);
            path.exists().then_some(path)
        })
}

fn unreadable(path: &Path, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    let what = format!("{} holds nothing that can be used", path.display());
    Error::new(Kind::Config, what).because(error)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable(path, error))
}

fn roots(server: &PostgresServer) -> Result<Option<RootCertStore>> {
    let Some(path) = file(server, "sslrootcert", "PGSSLROOTCERT", "root.crt") else {
        return Ok(None);
    };
    let mut roots = RootCertStore::empty();
    if path.as_os_str() == "system" {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(Some(roots));
    }
    for certificate in certificates(&path)? {
        roots
            .add(certificate)
            .map_err(|error| unreadable(&path, error))?;
    }
    Ok(Some(roots))
}

/// Our own certificate, where there is one.
type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(server: &PostgresServer) -> Result<Option<Identity>> {
    let Some(path) = file(server, "sslcert", "PGSSLCERT", "postgresql.crt") else {
        return Ok(None);
    };
    let Some(key) = file(server, "sslkey", "PGSSLKEY", "postgresql.key") else {
        let what = format!("{} has no key beside it", path.display());
        return Err(Error::new(Kind::Config, what).hint("add ?sslkey=FILE to the URL"));
    };
    let secret = PrivateKeyDer::from_pem_file(&key).map_err(|error| unreadable(&key, error))?;
    Ok(Some((certificates(&path)?, secret)))
}

/// Encrypts and asks for nothing: `sslmode=require` without a root, and the modes before it.
#[derive(Debug)]
struct Trusting(Arc<CryptoProvider>);

/// Looks at the chain, and not at the name: `sslmode=verify-ca`.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        let schemes = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signed, schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        let schemes = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signed, schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        cert: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, TlsError> {
        match self.0.verify_server_cert(cert, chain, name, ocsp, now) {
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
