//! Credentials of a running client. The client reloads a rejected token from its source.
//!
//! A new token must belong to the same user as before, because the client tracks that user's trades.

use super::limit::RequestClass;
use super::read::POST_OPEN;
use super::{Api, HttpBroker, Purpose, TransportError};
use crate::credentials::{Credentials, Secret, TokenSource, redact_secrets};
use candlewick_broker::{BrokerError, TokenState, current_priority};
use reqwest::{Method, Request};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// Maximum number of former tokens that are still redacted from texts.
const MAX_FORMER_TOKENS: usize = 16;
/// Timeout for reading the token file, in case the disk does not respond.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// Minimum length of a secret in an extra header. Shorter words would match other text by chance.
const MIN_SECRET_BYTES: usize = 8;
/// Minimum length of a secret in a header whose name does not suggest one. It must contain letters and digits.
const MIN_SUSPECTED_SECRET_BYTES: usize = 16;
const SECRET_HEADER_WORDS: [&str; 8] =
    ["auth", "cookie", "token", "key", "secret", "password", "session", "signature"];

fn find_header_secrets(name: &str, value: &str) -> Vec<Secret> {
    let name = name.to_ascii_lowercase();
    let is_named = SECRET_HEADER_WORDS.iter().any(|word| name.contains(word));
    let is_secret = |word: &&str| {
        let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
        let is_random = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !word.contains([':', '/']);
        word.len() >= MIN_SECRET_BYTES
            && (is_named || (is_random && word.len() >= MIN_SUSPECTED_SECRET_BYTES))
    };
    let words = value
        .split([' ', ';', ','])
        .flat_map(|part| [part, part.split_once('=').map_or("", |(_, word)| word)]);
    words.filter(is_secret).filter_map(|word| Secret::new(word).ok()).collect()
}

pub(super) struct CredentialStore {
    key_state: RwLock<KeyState>,
    other: Vec<Secret>,
    pub(super) token_source: Option<TokenSource>,
    state: Arc<TokenState>,
}

#[derive(Default)]
struct KeyState {
    current: Credentials,
    former: Vec<Secret>,
    foreign: Vec<Secret>,
    generation: u64,
    refused: Option<TokenUse>,
    refused_by: Option<&'static str>,
    /// Endpoints that reject the token although others accept it, and whether this rejection was reported.
    rejecting: BTreeMap<&'static str, bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenUse {
    /// The token is rejected for reading. The next successful read clears this.
    Reading,
    /// The token is rejected for opening trades, perhaps not for reading. A new token or the operator clears this.
    Opening,
}

impl CredentialStore {
    pub(super) fn new(current: Credentials, headers: &BTreeMap<String, String>) -> Self {
        let key_state = RwLock::new(KeyState { current, ..KeyState::default() });
        let other = headers.iter().flat_map(|(name, value)| find_header_secrets(name, value)).collect();
        Self { key_state, other, token_source: None, state: Arc::default() }
    }

    pub(super) fn token_state(&self) -> Arc<TokenState> {
        Arc::clone(&self.state)
    }

    pub(super) fn current(&self) -> Credentials {
        self.read_state().current.clone()
    }

    pub(super) fn generation(&self) -> u64 {
        self.read_state().generation
    }

    /// Clears the rejection by this endpoint. A read rejection by another one then applies to that endpoint only.
    pub(super) fn record_accepted_read(&self, generation: u64, endpoint: &'static str) {
        let is_known = {
            let held = self.read_state();
            held.refused.is_none() && !held.rejecting.contains_key(endpoint)
        };
        if is_known {
            return;
        }
        let mut held = self.write_state();
        if held.generation != generation {
            return;
        }
        if held.rejecting.remove(endpoint) == Some(true) {
            tracing::warn!("the venue accepts the token for {endpoint} again");
        }
        let by = held.refused_by.filter(|by| *by != endpoint);
        if held.refused != Some(TokenUse::Reading) || by.is_some_and(|by| held.rejecting.contains_key(by)) {
            return;
        }
        if let Some(by) = by {
            held.rejecting.insert(by, false);
        }
        (held.refused, held.refused_by) = (None, None);
        self.state.clear_rejection();
    }

