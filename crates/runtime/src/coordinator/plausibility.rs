//! Checks whether trade reports and prices are plausible: times, payouts, funding and terms.

use super::Coordinator;
use super::agenda::Job;
use super::command::Step;
use super::recorded_session::RecordedSession;
use super::trade_watch::{OpenTrade, WatchState};
use crate::audit::{ExpectedTerms, TermsCheck, check_terms};
use crate::connect::without_rounding_noise;
use crate::control::describe_time;
use candlewick_broker::{ReportedValue, TradeListing, TradeOrder, TradeReport};
use candlewick_engine::{IntentId, OpenedTrade, OrderTerms, SymbolId, VenueId, VenueSymbol, VenueTerms};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{ExpirationType, Expiry, Millis, MoneyScale, Outcome, Price, Symbol};
use std::collections::BTreeMap;

/// Tolerance for clock errors. A trade may start this long before its decision, or end this long after its expiry.
const TIME_SLACK: Millis = Millis::HOUR;
/// Maximum delay of a reported close after the expiry. A later close time is replaced by a plausible one.
const CLOSE_SLACK: Millis = Millis::MINUTE;

impl Coordinator {
    /// Removes implausible fields from a trade report. An implausible payout halts the run.
    pub(super) fn remove_implausible_fields(
        &mut self,
        intent: IntentId,
        report: TradeReport,
        step: &mut Step<'_>,
    ) -> TradeReport {
        let report =
            self.with_plausible_times(intent, with_rounded_amount(report, self.session.scale()), step);
        let (report, impossible) = remove_impossible_payout(intent, report, self.settings.max_payout_percent);
        if let Some(reason) = impossible {
            self.halt_on_implausible_data(reason, step);
        }
        self.check_funding(intent, &report, step);
        report
    }

    /// Halts the run because of implausible data. If the run is already halted, raises an alarm instead.
    pub(super) fn halt_on_implausible_data(&mut self, text: String, step: &mut Step<'_>) {
        let is_halted = self.session.halt_reason().is_some();
        match (self.doubts.is_new_implausible_data(&text, is_halted), is_halted) {
            (true, true) => self.session.alarm(text, step),
            (true, false) => self.halt(text, step),
            (false, _) => {}
        }
    }

    pub(super) fn with_plausible_times(
        &mut self,
        intent: IntentId,
        report: TradeReport,
        step: &mut Step<'_>,
    ) -> TradeReport {
        let Some(terms) = self.session.terms(intent) else { return report };
        let (report, impossible) = remove_impossible_times(&terms, report, step.now);
        if let Some(text) = impossible.filter(|text| self.doubts.is_new_implausible_time(&report.id, text)) {
            self.session.alarm(text, step);
        }
        self.cap_close_time(&terms, report, step)
    }

    /// Caps an implausibly late close time and raises an alarm, so that a wrong venue clock cannot prolong the run.
    fn cap_close_time(
        &mut self,
        terms: &OrderTerms,
        report: TradeReport,
        step: &mut Step<'_>,
    ) -> TradeReport {
        let Some(close) = report.close_time else { return report };
        let (latest, slack) = self.close_limit(terms, &report, step.now);
        if close <= latest + slack {
            return report;
        }
        let intent = terms.intent();
        let late = (close - latest).get() / 1_000;
        let text = format!(
            "trade #{intent} ({}) has a close time {late} s after the expiry. The result is requested at the expiry",
            report.id
        );
        if self.doubts.is_new_implausible_time(&format!("{}:close", report.id), &text) {
            self.session.alarm(text, step);
        }
        TradeReport { close_time: Some(latest), ..report }
    }

    fn close_limit(&self, terms: &OrderTerms, report: &TradeReport, now: Millis) -> (Millis, Millis) {
        let row = self.session.row(terms.intent());
        let opened = report.open_time.or(row.and_then(|row| row.open_time));
        let slack = if opened.is_some() { CLOSE_SLACK } else { self.clock_slack() };
        let at = opened.or(row.and_then(|row| row.answered_at)).unwrap_or(now);
        (latest_close_after(terms.expiry(), at), slack)
    }

