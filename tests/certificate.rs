//! A self-signed server certificate, made by openssl and trusted through `SSL_CERT_FILE`.
#![cfg(unix)]

use crate::candlewick::Folder;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::process::Command;
use std::sync::Arc;

const REQUEST: &str = "[req]\ndistinguished_name = name\nx509_extensions = extensions\nprompt = no\n[name]\nCN = server\n\
                       [extensions]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = IP:127.0.0.1, IP:0.0.0.0\n";

pub(crate) fn certified(folder: Folder) -> Folder {
    let folder = folder.with("request.cnf", REQUEST);
    let make = "req -x509 -config request.cnf -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem -out server.pem";
    let made = Command::new("openssl").args(make.split(' ')).current_dir(folder.path("")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    folder
}

pub(crate) fn encryption(folder: &Folder) -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(folder.path("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.path("key.pem")).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
}
