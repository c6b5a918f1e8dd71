//! Parts of a rule that compare the candles of a bot with one another, in a value that changes with longer candles alone.

use crate::rule::{Condition, one_line};
use crate::syntax::{Form, PartId};
use candlewick_sdk::Interval;

/// The functions that compare neighbouring candles.
const COMPARE: [&str; 3] = ["rising", "falling", "change"];

/// What `falling(ema(50)@15m, 1)` and its like come to in a condition: each with what is probably meant.
pub(crate) fn stepped_values(condition: &Condition, own: Interval) -> impl Iterator<Item = String> {
    (0..condition.tree.len()).filter_map(move |part| words_of(condition, part, own))
}

/// What a part comes to, where it is such a one.
fn words_of(condition: &Condition, part: PartId, own: Interval) -> Option<String> {
    let Condition { text, tree } = condition;
    let Form::Call { name, arguments, .. } = &tree.part(part).form else { return None };
    let compares = COMPARE.contains(&name.as_str());
    let Form::At { of, interval, .. } = &tree.part(*arguments.first().filter(|_| compares)?).form else {
        return None;
    };
    let longer: Interval = interval.parse().ok()?;
    let times = longer.length().get() / own.length().get();
    let shown = |part: PartId| one_line(text.get(tree.part(part).place.clone()).unwrap_or_default());
    let whole = shown(part);
    let given: Vec<String> = [*of].iter().chain(&arguments[1..]).map(|part| shown(*part)).collect();
    let meant = format!("{name}({})@{interval}", given.join(", "));
    let count = match arguments.get(1).map(|argument| &tree.part(*argument).form) {
        None => 1.0,
        Some(Form::Number(number)) => *number,
        // A parameter may be as many as the longer candle has.
        Some(_) => return None,
    };
    let comes_to = match name.as_str() {
        _ if times < 2 => return None,
        "change" if count > 1.0 => return None,
        "change" => format!("is 0 at all others than one candle in {times}"),
        _ if count > 1.0 => "never holds".to_owned(),
        _ => format!("can hold at one candle in {times} alone"),
    };
    Some(format!(
        "`{whole}` {comes_to}: it compares candles of {own}, and its value changes every {times}. Is `{meant}` meant, which compares those of \
         {interval}?"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NAME, doubtful_parts};
    use candlewick_sdk::Registry;
    use serde_json::json;

    fn check(buy: &str, expected: &[&str]) {
        let registry = Registry::default();
        let own: Interval = "1m".parse().unwrap();
        let found = doubtful_parts(&registry, (NAME, &json!({ "buy": buy })), own).unwrap();
        let begins = |(found, expected): (&String, &&str)| found.starts_with(*expected);
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(begins), "{buy}: {found:?}");
    }

    #[test]
    fn steps_of_longer_candles_are_told_where_neighbours_are_compared() {
        check(
            "falling(ema(50)@15m, 1) and rsi(14) > 60",
            &[
                "`falling(ema(50)@15m, 1)` can hold at one candle in 15 alone: it compares candles of 1m, and its value changes every 15. Is \
               `falling(ema(50), 1)@15m` meant, which compares those of 15m?",
            ],
        );
        check("rising(close@5m, 2) or rising(close@5m, 2)", &["`rising(close@5m, 2)` never holds"]);
        check("change(close@5m) > 0", &["`change(close@5m)` is 0 at all others than one candle in 5"]);
        // Five 1m candles back is a 5m candle back; what is meant is written; the bot's own length changes with each candle.
        check("change(close@5m, 5) > 0 and falling(ema(50), 2)@15m and falling(close@1m, 2)", &[]);
        check("crosses_above(close, ema(50)@15m) and close@15m > close@15m[1]", &[]);
        // A parameter may be five.
        let registry = Registry::default();
        let params = json!({ "buy": "change(close@5m, n) > 0", "parameters": { "n": { "default": 5, "min": 1, "max": 9 } } });
        assert!(doubtful_parts(&registry, (NAME, &params), "1m".parse().unwrap()).unwrap().is_empty());
    }
}
