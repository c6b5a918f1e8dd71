//! `selftest`: error rates of the verdict on generated markets with a known edge.
//!
//! Bots trade generated candles in a backtest, and the verdict must be right as often as promised.
//! In the null markets, trades win at exactly the break-even rate. In a random walk they win far
//! less often, so even a broken significance test would pass there.

use crate::{Report, START, backtest_settings, market_settings};
use candlewick_backtest::{Backtest, BacktestSettings, NullRecorder};
use candlewick_broker::clock::Stopwatch;
use candlewick_engine::judge;
use candlewick_history::{GenerateSettings, Regime, generate};
use candlewick_sandbox::build_markets;
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Outcome, Signal, Strategy};
use candlewick_statistics::{
    EdgeTestPlan, PathBatch, StatisticsError, StreamDependence, TradeStream, Verdict, VerdictRates,
};
use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Days of one-minute candles per path, with a trade every second minute.
const DAYS: u32 = 2;
const TRADES_PER_DAY: u64 = 720;
const PAYOUT: f64 = 0.85;
/// No limits, and more money than any path can lose.
const SETTINGS: &str = "
account.initial_balance = 10000000
simulation.payout_percent = 85.0
risk = { max_open_trades = 0, max_trades_per_day = 0, daily_loss_limit = 0, max_drawdown_percent = 0 }
";
const BOT: &str = "interval = \"1m\"
strategy = \"follower\"
close_type = \"01:00\"
expiration_type = \"CANDLE_CLOSE\"
";
/// Number of simulated verdicts per path, to estimate the expected rate of correct verdicts.
const TRIALS_PER_PATH: u64 = 10;
/// Tolerance of a measured rate, in standard errors.
const ERRORS: f64 = 3.0;
/// Tolerance of the win rate. Wider than `ERRORS`, because it is checked in every market.
const WIN_RATE_ERRORS: f64 = 4.0;

#[derive(Debug, Args)]
pub(crate) struct SelftestArguments {
    /// Number of paths per market
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    paths: u64,
    /// Seed of the first path; each further path adds 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

struct TestMarket {
    name: &'static str,
    /// Probability that a candle moves in the direction of the previous one, which wins the trade.
    chance: f64,
    bots: usize,
    kind: TestMarketKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TestMarketKind {
    /// Trades win at exactly the break-even rate, so *edge shown* must be rare.
    Null,
    /// The edge is exactly delta, so *no edge* must be rare.
    Delta,
    Edge,
    Worse,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    paths: u64,
    shown: u64,
    rejected: u64,
    won: u64,
    decided: u64,
    /// Rejected, cancelled or drawn trades; must be 0.
    other: u64,
}

pub(crate) fn run(arguments: &SelftestArguments) -> anyhow::Result<Report> {
    let (watch, plan) = (Stopwatch::start(), EdgeTestPlan::default());
    let (mut worlds, mut broken): (Vec<Value>, Vec<String>) = Default::default();
    for (number, market) in (0..).zip(test_markets()) {
        eprintln!("{}", market.name);
        // Each market has its own random numbers.
        let seed = arguments.seed.wrapping_add(number << 32);
        let counts = market.trade(seed, arguments.paths, plan)?;
        let trial = market.simulate_verdicts(seed, arguments.paths, plan)?;
        let promises = market.check(&counts, &trial, plan);
        let failed = promises.iter().filter(|promise| promise["kept"] == false);
        let names = failed.filter_map(|promise| promise["promise"].as_str());
        broken.extend(names.map(|name| format!("{}: {name}", market.name)));
        worlds.push(json!({
            "name": market.name,
            "planted": market.chance,
            "bots": market.bots,
            "paths": counts.paths,
            "trades": counts.decided,
            "win_rate": share(counts.won, counts.decided),
            "edge_shown": share(counts.shown, counts.paths),
            "edge_rejected": share(counts.rejected, counts.paths),
            "promises": promises,
        }));
    }
    let document = json!({
        "seed": arguments.seed,
        "alpha": plan.alpha(),
        "beta": plan.beta(),
        "delta": plan.delta(),
        "worlds": worlds,
        "passed": broken.is_empty(),
        "elapsed_ms": u64::try_from(watch.elapsed().as_millis())?,
    });
    Ok(Report { document, broken })
}

fn test_markets() -> [TestMarket; 5] {
    let even = 1.0 / (1.0 + PAYOUT);
    let shifted = (1.0 + EdgeTestPlan::default().delta()) / (1.0 + PAYOUT);
    let market = |name, chance, bots, kind| TestMarket { name, chance, bots, kind };
    [
        market("exactly break-even", even, 1, TestMarketKind::Null),
        market("exactly break-even, three bots in step", even, 3, TestMarketKind::Null),
        market("an edge of exactly delta", shifted, 1, TestMarketKind::Delta),
        market("five points above break-even", even + 0.05, 1, TestMarketKind::Edge),
        market("a coin", 0.5, 1, TestMarketKind::Worse),
    ]
}

impl TestMarket {
    fn trade(&self, seed: u64, paths: u64, plan: EdgeTestPlan) -> anyhow::Result<Counts> {
        // Each bot has its own symbol, because two simultaneous opens on one symbol would be rejected.
        let bot =
            |number: usize| format!("[[bots]]\nname = \"{number}\"\nsymbol = \"BTCUSDT.{number}\"\n{BOT}");
        let bots: String = (0..self.bots).map(bot).collect();
        let settings = backtest_settings(&format!("{SETTINGS}{bots}"))?;
        let trade = |path| self.trade_path(seed.wrapping_add(path), &settings, plan);
        (0..paths).into_par_iter().map(trade).try_reduce(Counts::default, |one, other| Ok(one.plus(other)))
    }

