//! A strategy in a few lines.

/// Declares a strategy: its name, its state with what it begins as, its warm-up, its answer to a candle, and other methods
/// of the trait if it has any.
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

use candlewick_sdk::{Direction, Signal};
use std::collections::VecDeque;

pub(crate) fn toward(number: f64, reason: &'static str) -> Option<Signal> {
    if number > 0.0 {
        Some(Signal::new(Direction::Buy, reason))
    } else {
        (number < 0.0).then(|| Signal::new(Direction::Sell, reason))
    }
}

/// Names with the group in which each is listed.
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

    /// Takes a value. The values before it, when there are as many as fit.
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
