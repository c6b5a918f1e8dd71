//! The wallet against the ledger, when nothing is under way that could explain a difference.

use candlewick_sdk::{Millis, Money};

/// Two readings that agree must lie so far apart.
const APART: Millis = Millis::from_seconds(10);

/// Follows the difference between wallet and ledger.
#[derive(Debug, Default)]
pub(crate) struct WalletAudit {
    /// What the ledger held when it last changed, and when that was.
    ledger: Option<(Money, Millis)>,
    /// A difference that has been seen once: the wallet, and when.
    suspect: Option<(Money, Millis)>,
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
        if quiet == Quiet::No || now - changed_at < patience {
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
        if self.ledger.is_none_or(|(known, _)| known != free) {
            self.ledger = Some((free, now));
        }
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
        ] {
            let money = (Money::from_minor(wallet), Money::from_minor(free));
            let read = audit.read(money, quiet, Millis::from_seconds(second), Millis::from_seconds(120));
            assert_eq!(read, expected, "after {second} s");
        }
    }
}
