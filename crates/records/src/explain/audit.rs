//! Audit of a settled trade against its own terms and against the venue's record.

use super::doubt::parse_rows;
use crate::run::TradingMode;
use crate::trade::IntentOrigin;
use candlewick_engine::{IntentRow, IntentState};
use candlewick_journal::LoggedExchange;
use candlewick_sdk::{Direction, ExpirationType, Millis, Money, Outcome, compare_prices};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Display;

#[derive(Debug, Serialize)]
pub(super) struct AuditCheck {
    /// Name of the checked item: `profit`, `result`, `span`, or a field of the venue's record.
    what: &'static str,
    by: CheckSource,
    agrees: bool,
    detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckSource {
    Terms,
    Venue,
}

impl AuditCheck {
    const fn from_terms(what: &'static str, agrees: bool, detail: String) -> Self {
        Self { what, by: CheckSource::Terms, agrees, detail }
    }
}

pub(super) fn run_checks<'a>(
    (row, origin): (&IntentRow, &IntentOrigin),
    venue_id: Option<&str>,
    trading: Option<TradingMode>,
    exchanges: impl Iterator<Item = &'a LoggedExchange>,
) -> Vec<AuditCheck> {
    if row.state != IntentState::Settled {
        return Vec::new();
    }
    let mut checks: Vec<AuditCheck> =
        [check_profit(row, origin), check_result(row), check_duration(row)].into_iter().flatten().collect();
    let records = venue_records(venue_id, exchanges);
    checks.extend(check_terms(row, origin, trading, &records));
    checks.extend(check_settlement(row, origin, &records));
    checks
}

fn check_profit(row: &IntentRow, origin: &IntentOrigin) -> Option<AuditCheck> {
    let stake = row.approved.stake();
    let (outcome, payout) = (row.outcome?, row.payout);
    let expected = match outcome {
        Outcome::Won => stake.profit_at(payout?),
        Outcome::Lost => Money::ZERO - stake,
        Outcome::Draw | Outcome::Cancelled => Money::ZERO,
    };
    let [profit, stake, expected_text] =
        [row.profit, stake, expected].map(|money| origin.scale.format(money));
    let paid = payout.map(|payout| format!(" at {} %", payout.to_percent())).unwrap_or_default();
    let detail = format!("{profit}; expected {expected_text} for {outcome} with a stake of {stake}{paid}");
    Some(AuditCheck::from_terms("profit", row.profit == expected, detail))
}

/// Checks the result against the open and close prices. A loss is also correct if both prices are equal.
fn check_result(row: &IntentRow) -> Option<AuditCheck> {
    let (outcome, open, close) = (row.outcome?, row.open_price?, row.close_price?);
    let direction = row.approved.direction();
    let order = compare_prices(close, open);
    let has_won = match direction {
        Direction::Buy => order.is_gt(),
        Direction::Sell => order.is_lt(),
    };
    let agrees = match outcome {
        Outcome::Won => has_won,
        Outcome::Lost => !has_won,
        Outcome::Draw => order.is_eq(),
        Outcome::Cancelled => return None,
    };
    Some(AuditCheck::from_terms("result", agrees, format!("{outcome}; {direction} from {open} to {close}")))
}

fn check_duration(row: &IntentRow) -> Option<AuditCheck> {
    let (lasted, close) = (row.close_time? - row.open_time?, row.close_time?);
    let expiry = row.approved.expiry();
    let length = expiry.close_type.duration();
    let agrees = match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => lasted == length,
        // The trade closes at the end of a candle, or at the end of the next candle if too little time was left.
        ExpirationType::CandleClose => {
            lasted > Millis::ZERO && lasted <= length * 2 && close.is_aligned_to(length)
        }
        ExpirationType::NextCandle => lasted == length && close.is_aligned_to(length),
    };
    let (close_type, kind) = (expiry.close_type, expiry.expiration_type);
    Some(AuditCheck::from_terms("span", agrees, format!("{lasted} ms; ordered: {close_type} {kind}")))
}

fn venue_records<'a>(id: Option<&str>, exchanges: impl Iterator<Item = &'a LoggedExchange>) -> Vec<Value> {
    let Some(id) = id else { return Vec::new() };
    let mut records: Vec<Value> = Vec::new();
    for text in exchanges.filter(|one| one.status == Some(200)).filter_map(|one| one.response.as_deref()) {
        records.extend(parse_rows(text));
        records.extend(serde_json::from_str::<Value>(text));
    }
    records.retain(|record| record["id"] == id || record["tradeId"] == id);
    records
}

