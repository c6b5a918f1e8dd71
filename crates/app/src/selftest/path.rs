//! One path, from a seed to a verdict, through the whole backtest pipeline.

use super::test_market::{DAYS, TestMarket, payout};
use candlewick_backtest::{Backtest, BacktestSettings, NullRecorder};
use candlewick_engine::{BotSettings, RiskSettings, SessionSettings, StakeSettings, judge};
use candlewick_history::{GenerateSettings, Regime, generate, known_market};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    Candle, CandleSeries, ExpirationType, Interval, Millis, MoneyScale, Outcome, Series, Signal, Strategy,
    Symbol,
};
use candlewick_simulator::{Market, SimulationSettings};
use candlewick_statistics::{EdgeTestPlan, Verdict};

const SYMBOL: &str = "BTCUSDT";
/// 2026-01-05 00:00 UTC, a Monday.
const START: Millis = Millis::new(1_767_571_200_000);
/// More than any path can lose.
const BALANCE: i64 = 10_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathOutcome {
    pub(super) is_shown: bool,
    pub(super) is_rejected: bool,
    pub(super) won: u64,
    pub(super) decided: u64,
    pub(super) other: u64,
}

/// Bets at every second candle that the next one moves in the same direction.
///
/// A trade opens within that next candle, ends with it and settles before the next decision.
struct Follower;

impl Strategy for Follower {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        if !candle.time().is_aligned_to(Millis::MINUTE * 2) {
            return None;
        }
        Some(if candle.close() > candle.open() { Signal::buy("rose") } else { Signal::sell("fell") })
    }
}

pub(super) fn follow(test_market: &TestMarket, seed: u64) -> anyhow::Result<PathOutcome> {
    let candles = candles(test_market, seed)?;
    let symbols: Vec<Symbol> = candles.iter().map(CandleSeries::symbol).collect();
    let settings = settings(&symbols)?;
    let strategies = symbols.iter().map(|_| Box::new(Follower) as Box<dyn Strategy>).collect();
    let markets =
        candles.iter().map(|prices| Market { prices: prices.clone(), detail: Vec::new() }).collect();
    let backtest = Backtest::new(&settings, strategies, &vec![false; symbols.len()], &candles, markets)?;
    let header = settings.header(Vec::new(), None);
    let finished = backtest.run(&header, &mut NullRecorder, &mut |_, _| {})?;
    let verdict = judge(finished.book.rows(), EdgeTestPlan::default()).verdict();
    let mut outcome = PathOutcome {
        is_shown: verdict == Verdict::EdgeShown,
        is_rejected: verdict == Verdict::EdgeRejected,
        won: 0,
        decided: 0,
        other: finished.book.refused().values().sum(),
    };
    for row in finished.book.rows() {
        match row.outcome {
            Some(Outcome::Won) => (outcome.won, outcome.decided) = (outcome.won + 1, outcome.decided + 1),
            Some(Outcome::Lost) => outcome.decided += 1,
            Some(Outcome::Draw | Outcome::Cancelled) => outcome.other += 1,
            // The last one may have no candle to end with.
            None => {}
        }
    }
    Ok(outcome)
}

/// Gives each bot the same candles under its own symbol.
///
/// Two simultaneous opens on one symbol would be rejected.
fn candles(test_market: &TestMarket, seed: u64) -> anyhow::Result<Vec<CandleSeries>> {
    let symbol = Symbol::new(SYMBOL)?;
    let market = known_market(symbol).expect("the symbol is a known one");
    let made = generate(&GenerateSettings {
        seed,
        regime: Regime::Edge { chance: test_market.chance, span: Interval::MINUTE },
        ..GenerateSettings::of_market(symbol, market, START, DAYS)
    })?;
    let mut all = vec![made];
    for number in 1..test_market.bots {
        let series =
            Series { symbol: Symbol::new(&format!("{SYMBOL}.{number}"))?, interval: Interval::MINUTE };
        all.push(CandleSeries::new(series, all[0].candles().to_vec())?);
    }
    Ok(all)
}

fn settings(symbols: &[Symbol]) -> anyhow::Result<BacktestSettings> {
    let bot = |symbol: &Symbol| -> anyhow::Result<BotSettings> {
        Ok(BotSettings {
            name: format!("follower of {symbol}"),
            symbol: *symbol,
            entry_delay_s: 0,
            venue: std::collections::BTreeMap::new(),
            interval: Interval::MINUTE,
            strategy: "follower".to_owned(),
            close_type: "01:00".parse()?,
            expiration_type: ExpirationType::CandleClose,
            params: serde_json::json!({}),
            stake: StakeSettings::default(),
        })
    };
    let risk = RiskSettings {
        max_open_trades: 0,
        max_trades_per_day: 0,
        daily_loss_limit: Decimal::ZERO,
        max_drawdown_percent: 0.0,
        ..RiskSettings::default()
    };
    Ok(BacktestSettings {
        session: SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(BALANCE),
            risk,
            bots: symbols.iter().map(bot).collect::<Result<_, _>>()?,
            longer_share_percent: None,
        },
        simulation: SimulationSettings { payout_percent: payout(), ..SimulationSettings::default() },
        price_every_ms: Millis::ZERO,
    })
}
