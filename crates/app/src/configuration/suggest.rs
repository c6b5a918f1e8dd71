//! Suggestions for unknown keys, and for wrong or missing values.

use super::KeyPath;
use super::check::Schema;
use candlewick_sdk::{
    AliasContext, AliasTarget, CloseType, Interval, find_alias_targets, find_setting, nearest_name,
};
use figment::value::Value;

/// Sections in which keys of other programs are recognised. Excludes `notify`, whose tokens are not the venue's.
const TRADING_SECTIONS: [&str; 5] = ["account.", "bots[", "broker.", "risk.", "simulation."];
const MAX_SUGGESTED_SECTIONS: usize = 4;
const MAX_LISTED_KEYS: usize = 24;

pub(super) fn suggest_key(root: Schema<'_>, path: &KeyPath, key: &str, known: &[&str]) -> String {
    let is_known = |own: &&AliasTarget| own.key().is_some_and(|own| known.contains(&own));
    let in_section = find_alias_targets(AliasContext::Setting, key).find(is_known);
    in_section
        .map(|own| format!("did you mean {}?", own.text()))
        .or_else(|| suggest_split_key(path, key, known))
        .or_else(|| suggest_equivalent_setting(root, path, key))
        .or_else(|| suggest_section(root, path, key))
        .or_else(|| nearest_name(key, known.iter().copied()).map(|near| format!("did you mean \"{near}\"?")))
        .unwrap_or_else(|| match known.len() {
            ..=MAX_LISTED_KEYS => format!("known are: {}", known.join(", ")),
            _ => "`candlewick config show` lists all keys".to_owned(),
        })
}

fn suggest_split_key(path: &KeyPath, key: &str, known: &[&str]) -> Option<String> {
    let parts = |table: &&str| Some(((*table).to_owned(), key.strip_prefix(*table)?.strip_prefix('_')?));
    let (section, rest) = known.iter().filter(|_| is_top_level(path, key)).find_map(parts)?;
    let variable = format!("CANDLEWICK_{section}__{rest}").to_uppercase();
    Some(format!("did you mean {rest} in [{section}]? The environment variable is {variable}"))
}

fn suggest_equivalent_setting(root: Schema<'_>, path: &KeyPath, key: &str) -> Option<String> {
    let place = path.to_string();
    let of_bot = place.starts_with("bots[");
    let limits = root.property("risk").and_then(|risk| risk.property("bots"));
    let is_limit =
        |key: &str| limits.is_some_and(|limits| limits.child("additionalProperties").property(key).is_some());
    if of_bot && is_limit(key) {
        return Some(format!("write {key} = ... in [risk.bots.NAME], where NAME is the name of the bot"));
    }
    let is_of_bot = of_bot || place.starts_with("risk.bots.");
    let is_trading = is_top_level(path, key) || TRADING_SECTIONS.iter().any(|start| place.starts_with(start));
    let mut bot_settings = find_alias_targets(AliasContext::BotSetting, key).filter(|_| is_of_bot);
    let mut settings = find_alias_targets(AliasContext::Combination, key)
        .chain(find_alias_targets(AliasContext::Setting, key))
        .filter(|_| is_trading);
    let is_global = |setting: &&AliasTarget| !matches!(setting, AliasTarget::Name { .. });
    let found = bot_settings.next().or_else(|| settings.find(is_global))?;
    let AliasTarget::Key { section, example } = found else { return Some(found.text().to_owned()) };
    Some(match section.as_str() {
        "risk" if of_bot && found.key().is_some_and(is_limit) => {
            format!("write {example} in [risk.bots.NAME], where NAME is the name of the bot")
        }
        "bots" => format!("write {example} in [[bots]]"),
        _ => format!("write {example} in [{section}]"),
    })
}

fn is_top_level(path: &KeyPath, key: &str) -> bool {
    path.to_string() == key
}

fn suggest_section(root: Schema<'_>, path: &KeyPath, key: &str) -> Option<String> {
    let is_top = is_top_level(path, key);
    if !is_top && root.property(key).and_then(|schema| as_section(key, schema)).is_some() {
        return Some(format!("write [{key}] as a section at the top level"));
    }
    let sections = sections_with_key(root, key);
    if sections.is_empty() || sections.len() > MAX_SUGGESTED_SECTIONS {
        return None;
    }
    let below = if is_top { ": move the key below that line" } else { "" };
    Some(format!("{key} belongs in {}{below}", sections.join(" or ")))
}

