//! Data of a walk-forward run, cut into training and test ranges.

use crate::SearchError;
use crate::sweep::{Candidate, Replayer, TrialRunner};
use candlewick_backtest::NullRecorder;
use candlewick_backtest::{Backtest, BacktestResult};
use candlewick_engine::{EngineError, TradeBook};
use candlewick_sdk::{CandleSeries, ExpirationType, Expiry, Millis, Money, MoneyScale};
use candlewick_simulator::Market;
use std::ops::Range;

pub struct WalkForwardData<'a> {
    pub replay: Replayer<'a>,
    pub balance: Money,
}

impl WalkForwardData<'_> {
    pub fn span(&self) -> Range<Millis> {
        self.replay.span()
    }

    /// Returns the minimum gap between training and test: the maximum trade duration, rounded up to whole candles.
    pub fn purge_gap(&self) -> Millis {
        let bot = self.replay.settings.session.bots.first();
        let close_types = self.possible_values("close_type", bot.map(|bot| bot.close_type));
        let expiration_types = self.possible_values("expiration_type", bot.map(|bot| bot.expiration_type));
        let expiries = close_types.iter().flat_map(|close_type| {
            let with = |expiration_type: &ExpirationType| Expiry {
                close_type: *close_type,
                expiration_type: *expiration_type,
            };
            expiration_types.iter().map(with)
        });
        let longest = expiries.map(|expiry| self.replay.settings.simulation.max_trade_duration(expiry)).max();
        let step = self.alignment();
        (longest.unwrap_or_default() + step - Millis::new(1)).floor_to(step)
    }

    /// Returns the longest candle interval of the run. Windows start and end on multiples of this interval.
    pub fn alignment(&self) -> Millis {
        let priced = self.replay.markets.iter().map(|market| market.prices.interval().length());
        let own = self.replay.bot_candles().map(|own| own.interval().length());
        priced.chain(own).max().unwrap_or(Millis::MINUTE)
    }

    pub(super) fn training_data(&self, range: &Range<Millis>) -> Option<(Vec<CandleSeries>, Vec<Market>)> {
        let own = self.replay.bot_candles()?.within(range.clone()).ok()?;
        Some((vec![own], self.markets_within(range)?))
    }

    /// Runs a set over a test range after a warm-up. The run starts with the initial balance, limits and stakes.
    pub(super) fn run_test(
        &self,
        candidate: &Candidate,
        test: &Range<Millis>,
    ) -> Result<BacktestResult, SearchError> {
        let bot = self.replay.space.bot_settings(candidate);
        let built = self.replay.build(&bot);
        let built = built.map_err(|source| EngineError::Strategy { bot: bot.name.clone(), source })?;
        let strategy = built.strategy;
        let shown = self.replay.bot_candles().and_then(|own| {
            let candles = own.candles();
            let first = candles.partition_point(|candle| candle.time() < test.start);
            let before = first.saturating_sub(strategy.warmup().saturating_sub(1));
            let start = candles.get(before)?.time();
            own.within(start..test.end).ok().filter(|shown| shown.end() > test.start)
        });
        // The market data continues after the test for the length of the purge, so that all trades settle.
        let priced = |shown: &CandleSeries| shown.start()..test.end + self.purge_gap();
        let markets = shown.as_ref().and_then(|shown| self.markets_within(&priced(shown)));
        let (Some(shown), Some(markets)) = (shown, markets) else {
            return Ok(empty_result(self.balance, self.replay.settings.session.money_scale));
        };
        let mut settings = self.replay.settings.clone();
        settings.session.bots = vec![bot];
        let wants_prices = [self.replay.entry.wants_prices];
        let backtest = Backtest::new(&settings, vec![strategy], &wants_prices, &[shown], markets)?;
        let backtest = backtest.with_prices_until(test.end);
        Ok(backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {})?)
    }

    fn markets_within(&self, range: &Range<Millis>) -> Option<Vec<Market>> {
        let within = |market: &Market| {
            let prices = market.prices.within(range.clone()).ok()?;
            let detail = market.detail.iter().filter_map(|one| one.within(range.clone()).ok()).collect();
            Some(Market { prices, detail })
        };
        self.replay.markets.iter().map(within).collect()
    }

    fn possible_values<T: std::str::FromStr>(&self, name: &str, own: Option<T>) -> Vec<T> {
        let axis = self.replay.space.axes().iter().find(|axis| axis.name() == name);
        match axis.and_then(|axis| axis.listed_values()) {
            Some(listed) => listed.iter().filter_map(|setting| setting.to_string().parse().ok()).collect(),
            None => own.into_iter().collect(),
        }
    }
}

pub(super) fn empty_result(final_balance: Money, money_scale: MoneyScale) -> BacktestResult {
    BacktestResult {
        book: TradeBook::default(),
        candles: 0,
        final_balance,
        unsettled_stakes: Money::ZERO,
        unbuilt_longer_candles: 0,
        worst_staleness: Vec::new(),
        money_scale,
        verdicts: Vec::new(),
        stopped_by: Vec::new(),
    }
}
