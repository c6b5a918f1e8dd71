//! Strategies whose signals are comparisons of numbers with levels.

use crate::{Candle, Comparison, Direction, Expiry, Reason, SeriesKey, Signal, Strategy};

/// A strategy that signals where numbers lie beyond levels, and nowhere else.
///
/// It computes its numbers candle by candle and states its rules; everything else follows: [`Strategy`], with the reasons of its
/// signals and what `explain` shows, and the [`Declaration`](crate::Declaration) by which a search shares its series. So live, backtest
/// and search use one rule.
///
/// ```
/// use candlewick_sdk::indicator::Cci;
/// use candlewick_sdk::{Candle, DeclaredStrategy, SeriesKey, SeriesPlace, SignalRule, Strategy};
///
/// #[derive(Clone)]
/// struct CciReversal {
///     period: usize,
///     level: f64,
///     cci: Cci,
///     last: Option<f64>,
/// }
///
/// /// The place of the index among the numbers.
/// const INDEX: SeriesPlace = SeriesPlace::new(0);
///
/// impl DeclaredStrategy for CciReversal {
///     type Numbers = [f64; 1];
///
///     fn warm_after(&self) -> usize {
///         self.cci.warmup()
///     }
///
///     fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
///         self.last = self.cci.update(candle);
///         Some([self.last?])
///     }
///
///     fn series(&self) -> Vec<SeriesKey> {
///         vec![SeriesKey::new("cci", &[self.period as f64])]
///     }
///
///     fn rules(&self) -> impl AsRef<[SignalRule]> {
///         [
///             SignalRule::buy("oversold", INDEX.below(-self.level)).naming_level("level"),
///             SignalRule::sell("overbought", INDEX.above(self.level)).naming_level("level"),
///         ]
///     }
///
///     fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
///         self.last.map(|cci| ("cci", cci))
///     }
/// }
/// ```
pub trait DeclaredStrategy: Clone + Send + 'static {
    /// Numbers at one candle, one for each [series](Self::series): `[f64; 1]` for one.
    type Numbers: AsRef<[f64]>;

    /// Returns the warm-up length in candles, including the current one.
    ///
    /// See [`Strategy::warmup`].
    fn warm_after(&self) -> usize;

    /// Processes a closed candle and returns its numbers, if any.
    ///
    /// A NaN meets no comparison.
    fn update(&mut self, candle: &Candle) -> Option<Self::Numbers>;

    /// Returns each series' identity: everything it depends on besides the candles.
    fn series(&self) -> Vec<SeriesKey>;

    /// Returns the signal rules. If several are met, the first one wins.
    fn rules(&self) -> impl AsRef<[SignalRule]>;

    /// Returns named values as of the last candle, for reasons and `explain`.
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)>;
}

/// A signal with the comparisons that must all be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalRule {
    direction: Direction,
    text: &'static str,
    expiry: Option<Expiry>,
    level_name: Option<&'static str>,
    when: Comparison,
    and: [Option<Comparison>; 2],
}

impl SignalRule {
    /// Builds a bet on a higher price with this reason.
    #[inline]
    pub const fn buy(text: &'static str, when: Comparison) -> Self {
        Self::new(Direction::Buy, text, when)
    }

    /// Builds a bet on a lower price with this reason.
    #[inline]
    pub const fn sell(text: &'static str, when: Comparison) -> Self {
        Self::new(Direction::Sell, text, when)
    }

    #[inline]
    const fn new(direction: Direction, text: &'static str, when: Comparison) -> Self {
        Self { direction, text, expiry: None, level_name: None, when, and: [None; 2] }
    }

    /// Adds a comparison that must also be met, up to a total of three.
    ///
    /// # Panics
    /// On the fourth comparison.
    #[must_use]
    #[inline]
    pub const fn and(mut self, also: Comparison) -> Self {
        match self.and {
            [None, _] => self.and[0] = Some(also),
            [Some(_), None] => self.and[1] = Some(also),
            [Some(_), Some(_)] => panic!("a rule has at most three comparisons"),
        }
        self
    }

    /// Overrides the bot's expiry.
    #[must_use]
    pub const fn expiring(mut self, expiry: Expiry) -> Self {
        self.expiry = Some(expiry);
        self
    }

    /// Appends the level of the first comparison to the reason, under this name.
    #[must_use]
    #[inline]
    pub const fn naming_level(mut self, name: &'static str) -> Self {
        self.level_name = Some(name);
        self
    }

    /// Returns the direction of the bet.
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the override of the bot's expiry, if any.
    pub const fn expiry(&self) -> Option<Expiry> {
        self.expiry
    }

    /// Returns the comparisons that must be met.
    pub fn comparisons(&self) -> impl Iterator<Item = Comparison> {
        std::iter::once(self.when).chain(self.and.into_iter().flatten())
    }

    #[inline]
    fn is_met_by(&self, numbers: &[f64]) -> bool {
        let is_met = |comparison: &Comparison| {
            numbers.get(comparison.series).is_some_and(|number| comparison.is_met_by(*number))
        };
        is_met(&self.when) && self.and.iter().flatten().all(is_met)
    }

