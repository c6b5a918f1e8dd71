//! Declarative signal rules, which let a search share computations between parameter sets.

use crate::{Candle, Direction, Expiry, Reason, Signal, Strategy};
use std::borrow::Cow;
use std::fmt;

/// The signals of a strategy, declared as comparisons between number series and fixed levels.
///
/// A search computes each series once for all parameter sets, and skips candles that meet no comparison. A strategy
/// without a declaration runs candle by candle. The declaration of a [`DeclaredStrategy`] is built from its rules
/// ([`Declaration::from_strategy`]). Any other strategy may return a declaration from
/// [`StrategyFactory::declaration`](crate::StrategyFactory::declaration).
///
/// [`on_candle`](crate::Strategy::on_candle) must give a signal if and only if the candle meets a declared signal, with
/// the same direction and expiry. Do not declare a strategy that depends on prices between candle closes, settlements
/// or longer candles. `candlewick strategy check` compares the declaration with the strategy, candle by candle.
///
/// ```
/// use candlewick_sdk::{Declaration, indicator::Rsi};
///
/// # fn declaration() -> Option<Declaration> {
/// let (period, oversold, overbought) = (14, 30.0, 70.0);
/// let mut rsi = Rsi::new(period).ok()?;
/// let mut declaration = Declaration::new();
/// // The name and the period identify the series.
/// let index = declaration.add_series("rsi", &[period as f64], move |candle| rsi.update(candle.close()));
/// Some(declaration.buy_when([index.below(oversold)]).sell_when([index.above(overbought)]))
/// # }
/// # assert_eq!(declaration().unwrap().entries().len(), 2);
/// ```
#[derive(Default)]
pub struct Declaration {
    series: Vec<DeclaredSeries>,
    entries: Vec<DeclaredSignal>,
}

/// A series of numbers computed from candles, with at most one number per candle.
pub struct DeclaredSeries {
    key: SeriesKey,
    filler: Box<dyn ComputeSeries>,
}

/// Identity of a declared series. A search computes series with equal keys only once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeriesKey {
    name: Cow<'static, str>,
    /// Parameters of the series, as bit patterns of `f64` values.
    numbers: Vec<u64>,
}

/// Index of a series in a [`Declaration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesIndex(usize);

/// A comparison of a number series with a fixed level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Index of the series in the list of series returned by [`Declaration::into_parts`].
    pub series: usize,
    /// Whether the number must be below or above the level.
    pub side: LevelSide,
    /// Level that each number is compared with. A number equal to the level does not meet the comparison.
    pub level: f64,
}

/// Position of a number relative to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelSide {
    /// Less than the level.
    Below,
    /// Greater than the level.
    Above,
}

/// A declared signal, given for each candle that meets all comparisons. If several signals apply, the first one wins.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredSignal {
    /// Direction of the bet.
    pub direction: Direction,
    /// Expiry of the trade, `None` for the bot's expiry.
    pub expiry: Option<Expiry>,
    /// Comparisons that must all be met. A missing number meets no comparison.
    pub comparisons: Vec<Comparison>,
}

trait ComputeSeries: Send {
    fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>);
}

impl<F: FnMut(&Candle) -> Option<f64> + Send> ComputeSeries for F {
    fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>) {
        values.extend(candles.iter().map(|candle| self(candle).unwrap_or(f64::NAN)));
    }
}

impl Declaration {
    /// Creates an empty declaration.
    pub const fn new() -> Self {
        Self { series: Vec::new(), entries: Vec::new() }
    }

    /// Builds a declaration from the rules of a strategy.
    pub fn from_strategy<S: DeclaredStrategy>(strategy: &S) -> Self {
        let series = strategy.series().into_iter().enumerate().map(|(index, key)| {
            let mut own = strategy.clone();
            let value = move |candle: &Candle| own.update(candle)?.as_ref().get(index).copied();
            DeclaredSeries { key, filler: Box::new(value) }
        });
        let rules = strategy.rules();
        let entries = rules.as_ref().iter().map(|rule| DeclaredSignal {
            direction: rule.direction(),
            expiry: rule.expiry(),
            comparisons: rule.comparisons().collect(),
        });
        Self { series: series.collect(), entries: entries.collect() }
    }

