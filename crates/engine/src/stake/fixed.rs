//! Fixed stake.

use candlewick_sdk::Money;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fixed {
    amount: Money,
}

impl Fixed {
    pub(super) const fn new(amount: Money) -> Self {
        Self { amount }
    }

    pub(super) const fn next(&self) -> Money {
        self.amount
    }
}
