//! Buys when a candle closes below the lower Bollinger band, and sells when a candle closes above the upper band.
//!
//! Example of a strategy that compares one series with adjustable levels. The z-score is the distance of a close from
//! the mean in standard deviations, so one series of z-scores is enough for bands of any width.

use candlewick_sdk::indicator::ZScore;
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesIndex, SeriesKey, SignalRule,
    StrategyFactory, parameters,
};

parameters! {
    /// Parameters of the bands.
    pub struct Params {
        /// Number of candles in the mean of the bands.
        period: usize = 20, 2..=1000;
        /// Distance of the bands from the mean in standard deviations, below the square root of period - 1.
        deviations: f64 = 2.0, 0.1..=10.0;
    }
}

/// Strategy that bets on a return to the mean. Every close beyond a band is a signal, and risk rules limit the trades.
#[derive(Clone, Debug)]
pub struct BollingerReversal {
    params: Params,
    z_score: ZScore,
    /// Z-score after the last candle.
    last: Option<f64>,
}

/// Index of the z-score in `Numbers`.
const SCORE: SeriesIndex = SeriesIndex::new(0);

impl DeclaredStrategy for BollingerReversal {
    type Numbers = [f64; 1];

    fn warmup_candles(&self) -> usize {
        self.z_score.warmup()
    }

    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        self.last = self.z_score.update(candle.close());
        Some([self.last?])
    }

    fn series(&self) -> Vec<SeriesKey> {
        vec![SeriesKey::new("z-score", &[self.params.period as f64])]
    }

    #[inline]
    fn rules(&self) -> impl AsRef<[SignalRule]> {
        let deviations = self.params.deviations;
        [
            SignalRule::buy("below the lower band", SCORE.below(-deviations)).with_level_name("band"),
            SignalRule::sell("above the upper band", SCORE.above(deviations)).with_level_name("band"),
        ]
    }

    #[inline]
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
        self.last.map(|score| ("deviations", score))
    }
}

impl StrategyFactory for BollingerReversal {
    const NAME: &'static str = "bollinger-reversal";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str =
        "Buys at closes below the lower Bollinger band and sells at closes above the upper one.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        let Params { period, deviations } = params.clone();
        let furthest = (period.saturating_sub(1) as f64).sqrt();
        if deviations >= furthest {
            return Err(format!(
                "deviations = {deviations} must be below {furthest:.2}: with period = {period} no close is further from the mean"
            )
            .into());
        }
        Ok(Self { params, z_score: ZScore::new(period)?, last: None })
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

    fn built(period: usize, deviations: f64) -> BollingerReversal {
        BollingerReversal::build(Params { period, deviations }, &bot("BTCUSDT")).unwrap()
    }

    #[test]
    fn signals_beyond_a_band_and_not_on_it() {
        // 10, 10, 10, 18 have mean 12 and deviation sqrt(12), so 18 is sqrt(3) above. 10, 10, 18, 18 and 10, 18, 18, 10 have mean
        // 14 and deviation 4. 18, 18, 10, 2 have mean 12 and deviation sqrt(44).
        let closes = from_closes(&[10.0, 10.0, 10.0, 18.0, 18.0, 10.0, 2.0]);
        for (deviations, expected) in [
            (
                1.5,
                vec![
                    (3, "SELL above the upper band deviations=1.732051 band=1.5"),
                    (6, "BUY below the lower band deviations=-1.507557 band=-1.5"),
                ],
            ),
            (1.6, vec![(3, "SELL above the upper band deviations=1.732051 band=1.6")]),
            (
                1.0,
                vec![
                    (3, "SELL above the upper band deviations=1.732051 band=1"),
                    (6, "BUY below the lower band deviations=-1.507557 band=-1"),
                ],
            ),
        ] {
            let params = Params { period: 4, deviations };
            let signals = render_signals::<BollingerReversal>(&params, &bot("BTCUSDT"), &closes);
            let signals = signals.iter().map(String::as_str).enumerate().filter(|(_, text)| !text.is_empty());
            assert_eq!(signals.collect::<Vec<_>>(), expected, "{deviations}");
        }
    }

    #[test]
    fn reports_score_and_ignores_flat_prices() {
        let mut strategy = built(4, 1.5);
        for (index, candle) in from_closes(&[7.1; 30]).iter().enumerate() {
            assert_eq!(strategy.on_candle(candle), None);
            assert_eq!(strategy.indicators(), if index < 3 { vec![] } else { vec![("deviations", 0.0)] });
        }
    }

    #[test]
    fn rejects_unreachable_bands() {
        let error =
            BollingerReversal::build(Params { period: 5, deviations: 2.0 }, &bot("BTCUSDT")).unwrap_err();
        let problem = "deviations = 2 must be below 2.00: with period = 5 no close is further from the mean";
        assert_eq!(error.to_string(), format!("the strategy's parameters: {problem}"));
    }

    #[test]
    fn conforms_with_warmup_of_one_window() {
        assert_eq!(built(20, 2.0).warmup(), 20);
        let signals = check_conformance::<BollingerReversal>(
            &Params::default(),
            &bot("BTCUSDT"),
            &random_walk(2, 5_000),
        );
        assert!(signals.unwrap() > 100);
    }
}
