//! Simulates each recorded decision with the recorded candles, and explains outcomes that differ.

use super::{Cause, outcome_text};
use crate::RecordsError;
use crate::contents::JournalContents;
use crate::lines::RecordedCandles;
use crate::run::RecordedRun;
use crate::trade::{IntentOrigin, TradeLine};
use candlewick_engine::{BotSettings, IntentRow, IntentState};
use candlewick_journal::StoredLine;
use candlewick_sdk::{Candle, CandleSeries, ExpirationType, Millis, Money, Outcome, Series, Symbol};
use candlewick_simulator::{
    AnswerKind, Market, Opening, Order, Refusal, SettledTrade, SimulationSettings, Simulator, VenueEvent,
    trade_outcome, trade_profit,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Simulated balance, high enough for any order, because this check does not compare balances.
const UNLIMITED_BALANCE: Money = Money::from_minor(1_000_000_000_000_000);
/// Relative tolerance for prices, which lose digits when they are printed and parsed.
const PRICE_TOLERANCE: f64 = 1e-9;

#[derive(Debug, Default, Serialize)]
pub(super) struct OutcomeComparison {
    pub intents: usize,
    pub agree: usize,
    /// Number of differing trades for each cause. A trade may have several causes.
    pub causes: BTreeMap<&'static str, usize>,
    pub differing: Vec<DifferingTrade>,
}

#[derive(Debug, Serialize)]
pub(super) struct DifferingTrade {
    #[serde(flatten)]
    pub recorded: TradeLine,
    pub simulated: SimulatedTrade,
    pub decide_to_open_ms: Option<Millis>,
    pub causes: BTreeSet<Cause>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct SimulatedTrade {
    state: &'static str,
    result: Option<Outcome>,
    /// Profit in minor units of the wallet's currency.
    #[serde(skip)]
    profit: Money,
    open_time: Option<Millis>,
    open_price: Option<f64>,
    close_time: Option<Millis>,
    close_price: Option<f64>,
}

struct SimulatedVenue {
    simulator: Simulator,
    settings: SimulationSettings,
    entry_delays: BTreeMap<String, Millis>,
}

impl OutcomeComparison {
    pub(super) fn compare(contents: &JournalContents, lines: &[StoredLine]) -> Result<Self, RecordsError> {
        let mut candles = RecordedCandles::default();
        lines.iter().try_for_each(|stored| candles.add_line(stored))?;
        let mut venues = BTreeMap::new();
        for run in &contents.runs {
            venues.insert(run.number, SimulatedVenue::new(run, &candles)?);
        }
        let mut outcomes = Self::default();
        for (row, origin) in contents.intents() {
            let Some(venue) = venues.get_mut(&origin.run) else { continue };
            // A result that an operator entered is not a result of the venue.
            if contents.book.is_settled_by_operator(row.approved.intent()) {
                continue;
            }
            outcomes.intents += 1;
            let simulated = venue.simulate(row, origin, venue.assumed_arrival(row, origin));
            if simulated.agrees_with(row) {
                outcomes.agree += 1;
                continue;
            }
            let causes = venue.find_causes((row, origin), &simulated, &candles);
            for cause in &causes {
                *outcomes.causes.entry(cause.as_str()).or_default() += 1;
            }
            outcomes.differing.push(DifferingTrade {
                recorded: TradeLine::new(&contents.book, (row, origin)),
                simulated,
                decide_to_open_ms: row.open_time.map(|open| open - row.approved.decision_time()),
                causes,
            });
        }
        Ok(outcomes)
    }

    pub(super) fn unexplained_count(&self) -> usize {
        self.causes.get(Cause::Unexplained.as_str()).copied().unwrap_or_default()
    }
}

impl SimulatedVenue {
    fn new(run: &RecordedRun, candles: &RecordedCandles) -> Result<Self, RecordsError> {
        let settings = SimulationSettings { recorded_latency: None, ..run.simulation.clone() };
        let simulator = Simulator::new(settings.clone(), UNLIMITED_BALANCE, candles.markets())?;
        let delay = |bot: &BotSettings| (bot.name.clone(), bot.entry_delay().unwrap_or(Millis::ZERO));
        let entry_delays = run.settings.bots.iter().map(delay).collect();
        Ok(Self { simulator, settings, entry_delays })
    }

    fn assumed_arrival(&self, row: &IntentRow, origin: &IntentOrigin) -> Millis {
        let delay = self.entry_delays.get(&origin.bot).copied().unwrap_or(Millis::ZERO);
        row.approved.decision_time() + delay + self.settings.latency_ms
    }

    fn simulate(&mut self, row: &IntentRow, origin: &IntentOrigin, arrival: Millis) -> SimulatedTrade {
        let trade = &row.approved;
        let answer = self.simulator.submit(&Order {
            number: trade.intent().number(),
            symbol: origin.symbol,
            direction: trade.direction(),
            stake: trade.stake(),
            expiry: trade.expiry(),
            time: arrival - self.settings.latency_ms,
        });
        let mut settled = None;
        while let Some(event) = self.simulator.pop_due(Millis::MAX) {
            if let VenueEvent::Settled(trade) = event {
                settled = Some(trade);
            }
        }
        match (answer.kind, settled) {
            (
                AnswerKind::Refused(Refusal::NoPrice | Refusal::UnknownSymbol | Refusal::InsufficientBalance),
                _,
            ) => SimulatedTrade { state: "rejected", ..SimulatedTrade::default() },
            (AnswerKind::Opened(opening), None) => SimulatedTrade::from_opening(&opening),
            (AnswerKind::Opened(_), Some(trade)) => SimulatedTrade::from_settled(&trade),
        }
    }

    fn find_causes(
        &mut self,
        (row, origin): (&IntentRow, &IntentOrigin),
        simulated: &SimulatedTrade,
        candles: &RecordedCandles,
    ) -> BTreeSet<Cause> {
        match row.state {
            IntentState::Rejected
            | IntentState::NotSent
            | IntentState::NotOpened
            | IntentState::InDoubt
            | IntentState::InFlight => return BTreeSet::from([Cause::Refusal]),
            IntentState::Open | IntentState::Settled => {}
        }
        let arrival = arrival_time(row).unwrap_or(self.assumed_arrival(row, origin));
        let own = self.simulate(row, origin, arrival);
        let mut causes = BTreeSet::new();
        let is_moved = simulated.state != "rejected" && !simulated.matches_recorded_times(row);
        if is_moved || simulated.state != own.state {
            causes.insert(Cause::Latency);
        }
        if own.agrees_with(row) {
            causes.insert(Cause::Latency);
            return causes;
        }
        causes.extend(self.find_amount_causes(row, origin.symbol));
        match own.state {
            "rejected" => _ = causes.insert(Cause::Gap),
            state if state != row.state.as_str() => _ = causes.insert(Cause::EndOfRecording),
            _ => causes.extend(self.find_price_causes((row, origin), &own, candles)),
        }
        if causes.is_empty() {
            causes.insert(Cause::Unexplained);
        }
        causes
    }

    fn find_amount_causes(&self, row: &IntentRow, symbol: Symbol) -> BTreeSet<Cause> {
        let mut causes = BTreeSet::new();
        let Some(outcome) = row.outcome else { return causes };
        let trade = &row.approved;
        let is_decided = outcome != Outcome::Cancelled;
        if let (Some(open), Some(close), true) = (row.open_price, row.close_price, is_decided)
            && trade_outcome(trade.direction(), open, close, self.settings.draw) != outcome
        {
            causes.insert(Cause::Unexplained);
        }
        let assumed = self.settings.payout_of(symbol);
        let payout = row.payout.unwrap_or(assumed);
        let is_as_told = trade_profit(outcome, trade.stake(), payout) == row.profit;
        causes.extend(match (is_as_told, row.payout) {
            (true, Some(paid)) if paid != assumed && outcome == Outcome::Won => Some(Cause::Payout),
            (true, _) => None,
            (false, None) if outcome == Outcome::Won && row.profit.is_positive() => Some(Cause::Payout),
            (false, _) => Some(Cause::Unexplained),
        });
        causes
    }

    fn find_price_causes(
        &self,
        (row, origin): (&IntentRow, &IntentOrigin),
        own: &SimulatedTrade,
        candles: &RecordedCandles,
    ) -> BTreeSet<Cause> {
        let mut causes = BTreeSet::new();
        if !own.matches_recorded_times(row) {
            causes.insert(Cause::Unexplained);
        }
        let tick = self.settings.ticks.get(&origin.symbol).copied().unwrap_or_default();
        let sides = [
            (own.open_price, row.open_price, own.open_time),
            (own.close_price, row.close_price, own.close_time),
        ];
        for (simulated, recorded, at) in sides {
            let (Some(recorded), Some(at)) = (recorded, at) else { continue };
            let is_close = |price: f64| is_same_price(price, recorded);
            causes.extend(match (simulated.map(is_close), candles.price_range_at(origin.symbol, at)) {
                (Some(true), _) => None,
                (None, _) | (_, None) => Some(Cause::Gap),
                (_, Some((low, high))) if recorded >= low - tick && recorded <= high + tick => {
                    Some(Cause::PriceSource)
                }
                _ if candles.has_gap_at(origin.symbol, at) => Some(Cause::Gap),
                _ => Some(Cause::Unexplained),
            });
        }
        // Either the journal lacks the closing candle, or the venue lacked a candle that the journal contains.
        if own.result == Some(Outcome::Cancelled) && row.outcome != Some(Outcome::Cancelled) {
            causes.insert(Cause::Gap);
        }
        causes
    }
}

impl fmt::Display for SimulatedTrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = self.result.map_or(self.state, Outcome::as_str);
        f.write_str(&outcome_text(result, self.open_price, self.close_price))
    }
}

