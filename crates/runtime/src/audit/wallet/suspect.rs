//! An unconfirmed difference between wallet and ledger, and its possible explanations.

use super::{InFlightMoney, MAX_LAG, WalletAudit, WalletReading, magnitude};
use crate::resolver::{choice_sums, subset_sums};
use candlewick_sdk::{Millis, Money};

#[derive(Clone, Debug)]
pub(super) struct Suspicion {
    /// Wallet minus ledger at each reading. The flag is true if all amounts in flight were known at that reading.
    raws: Vec<(Money, bool)>,
    pub(super) difference: Money,
    /// Smallest upper bound of the difference over all readings. A bound below `confirmed` proves a new shortage.
    pub(super) upper_bound: Money,
    /// Possible amounts of the difference that fit all readings. Empty if there are too many such amounts.
    candidates: Vec<Money>,
    pub(super) first_reading_at: Millis,
    pub(super) last_reading_at: Millis,
    pub(super) caused_at: Option<Millis>,
    pub(super) is_from_wallet: bool,
    /// Whether the difference at one or more readings was too large to come from our own trades.
    pub(super) exceeds_own_trades: bool,
}

impl Suspicion {
    /// Returns the candidate nearest to `confirmed`. Prefers amounts that occur twice in `raws` with the flag set.
    pub(super) fn amount(&self, confirmed: Money) -> Money {
        let is_repeated = |amount| self.raws.iter().filter(|raw| **raw == (amount, true)).count() > 1;
        let rank = |candidate: &Money| (!is_repeated(*candidate), magnitude(*candidate - confirmed));
        self.candidates.iter().copied().min_by_key(rank).unwrap_or(self.difference)
    }
}

impl WalletAudit {
    pub(super) fn suspect_difference(
        &self,
        (difference, possible): (Money, &Explanations),
        reading: &WalletReading<'_>,
    ) -> Suspicion {
        let (raw, sent) = (possible.raw, reading.sent);
        let settled_lag = sent - self.lag(reading.lag);
        let agreed = self.agreed.map_or(sent - MAX_LAG, |agreement| agreement.sent);
        let oldest = agreed - self.lag(reading.lag);
        let causes = || self.changes.iter().filter(|(_, at)| (oldest..=settled_lag).contains(at));
        // A lag must explain the difference to the cent. If it does not, the money came from outside.
        let unshown: Vec<Money> = causes().map(|(change, _)| -*change).collect();
        let may_be_lag = subset_sums(&unshown)
            .is_some_and(|sums| sums.binary_search(&(difference - self.confirmed)).is_ok());
        let caused_at = causes().map(|(_, at)| *at).max().filter(|_| may_be_lag);
        // Intents in doubt and returns that are not booked yet may explain any amount.
        let is_from_outside = reading.in_flight.is_known()
            && magnitude(difference - self.confirmed) > self.unseen_change(reading);
        let is_reckonable = reading.in_flight.max_unknown_returns == Money::ZERO;
        let new = Suspicion {
            raws: vec![(raw, is_reckonable)],
            difference,
            upper_bound: (possible.raw - possible.least).min(self.confirmed),
            candidates: possible.differences(),
            first_reading_at: sent,
            last_reading_at: sent,
            caused_at,
            is_from_wallet: self.last_free.1,
            exceeds_own_trades: is_from_outside,
        };
        let Some(known) = self.suspect.clone() else { return new };
        let is_same_way = (difference < self.confirmed) == (known.difference < self.confirmed);
        let may_have_grown = self.change_since(known.last_reading_at - self.lag(reading.lag))
            + reading.in_flight.largest_amount();
        let is_grown = is_same_way && magnitude(difference - known.difference) <= may_have_grown;
        let last = known.raws.last().copied();
        let is_stable = last.is_some_and(|(last, _)| last == raw);
        if !is_stable && !is_grown {
            return new;
        }
        let mut candidates = known.candidates;
        candidates.retain(|candidate| possible.contains(*candidate));
        if last == Some((raw, true)) && is_reckonable {
            // Two readings showed the same difference, so no part of it is late or in flight.
            candidates = vec![raw];
        } else if candidates.is_empty() {
            candidates = new.candidates;
        }
        let is_from_outside = known.exceeds_own_trades || is_from_outside;
        let Suspicion { mut raws, first_reading_at, caused_at, is_from_wallet, upper_bound, .. } = known;
        let upper_bound = upper_bound.min(new.upper_bound);
        raws.push((raw, is_reckonable));
        Suspicion {
            raws,
            upper_bound,
            candidates,
            first_reading_at,
            caused_at,
            is_from_wallet,
            exceeds_own_trades: is_from_outside,
            ..new
        }
    }
}

#[derive(Debug)]
pub(super) struct Explanations {
    raw: Money,
    /// Amounts, in ascending order, that may explain part of `raw`. `None` if too many or all amounts are possible.
    sums: Option<Vec<Money>>,
    least: Money,
    greatest: Money,
}

impl Explanations {
    pub(super) fn new(raw: Money, unshown: impl Iterator<Item = Money>, under_way: &InFlightMoney) -> Self {
        let unshown: Vec<Money> = unshown.collect();
        let under_way_amounts = || under_way.amounts.iter().map(Vec::as_slice);
        let choices = || unshown.iter().map(std::slice::from_ref).chain(under_way_amounts());
        let bound = |amount: fn(Money, Money) -> Money| {
            choices().map(|choice| choice.iter().copied().fold(Money::ZERO, amount)).sum()
        };
        Self {
            raw,
            sums: if under_way.max_unknown_returns == Money::ZERO { choice_sums(choices()) } else { None },
            least: bound(Money::min),
            greatest: bound(Money::max) + under_way.max_unknown_returns,
        }
    }

    pub(super) fn differences(&self) -> Vec<Money> {
        self.sums.iter().flatten().map(|sum| self.raw - *sum).collect()
    }

    pub(super) fn is_exact(&self, difference: Money) -> bool {
        self.raw == difference
    }

    pub(super) fn contains(&self, difference: Money) -> bool {
        self.nearest(difference) == difference
    }

    pub(super) fn nearest(&self, known: Money) -> Money {
        let wanted = self.raw - known;
        let explained = match &self.sums {
            None => wanted.clamp(self.least, self.greatest),
            Some(sums) => find_nearest(sums, wanted),
        };
        self.raw - explained
    }
}

fn find_nearest(sums: &[Money], wanted: Money) -> Money {
    let place = sums.partition_point(|sum| *sum < wanted);
    let neighbors = [place.checked_sub(1).and_then(|below| sums.get(below)), sums.get(place)];
    let nearest = neighbors.into_iter().flatten().min_by_key(|sum| (**sum - wanted).max(wanted - **sum));
    nearest.copied().unwrap_or_default()
}