    /// Adds a series and returns its index.
    ///
    /// The closure `value` computes one number for each candle, in order. `name` and `numbers` together must identify
    /// everything else that the closure depends on, such as a period.
    pub fn add_series(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        numbers: &[f64],
        value: impl FnMut(&Candle) -> Option<f64> + Send + 'static,
    ) -> SeriesIndex {
        self.series.push(DeclaredSeries { key: SeriesKey::new(name, numbers), filler: Box::new(value) });
        SeriesIndex(self.series.len() - 1)
    }

    /// Adds a bet on a higher price for each candle that meets all comparisons.
    #[must_use]
    pub fn buy_when(self, when: impl IntoIterator<Item = Comparison>) -> Self {
        self.signal_when(Direction::Buy, None, when)
    }

    /// Adds a bet on a lower price for each candle that meets all comparisons.
    #[must_use]
    pub fn sell_when(self, when: impl IntoIterator<Item = Comparison>) -> Self {
        self.signal_when(Direction::Sell, None, when)
    }

    /// Adds a bet for each candle that meets all comparisons. If `expiry` is `None`, the bot's expiry applies.
    #[must_use]
    pub fn signal_when(
        mut self,
        direction: Direction,
        expiry: Option<Expiry>,
        when: impl IntoIterator<Item = Comparison>,
    ) -> Self {
        self.entries.push(DeclaredSignal { direction, expiry, comparisons: when.into_iter().collect() });
        self
    }

    /// Returns the declared signals in order of precedence.
    pub fn entries(&self) -> &[DeclaredSignal] {
        &self.entries
    }

    /// Splits the declaration into its series and its declared signals.
    pub fn into_parts(self) -> (Vec<DeclaredSeries>, Vec<DeclaredSignal>) {
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
    /// Builds a key from the name and the parameters of a series.
    pub fn new(name: impl Into<Cow<'static, str>>, numbers: &[f64]) -> Self {
        Self { name: name.into(), numbers: numbers.iter().map(|number| number.to_bits()).collect() }
    }
}

impl SeriesIndex {
    /// Creates a 0-based index of a series.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Builds a comparison that is met if the number of this series is less than `level`.
    #[inline]
    pub const fn below(self, level: f64) -> Comparison {
        Comparison { series: self.0, side: LevelSide::Below, level }
    }

    /// Builds a comparison that is met if the number of this series is greater than `level`.
    #[inline]
    pub const fn above(self, level: f64) -> Comparison {
        Comparison { series: self.0, side: LevelSide::Above, level }
    }
}

impl DeclaredSeries {
    /// Returns the identity of the series.
    pub const fn key(&self) -> &SeriesKey {
        &self.key
    }

    /// Computes the numbers of the next candles and appends them to `values`. A missing number is NaN.
    pub fn fill(&mut self, candles: &[Candle], values: &mut Vec<f64>) {
        self.filler.fill(candles, values);
    }
}

impl Comparison {
    /// Returns whether `value` meets the comparison. NaN never meets a comparison.
    #[inline]
    pub fn is_met_by(&self, value: f64) -> bool {
        match self.side {
            LevelSide::Below => value < self.level,
            LevelSide::Above => value > self.level,
        }
    }
}

impl DeclaredSignal {
    /// Returns whether a candle meets all comparisons. `values` contains one number per series, in series order.
    pub fn is_met_by(&self, values: &[f64]) -> bool {
        self.comparisons
            .iter()
            .all(|comparison| values.get(comparison.series).is_some_and(|value| comparison.is_met_by(*value)))
    }
}

/// A strategy that only compares numbers with levels.
///
/// Compute the numbers in [`update`](Self::update), compare the numbers with levels in [`rules`](Self::rules), and
/// identify each number series in [`series`](Self::series). [`Strategy`] and [`Declaration`] are derived from these
/// methods, so live runs, backtests and searches use the same rules. Do not implement [`Strategy`] yourself.
///
/// Call order: [`StrategyFactory::build`](crate::StrategyFactory::build) once per bot, then
/// [`update`](Self::update) and [`rules`](Self::rules) for every closed candle, in order. If a rule is met,
/// [`values`](Self::values) provides the numbers for the signal's reason. `update` must be deterministic, like
/// [`Strategy::on_candle`].
///
/// ```
/// use candlewick_sdk::indicator::Cci;
/// use candlewick_sdk::{Candle, DeclaredStrategy, SeriesKey, SeriesIndex, SignalRule, Strategy};
///
/// #[derive(Clone)]
/// struct CciReversal {
///     period: usize,
///     level: f64,
///     cci: Cci,
///     last: Option<f64>,
/// }
///
/// /// Index of the CCI in the numbers.
/// const CCI: SeriesIndex = SeriesIndex::new(0);
///
/// impl DeclaredStrategy for CciReversal {
///     type Numbers = [f64; 1];
///
///     fn warmup_candles(&self) -> usize {
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
///             SignalRule::buy("oversold", CCI.below(-self.level)).with_level_name("level"),
///             SignalRule::sell("overbought", CCI.above(self.level)).with_level_name("level"),
///         ]
///     }
///
///     fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
///         self.last.map(|cci| ("cci", cci))
///     }
/// }
/// ```
pub trait DeclaredStrategy: Clone + Send + 'static {
    /// Array with one number per [series](Self::series), such as `[f64; 2]` for two series.
    type Numbers: AsRef<[f64]>;