fn sections_with_key(root: Schema<'_>, key: &str) -> Vec<String> {
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (header, schema) in root.properties().filter_map(|(name, schema)| as_section(name, schema)) {
        let named = header.trim_matches(['[', ']']).to_owned();
        let below =
            schema.properties().filter_map(|(name, schema)| as_section(&format!("{named}.{name}"), schema));
        inner.extend(below.filter(|(_, schema)| schema.property(key).is_some()).map(|(header, _)| header));
        outer.extend(schema.property(key).map(|_| header));
    }
    if outer.is_empty() { inner } else { outer }
}

fn as_section<'a>(name: &str, schema: Schema<'a>) -> Option<(String, Schema<'a>)> {
    let found = if schema.has_keyword("items") {
        (format!("[[{name}]]"), schema.child("items"))
    } else if schema.has_keyword("additionalProperties") && !schema.has_keyword("properties") {
        (format!("[{name}.NAME]"), schema.child("additionalProperties"))
    } else {
        (format!("[{name}]"), schema)
    };
    found.1.has_keyword("properties").then_some(found)
}

pub(super) fn suggest_choice(given: &str, allowed: &[&str]) -> Option<String> {
    let is_stake = allowed.contains(&"share");
    let stake = find_alias_targets(AliasContext::StakeKind, given).next().filter(|_| is_stake);
    let near = || nearest_name(given, allowed.iter().copied()).map(|one| format!("did you mean \"{one}\"?"));
    stake.map(|stake| stake.text().to_owned()).or_else(near)
}

pub(super) fn suggest_stake(key: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(_, text) if key == "stake" => text.trim().to_owned(),
        Value::Num(_, number) if key == "stake" => super::show::toml_number(*number),
        _ => return None,
    };
    let digits = text.trim_end_matches('%').trim_start_matches('$').trim();
    let share = format!("{{ kind = \"share\", percent = {digits} }}");
    if digits.parse().is_ok_and(|number: f64| number.is_finite() && number > 0.0) {
        return Some(if text.ends_with('%') {
            format!("use {share}")
        } else {
            format!("use {{ kind = \"fixed\", amount = {digits} }}, or {share} for a share of the balance")
        });
    }
    let is_stake = |setting: &&AliasTarget| setting.key() == Some("stake");
    let named =
        find_alias_targets(AliasContext::Setting, &text).find(is_stake).or_else(|| find_setting("stake"))?;
    Some(format!("use {}; the kinds of stake are fixed, share, gale, soros and kelly", named.text()))
}

pub(super) fn example_value(key: &str) -> Option<&'static str> {
    find_setting(key).map(AliasTarget::text)
}

