//! Notification channels and their settings. All channels except e-mail use HTTP requests.

use crate::alert::{Alert, Message, Severity};
use crate::email::Email;
use crate::http::{ChannelError, Failure, Secret, UrlContent, build_client, parse_address, send};
use crate::worker::DELIVERY_TIMEOUT;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder};
use ring::hmac;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// Optional prefix of a webhook key (Standard Webhooks 1.0.0).
const WEBHOOK_KEY_PREFIX: &str = "whsec_";
const WEBHOOK_KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
const MAX_WEBHOOK_ALERTS: usize = 100;
/// Maximum ntfy message size. The server turns a longer message into an attachment.
const MAX_NTFY_BYTES: usize = 4_096;
/// Maximum message length of Discord, in UTF-16 code units.
const MAX_DISCORD_UNITS: usize = 2_000;
pub(crate) const MAX_TELEGRAM_UNITS: usize = 4_096;
const SUPPRESS_EMBEDS_FLAG: u32 = 1 << 2;

/// Clock that returns the current time in Unix milliseconds.
pub type WallClock = Arc<dyn Fn() -> i64 + Send + Sync>;

#[async_trait::async_trait]
pub trait MessageSender: Send + Sync {
    /// Tries once to send a message. Error texts contain neither the address nor a secret.
    async fn deliver(&self, message: &Message) -> Result<(), Failure>;

    fn max_alerts(&self) -> usize {
        usize::MAX
    }
}

#[derive(Clone, Debug)]
pub struct Endpoint {
    pub url: Secret,
    pub secret: Option<Secret>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailSettings {
    pub from: String,
    pub to: Vec<String>,
    pub user: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Channel {
    /// JSON that is sent by POST and signed according to Standard Webhooks. The secret is the signing key in base64.
    Webhook(Endpoint),
    /// An ntfy topic, addressed by its URL. The secret is an optional access token.
    Ntfy(Endpoint),
    /// A Discord webhook, addressed by its URL. The URL is the only secret.
    Discord(Endpoint),
    /// A Telegram chat, with the address of the Bot API and the chat id. The secret is the bot token.
    Telegram(Endpoint, i64),
    /// E-mail via `smtps://host`, or `smtp://host` with STARTTLS. The secret is the password.
    Email(Endpoint, EmailSettings),
}

struct HttpChannel {
    client: Client,
    url: Url,
    service: Service,
}

enum Service {
    /// Webhook (Standard Webhooks 1.0.0, standardwebhooks.com).
    Webhook { key: Option<hmac::Key>, now: WallClock },
    /// ntfy (docs.ntfy.sh/publish, "Publish as JSON").
    Ntfy { topic: String, token: Option<Secret> },
    /// Discord (discord.com/developers/docs, "Execute Webhook").
    Discord,
    /// Telegram (core.telegram.org/bots/api, "sendMessage").
    Telegram { chat: i64 },
}

#[derive(Serialize)]
struct WebhookBody<'a> {
    r#type: &'static str,
    timestamp: String,
    data: WebhookData<'a>,
}

#[derive(Serialize)]
struct WebhookData<'a> {
    sender: &'a str,
    dropped: u64,
    alerts: &'a [Alert],
}

impl Channel {
    pub fn open(&self, now: WallClock) -> Result<Box<dyn MessageSender>, ChannelError> {
        let (url, service) = match self {
            Self::Webhook(endpoint) => {
                let url = parse_address(&endpoint.url, UrlContent::Message)?;
                let key = endpoint.secret.as_ref().map(parse_webhook_key).transpose()?;
                (url, Service::Webhook { key, now })
            }
            Self::Ntfy(endpoint) => {
                let (url, topic) = split_ntfy_url(endpoint)?;
                (url, Service::Ntfy { topic, token: endpoint.secret.clone() })
            }
            Self::Discord(endpoint) => {
                let url = parse_address(&endpoint.url, UrlContent::Secret)?;
                if endpoint.secret.is_some() {
                    return Err(ChannelError::invalid_secret(
                        "a Discord channel needs no secret besides its address: remove the secret",
                    ));
                }
                (url, Service::Discord)
            }
            Self::Telegram(endpoint, chat) => {
                (telegram_method_url(endpoint, "sendMessage")?, Service::Telegram { chat: *chat })
            }
            Self::Email(endpoint, mail) => return Ok(Box::new(Email::new(endpoint, mail)?)),
        };
        Ok(Box::new(HttpChannel { client: build_client(&url, DELIVERY_TIMEOUT)?, url, service }))
    }
}

