//! The wallet as a second source: does it still contain the stake of an unlisted intent?

use candlewick_sdk::Money;
/// Limit of possible sums above which the wallet proves nothing.
const MAX_SUMS: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalletView {
    pub(crate) balance: Money,
    /// Expected balance if all intents in doubt, in flight or reserved were opened.
    ///
    /// This is the ledger's free balance, which excludes all their stakes.
    pub(crate) explained_without_doubts: Money,
}

/// Stakes deducted from the ledger's free balance that may still be in the wallet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reserved {
    pub(crate) held: Money,
    pub(crate) unknown: Vec<Money>,
}

impl WalletView {
    pub(crate) fn surplus(&self) -> Money {
        self.balance - self.explained_without_doubts
    }

    /// Returns whether the balance proves that no trade was opened for this stake.
    ///
    /// The balance must match to the cent if the intent was not opened, and must not match if it
    /// was, whatever happened to the others.
    pub(crate) fn proves_not_opened(&self, stake: Money, others: &Reserved) -> bool {
        let rest = self.surplus() - others.held;
        sums_of(&others.unknown).is_some_and(|sums| {
            sums.binary_search(&(rest - stake)).is_ok() && sums.binary_search(&rest).is_err()
        })
    }
}

/// Returns the distinct subset sums in ascending order, `None` above `MAX_SUMS`.
pub(crate) fn sums_of(amounts: &[Money]) -> Option<Vec<Money>> {
    let mut sums = vec![Money::ZERO];
    for amount in amounts {
        for place in 0..sums.len() {
            sums.push(sums[place] + *amount);
        }
        // Two ascending runs, one after the other: a merge.
        sums.sort();
        sums.dedup();
        if sums.len() > MAX_SUMS {
            return None;
        }
    }
    Some(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(balance: i64, stake: i64, held: i64, unknown: &[i64], expected: bool) {
        let minor = Money::from_minor;
        let view = WalletView { balance: minor(balance), explained_without_doubts: minor(50_000) };
        let others = Reserved { held: minor(held), unknown: unknown.iter().copied().map(minor).collect() };
        assert_eq!(view.proves_not_opened(minor(stake), &others), expected, "{balance} {unknown:?}");
    }

    #[test]
    fn the_stake_must_be_in_the_wallet_to_the_cent() {
        check(51_000, 1_000, 0, &[], true);
        check(50_000, 1_000, 0, &[], false);
        check(51_001, 1_000, 0, &[], false);
        check(50_999, 1_000, 0, &[], false);
    }

    #[test]
    fn what_others_hold_explains_the_wallet_only_where_nothing_else_does() {
        // Another was not opened either, and that is known.
        check(53_000, 1_000, 2_000, &[], true);
        check(51_000, 1_000, 1_000, &[], false);
        // It is not known: both, this one, the other one.
        check(53_000, 1_000, 0, &[2_000], true);
        check(51_000, 1_000, 0, &[2_000], true);
        check(52_000, 1_000, 0, &[2_000], false);
        // One of two equal ones is in the wallet: nobody knows which. Both are: both are.
        check(51_000, 1_000, 0, &[1_000], false);
        check(52_000, 1_000, 0, &[1_000], true);
        // 30.00 is 10.00 and 20.00, or the other 30.00.
        check(53_000, 1_000, 0, &[2_000, 3_000], false);
    }

    #[test]
    fn too_many_unknown_stakes_prove_nothing() {
        let distinct: Vec<i64> = (0..13).map(|power| 1 << power).collect();
        check(50_000 + (1 << 20), 1 << 20, 0, &distinct[..12], true);
        check(50_000 + (1 << 20), 1 << 20, 0, &distinct, false);
    }
}