    fn trade_path(
        &self,
        seed: u64,
        settings: &BacktestSettings,
        plan: EdgeTestPlan,
    ) -> anyhow::Result<Counts> {
        let regime = Regime::Edge { chance: self.chance, span: Interval::MINUTE };
        let made = generate(&GenerateSettings { seed, regime, ..market_settings("BTCUSDT", START, DAYS)? })?;
        let bots = &settings.session.bots;
        let candles = bots.iter().map(|bot| CandleSeries::new(bot.series(), made.candles().to_vec()));
        let candles = candles.collect::<Result<Vec<_>, _>>()?;
        let strategies = bots.iter().map(|_| Box::new(Follower) as Box<dyn Strategy>).collect();
        let wants_prices = vec![false; bots.len()];
        let backtest = Backtest::new(settings, strategies, &wants_prices, &candles, build_markets(&candles))?;
        let finished = backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {})?;
        let rows = finished.book.rows();
        let verdict = judge(rows, plan).verdict();
        let refused: u64 = finished.book.refusal_counts().values().sum();
        // The last trade has no outcome if no later candle settles it.
        let count = |outcome| rows.iter().filter(|row| row.outcome == Some(outcome)).count() as u64;
        Ok(Counts {
            paths: 1,
            shown: u64::from(verdict == Verdict::EdgeShown),
            rejected: u64::from(verdict == Verdict::EdgeRejected),
            won: count(Outcome::Won),
            decided: count(Outcome::Won) + count(Outcome::Lost),
            other: count(Outcome::Draw) + count(Outcome::Cancelled) + refused,
        })
    }

    fn simulate_verdicts(
        &self,
        seed: u64,
        paths: u64,
        plan: EdgeTestPlan,
    ) -> Result<VerdictRates, StatisticsError> {
        let points = 100.0 * (self.chance - 1.0 / (1.0 + PAYOUT));
        let dependence = if self.bots == 1 {
            StreamDependence::Independent
        } else {
            StreamDependence::SameTrade(self.bots)
        };
        let stream = TradeStream::new(dependence, &[PAYOUT], points, 0.0)?;
        let trades = u64::from(DAYS) * TRADES_PER_DAY * self.bots as u64;
        let range = PathBatch { seed, first_path: 0, paths: paths * TRIALS_PER_PATH, trades };
        Ok(VerdictRates::simulate(plan, &stream, range))
    }