impl SimulatedTrade {
    fn from_opening(opening: &Opening) -> Self {
        Self {
            state: "open",
            open_time: Some(opening.open_time),
            open_price: opening.open_price,
            close_time: Some(opening.close_time),
            ..Self::default()
        }
    }

    fn from_settled(trade: &SettledTrade) -> Self {
        Self {
            state: "settled",
            result: Some(trade.outcome),
            profit: trade.profit,
            open_time: Some(trade.open_time),
            open_price: trade.open_price,
            close_time: Some(trade.close_time),
            close_price: trade.close_price,
        }
    }

    /// Returns whether the simulated trade agrees with all fields that the venue reported.
    fn agrees_with(&self, row: &IntentRow) -> bool {
        let is_settled = row.state == IntentState::Settled;
        let has_price = |simulated: Option<f64>, recorded: Option<f64>| match (simulated, recorded) {
            (Some(simulated), Some(recorded)) => is_same_price(simulated, recorded),
            (_, None) => true,
            (None, Some(_)) => !is_settled,
        };
        self.state == row.state.as_str()
            && self.matches_recorded_times(row)
            && has_price(self.open_price, row.open_price)
            && (!is_settled
                || (self.result == row.outcome
                    && self.profit == row.profit
                    && has_price(self.close_price, row.close_price)))
    }

