//! What a strategy may declare of its signals, so that a search does work once that many sets of parameters share.

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

/// One series of numbers, a number or none for each candle.
pub struct DeclaredSeries {
    key: SeriesKey,
    maker: Box<dyn Fill>,
}

/// What a declared series is. Two series with the same key are the same series: one of them is computed for both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeriesKey {
    name: Cow<'static, str>,
    /// The bits of the numbers.
    numbers: Vec<u64>,
}

/// A place among the series of a [`Declaration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesPlace(usize);

/// A series and the level that it has to be beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The series, by its place in what [`Declaration::into_parts`] gives.
    pub series: usize,
    /// On which side of the level.
    pub side: Side,
    /// The level; on it is not beyond it.
    pub level: f64,
}

/// A side of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Less than it.
    Below,
    /// More than it.
    Above,
}

/// A signal, and when it is given: at every candle that meets all comparisons. Where several entries are met the
/// first counts.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredEntry {
    /// Up or down.
    pub direction: Direction,
    /// An expiry that replaces the bot's own.
    pub expiry: Option<Expiry>,
    /// What has to be met; a series without a number meets nothing.
    pub when: Vec<Comparison>,
}

/// Makes the numbers of a series, candle after candle.
trait Fill: Send {
    fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>);
}

impl<F: FnMut(&Candle) -> Option<f64> + Send> Fill for F {
    fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>) {
        values.extend(candles.iter().map(|candle| self(candle).unwrap_or(f64::NAN)));
    }
}

impl Declaration {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { series: Vec::new(), entries: Vec::new() }
    }

    /// The declaration of a strategy that states its rules.
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

    /// Adds a series. `value` is called with every candle in order and knows no others; `name` and `numbers` say all
    /// that decides what it answers.
    pub fn series(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        numbers: &[f64],
        value: impl FnMut(&Candle) -> Option<f64> + Send + 'static,
    ) -> SeriesPlace {
        self.series.push(DeclaredSeries { key: SeriesKey::new(name, numbers), maker: Box::new(value) });
        SeriesPlace(self.series.len() - 1)
    }

    /// A bet on a higher price at every candle that meets all of these.
    #[must_use]
    pub fn buy_when(self, when: impl IntoIterator<Item = Comparison>) -> Self {
        self.when(Direction::Buy, None, when)
    }

    /// A bet on a lower price at every candle that meets all of these.
    #[must_use]
    pub fn sell_when(self, when: impl IntoIterator<Item = Comparison>) -> Self {
        self.when(Direction::Sell, None, when)
    }

    /// A bet in this direction, with an expiry that replaces the bot's own if there is one, at every candle that meets all
    /// of these.
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

    /// The entries, in the order in which they count.
    pub fn entries(&self) -> &[DeclaredEntry] {
        &self.entries
    }

    /// The series and the entries.
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
    /// A series of this name that the numbers decide.
    pub fn new(name: impl Into<Cow<'static, str>>, numbers: &[f64]) -> Self {
        Self { name: name.into(), numbers: numbers.iter().map(|number| number.to_bits()).collect() }
    }
}

impl SeriesPlace {
    /// A place, counted from 0.
    pub const fn new(place: usize) -> Self {
        Self(place)
    }

    /// Met where the series is less than the level.
    #[inline]
    pub const fn below(self, level: f64) -> Comparison {
        Comparison { series: self.0, side: Side::Below, level }
    }

    /// Met where the series is more than the level.
    #[inline]
    pub const fn above(self, level: f64) -> Comparison {
        Comparison { series: self.0, side: Side::Above, level }
    }
}

impl DeclaredSeries {
    /// What it is.
    pub const fn key(&self) -> &SeriesKey {
        &self.key
    }

    /// Appends its numbers at the next candles, NaN where it has none.
    pub fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>) {
        self.maker.fill(candles, values);
    }
}

impl Comparison {
    /// Whether a number meets it; NaN does not.
    #[inline]
    pub fn is_met_by(&self, value: f64) -> bool {
        match self.side {
            Side::Below => value < self.level,
            Side::Above => value > self.level,
        }
    }
}

impl DeclaredEntry {
    /// Whether the numbers of all series at a candle, in their order, meet it.
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
