//! What somebody may have meant by a value that is not allowed, or left out.

use super::KeyPath;
use candlewick_sdk::{CloseType, Interval};
use figment::value::{Dict, Value};

/// Ways to stake by the names that they have elsewhere, the kind that is meant, and how it is written.
const STAKES: [(&[&str], &str, &str); 4] = [
    (
        &["percent", "percentage", "percentual", "balance", "compound", "compounding", "proportional"],
        "share",
        "a part of the balance is kind = \"share\", percent = 0.5",
    ),
    (&["flat", "constant", "same"], "fixed", "the same amount each time is kind = \"fixed\", amount = 1.0"),
    (
        &["fibonacci", "dalembert", "d'alembert", "labouchere", "masaniello", "oscar", "progression"],
        "gale",
        "that way to stake is not among them; one that grows after a loss is kind = \"gale\", amount = 1.0, factor = 2.0, levels = 3",
    ),
    (
        &["antimartingale", "anti_martingale", "anti-martingale", "parlay", "paroli"],
        "soros",
        "profit that is staked again is kind = \"soros\", amount = 1.0, wins = 2",
    ),
];

/// What is meant by a name that is none of those allowed.
pub(super) fn meant_value(given: &str, allowed: &[&str]) -> Option<&'static str> {
    let given = given.to_lowercase();
    let stake =
        STAKES.iter().find(|(names, kind, _)| allowed.contains(kind) && names.contains(&given.as_str()));
    stake.map(|(_, _, words)| *words)
}

/// How a stake is written that was given without its table: an amount, a part of the balance or a kind alone.
pub(super) fn table_of_stake(key: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(_, text) if key == "stake" => text.trim().to_lowercase(),
        Value::Num(_, number) if key == "stake" => super::show::number(*number),
        _ => return None,
    };
    let share = text.strip_suffix('%').map(str::trim);
    let digits = share.unwrap_or(&text).trim_start_matches('$').trim();
    let number = digits.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    let number = number.map(|_| digits);
    Some(match (number, share, text.as_str()) {
        (Some(number), Some(_), _) => format!("use {{ kind = \"share\", percent = {number} }}"),
        (Some(number), None, _) => format!(
            "use {{ kind = \"fixed\", amount = {number} }}, or {{ kind = \"share\", percent = {number} }} for a part of the balance"
        ),
        (None, _, "gale" | "martingale") => {
            "use { kind = \"gale\", amount = 1.0, factor = 2.0, levels = 3 }".to_owned()
        }
        (None, _, "soros") => "use { kind = \"soros\", amount = 1.0, wins = 2 }".to_owned(),
        (None, _, "kelly") => "use { kind = \"kelly\", fraction = 0.25 }".to_owned(),
        _ => "use { kind = \"fixed\", amount = 10.0 }, or { kind = \"share\", percent = 0.5 } for a part of the balance; other kinds are \
              gale, soros and kelly"
            .to_owned(),
    })
}

/// How the text is written that was given as a number.
pub(super) fn text_of_number(key: &str, number: &Value) -> Option<String> {
    let text = whole(number)?.to_string();
    match key {
        "close_type" | "expiry" => text.parse::<CloseType>().err()?.meant().map(str::to_owned),
        "interval" => text.parse::<Interval>().err()?.meant().map(str::to_owned),
        _ => None,
    }
}

/// How trading hours and pauses are written, which are no text and no number.
pub(super) fn table_of_limit(path: &KeyPath, value: &Value) -> Option<String> {
    let path = path.to_string();
    // A table alone lacks brackets, which is said elsewhere.
    if matches!(value, Value::Dict(..)) {
        return None;
    }
    // The list, or one of it; no key of one.
    let is_one = |rest: &str| rest.is_empty() || rest.starts_with('[') && rest.ends_with(']');
    let is_of = |key: &str| path.strip_prefix(key).is_some_and(is_one);
    if is_of("risk.pauses") {
        return Some(
            "use pauses = [{ after = 3, of = \"losses\", for_s = 3600, scope = \"bot\" }]".to_owned(),
        );
    }
    let text = value.as_str().filter(|_| is_of("risk.hours"));
    let is_time =
        |text: &&str| text.split_once(':').is_some_and(|(_, minutes)| minutes.parse::<u8>().is_ok());
    let ends = text.and_then(|text| text.split_once('-')).map(|(from, to)| (from.trim(), to.trim()));
    let (from, to) = ends.filter(|(from, to)| is_time(from) && is_time(to)).unwrap_or(("08:00", "17:00"));
    is_of("risk.hours").then(|| {
        format!("use hours = [{{ from = \"{from}\", to = \"{to}\", timezone = \"Europe/London\" }}], UTC without a timezone")
    })
}

