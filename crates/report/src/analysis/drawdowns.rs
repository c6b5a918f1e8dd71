//! Worst drawdowns of the balance, each from its peak to the recovery.

use super::metrics::DrawdownFigures;
use super::{Trades, settled_rows};
use candlewick_backtest::metric::{Drawdown, percent_of_peak};
use candlewick_sdk::{Millis, Money};
use std::cmp::Reverse;

pub(crate) fn worst_drawdowns(trades: &Trades<'_>, most: usize) -> Vec<DrawdownFigures> {
    let settled = settled_rows(trades.book);
    let profits = settled.iter().map(|row| (row.settled_at, row.profit));
    let mut falls = falls_of(profits, trades.balance);
    falls.sort_by_key(|fall| Reverse(fall.amount));
    let figures = falls.iter().filter_map(|fall| DrawdownFigures::of(fall, trades.span.start, trades.scale));
    figures.take(most).collect()
}

fn falls_of(profits: impl IntoIterator<Item = (Option<Millis>, Money)>, start: Money) -> Vec<Drawdown> {
    let mut falls = Vec::new();
    let (mut balance, mut peak, mut peak_at) = (start, start, None);
    let mut open: Option<Drawdown> = None;
    for (at, profit) in profits {
        balance += profit;
        if balance >= peak {
            falls.extend(open.take().map(|fall| Drawdown { recovered_at: at, ..fall }));
            (peak, peak_at) = (balance, at);
            continue;
        }
        let amount = peak - balance;
        if open.is_none_or(|fall| amount > fall.amount) {
            let percent = percent_of_peak(amount, peak);
            open = Some(Drawdown { amount, percent, peak_at, trough_at: at, recovered_at: None });
        }
    }
    falls.extend(open);
    falls
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_backtest::metric::DrawdownFold;
    use proptest::prelude::*;

    fn at(second: i64) -> Millis {
        Millis::from_seconds(second)
    }

    fn profits(units: &[i64]) -> Vec<(Option<Millis>, Money)> {
        (1..).zip(units).map(|(second, units)| (Some(at(second)), Money::from_minor(*units))).collect()
    }

    #[test]
    fn a_fall_lasts_until_the_balance_is_back() {
        // 100, 110, 90, 95, 110, 105, 60: two falls, one of 20 that ended and one of 50 that did not.
        let falls = falls_of(profits(&[10, -20, 5, 15, -5, -45]), Money::from_minor(100));
        let seen: Vec<_> = falls
            .iter()
            .map(|fall| (fall.amount.minor(), fall.peak_at, fall.trough_at, fall.recovered_at))
            .collect();
        assert_eq!(seen, [(20, Some(at(1)), Some(at(2)), Some(at(4))), (50, Some(at(4)), Some(at(6)), None)]);
        assert!(falls_of(profits(&[1, 0, 2]), Money::ZERO).is_empty());
    }

    proptest! {
        #[test]
        fn the_worst_is_the_max_drawdown(units in proptest::collection::vec(-60_i64..60, 0..200)) {
            let start = Money::from_minor(1_000);
            let mut fold = DrawdownFold::new(start);
            for (at, profit) in profits(&units) {
                fold.settle(at, profit);
            }
            let mut falls = falls_of(profits(&units), start);
            falls.sort_by_key(|fall| Reverse(fall.amount));
            prop_assert_eq!(falls.first().copied().unwrap_or_default(), fold.by_amount());
        }
    }
}
