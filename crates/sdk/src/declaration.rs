//! Declared rules of a strategy, so that a search shares work between parameter sets.

use crate::{Candle, DeclaredStrategy, Direction, Expiry};
use std::borrow::Cow;
use std::fmt;

/// A strategy's signals as comparisons: which series of numbers it looks at, and beyond which levels it trades.
///
/// A search over 1,000 sets of an index strategy computes the same few indices over the same candles again and again.
/// A strategy that declares itself lets it compute each series once, and go straight from one candle that meets a
/// comparison to the next. Declaring is free to leave out: a strategy that does not is run candle by candle. A
/// [`DeclaredStrategy`] has its declaration made [of its rules](Self::of); any other may write one by hand and return it from
/// [`StrategyFactory::declaration`](crate::StrategyFactory::declaration).
///
/// What is declared must be all there is: exactly the candles that meet an entry are those that
/// [`on_candle`](crate::Strategy::on_candle) answers, with the entry's direction and expiry. So a strategy whose signals
/// depend on prices between candles, on its own settlements or on longer candles declares nothing. The conformance kit
/// holds a declaration to the strategy candle by candle, and a sweep holds its best set to the backtest of that set.
///
/// ```
/// use candlewick_sdk::{Declaration, indicator::Rsi};
///
/// # fn declaration() -> Option<Declaration> {
/// let (period, oversold, overbought) = (14, 30.0, 70.0);
/// let mut rsi = Rsi::new(period).ok()?;
/// let mut declaration = Declaration::new();
/// // The name and the numbers say what the series is: all that it depends on besides the candles.
/// let index = declaration.series("rsi", &[period as f64], move |candle| rsi.update(candle.close()));
/// Some(declaration.buy_when([index.below(oversold)]).sell_when([index.above(overbought)]))
/// # }
/// # assert_eq!(declaration().unwrap().entries().len(), 2);
/// ```
#[derive(Default)]
pub struct Declaration {
    series: Vec<DeclaredSeries>,
    entries: Vec<DeclaredEntry>,
}

/// A series with an optional number per candle.
pub struct DeclaredSeries {
    key: SeriesKey,
    maker: Box<dyn Fill>,
}

/// Identity of a declared series.
///
/// Series with equal keys are the same, and are computed only once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeriesKey {
    name: Cow<'static, str>,
    /// Bit patterns of the numbers.
    numbers: Vec<u64>,
}

/// Index of a series of a [`Declaration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesPlace(usize);

/// A comparison of a series with a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Index of the series in the result of [`Declaration::into_parts`].
    pub series: usize,
    /// Required side of the level.
    pub side: Side,
    /// Level, exclusive.
    pub level: f64,
}

/// Side of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Less than the level.
    Below,
    /// Greater than the level.
    Above,
}

/// A signal given at every candle that meets all comparisons.
///
/// If several entries are met, the first one wins.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredEntry {
    /// Direction of the bet.
    pub direction: Direction,
    /// Override of the bot's expiry, `None` to keep it.
    pub expiry: Option<Expiry>,
    /// Comparisons that must all be met. A series without a number meets none.
    pub when: Vec<Comparison>,
}

trait Fill: Send {
    fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>);
}

impl<F: FnMut(&Candle) -> Option<f64> + Send> Fill for F {
    fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>) {
        values.extend(candles.iter().map(|candle| self(candle).unwrap_or(f64::NAN)));
    }
}

impl Declaration {
    /// Creates an empty declaration.
    pub const fn new() -> Self {
        Self { series: Vec::new(), entries: Vec::new() }
    }

    /// Builds the declaration of a strategy with declared rules.
    pub fn of<S: DeclaredStrategy>(strategy: &S) -> Self {
        let series = strategy.series().into_iter().enumerate().map(|(place, key)| {
            let mut own = strategy.clone();
            let value = move |candle: &Candle| own.update(candle)?.as_ref().get(place).copied();
            DeclaredSeries { key, maker: Box::new(value) }
        });
        let rules = strategy.rules();
        let entries = rules.as_ref().iter().map(|rule| DeclaredEntry {
            direction: rule.direction(),
            expiry: rule.expiry(),
            when: rule.comparisons().collect(),
        });
        Self { series: series.collect(), entries: entries.collect() }
    }

    /// Adds a series and returns its index.
    ///
    /// `value` is called with every candle in order and sees no other. `name` and `numbers` must
    /// cover everything else that its result depends on.
    pub fn series(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        numbers: &[f64],
        value: impl FnMut(&Candle) -> Option<f64> + Send + 'static,
    ) -> SeriesPlace {
        self.series.push(DeclaredSeries { key: SeriesKey::new(name, numbers), maker: Box::new(value) });
        SeriesPlace(self.series.len() - 1)
    }