    /// Returns the warm-up length in candles, including the current candle (see [`Strategy::warmup`]).
    fn warmup_candles(&self) -> usize;

    /// Processes a closed candle and returns its numbers in the order of [`series`](Self::series).
    ///
    /// `None` means no signal, for example during warm-up. Use NaN for a single missing number. NaN never meets a
    /// comparison. Update all indicators before the first `?`, so that each indicator processes every candle.
    fn update(&mut self, candle: &Candle) -> Option<Self::Numbers>;

    /// Returns a key for each series. The key consists of a name and all parameters that affect the numbers.
    ///
    /// If several parameter sets have a series with the same key, a search computes this series only once. Omit
    /// parameters that only affect the rules, such as levels.
    fn series(&self) -> Vec<SeriesKey>;

    /// Returns the signal rules in order of precedence. If several rules are met, the first rule wins.
    fn rules(&self) -> impl AsRef<[SignalRule]>;

    /// Returns the named values of the last candle, as shown in signal reasons and by `candlewick explain`.
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)>;
}

/// A rule that gives a signal if all of its one to three comparisons are met.
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
    /// Creates a rule that bets on a higher price. `text` becomes the reason of the signal.
    #[inline]
    pub const fn buy(text: &'static str, when: Comparison) -> Self {
        Self::new(Direction::Buy, text, when)
    }

    /// Creates a rule that bets on a lower price. `text` becomes the reason of the signal.
    #[inline]
    pub const fn sell(text: &'static str, when: Comparison) -> Self {
        Self::new(Direction::Sell, text, when)
    }

    #[inline]
    const fn new(direction: Direction, text: &'static str, when: Comparison) -> Self {
        Self { direction, text, expiry: None, level_name: None, when, and: [None; 2] }
    }

    /// Adds a comparison that must also be met.
    ///
    /// # Panics
    /// Panics if the rule already has three comparisons.
    #[must_use]
    #[inline]
    pub const fn and(mut self, also: Comparison) -> Self {
        match self.and {
            [None, _] => self.and[0] = Some(also),
            [Some(_), None] => self.and[1] = Some(also),
            [Some(_), Some(_)] => panic!("a rule cannot have more than three comparisons"),
        }
        self
    }

    /// Overrides the bot's expiry for signals of this rule.
    #[must_use]
    pub const fn with_expiry(mut self, expiry: Expiry) -> Self {
        self.expiry = Some(expiry);
        self
    }

    /// Adds the level of the first comparison to the signal's reason, as a number called `name`.
    #[must_use]
    #[inline]
    pub const fn with_level_name(mut self, name: &'static str) -> Self {
        self.level_name = Some(name);
        self
    }

    /// Returns the direction of the bet.
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the expiry of this rule, `None` for the bot's expiry.
    pub const fn expiry(&self) -> Option<Expiry> {
        self.expiry
    }

    /// Returns the comparisons that must all be met.
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
        let reason = Reason::from_parts(self.text, values, level);
        Signal { direction: self.direction, expiry: self.expiry, reason, is_virtual: false }
    }
}

