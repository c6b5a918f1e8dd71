//! Prices that are compared with a channel which their own candle is part of, so that they can never lie beyond it.

use crate::impossible::{number_of, text_of};
use crate::rule::Condition;
use crate::syntax::{Form, Operator, PartId};

/// What lies between the low and the high of its candle.
const PRICES: [&str; 6] = ["open", "high", "low", "close", "median", "typical"];

/// An end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Upper,
    Lower,
}

/// A value without what shifts it: how many candles ago it is of, and of which longer candles.
struct Unshifted<'c> {
    part: PartId,
    back: f64,
    longer: Option<&'c str>,
}

/// Each comparison of a condition with an end of `donchian` that its own candle decides, with what is meant.
pub(crate) fn inside_own_channel(condition: &Condition) -> impl Iterator<Item = String> {
    (0..condition.tree.len()).filter_map(move |part| words_of(condition, part))
}

fn words_of(condition: &Condition, part: PartId) -> Option<String> {
    let (mut lower, mut higher, may_be_equal) = sides(condition, part)?;
    // `close - donchian(20).upper > 0` asks the same.
    if let Some((one, other)) = difference_beside_zero(condition, lower, higher) {
        (lower, higher) = (one, other);
    }
    let (price, end, channel, is_within) = match (end_of(condition, lower), end_of(condition, higher)) {
        (Some((End::Upper, channel)), None) => (higher, End::Upper, channel, false),
        (None, Some((End::Lower, channel))) => (lower, End::Lower, channel, false),
        (None, Some((End::Upper, channel))) => (lower, End::Upper, channel, true),
        (Some((End::Lower, channel)), None) => (higher, End::Lower, channel, true),
        _ => return None,
    };
    let name = price_name(condition, price)?;
    let candle = unshifted(condition, price)?;
    if !is_in_channel(condition, &candle, &channel) {
        return None;
    }
    // A new high or low itself is asked for so.
    let own_end = if end == End::Upper { "high" } else { "low" };
    let says = match (is_within, may_be_equal) {
        (false, false) => "never holds".to_owned(),
        (false, true) if name != own_end => {
            format!("holds only where the {name} is itself the {own_end}est of all")
        }
        (true, true) => "always holds".to_owned(),
        _ => return None,
    };
    let channel_text = text_of(condition, channel.part);
    let longer = channel.longer.map_or_else(String::new, |interval| format!("@{interval}"));
    Some(format!(
        "`{}` {says}: the channel of a candle has that candle inside. Compare with the channel of the candle before, `{channel_text}[{}]{longer}`",
        text_of(condition, part),
        candle.back + 1.0,
    ))
}

/// What has to be lower and what higher where a comparison or crossing holds, and whether it holds where they are equal.
fn sides(condition: &Condition, part: PartId) -> Option<(PartId, PartId, bool)> {
    match &condition.tree.part(part).form {
        Form::Binary { operator, left, right } => match operator {
            Operator::Less | Operator::LessOrEqual => {
                Some((*left, *right, *operator == Operator::LessOrEqual))
            }
            Operator::Greater | Operator::GreaterOrEqual => {
                Some((*right, *left, *operator == Operator::GreaterOrEqual))
            }
            _ => None,
        },
        Form::Call { name, arguments, .. } => match (name.as_str(), &arguments[..]) {
            ("crosses_above", [one, other]) => Some((*other, *one, false)),
            ("crosses_below", [one, other]) => Some((*one, *other, false)),
            _ => None,
        },
        _ => None,
    }
}

/// The lower and the higher of two values of which the difference is compared with 0.
fn difference_beside_zero(condition: &Condition, lower: PartId, higher: PartId) -> Option<(PartId, PartId)> {
    let is_zero = |part: PartId| number_of(condition, part).is_some_and(|number| number.abs() < f64::EPSILON);
    let difference = |part: PartId| match condition.tree.part(part).form {
        Form::Binary { operator: Operator::Subtract, left, right } => Some((left, right)),
        _ => None,
    };
    match (is_zero(lower), is_zero(higher)) {
        (true, false) => difference(higher).map(|(from, taken)| (taken, from)),
        (false, true) => difference(lower),
        _ => None,
    }
}

/// Which end of a channel a value is, and whose.
fn end_of(condition: &Condition, part: PartId) -> Option<(End, Unshifted<'_>)> {
    let channel = unshifted(condition, part)?;
    let Form::Line { of, name, .. } = &condition.tree.part(channel.part).form else { return None };
    let is_donchian = matches!(&condition.tree.part(*of).form, Form::Call { name, .. } if name == "donchian");
    match name.as_str() {
        "upper" if is_donchian => Some((End::Upper, channel)),
        "lower" if is_donchian => Some((End::Lower, channel)),
        _ => None,
    }
}

/// The name of a price of a candle.
fn price_name(condition: &Condition, part: PartId) -> Option<&str> {
    match &condition.tree.part(unshifted(condition, part)?.part).form {
        Form::Name(name) => PRICES.iter().copied().find(|price| price == name),
        _ => None,
    }
}

/// A value, the candles that it is earlier by, and its interval; none where both shift it in an order that mixes candles.
fn unshifted(condition: &Condition, part: PartId) -> Option<Unshifted<'_>> {
    let (part, longer) = match &condition.tree.part(part).form {
        Form::At { of, interval, .. } => (*of, Some(interval.as_str())),
        _ => (part, None),
    };
    let (part, back) = match condition.tree.part(part).form {
        Form::Back { of, by } => (of, number_of(condition, by)?),
        _ => (part, 0.0),
    };
    let is_shifted = matches!(condition.tree.part(part).form, Form::Back { .. } | Form::At { .. });
    (!is_shifted).then_some(Unshifted { part, back, longer })
}