    /// Records a rejection of the token. Returns whether the token has been replaced since the request.
    pub(super) fn record_token_rejection(
        &self,
        generation: u64,
        what: TokenUse,
        endpoint: &'static str,
        text: &str,
    ) -> bool {
        let mut held = self.write_state();
        if held.generation != generation {
            return true;
        }
        // Successful reads do not clear a rejection of opens, but the operator can clear it.
        if held.refused != Some(TokenUse::Opening) || self.state.rejection().is_none() {
            (held.refused, held.refused_by) = (Some(what), Some(endpoint));
        }
        if what == TokenUse::Reading && held.rejecting.contains_key(endpoint) {
            held.rejecting.insert(endpoint, true);
            self.state.record_rejection(describe_rejection(endpoint, text));
        } else {
            self.state.record_rejection(text);
        }
        false
    }

    pub(super) fn record_endpoint_rejection(&self, endpoint: &'static str, text: &str) {
        if self.write_state().rejecting.insert(endpoint, true) != Some(true) {
            tracing::warn!("{}; trades are read from the trade list", describe_rejection(endpoint, text));
        }
    }

    pub(super) fn is_rejected_at(&self, endpoint: &'static str) -> bool {
        self.read_state().rejecting.get(endpoint) == Some(&true)
    }

    /// Returns the token's generation and the error of a rejected open; `None` without an active rejection.
    pub(super) fn opening_rejection(&self) -> Option<(u64, String)> {
        let held = self.read_state();
        let text = self.state.rejection().filter(|_| held.refused == Some(TokenUse::Opening))?;
        Some((held.generation, text))
    }

    /// Rereads the token. Returns it if it is new, and redacts it from then on.
    pub(super) async fn reload_token(&self) -> Option<Secret> {
        let source = self.token_source.clone()?;
        let reading = tokio::task::spawn_blocking(move || source());
        let Ok(Ok(Some(token))) = tokio::time::timeout(READ_TIMEOUT, reading).await else { return None };
        let mut held = self.write_state();
        if held.current.api_token.iter().chain(&held.foreign).any(|known| known.is_same(&token)) {
            return None;
        }
        remember_token(&mut held.former, token.clone());
        Some(token)
    }

    pub(super) fn replace_token(&self, generation: u64, token: Secret) {
        let mut held = self.write_state();
        if held.generation != generation {
            return;
        }
        if let Some(former) = held.current.api_token.replace(token) {
            remember_token(&mut held.former, former);
        }
        held.generation += 1;
        (held.refused, held.refused_by) = (None, None);
        held.rejecting.clear();
        self.state.clear_rejection();
        tracing::warn!("the venue rejected the token; a new token was read from the token file");
    }

    pub(super) fn remember_foreign_token(&self, token: Secret) {
        remember_token(&mut self.write_state().foreign, token);
    }

    pub(super) fn redact(&self, text: &str) -> String {
        // Only ASCII is replaced, so the result remains valid UTF-8.
        self.redact_bytes(text.as_bytes())
            .and_then(|hidden| String::from_utf8(hidden).ok())
            .unwrap_or_else(|| text.to_owned())
    }