#[inline(never)]
fn first_signal<S: DeclaredStrategy>(strategy: &S, rules: &[SignalRule], numbers: &[f64]) -> Option<Signal> {
    rules.iter().find(|rule| rule.is_met_by(numbers)).map(|rule| rule.signal(strategy.values()))
}

impl<S: DeclaredStrategy> Strategy for S {
    fn warmup(&self) -> usize {
        self.warmup_candles()
    }

    // Searches and backtests call this method millions of times (see docs/performance.md).
    #[allow(clippy::inline_always, reason = "otherwise the compiler emits a call per candle")]
    #[inline(always)]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let numbers = self.update(candle)?;
        let (numbers, rules) = (numbers.as_ref(), self.rules());
        // The first two rules are checked without a loop: see docs/performance.md.
        let (first, rest) = rules.as_ref().split_first()?;
        if first.is_met_by(numbers) {
            return Some(first.signal(self.values()));
        }
        let (second, rest) = rest.split_first()?;
        if second.is_met_by(numbers) {
            return Some(second.signal(self.values()));
        }
        if rest.is_empty() { None } else { first_signal(self, rest, numbers) }
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

    fn declared(declaration: Declaration, candles: &[Candle]) -> Vec<Option<(Direction, Option<Expiry>)>> {
        let (mut series, entries) = declaration.into_parts();
        let mut values = vec![Vec::new(); series.len()];
        for (series, values) in series.iter_mut().zip(&mut values) {
            series.fill(&candles[..2], values);
            series.fill(&candles[2..], values);
        }
        let met = |candle: usize| {
            let row: Vec<f64> = values.iter().map(|series| series[candle]).collect();
            entries.iter().find(|entry| entry.is_met_by(&row)).map(|entry| (entry.direction, entry.expiry))
        };
        (0..candles.len()).map(met).collect()
    }

    #[test]
    fn keys_are_equal_if_name_and_numbers_are() {
        let key = |name: &'static str, numbers: &[f64]| {
            let mut declaration = Declaration::new();
            declaration.add_series(name, numbers, |_| None);
            declaration.into_parts().0.remove(0).key().clone()
        };
        assert_eq!(key("rsi", &[14.0]), key("rsi", &[14.0]));
        for other in [key("ema", &[14.0]), key("rsi", &[15.0]), key("rsi", &[14.0, 1.0])] {
            assert_ne!(key("rsi", &[14.0]), other);
        }
    }

    const CLOSE: SeriesIndex = SeriesIndex::new(0);
    const CHANGE: SeriesIndex = SeriesIndex::new(1);

    #[derive(Clone, Default)]
    struct Moves {
        before: Option<f64>,
        last: Option<f64>,
    }

    impl DeclaredStrategy for Moves {
        type Numbers = [f64; 2];

        fn warmup_candles(&self) -> usize {
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
            let expiry = Expiry::minutes(5).unwrap();
            [
                SignalRule::buy("low and rising", CLOSE.below(12.0))
                    .and(CHANGE.above(0.0))
                    .with_level_name("below"),
                SignalRule::sell("high", CLOSE.above(11.0)).with_expiry(expiry),
            ]
        }

        fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
            self.last.map(|close| ("close", close))
        }
    }

    #[test]
    fn signals_where_a_rule_is_met_and_the_first_rule_wins() {
        let mut strategy = Moves::default();
        let render = |Signal { direction, reason, expiry, .. }: Signal| {
            format!("{direction} {reason} {:?}", expiry.map(|e| e.close_type.to_string()))
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
    fn declaration_agrees_with_rules() {
        let mut strategy = Moves::default();
        let candles = from_closes(&[10.0, 11.0, 11.5, 12.0, 11.0, 13.0, 9.0, 9.5]);
        let declared = declared(Declaration::from_strategy(&strategy), &candles);
        let answer =
            |candle: &Candle| strategy.on_candle(candle).map(|signal| (signal.direction, signal.expiry));
        assert_eq!(declared, candles.iter().map(answer).collect::<Vec<_>>());
    }
}
