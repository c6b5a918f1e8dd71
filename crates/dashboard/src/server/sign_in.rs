//! Sign-in with one-time tokens and cookies.
//!
//! The terminal shows a link with a token. A browser exchanges it for a cookie that is valid as
//! long as this process lives.

use super::hosts::Hosts;
use crate::error::DashboardError;
use blake3::Hash;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

const MOST: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// One-time sign-in URL. The token follows the `#`, which browsers never send to a server.
    pub url: String,
    pub used: u64,
}

/// Token of the link and the issued cookies. Only hashes are stored, and compared in constant time.
pub(crate) struct Sessions {
    inner: Mutex<Inner>,
    links: watch::Sender<Link>,
    base: String,
    cookie: String,
    attributes: &'static str,
}

struct Inner {
    token: Hash,
    cookies: VecDeque<Hash>,
}

impl Sessions {
    pub(crate) fn new(hosts: &Hosts) -> Result<(Self, watch::Receiver<Link>), DashboardError> {
        let (token, base) = (secret()?, hosts.base());
        let (links, shown) = watch::channel(Link { url: url_of(&base, &token), used: 0 });
        let inner = Mutex::new(Inner { token: blake3::hash(token.as_bytes()), cookies: VecDeque::new() });
        let attributes = if hosts.is_encrypted() {
            "; HttpOnly; SameSite=Strict; Path=/; Secure"
        } else {
            "; HttpOnly; SameSite=Strict; Path=/"
        };
        // Cookies of one address are shared by its ports: another dashboard there has a name of its own.
        let cookie = format!("candlewick-{}", hosts.port);
        Ok((Self { inner, links, base, cookie, attributes }, shown))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exchanges a token for a cookie and replaces the link. `None` if the token is not that of the
    /// current link.
    pub(crate) fn exchange(&self, token: &str) -> Result<Option<String>, DashboardError> {
        let (cookie, next) = (secret()?, secret()?);
        {
            let mut inner = self.inner();
            if inner.token != blake3::hash(token.as_bytes()) {
                return Ok(None);
            }
            inner.token = blake3::hash(next.as_bytes());
            inner.cookies.push_back(blake3::hash(cookie.as_bytes()));
            if inner.cookies.len() > MOST {
                inner.cookies.pop_front();
            }
        }
        let url = url_of(&self.base, &next);
        self.links.send_modify(|link| *link = Link { url, used: link.used + 1 });
        Ok(Some(format!("{}={cookie}{}", self.cookie, self.attributes)))
    }

    pub(crate) fn knows(&self, cookies: &str) -> bool {
        let mut own = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        own.any(|(name, value)| {
            let hash = blake3::hash(value.as_bytes());
            name == self.cookie && self.inner().cookies.iter().any(|known| *known == hash)
        })
    }
}

fn url_of(base: &str, token: &str) -> String {
    format!("{base}/#token={token}")
}

pub(crate) fn secret() -> Result<String, DashboardError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(DashboardError::NoChance)?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
