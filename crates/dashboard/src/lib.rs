//! Web page that shows the journal and the current state of one running bot.
//!
//! A [`Dashboard`] runs in its own process. It reads the journal, polls the bot over the bot's control
//! socket, and sends the commands `halt` and `resume`. The bot never waits for the dashboard, so a crash or
//! an overload of the dashboard cannot affect trading. The module `watch` follows the journal and the bot,
//! `model` computes figures from journal lines, `view` renders JSON, and `server` controls access.

mod model;
mod server;
mod view;
mod watch;

pub use server::{Dashboard, SignInLink};

use candlewick_app::ErrorKind;
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::ControlPaths;
use candlewick_sdk::Registry;
use std::io;
use std::net::SocketAddr;

#[derive(Debug, thiserror::Error)]
pub enum DashboardError {
    #[error(
        "{address} is reachable from the network without encryption. Listen on a loopback address behind a TLS proxy \
         and pass --tls-proxy HOST, or pass --allow-unencrypted-network"
    )]
    OpenToNetwork { address: SocketAddr },
    #[error("\"{name}\" is not a host name. Use a name such as bot.example.org")]
    InvalidHostName { name: String },
    #[error("cannot listen on {address}")]
    CannotListen { address: SocketAddr, source: io::Error },
    #[error("the system's random number generator failed")]
    NoRandomness(#[source] getrandom::Error),
}

impl DashboardError {
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::OpenToNetwork { .. } | Self::InvalidHostName { .. } => ErrorKind::InvalidArgument,
            Self::CannotListen { .. } | Self::NoRandomness(_) => ErrorKind::SystemFailed,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DashboardSettings {
    /// Address to listen on. If the port is 0, the system selects a free port.
    pub listen: SocketAddr,
    pub read_only: bool,
    pub tls_proxy: Option<String>,
    pub allow_unencrypted_network: bool,
}

impl DashboardSettings {
    pub fn check(&self) -> Result<(), DashboardError> {
        if let Some(name) = &self.tls_proxy {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-.:".contains(letter);
            if name.is_empty() || !name.chars().all(is_name) {
                return Err(DashboardError::InvalidHostName { name: name.clone() });
            }
        }
        if !self.listen.ip().is_loopback() && !self.allow_unencrypted_network {
            return Err(DashboardError::OpenToNetwork { address: self.listen });
        }
        Ok(())
    }
}

pub struct WatchedBot {
    /// Journal to show. It may be created after the dashboard has started.
    pub journal: JournalUrl,
    pub paths: ControlPaths,
    pub registry: Registry,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listen: &str, tls_proxy: Option<&str>, allow_unencrypted_network: bool) -> bool {
        let (listen, tls_proxy) = (listen.parse().unwrap(), tls_proxy.map(str::to_owned));
        DashboardSettings { listen, read_only: false, tls_proxy, allow_unencrypted_network }.check().is_ok()
    }

    #[test]
    fn rejects_unencrypted_network_unless_allowed() {
        assert!(check("127.0.0.1:0", None, false) && check("[::1]:80", None, false));
        assert!(!check("0.0.0.0:80", None, false) && !check("192.168.0.2:80", None, false));
        assert!(!check("[::]:80", Some("bot.example.org"), false), "clients can bypass the proxy");
        assert!(check("0.0.0.0:80", None, true) && check("127.0.0.1:80", Some("bot.example.org"), false));
        assert!(!check("127.0.0.1:80", Some("a b"), false) && !check("127.0.0.1:80", Some(""), false));
    }
}
