//! What keeps a dashboard from being served.

use candlewick_app::{AppError, ErrorKind};
use std::io;
use std::net::SocketAddr;

/// What keeps a dashboard from being served.
#[derive(Debug, thiserror::Error)]
pub enum DashboardError {
    /// Others could reach it, and read along.
    #[error(
        "{address} can be reached from elsewhere, and what passes there is not encrypted: put a proxy with TLS before a \
         loopback address and name it with --tls-proxy HOST, or say --allow-unencrypted-network"
    )]
    OpenToNetwork {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// The name of a proxy is no name of a host.
    #[error("\"{name}\" is no name of a host, such as bot.example.org")]
    NoHostName {
        /// What was given.
        name: String,
    },
    /// The address cannot be listened at.
    #[error("cannot listen at {address}")]
    CannotListen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The system has no chance to make a secret of.
    #[error("the system's source of chance does not answer")]
    NoChance(#[source] getrandom::Error),
}

impl DashboardError {
    /// What kind of error it is to whoever ran the command.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::OpenToNetwork { .. } | Self::NoHostName { .. } => ErrorKind::InvalidArgument,
            Self::CannotListen { .. } | Self::NoChance(_) => ErrorKind::SystemFailed,
        }
    }
}

/// An error in a sentence, with what caused it.
pub(crate) fn sentence(error: &AppError) -> String {
    error.text().replace('\n', "; ")
}
