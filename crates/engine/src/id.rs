//! Numeric ids of bots, symbols, series and intents in a Session.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! position {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u16);

        impl $name {
            /// The first one.
            pub const FIRST: Self = Self(0);

            /// One that is no longer in the list.
            pub const RETIRED: Self = Self(u16::MAX);

            /// From a position in the Session's list; there are at most 65,535.
            pub fn new(position: usize) -> Option<Self> {
                u16::try_from(position).ok().map(Self).filter(|id| *id != Self::RETIRED)
            }

            /// The position in the Session's list.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

position! {
    /// A bot, by its place in `[[bots]]`.
    BotId
}
position! {
    /// A symbol, by its first appearance in `[[bots]]`.
    SymbolId
}
position! {
    /// A series, by its first appearance in `[[bots]]`.
    SeriesId
}

/// Id of an intent, which is a signal that risk approved.
///
/// Numbered from 1 and never reused within a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentId(u64);

impl IntentId {
    /// Creates the id from its number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
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
