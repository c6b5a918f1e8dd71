//! The set of differences that a reading allows.

use super::UnderWayMoney;
use candlewick_sdk::Money;

/// Above this number of sums, any amount counts as explained.
pub(super) const MAX_SUMS: usize = 4_096;

#[derive(Debug)]
pub(super) struct Possible {
    raw: Money,
    /// Ascending sums that may explain part of `raw`; `None` if too many, or if any amount is
    /// possible.
    sums: Option<Vec<Money>>,
    least: Money,
    greatest: Money,
}

impl Possible {
    pub(super) fn new(raw: Money, unshown: impl Iterator<Item = Money>, under_way: &UnderWayMoney) -> Self {
        let unshown: Vec<[Money; 1]> = unshown.map(|amount| [amount]).collect();
        let choices =
            || unshown.iter().map(<[Money; 1]>::as_slice).chain(under_way.amounts.iter().map(Vec::as_slice));
        let bound = |amount: fn(Money, Money) -> Money| {
            choices().map(|choice| choice.iter().copied().fold(Money::ZERO, amount)).sum()
        };
        Self {
            raw,
            sums: if under_way.unknown == Money::ZERO { sums_of_choices(choices()) } else { None },
            least: bound(Money::min),
            greatest: bound(Money::max) + under_way.unknown,
        }
    }

    pub(super) const fn raw(&self) -> Money {
        self.raw
    }

    pub(super) fn largest_difference(&self) -> Money {
        self.raw - self.least
    }

    pub(super) fn differences(&self) -> Vec<Money> {
        self.sums.iter().flatten().map(|sum| self.raw - *sum).collect()
    }

    pub(super) fn is_raw(&self, difference: Money) -> bool {
        self.raw == difference
    }

    pub(super) fn contains(&self, difference: Money) -> bool {
        self.nearest(difference) == difference
    }

    pub(super) fn nearest(&self, known: Money) -> Money {
        let wanted = self.raw - known;
        let explained = match &self.sums {
            None => wanted.clamp(self.least, self.greatest),
            Some(sums) => nearest_of(sums, wanted),
        };
        self.raw - explained
    }
}

/// Returns the sums of at most one amount per choice, ascending; `None` if there are too many.
fn sums_of_choices<'a>(choices: impl Iterator<Item = &'a [Money]>) -> Option<Vec<Money>> {
    let mut sums = vec![Money::ZERO];
    for choice in choices {
        let more: Vec<Money> =
            choice.iter().flat_map(|amount| sums.iter().map(move |sum| *sum + *amount)).collect();
        sums.extend(more);
        sums.sort_unstable();
        sums.dedup();
        if sums.len() > MAX_SUMS {
            return None;
        }
    }
    Some(sums)
}

fn nearest_of(sums: &[Money], wanted: Money) -> Money {
    let place = sums.partition_point(|sum| *sum < wanted);
    let beside = [place.checked_sub(1).and_then(|below| sums.get(below)), sums.get(place)];
    let nearest = beside.into_iter().flatten().min_by_key(|sum| (**sum - wanted).max(wanted - **sum));
    nearest.copied().unwrap_or_default()
}