pub(super) fn suggest_duration_text(path: &KeyPath, number: &Value) -> Option<String> {
    let text = number.to_u128().or_else(|| u128::try_from(number.to_i128()?).ok())?.to_string();
    match path.last() {
        "close_type" | "expiry" => text.parse::<CloseType>().err()?.suggestion().map(str::to_owned),
        "interval" => text.parse::<Interval>().err()?.suggestion().map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    const RISK: &[&str] =
        &["daily_loss_limit", "daily_loss_limit_percent", "daily_profit_target", "max_loss_streak", "pauses"];
    const BOT: &[&str] = &["name", "symbol", "interval", "strategy", "stake", "close_type"];

    #[test]
    fn suggests_the_intended_key() {
        let schema = serde_json::to_value(schemars::schema_for!(Config)).unwrap();
        for (place, known, expected) in [
            ("risk.daily_stop", RISK, "did you mean daily_loss_limit = 50.0?"),
            ("risk.Stop-Win", RISK, "did you mean daily_profit_target = 50.0?"),
            ("risk.max_losses", RISK, "did you mean max_loss_streak = 3?"),
            ("risk.pause_after_losses", RISK, "did you mean pauses = [{ after = 3, of = \"losses\""),
            ("risk.stop_loss_percent", RISK, "did you mean daily_loss_limit_percent = 5.0?"),
            ("risk.session.stop_win", &["loss_limit", "profit_target"], "did you mean profit_target?"),
            ("risk.timezone", &["day_timezone", "hours"], "did you mean day_timezone, or timezone in"),
            ("bots[0].timeframe", BOT, "did you mean interval = \"1m\"?"),
            ("bots[0].stake.levels", &["kind", "amount", "wins"], "did you mean wins = 2, for 3 stakes"),
            ("bots[0].stake.gales", &["kind", "factor", "levels"], "did you mean levels = 3, the first"),
            ("bots[0].cooldown", BOT, "write pauses = [{ after = 1"),
            ("lot", &["bots"], "write stake = { kind = \"fixed\", amount = 10.0 } in [[bots]]"),
            ("timeframe", &["bots"], "write interval = \"1m\" in [[bots]]"),
            ("bots[0].payout", BOT, "write payout_percent = 80.0 in [simulation]"),
            ("trading_hours", &["bots"], "write hours = [{ from = \"08:00\""),
            ("take_profit", &["bots"], "write daily_profit_target = 50.0 in [risk]"),
            ("bots[0].max_trades", BOT, "write max_trades_per_day = 10 in [risk.bots.NAME]"),
            ("bots[0].max_open_trades", BOT, "write max_open_trades = ... in [risk.bots.NAME]"),
            ("bots[0].stop_loss", BOT, "write daily_loss_limit = 50.0 in [risk.bots.NAME]"),
            ("bots[0].trading_hours", BOT, "hours of [risk] bind all bots; those of one bot are a filter"),
            ("risk.bots.b.hours", RISK, "hours of [risk] bind all bots; those of one bot are a filter"),
            ("account.hours", &["mode"], "hours belongs in [risk]"),
            ("bots[0].enabled", BOT, "leave it out: comment a bot out"),
            ("risk.leverage", RISK, "leave it out: a fixed-time trade can lose no more"),
            ("token", &["bots"], "the credentials of the venue come from the environment"),
            ("risk.gate", RISK, "it belongs to a combination"),
            ("bots[0].file", BOT, "it belongs in the params of a bot"),
            ("risk.mode", RISK, "mode belongs in [account]"),
            ("risk.symbol", RISK, "symbol belongs in [[bots]]"),
            ("account.loss_limit", &["mode"], "loss_limit belongs in [risk.session]"),
            ("bots[0].for_s", BOT, "for_s belongs in [[risk.pauses]]"),
            ("account.session_loss_limit", &["mode"], "session_loss_limit belongs in [risk.bots.NAME]"),
            ("mode", &["account"], "mode belongs in [account]: move the key below that line"),
            ("risk_max_open_trades", &["risk"], "did you mean max_open_trades in [risk]? The environment"),
            ("bots[0].account", BOT, "write [account] as a section at the top level"),
            // Misspelled and unknown keys. The password of an alert channel gets no hint about venue credentials.
            ("risk.daily_los_limit", RISK, "did you mean \"daily_loss_limit\"?"),
            ("risk.xyz", RISK, "known are: daily_loss_limit, "),
            ("risk.xyz", &["same key"; 25], "`candlewick config show` lists all keys"),
            ("notify.channels.mail.password", &["kind"], "known are: kind"),
        ] {
            let key = place.rsplit('.').next().unwrap();
            let found = suggest_key(Schema::new(&schema), &KeyPath::parse(place), key, known);
            assert!(found.starts_with(expected), "{place}: {found}");
        }
    }

    #[test]
    fn suggests_a_table_for_a_stake_written_as_a_value() {
        let fixed = "use { kind = \"fixed\", amount = 10 }, or { kind = \"share\", percent = 10 } for";
        for (given, expected) in [
            (Value::from(10), fixed),
            (Value::from("10"), fixed),
            (Value::from("$10"), fixed),
            (Value::from("2.5 %"), "use { kind = \"share\", percent = 2.5 }"),
            (Value::from("Gale"), "use stake = { kind = \"martingale\", amount"),
            (Value::from("-1"), "use stake = { kind = \"fixed\", amount = 10.0 }; the kinds"),
        ] {
            let found = suggest_stake("stake", &given).unwrap();
            assert!(found.starts_with(expected), "{given:?}: {found}");
        }
        assert_eq!(suggest_stake("amount", &Value::from(10)), None);
        assert_eq!(suggest_stake("stake", &Value::from(true)), None);
    }
}