    fn matches_recorded_times(&self, row: &IntentRow) -> bool {
        let is_so =
            |simulated: Option<Millis>, recorded: Option<Millis>| recorded.is_none() || simulated == recorded;
        is_so(self.open_time, row.open_time) && is_so(self.close_time, row.close_time)
    }
}

fn arrival_time(row: &IntentRow) -> Option<Millis> {
    let expiry = row.approved.expiry();
    match (row.open_time, expiry.expiration_type) {
        // The trade opens with the next candle, so any time within the previous candle is suitable.
        (Some(open), ExpirationType::NextCandle) => Some(open - expiry.close_type.duration()),
        (Some(open), _) => Some(open),
        (None, _) => row.answered_at,
    }
}

fn is_same_price(one: f64, other: f64) -> bool {
    (one - other).abs() <= PRICE_TOLERANCE * one.abs().max(other.abs())
}

/// Tolerance for the timestamps of prices, because venues round them to whole seconds.
const TIMESTAMP_SLACK: Millis = Millis::SECOND;

impl RecordedCandles {
    fn markets(&self) -> Vec<Market> {
        let mut finest: BTreeMap<Symbol, Series> = BTreeMap::new();
        for series in self.by_series.keys() {
            let known = finest.entry(series.symbol).or_insert(*series);
            *known = if series.interval < known.interval { *series } else { *known };
        }
        let market = |series: &Series| {
            let candles: Vec<Candle> = self.by_series.get(series)?.values().copied().collect();
            Some(Market { prices: CandleSeries::new(*series, candles).ok()?, detail: Vec::new() })
        };
        finest.values().filter_map(market).collect()
    }

