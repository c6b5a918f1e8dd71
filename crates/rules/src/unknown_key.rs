//! What is said of a key that a rule's file does not have: where it stands, or how a rule says it.

use crate::catalog;
use crate::error::{nearest, suggestion};
use crate::rule::Side;
use candlewick_sdk::{OwnSetting, setting_of_other_programs, setting_of_own_name};

/// Words for a higher price, and for a lower one, that people take for the key of a condition.
const HIGHER: [&str; 14] = [
    "buy",
    "call",
    "long",
    "up",
    "higher",
    "rise",
    "compra",
    "buys",
    "long_condition",
    "buy_condition",
    "long_entry",
    "enter_long",
    "entry_long",
    "buy_when",
];
const LOWER: [&str; 14] = [
    "sell",
    "put",
    "short",
    "down",
    "lower",
    "fall",
    "venda",
    "sells",
    "short_condition",
    "sell_condition",
    "short_entry",
    "enter_short",
    "entry_short",
    "sell_when",
];
/// What is said of keys that stand elsewhere.
const ELSEWHERE: &str =
    "stakes and ladders stand with the bot of a configuration, stops, pauses and trading hours in its [risk]";
const CONDITION: &str = "a rule says when to buy and when to sell: buy = \"rsi(14) < 30\", sell = \"rsi(14) > 70\", or one of the two";
const LENGTH: &str = "the duration of a trade is expiry = \"05:00\", minutes and seconds";
const PARAMETERS: &str = "numbers of your own stand below the line [parameters], one a line: period = { default = 14, min = 2, max = 50 }";
const NO_EXIT: &str =
    "leave it out: a fixed-time trade ends when its time is up, and no price or condition ends it sooner";
const HOURS: &str =
    "write between('08:00', '17:00') into the condition, or hours of all bots into [risk] of a configuration";
const ABOUT: &str = "leave it out, or say it in about = \"...\"";

/// Keys that a rule says otherwise than a configuration.
const CURES: [(&[&str], &str); 6] = [
    (
        &["entry", "condition", "conditions", "when", "signal", "entry_condition", "if", "rule", "rules"],
        CONDITION,
    ),
    (
        &[
            "close_type",
            "duration",
            "expiration",
            "expiration_time",
            "expiry_time",
            "expires",
            "time",
            "bars",
            "candles",
        ],
        LENGTH,
    ),
    (
        &["params", "param", "parameter", "inputs", "input", "variables", "vars", "settings", "indicators"],
        PARAMETERS,
    ),
    (&["exit", "close", "stop_loss", "stoploss", "take_profit", "takeprofit", "sl", "tp"], NO_EXIT),
    (
        &[
            "hours",
            "session",
            "sessions",
            "trading_hours",
            "start_time",
            "end_time",
            "start_hour",
            "end_hour",
            "days",
        ],
        HOURS,
    ),
    (
        &[
            "name",
            "title",
            "version",
            "author",
            "description",
            "comment",
            "note",
            "notes",
            "magic",
            "id",
            "label",
        ],
        ABOUT,
    ),
];

/// Keys that are said otherwise in the table of a parameter.
const OF_PARAMETERS: [(&[&str], &str); 5] = [
    (&["defval", "value", "initial", "start"], "write default = 14"),
    (&["minval", "from", "low"], "write min = 2"),
    (&["maxval", "to", "high"], "write max = 50"),
    (&["range", "values", "options", "bounds"], "write min = 2, max = 50"),
    (&["type", "kind"], "leave it out: a default without a point is a whole number"),
];

/// What is said of a key that there is not; none where something else is wrong. `value` is what the file has behind it.
pub(crate) fn cure_of_key(message: &str, value: Option<&str>) -> Option<String> {
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    let known: Vec<&str> = names.collect();
    let plain = unknown.to_lowercase().replace('-', "_");
    let is_top = known.contains(&Side::Buy.key());
    let cure = if is_top { of_rule(&plain) } else { of_parameter(&plain) };
    let own = |value: &str| of_own_name(unknown, value);
    let is_slip = nearest(unknown, known.iter().copied()).is_some();
    let cure = cure.or_else(|| value.filter(|_| is_top && !is_slip).and_then(own));
    let cure = cure.unwrap_or_else(|| {
        let near = suggestion(unknown, known.iter().copied());
        let elsewhere =
            if is_top && !near.starts_with("did") { format!("; {ELSEWHERE}") } else { String::new() };
        format!("{near}{elsewhere}")
    });
    let step =
        if unknown == "step" { "; a step stands in the search, as --param period=2..50:2" } else { "" };
    Some(format!("there is no key `{unknown}`: {cure}{step}"))
}

fn of_rule(plain: &str) -> Option<String> {
    let side = [(&HIGHER, Side::Buy), (&LOWER, Side::Sell)];
    if let Some((_, side)) = side.into_iter().find(|(words, _)| words.contains(&plain)) {
        return Some(format!("did you mean `{}`?", side.key()));
    }
    if let Some((_, cure)) = CURES.iter().find(|(names, _)| names.contains(&plain)) {
        return Some((*cure).to_owned());
    }
    match setting_of_other_programs(plain).or_else(|| setting_of_own_name(plain)) {
        Some(OwnSetting::Key { section: "bots", written }) => {
            let longer = "; a value of longer candles is written with @, such as sma(50)@1h";
            let longer = if written.starts_with("interval") { longer } else { "" };
            return Some(format!(
                "it stands with the bot of a configuration: {written} in its [[bots]]{longer}"
            ));
        }
        Some(OwnSetting::Key { section, written }) => {
            return Some(format!("it stands in a configuration: {written} below [{section}]"));
        }
        Some(OwnSetting::None(why)) => return Some(why.to_owned()),
        None => {}
    }
    let part = "{ strategy = \"rules\", params = { file = ... } }";
    let (kind, params) = match plain {
        "gate" | "filters" | "invert" => {
            ("of this rule alone", format!("first_of = [{part}], {plain} = ..."))
        }
        "filter" => ("of this rule alone", format!("first_of = [{part}], filters = [...]")),
        "first_of" => ("of several rules", format!("first_of = [{part}, ...]")),
        "vote" => ("of several rules", format!("vote = [{part}, ...]")),
        "quorum" | "within" => ("of several rules", format!("vote = [{part}, ...], {plain} = ...")),
        _ => return None,
    };
    Some(format!(
        "it belongs to a combination, which may be {kind}: in a section [[bots]] strategy = \"combine\", params = {{ {params} }}"
    ))
}