    pub(super) fn begin_tracking(&mut self, intent: IntentId, report: &TradeReport, now: Millis) {
        self.doubts.claim(&report.id);
        let terms = self.session.terms(intent);
        let stake = terms.map(|terms| terms.stake()).unwrap_or_default();
        let assumed_close = terms.map_or(now, |terms| self.close_limit(&terms, report, now).0);
        let stake = self.venue_terms(intent, report).map_or(stake, |taken| taken.stake);
        let ordered = terms.map(|terms| self.session.to_trade_order(&terms));
        let known = self.session.book().original_order(intent).and_then(|departure| departure.symbol);
        let known = known.or(ordered.as_ref().map(|order| VenueSymbol::truncated(order.symbol.as_str())));
        let direction = report.direction.as_ref().and_then(ReportedValue::value).copied();
        let tracked = OpenTrade {
            venue_id: report.id.clone(),
            stake,
            assumed_close,
            close_time: report.close_time,
            open_time: report.open_time,
            symbol: report.symbol.as_deref().map(VenueSymbol::truncated).or(known),
            direction: direction.or(ordered.map(|order| order.direction)),
            payout: self.session.row(intent).and_then(|row| row.payout).or(report.payout),
            watch: WatchState::default(),
        };
        let first = self.trades.begin(intent, tracked, now);
        self.agenda.add(first, Job::Trade(intent));
    }

    pub(super) fn venue_terms(&self, intent: IntentId, report: &TradeReport) -> Option<VenueTerms> {
        let terms = self.session.terms(intent)?;
        let known = self.session.book().original_order(intent).and_then(|departure| departure.symbol);
        changed_terms(report, &terms, (self.session.ordered_symbol(&terms), known), self.session.scale())
    }

    pub(super) fn to_opened_trade(&self, intent: IntentId, report: &TradeReport) -> OpenedTrade {
        let agreed = self.trades.find(intent).and_then(|trade| trade.payout);
        OpenedTrade {
            intent,
            venue_id: Some(VenueId::truncated(&report.id)),
            open_time: report.open_time,
            open_price: report.open_price,
            close_time: report.close_time,
            payout: report.payout.map(|paid| agreed.unwrap_or(paid)),
            taken: self.venue_terms(intent, report),
        }
    }
}

fn latest_close_after(expiry: Expiry, at: Millis) -> Millis {
    let duration = expiry.close_type.duration();
    match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => at + duration,
        // If little of the current candle is left, the trade lasts until the end of the next candle.
        ExpirationType::CandleClose | ExpirationType::NextCandle => at.floor_to(duration) + duration * 2,
    }
}

pub fn remove_impossible_times(
    terms: &OrderTerms,
    report: TradeReport,
    now: Millis,
) -> (TradeReport, Option<String>) {
    let earliest = terms.decision_time() - TIME_SLACK;
    let latest = now + terms.expiry().close_type.duration() * 2 + TIME_SLACK;
    let (report, impossible) = remove_times_outside(report, earliest, latest);
    let (intent, id) = (terms.intent(), &report.id);
    let text = impossible.map(|at| {
        format!("trade #{intent}: the venue's trade {id} has an implausible time: {}", describe_time(at))
    });
    (report, text)
}

pub fn remove_impossible_payout(
    intent: IntentId,
    report: TradeReport,
    max_payout_percent: u32,
) -> (TradeReport, Option<String>) {
    let too_much = report.payout.filter(|payout| payout.to_percent() > f64::from(max_payout_percent));
    let too_much = too_much.map(|payout| format!("{payout} %, more than {max_payout_percent} %"));
    let impossible = too_much.or_else(|| describe_impossible_payout(&report));
    let text = impossible.map(|payout| format!("trade #{intent} ({}) has a payout of {payout}", report.id));
    let payout = report.payout.filter(|_| text.is_none());
    (TradeReport { payout, ..report }, text)
}

/// Describes an impossible payout, if any. A payout of 0 is possible only for a lost, drawn or cancelled trade.
fn describe_impossible_payout(report: &TradeReport) -> Option<String> {
    let percent = report.invalid_payout?;
    let moves_money = matches!(report.progress.outcome(), None | Some(Outcome::Won));
    (!percent.is_zero() || moves_money).then(|| format!("{} %, which is impossible", percent.normalize()))
}

pub(super) fn remove_times_outside(
    report: TradeReport,
    earliest: Millis,
    latest: Millis,
) -> (TradeReport, Option<Millis>) {
    let is_possible = |at: &Millis| (earliest..=latest).contains(at);
    let TradeReport { request_time, created_time, open_time, close_time, .. } = report;
    let times = [close_time, open_time, request_time, created_time];
    let impossible = times.into_iter().flatten().find(|at| !is_possible(at));
    let report = TradeReport {
        request_time: request_time.filter(is_possible),
        created_time: created_time.filter(is_possible),
        open_time: open_time.filter(is_possible),
        close_time: close_time.filter(is_possible),
        ..report
    };
    (report, impossible)
}