    fn finest_candles(&self, symbol: Symbol) -> Option<(Millis, &BTreeMap<Millis, Candle>)> {
        let of_symbol = self.by_series.iter().filter(|(series, _)| series.symbol == symbol);
        let (series, candles) = of_symbol.min_by_key(|(series, _)| series.interval)?;
        Some((series.interval.length(), candles))
    }

    fn has_gap_at(&self, symbol: Symbol, at: Millis) -> bool {
        let Some((length, candles)) = self.finest_candles(symbol) else { return true };
        let is_missing = |moment: Millis| {
            let open = moment.floor_to(length);
            !candles.contains_key(&open) && candles.range(open..).next().is_some()
        };
        is_missing(at - TIMESTAMP_SLACK) || is_missing(at + TIMESTAMP_SLACK)
    }

    fn price_range_at(&self, symbol: Symbol, at: Millis) -> Option<(f64, f64)> {
        let (length, candles) = self.finest_candles(symbol)?;
        let first = (at - TIMESTAMP_SLACK).floor_to(length);
        let around = candles.range(first - length..=at + TIMESTAMP_SLACK);
        let near = around.map(|(_, one)| one).filter(|one| one.time() + length >= at - TIMESTAMP_SLACK);
        near.map(|candle| (candle.low(), candle.high()))
            .reduce(|(low, high), (other_low, other_high)| (low.min(other_low), high.max(other_high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Ohlcv};

    #[test]
    fn price_belongs_to_the_candles_around_its_time() {
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let candle = |minute: i64, low: f64, high: f64| {
            let numbers = Ohlcv { open: low, high, low, close: high, volume: 0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        };
        let mut recorded = RecordedCandles::default();
        let candles = recorded.by_series.entry(series).or_default();
        for candle in [candle(1, 10.0, 20.0), candle(2, 30.0, 40.0), candle(5, 1.0, 2.0)] {
            candles.insert(candle.time(), candle);
        }
        for (at, expected) in [
            (90_000, Some((10.0, 20.0))),
            (119_999, Some((10.0, 40.0))),
            (121_000, Some((10.0, 40.0))),
            (121_001, Some((30.0, 40.0))),
            (240_000, None),
            (360_000, Some((1.0, 2.0))),
        ] {
            assert_eq!(recorded.price_range_at(series.symbol, Millis::new(at)), expected, "{at}");
        }
        let gaps = [120_000, 178_999, 179_000, 240_000, 360_000, 361_000]
            .map(|at| recorded.has_gap_at(series.symbol, Millis::new(at)));
        assert_eq!(gaps, [false, false, true, true, false, false]);
    }
}
