//! Text and layout of console lines: decisions, trades, verdicts and stop reasons.

use crate::terminal::{sanitize_coloured_line, terminal_columns, wrap_indented};
use anstyle::{AnsiColor, Style};
use candlewick_engine::{
    ApprovedTrade, EdgeVerdict, IntentRow, Judgement, Lateness, OpenedTrade, RefusedSignal, RiskSettings,
    Rule, TradeSettlement, VenueId,
};
use candlewick_records::format_time;
use candlewick_runtime::control::Blockage;
use candlewick_runtime::{Funds, StopReason};
use candlewick_sdk::{ExpirationType, Millis, Money, MoneyScale, Reason, escape_hidden, format_price};
use console::Term;

pub(super) fn describe_order(
    approved: &ApprovedTrade,
    (bot, symbol): (&str, &str),
    scale: MoneyScale,
) -> String {
    let expiry = approved.expiry();
    let kind = expiration_suffix(expiry.expiration_type);
    let (intent, stake, direction) =
        (approved.intent(), scale.format(approved.stake()), approved.direction());
    let terms = format!("{stake} for {}{kind}   ", expiry.close_type);
    let reason = insert_reason_values(approved.reason());
    let reason = truncate_reason(&escape_hidden(&reason), terminal_columns(&Term::stdout()));
    format!("#{intent} {bot} {BOLD}{direction} {symbol}{BOLD:#} {terms}{DIM}{reason}{DIM:#}")
}

pub(super) fn expiration_suffix(expiration_type: ExpirationType) -> String {
    match expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => String::new(),
        other => format!(" {other}"),
    }
}

fn insert_reason_values(reason: &Reason) -> String {
    let text = reason.text();
    let place_of = |name: &str| -> Option<usize> {
        let is_part = |letter: char| letter.is_alphanumeric() || "_.@[(".contains(letter);
        let whole = text.match_indices(name).map(|(at, _)| (at, at + name.len())).filter(|(at, end)| {
            let before = text[..*at].chars().next_back();
            !text[*end..].starts_with(is_part) && !before.is_some_and(|one| one != '(' && is_part(one))
        });
        whole.min_by_key(|(at, _)| count_open_parentheses(&text[..*at])).map(|(_, end)| end)
    };
    let mut values: Vec<(usize, f64)> =
        reason.numbers().filter_map(|(name, value)| Some((place_of(name)?, value))).collect();
    if values.is_empty() {
        return reason.to_string();
    }
    values.sort_by_key(|(place, _)| *place);
    let (mut merged, mut done) = (String::new(), 0);
    for (place, value) in values {
        merged.push_str(&text[done..place]);
        merged.push(' ');
        merged.push_str(&format_price(value));
        done = place;
    }
    merged.push_str(&text[done..]);
    for (name, value) in reason.numbers().filter(|(name, _)| place_of(name).is_none()) {
        merged.extend([" ", name, "=", &format_price(value)]);
    }
    merged
}

fn count_open_parentheses(text: &str) -> usize {
    text.matches('(').count().saturating_sub(text.matches(')').count())
}

fn truncate_reason(reason: &str, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(PREFIX_WIDTH));
    if reason.chars().count() <= room {
        return reason.to_owned();
    }
    reason.chars().take(room.saturating_sub(1)).chain(['\u{2026}']).collect()
}

pub(super) fn describe_rejection(
    refused: &RefusedSignal,
    (bot, interval): (&str, Millis),
    received: Millis,
    (risk, suspended): (Option<&RiskSettings>, Option<&str>),
) -> String {
    let own =
        || risk.map_or_else(|| refused.rule.describe(), |risk| refused.rule.describe_with_setting(risk, bot));
    let rule = match suspended {
        Some(reason) if refused.rule == Rule::Halted => format!("opens suspended: {}", escape_hidden(reason)),
        _ => own(),
    };
    let lateness = Lateness::new((refused.decision_time, received), interval, risk);
    let rule = refused.rule.add_lateness(rule, lateness);
    let reason = insert_reason_values(&refused.reason);
    let reason = truncate_reason(&escape_hidden(&reason), terminal_columns(&Term::stdout()));
    format!("{DIM}{bot} {}: {rule}   {reason}{DIM:#}", refused.direction)
}

pub(super) fn describe_verdict(judgement: &Judgement, bot: &str) -> String {
    let (style, text) = match judgement.edge {
        EdgeVerdict::Open => (NOTE, "undecided"),
        EdgeVerdict::Shown => (GOOD, "shown"),
        EdgeVerdict::Rejected => (BAD, "ruled out"),
        EdgeVerdict::NoLongerHeld => (BAD, "no longer held"),
    };
    format!("{bot}: edge {style}{text}{style:#} after {} trades", judgement.trades)
}

pub(super) fn describe_blockage_changes(before: &[Blockage], now: &[Blockage]) -> Vec<String> {
    let lacks = |all: &[Blockage], one: &Blockage| {
        all.iter().all(|other| (&other.rule, &other.bots) != (&one.rule, &one.bots))
    };
    let began = now.iter().filter(|one| lacks(before, one)).map(Blockage::describe);
    let ended = before.iter().filter(|one| now.iter().all(|other| other.rule != one.rule));
    began.chain(ended.map(|one| format!("lifted: {}", one.rule))).collect()
}

