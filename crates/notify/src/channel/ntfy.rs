//! Ntfy topic, published to as JSON (docs.ntfy.sh/publish, "Publish as JSON").

use super::{Delivery, Place};
use crate::alert::Severity;
use crate::failure::{ChannelError, Failure};
use crate::http::{Carries, address, message_client, send};
use crate::message::Message;
use crate::secret::Secret;
use reqwest::Client;
use serde_json::json;
use url::Url;

/// Maximum message size; the server turns a longer one into an attachment.
const MOST_BYTES: usize = 4_096;

pub(super) struct Ntfy {
    client: Client,
    url: Url,
    topic: String,
    token: Option<Secret>,
}

impl Ntfy {
    pub(super) fn new(place: &Place) -> Result<Self, ChannelError> {
        let carries = if place.secret.is_some() { Carries::Secret } else { Carries::Message };
        let mut url = address(place.url.expose(), carries)?;
        let topic =
            url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default().to_owned();
        let is_topic = |topic: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            (1..=64).contains(&topic.len()) && topic.bytes().all(is_letter)
        };
        if !is_topic(&topic) || url.query().is_some() || url.fragment().is_some() {
            let problem = "it ends with the topic, 1 to 64 letters, digits, - and _: https://HOST/TOPIC";
            return Err(ChannelError::address(problem));
        }
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.pop().push("");
        }
        Ok(Self { client: message_client(&url)?, url, topic, token: place.secret.clone() })
    }
}

#[async_trait::async_trait]
impl Delivery for Ntfy {
    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        let priority = match message.severity() {
            Severity::Info => 2,
            Severity::Notice => 3,
            Severity::Warning => 4,
            Severity::Critical => 5,
        };
        let body = json!({
            "topic": self.topic,
            "title": message.title(),
            "message": message.body_within(MOST_BYTES, char::len_utf8),
            "priority": priority,
        });
        let mut request = self.client.post(self.url.clone()).json(&body);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose());
        }
        send(request).await
    }
}
