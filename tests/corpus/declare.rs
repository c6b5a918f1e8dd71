//! A macro that declares a strategy in a few lines.

/// Declares a strategy: name, initial state, warm-up, answer to a candle, and optional further methods of the trait.
macro_rules! strategy {
    (
        $(#[$meta:meta])*
        $name:literal, $type:ident { $($field:ident : $kind:ty = $initial:expr),* $(,)? },
        $warmup:expr, |$this:ident, $candle:ident| $answer:expr
        $(, also { $($more:tt)* })?
        $(, prices = $prices:literal)?
    ) => {
        $(#[$meta])*
        pub(crate) struct $type {
            $($field: $kind),*
        }

        impl candlewick_sdk::Strategy for $type {
            fn warmup(&self) -> usize {
                let $this = self;
                let _ = &$this;
                $warmup
            }

            fn on_candle(&mut self, $candle: &candlewick_sdk::Candle) -> Option<candlewick_sdk::Signal> {
                let $this = self;
                let _ = (&$this, &$candle);
                $answer
            }

            $($($more)*)?
        }

        impl candlewick_sdk::StrategyFactory for $type {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1.0.0";
            const ABOUT: &'static str = "Of the corpus.";
            $(const WANTS_PRICES: bool = $prices;)?
            type Params = crate::NoParams;

            fn build(_: crate::NoParams, _: &candlewick_sdk::BotContext) -> Result<Self, candlewick_sdk::BuildError> {
                Ok(Self { $($field: $initial),* })
            }
        }
    };
}
pub(crate) use strategy;

use candlewick_sdk::{BotContext, Candle, Direction, Parameter, Signal, Strategy, StrategyEntry};
use std::collections::VecDeque;
use std::path::PathBuf;

pub(crate) const DATA: &str = "ETHUSDT_1m.csv";

pub(crate) fn toward(number: f64, reason: &'static str) -> Option<Signal> {
    if number > 0.0 {
        Some(Signal::new(Direction::Buy, reason))
    } else {
        (number < 0.0).then(|| Signal::new(Direction::Sell, reason))
    }
}

pub(crate) fn rise(candle: &Candle) -> f64 {
    candle.close() - candle.open()
}

pub(crate) fn follow(candle: &Candle) -> Option<Signal> {
    toward(rise(candle), "goes on")
}

pub(crate) fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 29)
}

pub(crate) fn picks(candle: &Candle, every: u64) -> bool {
    mixed(candle.time().get() as u64).is_multiple_of(every)
}

pub(crate) fn push(last: &mut VecDeque<Candle>, candle: &Candle, count: usize) {
    last.push_back(*candle);
    if last.len() > count {
        last.pop_front();
    }
}

/// Bot of a strategy with the candle file named by its parameters, [`DATA`] by default.
pub(crate) struct Place<'a> {
    pub(crate) bot: &'a BotContext,
    file: PathBuf,
}

impl Place<'_> {
    pub(crate) fn table(&self) -> Vec<(i64, f64)> {
        times_and_closes(&std::fs::read_to_string(&self.file).unwrap_or_default())
    }
}

pub(crate) fn times_and_closes(text: &str) -> Vec<(i64, f64)> {
    let row = |line: &str| {
        let mut cells = line.split(',');
        Some((cells.next()?.parse().ok()?, cells.nth(3)?.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

struct Rule<F> {
    warmup: usize,
    rule: F,
}

impl<F: FnMut(&Candle) -> Option<Signal> + Send> Strategy for Rule<F> {
    fn warmup(&self) -> usize {
        self.warmup
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        (self.rule)(candle)
    }
}

pub(crate) fn rule<F: FnMut(&Candle) -> Option<Signal> + Send + 'static>(
    name: &'static str,
    warmup: usize,
    make: impl Fn(&Place) -> F + Send + Sync + 'static,
) -> StrategyEntry {
    StrategyEntry::new(name, "1.0.0", move |values, bot| {
        let named = values["file"].as_str().filter(|name| !name.is_empty());
        let file = named.unwrap_or(DATA).into();
        Ok(Box::new(Rule { warmup, rule: make(&Place { bot, file }) }))
    })
    .with_about("Of the corpus.")
    .with_parameter(Parameter::new("file", ""))
}

pub(crate) fn by_name(groups: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    groups.iter().flat_map(|(group, names)| names.split(' ').map(move |name| (name, *group))).collect()
}

#[derive(Clone)]
pub(crate) struct Window {
    values: VecDeque<f64>,
    length: usize,
}

impl Window {
    pub(crate) fn new(length: usize) -> Self {
        Self { values: VecDeque::with_capacity(length + 1), length }
    }

    /// Pushes a value and returns the previous values once the window is full.
    pub(crate) fn before(&mut self, value: f64) -> Option<Vec<f64>> {
        let full = (self.values.len() == self.length).then(|| self.values.iter().copied().collect());
        self.values.push_back(value);
        if self.values.len() > self.length {
            self.values.pop_front();
        }
        full
    }

    pub(crate) fn with(&mut self, value: f64) -> Option<&VecDeque<f64>> {
        self.before(value);
        (self.values.len() == self.length).then_some(&self.values)
    }
}

pub(crate) fn mean<'a>(values: impl ExactSizeIterator<Item = &'a f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

pub(crate) fn highest<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().copied().fold(f64::MIN, f64::max)
}

pub(crate) fn lowest<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().copied().fold(f64::MAX, f64::min)
}

macro_rules! list {
    ($($type:ident),* $(,)?) => {
        pub(crate) fn add(app: candlewick_cli::App, names: &mut Vec<&'static str>) -> candlewick_cli::App {
            $(
                names.push(<$type as candlewick_sdk::StrategyFactory>::NAME);
                let app = app.with_strategy::<$type>();
            )*
            app
        }
    };
}
pub(crate) use list;
