//! Who is signed in. The terminal shows a link with a token that is taken once; a browser gets a cookie for it, which lives as
//! long as this process.

use super::hosts::Hosts;
use crate::error::DashboardError;
use blake3::Hash;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Browsers that are signed in together; one more signs out the first.
const MOST: usize = 16;

/// What the terminal shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where a browser signs in, once. The token stands behind the `#`, which no browser sends.
    pub url: String,
    /// How many links were used before.
    pub used: u64,
}

/// The token of the link, and the cookies that were given for such. Only hashes are kept, and compared in constant time.
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

    /// The cookie for a token, as a browser is to keep it; none where it is not the one of the link. The link is another then.
    ///
    /// # Errors
    /// The system has no chance to make a secret of.
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

    /// Whether a request's cookies sign it in.
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

/// Thirty-two bytes of chance, in hexadecimal.
///
/// # Errors
/// The system has none.
pub(crate) fn secret() -> Result<String, DashboardError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(DashboardError::NoChance)?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
