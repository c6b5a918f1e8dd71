//! The venue: orders in, answers and settlements out, one wallet.
#![allow(
    clippy::inline_always,
    reason = "an outcome is written into its queue directly: see docs/performance.md"
)]

use crate::event::{SettledTrade, UnsettledTrade, VenueEvent};
use crate::order::{Answer, AnswerKind, Order, Refusal};
use crate::order_outcome::OrderOutcome;
use crate::outcome::profit_of;
use crate::outcome_table::{OutcomeTable, TableTrade};
use crate::path::{PathPrice, PriceMoment, PricePath};
use crate::queue::DueQueue;
use crate::wallet::Wallet;
use crate::{Market, SimulationSettings, SimulatorError};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Outcome, Symbol};
use std::sync::Arc;

/// A fixed-time venue in memory.
///
/// It knows all of its candles from the start, and so an order's whole outcome when it is submitted; each part of
/// that is told when it becomes known: the answer at the arrival, the settlement after the settle delay. Time is
/// the caller's: it submits orders in the order of their times, and before an order of time `t` it has popped
/// every event that is due before `t`.
///
/// The wallet changes as events are popped: a stake leaves with its answer and returns with its settlement.
#[derive(Clone, Debug)]
pub struct Simulator {
    settings: SimulationSettings,
    /// Sorted by symbol.
    paths: Vec<PricePath>,
    /// Of one symbol.
    tables: Vec<Arc<OutcomeTable>>,
    wallet: Wallet,
    answers: DueQueue<PendingAnswer>,
    settlements: DueQueue<PendingSettlement>,
    next_due: Millis,
    unsettled: Vec<UnsettledTrade>,
    /// The last stake that was settled at once, and its profit by outcome: the next stake is nearly always the same.
    last_profits: (Money, [Money; 4]),
}

#[derive(Clone, Debug)]
struct PendingAnswer {
    answer: Answer,
    stake: Money,
}

#[derive(Clone, Debug)]
struct PendingSettlement {
    trade: SettledTrade,
    stake: Money,
}

/// An order that is decided at the close of a candle, on the symbol of a venue's [tables](Simulator::with_outcomes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderAtClose {
    /// The place of the candle in the tables' series.
    pub candle: usize,
    /// Its close: the decision time.
    pub time: Millis,
    /// The bet.
    pub direction: Direction,
    /// How it ends.
    pub expiry: Expiry,
    /// What is bet.
    pub stake: Money,
}

/// A trade that was settled at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledAtOnce {
    /// When the venue's answer arrives.
    pub answered_at: Millis,
    /// When it opens.
    pub open_time: Millis,
    /// When it closes.
    pub close_time: Millis,
    /// When its settlement becomes known.
    pub known_at: Millis,
    /// How it ends.
    pub outcome: Outcome,
    /// Net.
    pub profit: Money,
}

impl Simulator {
    /// A venue with these candles and a wallet.
    ///
    /// # Errors
    /// [`SimulatorError`] names the first setting or market that cannot be used.
    pub fn new(
        settings: SimulationSettings,
        balance: Money,
        markets: Vec<Market>,
    ) -> Result<Self, SimulatorError> {
        settings.check()?;
        if balance < Money::ZERO {
            return Err(SimulatorError::RaiseBalance { balance });
        }
        let paths = markets.into_iter().map(|market| PricePath::new(market, &settings));
        let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
        paths.sort_by_key(PricePath::symbol);
        if let Some(pair) = paths.windows(2).find(|pair| pair[0].symbol() == pair[1].symbol()) {
            return Err(SimulatorError::MergeMarkets { symbol: pair[0].symbol() });
        }
        Ok(Self {
            settings,
            paths,
            tables: Vec::new(),
            wallet: Wallet::new(balance),
            answers: DueQueue::new(),
            settlements: DueQueue::new(),
            next_due: Millis::MAX,
            unsettled: Vec::new(),
            last_profits: (Money::ZERO, [Money::ZERO; 4]),
        })
    }