    /// Adds a bet on a higher price at every candle that meets all comparisons.
    #[must_use]
    pub fn buy_when(self, when: impl IntoIterator<Item = Comparison>) -> Self {
        self.when(Direction::Buy, None, when)
    }

    /// Adds a bet on a lower price at every candle that meets all comparisons.
    #[must_use]
    pub fn sell_when(self, when: impl IntoIterator<Item = Comparison>) -> Self {
        self.when(Direction::Sell, None, when)
    }

    /// Adds a bet at every candle that meets all comparisons.
    ///
    /// `Some` expiry overrides the bot's own.
    #[must_use]
    pub fn when(
        mut self,
        direction: Direction,
        expiry: Option<Expiry>,
        when: impl IntoIterator<Item = Comparison>,
    ) -> Self {
        self.entries.push(DeclaredEntry { direction, expiry, when: when.into_iter().collect() });
        self
    }

    /// Returns the entries in order of precedence.
    pub fn entries(&self) -> &[DeclaredEntry] {
        &self.entries
    }

    /// Returns the series and the entries.
    pub fn into_parts(self) -> (Vec<DeclaredSeries>, Vec<DeclaredEntry>) {
        (self.series, self.entries)
    }
}

impl fmt::Display for SeriesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        for number in &self.numbers {
            write!(f, " {}", f64::from_bits(*number))?;
        }
        Ok(())
    }
}

impl SeriesKey {
    /// Builds a key from a name and the parameters of the series.
    pub fn new(name: impl Into<Cow<'static, str>>, numbers: &[f64]) -> Self {
        Self { name: name.into(), numbers: numbers.iter().map(|number| number.to_bits()).collect() }
    }
}

impl SeriesPlace {
    /// Creates an index, 0-based.
    pub const fn new(place: usize) -> Self {
        Self(place)
    }

    /// Builds the comparison that the series is less than the level.
    #[inline]
    pub const fn below(self, level: f64) -> Comparison {
        Comparison { series: self.0, side: Side::Below, level }
    }

    /// Builds the comparison that the series is greater than the level.
    #[inline]
    pub const fn above(self, level: f64) -> Comparison {
        Comparison { series: self.0, side: Side::Above, level }
    }
}

impl DeclaredSeries {
    /// Returns the identity of the series.
    pub const fn key(&self) -> &SeriesKey {
        &self.key
    }

    /// Appends one value per candle for the next candles, NaN where there is none.
    pub fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>) {
        self.maker.fill(candles, values);
    }
}

impl Comparison {
    /// Returns whether a value meets the comparison; NaN does not.
    #[inline]
    pub fn is_met_by(&self, value: f64) -> bool {
        match self.side {
            Side::Below => value < self.level,
            Side::Above => value > self.level,
        }
    }
}

impl DeclaredEntry {
    /// Returns whether the values of all series at a candle meet the entry.
    ///
    /// `values` are in the order of the series.
    pub fn is_met_by(&self, values: &[f64]) -> bool {
        self.when
            .iter()
            .all(|comparison| values.get(comparison.series).is_some_and(|value| comparison.is_met_by(*value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::from_closes;

    #[test]
    fn an_entry_is_met_where_all_its_series_are_beyond_their_levels() {
        let mut declaration = Declaration::new();
        let close = declaration.series("close", &[], |candle| Some(candle.close()));
        let mut before = None;
        let change = declaration
            .series("change", &[1.0], move |candle| Some(candle.close() - before.replace(candle.close())?));
        let declaration = declaration.buy_when([close.below(12.0), change.above(0.0)]).when(
            Direction::Sell,
            None,
            [close.above(11.0)],
        );
        let candles = from_closes(&[10.0, 11.0, 11.5, 12.0, 11.0]);
        let (mut series, entries) = declaration.into_parts();
        let mut values = vec![Vec::new(); series.len()];
        for (series, values) in series.iter_mut().zip(&mut values) {
            series.fill(&candles[..2], values);
            series.fill(&candles[2..], values);
        }
        let met = (0..candles.len()).map(|candle| {
            let row: Vec<f64> = values.iter().map(|series| series[candle]).collect();
            entries.iter().find(|entry| entry.is_met_by(&row)).map(|entry| entry.direction)
        });
        let (buy, sell) = (Some(Direction::Buy), Some(Direction::Sell));
        assert_eq!(met.collect::<Vec<_>>(), [None, buy, buy, sell, None]);
    }

    #[test]
    fn a_key_is_the_name_and_the_numbers() {
        let key = |name: &'static str, numbers: &[f64]| {
            let mut declaration = Declaration::new();
            declaration.series(name, numbers, |_| None);
            declaration.into_parts().0.remove(0).key().clone()
        };
        assert_eq!(key("rsi", &[14.0]), key("rsi", &[14.0]));
        for other in [key("ema", &[14.0]), key("rsi", &[15.0]), key("rsi", &[14.0, 1.0])] {
            assert_ne!(key("rsi", &[14.0]), other);
        }
    }
}