#[async_trait::async_trait]
impl MessageSender for HttpChannel {
    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        let request = self.client.post(self.url.clone());
        let request = match &self.service {
            Service::Webhook { key, now } => build_webhook_request(request, message, key.as_ref(), now())?,
            Service::Ntfy { topic, token } => {
                let priority = match message.severity() {
                    Severity::Info => 2,
                    Severity::Notice => 3,
                    Severity::Warning => 4,
                    Severity::Critical => 5,
                };
                let request = request.json(&json!({
                    "topic": topic,
                    "title": message.title(),
                    "message": message.render_body(MAX_NTFY_BYTES, char::len_utf8),
                    "priority": priority,
                }));
                match token {
                    Some(token) => request.bearer_auth(token.expose()),
                    None => request,
                }
            }
            // Disables mentions, because bot names and venue texts must not notify users.
            Service::Discord => request.json(&json!({
                "content": escape_for_discord(&message.chat_text(MAX_DISCORD_UNITS, discord_length)),
                "allowed_mentions": { "parse": [] },
                "flags": SUPPRESS_EMBEDS_FLAG,
            })),
            Service::Telegram { chat } => request.json(&json!({
                "chat_id": chat,
                "text": message.chat_text(MAX_TELEGRAM_UNITS, char::len_utf16),
                "disable_notification": message.severity() < Severity::Warning,
                "link_preview_options": { "is_disabled": true },
            })),
        };
        send(request).await
    }

    fn max_alerts(&self) -> usize {
        if matches!(self.service, Service::Webhook { .. }) { MAX_WEBHOOK_ALERTS } else { usize::MAX }
    }
}

fn parse_webhook_key(secret: &Secret) -> Result<hmac::Key, ChannelError> {
    let text = secret.expose();
    let bytes = STANDARD.decode(text.strip_prefix(WEBHOOK_KEY_PREFIX).unwrap_or(text)).ok();
    let bytes = bytes.filter(|bytes| WEBHOOK_KEY_BYTES.contains(&bytes.len())).ok_or_else(|| {
        let problem = "webhook keys are 24 to 64 bytes in base64: create one with `openssl rand -base64 32`";
        ChannelError::invalid_secret(problem)
    })?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

fn build_webhook_request(
    request: RequestBuilder,
    message: &Message,
    key: Option<&hmac::Key>,
    now: i64,
) -> Result<RequestBuilder, Failure> {
    let moment = DateTime::from_timestamp_millis(now).unwrap_or_default();
    let body = WebhookBody {
        r#type: if message.alerts.len() == 1 { "alert" } else { "digest" },
        timestamp: moment.to_rfc3339_opts(SecondsFormat::Millis, true),
        data: WebhookData { sender: &message.sender, dropped: message.dropped, alerts: &message.alerts },
    };
    let body =
        serde_json::to_string(&body).map_err(|error| Failure::Permanent { reason: error.to_string() })?;
    let seconds = now.div_euclid(1_000);
    let mut request = request.header(CONTENT_TYPE, "application/json");
    request = request.header("webhook-id", &message.id).header("webhook-timestamp", seconds.to_string());
    if let Some(key) = key {
        request = request.header("webhook-signature", sign_webhook(key, &message.id, seconds, &body));
    }
    Ok(request.body(body))
}

fn sign_webhook(key: &hmac::Key, id: &str, seconds: i64, body: &str) -> String {
    format!("v1,{}", STANDARD.encode(hmac::sign(key, format!("{id}.{seconds}.{body}").as_bytes())))
}

/// Splits the channel's URL into the URL of the ntfy server and the topic (the last path segment).
fn split_ntfy_url(endpoint: &Endpoint) -> Result<(Url, String), ChannelError> {
    let carries = if endpoint.secret.is_some() { UrlContent::Secret } else { UrlContent::Message };
    let mut url = parse_address(&endpoint.url, carries)?;
    let topic = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default().to_owned();
    let is_topic = (1..=64).contains(&topic.len()) && is_url_safe(&topic);
    if !is_topic || url.query().is_some() || url.fragment().is_some() {
        let problem =
            "the address must end with a topic of 1 to 64 letters, digits, - and _: https://HOST/TOPIC";
        return Err(ChannelError::invalid_address(problem));
    }
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop().push("");
    }
    Ok((url, topic))
}

/// Returns the URL of a Bot API method. The URL is secret, because it contains the token.
pub(crate) fn telegram_method_url(endpoint: &Endpoint, name: &str) -> Result<Url, ChannelError> {
    let mut url = parse_address(&endpoint.url, UrlContent::Secret)?;
    let token = endpoint.secret.as_ref().map(Secret::expose).unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_token = |(id, rest): (&str, &str)| is_number(id) && !rest.is_empty() && is_url_safe(rest);
    if !token.split_once(':').is_some_and(is_token) {
        return Err(ChannelError::invalid_secret("a Telegram token has the form 123456:ABC-DEF"));
    }
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop_if_empty().push(&format!("bot{token}")).push(name);
    }
    Ok(url)
}

fn is_url_safe(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns whether Discord treats the character as markup. Venue text could forge links with markup characters.
const fn is_markup(letter: char) -> bool {
    matches!(letter, '\\' | '*' | '_' | '~' | '`' | '|' | '[' | ']' | '<' | '>' | '#')
}

const fn discord_length(letter: char) -> usize {
    letter.len_utf16() + if is_markup(letter) { 1 } else { 0 }
}

fn escape_for_discord(text: &str) -> String {
    text.chars().flat_map(|letter| is_markup(letter).then_some('\\').into_iter().chain([letter])).collect()
}
