//! JSON webhook, signed as Standard Webhooks 1.0.0 (standardwebhooks.com).

use super::{Delivery, Place, WallClock};
use crate::alert::Alert;
use crate::failure::{ChannelError, Failure};
use crate::http::{Carries, address, message_client, send};
use crate::message::Message;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat};
use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use ring::hmac;
use serde::Serialize;
use url::Url;

/// Optional prefix of a key, by the specification.
const PREFIX: &str = "whsec_";
/// Valid key length, by the specification.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
const MOST_ALERTS: usize = 100;

pub(super) struct Webhook {
    client: Client,
    url: Url,
    key: Option<hmac::Key>,
    now: WallClock,
}

#[derive(Serialize)]
struct Document<'a> {
    r#type: &'static str,
    timestamp: String,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    sender: &'a str,
    dropped: u64,
    alerts: &'a [Alert],
}

impl Webhook {
    pub(super) fn new(place: &Place, now: WallClock) -> Result<Self, ChannelError> {
        let url = address(place.url.expose(), Carries::Message)?;
        let key = place.secret.as_ref().map(|secret| key(secret.expose())).transpose()?;
        Ok(Self { client: message_client(&url)?, url, key, now })
    }
}

fn key(text: &str) -> Result<hmac::Key, ChannelError> {
    let wrong = || {
        let problem =
            "the key of a webhook is 24 to 64 bytes in base64, such as `openssl rand -base64 32` prints";
        ChannelError::secret(problem)
    };
    let bytes = STANDARD.decode(text.strip_prefix(PREFIX).unwrap_or(text)).map_err(|_| wrong())?;
    if KEY_BYTES.contains(&bytes.len()) {
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
    } else {
        Err(wrong())
    }
}

fn signature(key: &hmac::Key, id: &str, seconds: i64, body: &str) -> String {
    let tag = hmac::sign(key, format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

#[async_trait::async_trait]
impl Delivery for Webhook {
    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        let now = (self.now)();
        let moment = DateTime::from_timestamp_millis(now).unwrap_or_default();
        let document = Document {
            r#type: if message.alerts.len() == 1 { "alert" } else { "digest" },
            timestamp: moment.to_rfc3339_opts(SecondsFormat::Millis, true),
            data: Data { sender: &message.sender, dropped: message.dropped, alerts: &message.alerts },
        };
        let body = serde_json::to_string(&document)
            .map_err(|error| Failure::Refused { reason: error.to_string() })?;
        let seconds = now.div_euclid(1_000);
        let mut request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        request = request.header("webhook-id", &message.id).header("webhook-timestamp", seconds.to_string());
        if let Some(key) = &self.key {
            request = request.header("webhook-signature", signature(key, &message.id, seconds, &body));
        }
        send(request.body(body)).await
    }

    fn most_alerts(&self) -> usize {
        MOST_ALERTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_published_example() {
        for prefix in [PREFIX, ""] {
            let key = key(&format!("{prefix}MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).unwrap();
            let signature =
                signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
            assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        }
    }

    #[test]
    fn a_key_that_can_be_guessed_is_refused_without_being_shown() {
        for text in ["hush", "whsec_", "aHVzaA==", "no base64 at all, but as long as one has to be"] {
            let error = key(text).unwrap_err().to_string();
            assert!(error.contains("base64") && !error.contains(text), "{error}");
        }
    }
}
