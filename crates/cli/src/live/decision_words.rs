//! Screen lines for decisions: trades, refusals, verdicts and blockages.

use super::line::{BAD, BEFORE, BOLD, DIM, GOOD, NOTE};
use crate::wrap::columns_of;
use candlewick_engine::{Approved, Edge, Judgement, Lateness, Refused, RiskSettings, Rule};
use candlewick_runtime::control::Blockage;
use candlewick_sdk::{ExpirationType, Millis, MoneyScale, Reason, price_text, visible};
use console::Term;

pub(super) fn open_words(approved: &Approved, (bot, symbol): (&str, &str), scale: MoneyScale) -> String {
    let expiry = approved.expiry();
    let kind = match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => String::new(),
        other => format!(" {other}"),
    };
    let (intent, stake, direction) =
        (approved.intent(), scale.format(approved.stake()), approved.direction());
    let terms = format!("{stake} for {}{kind}   ", expiry.close_type);
    let reason = with_values(approved.reason());
    let reason = fitted(&visible(&reason), columns_of(&Term::stdout()));
    format!("#{intent} {bot} {BOLD}{direction} {symbol}{BOLD:#} {terms}{DIM}{reason}{DIM:#}")
}

fn with_values(reason: &Reason) -> String {
    let text = reason.text();
    let place_of = |name: &str| -> Option<usize> {
        let is_part = |letter: char| letter.is_alphanumeric() || "_.@[(".contains(letter);
        let found = text.match_indices(name).map(|(at, _)| (at, at + name.len()));
        let whole = found.filter(|(at, end)| {
            let before = text[..*at].chars().next_back();
            !text[*end..].starts_with(is_part) && !before.is_some_and(|one| one != '(' && is_part(one))
        });
        // Of `sma(close, 9) < close` the second is compared.
        whole.min_by_key(|(at, _)| open_brackets(&text[..*at])).map(|(_, end)| end)
    };
    let mut values: Vec<(usize, f64)> =
        reason.numbers().filter_map(|(name, value)| Some((place_of(name)?, value))).collect();
    if values.is_empty() {
        return reason.to_string();
    }
    values.sort_by_key(|(place, _)| *place);
    let (mut words, mut done) = (String::new(), 0);
    for (place, value) in values {
        words.push_str(&text[done..place]);
        words.push(' ');
        words.push_str(&price_text(value));
        done = place;
    }
    words.push_str(&text[done..]);
    for (name, value) in reason.numbers().filter(|(name, _)| place_of(name).is_none()) {
        words.extend([" ", name, "=", &price_text(value)]);
    }
    words
}

fn open_brackets(text: &str) -> usize {
    text.matches('(').count().saturating_sub(text.matches(')').count())
}

fn fitted(reason: &str, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(BEFORE));
    if reason.chars().count() <= room {
        return reason.to_owned();
    }
    reason.chars().take(room.saturating_sub(1)).chain(['\u{2026}']).collect()
}

pub(super) fn refusal_words(
    refused: &Refused,
    (bot, interval): (&str, Millis),
    received: Millis,
    (risk, suspended): (Option<&RiskSettings>, Option<&str>),
) -> String {
    let own = || risk.map_or_else(|| refused.rule.words(), |risk| refused.rule.words_within(risk, bot));
    let rule = match suspended {
        Some(reason) if refused.rule == Rule::Halted => format!("opens are suspended: {}", visible(reason)),
        _ => own(),
    };
    let lateness = Lateness::of((refused.decision_time, received), interval, risk);
    let rule = refused.rule.with_lateness(rule, lateness);
    let reason = with_values(&refused.reason);
    let reason = fitted(&visible(&reason), columns_of(&Term::stdout()));
    format!("{DIM}{bot} {} refused: {rule}   {reason}{DIM:#}", refused.direction)
}

pub(super) fn verdict_words(judgement: &Judgement, bot: &str) -> String {
    let (style, text) = match judgement.edge {
        Edge::Open => (NOTE, "is open"),
        Edge::Shown => (GOOD, "is shown"),
        Edge::Rejected => (BAD, "is ruled out"),
        Edge::NoLongerHeld => (BAD, "no longer holds"),
    };
    format!("{bot}: its edge {style}{text}{style:#} after {} trades", judgement.trades)
}

pub(super) fn blocked_words(before: &[Blockage], now: &[Blockage]) -> Vec<String> {
    let lacks = |all: &[Blockage], one: &Blockage| {
        all.iter().all(|other| (&other.rule, &other.bots) != (&one.rule, &one.bots))
    };
    let began = now.iter().filter(|one| lacks(before, one)).map(Blockage::describe);
    let ended = before.iter().filter(|one| now.iter().all(|other| other.rule != one.rule));
    began.chain(ended.map(|one| format!("lifted: {}", one.rule))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::ReasonTemplate;

    #[test]
    fn a_reason_of_a_rule_has_its_values_where_their_names_stand() {
        for (text, numbers, expected) in [
            (
                "rsi(14) < 30 and close > sma(200)",
                &[("rsi(14)", 27.4), ("close", 1.0832), ("sma(200)", 1.0811)][..],
                "rsi(14) 27.4 < 30 and close 1.0832 > sma(200) 1.0811",
            ),
            ("sma(close, 9) < close", &[("close", 2.0)], "sma(close, 9) < close 2"),
            (
                "2 of 3: (close[1] < close or crosses_above(ema(9), ema(21)))",
                &[("close[1]", 1.5), ("close", 2.5), ("ema(9)", 3.5), ("ema(21)", 3.25)],
                "2 of 3: (close[1] 1.5 < close 2.5 or crosses_above(ema(9) 3.5, ema(21) 3.25))",
            ),
            // Written otherwise than it is called: behind it.
            (
                "rsi(n) < 30 and close > 1",
                &[("rsi(14)", 27.5), ("close", 1.5)],
                "rsi(n) < 30 and close 1.5 > 1 rsi(14)=27.5",
            ),
            ("oversold", &[("rsi", 28.25), ("level", 30.0)], "oversold rsi=28.25 level=30"),
            ("closed high", &[("close", 1.5), ("h", 2.0)], "closed high close=1.5 h=2"),
        ] {
            let (names, values): (Vec<&str>, Vec<f64>) = numbers.iter().copied().unzip();
            assert_eq!(with_values(&ReasonTemplate::new(text, names).with_numbers(&values)), expected);
        }
    }

    #[test]
    fn a_reason_ends_where_the_terminal_does_and_nowhere_else() {
        let reason = "rsi(14) < 30 and close > sma(200)";
        assert_eq!(fitted(reason, None), reason);
        // 58 columns, of which 25 are taken, leave 33: as many as it has letters.
        assert_eq!(fitted(reason, Some(58)), reason);
        assert_eq!(fitted(reason, Some(57)), "rsi(14) < 30 and close > sma(20\u{2026}");
        assert_eq!(fitted(reason, Some(40)), "rsi(14) < 30 a\u{2026}");
    }
}
