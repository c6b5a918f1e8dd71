//! A webhook of a Discord channel (discord.com/developers/docs, "Execute Webhook").

use super::{Delivery, Place};
use crate::failure::{ChannelError, Failure};
use crate::http::{Carries, address, message_client, send};
use crate::message::Message;
use reqwest::Client;
use serde_json::json;
use url::Url;

/// Letters of a message.
const MOST: usize = 2_000;
/// A message with this flag shows no previews of links.
const SUPPRESS_EMBEDS: u32 = 1 << 2;

/// A channel's webhook.
pub(super) struct Discord {
    client: Client,
    url: Url,
}

impl Discord {
    pub(super) fn new(place: &Place) -> Result<Self, ChannelError> {
        let url = address(place.url.expose(), Carries::Secret)?;
        if place.secret.is_some() {
            return Err(ChannelError::secret("a Discord channel has none beside its address"));
        }
        Ok(Self { client: message_client(&url)?, url })
    }
}

#[async_trait::async_trait]
impl Delivery for Discord {
    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        // Nobody is called by what a bot's name or a venue's text might hold.
        let body = json!({
            "content": message.chat_text(MOST),
            "allowed_mentions": { "parse": [] },
            "flags": SUPPRESS_EMBEDS,
        });
        send(self.client.post(self.url.clone()).json(&body)).await
    }
}
