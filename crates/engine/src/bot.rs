//! A bot inside a Session: its strategy, its place and its stake.

use crate::stake::Stake;
use crate::{Edge, SymbolId};
use candlewick_sdk::{Candle, Expiry, LongerCandles, Millis, Price, Signal, Strategy};

pub(crate) struct Bot {
    pub(crate) symbol: SymbolId,
    /// The length of its candles.
    pub(crate) interval: Millis,
    pub(crate) expiry: Expiry,
    pub(crate) stake: Stake,
    pub(crate) edge: Edge,
    /// Close time of the last candle it saw.
    pub(crate) last_close: Millis,
    strategy: Box<dyn Strategy>,
    longer: LongerCandles,
    /// Candles until its signals mean anything.
    cold: usize,
}

impl Bot {
    pub(crate) fn new(
        symbol: SymbolId,
        interval: Millis,
        expiry: Expiry,
        stake: Stake,
        (strategy, longer): (Box<dyn Strategy>, LongerCandles),
    ) -> Self {
        let cold = strategy.warmup();
        let last_close = Millis::new(i64::MIN);
        Self { symbol, interval, expiry, stake, edge: Edge::Open, last_close, strategy, longer, cold }
    }

    /// How many candles it wants to have seen.
    pub(crate) fn warmup(&self) -> usize {
        self.strategy.warmup()
    }

    /// Shows the strategy a candle. What it says before it [is warm](Self::is_warm) is not to be heard.
    #[inline]
    pub(crate) fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.last_close = candle.time() + self.interval;
        self.cold = self.cold.saturating_sub(1);
        let signal = self.strategy.on_candle(candle);
        if !self.longer.is_empty() {
            self.longer.show(candle, &mut *self.strategy);
        }
        signal
    }

    /// How many longer candles its strategy did not see because candles of its own are missing.
    pub(crate) fn incomplete(&self) -> u64 {
        self.longer.incomplete()
    }

    pub(crate) fn on_price(&mut self, price: &Price) -> Option<Signal> {
        self.strategy.on_price(price)
    }

    /// Whether its strategy has seen as many candles as it wanted to.
    #[inline]
    pub(crate) const fn is_warm(&self) -> bool {
        self.cold == 0
    }

    pub(crate) fn on_settled(&mut self, settlement: &candlewick_sdk::Settlement) {
        self.strategy.on_settled(settlement);
    }
}