    fn check(&self, counts: &Counts, trial: &VerdictRates, plan: EdgeTestPlan) -> Vec<Value> {
        let error = |rate: f64, count: u64| (rate * (1.0 - rate) / count.max(1) as f64).sqrt();
        let promise = |name: &str, measured: f64, (least, most): (f64, f64)| {
            let kept = (least..=most).contains(&measured);
            json!({ "promise": name, "measured": measured, "least": least, "most": most, "kept": kept })
        };
        let at_most = |rate: f64| (0.0, rate + ERRORS * error(rate, counts.paths));
        // The error of the simulation is negligible, because it has more paths.
        let at_least = |rate: f64| {
            let highest = 1.0 - 1.0 / counts.paths.max(2) as f64;
            let least = rate - ERRORS * error(rate.min(highest), counts.paths);
            (least.max(0.0), 1.0)
        };
        let (shown, rejected) = (counts.shown, counts.rejected);
        let (name, count, bounds) = match self.kind {
            TestMarketKind::Null => ("edge shown at a rate of at most alpha", shown, at_most(plan.alpha())),
            TestMarketKind::Delta => ("no edge at a rate of at most beta", rejected, at_most(plan.beta())),
            TestMarketKind::Edge => {
                ("edge shown as often as simulated", shown, at_least(trial.edge_shown_share()))
            }
            TestMarketKind::Worse => {
                ("no edge as often as simulated", rejected, at_least(trial.edge_rejected_share()))
            }
        };
        // Bots that trade in step share their outcomes.
        let reach = WIN_RATE_ERRORS * error(self.chance, counts.decided / self.bots as u64);
        let chance = (self.chance - reach, self.chance + reach);
        vec![
            promise(name, share(count, counts.paths), bounds),
            promise("trades win as often as planted", share(counts.won, counts.decided), chance),
            promise("every signal becomes a won or lost trade", counts.other as f64, (0.0, 0.0)),
        ]
    }
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            paths: self.paths + other.paths,
            shown: self.shown + other.shown,
            rejected: self.rejected + other.rejected,
            won: self.won + other.won,
            decided: self.decided + other.decided,
            other: self.other + other.other,
        }
    }
}

fn share(count: u64, all: u64) -> f64 {
    count as f64 / all.max(1) as f64
}

/// Bets every second minute that the last move continues. Trades settle before the next decision.
struct Follower;

impl Strategy for Follower {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let signal = if candle.close() > candle.open() { Signal::buy("rose") } else { Signal::sell("fell") };
        candle.time().is_aligned_to(Millis::MINUTE * 2).then_some(signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: TestMarketKind, counts: Counts, expected: [bool; 3]) {
        let market = test_markets().into_iter().find(|market| market.kind == kind).unwrap();
        let plan = EdgeTestPlan::default();
        let trial = market.simulate_verdicts(1, 20, plan).unwrap();
        let promises = market.check(&counts, &trial, plan);
        let kept: Vec<bool> = promises.iter().map(|promise| promise["kept"] == true).collect();
        assert_eq!(kept, expected, "{kind:?}: {promises:?}");
    }

    #[test]
    fn breaks_promises_beyond_three_standard_errors() {
        // 400 paths: 5 % + 3 x 1.09 % = 8.27 %, or 33 paths. 10,000 trades: 54.05 % + 4 x 0.498 %.
        let fair = Counts { paths: 400, shown: 33, rejected: 33, won: 5_405, decided: 10_000, other: 0 };
        check(TestMarketKind::Null, fair, [true, true, true]);
        check(TestMarketKind::Null, Counts { shown: 34, ..fair }, [false, true, true]);
        check(TestMarketKind::Null, Counts { won: 5_000, ..fair }, [true, false, true]);
        check(TestMarketKind::Null, Counts { other: 1, ..fair }, [true, true, false]);
        let delta = Counts { won: 5_622, ..fair };
        check(TestMarketKind::Delta, delta, [true, true, true]);
        check(TestMarketKind::Delta, Counts { rejected: 34, ..delta }, [false, true, true]);
        let edge = Counts { won: 5_905, ..fair };
        check(TestMarketKind::Edge, Counts { shown: 400, ..edge }, [true, true, true]);
        check(TestMarketKind::Edge, Counts { shown: 250, ..edge }, [false, true, true]);
        let worse = Counts { won: 5_000, ..fair };
        check(TestMarketKind::Worse, Counts { rejected: 400, ..worse }, [true, true, true]);
        check(TestMarketKind::Worse, Counts { rejected: 250, ..worse }, [false, true, true]);
    }
}
