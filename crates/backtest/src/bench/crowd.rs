//! Crowds: a number of bots on each of a number of symbols.

use std::fmt;

const PERIODS: [usize; 10] = [14, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// Has at least one bot and one symbol, and at most one bot per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    bots: usize,
    symbols: usize,
}

impl Crowd {
    pub const USUAL: Self = Self { bots: 10, symbols: 10 };
    pub const GROWTH: [Self; 4] = [
        Self { bots: 1, symbols: 1 },
        Self { bots: 10, symbols: 1 },
        Self { bots: 1, symbols: 10 },
        Self::USUAL,
    ];

    pub const fn bots(self) -> usize {
        self.bots
    }

    pub const fn symbols(self) -> usize {
        self.symbols
    }

    pub(super) fn periods(self) -> &'static [usize] {
        &PERIODS[..self.bots]
    }
}

impl fmt::Display for Crowd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count| if count == 1 { "" } else { "s" };
        let Self { bots, symbols } = *self;
        write!(formatter, "{bots} bot{} x {symbols} symbol{}", plural(bots), plural(symbols))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_named_with_both_its_numbers() {
        let names = Crowd::GROWTH.map(|crowd| crowd.to_string());
        assert_eq!(
            names,
            ["1 bot x 1 symbol", "10 bots x 1 symbol", "1 bot x 10 symbols", "10 bots x 10 symbols"]
        );
    }
}
