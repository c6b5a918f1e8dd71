//! Candles, bots and rules of the benchmarks.

use super::{BALANCE, RsiExtremes, STAKE, Signals, by_hand};
use crate::{Backtest, BacktestError, BacktestSettings, Summary};
use candlewick_engine::{BotSettings, Hours, JournalHash, RiskSettings, SessionSettings, StakeSettings};
use candlewick_history::{GenerateSettings, HistoryError, generate, known_market, resample};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{CandleSeries, ExpirationType, Interval, Millis, MoneyScale, Series, Strategy, Symbol};
use candlewick_simulator::{Market, SimulationSettings};
use std::fmt;
use std::hint::black_box;

const PERIODS: [usize; 10] = [14, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// A number of bots on each of a number of symbols.
///
/// Has at least one bot and one symbol, and at most one bot per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    bots: usize,
    symbols: usize,
}

impl Crowd {
    pub const USUAL: Self = Self { bots: 10, symbols: 10 };
    pub const GROWTH: [Self; 4] = [
        Self { bots: 1, symbols: 1 },
        Self { bots: 10, symbols: 1 },
        Self { bots: 1, symbols: 10 },
        Self::USUAL,
    ];

    pub const fn bots(self) -> usize {
        self.bots
    }

    pub const fn symbols(self) -> usize {
        self.symbols
    }

    pub(super) fn periods(self) -> &'static [usize] {
        &PERIODS[..self.bots]
    }
}

impl fmt::Display for Crowd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count| if count == 1 { "" } else { "s" };
        let Self { bots, symbols } = *self;
        write!(formatter, "{bots} bot{} x {symbols} symbol{}", plural(bots), plural(symbols))
    }
}

/// Results in which a run and its hand-written loop must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub trades: u64,
    /// Final balance in cents.
    pub balance: i64,
}

const PERIOD: usize = 14;
const START: Millis = Millis::new(1_704_067_200_000); // 2024-01-01
const MINUTES_A_DAY: usize = 24 * 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// One bot on one-minute candles under the usual rules; signals where the index crosses into an
    /// extreme.
    Single,
    /// One bot that signals at every candle of an extreme. Most signals are rejected, since a trade
    /// is open.
    Extremes,
    /// Like [`Single`](Self::Single) with prices from 30-second candles, under every rule but the
    /// enforced verdict, which a random walk must fail.
    EveryRule,
    Crowd(Crowd),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Running,
    Judged,
    BookGone,
}

pub struct Work {
    kind: WorkKind,
    settings: BacktestSettings,
    candles: Vec<CandleSeries>,
    markets: Vec<Market>,
}

impl WorkKind {
    pub const ALL: [Self; 4] = [Self::Single, Self::EveryRule, Self::Crowd(Crowd::USUAL), Self::Extremes];
}

impl fmt::Display for WorkKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => formatter.write_str("one bot, usual rules"),
            Self::EveryRule => formatter.write_str("one bot, every rule, 30 s detail"),
            Self::Crowd(crowd) => crowd.fmt(formatter),
            Self::Extremes => formatter.write_str("one bot, a signal at every extreme"),
        }
    }
}

impl Work {
    pub fn new(kind: WorkKind, candles: usize) -> Result<Self, HistoryError> {
        let (candles, markets) = match kind {
            WorkKind::Single | WorkKind::Extremes => {
                priced_by_themselves(vec![walk("BTCUSDT", Interval::MINUTE, candles)?])
            }
            WorkKind::EveryRule => {
                let half_minute = Interval::from_seconds(30).expect("a round length");
                let detail = walk("BTCUSDT", half_minute, candles * 2)?;
                let joined = resample(&detail, Interval::MINUTE)?;
                let market = Market { prices: joined.clone(), detail: vec![detail] };
                (vec![joined], vec![market])
            }
            WorkKind::Crowd(crowd) => {
                let count = candles / crowd.symbols();
                let each = |number: usize| walk(&format!("CROWD{number}"), Interval::MINUTE, count);
                priced_by_themselves((0..crowd.symbols()).map(each).collect::<Result<_, _>>()?)
            }
        };
        let bots = match kind {
            WorkKind::Single | WorkKind::EveryRule | WorkKind::Extremes => {
                vec![bot(candles[0].series(), PERIOD)]
            }
            WorkKind::Crowd(crowd) => {
                let on_symbol = |one: Series| crowd.periods().iter().map(move |period| bot(one, *period));
                candles.iter().flat_map(|one| on_symbol(one.series())).collect()
            }
        };
        let settings = BacktestSettings {
            session: SessionSettings {
                money_scale: MoneyScale::default(),
                balance: Decimal::from(BALANCE),
                risk: rules(kind),
                bots,
                longer_share_percent: None,
            },
            simulation: SimulationSettings::default(),
            price_every_ms: Millis::from_seconds(5),
        };
        Ok(Self { kind, settings, candles, markets })
    }

