//! Errors that prevent the dashboard from being served.

use candlewick_app::{AppError, ErrorKind};
use std::io;
use std::net::SocketAddr;

#[derive(Debug, thiserror::Error)]
pub enum DashboardError {
    #[error(
        "{address} can be reached from elsewhere, and what passes there is not encrypted: put a proxy with TLS before a \
         loopback address and name it with --tls-proxy HOST, or say --allow-unencrypted-network"
    )]
    OpenToNetwork { address: SocketAddr },
    #[error("\"{name}\" is no name of a host, such as bot.example.org")]
    NoHostName { name: String },
    #[error("cannot listen at {address}")]
    CannotListen { address: SocketAddr, source: io::Error },
    #[error("the system's source of chance does not answer")]
    NoChance(#[source] getrandom::Error),
}

impl DashboardError {
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::OpenToNetwork { .. } | Self::NoHostName { .. } => ErrorKind::InvalidArgument,
            Self::CannotListen { .. } | Self::NoChance(_) => ErrorKind::SystemFailed,
        }
    }
}

pub(crate) fn sentence(error: &AppError) -> String {
    error.text().replace('\n', "; ")
}
