//! The credentials of a client while it runs: a token that the venue refuses is read anew, so that a new one is used without
//! a restart.

use crate::credentials::{Credentials, Secret, TokenSource};
use crate::echo::hide;
use candlewick_broker::TokenState;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// Tokens that are no longer used and still hidden, should the venue echo one.
const MAX_FORMER: usize = 16;
/// How long reading a token may take: its file may lie on a disk that does not answer.
const MAX_READING: Duration = Duration::from_secs(2);

/// The credentials, and whether the venue accepts the token.
pub(super) struct Keys {
    held: RwLock<Held>,
    source: Option<TokenSource>,
    state: Arc<TokenState>,
}

struct Held {
    current: Credentials,
    former: Vec<Secret>,
    /// How often the token was replaced.
    generation: u64,
    refused: Option<Refused>,
}

/// What the token was refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It reads nothing: one that reads again is accepted again.
    Reading,
    /// It opens nothing, and may still read: only another token ends that, or a person.
    Opening,
}

impl Keys {
    pub(super) fn new(current: Credentials) -> Self {
        let held = Held { current, former: Vec::new(), generation: 0, refused: None };
        Self { held: RwLock::new(held), source: None, state: Arc::default() }
    }

    /// Where a refused token is read anew.
    pub(super) fn set_source(&mut self, source: TokenSource) {
        self.source = Some(source);
    }

    pub(super) fn state(&self) -> Arc<TokenState> {
        Arc::clone(&self.state)
    }

    pub(super) fn current(&self) -> Credentials {
        self.held().current.clone()
    }

    /// Which token is used, counted from the first.
    pub(super) fn generation(&self) -> u64 {
        self.held().generation
    }

    /// The venue answered a reading request that was made with the token of this generation.
    pub(super) fn accepted(&self, generation: u64) {
        if self.held().refused.is_none() {
            return;
        }
        let mut held = self.held_mut();
        if held.generation == generation && held.refused == Some(Refused::Reading) {
            held.refused = None;
            self.state.accept();
        }
    }

    /// The venue refused the token of this generation. Answers whether another is used by now, or from now on.
    pub(super) async fn refused(&self, generation: u64, what: Refused, text: &str) -> bool {
        if self.generation() != generation || self.read_anew().await {
            return true;
        }
        let mut held = self.held_mut();
        if held.generation != generation {
            return true;
        }
        // What opens nothing is not healed by reading.
        if held.refused != Some(Refused::Opening) {
            held.refused = Some(what);
        }
        self.state.refuse(text);
        false
    }

    /// Reads the token again; answers whether it is another.
    async fn read_anew(&self) -> bool {
        let Some(source) = self.source.clone() else { return false };
        let reading = tokio::task::spawn_blocking(move || source());
        let Ok(Ok(Some(token))) = tokio::time::timeout(MAX_READING, reading).await else { return false };
        let mut held = self.held_mut();
        if held.current.api_token.as_ref().is_some_and(|known| known.is(&token)) {
            return false;
        }
        if let Some(former) = held.current.api_token.replace(token) {
            held.former.push(former);
            if held.former.len() > MAX_FORMER {
                held.former.remove(0);
            }
        }
        held.generation += 1;
        held.refused = None;
        self.state.accept();
        tracing::warn!("the venue refused the token, and another was read from its file");
        true
    }

    /// The text without any credential, should the venue have echoed one.
    pub(super) fn hide_in(&self, text: &str) -> String {
        // What is cut out are letters of ASCII, so the rest is text as before.
        self.hide_in_bytes(text.as_bytes())
            .and_then(|hidden| String::from_utf8(hidden).ok())
            .unwrap_or_else(|| text.to_owned())
    }

    /// The same for what need not be text; `None` where there is nothing to hide.
    pub(super) fn hide_in_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let held = self.held();
        let current = [&held.current.api_token, &held.current.api_key].into_iter().flatten();
        let secrets: Vec<&[u8]> = current.chain(&held.former).map(Secret::expose).collect();
        hide(&secrets, bytes)
    }

    fn held(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn held_mut(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }
}
