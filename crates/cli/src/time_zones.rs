//! Time zones of a configuration that may not be what is meant: those whose clocks are not put forward in summer, and those whose sign
//! is turned.

use candlewick_app::configuration::Loaded;
use candlewick_app::signals::zones_of_list;
use candlewick_engine::{BotSettings, without_summer_time, zone_note};
use candlewick_records::counted;
use candlewick_rules::quoted_texts;
use candlewick_sdk::Registry;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is to be said of each such zone, behind the places where it stands.
pub(crate) fn zone_notes(loaded: &Loaded, registry: &Registry) -> Vec<String> {
    let config = &loaded.config;
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |note: Option<String>, place: String| {
        let Some(note) = note else { return };
        let places = places.entry(note).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    };
    add(zone_note(&config.risk.day_timezone), "risk.day_timezone".to_owned());
    for hours in &config.risk.hours {
        add(zone_note(&hours.timezone), "risk.hours".to_owned());
    }
    add(zone_note(&config.signals.timezone), "signals.timezone".to_owned());
    for bot in &config.bots {
        for zone in zones_of_bot(bot, registry) {
            add(zone_note(&zone), format!("bot \"{}\"", bot.name));
        }
    }
    for (zone, lines) in zones_of_list(loaded) {
        if zone != config.signals.timezone {
            // A line that says UTC-3 has the zone of the other sign, and means it.
            let note = without_summer_time(&zone).map(str::to_owned);
            add(note, format!("{} of the list", counted(lines, "line", "lines")));
        }
    }
    places.into_iter().map(|(note, places)| format!("{}: {note}", places.join(", "))).collect()
}

/// Every zone of a bot's rules, filters and gate, among other texts.
fn zones_of_bot(bot: &BotSettings, registry: &Registry) -> Vec<String> {
    // What cannot be built has a message of its own.
    let mut texts = quoted_texts(registry, (&bot.strategy, &bot.params)).unwrap_or_default();
    days_of_gates(&bot.params, &mut texts);
    texts
}

/// The zones of all `day_timezone` inside.
fn days_of_gates(params: &Value, zones: &mut Vec<String>) {
    match params {
        Value::Object(keys) => {
            zones.extend(keys.get("day_timezone").and_then(Value::as_str).map(str::to_owned));
            keys.values().for_each(|value| days_of_gates(value, zones));
        }
        Value::Array(values) => values.iter().for_each(|value| days_of_gates(value, zones)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
