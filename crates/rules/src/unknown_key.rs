//! Suggestions for unknown keys of a rule file.

use crate::catalog;
use crate::error::render_counterpart;
use crate::rule::Side;
use candlewick_sdk::{AliasContext, Counterpart, counterparts, find_setting, nearest};

pub(crate) fn hint_for_key(message: &str, value: Option<&str>) -> Option<String> {
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    let known: Vec<&str> = names.collect();
    let is_rule = known.contains(&Side::Buy.key());
    let context = if is_rule { AliasContext::RuleKey } else { AliasContext::RuleParameter };
    let is_global = |setting: &&Counterpart| !matches!(setting, Counterpart::Name { .. });
    let setting = || {
        let foreign = counterparts(AliasContext::Combination, unknown)
            .chain(counterparts(AliasContext::Setting, unknown))
            .find(is_global);
        foreign.or_else(|| find_setting(unknown).filter(is_global)).filter(|_| is_rule)
    };
    let in_other_case = known.iter().find(|own| own.eq_ignore_ascii_case(unknown));
    let in_other_case = in_other_case.map(|own| format!("did you mean `{own}`?"));
    let near = || nearest(unknown, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    let named_value = || value.filter(|_| is_rule).and_then(|value| hint_for_value(unknown, value));
    let foreign = || counterparts(context, unknown).next().or_else(setting).map(render_counterpart);
    let hint = in_other_case.or_else(foreign).or_else(near).or_else(named_value);
    let hint = hint.unwrap_or_else(|| format!("known are: {}", known.join(", ")));
    Some(format!("unknown key `{unknown}`: {hint}"))
}

fn hint_for_value(name: &str, value: &str) -> Option<String> {
    let value = value.trim();
    if value.parse::<f64>().is_ok() {
        let is_taken = catalog::names().any(|known| known == name);
        let prefix = if is_taken { "my_" } else { "" };
        return Some(format!(
            "parameters belong below the line [parameters]: {prefix}{name} = {{ default = {value} }}"
        ));
    }
    let is_calculation = value.starts_with(['"', '\'']) && value.contains(['(', '<', '>']);
    is_calculation.then(|| "values have no names: write it into buy and sell, where it is used".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::file::Written;

    #[test]
    fn proposes_the_key_or_the_place_that_is_meant() {
        for (line, expected) in [
            (
                "interval = \"1m\"",
                "it belongs in a configuration: interval = \"1m\" in [[bots]]; a value of longer",
            ),
            ("timeframe = \"M5\"", "interval = \"1m\" in [[bots]]"),
            ("symbol = \"EURUSD\"", "symbol = \"EURUSD\" in [[bots]]"),
            (
                "params = { period = 14 }",
                "parameters belong below the line [parameters]: period = { default = 14",
            ),
            ("[inputs]\nperiod = 14", "parameters belong below the line [parameters]"),
            ("period = 14", "parameters belong below the line [parameters]: period = { default = 14 }"),
            ("fast = \"ema(9)\"", "values have no names"),
            ("close_type = \"05:00\"", "the duration of a trade is expiry = \"05:00\""),
            ("expiration = 5", "the duration of a trade is expiry = \"05:00\""),
            ("stop_loss = 10", "a fixed-time trade ends when its time is up"),
            ("exit = \"rsi(14) > 50\"", "a fixed-time trade ends when its time is up"),
            ("amount = 10", "stake = { kind = \"fixed\", amount = 10.0 } in [[bots]]"),
            ("gale = 2", "stake = { kind = \"martingale\", amount = 5.0"),
            ("hours = [\"08:00\", \"17:00\"]", "write between('08:00', '17:00') into the condition"),
            (
                "gate = { after_virtual_losses = 2 }",
                "strategy = \"combine\", params = { first_of = [{ strategy = \"rules\"",
            ),
            ("filter = []", "it belongs to a combination"),
            ("quorum = 2", "params = { vote = [{ strategy = \"rules\""),
            ("rsi = 14", "my_rsi = { default = 14 }"),
            ("hour = 9", "my_hour = { default = 9 }"),
            ("cooldown = 10", "pauses = [{ after = 1"),
            ("max_trades = 3", "max_trades_per_day = 10 in [risk]"),
            ("payout = 80", "payout_percent = 80.0 in [simulation]"),
            ("version = 5", "leave it out, or write about"),
            ("entry = \"rsi(14) < 30\"", "a rule has a condition to buy, one to sell, or both: buy ="),
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
                "a default without a point is a whole number",
            ),
            ("[parameters]\np = { defval = 14 }", "write default = 14"),
            ("[parameters]\np = { default = 14, range = [2, 50] }", "write min = 2, max = 50"),
            ("[parameters]\np = { default = true }", "use a number, not true"),
            ("[parameters]\np = { default = nan }", "use a number: nan and inf are none here"),
        ] {
            let message = Written::of_file(line).unwrap_err().message;
            let said = message.lines().next().unwrap_or_default();
            assert!(said.contains(expected), "{line}: {said}");
        }
    }
}
