//! Tracks each accepted trade until its result is final, and detects trades that are missing at the venue.
//! The program never guesses the result of a missing trade, so the operator has to enter it.

use super::Coordinator;
use super::agenda::{EventRank, Job};
use super::cancellations::UnconfirmedEnd;
use super::command::Step;
use crate::audit::{BookedResult, ResultSource};
use candlewick_broker::{ReportedValue, TradeListing, TradeReport};
use candlewick_engine::{EventKind, IntentId, TradeSettlement, VenueSymbol};
use candlewick_sdk::{Direction, Millis, Money, MoneyScale, Outcome, Payout};
use std::collections::BTreeMap;

/// Backoff delays between requests for a trade without a final result. The last delay repeats.
const RETRY_DELAYS_MS: [i64; 6] = [1_000, 3_000, 3_000, 5_000, 10_000, 30_000];
/// Maximum correction of the open time by a later record. A larger difference indicates another trade.
const MAX_OPEN_TIME_CORRECTION: Millis = Millis::MINUTE;
const DETAILS_REQUEST_DELAY: Millis = Millis::SECOND;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenTrade {
    /// Complete trade id at the venue. The journal may store a truncated id.
    pub(super) venue_id: String,
    pub(super) stake: Money,
    pub(super) assumed_close: Millis,
    pub(super) open_time: Option<Millis>,
    pub(super) close_time: Option<Millis>,
    /// Symbol in the first record of the trade. Later records must name the same symbol.
    pub(super) symbol: Option<VenueSymbol>,
    pub(super) direction: Option<Direction>,
    pub(super) payout: Option<Payout>,
    pub(super) watch: WatchState,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WatchState {
    asked: usize,
    pub(super) absence: Option<Absence>,
    pub(super) unconfirmed_end: Option<UnconfirmedEnd>,
    is_reported: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TradeMismatch {
    pub(crate) new_difference: Option<String>,
    pub(crate) next_request_at: Millis,
}

#[derive(Debug)]
pub(crate) struct TradeWatch {
    settle_after: Millis,
    trades: BTreeMap<IntentId, OpenTrade>,
}

impl TradeWatch {
    pub(crate) const fn new(settle_after: Millis) -> Self {
        Self { settle_after, trades: BTreeMap::new() }
    }

    pub(crate) fn begin(&mut self, intent: IntentId, trade: OpenTrade, now: Millis) -> Millis {
        let close_time = trade.close_time;
        self.trades.insert(intent, trade);
        close_time.map_or(now + DETAILS_REQUEST_DELAY, |close| (close + self.settle_after).max(now))
    }

    pub(crate) fn find(&self, intent: IntentId) -> Option<&OpenTrade> {
        self.trades.get(&intent)
    }

    pub(crate) fn check_record(
        &mut self,
        intent: IntentId,
        report: &TradeReport,
        now: Millis,
    ) -> Option<TradeMismatch> {
        let trade = self.trades.get_mut(&intent)?;
        let difference = trade.describe_mismatch(report)?;
        let news = (!std::mem::replace(&mut trade.watch.is_reported, true)).then_some(difference);
        Some(TradeMismatch { new_difference: news, next_request_at: trade.next_retry(now) })
    }

    pub(super) fn find_mut(&mut self, intent: IntentId) -> Option<&mut OpenTrade> {
        self.trades.get_mut(&intent)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (IntentId, &OpenTrade)> {
        self.trades.iter().map(|(intent, trade)| (*intent, trade))
    }

    pub(crate) fn set_stake(&mut self, intent: IntentId, stake: Money) {
        if let Some(trade) = self.trades.get_mut(&intent) {
            trade.stake = stake;
        }
    }

    pub(crate) fn update_close_time(
        &mut self,
        intent: IntentId,
        close_time: Option<Millis>,
        now: Millis,
    ) -> Option<Millis> {
        let trade = self.trades.get_mut(&intent)?;
        trade.close_time = close_time.or(trade.close_time);
        let first = trade.close_time.map(|close| close + self.settle_after).filter(|first| *first > now);
        if first.is_some() {
            trade.watch.asked = 0;
        }
        let assumed = Some(trade.closes_at() + self.settle_after).filter(|at| *at > now);
        let pause = first.unwrap_or_else(|| trade.next_retry(now));
        Some(assumed.map_or(pause, |assumed| pause.min(assumed)))
    }

    pub(crate) fn schedule_retry(&mut self, intent: IntentId, now: Millis) -> Option<Millis> {
        let trade = self.trades.get_mut(&intent)?;
        Some(trade.next_retry(now))
    }

    pub(crate) fn stop_watching(&mut self, intent: IntentId) {
        self.trades.remove(&intent);
    }

    pub(crate) fn len(&self) -> usize {
        self.trades.len()
    }

    pub(crate) fn last_close(&self) -> Option<Millis> {
        self.trades.values().map(OpenTrade::closes_at).max()
    }
}

impl OpenTrade {
    fn closes_at(&self) -> Millis {
        self.close_time.unwrap_or(self.assumed_close)
    }

    /// Describes the first contradiction between a record and the known trade. Missing fields are ignored.
    fn describe_mismatch(&self, report: &TradeReport) -> Option<String> {
        let direction = report.direction.as_ref().and_then(ReportedValue::value);
        // The symbol is truncated here, because the journal contains the truncated symbol.
        let symbol = report.symbol.as_deref().map(VenueSymbol::truncated);
        if report.id != self.venue_id {
            Some(format!("its id is {}", report.id))
        } else if self.symbol.is_some() && symbol.is_some() && self.symbol != symbol {
            Some(format!("its symbol is {}", report.symbol.as_deref().unwrap_or_default()))
        } else if self.direction.is_some() && direction.is_some() && self.direction.as_ref() != direction {
            Some(format!("its direction is {}", direction.copied()?))
        } else {
            let (known, found) = (self.open_time?, report.open_time?);
            let far = known.abs_diff(found);
            (far > self.max_open_time_correction())
                .then(|| format!("its open time differs by {} s", far.get() / 1_000))
        }
    }

    /// Returns at least the trade's duration. A next-candle trade may first report its request time as its open time.
    fn max_open_time_correction(&self) -> Millis {
        let lasts = self.open_time.map_or(Millis::ZERO, |open| self.assumed_close - open);
        MAX_OPEN_TIME_CORRECTION.max(lasts)
    }

    fn next_retry(&mut self, now: Millis) -> Millis {
        let pause = RETRY_DELAYS_MS[self.watch.asked.min(RETRY_DELAYS_MS.len() - 1)];
        self.watch.asked += 1;
        now + Millis::new(pause)
    }
}

/// Builds the settlement from a report. `None` if the outcome or the profit is not known yet.
pub(crate) fn to_settlement(
    report: &TradeReport,
    intent: IntentId,
    trade: &OpenTrade,
    scale: MoneyScale,
) -> Option<TradeSettlement> {
    let outcome = report.progress.outcome()?;
    let profit = reported_profit(report, trade.stake, scale)?;
    Some(TradeSettlement {
        intent,
        outcome,
        profit,
        open_time: report.open_time,
        open_price: report.open_price,
        close_time: report.close_time,
        close_price: report.close_price,
        payout: report.payout,
    })
}

/// Returns the reported profit of a finished trade. If the venue omits the profit, computes it.
pub(super) fn reported_profit(report: &TradeReport, stake: Money, scale: MoneyScale) -> Option<Money> {
    let outcome = report.progress.outcome()?;
    let reported = report.profit.and_then(|profit| scale.convert_rounded(profit).ok());
    reported.or_else(|| computed_profit(outcome, stake, report.payout))
}

/// Computes a trade's profit from its outcome, stake and payout. `None` for a win with an unknown payout.
pub fn computed_profit(outcome: Outcome, stake: Money, payout: Option<Payout>) -> Option<Money> {
    match outcome {
        Outcome::Won => payout.map(|payout| stake.profit_at(payout)),
        Outcome::Lost => Some(-stake),
        Outcome::Draw | Outcome::Cancelled => Some(Money::ZERO),
    }
}

const RECHECK_INTERVAL: Millis = Millis::from_seconds(30);

/// Uninterrupted period during which the venue has not found a closed trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Absence {
    since: Millis,
    last: Millis,
    /// Request times of the first and the last complete list that lacked the trade.
    full_list: Option<(Millis, Millis)>,
    partial_list: Option<(Millis, Millis)>,
    is_reported: bool,
}

impl Absence {
    fn record_list(&mut self, began: Millis, is_whole: bool) {
        let requests = if is_whole { &mut self.full_list } else { &mut self.partial_list };
        *requests = Some((requests.map_or(began, |(first, _)| first), began));
    }

    fn has_lasted(&self, patience: Millis) -> bool {
        (self.last - self.since).min(elapsed(self.full_list).max(elapsed(self.partial_list))) >= patience
    }
}

impl TradeWatch {
    /// Records that the venue does not know the id of a closed trade. Returns false if the trade is not closed yet.
    fn record_unknown_id(&mut self, intent: IntentId, now: Millis) -> bool {
        let Some(trade) = self.find_mut(intent).filter(|trade| now > trade.closes_at()) else { return false };
        let new = Absence { since: now, last: now, full_list: None, partial_list: None, is_reported: false };
        trade.watch.absence.get_or_insert(new).last = now;
        true
    }

    pub(crate) fn clear_absence(&mut self, intent: IntentId) {
        if let Some(trade) = self.find_mut(intent) {
            trade.watch.absence = None;
        }
    }

    /// Records a trade list and returns newly missing trades. A trade may be absent until `lag` after its close.
    fn record_list(&mut self, listing: &TradeListing, lag: Millis, patience: Millis) -> Vec<IntentId> {
        let is_whole = listing.is_complete && listing.end_error.is_none();
        let mut gone = Vec::new();
        for (intent, trade) in &mut self.trades {
            if listing.trades.iter().any(|report| report.id == trade.venue_id) {
                trade.watch.absence = None;
                continue;
            }
            let is_due = listing.began > trade.closes_at() + lag;
            let Some(absence) = trade.watch.absence.as_mut().filter(|_| is_due) else { continue };
            absence.record_list(listing.began, is_whole);
            if absence.has_lasted(patience) && !std::mem::replace(&mut absence.is_reported, true) {
                gone.push(*intent);
            }
        }
        gone
    }
}

impl Coordinator {
    pub(super) fn on_unknown_trade(&mut self, intent: IntentId, now: Millis) {
        if self.trades.record_unknown_id(intent, now) {
            self.agenda.add(now + RECHECK_INTERVAL, Job::Trades);
        }
    }

    pub(super) fn report_missing_trades(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        let patience = Millis::from_seconds(self.settings.missing_trade_s.into());
        for intent in self.trades.record_list(listing, self.doubts.resolver.lag.allowance(), patience) {
            let Some(text) = self.trades.find(intent).and_then(|trade| describe_missing(intent, trade))
            else {
                continue;
            };
            self.halt_or_alarm(text, step);
        }
        if self.trades.iter().any(|(_, trade)| trade.watch.absence.is_some()) {
            self.agenda.add(step.now + RECHECK_INTERVAL, Job::Trades);
        }
    }

    pub(super) fn describe_missing_trades(&self) -> Vec<String> {
        let is_reported = |trade: &OpenTrade| trade.watch.absence.is_some_and(|absence| absence.is_reported);
        let missing = self.trades.iter().filter(|(_, trade)| is_reported(trade));
        missing.filter_map(|(intent, trade)| describe_missing(intent, trade)).collect()
    }

    pub(super) fn settle_manually(
        &mut self,
        intent: IntentId,
        outcome: Outcome,
        reason: &str,
        step: &mut Step<'_>,
    ) -> Result<(), String> {
        if intent >= self.session.session().next_intent() {
            return Err(format!("unknown trade #{intent}"));
        }
        let known = self.session.row(intent).zip(self.trades.find(intent));
        let (row, trade) = known.ok_or_else(|| format!("trade #{intent} is not open"))?;
        let (id, stake, close) = (trade.venue_id.clone(), trade.stake, trade.closes_at());
        if trade.watch.absence.is_none_or(|absence| !absence.is_reported) {
            return Err(format!(
                "the venue may still report the result of trade {id}. Wait until the trade has been missing for {} s \
                 since its close (runtime.missing_trade_s)",
                self.settings.missing_trade_s
            ));
        }
        let profit = computed_profit(outcome, stake, row.payout);
        let profit = profit.ok_or_else(|| {
            format!("the payout of trade {id} is unknown, so the profit of a win cannot be computed")
        })?;
        let settling = BookedResult {
            intent,
            bot: row.approved.bot(),
            stake,
            payout: row.payout,
            outcome,
            profit,
            at: step.now,
            source: ResultSource::Operator,
        };
        self.audits.results.book(&id, settling);
        self.trades.stop_watching(intent);
        let kind = EventKind::SettledByPerson { intent, outcome, profit };
        self.events.add(step.now, EventRank::Settlement(close, intent), kind);
        self.session.alarm(format!("the operator settled trade #{intent} as {outcome}: {reason}"), step);
        self.dispatch_events(step);
        Ok(())
    }
}

fn elapsed(requests: Option<(Millis, Millis)>) -> Millis {
    requests.map_or(Millis::new(-1), |(first, last)| last - first)
}

fn describe_missing(intent: IntentId, trade: &OpenTrade) -> Option<String> {
    let Absence { since, last, full_list, partial_list, .. } = trade.watch.absence?;
    let (id, seconds) = (&trade.venue_id, (last - since).get() / 1_000);
    let ways = if elapsed(full_list) >= elapsed(partial_list) {
        "neither found by id nor listed"
    } else {
        "not found by id, and the list could not be read completely"
    };
    Some(format!(
        "the venue no longer has trade #{intent} ({id}): missing for {seconds} s, {ways}. Look up its result at the venue, \
         then run `candlewick resolve {intent} --settled OUTCOME`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_broker::TradeProgress;
    use candlewick_sdk::rust_decimal::Decimal;

    fn check(report: &TradeReport, expected: Option<(Outcome, i64)>) {
        let mut watch = TradeWatch::new(Millis::ZERO);
        let intent = IntentId::new(1);
        let trade = OpenTrade {
            venue_id: "01JT".to_owned(),
            stake: Money::from_minor(1_000),
            assumed_close: Millis::MINUTE,
            open_time: None,
            close_time: None,
            symbol: None,
            direction: None,
            payout: None,
            watch: WatchState::default(),
        };
        watch.begin(intent, trade, Millis::ZERO);
        let settled = to_settlement(report, intent, watch.find(intent).unwrap(), MoneyScale::default());
        assert_eq!(settled.map(|settled| (settled.outcome, settled.profit.minor())), expected, "{report:?}");
    }

    fn over(outcome: Outcome) -> TradeReport {
        TradeReport { progress: TradeProgress::Over(outcome), ..TradeReport::new("01JT") }
    }

    #[test]
    fn reported_profit_wins_and_a_missing_one_follows_the_rules() {
        let won = over(Outcome::Won);
        check(&TradeReport { profit: Some(Decimal::new(799, 2)), ..won.clone() }, Some((Outcome::Won, 799)));
        let payout = Payout::from_percent(80.into()).ok();
        check(&TradeReport { payout, ..won }, Some((Outcome::Won, 800)));
        check(&over(Outcome::Won), None);
        check(&over(Outcome::Lost), Some((Outcome::Lost, -1_000)));
        check(&over(Outcome::Cancelled), Some((Outcome::Cancelled, 0)));
    }
}