/// Rounds a report's amount to the money scale if this removes nothing but floating-point noise.
pub(crate) fn with_rounded_amount(report: TradeReport, scale: MoneyScale) -> TradeReport {
    let amount = report.amount.map(|amount| without_rounding_noise(amount, scale).unwrap_or(amount));
    TradeReport { amount, ..report }
}

/// Returns the terms that the venue applied. `None` if these terms equal the booked terms.
/// If a field is missing or cannot be represented, the booked value is used.
pub fn changed_terms(
    report: &TradeReport,
    terms: &OrderTerms,
    (ordered, known): (Symbol, Option<VenueSymbol>),
    scale: MoneyScale,
) -> Option<VenueTerms> {
    let symbol = match report.symbol.as_deref() {
        Some(found) if found == ordered.as_str() => None,
        Some(found) => Some(VenueSymbol::truncated(found)),
        None => known,
    };
    let direction = report.direction.as_ref().and_then(ReportedValue::value).copied();
    let stake = reported_stake(report).and_then(|amount| scale.convert_rounded(amount).ok());
    let taken = VenueTerms {
        symbol,
        direction: direction.unwrap_or(terms.direction()),
        stake: stake.filter(|stake| stake.is_positive()).unwrap_or(terms.stake()),
    };
    let is_known = symbol == known && taken.direction == terms.direction() && taken.stake == terms.stake();
    (!is_known).then_some(taken)
}

impl Coordinator {
    fn check_funding(&mut self, intent: IntentId, report: &TradeReport, step: &mut Step<'_>) {
        let scale = self.session.scale();
        let oddities = [
            describe_stake_mismatch(report, scale),
            describe_charge("fee", report.payment.fee, scale),
            describe_charge("commission", report.payment.commission, scale),
        ];
        for oddity in oddities.into_iter().flatten() {
            self.halt_on_implausible_data(format!("trade #{intent} {oddity}"), step);
        }
        let bonus = report.payment.bonus;
        if !bonus.is_zero() {
            let text =
                format!("trade #{intent}: a bonus wallet paid {} of the stake", format_amount(bonus, scale));
            if self.doubts.is_new_implausible_data(&text, true) {
                step.warn(text);
            }
        }
    }
}

fn reported_stake(report: &TradeReport) -> Option<Decimal> {
    report.amount.into_iter().chain(report.payment.paid).max()
}

fn describe_stake_mismatch(report: &TradeReport, scale: MoneyScale) -> Option<String> {
    let amount = report.amount?;
    let is_same = |other: Decimal| {
        let counted = |amount| without_rounding_noise(amount, scale).unwrap_or(amount);
        counted(other) == counted(amount)
    };
    let paid = report.payment.paid.filter(|paid| !paid.is_zero() && !is_same(*paid));
    let text = paid.map(|paid| {
        let (amount, paid) = (format_amount(amount, scale), format_amount(paid, scale));
        format!("has a stake of {amount}, but the wallets paid {paid}; the larger amount counts")
    });
    text.or_else(|| {
        let (amount, larger) =
            (format_amount(amount, scale), format_amount(report.payment.implied_stake?, scale));
        Some(format!("has a stake of {amount}, but the wallet percentages add up to {larger}"))
    })
}

/// Describes an extra charge. The charge is not booked, because the reported profit may already include it.
fn describe_charge(name: &str, amount: Decimal, scale: MoneyScale) -> Option<String> {
    let amount = (!amount.is_zero()).then(|| format_amount(amount, scale))?;
    Some(format!("has a {name} of {amount}, and the profit may or may not include it"))
}

fn format_amount(amount: Decimal, scale: MoneyScale) -> String {
    without_rounding_noise(amount, scale).map_or_else(
        || amount.normalize().to_string(),
        |exact| format!("{exact:.decimals$}", decimals = scale.decimals() as usize),
    )
}

impl Coordinator {
    pub(super) fn audit_reported_terms(&mut self, id: IntentId, report: &TradeReport, step: &mut Step<'_>) {
        let Some(terms) = self.session.terms(id) else { return };
        let (terms, _) = check_terms(id, &self.session.expected_terms(&terms), report);
        // The answer to the open request may already have halted the run because of these terms.
        if let TermsCheck::Other { reason } = terms
            && self.session.halt_reason() != Some(&reason)
        {
            self.halt_on_implausible_data(reason, step);
        }
    }

