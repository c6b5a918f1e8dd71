//! Credentials of a running client. A refused token is read again, so a new one needs no restart.

use crate::credentials::{Credentials, Secret, TokenSource};
use crate::echo::hide;
use candlewick_broker::TokenState;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// Maximum number of replaced tokens that are still redacted.
const MAX_FORMER: usize = 16;
/// Timeout for reading a token, as its file may be on a disk that does not respond.
const MAX_READING: Duration = Duration::from_secs(2);

/// Minimum length of a secret in an extra header; shorter words match by chance.
const MIN_SECRET: usize = 8;
/// Minimum length of a secret if the header name does not suggest one.
///
/// The text must also contain digits.
const MIN_UNNAMED: usize = 16;
const SECRET_NAMES: [&str; 8] =
    ["auth", "cookie", "token", "key", "secret", "password", "session", "signature"];

fn secrets_in(name: &str, value: &str) -> Vec<Secret> {
    let name = name.to_ascii_lowercase();
    let is_named = SECRET_NAMES.iter().any(|word| name.contains(word));
    let is_secret = |word: &&str| {
        let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
        let is_random = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !word.contains([':', '/']);
        word.len() >= MIN_SECRET && (is_named || (is_random && word.len() >= MIN_UNNAMED))
    };
    let words = value
        .split([' ', ';', ','])
        .flat_map(|part| [part, part.split_once('=').map_or("", |(_, word)| word)]);
    words.filter(is_secret).filter_map(|word| Secret::new(word).ok()).collect()
}

pub(super) struct Keys {
    held: RwLock<Held>,
    other: Vec<Secret>,
    source: Option<TokenSource>,
    state: Arc<TokenState>,
}

struct Held {
    current: Credentials,
    former: Vec<Secret>,
    strange: Vec<Secret>,
    generation: u64,
    refused: Option<Refused>,
    refused_by: Option<&'static str>,
    /// Endpoints that refused a token accepted elsewhere.
    ///
    /// The flag tells whether this was reported.
    rejecting: BTreeMap<&'static str, bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Cannot read. Cleared by the next successful read.
    Reading,
    /// Cannot open, but may still read. Cleared only by another token or manually.
    Opening,
}

impl Keys {
    pub(super) fn new(current: Credentials) -> Self {
        let held = Held {
            current,
            former: Vec::new(),
            strange: Vec::new(),
            generation: 0,
            refused: None,
            refused_by: None,
            rejecting: BTreeMap::new(),
        };
        Self { held: RwLock::new(held), other: Vec::new(), source: None, state: Arc::default() }
    }

    pub(super) fn hiding(self, headers: &BTreeMap<String, String>) -> Self {
        Self { other: headers.iter().flat_map(|(name, value)| secrets_in(name, value)).collect(), ..self }
    }

    pub(super) fn set_source(&mut self, source: TokenSource) {
        self.source = Some(source);
    }

    pub(super) fn state(&self) -> Arc<TokenState> {
        Arc::clone(&self.state)
    }

    pub(super) fn current(&self) -> Credentials {
        self.held().current.clone()
    }

    pub(super) fn generation(&self) -> u64 {
        self.held().generation
    }

    /// Records that an endpoint accepted a read with the token of `generation`.
    ///
    /// If an endpoint refuses a token that others accept, only its own acceptance clears the
    /// refusal.
    pub(super) fn accepted(&self, generation: u64, endpoint: &'static str) {
        let is_known = {
            let held = self.held();
            held.refused.is_none() && !held.rejecting.contains_key(endpoint)
        };
        if is_known {
            return;
        }
        let mut held = self.held_mut();
        if held.generation != generation {
            return;
        }
        let was_reported = held.rejecting.remove(endpoint) == Some(true);
        if was_reported {
            tracing::warn!("the venue accepts the token for {endpoint} again");
        }
        let by = held.refused_by.filter(|by| *by != endpoint);
        if held.refused != Some(Refused::Reading) || by.is_some_and(|by| held.rejecting.contains_key(by)) {
            return;
        }
        if let Some(by) = by {
            held.rejecting.insert(by, false);
        }
        (held.refused, held.refused_by) = (None, None);
        self.state.accept();
    }

    /// Records a refusal and returns whether the token was replaced in the meantime.
    pub(super) fn refuse(&self, generation: u64, what: Refused, endpoint: &'static str, text: &str) -> bool {
        let mut held = self.held_mut();
        if held.generation != generation {
            return true;
        }
        // What opens nothing is not healed by reading, unless a person has said since that it is in order.
        if held.refused != Some(Refused::Opening) || self.state.refused().is_none() {
            (held.refused, held.refused_by) = (Some(what), Some(endpoint));
        }
        let is_alone = what == Refused::Reading && held.rejecting.contains_key(endpoint);
        if is_alone {
            held.rejecting.insert(endpoint, true);
            self.state.refuse(describe_rejection(endpoint, text));
        } else {
            self.state.refuse(text);
        }
        false
    }

