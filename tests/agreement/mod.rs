//! Signal lists through the program and the oracle, compared trade by trade.

use crate::candlewick::Folder;
use crate::oracle::{
    CandleRow, Cutoff, Direction, Draw, Expiration, Outcome, Path, Rounding, Row, Settings, Signal,
    trade_every_signal,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const STAKE_CENTS: i64 = 1_000;
const PAYOUT: f64 = 85.0;

pub(crate) struct Ground {
    pub(crate) series: &'static str,
    pub(crate) interval_ms: i64,
    pub(crate) candles: String,
    pub(crate) pace: usize,
    pub(crate) durations: [(&'static str, i64); 2],
}

pub(crate) type Variation = (Expiration, Settings);

const USUAL: Settings = Settings {
    interval_ms: 0,
    latency_ms: 0,
    rounding: Rounding::None,
    cutoff: Cutoff::ByDuration,
    payout_percent: PAYOUT,
    settle_delay_ms: 4_000,
    path: Path::Linear,
    draw: Draw::Refund,
    max_gap_intervals: 0,
};

pub(crate) fn variations(latencies: &[i64]) -> Vec<Variation> {
    let mut all = Vec::new();
    for expiration in [Expiration::TimeFixed, Expiration::CandleClose, Expiration::NextCandle] {
        for (number, latency_ms) in latencies.iter().enumerate() {
            for (rounding, path) in [
                (Rounding::None, [Path::Linear, Path::Open][number % 2]),
                (Rounding::SecondEnd, [Path::Open, Path::Linear][number % 2]),
            ] {
                for (max_gap_intervals, draw) in [(0, Draw::Refund), (1, Draw::Loss)] {
                    let latency_ms = *latency_ms;
                    let settings = Settings { latency_ms, rounding, path, draw, max_gap_intervals, ..USUAL };
                    all.push((expiration, settings));
                }
            }
        }
    }
    all
}

impl Ground {
    pub(crate) fn check(&self, (expiration, settings): Variation) -> BTreeSet<&'static str> {
        let settings = Settings { interval_ms: self.interval_ms, ..settings };
        let candles: Vec<CandleRow> = self.candles.lines().skip(1).map(read_candle).collect();
        let signal = |(index, candle): (usize, &CandleRow)| {
            let (code, duration_ms) = self.durations[index % 2];
            let direction = if index % 3 == 0 { Direction::Sell } else { Direction::Buy };
            let decision_time = candle.0 + self.interval_ms;
            (Signal { decision_time, direction, duration_ms, expiration }, code)
        };
        let signals: Vec<_> = candles.iter().step_by(self.pace).enumerate().map(signal).collect();
        let (sent, in_flight) = while_nothing_is_in_flight(&signals, settings.latency_ms);
        let alone: Vec<Signal> = sent.iter().map(|(signal, _)| *signal).collect();
        let expected = trade_every_signal(&candles, &alone, &settings, STAKE_CENTS);
        self.compare(&signals, (&sent, &expected), in_flight, (expiration, settings));
        expected.iter().map(|row| outcome_name(row.outcome)).collect()
    }

    fn compare(
        &self,
        signals: &[(Signal, &str)],
        (sent, expected): (&[(Signal, &str)], &[Row]),
        in_flight: usize,
        variation: Variation,
    ) {
        let symbol = self.series.split('@').next().unwrap();
        let mut list = String::from("time,symbol,direction,close_type\n");
        for (Signal { decision_time, direction, .. }, code) in signals {
            let _ = writeln!(list, "{decision_time},{symbol},{},{code}", direction_name(*direction));
        }
        let folder = Folder::new()
            .with("candles.csv", &self.candles)
            .with("signals.csv", &list)
            .with("bot.toml", &self.configuration(variation));
        let data = format!("{}=candles.csv", self.series);
        let words = ["backtest", "--config", "bot.toml", "--data", &data, "--trades", "trades.csv", "--json"];
        let report = folder.run(&words).json();
        let refused = |rule: &str| report["refused"][rule].as_u64().unwrap_or(0) as usize;
        let is_refused = |row: &&Row| row.outcome == Outcome::RefusedNoPrice;
        assert_eq!(refused("InFlight"), in_flight, "{variation:?}");
        assert_eq!(refused("NoPrice"), expected.iter().filter(is_refused).count(), "{variation:?}");
        let text = folder.read("trades.csv");
        let found: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let wanted: Vec<_> = sent.iter().zip(expected).filter(|(_, row)| !is_refused(row)).collect();
        assert_eq!(found.len(), wanted.len(), "{variation:?}");
        for (fields, ((signal, code), row)) in found.iter().zip(wanted) {
            compare_trade(fields, (signal, code), row, &format!("{variation:?}"));
        }
        let earned: i64 = expected.iter().filter_map(|row| row.pnl_cents).sum();
        assert_eq!(report["pnl"].as_f64(), Some(earned as f64 / 100.0), "{variation:?}");
    }

    fn configuration(&self, variation: Variation) -> String {
        let (symbol, interval) = self.series.split_once('@').unwrap();
        let (expiration, Settings { latency_ms, rounding, path, draw, max_gap_intervals, .. }) = variation;
        let rounding = if rounding == Rounding::None { "none" } else { "second_end" };
        let path = if path == Path::Linear { "linear" } else { "open" };
        let draw = if draw == Draw::Refund { "refund" } else { "loss" };
        let (expiration, close_type) = (expiration_name(expiration), self.durations[0].0);
        format!(
            "[account]\ninitial_balance = 100000000\n\
             [simulation]\npayout_percent = {PAYOUT}\nlatency_ms = {latency_ms}\nopen_rounding = \"{rounding}\"\n\
             path = \"{path}\"\ndraw = \"{draw}\"\nmax_gap_intervals = {max_gap_intervals}\n\
             [risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 0\nmax_trades_per_day = 0\n\
             daily_loss_limit = 0\nmax_drawdown_percent = 0\nallow_opposite = true\nallow_duplicate = true\n\
             [[bots]]\nname = \"list\"\nsymbol = \"{symbol}\"\ninterval = \"{interval}\"\n\
             strategy = \"signal-list\"\nclose_type = \"{close_type}\"\nexpiration_type = \"{expiration}\"\n\
             params = {{ file = \"signals.csv\" }}\nstake = {{ kind = \"fixed\", amount = 10 }}\n"
        )
    }
}

/// Drops and counts signals refused by an unanswered open. An answer at the instant of a candle comes before it.
fn while_nothing_is_in_flight<'a>(
    signals: &[(Signal, &'a str)],
    latency_ms: i64,
) -> (Vec<(Signal, &'a str)>, usize) {
    let mut answered_at = i64::MIN;
    let mut sent = Vec::new();
    for signal in signals {
        if signal.0.decision_time >= answered_at {
            answered_at = signal.0.decision_time + latency_ms;
            sent.push(*signal);
        }
    }
    let in_flight = signals.len() - sent.len();
    (sent, in_flight)
}

fn compare_trade(fields: &[&str], (signal, code): (&Signal, &str), row: &Row, case: &str) {
    let context = || format!("{case}\n{}\n{row:?}", fields.join(","));
    let [_, _, direction, amount, close_type, expiration, decision_time, rest @ ..] = fields else {
        panic!("{}", context())
    };
    let [open_time, open_price, close_time, close_price, _, result, pnl, _, ..] = rest else {
        panic!("{}", context())
    };
    assert_eq!((*direction, *amount), (direction_name(signal.direction), "10.00"), "{}", context());
    assert_eq!((*close_type, *expiration), (code, expiration_name(signal.expiration)), "{}", context());
    assert_eq!(decision_time.parse(), Ok(row.decision_time), "{}", context());
    let time = |text: &str| text.parse::<i64>().ok();
    assert_eq!((time(open_time), time(close_time)), (row.open_time, row.close_time), "{}", context());
    let is_settled = row.outcome != Outcome::Unsettled;
    // The entry price of a NEXT_CANDLE trade is unknown until it settles.
    if is_settled || signal.expiration != Expiration::NextCandle {
        assert!(is_price(open_price, row.open_price), "{}", context());
    }
    assert!(is_price(close_price, row.close_price), "{}", context());
    assert_eq!(*result, if is_settled { outcome_name(row.outcome) } else { "" }, "{}", context());
    let cents = pnl.parse::<f64>().ok().map(|pnl| (pnl * 100.0).round() as i64);
    assert_eq!(cents, row.pnl_cents, "{}", context());
}

fn is_price(text: &str, expected: Option<f64>) -> bool {
    match (text.parse::<f64>(), expected) {
        (Ok(price), Some(expected)) => (price - expected).abs() <= 1e-12 * expected.abs(),
        (Err(_), None) => text.is_empty(),
        _ => false,
    }
}

fn read_candle(line: &str) -> CandleRow {
    let fields: Vec<&str> = line.split(',').collect();
    let price = |index: usize| fields[index].parse().expect("a price");
    (fields[0].parse().expect("a time"), price(1), price(2), price(3), price(4))
}

fn direction_name(direction: Direction) -> &'static str {
    if direction == Direction::Buy { "BUY" } else { "SELL" }
}

const fn expiration_name(expiration: Expiration) -> &'static str {
    match expiration {
        Expiration::TimeFixed => "TIME_FIXED",
        Expiration::CandleClose => "CANDLE_CLOSE",
        Expiration::NextCandle => "NEXT_CANDLE",
    }
}

const fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Won => "WON",
        Outcome::Lost => "LOST",
        Outcome::Draw => "DRAW",
        Outcome::Cancelled => "CANCELLED",
        Outcome::RefusedNoPrice => "NoPrice",
        Outcome::Unsettled => "unsettled",
    }
}
