//! Header lines for alert channels and metrics. Channel addresses may be secrets: never shown.

use candlewick_app::configuration::{AlertEvent, AlertSeverity, ChannelSettings, Loaded};

pub(super) fn onlookers_of(loaded: &Loaded) -> Vec<(&'static str, String)> {
    let config = &loaded.config;
    let labels = std::iter::once("alerts").chain(std::iter::repeat(""));
    let channels = config.notify.channels.iter().map(|(name, channel)| channel_words(name, channel));
    let mut lines: Vec<(&'static str, String)> = labels.zip(channels).collect();
    lines.extend(config.metrics.listen.map(|address| match address.port() {
        0 => ("metrics", format!("at a free port of {}, which live -v names", address.ip())),
        _ => ("metrics", format!("at http://{address}/metrics")),
    }));
    let every_s = config.heartbeat.every_s;
    lines.extend(config.heartbeat.url.as_ref().map(|_| ("heartbeat", format!("each {every_s} s"))));
    lines
}

fn channel_words(name: &str, channel: &ChannelSettings) -> String {
    let least = match channel.minimum {
        AlertSeverity::Info => "all",
        AlertSeverity::Notice => "notices and worse",
        AlertSeverity::Warning => "warnings and worse",
        AlertSeverity::Critical => "critical ones",
    };
    let events = |what: &str, events: &[AlertEvent]| {
        let names: Vec<String> = events.iter().copied().filter_map(name_of).collect();
        if names.is_empty() { String::new() } else { format!(", {what} {}", names.join(", ")) }
    };
    let (with, without) = (events("with", &channel.include), events("without", &channel.exclude));
    let commands = if channel.commands { "; answers questions" } else { "" };
    format!("{name} ({}): {least}{with}{without}{commands}", channel.kind.as_str())
}

fn name_of(event: AlertEvent) -> Option<String> {
    Some(serde_json::to_value(event).ok()?.as_str()?.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_channel_is_named_with_what_it_is_told_and_without_its_address() {
        for (settings, expected) in [
            (json!({ "kind": "ntfy", "url": "https://ntfy.sh/hush" }), "x (ntfy): notices and worse"),
            (
                json!({ "kind": "webhook", "minimum": "info", "exclude": ["opened", "venue_heard"] }),
                "x (webhook): all, without opened, venue heard",
            ),
            (
                json!({ "kind": "telegram", "minimum": "critical", "include": ["settled"], "commands": true }),
                "x (telegram): critical ones, with settled; answers questions",
            ),
        ] {
            let channel: ChannelSettings = serde_json::from_value(settings).unwrap();
            assert_eq!(channel_words("x", &channel), expected);
        }
    }
}