/// What is said of a name that somebody gave to a value.
fn of_own_name(unknown: &str, value: &str) -> Option<String> {
    let value = value.trim();
    if value.parse::<f64>().is_ok() && catalog::names().any(|known| known == unknown) {
        return Some(format!(
            "`{unknown}` has a meaning of its own in a rule: a number of your own stands below the line [parameters] under another name, as \
             my_{unknown} = {{ default = {value} }}"
        ));
    }
    if value.parse::<f64>().is_ok() {
        return Some(format!(
            "a number of your own stands below the line [parameters]: {unknown} = {{ default = {value} }}"
        ));
    }
    let is_calculation = value.starts_with(['"', '\'']) && value.contains(['(', '<', '>']);
    is_calculation
        .then(|| "a rule gives no names to values: write it into buy and sell, where it is used".to_owned())
}

fn of_parameter(plain: &str) -> Option<String> {
    OF_PARAMETERS.iter().find(|(names, _)| names.contains(&plain)).map(|(_, cure)| (*cure).to_owned())
}

#[cfg(test)]
mod tests {
    use crate::file::Written;

    /// What is said of a file, without what is shown of it.
    fn said(file: &str) -> String {
        let wrong = Written::of_file(file).unwrap_err();
        wrong.message.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn keys_of_other_places_and_programs_are_told_where_they_stand() {
        for (line, cure) in [
            (
                "interval = \"1m\"",
                "it stands with the bot of a configuration: interval = \"1m\" in its [[bots]]; a value of longer candles",
            ),
            ("timeframe = \"M5\"", "interval = \"1m\" in its [[bots]]"),
            ("symbol = \"EURUSD\"", "symbol = \"EURUSD\" in its [[bots]]"),
            (
                "params = { period = 14 }",
                "numbers of your own stand below the line [parameters], one a line: period = { default = 14",
            ),
            ("[inputs]\nperiod = 14", "numbers of your own stand below the line [parameters]"),
            (
                "period = 14",
                "a number of your own stands below the line [parameters]: period = { default = 14 }",
            ),
            ("fast = \"ema(9)\"", "a rule gives no names to values"),
            ("close_type = \"05:00\"", "the duration of a trade is expiry = \"05:00\""),
            ("expiration = 5", "the duration of a trade is expiry = \"05:00\""),
            ("stop_loss = 10", "a fixed-time trade ends when its time is up"),
            ("exit = \"rsi(14) > 50\"", "a fixed-time trade ends when its time is up"),
            ("amount = 10", "stake = { kind = \"fixed\", amount = 10.0 } in its [[bots]]"),
            ("gale = 2", "stake = { kind = \"martingale\", amount = 5.0"),
            ("hours = [\"08:00\", \"17:00\"]", "write between('08:00', '17:00') into the condition"),
            (
                "gate = { after_virtual_losses = 2 }",
                "strategy = \"combine\", params = { first_of = [{ strategy = \"rules\"",
            ),
            ("invert = true", "invert = ... }"),
            ("filter = []", "params = { file = ... } }], filters = [...] }"),
            (
                "quorum = 2",
                "params = { vote = [{ strategy = \"rules\", params = { file = ... } }, ...], quorum = ... }",
            ),
            (
                "first_of = []",
                "params = { first_of = [{ strategy = \"rules\", params = { file = ... } }, ...] }",
            ),
            ("rsi = 14", "`rsi` has a meaning of its own in a rule"),
            ("hour = 9", "my_hour = { default = 9 }"),
            ("cooldown = 10", "pauses = [{ after = 1"),
            ("max_trades = 3", "max_trades_per_day = 10 below [risk]"),
            ("payout = 80", "payout_percent = 80.0 below [simulation]"),
            ("version = 5", "leave it out, or say it in about"),
            ("entry = \"rsi(14) < 30\"", "a rule says when to buy and when to sell: buy ="),
            ("enter_long = \"rsi(14) < 30\"", "did you mean `buy`?"),
            ("put = \"rsi(14) > 70\"", "did you mean `sell`?"),
            ("paramters = {}", "did you mean `parameters`?"),
            ("[buy]\nwhen = \"rsi(14) < 30\"", "a condition is one text: buy = \"rsi(14) < 30\""),
            ("about = 5", "use a text in quotes, not 5"),
            (
                "[parameters]\nbuy = \"rsi(14) < 30\"",
                "buy is no parameter: it stands above the line [parameters]",
            ),
            (
                "[parameters]\np = { default = 14, type = \"int\" }",
                "leave it out: a default without a point is a whole number",
            ),
            ("[parameters]\np = { defval = 14 }", "write default = 14"),
            ("[parameters]\np = { default = 14, range = [2, 50] }", "write min = 2, max = 50"),
            ("[parameters]\np = { default = true }", "use a number, not true"),
            ("[parameters]\np = { default = nan }", "use a number: nan and inf are none here"),
        ] {
            let told = said(line);
            assert!(told.contains(cure), "{line}: {told}");
        }
    }
}
