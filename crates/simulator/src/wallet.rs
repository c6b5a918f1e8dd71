//! The wallet of the venue.

use candlewick_sdk::Money;

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

    pub(crate) fn balance(&self) -> Money {
        self.balance
    }

    pub(crate) fn staked(&self) -> Money {
        self.staked
    }

    pub(crate) fn free(&self) -> Money {
        self.balance - self.promised
    }

    /// Reserves the stake of an accepted order in flight.
    ///
    /// It stays in the balance until the answer is due.
    pub(crate) fn promise(&mut self, stake: Money) {
        self.promised += stake;
    }

    pub(crate) fn take(&mut self, stake: Money) {
        self.promised -= stake;
        self.balance -= stake;
        self.staked += stake;
    }

    /// Books a stake that left and returned with its profit, with no event in between.
    pub(crate) fn pass(&mut self, profit: Money) {
        self.balance += profit;
    }

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