/// Whether the candle of a price is one of those that a channel is made of.
fn is_in_channel(condition: &Condition, candle: &Unshifted<'_>, channel: &Unshifted<'_>) -> bool {
    let Form::Line { of, .. } = condition.tree.part(channel.part).form else { return false };
    let period = match &condition.tree.part(of).form {
        Form::Call { arguments, .. } => arguments.first().and_then(|period| number_of(condition, *period)),
        _ => None,
    };
    // A period that is a parameter is 1 at least.
    let candles = period.unwrap_or(1.0);
    candle.longer == channel.longer && channel.back <= candle.back && candle.back < channel.back + candles
}

#[cfg(test)]
mod tests {
    use crate::{NAME, doubtful_parts, entry, held_conditions};
    use candlewick_sdk::testkit::random_walk;
    use candlewick_sdk::{BotContext, Expiry, Interval, Registry};
    use serde_json::json;

    fn found(buy: &str) -> Vec<String> {
        let mut params = json!({ "buy": buy });
        if buy.contains("(n)") {
            params["parameters"] = json!({ "n": { "default": 20, "min": 1, "max": 50 } });
        }
        doubtful_parts(&Registry::default(), (NAME, &params), Interval::MINUTE).unwrap()
    }

    /// On how many candles of chance a condition holds, and on how many it is looked at.
    fn held(buy: &str) -> (u64, u64) {
        let params = json!({ "buy": buy });
        let registry = Registry::default().with_entry(entry()).unwrap();
        let bot = BotContext {
            bot: "a".to_owned(),
            symbol: "BTCUSDT".parse().unwrap(),
            interval: Interval::MINUTE,
            expiry: Expiry::minutes(1).unwrap(),
            longer_share_percent: None,
        };
        let held = held_conditions(&registry, (NAME, &params), &bot, &random_walk(7, 4_000)).unwrap();
        (held[0].held, held[0].candles)
    }

    #[test]
    fn a_price_beyond_the_channel_of_its_own_candle_is_answered_with_the_one_before() {
        for (buy, says, cure) in [
            ("close > donchian(20).upper", "never holds", "`donchian(20).upper[1]`"),
            ("donchian(20).upper < close", "never holds", "`donchian(20).upper[1]`"),
            ("close < donchian(20).lower", "never holds", "`donchian(20).lower[1]`"),
            ("donchian( 20 ).lower > typical", "never holds", "`donchian( 20 ).lower[1]`"),
            ("high > donchian(n).upper", "never holds", "`donchian(n).upper[1]`"),
            ("crosses_above(close, donchian(20).upper)", "never holds", "`donchian(20).upper[1]`"),
            ("crosses_below(donchian(20).upper, close)", "never holds", "`donchian(20).upper[1]`"),
            ("crosses_below(close, donchian(20).lower)", "never holds", "`donchian(20).lower[1]`"),
            ("close - donchian(20).upper > 0", "never holds", "`donchian(20).upper[1]`"),
            ("0 < donchian(20).lower - close", "never holds", "`donchian(20).lower[1]`"),
            ("not (close <= donchian(20).upper)", "always holds", "`donchian(20).upper[1]`"),
            (
                "close >= donchian(20).upper",
                "holds only where the close is itself the highest of all",
                "[1]`",
            ),
            ("donchian(20).lower >= close", "holds only where the close is itself the lowest of all", "[1]`"),
            ("close[1] > donchian(20).upper[1]", "never holds", "`donchian(20).upper[2]`"),
            ("close[1] > donchian(20).upper", "never holds", "`donchian(20).upper[2]`"),
            ("close@15m > donchian(20).upper@15m", "never holds", "`donchian(20).upper[1]@15m`"),
            ("(close > donchian(20).upper)@15m", "never holds", "`donchian(20).upper[1]`"),
        ] {
            let told = found(buy);
            let is_it = matches!(&told[..], [words] if words.contains(says) && words.ends_with(cure));
            assert!(is_it, "{buy}: {told:?}");
        }
        for buy in [
            "close > donchian(20).upper[1] or close[1] > donchian(20).upper[2]",
            "high >= donchian(20).upper or donchian(20).lower >= low",
            "close > donchian(20).upper@15m or close@15m > donchian(20).upper",
            "close[20] > donchian(20).upper or close[1] > donchian(n).upper",
            "close < donchian(20).upper or close > donchian(20).middle",
            "ema(5) > donchian(20).upper or close > bollinger(20, 2).upper",
            "close - donchian(20).upper > -0.001",
        ] {
            assert_eq!(found(buy), [""; 0], "{buy}");
        }
    }

    #[test]
    fn what_is_told_is_so_on_candles_of_chance() {
        for buy in [
            "close > donchian(20).upper",
            "crosses_below(close, donchian(5).lower)",
            "close[1] > donchian(20).upper",
            "0 < donchian(20).lower - close",
        ] {
            assert_eq!(held(buy).0, 0, "{buy}");
        }
        let (held_so_often, candles) = held("typical <= donchian(20).upper");
        assert_eq!(held_so_often, candles);
        // What is proposed holds now and then.
        assert!(held("close > donchian(20).upper[1]").0 > 20);
        assert!(held("close[3] > donchian(3).upper").0 > 20);
    }
}
