//! Numeric ids of bots, symbols, series and intents, and the mapping of ids from one Session to another.

use crate::{IntentRow, OrderTerms, OriginalOrder};
use candlewick_sdk::Symbol;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! position {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u16);

        impl $name {
            /// First id.
            pub const FIRST: Self = Self(0);

            /// Placeholder id for an item that the Session no longer has.
            pub const RETIRED: Self = Self(u16::MAX);

            /// Creates the id from an index in the Session's list, `None` for 65,535 or more.
            pub fn new(position: usize) -> Option<Self> {
                u16::try_from(position).ok().map(Self).filter(|id| *id != Self::RETIRED)
            }

            /// Returns the index in the Session's list of bots, symbols or series.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

position! {
    /// Index of a bot in the `[[bots]]` list of the configuration.
    BotId
}
position! {
    /// Index of a symbol. Symbols are numbered in the order of their first appearance in `[[bots]]`.
    SymbolId
}
position! {
    /// Index of a series. Series are numbered in the order of their first appearance in `[[bots]]`.
    SeriesId
}

/// Id of an intent (a signal that passed the rules), counted from 1 and never reused in a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentId(u64);

impl IntentId {
    /// Creates the id from its number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number of the intent.
    pub const fn number(self) -> u64 {
        self.0
    }

    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The names of a Session's bots and symbols, indexed by id.
/// The Session's own names come first, followed by names from earlier runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionNames {
    pub(crate) bots: Vec<String>,
    pub(crate) symbols: Vec<Symbol>,
}

/// A mapping of bot and symbol ids from one Session to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renumbering {
    bots: Vec<BotId>,
    symbols: Vec<SymbolId>,
}

impl SessionNames {
    /// Returns whether every bot and symbol has the same id in `other`.
    pub fn has_same_ids(&self, other: &Self) -> bool {
        other.bots.starts_with(&self.bots) && other.symbols.starts_with(&self.symbols)
    }

    /// Builds the mapping to the ids in `other`, `None` if `other` lacks one of the names.
    pub fn renumbering_to(&self, other: &Self) -> Option<Renumbering> {
        let bot = |name: &String| other.bots.iter().position(|known| known == name).and_then(BotId::new);
        let symbol = |own: &Symbol| other.symbols.iter().position(|one| one == own).and_then(SymbolId::new);
        Some(Renumbering {
            bots: self.bots.iter().map(bot).collect::<Option<_>>()?,
            symbols: self.symbols.iter().map(symbol).collect::<Option<_>>()?,
        })
    }
}

impl Renumbering {
    pub(crate) fn map_bot(&self, bot: BotId) -> BotId {
        self.bots.get(bot.index()).copied().unwrap_or(BotId::RETIRED)
    }

    pub(crate) fn map_symbol(&self, symbol: SymbolId) -> SymbolId {
        self.symbols.get(symbol.index()).copied().unwrap_or(SymbolId::RETIRED)
    }

    pub(crate) fn symbols(&self) -> &[SymbolId] {
        &self.symbols
    }
}

impl IntentRow {
    pub(crate) fn renumbered(self, numbers: &Renumbering) -> Self {
        Self { approved: self.approved.renumbered(numbers), ..self }
    }
}

impl OrderTerms {
    pub(crate) fn renumbered(self, numbers: &Renumbering) -> Self {
        let (bot, symbol) = (numbers.map_bot(self.bot()), numbers.map_symbol(self.symbol()));
        self.with_bot_and_symbol(bot, symbol)
    }
}

impl OriginalOrder {
    pub(crate) fn renumbered(self, numbers: &Renumbering) -> Self {
        Self { ordered: self.ordered.renumbered(numbers), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(bots: &[&str], symbols: &[&str]) -> SessionNames {
        SessionNames {
            bots: bots.iter().map(ToString::to_string).collect(),
            symbols: symbols.iter().map(|name| name.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn appending_names_keeps_the_numbers() {
        let own = names(&["a"], &["X"]);
        assert!(own.has_same_ids(&own) && own.has_same_ids(&names(&["a", "b"], &["X", "Y"])));
        assert!(!own.has_same_ids(&names(&["b", "a"], &["X"])));
        assert!(!own.has_same_ids(&names(&["a"], &["Y", "X"])));
    }
}
