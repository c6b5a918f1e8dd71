//! Telegram chat (core.telegram.org/bots/api, "sendMessage").

use super::{Delivery, Place};
use crate::alert::Severity;
use crate::failure::{ChannelError, Failure};
use crate::http::{Carries, address, message_client, send};
use crate::message::Message;
use reqwest::Client;
use serde_json::json;
use url::Url;

/// Maximum message length in UTF-16 units.
const MOST: usize = 4_096;

pub(super) struct Telegram {
    client: Client,
    url: Url,
    chat: i64,
}

impl Telegram {
    pub(super) fn new(place: &Place, chat: i64) -> Result<Self, ChannelError> {
        let url = method(place, "sendMessage")?;
        Ok(Self { client: message_client(&url)?, url, chat })
    }
}

/// Returns the URL of a Bot API method. It is secret, as it contains the token.
pub(crate) fn method(place: &Place, name: &str) -> Result<Url, ChannelError> {
    let mut url = address(place.url.expose(), Carries::Secret)?;
    let token = place.secret.as_ref().map(|token| token.expose().to_owned()).unwrap_or_default();
    let is_token = |token: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let number = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        token
            .split_once(':')
            .is_some_and(|(id, rest)| number(id) && !rest.is_empty() && rest.bytes().all(is_letter))
    };
    if !is_token(&token) {
        return Err(ChannelError::secret("the token of a Telegram bot is a number, a colon and letters"));
    }
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop_if_empty().push(&format!("bot{token}")).push(name);
    }
    Ok(url)
}

#[async_trait::async_trait]
impl Delivery for Telegram {
    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        let body = json!({
            "chat_id": self.chat,
            "text": message.chat_text(MOST, char::len_utf16),
            "disable_notification": message.severity() < Severity::Warning,
            "link_preview_options": { "is_disabled": true },
        });
        send(self.client.post(self.url.clone()).json(&body)).await
    }
}