    pub fn bots(&self) -> usize {
        self.settings.session.bots.len()
    }

    pub fn decisions(&self) -> usize {
        let per_symbol = self.bots() / self.candles.len();
        self.candles.iter().map(|one| one.candles().len() * per_symbol).sum()
    }

    pub fn first_series(&self) -> &CandleSeries {
        &self.candles[0]
    }

    /// Runs a whole backtest without file access and output, and returns the outcome and the number
    /// of rejected signals.
    ///
    /// Includes risk rules, simulated venue, trade book, journal hash, summary and verdict.
    /// `report` is called at each stage.
    pub fn run(&self, report: &mut dyn FnMut(Stage)) -> Result<(Outcome, u64), BacktestError> {
        let bots = &self.settings.session.bots;
        let strategies = bots.iter().map(|bot| self.strategy(bot)).collect();
        let wants_prices = vec![false; bots.len()];
        let backtest =
            Backtest::new(&self.settings, strategies, &wants_prices, &self.candles, self.markets.clone())?;
        let names = bots.iter().map(|bot| (bot.strategy.clone(), "1.0.0".to_owned())).collect();
        let header = self.settings.header(names, None);
        let mut hash = JournalHash::new();
        let finished = backtest.run(&header, &mut hash, &mut |_, _| report(Stage::Running))?;
        let start = MoneyScale::default().exact(self.settings.session.balance).unwrap_or_default();
        let summary = Summary::of(&finished.book, start);
        // As `candlewick backtest` reports them.
        for verdict in &finished.verdicts {
            black_box(verdict.edge_test().verdict());
        }
        black_box((hash.finish(), &summary));
        report(Stage::Judged);
        drop(finished.book);
        report(Stage::BookGone);
        let outcome = Outcome { trades: summary.trades, balance: finished.final_balance.minor() };
        Ok((outcome, summary.refused.values().sum()))
    }

    pub fn run_by_hand(&self) -> Outcome {
        let first = self.candles[0].candles();
        match (self.kind, self.markets[0].detail.first()) {
            (WorkKind::Single, _) | (WorkKind::EveryRule, None) => by_hand::single(first),
            (WorkKind::EveryRule, Some(detail)) => by_hand::detailed(first, detail.candles()),
            (WorkKind::Extremes, _) => by_hand::at_extremes(first),
            (WorkKind::Crowd(crowd), _) => {
                by_hand::crowd(self.candles.iter().map(CandleSeries::candles), crowd.periods())
            }
        }
    }

    fn strategy(&self, bot: &BotSettings) -> Box<dyn Strategy> {
        let period = bot.params["period"].as_u64().and_then(|period| usize::try_from(period).ok());
        let signals = match self.kind {
            WorkKind::Single | WorkKind::EveryRule | WorkKind::Crowd(_) => Signals::AtCrossings,
            WorkKind::Extremes => Signals::AtExtremes,
        };
        Box::new(RsiExtremes::new(period.unwrap_or(PERIOD), signals))
    }
}

fn bot(series: Series, period: usize) -> BotSettings {
    BotSettings {
        name: format!("{}-{period}", series.symbol),
        symbol: series.symbol,
        entry_delay_s: 0,
        venue: std::collections::BTreeMap::new(),
        interval: series.interval,
        strategy: "rsi-extremes".to_owned(),
        close_type: "05:00".parse().expect("a code"),
        expiration_type: ExpirationType::TimeFixed,
        params: serde_json::json!({ "period": period }),
        stake: StakeSettings::Fixed { amount: Decimal::from(STAKE) },
    }
}