    /// Looks the outcomes of orders up in these tables, which are made with the same settings and candles and are of one symbol. An
    /// order of another symbol or expiry, or at another moment, is priced by the markets as before.
    ///
    /// Tables keep no prices: answers and settlements that come from one have none.
    #[must_use]
    pub fn with_outcomes(mut self, tables: Vec<Arc<OutcomeTable>>) -> Self {
        debug_assert!(tables.windows(2).all(|pair| pair[0].symbol() == pair[1].symbol()));
        self.tables = tables;
        self
    }

    /// Takes an order at its decision time and says what the venue will answer when it arrives.
    ///
    /// The answer and, for a trade, its settlement are queued as events. A trade with an entry at or after the end
    /// of the data, or an exit after it, has no settlement: it stays [`unsettled`](Self::unsettled).
    pub fn submit(&mut self, order: &Order) -> Answer {
        let at = order.time + self.settings.latency_of(order.symbol, order.number);
        if !self.tables.is_empty()
            && let Some(answer) = self.submit_precomputed(order, at)
        {
            return answer;
        }
        let outcome = self.decide(order, at);
        self.queue(order, at, outcome)
    }

    /// Takes an order whose outcome is in a table; nothing happens with any other. Apart, so that an outcome that is computed is written once, into its queue.
    #[inline(never)]
    fn submit_precomputed(&mut self, order: &Order, at: Millis) -> Option<Answer> {
        let outcome = self.tables.iter().find_map(|table| table.outcome_of(order))?;
        let insufficient = OrderOutcome::Refused(Refusal::InsufficientBalance);
        let outcome = if self.covers(order.stake, at) { outcome } else { insufficient };
        Some(self.queue(order, at, outcome))
    }

    /// Takes an order and settles it at once: the same as [`submit`](Self::submit) and everything that follows from it,
    /// without events. `None`, and nothing happens, where other orders are under way, where the wallet does not cover it, and
    /// where no [table](Self::with_outcomes) says that it settles.
    #[inline(always)]
    pub fn settle_at_once(&mut self, order: &OrderAtClose) -> Option<SettledAtOnce> {
        let OrderAtClose { candle, time, direction, expiry, stake } = *order;
        let table = self.tables.iter().find(|table| table.expiry() == expiry)?;
        let TableTrade { outcome, open_time, close_time, known_at } =
            table.trade((candle, time), direction)?;
        if self.next_due != Millis::MAX || !stake.is_positive() || stake > self.wallet.free() {
            return None;
        }
        let answered_at = time + self.settings.latency_ms;
        if stake != self.last_profits.0 {
            let payout = self.settings.payout_percent;
            self.last_profits = (stake, Outcome::ALL.map(|outcome| profit_of(outcome, stake, payout)));
        }
        let profit = self.last_profits.1[outcome as usize];
        self.wallet.pass(profit);
        Some(SettledAtOnce { answered_at, open_time, close_time, known_at, outcome, profit })
    }

    #[inline(always)]
    fn queue(&mut self, order: &Order, at: Millis, outcome: OrderOutcome) -> Answer {
        let Order { number, stake, .. } = *order;
        let answer = Answer { number, at, kind: outcome.answer() };
        match outcome {
            OrderOutcome::Refused(_) => self.answers.push(at, number, || PendingAnswer { answer, stake }),
            OrderOutcome::Settles(_, trade) => {
                self.accept(answer, stake);
                self.settlements.push(trade.known_at, number, || PendingSettlement { trade, stake });
            }
            OrderOutcome::StaysOpen(_) => {
                self.accept(answer, stake);
                self.unsettled.push(UnsettledTrade { number, stake });
            }
        }
        self.update_next_due();
        answer
    }

    /// When the earliest queued event is due.
    #[inline]
    pub fn next_due(&self) -> Option<Millis> {
        (self.next_due != Millis::MAX).then_some(self.next_due)
    }

