//! Workloads of the benchmark, and the hand-written loop that makes the same trades as a backtest.

use crate::{backtest_settings, market_settings};
use candlewick_backtest::{Backtest, BacktestError, BacktestSettings, Summary};
use candlewick_engine::{JournalHash, TradeBook};
use candlewick_history::{GenerateSettings, generate, resample};
use candlewick_sandbox::build_markets;
use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::{
    Candle, CandleSeries, Direction, Interval, Millis, MoneyScale, Signal, Strategy, compare_prices,
};
use candlewick_simulator::Market;
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::hint::black_box;
use ta::Next;
use ta::indicators::RelativeStrengthIndex;

/// Warm-up after which the two RSI implementations agree despite different initial values.
const WARMUP: usize = 1_000;
const OVERSOLD: f64 = 30.0;
const OVERBOUGHT: f64 = 70.0;
/// Initial balance, high enough that the drawdown limit is checked but never reached.
const BALANCE: i64 = 100_000_000;
const STAKE: i64 = 10;
/// RSI periods of the bots on one symbol.
const PERIODS: [usize; 10] = [14, 5, 6, 7, 8, 9, 10, 11, 12, 13];

const START: Millis = Millis::new(1_704_067_200_000); // 2024-01-01
pub(super) const MINUTES_PER_DAY: usize = 24 * 60;
const CROWD: [&str; 10] =
    ["CROWD0", "CROWD1", "CROWD2", "CROWD3", "CROWD4", "CROWD5", "CROWD6", "CROWD7", "CROWD8", "CROWD9"];

/// The default limits, except the daily loss limit, which would end many days early.
const USUAL_RULES: &str = "risk.daily_loss_limit = 1000";
const EVERY_RULE: &str = include_str!("every_rule.toml");
/// Only the limit of one open trade per symbol.
const CROWD_RULES: &str = "risk = { max_open_trades = 0, max_trades_per_day = 0, daily_loss_limit = 0 }";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signals {
    /// Signals when the RSI crosses into an extreme.
    AtCrossings,
    /// Signals at every candle in an extreme. Most signals are rejected because a trade is open.
    AtExtremes,
}

#[derive(Clone, Copy)]
pub(super) struct WorkKind {
    pub(super) name: &'static str,
    symbols: &'static [&'static str],
    bots_per_symbol: usize,
    signals: Signals,
    /// Whether prices come from 30-second candles.
    has_detail: bool,
    rules: &'static str,
}

const SINGLE: WorkKind = WorkKind {
    name: "one bot, usual rules",
    symbols: &["BTCUSDT"],
    bots_per_symbol: 1,
    signals: Signals::AtCrossings,
    has_detail: false,
    rules: USUAL_RULES,
};
const LARGEST_CROWD: WorkKind = crowd("10 bots x 10 symbols", 10, &CROWD);

pub(super) const WORKS: [WorkKind; 4] = [
    SINGLE,
    WorkKind { name: "one bot, every rule, 30 s detail", has_detail: true, rules: EVERY_RULE, ..SINGLE },
    LARGEST_CROWD,
    WorkKind { name: "one bot, a signal at every extreme", signals: Signals::AtExtremes, ..SINGLE },
];
/// Workloads with candle counts. The cost per decision must not grow across them.
pub(super) const GROWTH: [(WorkKind, usize); 7] = [
    (SINGLE, 100_000),
    (SINGLE, 1_000_000),
    (SINGLE, 10_000_000),
    (crowd("1 bot x 1 symbol", 1, &["CROWD0"]), 100_000),
    (crowd("10 bots x 1 symbol", 10, &["CROWD0"]), 100_000),
    (crowd("1 bot x 10 symbols", 1, &CROWD), 1_000_000),
    (LARGEST_CROWD, 1_000_000),
];

