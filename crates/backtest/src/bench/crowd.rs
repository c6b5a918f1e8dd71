//! Crowds: so many bots on each of so many symbols.

use std::fmt;

/// Of the bots on a symbol, in their order.
const PERIODS: [usize; 10] = [14, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// How many bots trade each of how many symbols: at least one each, and no more bots than there are periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    bots: usize,
    symbols: usize,
}

impl Crowd {
    /// Ten bots on each of ten symbols.
    pub const USUAL: Self = Self { bots: 10, symbols: 10 };
    /// From one bot to the usual crowd, with more bots, with more symbols, and with both: what each further one costs.
    pub const GROWTH: [Self; 4] = [
        Self { bots: 1, symbols: 1 },
        Self { bots: 10, symbols: 1 },
        Self { bots: 1, symbols: 10 },
        Self::USUAL,
    ];

    /// How many bots trade each symbol.
    pub const fn bots(self) -> usize {
        self.bots
    }

    /// How many symbols there are.
    pub const fn symbols(self) -> usize {
        self.symbols
    }

    /// Those of the indices of the bots on each symbol.
    pub(super) fn periods(self) -> &'static [usize] {
        &PERIODS[..self.bots]
    }
}

/// How it is named in a table.
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