    /// Takes the next event that is due at `now` or before, in canonical order: by instant; at one instant
    /// settlements (by close time, then order number) before answers (by order number).
    #[inline]
    pub fn pop_due(&mut self, now: Millis) -> Option<VenueEvent> {
        if self.next_due > now {
            return None;
        }
        let event = if self.settlements.next_due() <= self.answers.next_due() {
            let PendingSettlement { trade, stake } = self.settlements.pop()?;
            self.wallet.settle(stake, trade.profit);
            VenueEvent::Settled(trade)
        } else {
            let PendingAnswer { answer, stake } = self.answers.pop()?;
            match answer.kind {
                AnswerKind::Opened(_) => self.wallet.take(stake),
                AnswerKind::Refused(_) => {}
            }
            VenueEvent::Answered(answer)
        };
        self.update_next_due();
        Some(event)
    }

    /// The wallet as of the last event popped: without the stakes of open trades.
    #[inline]
    pub fn balance(&self) -> Money {
        self.wallet.balance()
    }

    /// The stakes that left the wallet and have not returned. Once all events are popped these are the stakes
    /// of unsettled trades, so that `balance() + open_stakes()` is the balance with those returned.
    #[inline]
    pub fn open_stakes(&self) -> Money {
        self.wallet.staked()
    }

    /// The price path of a symbol at a moment, read as an exit and without stress; a symbol that the venue does
    /// not have is all gap.
    pub fn price_at(&self, symbol: Symbol, at: Millis) -> PathPrice {
        self.path_of(symbol).map_or(PathPrice::Gap, |path| path.price(PriceMoment::Exit(at)))
    }

    /// Trades that this data never ends, in the order of their submission.
    pub fn unsettled(&self) -> &[UnsettledTrade] {
        &self.unsettled
    }

    #[inline(always)]
    fn decide(&self, order: &Order, at: Millis) -> OrderOutcome {
        let Some(path) = self.path_of(order.symbol) else {
            return OrderOutcome::Refused(Refusal::UnknownSymbol);
        };
        if !self.covers(order.stake, at) {
            return OrderOutcome::Refused(Refusal::InsufficientBalance);
        }
        OrderOutcome::of(order, at, path, &self.settings)
    }

    #[inline(always)]
    fn accept(&mut self, answer: Answer, stake: Money) {
        self.wallet.promise(stake);
        self.answers.push(answer.at, answer.number, || PendingAnswer { answer, stake });
    }

    /// Whether the wallet will cover a stake at an arrival: settlements known by then have returned, and orders
    /// accepted before have taken theirs.
    fn covers(&self, stake: Money, at: Millis) -> bool {
        let free = self.wallet.free();
        let returned = || self.settlements.due_by(at).map(|due| due.stake + due.trade.profit).sum::<Money>();
        stake.is_positive() && (stake <= free || stake <= free + returned())
    }

    #[inline]
    fn path_of(&self, symbol: Symbol) -> Option<&PricePath> {
        self.paths.iter().find(|path| path.symbol() == symbol)
    }

