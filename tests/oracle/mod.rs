//! The oracle: expected trades of a signal list, computed with the standard library only. If it and the simulator
//! disagree, one misreads the rules. Times are integer milliseconds since the epoch, prices floats, money whole cents.

use std::collections::BTreeMap;

/// Open time, open, high, low, close.
pub(crate) type CandleRow = (i64, f64, f64, f64, f64);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Direction {
    Buy,
    Sell,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expiration {
    TimeFixed,
    CandleClose,
    NextCandle,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rounding {
    None,
    SecondEnd,
}

/// `path`: the price strictly inside a candle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Path {
    Linear,
    Open,
}

/// `draw`: what equal prices mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Draw {
    Refund,
    Loss,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cutoff {
    /// 30,000 for durations of 60 s and more, 0 below.
    ByDuration,
    Ms(i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Signal {
    pub(crate) decision_time: i64,
    pub(crate) direction: Direction,
    pub(crate) duration_ms: i64,
    pub(crate) expiration: Expiration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) interval_ms: i64,
    pub(crate) latency_ms: i64,
    pub(crate) rounding: Rounding,
    pub(crate) cutoff: Cutoff,
    pub(crate) payout_percent: f64,
    pub(crate) settle_delay_ms: i64,
    pub(crate) path: Path,
    pub(crate) draw: Draw,
    pub(crate) max_gap_intervals: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Won,
    Lost,
    Draw,
    Cancelled,
    RefusedNoPrice,
    Unsettled,
}

/// Result of one signal. A refused signal has no times or prices, an unsettled trade no close, profit or `known_at`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) decision_time: i64,
    pub(crate) open_time: Option<i64>,
    pub(crate) open_price: Option<f64>,
    pub(crate) close_time: Option<i64>,
    pub(crate) close_price: Option<f64>,
    pub(crate) outcome: Outcome,
    pub(crate) pnl_cents: Option<i64>,
    pub(crate) known_at: Option<i64>,
}

/// Trades every signal in order, without limits of risk or money. There must be at least one candle.
pub(crate) fn trade_every_signal(
    candles: &[CandleRow],
    signals: &[Signal],
    settings: &Settings,
    stake_cents: i64,
) -> Vec<Row> {
    let prices = Prices::from_candles(candles, settings);
    signals.iter().map(|signal| trade(&prices, signal, settings, stake_cents)).collect()
}

fn trade(prices: &Prices, signal: &Signal, settings: &Settings, stake_cents: i64) -> Row {
    let arrival = signal.decision_time + settings.latency_ms;
    let open_time = open_moment(signal, arrival, settings);
    let close_time = close_moment(signal, open_time, settings);

    let unsettled = Row {
        decision_time: signal.decision_time,
        open_time: Some(open_time),
        open_price: None,
        close_time: None,
        close_price: None,
        outcome: Outcome::Unsettled,
        pnl_cents: None,
        known_at: None,
    };
    let cancelled = Row {
        close_time: Some(close_time),
        outcome: Outcome::Cancelled,
        pnl_cents: Some(0),
        known_at: Some(close_time + settings.settle_delay_ms),
        ..unsettled
    };
    // Refused by the venue's answer, given at the arrival.
    let refused =
        Row { open_time: None, outcome: Outcome::RefusedNoPrice, known_at: Some(arrival), ..unsettled };

    let entry = entry_price(prices, signal, open_time, settings);
    let exit = exit_price(prices, close_time, settings);
    let (open_price, close_price) = match (entry, exit) {
        (Price::At(open), Price::At(close)) => (open, close),
        // A NEXT_CANDLE is accepted at its arrival, so it can no longer be refused.
        (Price::Missing, _) if signal.expiration != Expiration::NextCandle => return refused,
        // A trade that needs a price after the end is never cancelled, even with a gap at its entry.
        (Price::AfterEnd, _) | (_, Price::AfterEnd) => return Row { open_price: entry.at(), ..unsettled },
        (Price::Missing, _) | (_, Price::Missing) => {
            return Row { open_price: entry.at(), close_price: exit.at(), ..cancelled };
        }
    };
    let outcome = decide_outcome(signal.direction, open_price, close_price, settings.draw);
    let pnl_cents = Some(pnl_cents(outcome, stake_cents, settings.payout_percent));
    Row { open_price: Some(open_price), close_price: Some(close_price), outcome, pnl_cents, ..cancelled }
}

/// Rules 1 and 4: open moment `o` of a signal that arrives at `arrival`.
fn open_moment(signal: &Signal, arrival: i64, settings: &Settings) -> i64 {
    match (signal.expiration, settings.rounding) {
        (Expiration::NextCandle, _) => candle_start(arrival, signal.duration_ms) + signal.duration_ms,
        (_, Rounding::None) => arrival,
        (_, Rounding::SecondEnd) => candle_start(arrival, 1_000) + 999,
    }
}

/// Rules 2, 3 and 4: close moment `c`.
fn close_moment(signal: &Signal, open_time: i64, settings: &Settings) -> i64 {
    let duration = signal.duration_ms;
    match signal.expiration {
        Expiration::TimeFixed | Expiration::NextCandle => open_time + duration,
        Expiration::CandleClose => {
            let cutoff = match settings.cutoff {
                Cutoff::Ms(cutoff) => cutoff,
                Cutoff::ByDuration if duration >= 60_000 => 30_000,
                Cutoff::ByDuration => 0,
            };
            let end = candle_start(open_time, duration) + duration;
            if end - open_time <= cutoff { end + duration } else { end }
        }
    }
}

fn candle_start(moment: i64, length: i64) -> i64 {
    moment - moment.rem_euclid(length)
}

fn entry_price(prices: &Prices, signal: &Signal, open_time: i64, settings: &Settings) -> Price {
    match (signal.expiration, settings.rounding) {
        (Expiration::NextCandle, _) | (_, Rounding::None) => prices.entry_at(open_time),
        (_, Rounding::SecondEnd) => {
            let second = candle_start(open_time + 1, 1_000);
            // An entry at the very end of the data is unsettled, although a candle ends there.
            if second >= prices.end { Price::AfterEnd } else { prices.exit_at(second) }
        }
    }
}

fn exit_price(prices: &Prices, close_time: i64, settings: &Settings) -> Price {
    match settings.rounding {
        Rounding::None => prices.exit_at(close_time),
        Rounding::SecondEnd => prices.exit_at(candle_start(close_time + 1, 1_000)),
    }
}

fn decide_outcome(direction: Direction, open_price: f64, close_price: f64, draw: Draw) -> Outcome {
    // Ignore rounding errors of interpolated prices.
    if (open_price - close_price).abs() / open_price <= 1e-12 {
        return if draw == Draw::Refund { Outcome::Draw } else { Outcome::Lost };
    }
    let won = match direction {
        Direction::Buy => close_price > open_price,
        Direction::Sell => close_price < open_price,
    };
    if won { Outcome::Won } else { Outcome::Lost }
}

fn pnl_cents(outcome: Outcome, stake_cents: i64, payout_percent: f64) -> i64 {
    match outcome {
        Outcome::Won => win_cents(stake_cents, payout_percent),
        Outcome::Lost => -stake_cents,
        Outcome::Draw | Outcome::Cancelled | Outcome::RefusedNoPrice | Outcome::Unsettled => 0,
    }
}

/// `stake x payout / 100`, rounded to the cent, half to even. The payout is in 1/10,000 of a percent.
fn win_cents(stake_cents: i64, payout_percent: f64) -> i64 {
    let parts = (payout_percent * 10_000.0).round() as i128;
    let (product, whole) = (i128::from(stake_cents) * parts, 1_000_000);
    let (cents, rest) = (product / whole, product % whole);
    let up = rest * 2 > whole || (rest * 2 == whole && cents % 2 == 1);
    (cents + i128::from(up)) as i64
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Price {
    At(f64),
    /// No candle covers the moment, and no neighbor substitutes for it.
    Missing,
    /// The data end too early to decide.
    AfterEnd,
}

impl Price {
    fn at(self) -> Option<f64> {
        if let Self::At(price) = self { Some(price) } else { None }
    }
}

struct Prices {
    by_open_time: BTreeMap<i64, CandleRow>,
    /// `T_end`: the close time of the last candle.
    end: i64,
    interval_ms: i64,
    path: Path,
    max_gap_intervals: i64,
}

impl Prices {
    fn from_candles(candles: &[CandleRow], settings: &Settings) -> Self {
        let &Settings { interval_ms, path, max_gap_intervals, .. } = settings;
        let by_open_time: BTreeMap<_, _> = candles.iter().map(|candle| (candle.0, *candle)).collect();
        let last = by_open_time.keys().next_back().expect("there is at least one candle");
        Self { end: last + interval_ms, by_open_time, interval_ms, path, max_gap_intervals }
    }

    /// Price as an entry: on a boundary, the open of the candle that begins there.
    fn entry_at(&self, moment: i64) -> Price {
        if moment >= self.end {
            return Price::AfterEnd;
        }
        let slot = candle_start(moment, self.interval_ms);
        match self.covering(slot) {
            Covering::Candle(candle) if moment == slot => Price::At(candle.1),
            covering => self.inside(covering, moment),
        }
    }

    /// Price as an exit: on a boundary, the close of the candle that ends there.
    fn exit_at(&self, moment: i64) -> Price {
        if moment > self.end {
            return Price::AfterEnd;
        }
        let slot = candle_start(moment, self.interval_ms);
        if moment > slot {
            return self.inside(self.covering(slot), moment);
        }
        match self.covering(slot - self.interval_ms) {
            Covering::Candle(candle) => Price::At(candle.4),
            Covering::StandIn { last_close } => Price::At(last_close),
            Covering::Nothing => Price::Missing,
        }
    }

    /// Price strictly inside a candle, or anywhere in a gap.
    fn inside(&self, covering: Covering, moment: i64) -> Price {
        match covering {
            Covering::Candle((open_time, open, _, _, close)) => match self.path {
                Path::Linear => {
                    let (elapsed, interval) = ((moment - open_time) as f64, self.interval_ms as f64);
                    Price::At(open + (close - open) * elapsed / interval)
                }
                Path::Open => Price::At(open),
            },
            Covering::StandIn { last_close } => Price::At(last_close),
            Covering::Nothing => Price::Missing,
        }
    }

    fn covering(&self, slot: i64) -> Covering {
        let Some((open_time, candle)) = self.by_open_time.range(..=slot).next_back() else {
            return Covering::Nothing;
        };
        let missing = (slot - open_time) / self.interval_ms;
        if missing == 0 {
            Covering::Candle(*candle)
        } else if missing <= self.max_gap_intervals {
            Covering::StandIn { last_close: candle.4 }
        } else {
            Covering::Nothing
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Covering {
    Candle(CandleRow),
    StandIn { last_close: f64 },
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::Outcome::{Cancelled, Draw as Drawn, RefusedNoPrice, Unsettled, Won};
    use super::*;

    /// An aligned hour, so that the hand-computed numbers count from 0.
    const ZERO: i64 = 1_700_002_800_000;
    const MINUTE: i64 = 60_000;

    const EXACT: Settings = Settings {
        interval_ms: MINUTE,
        latency_ms: 0,
        rounding: Rounding::None,
        cutoff: Cutoff::ByDuration,
        payout_percent: 80.0,
        settle_delay_ms: 4_000,
        path: Path::Linear,
        draw: Draw::Refund,
        max_gap_intervals: 0,
    };
    const ROUNDED: Settings = Settings { rounding: Rounding::SecondEnd, ..EXACT };

    const fn late(latency_ms: i64, settings: Settings) -> Settings {
        Settings { latency_ms, ..settings }
    }

    /// Minute k opens at 100 + 10 k and closes 6 above, so that no close equals the next open.
    fn minutes(present: &[i64]) -> Vec<CandleRow> {
        let price = |k: i64| 100.0 + 10.0 * k as f64;
        let candle = |k: &i64| (ZERO + k * MINUTE, price(*k), price(*k) + 6.0, price(*k), price(*k) + 6.0);
        present.iter().map(candle).collect()
    }

    fn signal(decision_time: i64, expiration: Expiration) -> Signal {
        let (decision_time, direction) = (ZERO + decision_time, Direction::Buy);
        Signal { decision_time, direction, duration_ms: MINUTE, expiration }
    }

    fn run(candles: &[CandleRow], signal: Signal, settings: Settings) -> Row {
        trade_every_signal(candles, &[signal], &settings, 1_000)[0]
    }

    #[test]
    fn worked_examples_open_and_close_as_the_rules_say() {
        use Expiration::{CandleClose, NextCandle, TimeFixed};
        for (expiration, settings, open, close, open_price, close_price) in [
            (TimeFixed, late(0, EXACT), 0, 60_000, 100.0, 106.0),
            (TimeFixed, late(1_500, EXACT), 1_500, 61_500, 100.15, 110.15),
            (CandleClose, late(0, EXACT), 0, 60_000, 100.0, 106.0),
            (CandleClose, late(29_999, EXACT), 29_999, 60_000, 102.9999, 106.0),
            (CandleClose, late(30_000, EXACT), 30_000, 120_000, 103.0, 116.0),
            (NextCandle, late(0, EXACT), 60_000, 120_000, 110.0, 116.0),
            (NextCandle, late(50, EXACT), 60_000, 120_000, 110.0, 116.0),
            (NextCandle, late(61_000, EXACT), 120_000, 180_000, 120.0, 126.0),
            (TimeFixed, late(0, ROUNDED), 999, 60_999, 100.1, 110.1),
            (CandleClose, late(0, ROUNDED), 999, 60_000, 100.1, 106.0),
            (TimeFixed, late(1_500, ROUNDED), 1_999, 61_999, 100.2, 110.2),
            (NextCandle, late(0, ROUNDED), 60_000, 120_000, 110.0, 116.0),
            // The second that ends on the minute: the candle that ends there, for entry and exit.
            (TimeFixed, late(59_000, ROUNDED), 59_999, 119_999, 106.0, 116.0),
        ] {
            let row = run(&minutes(&[0, 1, 2, 3]), signal(0, expiration), settings);
            let case = format!("{expiration:?} {settings:?}");
            assert_eq!((row.open_time, row.close_time), (Some(ZERO + open), Some(ZERO + close)), "{case}");
            assert!((row.open_price.unwrap() - open_price).abs() < 1e-12, "{case}: {row:?}");
            assert!((row.close_price.unwrap() - close_price).abs() < 1e-12, "{case}: {row:?}");
            assert_eq!(row.outcome, Won, "{case}");
            assert_eq!((row.pnl_cents, row.known_at), (Some(800), Some(ZERO + close + 4_000)), "{case}");
        }
    }

    #[test]
    fn entry_without_a_price_is_refused_and_exit_without_one_cancels() {
        use Expiration::{CandleClose, NextCandle, TimeFixed};
        let gap = &[0, 1, 4, 5, 6][..]; // minutes 2 and 3 are missing
        let end = &[0, 1][..];
        let one = Settings { max_gap_intervals: 1, ..EXACT };
        let two = Settings { max_gap_intervals: 2, ..EXACT };
        for (present, time, expiration, settings, expected) in [
            // The exit needs the candle that ends: minute 1 exists, minute 2 does not.
            (gap, 60_000, TimeFixed, EXACT, (Won, Some(124_000))),
            (gap, 60_001, TimeFixed, EXACT, (Cancelled, Some(124_001))),
            (gap, 120_000, TimeFixed, late(1_500, EXACT), (RefusedNoPrice, Some(121_500))),
            // Accepted before the gap is met: cancelled, and known when its close would be.
            (gap, 119_999, NextCandle, EXACT, (Cancelled, Some(184_000))),
            (gap, 180_000, TimeFixed, EXACT, (RefusedNoPrice, Some(180_000))),
            (gap, 240_000, TimeFixed, EXACT, (Won, Some(304_000))),
            // As an exit, a whole second on the gap's edge has a price before the gap but not after it.
            (gap, 119_000, TimeFixed, ROUNDED, (Cancelled, Some(183_999))),
            (gap, 239_000, TimeFixed, ROUNDED, (RefusedNoPrice, Some(239_000))),
            // The last close substitutes for one or two missing candles.
            (gap, 60_001, TimeFixed, one, (Won, Some(124_001))),
            (gap, 120_000, TimeFixed, one, (Drawn, Some(184_000))),
            (gap, 120_001, TimeFixed, one, (Cancelled, Some(184_001))),
            (gap, 180_000, TimeFixed, two, (Drawn, Some(244_000))),
            (gap, -60_000, TimeFixed, two, (RefusedNoPrice, Some(-60_000))),
            // Trades cut off by the end of the data are unsettled.
            (end, 60_000, TimeFixed, EXACT, (Won, Some(124_000))),
            (end, 60_001, TimeFixed, EXACT, (Unsettled, None)),
            (end, 120_000, TimeFixed, EXACT, (Unsettled, None)),
            (end, 0, NextCandle, EXACT, (Won, Some(124_000))),
            (end, 60_000, NextCandle, EXACT, (Unsettled, None)),
            (end, 59_000, TimeFixed, ROUNDED, (Won, Some(123_999))),
            (end, 60_000, TimeFixed, ROUNDED, (Unsettled, None)),
            (end, 119_000, CandleClose, Settings { cutoff: Cutoff::Ms(0), ..ROUNDED }, (Unsettled, None)),
        ] {
            let row = run(&minutes(present), signal(time, expiration), settings);
            let known_at = row.known_at.map(|known_at| known_at - ZERO);
            assert_eq!((row.outcome, known_at), expected, "{time} {expiration:?} {settings:?}: {row:?}");
            let counted = matches!(row.outcome, RefusedNoPrice | Unsettled) == row.pnl_cents.is_none();
            assert!(counted, "{row:?}");
        }
    }
}
