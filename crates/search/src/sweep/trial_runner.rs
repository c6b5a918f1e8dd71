//! Where trials run.

use super::{Candidate, Figures, Outcome, Space};
use crate::SearchError;
use candlewick_backtest::NullRecorder;
use candlewick_backtest::{Backtest, BacktestError, BacktestSettings, Finished};
use candlewick_engine::{BotSettings, EngineError};
use candlewick_sdk::{
    BuildError, BuiltStrategy, CandleSeries, Declaration, Millis, Money, Strategy, StrategyEntry,
};
use candlewick_simulator::Market;
use std::ops::Range;

/// What runs trials. A runner may share work that is the same for several trials; whatever it shares,
/// a trial's trades are those of a [`Backtest`] with its parameters.
pub trait TrialRunner: Sync {
    /// Runs one set of parameters over the candles that close by `until`; all of them at the end of time.
    ///
    /// # Errors
    /// What keeps every trial from running, such as missing candles. A set that the strategy does not take is
    /// [`TrialEnd::Refused`].
    fn run(&self, candidate: &Candidate, until: Millis) -> Result<TrialEnd, SearchError>;

    /// From the open of the first candle that the bot sees to the close of the last.
    fn span(&self) -> Range<Millis>;

    /// Announces the sets that [`measure`](Self::measure) is asked for next, and until when. Answers the groups, by their places, of
    /// those that share the most: finish a group that has begun before another begins.
    ///
    /// # Errors
    /// What keeps every trial from running.
    fn prepare(&self, candidates: &[&Candidate], until: Millis) -> Result<Vec<Vec<usize>>, SearchError> {
        let _ = until;
        Ok(vec![(0..candidates.len()).collect()])
    }

    /// Evicts what was kept for the sets that were prepared: none is measured until others are prepared.
    fn evict(&self) {}

    /// Runs one set like [`run`](Self::run), for its figures alone.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    fn measure(&self, candidate: &Candidate, until: Millis, balance: Money) -> Result<Outcome, SearchError> {
        Ok(match self.run(candidate, until)? {
            TrialEnd::Ran(finished) => {
                let mut span = self.span();
                span.end = span.end.min(until);
                Outcome::Figures(Box::new(Figures::of(&finished, balance, &span)))
            }
            TrialEnd::Refused(problem) => Outcome::Refused(problem),
        })
    }
}

/// How a trial ended.
pub enum TrialEnd {
    /// At the end of the candles.
    Ran(Box<Finished>),
    /// The strategy does not take these parameters, and says why.
    Refused(String),
}

/// Runs each trial as the backtest that it is: a Session and a simulator of its own, over candles that are shared.
#[derive(Clone, Copy)]
pub struct Replay<'a> {
    /// Everything but the parameters; its one bot is the one that is searched for.
    pub settings: &'a BacktestSettings,
    /// The bot's strategy.
    pub entry: &'a StrategyEntry,
    /// What is searched.
    pub space: &'a Space,
    /// As for [`Backtest::new`].
    pub candles: &'a [CandleSeries],
    /// As for [`Backtest::new`].
    pub markets: &'a [Market],
}

/// A trial before it runs: the settings with its bot, and the bot's strategy.
pub(crate) struct PreparedTrial {
    pub(crate) settings: BacktestSettings,
    pub(crate) strategy: Box<dyn Strategy>,
    pub(crate) declaration: Option<Declaration>,
}

impl Replay<'_> {
    /// Makes the strategy of a set; what the strategy says where it does not take the set.
    pub(crate) fn prepare_trial(
        &self,
        candidate: &Candidate,
    ) -> Result<Result<PreparedTrial, String>, SearchError> {
        let bot = self.space.bot(candidate);
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

    /// The strategy of a bot.
    pub(crate) fn build(&self, bot: &BotSettings) -> Result<BuiltStrategy, BuildError> {
        let context = bot.context(self.settings.session.longer_share_percent);
        self.entry.build_with_declaration(&bot.params, &context)
    }

    /// The candles that the bot sees.
    pub(crate) fn own(&self) -> Option<&CandleSeries> {
        let series = self.settings.session.bots.first().map(BotSettings::series);
        self.candles.iter().find(|candles| Some(candles.series()) == series)
    }

    /// What the venue prices trades with, as far as it is known at `until`.
    pub(crate) fn markets_until(&self, until: Millis) -> Vec<Market> {
        let past = Millis::new(i64::MIN)..until;
        self.markets.iter().map(|market| within_market(market, &past)).collect()
    }
}

impl TrialRunner for Replay<'_> {
    fn run(&self, candidate: &Candidate, until: Millis) -> Result<TrialEnd, SearchError> {
        let PreparedTrial { settings, strategy, .. } = match self.prepare_trial(candidate)? {
            Ok(prepared) => prepared,
            Err(problem) => return Ok(TrialEnd::Refused(problem)),
        };
        let candles = within_all(self.candles, &(Millis::new(i64::MIN)..until));
        let markets = self.markets_until(until);
        let wants_prices = [self.entry.wants_prices];
        let backtest = match Backtest::new(&settings, vec![strategy], &wants_prices, &candles, markets) {
            Ok(backtest) => backtest,
            // The bot is sound as it is configured, so it is these parameters that a Session cannot be made of.
            Err(BacktestError::Engine(error)) => return Ok(TrialEnd::Refused(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let finished = backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {})?;
        Ok(TrialEnd::Ran(Box::new(finished)))
    }

    fn span(&self) -> Range<Millis> {
        self.own().map_or(Millis::ZERO..Millis::ZERO, |own| own.start()..own.end())
    }
}

/// Shares the candles; a series without any is left out.
pub(crate) fn within_all(candles: &[CandleSeries], past: &Range<Millis>) -> Vec<CandleSeries> {
    candles.iter().filter_map(|series| series.within(past.clone()).ok()).collect()
}

fn within_market(market: &Market, past: &Range<Millis>) -> Market {
    let within = |series: &CandleSeries| series.within(past.clone());
    Market {
        prices: within(&market.prices).unwrap_or_else(|_| market.prices.clone()),
        detail: market.detail.iter().filter_map(|detail| within(detail).ok()).collect(),
    }
}