    #[inline]
    fn update_next_due(&mut self) {
        self.next_due = self.settlements.next_due().min(self.answers.next_due());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{DrawRule, OpenRounding};
    use ExpirationType::{CandleClose, NextCandle, TimeFixed};
    use candlewick_sdk::{Candle, CandleSeries, Direction, ExpirationType, Expiry, Interval, Ohlcv, Series};

    const START: i64 = 1_641_038_400_000;

    fn millis(offset: i64) -> Millis {
        Millis::new(START + offset)
    }

    fn symbol() -> Symbol {
        Symbol::new("BTCUSDT").unwrap()
    }

    /// Minutes 0 to 3, a hole at 4, minutes 5 and 6. Each rises by 6 from 100 x (minute + 1), but minute 2 falls
    /// by 6 and minute 3 is flat at minute 2's close. The data ends at 420,000.
    fn market() -> Market {
        market_of(symbol())
    }

    fn market_of(symbol: Symbol) -> Market {
        let rows = [
            (0, 100.0, 106.0),
            (1, 200.0, 206.0),
            (2, 300.0, 294.0),
            (3, 294.0, 294.0),
            (5, 600.0, 606.0),
            (6, 700.0, 706.0),
        ];
        let candle = |(minute, open, close): (i64, f64, f64)| {
            let (high, low) = (f64::max(open, close) + 1.0, f64::min(open, close) - 1.0);
            let numbers = Ohlcv { open, high, low, close, volume: 0.0 };
            Candle::new(millis(minute * 60_000), Interval::MINUTE, numbers).unwrap()
        };
        let series = Series { symbol, interval: Interval::MINUTE };
        Market { prices: CandleSeries::new(series, rows.map(candle).to_vec()).unwrap(), detail: Vec::new() }
    }

    fn exact(latency: i64) -> SimulationSettings {
        SimulationSettings {
            latency_ms: Millis::new(latency),
            open_rounding: OpenRounding::None,
            ..SimulationSettings::default()
        }
    }

    fn venue(settings: SimulationSettings, balance: i64) -> Simulator {
        Simulator::new(settings, Money::from_minor(balance), vec![market()]).unwrap()
    }

    fn order(number: u64, kind: ExpirationType, close_type: &str, offset: i64) -> Order {
        Order {
            number,
            symbol: symbol(),
            direction: Direction::Buy,
            stake: Money::from_minor(1_000),
            expiry: Expiry { close_type: close_type.parse().unwrap(), expiration_type: kind },
            time: millis(offset),
        }
    }

    fn drain(venue: &mut Simulator) -> Vec<VenueEvent> {
        std::iter::from_fn(|| venue.pop_due(Millis::MAX)).collect()
    }

    /// What a settlement says, with times counted from the start.
    type Told = (Outcome, i64, Option<f64>, Option<f64>, i64, i64, i64);

    fn told(trade: &SettledTrade) -> Told {
        let offset = |time: Millis| time.get() - START;
        let times = [trade.open_time, trade.close_time, trade.known_at].map(offset);
        (
            trade.outcome,
            trade.profit.minor(),
            trade.open_price,
            trade.close_price,
            times[0],
            times[1],
            times[2],
        )
    }

    /// One one-minute BUY, decided at `offset`, that opens and settles.
    fn check(settings: SimulationSettings, kind: ExpirationType, offset: i64, expected: Told) {
        let latency = settings.latency_ms;
        let mut venue = venue(settings, 5_000);
        let answer = venue.submit(&order(7, kind, "01:00", offset));
        assert_eq!(answer.at, millis(offset) + latency);
        let events = drain(&mut venue);
        let [VenueEvent::Answered(answered), VenueEvent::Settled(trade)] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!((*answered, told(trade)), (answer, expected));
        assert_eq!((venue.balance().minor(), venue.open_stakes().minor()), (5_000 + expected.1, 0));
    }

    #[test]
    fn a_signal_without_latency_enters_at_the_open_and_exits_at_the_close() {
        let won = (Outcome::Won, 800, Some(100.0), Some(106.0), 0, 60_000, 64_000);
        check(exact(0), TimeFixed, 0, won);
        check(exact(0), CandleClose, 0, won);
        let next = (Outcome::Won, 800, Some(200.0), Some(206.0), 60_000, 120_000, 124_000);
        check(exact(0), NextCandle, 0, next);
        let lost = (Outcome::Lost, -1_000, Some(300.0), Some(294.0), 120_000, 180_000, 184_000);
        check(exact(0), TimeFixed, 120_000, lost);
    }

    #[test]
    fn latency_moves_the_open_along_the_path() {
        // 1.5 s of 60 s along a rise of 6 is 0.15.
        let fixed = (Outcome::Won, 800, Some(100.15), Some(200.15), 1_500, 61_500, 65_500);
        check(exact(1_500), TimeFixed, 0, fixed);
        let candle = (Outcome::Won, 800, Some(100.15), Some(106.0), 1_500, 60_000, 64_000);
        check(exact(1_500), CandleClose, 0, candle);
        let next = (Outcome::Won, 800, Some(200.0), Some(206.0), 60_000, 120_000, 124_000);
        check(exact(1_500), NextCandle, 0, next);
        // 61 s: the second minute's second second.
        let late = (Outcome::Won, 800, Some(200.1), Some(299.9), 61_000, 121_000, 125_000);
        check(exact(61_000), TimeFixed, 0, late);
    }

    #[test]
    fn at_a_second_end_prices_are_those_of_whole_seconds() {
        let with = |latency| SimulationSettings {
            latency_ms: Millis::new(latency),
            ..SimulationSettings::default()
        };
        check(with(0), TimeFixed, 0, (Outcome::Won, 800, Some(100.1), Some(200.1), 999, 60_999, 64_999));
        check(with(0), CandleClose, 0, (Outcome::Won, 800, Some(100.1), Some(106.0), 999, 60_000, 64_000));
        check(
            with(0),
            NextCandle,
            0,
            (Outcome::Won, 800, Some(200.0), Some(206.0), 60_000, 120_000, 124_000),
        );
        // 59,500 rounds to 59,999: the price at 60,000 is the close that ends there, not the next open.
        let edge = (Outcome::Won, 800, Some(106.0), Some(206.0), 59_999, 119_999, 123_999);
        check(with(59_500), TimeFixed, 0, edge);
    }

    #[test]
    fn equal_prices_draw_or_lose_as_set() {
        let draw = (Outcome::Draw, 0, Some(294.0), Some(294.0), 180_000, 240_000, 244_000);
        check(exact(0), TimeFixed, 180_000, draw);
        let settings = SimulationSettings { draw: DrawRule::Loss, ..exact(0) };
        let lost = (Outcome::Lost, -1_000, Some(294.0), Some(294.0), 180_000, 240_000, 244_000);
        check(settings, TimeFixed, 180_000, lost);
    }

    #[test]
    fn a_missing_price_cancels_and_returns_the_stake() {
        // The exit lies in the hole.
        let no_exit = (Outcome::Cancelled, 0, Some(294.0), None, 181_500, 241_500, 245_500);
        check(exact(1_500), TimeFixed, 180_000, no_exit);
        // The candle that would end at 300,000 is missing; the one that opens there does not answer for it.
        let no_end = (Outcome::Cancelled, 0, None, None, 240_000, 300_000, 304_000);
        check(exact(0), NextCandle, 180_000, no_end);
        let stand_in = SimulationSettings { max_gap_intervals: 1, ..exact(0) };
        let draw = (Outcome::Draw, 0, Some(294.0), Some(294.0), 240_000, 300_000, 304_000);
        check(stand_in, NextCandle, 180_000, draw);
    }

    #[test]
    fn a_hole_inside_a_trade_does_not_matter() {
        let mut venue = venue(exact(0), 5_000);
        venue.submit(&order(1, TimeFixed, "03:00", 180_000));
        let events = drain(&mut venue);
        let [_, VenueEvent::Settled(trade)] = &events[..] else { panic!("{events:?}") };
        let expected = (Outcome::Won, 800, Some(294.0), Some(606.0), 180_000, 360_000, 364_000);
        assert_eq!(told(trade), expected);
    }

    #[test]
    fn stress_moves_both_prices_against_the_trade() {
        // Each range is 8; 0.5 x 8 x sqrt(15 / 60) = 2 on either side.
        let settings = SimulationSettings { stress: 0.5, ..exact(15_000) };
        let bought = (Outcome::Won, 800, Some(103.5), Some(199.5), 15_000, 75_000, 79_000);
        check(settings.clone(), TimeFixed, 0, bought);
        let mut venue = venue(settings, 5_000);
        venue.submit(&Order { direction: Direction::Sell, ..order(1, CandleClose, "01:00", 105_000) });
        let events = drain(&mut venue);
        let [_, VenueEvent::Settled(trade)] = &events[..] else { panic!("{events:?}") };
        let sold = (Outcome::Won, 800, Some(298.0), Some(296.0), 120_000, 180_000, 184_000);
        assert_eq!(told(trade), sold);
    }

    #[test]
    fn an_order_is_refused_for_one_of_three_reasons() {
        let refused = |order: Order, balance: i64, expected: Refusal| {
            let mut venue = venue(exact(500), balance);
            let answer = venue.submit(&order);
            assert_eq!(answer.kind, AnswerKind::Refused(expected));
            assert_eq!(drain(&mut venue), [VenueEvent::Answered(answer)]);
            assert_eq!((venue.balance().minor(), venue.unsettled().len()), (balance, 0));
        };
        refused(order(1, TimeFixed, "01:00", 240_000), 5_000, Refusal::NoPrice);
        refused(order(1, CandleClose, "01:00", 299_000), 5_000, Refusal::NoPrice);
        refused(order(1, TimeFixed, "01:00", 0), 999, Refusal::InsufficientBalance);
        let stranger = Symbol::new("ETHUSDT").unwrap();
        refused(Order { symbol: stranger, ..order(1, TimeFixed, "01:00", 0) }, 5_000, Refusal::UnknownSymbol);
        let nothing = Order { stake: Money::ZERO, ..order(1, TimeFixed, "01:00", 0) };
        refused(nothing, 5_000, Refusal::InsufficientBalance);
    }

    #[test]
    fn a_trade_that_closes_with_the_data_settles_and_a_later_one_never_does() {
        let settled = (Outcome::Won, 800, Some(700.0), Some(706.0), 360_000, 420_000, 424_000);
        check(exact(0), TimeFixed, 360_000, settled);
        let stays = |latency, kind, close_type, offset, open_price| {
            let mut venue = venue(exact(latency), 5_000);
            let answer = venue.submit(&order(7, kind, close_type, offset));
            let AnswerKind::Opened(opening) = answer.kind else { panic!("{answer:?}") };
            assert_eq!(opening.open_price, open_price, "{kind:?} at {offset}");
            assert_eq!(drain(&mut venue), [VenueEvent::Answered(answer)]);
            let stake = Money::from_minor(1_000);
            assert_eq!(venue.unsettled(), [UnsettledTrade { number: 7, stake }]);
            assert_eq!((venue.balance().minor(), venue.open_stakes().minor()), (4_000, 1_000));
        };
        stays(6_000, TimeFixed, "01:00", 360_000, Some(700.6));
        stays(0, CandleClose, "01:00", 390_000, Some(703.0));
        // The entry itself lies at or after the end.
        stays(0, TimeFixed, "01:00", 420_000, None);
        stays(1_500, CandleClose, "01:00", 419_000, None);
        // A NEXT_CANDLE needs no price to be accepted.
        stays(0, NextCandle, "01:00", 360_000, None);
        stays(0, NextCandle, "01:00", 420_000, None);
        // Opens in the gap at 240,000; what needs an exit after the end is never cancelled.
        stays(0, NextCandle, "04:00", 230_000, None);
    }

    #[test]
    fn an_accepted_next_candle_has_no_price_yet() {
        let mut venue = venue(exact(50), 5_000);
        let answer = venue.submit(&order(1, NextCandle, "01:00", 0));
        let AnswerKind::Opened(opening) = answer.kind else { panic!("{answer:?}") };
        assert_eq!((opening.open_price, opening.open_time), (None, millis(60_000)));
        assert_eq!(answer.at, millis(50));
    }

    #[test]
    fn stakes_leave_at_the_answer_and_return_when_the_settlement_is_known() {
        let mut venue = venue(exact(1_500), 5_000);
        venue.submit(&order(1, TimeFixed, "01:00", 0));
        for (now, balance, next) in [
            (0, 5_000, Some(1_500)),
            (1_499, 5_000, Some(1_500)),
            (1_500, 4_000, Some(65_500)),
            (65_499, 4_000, Some(65_500)),
            (65_500, 5_800, None),
        ] {
            while venue.pop_due(millis(now)).is_some() {}
            assert_eq!((venue.balance().minor(), venue.next_due()), (balance, next.map(millis)), "at {now}");
        }
    }

    #[test]
    fn the_wallet_is_asked_at_the_arrival() {
        // The first takes all; it is back, with 800, at 64,000: an order that arrives then is covered.
        for (latency, offset, opened) in [(0, 63_999, false), (0, 64_000, true), (4_000, 60_000, true)] {
            let mut venue = venue(exact(latency), 1_000);
            venue.submit(&order(1, TimeFixed, "01:00", -latency));
            while venue.pop_due(millis(offset)).is_some() {}
            let answer = venue.submit(&order(2, TimeFixed, "01:00", offset));
            assert_eq!(matches!(answer.kind, AnswerKind::Opened(_)), opened, "{latency} from {offset}");
        }
        // Two orders on their way cannot have the same money.
        let mut venue = venue(exact(2_000), 1_999);
        assert!(matches!(venue.submit(&order(1, TimeFixed, "01:00", 0)).kind, AnswerKind::Opened(_)));
        let second = venue.submit(&order(2, TimeFixed, "01:00", 1_000));
        assert_eq!(second.kind, AnswerKind::Refused(Refusal::InsufficientBalance));
    }

    #[test]
    fn at_one_instant_settlements_come_before_answers_and_each_by_number() {
        let mut venue = venue(exact(0), 9_000);
        venue.submit(&order(5, TimeFixed, "01:00", 4_000));
        venue.submit(&order(4, CandleClose, "02:00", 4_000));
        while venue.pop_due(millis(4_000)).is_some() {}
        // 5 is known at 68,000; these two answers are due then.
        venue.submit(&order(9, TimeFixed, "01:00", 68_000));
        venue.submit(&order(8, TimeFixed, "01:00", 68_000));
        let order_of = |venue: &mut Simulator| {
            let told = |event: VenueEvent| (event.at().get() - START, event.number());
            drain(venue).into_iter().map(told).collect::<Vec<_>>()
        };
        let expected = [(68_000, 5), (68_000, 8), (68_000, 9), (124_000, 4), (132_000, 8), (132_000, 9)];
        assert_eq!(order_of(&mut venue), expected);
    }

    #[test]
    fn the_price_record_of_a_moment_is_the_path_as_an_exit() {
        let venue = venue(exact(0), 5_000);
        assert_eq!(venue.price_at(symbol(), millis(60_000)), PathPrice::Price(106.0));
        assert_eq!(venue.price_at(symbol(), millis(250_000)), PathPrice::Gap);
        assert_eq!(venue.price_at(symbol(), millis(420_001)), PathPrice::Beyond);
        assert_eq!(venue.price_at(Symbol::new("X").unwrap(), millis(60_000)), PathPrice::Gap);
    }

    #[test]
    fn every_market_is_found_whatever_their_order() {
        let symbols = ["ZECUSDT", "ADAUSDT", "BTCUSDT"].map(|name| Symbol::new(name).unwrap());
        let venue = Simulator::new(exact(0), Money::ZERO, symbols.map(market_of).to_vec()).unwrap();
        for symbol in symbols {
            assert_eq!(venue.price_at(symbol, millis(60_000)), PathPrice::Price(106.0), "{symbol}");
        }
    }

    #[test]
    fn a_venue_that_cannot_be_is_refused() {
        let made = |settings, balance, markets| Simulator::new(settings, Money::from_minor(balance), markets);
        let error = |made: Result<Simulator, SimulatorError>| made.unwrap_err().to_string();
        assert_eq!(error(made(exact(-1), 0, vec![])), "[simulation] latency_ms = -1: use 0 to 86400000");
        assert_eq!(
            error(made(exact(0), -1, vec![])),
            "the wallet cannot start with -1 minor units: use 0 or more"
        );
        assert_eq!(
            error(made(exact(0), 0, vec![market(), market_of(Symbol::new("ZECUSDT").unwrap()), market()])),
            "BTCUSDT is given twice: give one market for each symbol, with its finer candles as detail"
        );
    }
}
