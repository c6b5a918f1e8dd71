//! Construction of alert channels from settings.

use crate::configuration::{
    AlertEvent, AlertSeverity, ChannelKind, ChannelSettings, LoadedConfig, Problem, Problems,
    read_private_file,
};
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_notify::{
    AlertFilter, Channel, ChannelError, ChatClient, DeliverySettings, EmailSettings, Endpoint, MessageSender,
    Secret, Severity, WallClock,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct OpenChannel {
    pub(super) name: String,
    pub(super) kind: ChannelKind,
    pub(super) filter: AlertFilter,
    pub(super) sender: Box<dyn MessageSender>,
}

pub(super) fn open_all(loaded: &LoadedConfig) -> Result<Vec<OpenChannel>, Problems> {
    let (mut open, mut problems) = (Vec::new(), Vec::new());
    let now = wall_clock();
    for (name, channel) in &loaded.config.notify.channels {
        match open_channel(loaded, name, channel, &now) {
            Ok(channels) => open.extend(channels),
            Err(problem) => problems.push(problem),
        }
    }
    Problems::check(problems).map(|()| open)
}

pub(super) fn open_chats(loaded: &LoadedConfig) -> Result<Vec<ChatClient>, Problems> {
    let notify = &loaded.config.notify;
    let asking = notify.channels.iter().filter(|(_, channel)| channel.commands);
    let open = |(name, channel): (&String, &ChannelSettings)| {
        let place = build_endpoint(loaded, name, channel)?;
        let problem = |e: ChannelError| loaded.problem(&format!("notify.channels.{name}"), e.to_string());
        ChatClient::open(&place, &notify.sender, &channel.chats).map_err(problem)
    };
    asking.map(open).collect::<Result<_, _>>().map_err(Problems::from)
}

pub(super) fn delivery_settings(loaded: &LoadedConfig) -> DeliverySettings {
    let notify = &loaded.config.notify;
    let seconds = |seconds: u32| Duration::from_secs(u64::from(seconds));
    DeliverySettings {
        queue_capacity: notify.queue as usize,
        digest_after: notify.digest_after as usize,
        digest_window: seconds(notify.digest_window_s),
        quiet_period: seconds(notify.repeat_after_s),
    }
}

pub(super) fn event_name(event: AlertEvent) -> String {
    serde_json::to_value(event).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

const fn to_severity(severity: AlertSeverity) -> Severity {
    match severity {
        AlertSeverity::Info => Severity::Info,
        AlertSeverity::Notice => Severity::Notice,
        AlertSeverity::Warning => Severity::Warning,
        AlertSeverity::Critical => Severity::Critical,
    }
}

/// Returns a clock that shows real time, because the run's clock may follow the candles instead.
fn wall_clock() -> WallClock {
    let clock = SystemClock::new();
    Arc::new(move || {
        // Adjusts the clock in case the machine was suspended.
        clock.catch_up();
        clock.now().get()
    })
}

fn open_channel(
    loaded: &LoadedConfig,
    name: &str,
    settings: &ChannelSettings,
    now: &WallClock,
) -> Result<Vec<OpenChannel>, Problem> {
    let key = |key: &str| format!("notify.channels.{name}.{key}");
    let place = build_endpoint(loaded, name, settings)?;
    let channels = match settings.kind {
        ChannelKind::Webhook => vec![(name.to_owned(), Channel::Webhook(place))],
        ChannelKind::Ntfy => vec![(name.to_owned(), Channel::Ntfy(place))],
        ChannelKind::Discord => vec![(name.to_owned(), Channel::Discord(place))],
        ChannelKind::Email => {
            let from = settings.from.clone().unwrap_or_default();
            let mail = EmailSettings { from, to: settings.to.clone(), user: settings.user.clone() };
            vec![(name.to_owned(), Channel::Email(place, mail))]
        }
        ChannelKind::Telegram => {
            let chat = |chat: &i64| (format!("{name} {chat}"), Channel::Telegram(place.clone(), *chat));
            settings.chats.iter().map(chat).collect()
        }
    };
    let names = |events: &[AlertEvent]| events.iter().copied().map(event_name).collect();
    let rules = AlertFilter {
        min_severity: to_severity(settings.minimum),
        include: names(&settings.include),
        exclude: names(&settings.exclude),
    };
    let open = |(name, channel): (String, Channel)| {
        let problem = |error: ChannelError| {
            let setting = match &error {
                ChannelError::Secret { .. } => "secret_file",
                ChannelError::Address { .. } => "url",
                ChannelError::Mailbox { .. } => "to",
            };
            loaded.problem(&key(setting), error.to_string())
        };
        let delivery = channel.open(Arc::clone(now)).map_err(problem)?;
        Ok(OpenChannel { name, kind: settings.kind, filter: rules.clone(), sender: delivery })
    };
    channels.into_iter().map(open).collect()
}

fn build_endpoint(loaded: &LoadedConfig, name: &str, channel: &ChannelSettings) -> Result<Endpoint, Problem> {
    let key = |key: &str| format!("notify.channels.{name}.{key}");
    let (url, secret) = resolve_address(loaded, name, channel)?;
    let Some(url) = url else {
        let variable = format!("CANDLEWICK_NOTIFY__CHANNELS__{}__URL", name.to_uppercase());
        let problem = format!("the channel has no address: set url, url_file or {variable}");
        return Err(loaded.problem(&key("url"), problem));
    };
    let sound = |setting: &str, text: &str| {
        let problem = "the value is empty or contains control characters";
        Secret::new(text).ok_or_else(|| loaded.problem(&key(setting), problem))
    };
    let secret = secret.map(|secret| sound("secret_file", &secret)).transpose()?;
    Ok(Endpoint { url: sound("url", &url)?, secret })
}

/// Returns a channel's address and secret. The environment takes precedence over files, and files over settings.
fn resolve_address(
    loaded: &LoadedConfig,
    name: &str,
    channel: &ChannelSettings,
) -> Result<(Option<String>, Option<String>), Problem> {
    let read = |key: &str, file: Option<&Path>| {
        let (upper, part) = (name.to_uppercase(), key.to_uppercase());
        let variable = format!("CANDLEWICK_NOTIFY__CHANNELS__{upper}__{part}");
        if let Some(value) = std::env::var_os(&variable) {
            let text =
                value.into_string().map_err(|_| loaded.problem("", format!("{variable} is not valid UTF-8")));
            return text.map(Some);
        }
        let Some(path) = file else { return Ok(None) };
        let key = format!("notify.channels.{name}.{key}_file");
        let problem = |problem| loaded.problem(&key, problem).with_value(path.display().to_string());
        read_private_file(path).map(Some).map_err(problem)
    };
    let url = read("url", channel.url_file.as_deref())?;
    Ok((url.or_else(|| channel.url.clone()), read("secret", channel.secret_file.as_deref())?))
}