/// What is meant by `levels` of a soros, which counts wins.
pub(super) fn levels_of_soros(dict: &Dict, key: &str) -> Option<String> {
    let is_soros = dict.get("kind").and_then(Value::as_str) == Some("soros");
    let levels = dict.get("levels").filter(|_| is_soros && key == "levels")?;
    let levels = whole(levels).filter(|levels| *levels > 1).unwrap_or(3);
    Some(format!(
        "a soros counts the wins that are staked again: {levels} stakes in a row, the first included, are wins = {}",
        levels - 1
    ))
}

/// What is meant by a `timezone` beside trading hours, whose windows have one each.
pub(super) fn zone_of_hours(dict: &Dict, key: &str) -> Option<String> {
    let windows = dict.get("hours").filter(|_| key == "timezone")?.as_array()?;
    let window = windows.first()?.as_dict()?;
    let text = |dict: &Dict, key: &str| dict.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let ([from, to], zone) = (["from", "to"].map(|end| text(window, end)), text(dict, key));
    Some(format!(
        "the zone of trading hours stands in each of their windows: {{ from = {from:?}, to = {to:?}, timezone = {zone:?} }}; day_timezone is \
         where the day of the limits begins"
    ))
}

fn whole(value: &Value) -> Option<u128> {
    value.to_u128().or_else(|| value.to_i128().and_then(|number| u128::try_from(number).ok()))
}

/// A value for a key that every bot has.
fn example_of(path: &KeyPath, key: &str) -> Option<String> {
    let example = match key {
        "name" => "name = \"my-bot\"",
        "symbol" => "symbol = \"EURUSD\"",
        "interval" => "interval = \"1m\"",
        "strategy" => "strategy = \"rsi-reversal\"",
        "close_type" => "close_type = \"05:00\", how long a trade lasts",
        _ => return None,
    };
    let whole = path.to_string();
    let is_bot = whole.strip_prefix("bots[").is_some_and(|rest| rest.find(']') == Some(rest.len() - 1));
    is_bot.then(|| format!("such as {example}"))
}

/// What to write for a key of a bot or of a ladder that is missing; what is configured stands in `root`.
pub(super) fn cure_of_missing(root: &Value, path: &KeyPath, stake: &Dict, key: &str) -> Option<String> {
    if let Some(example) = example_of(path, key) {
        return Some(example);
    }
    let kind = stake.get("kind").and_then(Value::as_str)?;
    match (kind, key) {
        ("gale" | "martingale", "factor") => {
            let percent = payout_of(root, path)?;
            let factor = (1.0 + 100.0 / percent) * 100.0;
            Some(format!(
                "factor = {} wins back, at a payout of {percent} %, all losses and the first win's profit",
                factor.ceil() / 100.0
            ))
        }
        ("gale" | "martingale", "levels") => {
            Some("it counts the first stake too: two gales after it are levels = 3".to_owned())
        }
        ("soros", "wins") => Some("it counts the wins that are staked again, such as wins = 2".to_owned()),
        _ => None,
    }
}

