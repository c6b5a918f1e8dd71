//! A key at the wrong place: which sections have one of its name.

use super::KeyPath;
use super::misplaced::{limit_of_bot, of_params};
use serde_json::Value as Json;

/// As many sections are named at most.
const MOST_NAMED: usize = 4;

/// What is meant by a key that this place does not have: the sections that do, or the parameters of a strategy.
pub(super) fn meant_elsewhere(root: &Json, path: &KeyPath, key: &str) -> Option<String> {
    if key == "hours" && is_of_one_bot(path) {
        return Some(
            "hours of [risk] bind all bots; those of one are a filter of its strategy: strategy = \"combine\", params = { first_of = [{ strategy = ... }], \
             filters = [{ hours = [\"08:00\", \"17:00\"], timezone = \"Europe/London\" }] }"
                .to_owned(),
        );
    }
    if let Some(limit) = limit_of_bot(key).filter(|_| path.to_string().starts_with("bots[")) {
        return Some(limit);
    }
    let having = sections_with(root, key);
    if having.is_empty() || having.len() > MOST_NAMED {
        return of_params(key);
    }
    let sections = having.join(" or ");
    Some(if path.to_string() == key {
        format!("{key} of {sections} is meant? It stands below that line")
    } else {
        format!("{key} stands in {sections}")
    })
}

/// Whether a key stands among what is of a single bot.
fn is_of_one_bot(path: &KeyPath) -> bool {
    let path = path.to_string();
    path.starts_with("risk.bots.") || path.starts_with("bots[")
}

/// The schema that a reference or an option stands for.
pub(super) fn resolve<'a>(root: &'a Json, schema: &'a Json) -> &'a Json {
    let referred = |schema: &'a Json| match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap_or(&Json::Null),
        None => schema,
    };
    let schema = referred(schema);
    let Some(alternatives) = schema["anyOf"].as_array() else { return schema };
    let mut real = alternatives.iter().filter(|one| one["type"] != "null");
    match (real.next(), real.next()) {
        (Some(only), None) => referred(only),
        _ => schema,
    }
}

/// The sections that have a key, as they are written: those at the top, or else those inside of one.
fn sections_with(root: &Json, key: &str) -> Vec<String> {
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (name, schema) in entries(root) {
        let Some((section, schema)) = section(root, name, schema) else { continue };
        if schema["properties"].get(key).is_some() {
            outer.push(section.clone());
        }
        for (below, schema) in entries(schema) {
            let named = section.trim_matches(['[', ']']);
            let found = self::section(root, &format!("{named}.{below}"), schema);
            inner.extend(found.filter(|(_, schema)| schema["properties"].get(key).is_some()));
        }
    }
    if outer.is_empty() { inner.into_iter().map(|(section, _)| section).collect() } else { outer }
}

fn entries(schema: &Json) -> impl Iterator<Item = (&String, &Json)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// How a section of this name is written, and what stands in it; none of a plain value.
fn section<'a>(root: &'a Json, name: &str, schema: &'a Json) -> Option<(String, &'a Json)> {
    let schema = resolve(root, schema);
    let found = if schema["items"].is_object() {
        (format!("[[{name}]]"), resolve(root, &schema["items"]))
    } else if schema["additionalProperties"].is_object() && schema["properties"].is_null() {
        (format!("[{name}.NAME]"), resolve(root, &schema["additionalProperties"]))
    } else {
        (format!("[{name}]"), schema)
    };
    found.1["properties"].is_object().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Config;

    #[test]
    fn hours_of_one_bot_are_answered_with_the_filter_of_a_combination() {
        let root = serde_json::to_value(schemars::schema_for!(Config)).unwrap();
        for (place, is_filter) in
            [("risk.bots.b.hours", true), ("bots[0].hours", true), ("account.hours", false)]
        {
            let told = meant_elsewhere(&root, &KeyPath::parse(place), "hours").unwrap();
            let words = "filters = [{ hours = [\"08:00\", \"17:00\"], timezone";
            assert_eq!(told.contains(words), is_filter, "{place}: {told}");
            assert_eq!(told.contains("hours stands in [risk]"), !is_filter, "{place}: {told}");
        }
    }

    #[test]
    fn a_key_of_another_section_is_answered_with_that_section() {
        let root = serde_json::to_value(schemars::schema_for!(Config)).unwrap();
        for (place, expected) in [
            ("risk.mode", "mode stands in [account]"),
            ("risk.symbol", "symbol stands in [[bots]]"),
            ("bots[0].payout_percent", "payout_percent stands in [simulation]"),
            ("account.loss_limit", "loss_limit stands in [risk.session]"),
            ("bots[0].for_s", "for_s stands in [[risk.pauses]]"),
            ("account.session_loss_limit", "session_loss_limit stands in [risk.bots.NAME]"),
            (
                "bots[0].stop_loss",
                "a fixed-time trade ends by its time alone, and limits of a bot stand below [risk.bots.NAME], with the name of the bot: \
                 daily_loss_limit = ...",
            ),
            (
                "bots[0].file",
                "file stands in the params of a bot: params = { file = ... } with strategy = \"rules\"",
            ),
            ("mode", "mode of [account] is meant? It stands below that line"),
            (
                "risk.gate",
                "gate stands in the params of a bot: params = { gate = ... } with strategy = \"combine\"",
            ),
            (
                "bots[0].buy",
                "buy stands in the params of a bot: params = { buy = ... } with strategy = \"rules\"",
            ),
            ("risk.xyz", ""),
        ] {
            let key = place.rsplit('.').next().unwrap();
            let told = meant_elsewhere(&root, &KeyPath::parse(place), key);
            assert_eq!(told.unwrap_or_default(), expected, "{place}");
        }
    }
}
