//! Follows closes beyond the highest and lowest prices of the candles before.
//!
//! A model for a strategy that holds a candle against the ones before it: the channel is compared first and moved on after, so that a
//! candle is no part of what it breaks out of.

use candlewick_sdk::indicator::{Donchian, DonchianChannel};
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesKey, SeriesPlace, SignalRule,
    StrategyFactory, parameters,
};

parameters! {
    /// The channel.
    pub struct Params {
        /// Candles in the channel, before the present one.
        period: usize = 20, 2..=1000;
        /// How far beyond the channel a close must be, as a share of its width.
        margin: f64 = 0.0, 0.0..=10.0;
    }
}

/// Bets that a price which leaves the range of the last candles goes on. A channel without any width is left by nothing.
#[derive(Clone, Debug)]
pub struct DonchianBreakout {
    params: Params,
    channel: Donchian,
    /// The channel of the candles up to the last.
    before: Option<DonchianChannel>,
    /// Where the last candle closed in the channel before it.
    last: Option<f64>,
}

/// The place of the close in the channel: 0 at its lower line, 1 at its upper one.
const PLACE: SeriesPlace = SeriesPlace::new(0);

impl DeclaredStrategy for DonchianBreakout {
    type Numbers = [f64; 1];

    fn warm_after(&self) -> usize {
        self.channel.warmup() + 1
    }

    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        let before = std::mem::replace(&mut self.before, self.channel.update(candle));
        self.last = before.and_then(|channel| place_of(candle.close(), channel));
        Some([self.last?])
    }

    /// The place depends on the period alone, so sets that differ in their margin share it.
    fn series(&self) -> Vec<SeriesKey> {
        vec![SeriesKey::new("place in channel", &[self.params.period as f64])]
    }

    #[inline]
    fn rules(&self) -> impl AsRef<[SignalRule]> {
        let margin = self.params.margin;
        [
            SignalRule::buy("above the channel", PLACE.above(1.0 + margin)),
            SignalRule::sell("below the channel", PLACE.below(-margin)),
        ]
    }

    #[inline]
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
        self.last.map(|place| ("place", place))
    }
}

fn place_of(close: f64, channel: DonchianChannel) -> Option<f64> {
    let width = channel.upper - channel.lower;
    let place = (close - channel.lower) / width;
    (width > 0.0 && place.is_finite()).then_some(place)
}

impl StrategyFactory for DonchianBreakout {
    const NAME: &'static str = "donchian-breakout";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Follows closes beyond the highest and lowest prices of the candles before.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        let channel = Donchian::new(params.period)?;
        Ok(Self { params, channel, before: None, last: None })
    }

    fn declaration(&self) -> Option<Declaration> {
        Some(Declaration::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Strategy;
    use candlewick_sdk::testkit::{bot, conformance, from_closes, random_walk, signals};

    fn check(margin: f64, closes: &[f64], expected: &[(usize, &str)]) {
        let signals =
            signals::<DonchianBreakout>(&Params { period: 3, margin }, &bot("BTCUSDT"), &from_closes(closes));
        let signals = signals.iter().map(String::as_str).enumerate().filter(|(_, text)| !text.is_empty());
        assert_eq!(signals.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_close_beyond_the_candles_before_is_followed_and_one_on_their_extreme_is_not() {
        // The channel of the first three is 10 to 14: a close at 14 is on it, the next at 15 a quarter of the width beyond. Then it is
        // 12 to 15, and 12 is on its other side.
        let closes = [10.0, 14.0, 12.0, 14.0, 15.0, 14.0, 12.0];
        check(0.0, &closes, &[(4, "BUY above the channel place=1.25")]);
        check(0.24, &closes, &[(4, "BUY above the channel place=1.25")]);
        check(0.25, &closes, &[]);
        check(0.0, &[10.0, 14.0, 12.0, 8.0], &[(3, "SELL below the channel place=-0.5")]);
    }

    #[test]
    fn prices_that_stand_still_have_no_channel_to_leave() {
        check(0.0, &[5.0; 20], &[]);
        check(0.0, &[5.0, 5.0, 5.0, 9.0], &[]);
    }

    #[test]
    fn it_conforms_and_is_warm_a_candle_after_the_channel() {
        let params = Params::default();
        assert_eq!(DonchianBreakout::build(params.clone(), &bot("BTCUSDT")).unwrap().warmup(), 21);
        let signals = conformance::<DonchianBreakout>(&params, &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