const fn crowd(name: &'static str, bots_per_symbol: usize, symbols: &'static [&'static str]) -> WorkKind {
    WorkKind { name, symbols, bots_per_symbol, rules: CROWD_RULES, ..SINGLE }
}

pub(super) struct Ran {
    pub(super) outcome: Outcome,
    pub(super) refused: u64,
    pub(super) book: TradeBook,
}

pub(super) struct Work {
    kind: WorkKind,
    settings: BacktestSettings,
    candles: Vec<CandleSeries>,
    markets: Vec<Market>,
}

impl Work {
    pub(super) fn new(kind: WorkKind, candles: usize) -> anyhow::Result<Self> {
        let count = candles / kind.symbols.len();
        let (mut series, mut details) = (Vec::new(), Vec::new());
        for symbol in kind.symbols {
            if kind.has_detail {
                let detail = walk(symbol, Interval::from_seconds(30)?, count * 2)?;
                series.push(resample(&detail, Interval::MINUTE)?);
                details.push(detail);
            } else {
                series.push(walk(symbol, Interval::MINUTE, count)?);
            }
        }
        let markets = build_markets(&[series.clone(), details].concat());
        let mut text = format!("account.initial_balance = {BALANCE}\n{}\n", kind.rules);
        for symbol in kind.symbols {
            for period in &PERIODS[..kind.bots_per_symbol] {
                let _ = write!(
                    text,
                    "[[bots]]\nname = \"{symbol}-{period}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\n\
                     strategy = \"rsi-extremes\"\nclose_type = \"05:00\"\nexpiration_type = \"TIME_FIXED\"\n\
                     params = {{ period = {period} }}\nstake = {{ kind = \"fixed\", amount = {STAKE} }}\n"
                );
            }
        }
        Ok(Self { kind, settings: backtest_settings(&text)?, candles: series, markets })
    }

    pub(super) fn bots(&self) -> usize {
        self.settings.session.bots.len()
    }

    pub(super) fn decisions(&self) -> usize {
        self.candles.iter().map(|one| one.candles().len() * self.kind.bots_per_symbol).sum()
    }

    pub(super) fn run(&self, progress: &mut dyn FnMut()) -> Result<Ran, BacktestError> {
        let bots = &self.settings.session.bots;
        let periods = PERIODS.into_iter().take(self.kind.bots_per_symbol).cycle();
        let remembered = if self.kind.signals == Signals::AtCrossings { 0b11 } else { 0 };
        let strategy = |period| {
            let rsi = Rsi::new(period).expect("the period is at least 2");
            Box::new(RsiExtremes { rsi, last: 0, remembered }) as Box<dyn Strategy>
        };
        let strategies = periods.take(bots.len()).map(strategy).collect();
        let wants_prices = vec![false; bots.len()];
        let backtest =
            Backtest::new(&self.settings, strategies, &wants_prices, &self.candles, self.markets.clone())?;
        let names = bots.iter().map(|bot| (bot.strategy.clone(), "1.0.0".to_owned())).collect();
        let header = self.settings.header(names, None);
        let mut hash = JournalHash::new();
        let finished = backtest.run(&header, &mut hash, &mut |_, _| progress())?;
        let start = MoneyScale::default().convert_exact(self.settings.session.balance).unwrap_or_default();
        let summary = Summary::new(&finished.book, start);
        for verdict in &finished.verdicts {
            black_box(verdict.edge_test().verdict());
        }
        black_box((hash.finish(), &summary));
        let outcome = Outcome { trades: summary.trades, pnl: (finished.final_balance - start).minor() };
        Ok(Ran { outcome, refused: summary.refused.values().sum(), book: finished.book })
    }

    pub(super) fn run_by_hand(&self) -> Outcome {
        let mut outcome = Outcome::default();
        for (series, market) in self.candles.iter().zip(&self.markets) {
            let detail = market.detail.first().map(CandleSeries::candles);
            let of_symbol = by_hand_on(series.candles(), detail, self.kind);
            outcome.trades += of_symbol.trades;
            outcome.pnl += of_symbol.pnl;
        }
        outcome
    }
}

fn by_hand_on(candles: &[Candle], detail: Option<&[Candle]>, kind: WorkKind) -> Outcome {
    let (crossings, extremes) = (Signals::AtCrossings, Signals::AtExtremes);
    let price = move |index: usize| entry_price(&candles[index], 60_000.0);
    let detail_price = |detail: &[Candle], index: usize| entry_price(&detail[2 * index], 30_000.0);
    match (detail, kind.signals, kind.bots_per_symbol) {
        (Some(detail), ..) => trade_by_hand::<1>(candles, crossings, |index| detail_price(detail, index)),
        (None, Signals::AtExtremes, _) => trade_by_hand::<1>(candles, extremes, price),
        (None, Signals::AtCrossings, 1) => trade_by_hand::<1>(candles, crossings, price),
        (None, Signals::AtCrossings, _) => trade_by_hand::<10>(candles, crossings, price),
    }
}

const SIDES: [(Direction, &str, f64); 2] =
    [(Direction::Buy, "oversold", OVERSOLD), (Direction::Sell, "overbought", OVERBOUGHT)];

struct RsiExtremes {
    rsi: Rsi,
    /// Bit mask of the last candle's extremes. An extreme in it does not signal again.
    last: u8,
    /// Mask applied to `last`: both extremes, or none to signal at every candle in an extreme.
    remembered: u8,
}

impl Strategy for RsiExtremes {
    fn warmup(&self) -> usize {
        WARMUP
    }

    fn wants_settlements(&self) -> bool {
        false
    }

    // Inlined into the loop over candles, so that the RSI stays in registers.
    #[allow(clippy::inline_always, reason = "without it the compiler calls the function for each candle")]
    #[inline(always)]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let rsi = self.rsi.update(candle.close())?;
        let extreme = u8::from(rsi < OVERSOLD) | u8::from(rsi > OVERBOUGHT) << 1;
        let new = extreme & !self.last;
        self.last = extreme & self.remembered;
        // A single, well-predicted branch. The direction comes from a table (docs/performance.md).
        if new == 0 {
            return None;
        }
        let (direction, reason, level) = SIDES[usize::from(new >> 1) & 1];
        Some(Signal::new(direction, reason).with("rsi", rsi).with("level", level))
    }
}