    #[inline]
    fn signal(&self, values: impl IntoIterator<Item = (&'static str, f64)>) -> Signal {
        let level = self.level_name.map(|name| (name, self.when.level));
        let reason = Reason::with_all(self.text, values, level);
        Signal { direction: self.direction, expiry: self.expiry, reason, is_virtual: false }
    }
}

#[inline(never)]
fn first_met<S: DeclaredStrategy>(strategy: &S, rules: &[SignalRule], numbers: &[f64]) -> Option<Signal> {
    rules.iter().find(|rule| rule.is_met_by(numbers)).map(|rule| rule.signal(strategy.values()))
}

impl<S: DeclaredStrategy> Strategy for S {
    fn warmup(&self) -> usize {
        self.warm_after()
    }

    // The body of the loop over candles, which search and backtest run millions of times: see docs/performance.md.
    #[allow(clippy::inline_always, reason = "left to itself the compiler calls it for each candle")]
    #[inline(always)]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let numbers = self.update(candle)?;
        let (numbers, rules) = (numbers.as_ref(), self.rules());
        // The first rules one by one, not in a loop: see docs/performance.md.
        let (first, rest) = rules.as_ref().split_first()?;
        if first.is_met_by(numbers) {
            return Some(first.signal(self.values()));
        }
        let (second, rest) = rest.split_first()?;
        if second.is_met_by(numbers) {
            return Some(second.signal(self.values()));
        }
        if rest.is_empty() { None } else { first_met(self, rest, numbers) }
    }

    fn wants_settlements(&self) -> bool {
        false
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        self.rules().as_ref().iter().map(SignalRule::expiry).collect()
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        self.values().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::from_closes;
    use crate::{Declaration, SeriesPlace};

    const CLOSE: SeriesPlace = SeriesPlace::new(0);
    const CHANGE: SeriesPlace = SeriesPlace::new(1);

    /// Two numbers, of which the second comes a candle later.
    #[derive(Clone, Default)]
    struct Moves {
        before: Option<f64>,
        last: Option<f64>,
    }

    impl DeclaredStrategy for Moves {
        type Numbers = [f64; 2];

        fn warm_after(&self) -> usize {
            2
        }

        fn update(&mut self, candle: &Candle) -> Option<[f64; 2]> {
            let close = candle.close();
            self.last = Some(close);
            let before = self.before.replace(close);
            Some([close, before.map_or(f64::NAN, |before| close - before)])
        }

        fn series(&self) -> Vec<SeriesKey> {
            vec![SeriesKey::new("close", &[]), SeriesKey::new("change", &[1.0])]
        }

        fn rules(&self) -> impl AsRef<[SignalRule]> {
            let expiry = Expiry {
                close_type: "05:00".parse().unwrap(),
                expiration_type: crate::ExpirationType::TimeFixed,
            };
            [
                SignalRule::buy("low and rising", CLOSE.below(12.0))
                    .and(CHANGE.above(0.0))
                    .naming_level("below"),
                SignalRule::sell("high", CLOSE.above(11.0)).expiring(expiry),
            ]
        }

        fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
            self.last.map(|close| ("close", close))
        }
    }

    #[test]
    fn it_answers_where_all_comparisons_of_a_rule_are_met_and_the_first_rule_counts() {
        let mut strategy = Moves::default();
        let render = |signal: Signal| {
            format!(
                "{} {} {:?}",
                signal.direction,
                signal.reason,
                signal.expiry.map(|e| e.close_type.to_string())
            )
        };
        let answers: Vec<_> = from_closes(&[10.0, 11.0, 11.5, 12.0, 11.0])
            .iter()
            .map(|candle| strategy.on_candle(candle).map(render).unwrap_or_default())
            .collect();
        let expected = [
            "",
            "BUY low and rising close=11 below=12 None",
            "BUY low and rising close=11.5 below=12 None",
            "SELL high close=12 Some(\"05:00\")",
            "",
        ];
        assert_eq!(answers, expected);
        assert_eq!(strategy.indicators(), [("close", 11.0)]);
        let asked = strategy.expiries().into_iter().map(|own| own.map(|own| own.close_type.to_string()));
        assert_eq!(asked.collect::<Vec<_>>(), [None, Some("05:00".to_owned())]);
    }

    #[test]
    fn its_declaration_is_its_rules() {
        let mut strategy = Moves::default();
        let (mut series, entries) = Declaration::of(&strategy).into_parts();
        let candles = from_closes(&[10.0, 11.0, 11.5, 12.0, 11.0, 13.0, 9.0, 9.5]);
        let mut values = vec![Vec::new(); series.len()];
        for (series, values) in series.iter_mut().zip(&mut values) {
            series.fill(&candles, values);
        }
        for (index, candle) in candles.iter().enumerate() {
            let row: Vec<f64> = values.iter().map(|series| series[index]).collect();
            let declared =
                entries.iter().find(|entry| entry.is_met_by(&row)).map(|e| (e.direction, e.expiry));
            let answered = strategy.on_candle(candle).map(|signal| (signal.direction, signal.expiry));
            assert_eq!(declared, answered, "candle {index}");
        }
    }
}
