//! The credentials of a client while it runs: a token that the venue refuses is read anew, so that a new one is used without
//! a restart.

use crate::credentials::{Credentials, Secret, TokenSource};
use crate::echo::hide;
use candlewick_broker::TokenState;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// Tokens that are no longer used and still hidden, should the venue echo one.
const MAX_FORMER: usize = 16;
/// How long reading a token may take: its file may lie on a disk that does not answer.
const MAX_READING: Duration = Duration::from_secs(2);

/// A word of an extra header has at least so many letters to be a secret: fewer are found by chance.
const MIN_SECRET: usize = 8;
/// One of a header whose name speaks of none is taken for a secret from so many letters on, with digits among them.
const MIN_UNNAMED: usize = 16;
/// Of which a header speaks that carries a secret.
const SECRET_NAMES: [&str; 8] =
    ["auth", "cookie", "token", "key", "secret", "password", "session", "signature"];

/// The parts of an extra header that nobody may see, such as the letters after `Bearer`.
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

/// The credentials, and whether the venue accepts the token.
pub(super) struct Keys {
    held: RwLock<Held>,
    /// What else is sent and shown to nobody.
    other: Vec<Secret>,
    source: Option<TokenSource>,
    state: Arc<TokenState>,
}

struct Held {
    current: Credentials,
    former: Vec<Secret>,
    /// Tokens of other users, which are never used.
    strange: Vec<Secret>,
    /// How often the token was replaced.
    generation: u64,
    refused: Option<Refused>,
    /// Endpoint whose answer refused the token for reading.
    refused_by: Option<&'static str>,
    /// Endpoints that refused the token while another accepted it, and whether that was reported.
    rejecting: BTreeMap<&'static str, bool>,
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

    /// Hides what extra headers carry, too.
    pub(super) fn hiding(self, headers: &BTreeMap<String, String>) -> Self {
        Self { other: headers.iter().flat_map(|(name, value)| secrets_in(name, value)).collect(), ..self }
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

    /// Records that an endpoint answered a reading request that was made with the token of this generation.
    ///
    /// An endpoint that refuses the token while others accept it has to accept it itself.
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

    /// Records that an endpoint refused the token of this generation. Returns whether another token is used by now.
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

    /// Records that an endpoint refuses a token that another endpoint has just accepted: the token is in order.
    pub(super) fn reject_at(&self, endpoint: &'static str, text: &str) {
        if self.held_mut().rejecting.insert(endpoint, true) != Some(true) {
            tracing::warn!("{}; trades are read from the list", describe_rejection(endpoint, text));
        }
    }

    /// Returns whether an endpoint is known to refuse a token that others accept.
    pub(super) fn is_rejected_at(&self, endpoint: &'static str) -> bool {
        self.held().rejecting.get(endpoint) == Some(&true)
    }

    /// Which token opens nothing, and what the venue says of it; none where it is not that, or a person has said since that it is
    /// in order.
    pub(super) fn refused_for_opening(&self) -> Option<(u64, String)> {
        let held = self.held();
        let text = self.state.refused().filter(|_| held.refused == Some(Refused::Opening))?;
        Some((held.generation, text))
    }

    /// Reads the token again; none where there is no other that may be tried. It is hidden from then on.
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

    /// Uses another token instead of that of this generation, unless that was replaced meanwhile.
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

    /// A token that is another user's is not tried again.
    pub(super) fn pass_over(&self, token: Secret) {
        keep(&mut self.held_mut().strange, token);
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

/// Keeps a token, and only so many.
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
