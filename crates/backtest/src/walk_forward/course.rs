//! What a walk goes over: its training stretches as a sweep searches them, and the tests after them.

use crate::silence::Silence;
use crate::sweep::{Candidate, Space};
use crate::{Backtest, BacktestError, BacktestSettings, Finished};
use candlewick_engine::{BotSettings, EngineError, TradeBook};
use candlewick_sdk::{
    BotContext, CandleSeries, ExpirationType, Expiry, Millis, Money, Strategy, StrategyEntry,
};
use candlewick_simulator::Market;
use std::ops::Range;

/// The candles, the bot and the venue of all windows.
pub struct Course<'a> {
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
    /// The balance at the start of every run.
    pub balance: Money,
}

impl Course<'_> {
    /// From the open of the first candle that the bot hears to the close of the last.
    pub fn span(&self) -> Range<Millis> {
        self.own().map_or(Millis::ZERO..Millis::ZERO, |own| own.start()..own.end())
    }

    /// What must lie between a decision and the first candle that it may not have had a part in: as long as any trade of the
    /// space can be under way, in whole candles.
    pub fn purge(&self) -> Millis {
        let bot = self.settings.session.bots.first();
        let close_types = self.values_of("close_type", bot.map(|bot| bot.close_type));
        let expiration_types = self.values_of("expiration_type", bot.map(|bot| bot.expiration_type));
        let expiries = close_types.iter().flat_map(|close_type| {
            let with = |expiration_type: &ExpirationType| Expiry {
                close_type: *close_type,
                expiration_type: *expiration_type,
            };
            expiration_types.iter().map(with)
        });
        let longest = expiries.map(|expiry| self.settings.simulation.longest_trade(expiry)).max();
        let step = self.step();
        (longest.unwrap_or_default() + step - Millis::new(1)).floor_to(step)
    }

    /// The length of the longest candles that anybody needs: windows begin and end on its grid.
    pub fn step(&self) -> Millis {
        let priced = self.markets.iter().map(|market| market.prices.interval().length());
        let own = self.own().map(|own| own.interval().length());
        priced.chain(own).max().unwrap_or(Millis::MINUTE)
    }

    /// The candles of a training, and what prices its trades: none of either lies outside. Nothing when the bot has no
    /// candle there.
    pub(super) fn training(&self, range: &Range<Millis>) -> Option<(Vec<CandleSeries>, Vec<Market>)> {
        let own = self.own()?.within(range.clone()).ok()?;
        Some((vec![own], self.markets_within(range)?))
    }

    /// Runs one set over a test. The strategy sees as many candles before it as it takes to be warm, so that the first
    /// that it can answer is the test's own; a trade that is open at the end still settles. No Session before it leaves a
    /// trace: money, limits and stakes begin anew.
    pub(super) fn examine(
        &self,
        candidate: &Candidate,
        test: &Range<Millis>,
    ) -> Result<Finished, BacktestError> {
        let bot = self.space.bot(candidate);
        let strategy = self.strategy(&bot)?;
        let heard = self.own().and_then(|own| {
            let candles = own.candles();
            let first = candles.partition_point(|candle| candle.time() < test.start);
            let before = first.saturating_sub(strategy.warmup().saturating_sub(1));
            let start = candles.get(before)?.time();
            own.within(start..test.end).ok().filter(|heard| heard.end() > test.start)
        });
        // The markets are priced a little longer, so that everything settles.
        let priced = |heard: &CandleSeries| heard.start()..test.end + self.purge();
        let markets = heard.as_ref().and_then(|heard| self.markets_within(&priced(heard)));
        let (Some(heard), Some(markets)) = (heard, markets) else { return Ok(self.without_candles()) };
        let mut settings = self.settings.clone();
        settings.session.bots = vec![bot];
        let wants_prices = [self.entry.wants_prices];
        let backtest = Backtest::new(&settings, vec![strategy], &wants_prices, &[heard], markets)?;
        backtest.telling_prices_until(test.end).run(&Silence::header(), &mut Silence, &mut |_, _| {})
    }

    fn own(&self) -> Option<&CandleSeries> {
        let series = self.settings.session.bots.first().map(BotSettings::series);
        self.candles.iter().find(|candles| Some(candles.series()) == series)
    }

    fn markets_within(&self, range: &Range<Millis>) -> Option<Vec<Market>> {
        let within = |market: &Market| {
            let prices = market.prices.within(range.clone()).ok()?;
            let detail =
                market.detail.iter().filter_map(|detail| detail.within(range.clone()).ok()).collect();
            Some(Market { prices, detail })
        };
        self.markets.iter().map(within).collect()
    }

    fn strategy(&self, bot: &BotSettings) -> Result<Box<dyn Strategy>, BacktestError> {
        let context = BotContext {
            bot: bot.name.clone(),
            symbol: bot.symbol,
            interval: bot.interval,
            expiry: bot.expiry(),
        };
        let built = self.entry.build(&bot.params, &context);
        built.map_err(|source| EngineError::Strategy { bot: bot.name.clone(), source }.into())
    }

    /// What an axis of this name may be, else what the bot has.
    fn values_of<T: std::str::FromStr>(&self, name: &str, own: Option<T>) -> Vec<T> {
        let axis = self.space.axes().iter().find(|axis| axis.name() == name);
        match axis.and_then(|axis| axis.listed()) {
            Some(listed) => listed.iter().filter_map(|setting| setting.to_string().parse().ok()).collect(),
            None => own.into_iter().collect(),
        }
    }

    /// A weekend, or a hole: nothing was heard, so nothing was traded.
    fn without_candles(&self) -> Finished {
        Finished {
            book: TradeBook::default(),
            candles: 0,
            final_balance: self.balance,
            unsettled_stakes: Money::ZERO,
            incomplete_candles: 0,
            money_scale: self.settings.session.money_scale,
            verdicts: Vec::new(),
        }
    }
}
