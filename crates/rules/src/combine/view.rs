//! The view of a part: its last signal while that is recent.

use candlewick_sdk::{Candle, Direction, Signal, Strategy};

pub(super) struct Part {
    pub(super) name: String,
    pub(super) strategy: Box<dyn Strategy>,
    /// Number of candles for which a signal is the view, including its own.
    pub(super) within: usize,
    pub(super) invert: bool,
    pub(super) signal: Option<Signal>,
    view: Option<Direction>,
    age: usize,
}

impl Part {
    pub(super) const fn new(name: String, strategy: Box<dyn Strategy>, within: usize, invert: bool) -> Self {
        Self { name, strategy, within, invert, signal: None, view: None, age: 0 }
    }

    /// Returns the warm-up of the view: the part must be warm on every candle on which a signal may
    /// count.
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

    #[inline]
    pub(super) const fn view(&self) -> Option<Direction> {
        self.view
    }

    /// Returns the direction of a signal on the present candle, even if the signal was already
    /// used.
    #[inline]
    pub(super) fn signals(&self) -> Option<Direction> {
        self.view.filter(|_| self.age == 0)
    }

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
