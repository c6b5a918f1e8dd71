//! The kinds of channels, and what each needs.

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

/// The time of day, in ms since 1970, UTC.
pub type WallClock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Takes messages to a receiver.
#[async_trait::async_trait]
pub trait Delivery: Send + Sync {
    /// Sends a message once.
    ///
    /// # Errors
    /// It was not taken: whether it may be later, and why not, without address or secret.
    async fn deliver(&self, message: &Message) -> Result<(), Failure>;

    /// How many alerts a message may hold.
    fn most_alerts(&self) -> usize {
        usize::MAX
    }
}

/// Where a channel leads.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its address.
    pub url: Secret,
    /// What opens it: a key, a token or a password.
    pub secret: Option<Secret>,
}

/// Whose mail it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailPlace {
    /// Who writes, such as `Candlewick <bot@example.org>`.
    pub from: String,
    /// Who is written to.
    pub to: Vec<String>,
    /// By which name the mail server knows the sender; none: it asks for none.
    pub user: Option<String>,
}

/// A channel by its kind.
#[derive(Clone, Debug)]
pub enum Channel {
    /// JSON by POST, signed as Standard Webhooks are. The secret is the key, in base64.
    Webhook(Place),
    /// A topic of an ntfy server, by the topic's address. The secret is an access token, where the server wants one.
    Ntfy(Place),
    /// A webhook of a Discord channel, by its address. It has no other secret.
    Discord(Place),
    /// A chat of a Telegram bot. The address is that of the Bot API, the secret is the bot's token.
    Telegram(Place, i64),
    /// E-mail through a server: `smtps://host` or `smtp://host` (with STARTTLS). The secret is the password.
    Email(Place, EmailPlace),
}

impl Channel {
    /// Makes ready to send through it. Nothing is asked of anybody yet.
    ///
    /// # Errors
    /// An address, a secret or a mailbox that cannot be used.
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

/// A name for a message that no other has.
pub(crate) fn new_id() -> String {
    let mut bytes = [0_u8; 16];
    // Without chance a receiver cannot tell two messages apart, which is no reason to send none.
    let _ = getrandom::fill(&mut bytes);
    format!("msg_{}", bytes.map(|byte| format!("{byte:02x}")).concat())
}
