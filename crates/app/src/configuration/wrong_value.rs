//! Suggestions for wrong or missing values of the configuration.

use super::KeyPath;
use candlewick_sdk::{AliasContext, CloseType, Counterpart, Interval, counterparts, find_setting, nearest};
use figment::value::Value;

pub(super) fn suggest_choice(given: &str, allowed: &[&str]) -> Option<String> {
    let is_stake = allowed.contains(&"share");
    let stake = counterparts(AliasContext::StakeKind, given).next().filter(|_| is_stake);
    let near = || nearest(given, allowed.iter().copied()).map(|near| format!("did you mean \"{near}\"?"));
    stake.map(|stake| stake.text().to_owned()).or_else(near)
}

pub(super) fn suggest_stake(key: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(_, text) if key == "stake" => text.trim().to_owned(),
        Value::Num(_, number) if key == "stake" => super::show::number(*number),
        _ => return None,
    };
    let digits = text.trim_end_matches('%').trim_start_matches('$').trim();
    let share = format!("{{ kind = \"share\", percent = {digits} }}");
    if digits.parse().is_ok_and(|number: f64| number.is_finite() && number > 0.0) {
        return Some(if text.ends_with('%') {
            format!("use {share}")
        } else {
            format!("use {{ kind = \"fixed\", amount = {digits} }}, or {share} for a part of the balance")
        });
    }
    let is_stake = |setting: &&Counterpart| setting.key() == Some("stake");
    let named =
        counterparts(AliasContext::Setting, &text).find(is_stake).or_else(|| find_setting("stake"))?;
    Some(format!("use {}; the kinds are fixed, share, gale, soros and kelly", named.text()))
}

pub(super) fn example_of(key: &str) -> Option<&'static str> {
    find_setting(key).map(Counterpart::text)
}

pub(super) fn text_of_number(path: &KeyPath, number: &Value) -> Option<String> {
    let text = number.to_u128().or_else(|| u128::try_from(number.to_i128()?).ok())?.to_string();
    match path.last() {
        "close_type" | "expiry" => text.parse::<CloseType>().err()?.meant().map(str::to_owned),
        "interval" => text.parse::<Interval>().err()?.meant().map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_table_of_a_stake_written_as_a_value() {
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