fn walk(symbol: &str, interval: Interval, candles: usize) -> anyhow::Result<CandleSeries> {
    let per_day = MINUTES_PER_DAY * (Millis::MINUTE.get() / interval.length().get()).max(1) as usize;
    let market = market_settings("BTCUSDT", START, u32::try_from(candles.div_ceil(per_day))?)?;
    let made = generate(&GenerateSettings { symbol: symbol.parse()?, interval, ..market })?;
    Ok(CandleSeries::new(made.series(), made.candles()[..candles].to_vec())?)
}

const STAKE_CENTS: i64 = STAKE * 100;
/// Profit of a win at a payout of 80 %.
const PROFIT_CENTS: i64 = STAKE_CENTS * 80 / 100;
/// Delay into a candle at which trades open (next candle) and close (five candles later).
const TRADE_DELAY_MS: f64 = 3_000.0;
const TRADE_CANDLES: usize = 5;

/// Results on which a backtest and the loop must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) trades: u64,
    /// Profit and loss in cents.
    pub(super) pnl: i64,
}

struct Trade {
    entry_index: usize,
    open_price: f64,
    /// Comparison result of close and open price that wins the trade.
    won: Ordering,
}

/// Returns the interpolated price at which trades open and close in a candle.
#[inline]
pub(super) fn entry_price(candle: &Candle, interval_ms: f64) -> f64 {
    candle.open() + (candle.close() - candle.open()) * TRADE_DELAY_MS / interval_ms
}

/// Trades one symbol. `price_at(index)` is the price of trades in the candle at `index`.
#[inline]
pub(super) fn trade_by_hand<const BOTS: usize>(
    candles: &[Candle],
    signals: Signals,
    price_at: impl Fn(usize) -> f64,
) -> Outcome {
    // Exponential smoothing over `2 * period - 1` equals Wilder's smoothing over `period`.
    let rsi = |period: usize| RelativeStrengthIndex::new(2 * period - 1).expect("the period is not zero");
    let mut bots: [(RelativeStrengthIndex, Ordering); BOTS] =
        std::array::from_fn(|bot| (rsi(PERIODS[bot]), Ordering::Equal));
    let mut outcome = Outcome::default();
    let mut open: Option<Trade> = None;
    for (index, candle) in candles.iter().enumerate() {
        if let Some(trade) = &mut open {
            if index == trade.entry_index {
                trade.open_price = price_at(index);
            }
            if index == trade.entry_index + TRADE_CANDLES {
                outcome.pnl += match compare_prices(price_at(index), trade.open_price) {
                    Ordering::Equal => 0,
                    order if order == trade.won => PROFIT_CENTS,
                    _ => -STAKE_CENTS,
                };
                outcome.trades += 1;
                open = None;
            }
        }
        for (rsi, last) in &mut bots {
            let zone = rsi_zone(rsi.next(candle.close()));
            let is_signal = signals == Signals::AtExtremes || zone != *last;
            *last = zone;
            let has_money = outcome.pnl >= STAKE_CENTS - BALANCE * 100;
            if zone.is_ne() && is_signal && open.is_none() && index + 1 >= WARMUP && has_money {
                open = Some(Trade { entry_index: index + 1, open_price: 0.0, won: zone.reverse() });
            }
        }
    }
    outcome
}

/// Returns `Less` if oversold, `Greater` if overbought, otherwise `Equal`.
#[inline]
fn rsi_zone(rsi: f64) -> Ordering {
    if rsi < OVERSOLD {
        Ordering::Less
    } else if rsi > OVERBOUGHT {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backtest_and_hand_written_loop_make_the_same_trades() {
        for kind in WORKS.into_iter().chain(GROWTH[3..6].iter().map(|(kind, _)| *kind)) {
            let (name, work) = (kind.name, Work::new(kind, 60_000).unwrap());
            let Ran { outcome, refused, .. } = work.run(&mut || {}).unwrap();
            assert_eq!(outcome, work.run_by_hand(), "{name}");
            assert_eq!(work.decisions(), kind.bots_per_symbol * 60_000, "{name}");
            // A single bot that signals at crossings rarely signals while a trade is open.
            let is_single = kind.bots_per_symbol == 1 && kind.signals == Signals::AtCrossings;
            let least = if is_single { 100 } else { 600 };
            assert!(outcome.trades > 600 && refused > least, "{name}: {outcome:?}, {refused} refused");
        }
    }
}
