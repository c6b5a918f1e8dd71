//! The venue's wallet.

use candlewick_sdk::Money;

/// What is in the wallet, what is staked, and what accepted orders are about to take.
#[derive(Clone, Debug)]
pub(crate) struct Wallet {
    balance: Money,
    staked: Money,
    promised: Money,
}

impl Wallet {
    pub(crate) fn new(balance: Money) -> Self {
        Self { balance, staked: Money::ZERO, promised: Money::ZERO }
    }

    /// What is in it.
    pub(crate) fn balance(&self) -> Money {
        self.balance
    }

    /// Stakes that left it and have not returned.
    pub(crate) fn staked(&self) -> Money {
        self.staked
    }

    /// What is in it and not promised to an order on its way.
    pub(crate) fn free(&self) -> Money {
        self.balance - self.promised
    }

    /// An order on its way will be accepted; its stake stays in the balance until then.
    pub(crate) fn promise(&mut self, stake: Money) {
        self.promised += stake;
    }

    /// A promised stake leaves: its trade opens.
    pub(crate) fn take(&mut self, stake: Money) {
        self.promised -= stake;
        self.balance -= stake;
        self.staked += stake;
    }

    /// A stake left and returned with its profit, and nothing came between.
    pub(crate) fn pass(&mut self, profit: Money) {
        self.balance += profit;
    }

    /// A stake returns with its profit; for a loss the profit is minus the stake, and nothing returns.
    pub(crate) fn settle(&mut self, stake: Money, profit: Money) {
        self.staked -= stake;
        self.balance += stake + profit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stake_is_promised_then_taken_then_settled() {
        let money = Money::from_minor;
        let mut wallet = Wallet::new(money(1_000));
        let mut check = |step: &dyn Fn(&mut Wallet), expected: [i64; 3]| {
            step(&mut wallet);
            assert_eq!([wallet.balance(), wallet.free(), wallet.staked()], expected.map(money));
        };
        check(&|wallet| wallet.promise(money(300)), [1_000, 700, 0]);
        check(&|wallet| wallet.promise(money(200)), [1_000, 500, 0]);
        check(&|wallet| wallet.take(money(300)), [700, 500, 300]);
        check(&|wallet| wallet.settle(money(300), money(240)), [1_240, 1_040, 0]);
        check(&|wallet| wallet.take(money(200)), [1_040, 1_040, 200]);
        check(&|wallet| wallet.settle(money(200), money(-200)), [1_040, 1_040, 0]);
        check(&|wallet| wallet.pass(money(-40)), [1_000, 1_000, 0]);
    }
}
