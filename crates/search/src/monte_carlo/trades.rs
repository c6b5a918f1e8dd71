//! Resampled trades of a run, applied to the same balance.

use super::PathRow;
use candlewick_engine::{IntentState, TradeBook};
use candlewick_sdk::{Money, MoneyScale};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedTrade {
    pub stake: Money,
    pub profit: Money,
}

pub fn observed_trades(book: &TradeBook) -> Vec<ObservedTrade> {
    let mut settled: Vec<_> = book.rows().iter().filter(|row| row.state == IntentState::Settled).collect();
    settled.sort_by_key(|row| (row.settled_at, row.close_time));
    settled.iter().map(|row| ObservedTrade { stake: row.approved.stake(), profit: row.profit }).collect()
}

pub(super) fn play(
    path: u64,
    trades: impl Iterator<Item = ObservedTrade>,
    (balance, least_stake): (Money, Money),
    scale: MoneyScale,
) -> PathRow {
    let (mut now, mut peak, mut fall, mut fall_percent) = (balance, balance, Money::ZERO, 0.0_f64);
    let (mut count, mut is_ruined) = (0, balance < least_stake);
    for trade in trades {
        if now < trade.stake {
            is_ruined = true;
            break;
        }
        now += trade.profit;
        count += 1;
        peak = peak.max(now);
        fall = fall.max(peak - now);
        if peak > Money::ZERO {
            fall_percent = fall_percent.max(scale.to_f64(peak - now) / scale.to_f64(peak) * 100.0);
        }
    }
    PathRow {
        path,
        rung: 0,
        trades: count,
        final_balance: scale.to_f64(now),
        max_drawdown: scale.to_f64(fall),
        max_drawdown_percent: fall_percent,
        is_ruined: is_ruined || now < least_stake,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_by_hand() {
        let scale = MoneyScale::default();
        let money = |text: &str| scale.exact(text.parse().unwrap()).unwrap();
        let trade = |profit: &str| ObservedTrade { stake: money("10"), profit: money(profit) };
        // 100, 108, 98, 88, 96, 86.
        let played = ["8", "-10", "-10", "8", "-10"].map(trade);
        let row = play(3, played.into_iter(), (money("100"), money("10")), scale);
        let percent = (108.0 - 86.0) / 108.0 * 100.0;
        let PathRow { path, trades, final_balance, max_drawdown, max_drawdown_percent, is_ruined, .. } = row;
        assert_eq!((path, trades, final_balance, max_drawdown, is_ruined), (3, 5, 86.0, 22.0, false));
        assert!((max_drawdown_percent - percent).abs() < 1e-12, "{max_drawdown_percent}");
        // 25, 15, 5: the third stake is not covered, and what would have come after it does not.
        let played = ["-10", "-10", "8", "8"].map(trade);
        let row = play(0, played.into_iter(), (money("25"), money("10")), scale);
        assert_eq!((row.trades, row.final_balance, row.is_ruined), (2, 5.0, true));
    }
}
