//! A key at the wrong place: which sections have one of its name.

use super::KeyPath;
use super::misplaced::of_params;
use super::near_keys::of_another_section;
use serde_json::Value as Json;

/// As many sections are named at most.
const MOST_NAMED: usize = 4;

/// What is said of the hours of a single bot.
pub(super) const HOURS_OF_ONE_BOT: &str = "hours of [risk] bind all bots; those of one are a filter of its strategy: strategy = \"combine\", params = { first_of = \
     [{ strategy = ... }], filters = [{ hours = [\"08:00\", \"17:00\"], timezone = \"Europe/London\" }] }";

/// Where a limit of a single bot stands.
pub(super) const LIMIT_OF_ONE_BOT: &str =
    "a limit of one bot stands below [risk.bots.NAME], with the name of the bot";

/// What is meant by a key that this place does not have: the sections that do, or the parameters of a strategy.
pub(super) fn meant_elsewhere(root: &Json, path: &KeyPath, key: &str) -> Option<String> {
    if key == "hours" && is_of_one_bot(path) {
        return Some(HOURS_OF_ONE_BOT.to_owned());
    }
    let is_top = path.to_string() == key;
    if !is_top && section(root, key, &root["properties"][key]).is_some() {
        return Some(format!("[{key}] is a section of its own, and no part of another"));
    }
    let of_bots = &resolve(root, &root["properties"]["risk"])["properties"]["bots"]["additionalProperties"];
    let limits: Vec<&str> = entries(resolve(root, of_bots)).map(|(name, _)| name.as_str()).collect();
    if path.to_string().starts_with("bots[") && limits.contains(&key) {
        return Some(format!("{LIMIT_OF_ONE_BOT}: {key} = ..."));
    }
    if let Some(meant) = of_another_section(path, key, &limits) {
        return Some(meant);
    }
    let having = sections_with(root, key);
    if having.is_empty() || having.len() > MOST_NAMED {
        return of_params(key);
    }
    let sections = having.join(" or ");
    Some(if is_top {
        format!("{key} of {sections} is meant? It stands below that line")
    } else {
        format!("{key} stands in {sections}")
    })
}

/// Whether a key stands among what is of a single bot.
pub(super) fn is_of_one_bot(path: &KeyPath) -> bool {
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

    #[test]
    fn a_key_of_another_program_is_answered_with_what_stands_for_it_here() {
        let root = serde_json::to_value(schemars::schema_for!(Config)).unwrap();
        let limit = "a limit of one bot stands below [risk.bots.NAME], with the name of the bot: ";
        let stake =
            "it stands with each bot, in its section [[bots]]: stake = { kind = \"fixed\", amount = 10.0 }";
        for (place, expected) in [
            ("bots[0].enabled", "leave it out: what is written trades".to_owned()),
            ("risk.leverage", "leave it out: fixed-time trades have none, the stake is all".to_owned()),
            ("magic", "leave it out: the name of a bot".to_owned()),
            ("bots[0].cooldown", "it stands below [risk]: pauses = [{".to_owned()),
            ("lot", stake.to_owned()),
            ("money", "a bot and its stake stand below [[bots]], limits below [risk]".to_owned()),
            ("timeframe", "it stands with each bot, in its section [[bots]]: interval = \"1m\"".to_owned()),
            ("bots[0].payout", "it stands below [simulation]: payout_percent = 80.0".to_owned()),
            ("bots[0].trading_hours", "hours of [risk] bind all bots; those of one are".to_owned()),
            ("trading_hours", "it stands below [risk]: hours = [{ from".to_owned()),
            // What ends no trade is not told of the end of one.
            ("bots[0].max_trades", format!("{limit}max_trades_per_day = 10")),
            ("bots[0].max_open_trades", format!("{limit}max_open_trades = ...")),
            (
                "bots[0].stop_loss",
                format!("a fixed-time trade ends by its time alone; {limit}daily_loss_limit = 50.0"),
            ),
            (
                "take_profit",
                "a fixed-time trade ends by its time alone; it stands below [risk]: daily_profit_target"
                    .to_owned(),
            ),
            ("bots[0].account", "[account] is a section of its own".to_owned()),
            ("token", "the credentials of the venue come from the environment".to_owned()),
        ] {
            let key = place.rsplit('.').next().unwrap();
            let told = meant_elsewhere(&root, &KeyPath::parse(place), key).unwrap_or_default();
            assert!(told.starts_with(&expected), "{place}: {told}");
        }
        // The password of a channel is none of the venue.
        let told = meant_elsewhere(&root, &KeyPath::parse("notify.channels.mail.password"), "password");
        assert_eq!(told, None);
    }
}