/// Returns rules that are checked but never reject, so that a loop without them makes the same
/// trades.
///
/// Only the limit of one open trade per symbol applies.
fn rules(kind: WorkKind) -> RiskSettings {
    // The usual limits; only the day's loss may be ten times as large, so that the trades of a day are not cut short.
    let usual = RiskSettings { daily_loss_limit: Decimal::from(1_000), ..RiskSettings::default() };
    match kind {
        WorkKind::Single | WorkKind::Extremes => usual,
        WorkKind::EveryRule => RiskSettings {
            max_trades_per_hour: 60,
            daily_profit_target: Decimal::from(BALANCE),
            max_loss_streak: 1_000,
            cooldown_after_loss_s: 1,
            cooldown_after_losses: 1_000,
            cooldown_after_losses_s: 60,
            min_payout_percent: 50.0,
            hours: vec![Hours {
                days: Vec::new(),
                from: "00:00".to_owned(),
                to: "00:00".to_owned(),
                timezone: "Europe/London".to_owned(),
            }],
            // A trade that probes an unknown payout has the stake of any other.
            min_stake: Decimal::from(STAKE),
            max_stake: Decimal::from(1_000),
            stake_step: Decimal::ONE,
            max_stake_percent: 50.0,
            ..usual
        },
        WorkKind::Crowd(_) => RiskSettings {
            max_open_trades: 0,
            max_trades_per_day: 0,
            daily_loss_limit: Decimal::ZERO,
            ..usual
        },
    }
}

fn walk(symbol: &str, interval: Interval, candles: usize) -> Result<CandleSeries, HistoryError> {
    let symbol = Symbol::new(symbol).expect("a sound name");
    let known = Symbol::new("BTCUSDT").ok().and_then(known_market).expect("it stands in the table");
    let per_day = MINUTES_A_DAY * (Millis::MINUTE.get() / interval.length().get()).max(1) as usize;
    let days = u32::try_from(candles.div_ceil(per_day)).unwrap_or(u32::MAX);
    let settings = GenerateSettings { interval, ..GenerateSettings::of_market(symbol, known, START, days) };
    let made = generate(&settings)?;
    let kept = made.candles()[..candles].to_vec();
    Ok(CandleSeries::new(made.series(), kept).expect("a part of a series is one"))
}

fn priced_by_themselves(candles: Vec<CandleSeries>) -> (Vec<CandleSeries>, Vec<Market>) {
    let markets = candles.iter().map(|one| Market { prices: one.clone(), detail: Vec::new() }).collect();
    (candles, markets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_named_with_both_its_numbers() {
        let names = Crowd::GROWTH.map(|crowd| crowd.to_string());
        assert_eq!(
            names,
            ["1 bot x 1 symbol", "10 bots x 1 symbol", "1 bot x 10 symbols", "10 bots x 10 symbols"]
        );
    }

    #[test]
    fn a_backtest_and_its_loop_by_hand_make_the_same_trades() {
        let smaller = Crowd::GROWTH.into_iter().filter(|crowd| *crowd != Crowd::USUAL).map(WorkKind::Crowd);
        for kind in WorkKind::ALL.into_iter().chain(smaller) {
            let work = Work::new(kind, 60_000).unwrap();
            let (outcome, refused) = work.run(&mut |_| {}).unwrap();
            assert_eq!(outcome, work.run_by_hand(), "{kind:?}");
            let (bots, few_refused) = match kind {
                WorkKind::Single | WorkKind::EveryRule => (1, true),
                WorkKind::Extremes => (1, false),
                WorkKind::Crowd(crowd) => (crowd.bots(), crowd.bots() == 1),
            };
            assert_eq!(work.decisions(), bots * 60_000, "{kind:?}");
            // Where one bot signals at crossings, few signals come while a trade is open.
            let least = if few_refused { 100 } else { 600 };
            assert!(outcome.trades > 600 && refused > least, "{kind:?}: {outcome:?}, {refused} refused");
        }
    }
}