    pub(super) fn audit_listed_terms(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        let book = self.session.book();
        let own: BTreeMap<VenueId, IntentId> = (book.rows().iter())
            .filter_map(|row| Some((book.venue_id(row)?, row.approved.intent())))
            .collect();
        if own.is_empty() {
            return;
        }
        for report in &listing.trades {
            let Some(intent) = own.get(&VenueId::truncated(&report.id)).copied() else { continue };
            self.audit_reported_terms(intent, report, step);
            // The funding is checked here too, because the trade's own record may not contain it.
            self.check_funding(intent, report, step);
        }
    }
}

impl RecordedSession {
    pub(super) fn expected_terms(&self, terms: &OrderTerms) -> ExpectedTerms {
        let booked = self.to_trade_order(terms);
        let asked = self.book().original_order(terms.intent()).map(|departure| TradeOrder {
            symbol: self.ordered_symbol(&departure.ordered),
            direction: departure.ordered.direction(),
            amount: self.scale().to_decimal(departure.ordered.stake()).normalize(),
            ..booked.clone()
        });
        ExpectedTerms { requested: asked.unwrap_or_else(|| booked.clone()), booked }
    }
}

const MAX_PRICE_AGE: Millis = Millis::from_seconds(12 * 3_600);

impl Coordinator {
    pub(super) fn plausible_price(
        &mut self,
        id: SymbolId,
        (recorded, at, value): (Millis, Millis, f64),
        step: &mut Step<'_>,
    ) -> Option<Price> {
        let ahead = recorded - step.now.max(at);
        let age = at - recorded;
        let problem = if ahead > self.clock_slack() {
            Some(format!("is {} s in the future", ahead.get() / 1_000))
        } else if age >= MAX_PRICE_AGE {
            Some(format!("is {} h old", age.get() / Millis::HOUR.get()))
        } else {
            None
        };
        let Some(problem) = problem else {
            self.refused_prices.remove(&id);
            return (value > 0.0).then_some(Price { time: at, value });
        };
        if self.refused_prices.insert(id) {
            let symbol = self.market.symbol(id);
            step.warn(format!("{symbol}: the venue's price record {problem} and is ignored"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_broker::Payment;

    /// Times are seconds after midnight. The trades last five minutes.
    #[test]
    fn the_latest_close_follows_from_the_expiry() {
        use ExpirationType::{CandleClose, NextCandle, TimeFixed, Unstated};
        for (expiration_type, at, expected) in [
            (TimeFixed, 10, 310),
            (Unstated, 299, 599),
            (CandleClose, 10, 600),
            (CandleClose, 299, 600),
            (CandleClose, 300, 900),
            (NextCandle, 10, 600),
            (NextCandle, 300, 900),
        ] {
            let expiry = Expiry { close_type: "05:00".parse().unwrap(), expiration_type };
            let found = latest_close_after(expiry, Millis::from_seconds(at));
            assert_eq!(found, Millis::from_seconds(expected), "{expiration_type:?} at {at}");
        }
    }

    #[test]
    fn contradictory_funding_is_reported_and_the_larger_stake_counts() {
        let decimal = |text: &str| text.parse::<Decimal>().unwrap();
        for (paid, by_percent, expected, stake) in [
            (None, None, None, "10"),
            (Some("10.0000000001"), None, None, "10.0000000001"),
            (Some("0"), None, None, "10"),
            (Some("60"), None, Some("paid 60.00"), "60"),
            (Some("4"), None, Some("paid 4.00"), "10"),
            (Some("10"), Some("60"), Some("the wallet percentages add up to 60.00"), "10"),
        ] {
            let (paid, by_percent) = (paid.map(decimal), by_percent.map(decimal));
            let funding = Payment { paid, implied_stake: by_percent, ..Payment::default() };
            let report =
                TradeReport { amount: Some(Decimal::TEN), payment: funding, ..TradeReport::new("01JT") };
            let found = describe_stake_mismatch(&report, MoneyScale::default());
            let has = |part: &str| found.as_ref().is_some_and(|text| text.contains(part));
            assert!(expected.map_or(found.is_none(), has), "{found:?} {paid:?} {by_percent:?}");
            assert_eq!(reported_stake(&report), Some(decimal(stake)));
        }
    }
}
