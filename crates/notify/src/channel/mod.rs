//! Notification channels and their settings.

mod discord;
mod email;
mod ntfy;
mod telegram;
mod webhook;

pub(crate) use telegram::method as telegram_method;

use crate::failure::{ChannelError, Failure};
use crate::message::Message;
use crate::secret::Secret;
use std::sync::Arc;

/// Current time in Unix milliseconds.
pub type WallClock = Arc<dyn Fn() -> i64 + Send + Sync>;

#[async_trait::async_trait]
pub trait Delivery: Send + Sync {
    /// Sends a message once, without retries.
    ///
    /// # Errors
    /// Whether a retry may succeed, and a reason without address or secret.
    async fn deliver(&self, message: &Message) -> Result<(), Failure>;

    fn most_alerts(&self) -> usize {
        usize::MAX
    }
}

#[derive(Clone, Debug)]
pub struct Place {
    pub url: Secret,
    pub secret: Option<Secret>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailPlace {
    pub from: String,
    pub to: Vec<String>,
    pub user: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Channel {
    /// JSON by POST, signed as Standard Webhooks. The secret is the key in base64.
    Webhook(Place),
    /// An ntfy topic, by its URL. The secret is an optional access token.
    Ntfy(Place),
    /// A Discord webhook, by its URL. It has no other secret.
    Discord(Place),
    /// A Telegram chat by id, at the address of the Bot API. The secret is the bot's token.
    Telegram(Place, i64),
    /// E-mail by `smtps://host`, or `smtp://host` with STARTTLS. The secret is a password.
    Email(Place, EmailPlace),
}

impl Channel {
    pub fn open(&self, now: WallClock) -> Result<Box<dyn Delivery>, ChannelError> {
        Ok(match self {
            Self::Webhook(place) => Box::new(webhook::Webhook::new(place, now)?),
            Self::Ntfy(place) => Box::new(ntfy::Ntfy::new(place)?),
            Self::Discord(place) => Box::new(discord::Discord::new(place)?),
            Self::Telegram(place, chat) => Box::new(telegram::Telegram::new(place, *chat)?),
            Self::Email(place, mail) => Box::new(email::Email::new(place, mail)?),
        })
    }
}

pub(crate) fn new_id() -> String {
    let mut bytes = [0_u8; 16];
    // Without chance a receiver cannot tell two messages apart, which is no reason to send none.
    let _ = getrandom::fill(&mut bytes);
    format!("msg_{}", bytes.map(|byte| format!("{byte:02x}")).concat())
}
