//! Replacement of a refused token, only by one of the same user, whose trades are followed.

use super::endpoint::OPEN;
use super::keys::Refused;
use super::limit::Turn;
use super::{Api, HttpBroker, NoAnswer, Purpose};
use crate::credentials::{Credentials, Secret};
use candlewick_broker::{BrokerError, current_priority};
use reqwest::{Method, Request};

const ANOTHER_USERS: &str = "; the one in its file now is another user's, and is not used";

impl HttpBroker {
    pub(super) async fn token_refused(
        &self,
        generation: u64,
        (what, endpoint): (Refused, &'static str),
        text: &str,
    ) -> bool {
        if self.credentials.generation() != generation {
            return true;
        }
        let Some(token) = self.credentials.read_anew().await else {
            return self.credentials.refuse(generation, what, endpoint, text);
        };
        match self.is_our_users(&token).await {
            Ok(true) => {
                self.credentials.replace(generation, token);
                true
            }
            Ok(false) => {
                self.credentials.pass_over(token);
                self.credentials.refuse(generation, what, endpoint, &format!("{text}{ANOTHER_USERS}"))
            }
            Err(error) => {
                tracing::debug!(%error, "nobody knows whose the new token is");
                self.credentials.refuse(generation, what, endpoint, text)
            }
        }
    }

    /// Looks for a new token after one was refused for opening.
    ///
    /// Such a token may still read, so no failed read would trigger the lookup.
    pub(super) async fn look_for_next_token(&self) {
        let Some((generation, _)) = self.credentials.refused_for_opening() else { return };
        let Some(token) = self.credentials.read_anew().await else { return };
        match self.is_our_users(&token).await {
            Ok(true) => self.credentials.replace(generation, token),
            Ok(false) => {
                self.credentials.pass_over(token);
                // A person may have said meanwhile that it is in order.
                if let Some((generation, text)) = self.credentials.refused_for_opening()
                    && !text.ends_with(ANOTHER_USERS)
                {
                    let text = format!("{text}{ANOTHER_USERS}");
                    self.credentials.refuse(generation, Refused::Opening, OPEN, &text);
                }
            }
            Err(error) => tracing::debug!(%error, "nobody knows whose the new token is"),
        }
    }

    /// Returns whether a token belongs to the user of the listed trades.
    ///
    /// True for any token before the first listing.
    async fn is_our_users(&self, token: &Secret) -> Result<bool, BrokerError> {
        let Some(user_id) = self.user_id.get() else { return Ok(true) };
        let credentials = Credentials { api_token: Some(token.clone()), ..self.credentials.current() };
        Ok(self.ask_user_with(credentials).await? == *user_id)
    }

    pub(super) async fn is_accepted_elsewhere(&self, endpoint: &'static str) -> bool {
        let is_refused = self.credentials.state().refused().is_some();
        if !is_refused && self.credentials.is_rejected_at(endpoint) {
            return true;
        }
        !is_refused && self.ask_user_with(self.credentials.current()).await.is_ok()
    }

    async fn ask_user_with(&self, credentials: Credentials) -> Result<String, BrokerError> {
        let url = self.url(Api::Trading, ["token", "users", "me"], &[])?;
        let unavailable = |text: String| BrokerError::Unavailable { text: self.credentials.hide_in(&text) };
        let (host, turn) = (self.host(Api::Trading), Turn::Read(current_priority()));
        let waited = self.rate_limit.wait(host, turn, self.settings.timeout()).await;
        waited.map_err(|_| unavailable("no turn to ask whose the token is".to_owned()))?;
        let path = url.path().to_owned();
        let mut request = Request::new(Method::GET, url);
        *request.headers_mut() = self.headers_with(Api::Trading, credentials)?;
        *request.timeout_mut() = Some(self.settings.timeout());
        let answer = self.exchange(Api::Trading, (Purpose::Read, request)).await;
        let answer =
            answer.map_err(|(NoAnswer::NotConnected(text) | NoAnswer::Lost(text))| unavailable(text))?;
        let user = self.user_of(self.check_status(Api::Trading, answer, &path)?)?;
        Ok(user.value.id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Act, Script, answer};
    use crate::Settings;
    use candlewick_broker::Broker;
    use std::sync::{Arc, Mutex};

    #[tokio::test]
    async fn a_new_token_is_used_only_where_it_is_the_same_users() {
        let refused = Act::Reply(answer("401 Unauthorized", "{}"));
        let user = |id: &str| Act::Reply(answer("200 OK", &format!(r#"{{"id": "{id}"}}"#)));
        let wallets = Act::Reply(answer("200 OK", "[]"));
        let acts =
            vec![user("u1"), refused.clone(), user("u2"), refused.clone(), refused, user("u1"), wallets];
        let script = Script::start(acts).await;
        let file = Arc::new(Mutex::new("tok-456"));
        let read = Arc::clone(&file);
        let source = move || crate::Secret::new(*read.lock().unwrap()).ok();
        let settings = Settings { timeout_ms: 60_000, retry_pause_ms: 1, ..Settings::default() };
        let broker = script.broker(settings).with_token_source(Arc::new(source));
        broker.identity().await.unwrap();
        assert!(broker.balances().await.is_err());
        let said = broker.token_state().refused().unwrap();
        assert!(said.contains("another user's"), "{said}");
        // It is not asked again whose that is.
        assert!(broker.balances().await.is_err());
        *file.lock().unwrap() = "tok-789";
        assert!(broker.balances().await.is_ok());
        assert_eq!(broker.token_state().refused(), None);
        let used = script.requests().into_iter().map(|request| {
            let tokens = ["tok-123", "tok-456", "tok-789"];
            tokens.into_iter().find(|token| request.head.contains(token)).unwrap()
        });
        let used: Vec<&str> = used.collect();
        let first = "tok-123";
        assert_eq!(used, [first, first, "tok-456", first, first, "tok-789", "tok-789"]);
        assert_eq!(broker.credentials.hide_in("tok-456"), "[hidden]");
    }

    fn patient() -> Settings {
        Settings { timeout_ms: 60_000, retry_pause_ms: 1, requests_per_second: 0.0, ..Settings::default() }
    }

    #[tokio::test]
    async fn a_trade_that_the_token_may_not_read_is_read_from_the_list() {
        let refused = Act::Reply(answer("401 Unauthorized", r#"{"message": "Invalid token"}"#));
        let user = Act::Reply(answer("200 OK", r#"{"id": "u1"}"#));
        let list = r#"{"lastPage": 1, "data": [{"id": "01JT", "result": "WON", "pnl": 8}]}"#;
        let list = Act::Reply(answer("200 OK", list));
        // By its id, at the user's, by the list of that user; then by its id and the list alone.
        let acts = vec![refused.clone(), user.clone(), user, list.clone(), refused, list];
        let script = Script::start(acts).await;
        let broker = script.broker(patient());
        for requests in [4, 6] {
            let report = broker.trade("01JT", candlewick_broker::Detail::Progress).await.unwrap().value;
            assert_eq!(report.profit, Some(8.into()));
            // The token is in order: nothing is suspended.
            assert_eq!(broker.token_state().refused(), None);
            assert_eq!(script.requests().len(), requests);
        }
    }

    #[tokio::test]
    async fn an_endpoint_that_refuses_a_token_which_others_accept_is_named_and_has_to_accept_it_itself() {
        let refused = Act::Reply(answer("401 Unauthorized", r#"{"message": "Invalid token"}"#));
        let user = Act::Reply(answer("200 OK", r#"{"id": "u1"}"#));
        let wallets = Act::Reply(answer("200 OK", "[]"));
        let acts = vec![refused.clone(), user.clone(), refused, user, wallets];
        let script = Script::start(acts).await;
        let broker = script.broker(patient());
        let said = || broker.token_state().refused();
        assert!(broker.balances().await.is_err());
        assert_eq!(said().as_deref(), Some("Invalid token (GET /token/wallets)"));
        assert!(broker.identity().await.is_ok());
        assert_eq!(said(), None);
        let alone =
            "the venue rejects the token for GET /token/wallets only: Invalid token (GET /token/wallets)";
        assert!(broker.balances().await.is_err());
        assert_eq!(said().as_deref(), Some(alone));
        assert!(broker.identity().await.is_ok());
        assert_eq!(said().as_deref(), Some(alone), "another endpoint does not end it");
        assert!(broker.balances().await.is_ok());
        assert_eq!(said(), None);
    }
}
