//! Trades breakouts: a candle that closes above the highest or below the lowest price of the previous candles.
//!
//! Example of a strategy that compares a candle with earlier candles. The channel is updated after the comparison, so a
//! candle never belongs to the channel that it breaks out of.

use candlewick_sdk::indicator::{Donchian, DonchianChannel};
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesIndex, SeriesKey, SignalRule,
    StrategyFactory, parameters,
};

parameters! {
    /// Parameters of the channel.
    pub struct Params {
        /// Number of candles in the channel, before the current one.
        period: usize = 20, 2..=1000;
        /// Minimum distance of a close from the channel, as a share of its width.
        margin: f64 = 0.0, 0.0..=10.0;
    }
}

/// Strategy that bets on the continuation of breakouts. A channel of zero width gives no signal.
#[derive(Clone, Debug)]
pub struct DonchianBreakout {
    params: Params,
    channel: Donchian,
    /// Channel that the next close is compared with.
    before: Option<DonchianChannel>,
    /// Position of the last close relative to the channel of the candles before it.
    last: Option<f64>,
}

/// Index in `Numbers` of the close's position in the channel: 0 is the lower line, and 1 is the upper line.
const POSITION: SeriesIndex = SeriesIndex::new(0);

impl DeclaredStrategy for DonchianBreakout {
    type Numbers = [f64; 1];

    fn warmup_candles(&self) -> usize {
        self.channel.warmup() + 1
    }

    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        let before = std::mem::replace(&mut self.before, self.channel.update(candle));
        self.last = before.and_then(|channel| channel_position(candle.close(), channel));
        Some([self.last?])
    }

    /// Returns the keys of the series. `margin` is not part of a key, because it only affects the rules.
    fn series(&self) -> Vec<SeriesKey> {
        vec![SeriesKey::new("place in channel", &[self.params.period as f64])]
    }

    #[inline]
    fn rules(&self) -> impl AsRef<[SignalRule]> {
        let margin = self.params.margin;
        [
            SignalRule::buy("above the channel", POSITION.above(1.0 + margin)),
            SignalRule::sell("below the channel", POSITION.below(-margin)),
        ]
    }

    #[inline]
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
        self.last.map(|place| ("place", place))
    }
}

fn channel_position(close: f64, channel: DonchianChannel) -> Option<f64> {
    let width = channel.upper - channel.lower;
    let place = (close - channel.lower) / width;
    (width > 0.0 && place.is_finite()).then_some(place)
}

impl StrategyFactory for DonchianBreakout {
    const NAME: &'static str = "donchian-breakout";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str =
        "Trades in the direction of a close outside the price range of the previous candles.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        let channel = Donchian::new(params.period)?;
        Ok(Self { params, channel, before: None, last: None })
    }

    fn declaration(&self) -> Option<Declaration> {
        Some(Declaration::from_strategy(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Strategy;
    use candlewick_sdk::testkit::{bot, check_conformance, from_closes, random_walk, render_signals};

    fn check(margin: f64, closes: &[f64], expected: &[(usize, &str)]) {
        let signals = render_signals::<DonchianBreakout>(
            &Params { period: 3, margin },
            &bot("BTCUSDT"),
            &from_closes(closes),
        );
        let signals = signals.iter().map(String::as_str).enumerate().filter(|(_, text)| !text.is_empty());
        assert_eq!(signals.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn follows_closes_beyond_the_channel_and_not_on_it() {
        // The channel of the first three is 10 to 14: 14 is on its upper line, and 15 is a quarter of its width above.
        // The next channel is 12 to 15, and 12 is on its lower line.
        let closes = [10.0, 14.0, 12.0, 14.0, 15.0, 14.0, 12.0];
        check(0.0, &closes, &[(4, "BUY above the channel place=1.25")]);
        check(0.24, &closes, &[(4, "BUY above the channel place=1.25")]);
        check(0.25, &closes, &[]);
        check(0.0, &[10.0, 14.0, 12.0, 8.0], &[(3, "SELL below the channel place=-0.5")]);
    }

    #[test]
    fn flat_prices_give_no_signal() {
        check(0.0, &[5.0; 20], &[]);
        check(0.0, &[5.0, 5.0, 5.0, 9.0], &[]);
    }

    #[test]
    fn conforms_with_warmup_of_channel_and_one_candle() {
        let params = Params::default();
        assert_eq!(DonchianBreakout::build(params.clone(), &bot("BTCUSDT")).unwrap().warmup(), 21);
        let signals = check_conformance::<DonchianBreakout>(&params, &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
