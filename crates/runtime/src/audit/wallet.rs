//! The wallet against the ledger, when nothing is under way that could explain a difference.

use crate::resolver::sums_of;
use candlewick_sdk::{Millis, Money};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Two readings that agree must lie so far apart.
const APART: Millis = Millis::from_seconds(10);

/// How long a wallet may keep back what some trade did to it.
const LONGEST_LAG: Millis = Millis::from_seconds(900);
/// Changes that are remembered.
const MAX_CHANGES: usize = 256;

/// Follows the difference between wallet and ledger.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WalletAudit {
    /// What the ledger held when it last changed, and when that was.
    ledger: Option<(Money, Millis)>,
    /// By how much it changed of late, and when.
    changes: VecDeque<(Money, Millis)>,
    /// A difference that has been seen once: the wallet, and when.
    suspect: Option<(Money, Millis)>,
    state: WalletState,
}

/// Whether there is anything to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WalletState {
    /// The venue shows a balance that can be.
    #[default]
    Sound,
    /// It shows none.
    Missing,
    /// It shows one below zero.
    BelowZero,
}

/// What a reading shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalletReading {
    /// It is what the ledger says.
    Agrees,
    /// Too much is under way, or was a moment ago.
    Unquiet,
    /// It differs; a second reading has to say the same.
    Differs,
    /// Money came in, or went (below zero), that no trade explains.
    Moved(Money),
}

impl WalletAudit {
    /// What the venue showed last.
    pub(crate) const fn state(&self) -> WalletState {
        self.state
    }

    /// Takes what the venue shows at all; answers whether that is another trouble than before.
    pub(crate) fn has_new_trouble(&mut self, state: WalletState) -> bool {
        std::mem::replace(&mut self.state, state) != state && state != WalletState::Sound
    }

    /// Takes a reading of the wallet beside the ledger's free balance. `is_quiet` says that no intent is open, in flight,
    /// in doubt or reserved; a wallet may lag behind the last change by `patience`.
    pub(crate) fn read(
        &mut self,
        (wallet, free): (Money, Money),
        quiet: Quiet,
        now: Millis,
        patience: Millis,
    ) -> WalletReading {
        self.watch(free, now);
        let changed_at = self.ledger.map_or(now, |(_, at)| at);
        if wallet == free {
            self.suspect = None;
            return WalletReading::Agrees;
        }
        let is_changing = |patience: Millis| now - changed_at < patience;
        // What may be lag is waited for longer; it is looked at only where it would decide.
        let is_unquiet = quiet == Quiet::No
            || is_changing(patience)
            || is_changing(LONGEST_LAG) && self.is_lag(wallet - free, now);
        if is_unquiet {
            self.suspect = None;
            return WalletReading::Unquiet;
        }
        match self.suspect {
            Some((seen, at)) if seen == wallet && now - at >= APART => {
                self.suspect = None;
                WalletReading::Moved(wallet - free)
            }
            Some((seen, _)) if seen == wallet => WalletReading::Differs,
            _ => {
                self.suspect = Some((wallet, now));
                WalletReading::Differs
            }
        }
    }

    /// The ledger's free balance after an event. Every change counts, also one that another takes back: the wallet may
    /// still show what was between.
    #[inline]
    pub(crate) fn watch(&mut self, free: Money, now: Millis) {
        let change = free - self.ledger.map_or(free, |(known, _)| known);
        if change != Money::ZERO {
            if self.changes.len() == MAX_CHANGES {
                self.changes.pop_front();
            }
            self.changes.push_back((change, now));
        }
        if self.ledger.is_none() || change != Money::ZERO {
            self.ledger = Some((free, now));
        }
    }

    /// Whether the ledger's free balance has stood for so long that a wallet which lags by `patience` shows all of it.
    pub(crate) fn has_stood(&self, now: Millis, patience: Millis) -> bool {
        self.ledger.is_some_and(|(_, changed_at)| now - changed_at >= patience)
    }

    /// Whether what the wallet holds beyond the ledger may be of our own trades: of what the ledger has booked since `patience`, and of
    /// what is under way.
    pub(crate) fn may_be_ours(
        &self,
        surplus: Money,
        under_way: Vec<Money>,
        now: Millis,
        patience: Millis,
    ) -> bool {
        let recent = self.changes.iter().filter(|(_, at)| now - *at < patience);
        let all: Vec<Money> = recent.map(|(change, _)| -*change).chain(under_way).collect();
        sums_of(&all).is_none_or(|sums| sums.binary_search(&surplus).is_ok())
    }

    /// Whether the wallet would be what it is if it kept back some of what the ledger has booked of late.
    fn is_lag(&self, difference: Money, now: Millis) -> bool {
        let recent = self.changes.iter().filter(|(_, at)| now - *at < LONGEST_LAG);
        let kept_back: Vec<Money> = recent.map(|(change, _)| -*change).collect();
        sums_of(&kept_back).is_none_or(|sums| sums.binary_search(&difference).is_ok())
    }
}

/// Whether anything is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quiet {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_moved_when_two_quiet_readings_apart_say_so() {
        use WalletReading::{Agrees, Differs, Moved, Unquiet};
        let mut audit = WalletAudit::default();
        for (second, wallet, free, quiet, expected) in [
            (0, 100, 100, Quiet::Yes, Agrees),
            // A trade has just settled, and the wallet does not know yet.
            (200, 100, 108, Quiet::Yes, Unquiet),
            (319, 100, 108, Quiet::Yes, Unquiet),
            (321, 108, 108, Quiet::Yes, Agrees),
            // Two readings, but something is open.
            (400, 158, 108, Quiet::No, Unquiet),
            (420, 158, 108, Quiet::Yes, Differs),
            (429, 158, 108, Quiet::Yes, Differs),
            (430, 158, 108, Quiet::Yes, Moved(Money::from_minor(50))),
            // It was lag after all: a reading between takes the suspicion back.
            (500, 90, 108, Quiet::Yes, Differs),
            (505, 108, 108, Quiet::Yes, Agrees),
            (520, 90, 108, Quiet::Yes, Differs),
            (525, 91, 108, Quiet::Yes, Differs),
            (531, 91, 108, Quiet::Yes, Differs),
            (535, 91, 108, Quiet::Yes, Moved(Money::from_minor(-17))),
            // A change may be kept back for a quarter of an hour.
            (600, 100, 108, Quiet::Yes, Unquiet),
            (1_099, 100, 108, Quiet::Yes, Unquiet),
            (1_100, 100, 108, Quiet::Yes, Differs),
            (1_110, 100, 108, Quiet::Yes, Moved(Money::from_minor(-8))),
            // And one of two, while the later one is shown.
            (1_200, 120, 120, Quiet::Yes, Agrees),
            (1_210, 115, 115, Quiet::Yes, Agrees),
            (1_500, 103, 115, Quiet::Yes, Unquiet),
            (2_099, 103, 115, Quiet::Yes, Unquiet),
            (2_100, 103, 115, Quiet::Yes, Differs),
            (2_110, 103, 115, Quiet::Yes, Moved(Money::from_minor(-12))),
        ] {
            let money = (Money::from_minor(wallet), Money::from_minor(free));
            let read = audit.read(money, quiet, Millis::from_seconds(second), Millis::from_seconds(120));
            assert_eq!(read, expected, "after {second} s");
        }
    }
}