    pub(super) fn redact_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let held = self.read_state();
        let current = [&held.current.api_token, &held.current.api_key].into_iter().flatten();
        let secrets: Vec<&[u8]> =
            current.chain(&held.former).chain(&held.foreign).chain(&self.other).map(Secret::expose).collect();
        redact_secrets(&secrets, bytes)
    }

    fn read_state(&self) -> RwLockReadGuard<'_, KeyState> {
        self.key_state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, KeyState> {
        self.key_state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn describe_rejection(endpoint: &str, text: &str) -> String {
    format!("the venue rejects the token for {endpoint} only: {text}")
}

fn remember_token(tokens: &mut Vec<Secret>, token: Secret) {
    if tokens.iter().any(|known| known.is_same(&token)) {
        return;
    }
    tokens.push(token);
    if tokens.len() > MAX_FORMER_TOKENS {
        tokens.remove(0);
    }
}

const FOREIGN_TOKEN_NOTE: &str = "; the new token in the token file belongs to another user and is not used";

impl HttpBroker {
    pub(super) async fn handle_rejected_token(
        &self,
        generation: u64,
        (what, endpoint): (TokenUse, &'static str),
        text: &str,
    ) -> bool {
        if self.credentials.generation() != generation {
            return true;
        }
        match self.try_next_token(generation).await {
            Some(true) => true,
            Some(false) => self.credentials.record_token_rejection(
                generation,
                what,
                endpoint,
                &format!("{text}{FOREIGN_TOKEN_NOTE}"),
            ),
            None => self.credentials.record_token_rejection(generation, what, endpoint, text),
        }
    }

    /// Uses a new token if it belongs to our user. Returns `None` if there is no new token or its owner is unknown.
    async fn try_next_token(&self, generation: u64) -> Option<bool> {
        let token = self.credentials.reload_token().await?;
        let is_ours = self.belongs_to_user(&token).await;
        match &is_ours {
            Ok(true) => self.credentials.replace_token(generation, token),
            Ok(false) => self.credentials.remember_foreign_token(token),
            Err(error) => tracing::debug!(%error, "cannot find the owner of the new token"),
        }
        is_ours.ok()
    }

    /// Polls for a new token after a rejected open, because successful reads do not trigger a reload.
    pub(super) async fn poll_token_source(&self) {
        let Some((generation, _)) = self.credentials.opening_rejection() else { return };
        // The operator may have cleared the rejection during the reload.
        if self.try_next_token(generation).await == Some(false)
            && let Some((generation, text)) = self.credentials.opening_rejection()
            && !text.ends_with(FOREIGN_TOKEN_NOTE)
        {
            let text = format!("{text}{FOREIGN_TOKEN_NOTE}");
            self.credentials.record_token_rejection(generation, TokenUse::Opening, POST_OPEN, &text);
        }
    }

    /// Returns whether a token belongs to the user whose trades are listed. `true` before the first list request.
    async fn belongs_to_user(&self, token: &Secret) -> Result<bool, BrokerError> {
        let Some(user_id) = self.user_id.get() else { return Ok(true) };
        let credentials = Credentials { api_token: Some(token.clone()), ..self.credentials.current() };
        Ok(self.fetch_user_with(credentials).await? == *user_id)
    }

    pub(super) async fn is_accepted_at_other_endpoint(&self, endpoint: &'static str) -> bool {
        self.credentials.token_state().rejection().is_none()
            && (self.credentials.is_rejected_at(endpoint)
                || self.fetch_user_with(self.credentials.current()).await.is_ok())
    }

    async fn fetch_user_with(&self, credentials: Credentials) -> Result<String, BrokerError> {
        let url = self.url(Api::Trading, ["token", "users", "me"], &[])?;
        let unavailable = |text: String| BrokerError::Unavailable { text: self.credentials.redact(&text) };
        let (host, turn) = (self.host(Api::Trading), RequestClass::Read(current_priority()));
        let waited = self.rate_limit.wait(host, turn, self.settings.timeout()).await;
        waited.map_err(|_| unavailable("the rate limit would delay this request for too long".to_owned()))?;
        let path = url.path().to_owned();
        let mut request = Request::new(Method::GET, url);
        *request.headers_mut() = self.api_headers_with(Api::Trading, credentials)?;
        *request.timeout_mut() = Some(self.settings.timeout());
        let answer = self.send_request(Api::Trading, (Purpose::Read, request)).await;
        let answer = answer
            .map_err(|(TransportError::NotConnected(text) | TransportError::Lost(text))| unavailable(text))?;
        Ok(self.parse_user(self.check_status(Api::Trading, answer, &path)?)?.value.id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Script, reply, unlimited};
    use super::*;
    use candlewick_broker::Broker;

    fn check(name: &str, value: &str, echoed: &str, shown: &str) {
        let headers = [(name.to_owned(), value.to_owned())].into();
        let keys = CredentialStore::new(Credentials::default(), &headers);
        assert_eq!(keys.redact(echoed), shown, "{name}: {value}");
    }

    #[test]
    fn redacts_secrets_of_extra_headers() {
        check("Authorization", "Bearer s3cr3t-s3cr3t", "no: s3cr3t-s3cr3t", "no: [hidden]");
        check("Cookie", "lang=en; session=abcdefghij", "you sent abcdefghij", "you sent [hidden]");
        check("X-Session-Key", "correcthorse", "bad correcthorse!", "bad [hidden]!");
        // The header name does not suggest a secret, but the value looks random.
        check("x-partner", "9f86d081884c7d659a2f", "9f86d081884c7d659a2f is unknown", "[hidden] is unknown");
        check("x-partner", "7", "7 trades of partner 7", "7 trades of partner 7");
        check("Origin", "https://venue1.example", "see https://venue1.example", "see https://venue1.example");
        check("Accept-Language", "de-CH, en", "de-CH", "de-CH");
    }

    #[tokio::test]
    async fn uses_a_new_token_only_of_the_same_user() {
        let refused = reply("401 Unauthorized", "{}");
        let user = |id: &str| reply("200 OK", &format!(r#"{{"id": "{id}"}}"#));
        let wallets = reply("200 OK", "[]");
        let again = refused.clone();
        let acts = vec![user("u1"), refused.clone(), user("u2"), again, refused, user("u1"), wallets];
        let script = Script::start(acts).await;
        let (broker, file) = script.broker_with_file("tok-456");
        broker.identity().await.unwrap();
        assert!(broker.balances().await.is_err());
        let said = broker.token_state().rejection().unwrap();
        assert!(said.contains("belongs to another user"), "{said}");
        assert!(broker.balances().await.is_err());
        *file.lock().unwrap() = "tok-789";
        assert!(broker.balances().await.is_ok());
        assert_eq!(broker.token_state().rejection(), None);
        let used = script.requests().into_iter().map(|request| {
            let tokens = ["tok-123", "tok-456", "tok-789"];
            tokens.into_iter().find(|token| request.head.contains(token)).unwrap()
        });
        let used: Vec<&str> = used.collect();
        let first = "tok-123";
        assert_eq!(used, [first, first, "tok-456", first, first, "tok-789", "tok-789"]);
        assert_eq!(broker.credentials.redact("tok-456"), "[hidden]");
    }

    #[tokio::test]
    async fn reads_a_forbidden_trade_from_the_list() {
        let refused = reply("401 Unauthorized", r#"{"message": "Invalid token"}"#);
        let user = reply("200 OK", r#"{"id": "u1"}"#);
        let list = r#"{"lastPage": 1, "data": [{"id": "01JT", "result": "WON", "pnl": 8}]}"#;
        let list = reply("200 OK", list);
        // Acts in order: requests by id, for the user and for the user's list; later only by id and for the list.
        let acts = vec![refused.clone(), user.clone(), user, list.clone(), refused, list];
        let script = Script::start(acts).await;
        let broker = script.broker(unlimited());
        for requests in [4, 6] {
            let report = broker.trade("01JT", candlewick_broker::DetailLevel::Progress).await.unwrap().value;
            assert_eq!(report.profit, Some(8.into()));
            assert_eq!(broker.token_state().rejection(), None);
            assert_eq!(script.requests().len(), requests);
        }
    }

    #[tokio::test]
    async fn single_rejecting_endpoint_is_named_until_it_accepts() {
        let refused = reply("401 Unauthorized", r#"{"message": "Invalid token"}"#);
        let user = reply("200 OK", r#"{"id": "u1"}"#);
        let wallets = reply("200 OK", "[]");
        let script = Script::start(vec![refused.clone(), user.clone(), refused, user, wallets]).await;
        let broker = script.broker(unlimited());
        let said = || broker.token_state().rejection();
        assert!(broker.balances().await.is_err());
        assert_eq!(said().as_deref(), Some("Invalid token (GET /token/wallets)"));
        assert!(broker.identity().await.is_ok());
        assert_eq!(said(), None);
        assert!(broker.balances().await.is_err());
        let alone = said().unwrap();
        assert!(alone.contains("for GET /token/wallets only: Invalid token"), "{alone}");
        assert!(broker.identity().await.is_ok());
        assert_eq!(said(), Some(alone), "another endpoint does not end it");
        assert!(broker.balances().await.is_ok());
        assert_eq!(said(), None);
    }
}
