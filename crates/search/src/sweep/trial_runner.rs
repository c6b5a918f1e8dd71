//! Execution of trials: the `TrialRunner` trait, and an implementation with plain backtests.

use super::{Candidate, Figures, Space, TrialEnd};
use crate::SearchError;
use candlewick_backtest::NullRecorder;
use candlewick_backtest::{Backtest, BacktestError, BacktestResult, BacktestSettings};
use candlewick_engine::{BotSettings, EngineError};
use candlewick_sdk::{
    BuildError, BuiltStrategy, CandleSeries, Declaration, Millis, Money, Strategy, StrategyEntry,
};
use candlewick_simulator::Market;
use std::ops::Range;

/// Runs trials. Trials may share work, but the trades must be the same as in a [`Backtest`].
pub trait TrialRunner: Sync {
    /// Runs one set over the candles that close by `until`. Errors affect all sets, for example missing candles.
    fn run(&self, candidate: &Candidate, until: Millis) -> Result<TrialResult, SearchError>;

    /// Returns the time range from the open of the bot's first candle to the close of its last candle.
    fn span(&self) -> Range<Millis>;

    /// Prepares to [`measure`](Self::measure) these sets up to `until`. Returns groups of set indices.
    /// Measure each group together, because its sets share much of their work.
    fn prepare(&self, candidates: &[&Candidate], until: Millis) -> Result<Vec<Vec<usize>>, SearchError> {
        let _ = until;
        Ok(vec![(0..candidates.len()).collect()])
    }

    /// Frees the data of prepared sets. Call `prepare` again before measuring.
    fn evict(&self) {}

    fn measure(&self, candidate: &Candidate, until: Millis, balance: Money) -> Result<TrialEnd, SearchError> {
        Ok(match self.run(candidate, until)? {
            TrialResult::Ran(finished) => {
                let mut span = self.span();
                span.end = span.end.min(until);
                TrialEnd::Figures(Box::new(Figures::new(&finished, balance, &span)))
            }
            TrialResult::Refused(problem) => TrialEnd::Refused(problem),
        })
    }
}

pub enum TrialResult {
    Ran(Box<BacktestResult>),
    Refused(String),
}

#[derive(Clone, Copy)]
pub struct Replayer<'a> {
    pub settings: &'a BacktestSettings,
    pub entry: &'a StrategyEntry,
    pub space: &'a Space,
    pub candles: &'a [CandleSeries],
    pub markets: &'a [Market],
}

pub(crate) struct PreparedTrial {
    pub(crate) settings: BacktestSettings,
    pub(crate) strategy: Box<dyn Strategy>,
    pub(crate) declaration: Option<Declaration>,
}

impl Replayer<'_> {
    pub(crate) fn prepare_trial(
        &self,
        candidate: &Candidate,
    ) -> Result<Result<PreparedTrial, String>, SearchError> {
        let bot = self.space.bot_settings(candidate);
        let BuiltStrategy { strategy, declaration } = match self.build(&bot) {
            Ok(built) => built,
            Err(BuildError::Parameters { problem, .. }) => return Ok(Err(problem)),
            Err(BuildError::Indicator(problem)) => return Ok(Err(problem.to_string())),
            Err(source @ BuildError::File { .. }) => {
                return Err(EngineError::Strategy { bot: bot.name, source }.into());
            }
        };
        let mut settings = self.settings.clone();
        settings.session.bots = vec![bot];
        Ok(Ok(PreparedTrial { settings, strategy, declaration }))
    }

    pub(crate) fn build(&self, bot: &BotSettings) -> Result<BuiltStrategy, BuildError> {
        let context = bot.context(self.settings.session.longer_share_percent);
        self.entry.build_with_declaration(&bot.params, &context)
    }

    pub(crate) fn bot_candles(&self) -> Option<&CandleSeries> {
        let series = self.settings.session.bots.first().map(BotSettings::series);
        self.candles.iter().find(|candles| Some(candles.series()) == series)
    }

    pub(crate) fn markets_until(&self, until: Millis) -> Vec<Market> {
        let past = Millis::new(i64::MIN)..until;
        self.markets.iter().map(|market| clip_market(market, &past)).collect()
    }
}

impl TrialRunner for Replayer<'_> {
    fn run(&self, candidate: &Candidate, until: Millis) -> Result<TrialResult, SearchError> {
        let PreparedTrial { settings, strategy, .. } = match self.prepare_trial(candidate)? {
            Ok(prepared) => prepared,
            Err(problem) => return Ok(TrialResult::Refused(problem)),
        };
        let candles = clip_candles(self.candles, &(Millis::new(i64::MIN)..until));
        let markets = self.markets_until(until);
        let wants_prices = [self.entry.wants_prices];
        let backtest = match Backtest::new(&settings, vec![strategy], &wants_prices, &candles, markets) {
            Ok(backtest) => backtest,
            // The configured bot is valid, so the parameters must be invalid.
            Err(BacktestError::Engine(error)) => return Ok(TrialResult::Refused(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let finished = backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {})?;
        Ok(TrialResult::Ran(Box::new(finished)))
    }

    fn span(&self) -> Range<Millis> {
        self.bot_candles().map_or(Millis::ZERO..Millis::ZERO, |own| own.start()..own.end())
    }
}

pub(crate) fn clip_candles(candles: &[CandleSeries], past: &Range<Millis>) -> Vec<CandleSeries> {
    candles.iter().filter_map(|series| series.within(past.clone()).ok()).collect()
}

fn clip_market(market: &Market, past: &Range<Millis>) -> Market {
    let within = |series: &CandleSeries| series.within(past.clone());
    Market {
        prices: within(&market.prices).unwrap_or_else(|_| market.prices.clone()),
        detail: market.detail.iter().filter_map(|detail| within(detail).ok()).collect(),
    }
}