    pub(super) fn reject_at(&self, endpoint: &'static str, text: &str) {
        if self.held_mut().rejecting.insert(endpoint, true) != Some(true) {
            tracing::warn!("{}; trades are read from the list", describe_rejection(endpoint, text));
        }
    }

    pub(super) fn is_rejected_at(&self, endpoint: &'static str) -> bool {
        self.held().rejecting.get(endpoint) == Some(&true)
    }

    /// Returns generation and message of a token refused for opening.
    ///
    /// `None` if it was not, or if the operator has cleared the refusal.
    pub(super) fn refused_for_opening(&self) -> Option<(u64, String)> {
        let held = self.held();
        let text = self.state.refused().filter(|_| held.refused == Some(Refused::Opening))?;
        Some((held.generation, text))
    }

    /// Reads the token again; `None` if there is no untried token.
    ///
    /// The result is redacted from then on.
    pub(super) async fn read_anew(&self) -> Option<Secret> {
        let source = self.source.clone()?;
        let reading = tokio::task::spawn_blocking(move || source());
        let Ok(Ok(Some(token))) = tokio::time::timeout(MAX_READING, reading).await else { return None };
        let mut held = self.held_mut();
        if held.current.api_token.iter().chain(&held.strange).any(|known| known.is(&token)) {
            return None;
        }
        keep(&mut held.former, token.clone());
        Some(token)
    }

    pub(super) fn replace(&self, generation: u64, token: Secret) {
        let mut held = self.held_mut();
        if held.generation != generation {
            return;
        }
        if let Some(former) = held.current.api_token.replace(token) {
            keep(&mut held.former, former);
        }
        held.generation += 1;
        (held.refused, held.refused_by) = (None, None);
        held.rejecting.clear();
        self.state.accept();
        tracing::warn!("the venue refused the token, and another was read from its file");
    }

    pub(super) fn pass_over(&self, token: Secret) {
        keep(&mut self.held_mut().strange, token);
    }

    pub(super) fn hide_in(&self, text: &str) -> String {
        // What is cut out are letters of ASCII, so the rest is text as before.
        self.hide_in_bytes(text.as_bytes())
            .and_then(|hidden| String::from_utf8(hidden).ok())
            .unwrap_or_else(|| text.to_owned())
    }

    pub(super) fn hide_in_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let held = self.held();
        let current = [&held.current.api_token, &held.current.api_key].into_iter().flatten();
        let secrets: Vec<&[u8]> =
            current.chain(&held.former).chain(&held.strange).chain(&self.other).map(Secret::expose).collect();
        hide(&secrets, bytes)
    }

    fn held(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn held_mut(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn describe_rejection(endpoint: &str, text: &str) -> String {
    format!("the venue rejects the token for {endpoint} only: {text}")
}

fn keep(tokens: &mut Vec<Secret>, token: Secret) {
    if tokens.iter().any(|known| known.is(&token)) {
        return;
    }
    tokens.push(token);
    if tokens.len() > MAX_FORMER {
        tokens.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, echoed: &str, shown: &str) {
        let headers = [(name.to_owned(), value.to_owned())].into();
        let keys = Keys::new(Credentials::default()).hiding(&headers);
        assert_eq!(keys.hide_in(echoed), shown, "{name}: {value}");
    }

    #[test]
    fn what_an_extra_header_carries_is_hidden_where_a_venue_echoes_it() {
        check("Authorization", "Bearer s3cr3t-s3cr3t", "no: s3cr3t-s3cr3t", "no: [hidden]");
        check("Cookie", "lang=en; session=abcdefghij", "you sent abcdefghij", "you sent [hidden]");
        check("X-Session-Key", "correcthorse", "bad correcthorse!", "bad [hidden]!");
        // A name that says nothing, and letters that nobody writes by hand.
        check("x-partner", "9f86d081884c7d659a2f", "9f86d081884c7d659a2f is unknown", "[hidden] is unknown");
        // What is no secret stays.
        check("x-partner", "7", "7 trades of partner 7", "7 trades of partner 7");
        check(
            "Origin",
            "https://venue1.example.com",
            "see https://venue1.example.com",
            "see https://venue1.example.com",
        );
        check("Accept-Language", "de-CH, en", "de-CH", "de-CH");
    }
}
