//! Discord webhook (discord.com/developers/docs, "Execute Webhook").

use super::{Delivery, Place};
use crate::failure::{ChannelError, Failure};
use crate::http::{Carries, address, message_client, send};
use crate::message::Message;
use reqwest::Client;
use serde_json::json;
use url::Url;

/// Maximum message length in UTF-16 units.
const MOST: usize = 2_000;
const SUPPRESS_EMBEDS: u32 = 1 << 2;

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

/// Returns whether to escape a character: venue text must not forge links.
const fn is_mark(letter: char) -> bool {
    matches!(letter, '\\' | '*' | '_' | '~' | '`' | '|' | '[' | ']' | '<' | '>' | '#')
}

const fn length(letter: char) -> usize {
    letter.len_utf16() + if is_mark(letter) { 1 } else { 0 }
}

fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_mark(letter) {
            shown.push('\\');
        }
        shown.push(letter);
    }
    shown
}

#[async_trait::async_trait]
impl Delivery for Discord {
    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        // Nobody is called by what a bot's name or a venue's text might hold.
        let body = json!({
            "content": escaped(&message.chat_text(MOST, length)),
            "allowed_mentions": { "parse": [] },
            "flags": SUPPRESS_EMBEDS,
        });
        send(self.client.post(self.url.clone()).json(&body)).await
    }
}