fn check_terms(
    row: &IntentRow,
    origin: &IntentOrigin,
    trading: Option<TradingMode>,
    records: &[Value],
) -> Vec<AuditCheck> {
    let (trade, expiry) = (&row.approved, row.approved.expiry());
    let text = |wanted: String| move |value: &Value| Some(value.as_str()? == wanted);
    let kind = expiry.expiration_type.to_string();
    let is_demo = trading.map(|trading| trading != TradingMode::Real);
    let close_time = row.close_time.map(Millis::get);
    let terms = [
        compare("symbol", records, &origin.symbol, text(origin.symbol.to_string())),
        compare("direction", records, &trade.direction(), text(trade.direction().to_string())),
        compare("amount", records, &origin.scale.to_f64(trade.stake()), match_amount(trade.stake(), origin)),
        compare("closeType", records, &expiry.close_type, |value| {
            Some(value.as_str()?.parse() == Ok(expiry.close_type))
        }),
        compare("expirationType", records, &kind, text(kind.clone())),
        is_demo.and_then(|wanted| compare("isDemo", records, &wanted, |one| Some(one.as_bool()? == wanted))),
        close_time.and_then(|wanted| {
            compare("closeTime", records, &wanted, |value| {
                value.as_i64().filter(|value| *value != 0).map(|value| value == wanted)
            })
        }),
    ];
    terms.into_iter().flatten().collect()
}

fn check_settlement(row: &IntentRow, origin: &IntentOrigin, records: &[Value]) -> Vec<AuditCheck> {
    let Some(outcome) = row.outcome else { return Vec::new() };
    let ends = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled].map(Outcome::as_str);
    let is_final = |record: &&Value| record["result"].as_str().is_some_and(|result| ends.contains(&result));
    let Some(last) = records.iter().rfind(is_final).map(std::slice::from_ref) else { return Vec::new() };
    let price = |what, price: Option<f64>| {
        compare(what, last, &price?, |value| parse_price(value).map(|value| Some(value) == price))
    };
    let booked = [
        compare("result", last, &outcome, |value| Some(value.as_str()? == outcome.as_str())),
        compare("pnl", last, &origin.scale.to_f64(row.profit), match_amount(row.profit, origin)),
        price("openPrice", row.open_price),
        price("closePrice", row.close_price),
    ];
    booked.into_iter().flatten().collect()
}

fn compare(
    what: &'static str,
    records: &[Value],
    wanted: &dyn Display,
    is_it: impl Fn(&Value) -> Option<bool>,
) -> Option<AuditCheck> {
    let values = || records.iter().map(|entry| &entry[what]).filter_map(|value| Some((value, is_it(value)?)));
    let (value, agrees) = values().find(|(_, agrees)| !agrees).or_else(|| values().last())?;
    let detail = format!("{value} at the venue, {wanted} in the journal");
    Some(AuditCheck { what, by: CheckSource::Venue, agrees, detail })
}

/// Parses a price. Returns `None` for 0, which the venue reports until it knows the price.
fn parse_price(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| value.abs() > 0.0)
}

fn match_amount(wanted: Money, origin: &IntentOrigin) -> impl Fn(&Value) -> Option<bool> {
    let wanted = origin.scale.to_f64(wanted);
    move |value| {
        let value = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
        Some((value - wanted).abs() < 1e-9)
    }
}

pub(super) fn describe_checks(checks: &[AuditCheck]) -> Vec<String> {
    let sources =
        [(CheckSource::Terms, "recomputed and correct"), (CheckSource::Venue, "identical at the venue")];
    let agreed = sources.into_iter().filter_map(|(by, label)| {
        let agreeing = checks.iter().filter(|check| check.by == by && check.agrees);
        let names: Vec<&str> = agreeing.map(|check| check.what).collect();
        (!names.is_empty()).then(|| format!("{label}: {}", names.join(", ")))
    });
    let agreed = agreed.collect::<Vec<_>>().join("; ");
    let differing = checks.iter().filter(|check| !check.agrees);
    let differing = differing.map(|AuditCheck { what, detail, .. }| format!("{what} DIFFERS: {detail}"));
    Some(agreed).filter(|agreed| !agreed.is_empty()).into_iter().chain(differing).collect()
}