pub(super) fn describe_opened(opened: &OpenedTrade) -> String {
    let price = opened.open_price.map_or_else(|| "unknown price".to_owned(), format_price);
    let until = opened.close_time.map_or_else(|| "unknown end".to_owned(), format_clock_time);
    let payout = opened.payout.map(|payout| format!(", payout {payout} %")).unwrap_or_default();
    let id = escape_hidden(opened.venue_id.as_ref().map(VenueId::as_str).unwrap_or_default());
    format!("#{} at {price} until {until}{payout} {DIM}{id}{DIM:#}", opened.intent)
}

pub(super) fn describe_settled(
    settled: &TradeSettlement,
    style: Style,
    (funds, intent): (Funds, Option<&IntentRow>),
    scale: MoneyScale,
) -> String {
    let entry = settled.open_price.or(intent.and_then(|row| row.open_price));
    let prices = match (entry, settled.close_price) {
        (Some(entry), Some(exit)) => format!("{} → {}", format_price(entry), format_price(exit)),
        _ => "no prices".to_owned(),
    };
    let profit = format_signed(settled.profit, scale);
    let (free, open) = (scale.format(funds.free), scale.format(funds.open_stakes));
    let balance = format!("balance {BOLD}{free}{BOLD:#}, open stakes {open}");
    format!("#{} {style}{profit}{style:#}  {prices}   {balance}", settled.intent)
}

pub(super) fn format_signed(money: Money, scale: MoneyScale) -> String {
    let sign = if money.is_positive() { "+" } else { "" };
    format!("{sign}{}", scale.format(money))
}

pub(super) fn describe_stop(
    why: StopReason,
    unfinished: usize,
    (last_close, waits_until): (Option<Millis>, Millis),
) -> String {
    let why = match why {
        StopReason::TimeUp => "time limit reached: ",
        StopReason::DataEnds(_) => "end of candles: ",
        StopReason::Limit(rule) => &format!("{} reached: ", rule.describe()),
        StopReason::Interrupted | StopReason::Terminated => "",
    };
    if unfinished == 0 {
        return format!("{why}no new trades; no trades are open");
    }
    let until = format_clock_time(waits_until);
    let trades = if unfinished == 1 { "trade" } else { "trades" };
    let closes = last_close.map(|at| format!(" (last close {})", format_clock_time(at))).unwrap_or_default();
    format!(
        "{why}no new trades. Waiting until {until} for {unfinished} open {trades}{closes}. Press Ctrl-C again to quit now"
    )
}

pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const NOTE: Style = AnsiColor::Yellow.on_default();
pub(super) const BOLD: Style = Style::new().bold();

const LABEL_WIDTH: usize = 8;
const PREFIX_WIDTH: usize = "MM-DD hh:mm:ss  ".len() + LABEL_WIDTH + 1;

pub(super) fn format_line(
    at: Millis,
    (style, label): (Style, &str),
    text: &str,
    columns: Option<usize>,
) -> String {
    let time = format_time(at, "%m-%d %H:%M:%S");
    let text = sanitize_coloured_line(text);
    let text = wrap_indented(&text, PREFIX_WIDTH - LABEL_WIDTH + label.len().max(LABEL_WIDTH), columns);
    format!("{DIM}{time}{DIM:#}  {style}{label:<LABEL_WIDTH$}{style:#} {text}")
}

fn format_clock_time(at: Millis) -> String {
    format_time(at, "%H:%M:%S")
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::ReasonTemplate;

    #[test]
    fn inserts_values_after_their_names() {
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
            (
                "rsi(n) < 30 and close > 1",
                &[("rsi(14)", 27.5), ("close", 1.5)],
                "rsi(n) < 30 and close 1.5 > 1 rsi(14)=27.5",
            ),
            ("oversold", &[("rsi", 28.25), ("level", 30.0)], "oversold rsi=28.25 level=30"),
            ("closed high", &[("close", 1.5), ("h", 2.0)], "closed high close=1.5 h=2"),
        ] {
            let (names, values): (Vec<&str>, Vec<f64>) = numbers.iter().copied().unzip();
            assert_eq!(
                insert_reason_values(&ReasonTemplate::new(text, names).with_numbers(&values)),
                expected
            );
        }
    }

    #[test]
    fn truncates_reasons_to_the_terminal_width() {
        let reason = "rsi(14) < 30 and close > sma(200)";
        assert_eq!(truncate_reason(reason, None), reason);
        // 58 columns minus the prefix of 25 leave 33, the length of the reason.
        assert_eq!(truncate_reason(reason, Some(58)), reason);
        assert_eq!(truncate_reason(reason, Some(57)), "rsi(14) < 30 and close > sma(20\u{2026}");
        assert_eq!(truncate_reason(reason, Some(40)), "rsi(14) < 30 a\u{2026}");
    }

    #[test]
    fn describes_open_trades_and_how_to_quit_while_stopping() {
        let now = Millis::HOUR * 3;
        let (close, until) = (now + Millis::from_seconds(722), now + Millis::from_seconds(90));
        let waits = describe_stop(StopReason::Interrupted, 1, (Some(close), until));
        assert!(waits.contains("until 03:01:30 for 1 open trade (last close 03:12:02). Press"), "{waits}");
        let none = describe_stop(StopReason::TimeUp, 0, (None, until));
        assert_eq!(none, "time limit reached: no new trades; no trades are open");
    }
}