/// The payout in percent that is configured for the bot that a stake is of.
fn payout_of(root: &Value, stake: &KeyPath) -> Option<f64> {
    let path = stake.to_string();
    let bot = path.strip_suffix(".stake")?;
    let number = |path: &str| match KeyPath::parse(path).deepest(root) {
        Value::Num(_, number) => number.to_f64().or_else(|| number.to_i128().map(|whole| whole as f64)),
        _ => None,
    };
    let symbol = KeyPath::parse(&format!("{bot}.symbol")).deepest(root).as_str();
    let own = symbol.and_then(|symbol| number(&format!("simulation.payout_percent_by_symbol.{symbol}")));
    own.or_else(|| number("simulation.payout_percent")).filter(|percent| *percent >= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_to_stake_of_another_program_is_answered_with_ours() {
        let kinds = ["fixed", "share", "martingale", "gale", "soros", "kelly"];
        for (name, part) in [
            ("Percent", "kind = \"share\""),
            ("compound", "kind = \"share\""),
            ("flat", "kind = \"fixed\""),
            ("masaniello", "kind = \"gale\""),
            ("paroli", "kind = \"soros\""),
            ("x", ""),
        ] {
            let told = meant_value(name, &kinds).unwrap_or_default();
            assert!(told.contains(part) && told.is_empty() == part.is_empty(), "{name}: {told}");
            assert_eq!(meant_value(name, &["all", "symbol"]), None, "of another list");
        }
    }

    #[test]
    fn a_stake_without_its_table_is_answered_with_the_one_that_is_meant() {
        let fixed = "use { kind = \"fixed\", amount = 10 }, or { kind = \"share\", percent = 10 } for";
        for (given, expected) in [
            (Value::from(10), fixed),
            (Value::from("10"), fixed),
            (Value::from("$10"), fixed),
            (Value::from("2.5 %"), "use { kind = \"share\", percent = 2.5 }"),
            (Value::from("Gale"), "use { kind = \"gale\", amount"),
            (Value::from("-1"), "use { kind = \"fixed\", amount = 10.0 }"),
        ] {
            let told = table_of_stake("stake", &given).unwrap();
            assert!(told.starts_with(expected), "{given:?}: {told}");
        }
        assert_eq!(table_of_stake("amount", &Value::from(10)), None);
        assert_eq!(table_of_stake("stake", &Value::from(true)), None);
    }

    #[test]
    fn hours_and_pauses_that_are_no_list_of_tables_are_shown_as_one() {
        let default = "use hours = [{ from = \"08:00\", to = \"17:00\", timezone";
        for (path, given, expected) in [
            ("risk.hours", Value::from("09:30 - 16:00"), "use hours = [{ from = \"09:30\", to = \"16:00\""),
            ("risk.hours", Value::from("london"), default),
            ("risk.hours[1]", Value::from("17:00"), default),
            ("risk.pauses", Value::from(5), "use pauses = [{ after = 3, of = \"losses\""),
        ] {
            let told = table_of_limit(&KeyPath::parse(path), &given).unwrap();
            assert!(told.starts_with(expected), "{path}: {told}");
        }
        for (path, given) in [
            ("risk.hours", Value::from(Dict::new())),
            ("risk.hours_of", Value::from("x")),
            ("risk.hours[0].days", Value::from("mon")),
            ("risk.pauses[0].after", Value::from("3")),
            ("bots[0].hours", Value::from("x")),
        ] {
            assert_eq!(table_of_limit(&KeyPath::parse(path), &given), None, "{path}");
        }
    }

    /// At 80 % a first loss of 10 is won back with the 8 of a win by a stake of 22.5; 85 % needs 21.77 and gets 21.8.
    #[test]
    fn a_gale_without_a_factor_is_told_the_one_that_wins_back() {
        let stake = Dict::from([("kind".to_owned(), Value::from("gale"))]);
        let table = |entries: Vec<(&str, Value)>| {
            Value::from(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Dict>())
        };
        let bot = table(vec![("symbol", Value::from("EURUSD"))]);
        for (own, expected) in [(None, "factor = 2.25 wins"), (Some(85), "factor = 2.18 wins")] {
            let by_symbol = table(own.map(|percent| ("EURUSD", Value::from(percent))).into_iter().collect());
            let simulation =
                table(vec![("payout_percent", Value::from(80.0)), ("payout_percent_by_symbol", by_symbol)]);
            let bots = Value::from(vec![bot.clone()]);
            let root = table(vec![("simulation", simulation), ("bots", bots)]);
            let told = cure_of_missing(&root, &KeyPath::parse("bots[0].stake"), &stake, "factor").unwrap();
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
