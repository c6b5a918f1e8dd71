//! What a part holds at a candle: its last signal, while that is not too long ago.

use candlewick_sdk::{Candle, Direction, Signal, Strategy};

/// A strategy inside a combination.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) strategy: Box<dyn Strategy>,
    /// For how many candles a signal is its view, that of the signal counted.
    pub(super) within: usize,
    /// Whether its signals are turned round.
    pub(super) invert: bool,
    /// Its signal at the present candle.
    pub(super) signal: Option<Signal>,
    view: Option<Direction>,
    /// Candles since the signal that is its view.
    age: usize,
}

impl Part {
    pub(super) const fn new(name: String, strategy: Box<dyn Strategy>, within: usize, invert: bool) -> Self {
        Self { name, strategy, within, invert, signal: None, view: None, age: 0 }
    }

    /// Candles until its view means anything: each of those that it is looked for at has to be one at which it is warm.
    pub(super) fn warmup(&self) -> usize {
        let own = self.strategy.warmup();
        if self.within <= 1 { own } else { own.max(1) + self.within - 1 }
    }

    #[inline]
    pub(super) fn on_candle(&mut self, candle: &Candle) {
        // What a part itself would not trade is no signal of it.
        self.signal = self.strategy.on_candle(candle).filter(|signal| !signal.is_virtual);
        if let Some(signal) = &mut self.signal {
            if self.invert {
                signal.direction = signal.direction.opposite();
            }
            (self.view, self.age) = (Some(signal.direction), 0);
        } else if self.view.is_some() {
            self.age += 1;
            if self.age >= self.within {
                self.view = None;
            }
        }
    }

    /// Its view at the present candle.
    #[inline]
    pub(super) const fn view(&self) -> Option<Direction> {
        self.view
    }

    /// The direction in which it signals at the present candle. A signal that was taken still is one.
    #[inline]
    pub(super) fn signals(&self) -> Option<Direction> {
        self.view.filter(|_| self.age == 0)
    }

    /// Its view in words, with how old it is and what the part itself said; empty where it has none.
    pub(super) fn words(&self) -> String {
        let Some(view) = self.view else { return String::new() };
        let ago = match self.age {
            0 => String::new(),
            1 => ", 1 candle ago".to_owned(),
            age => format!(", {age} candles ago"),
        };
        let said = view.opposite();
        let turned =
            if self.invert { format!(", turned round: the part said {said}") } else { String::new() };
        format!("{view}{ago}{turned}")
    }
}
