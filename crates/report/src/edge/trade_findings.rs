//! Findings about the trades of a file or journal, and about the file itself.

use super::NamedTrade;
use super::sample::group_by_bot;
use crate::analysis::{
    DecidedTrades, Finding, FindingKind, StakingResult, check_implausible_results, check_payout_range,
};
use candlewick_engine::to_trade_outcome;
use candlewick_records::count_text;
use candlewick_sdk::{Millis, Outcome, Payout};

/// Minimum number of wins, and of losses. With five of each, chance alone sorts them in 1 of 126 cases.
const MIN_SORTED_ROWS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RepeatedRow {
    pub(super) line: u64,
    pub(super) first_line: u64,
}

pub fn audit_trades(trades: &[NamedTrade]) -> Vec<Finding> {
    let all: Vec<&NamedTrade> = trades.iter().collect();
    let mut found: Vec<Finding> = stake_size_finding(&all).into_iter().collect();
    let bots = group_by_bot(trades);
    for (bot, own) in bots.iter().filter(|_| bots.len() > 1) {
        found.extend(stake_size_finding(own).map(|finding| finding.with_bot(bot)));
    }
    found.extend(check_implausible_results(&decided_trades(trades)));
    found.extend(check_payout_range(unusual_payout_percent(trades)));
    found
}

/// Reports that the rows are sorted by result. Sorting distorts the verdict, which depends on the order of the trades.
pub(super) fn check_row_order(outcomes: &[Outcome]) -> Option<Finding> {
    let count = |outcome| outcomes.iter().filter(|one| **one == outcome).count();
    let (won, lost) = (count(Outcome::Won), count(Outcome::Lost));
    if won.min(lost) < MIN_SORTED_ROWS {
        return None;
    }
    let different = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled];
    let different = different.into_iter().filter(|outcome| count(*outcome) > 0).count();
    let blocks = 1 + outcomes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let text = format!(
        "The rows are sorted by result ({won} WON, {lost} LOST) and have no times. The verdict depends on the order of \
         the trades. Sort the rows by time, or add the columns decision_time and close_time."
    );
    (blocks == different).then(|| FindingKind::SortedByResult.serious(text))
}

pub(super) fn check_times(rows: usize) -> Option<Finding> {
    let text = "The file lacks the columns decision_time and close_time. Rows count as consecutive trades, and \
                overlaps are unknown.";
    (rows > 0).then(|| FindingKind::NoTimes.warning(text))
}

pub(super) fn check_repeated_rows(repeated: &[RepeatedRow]) -> Option<Finding> {
    let RepeatedRow { line, first_line } = repeated.first()?;
    let rows = count_text(repeated.len(), "row repeats an earlier row", "rows repeat earlier rows");
    Some(FindingKind::RepeatedRows.warning(format!(
        "{rows} (line {line} is the same as line {first_line}). Each row counts as a trade. Remove the repeated rows \
         if the file merges overlapping exports."
    )))
}

fn stake_size_finding(trades: &[&NamedTrade]) -> Option<Finding> {
    staking_result(trades)?.finding(&[])
}

fn staking_result(trades: &[&NamedTrade]) -> Option<StakingResult> {
    let (mut decided, mut count, mut returns, mut profit) = (0, 0_u64, 0.0, 0.0);
    let (mut decimals, mut first_stake, mut has_equal_stakes) = (0_u32, None, true);
    for named in trades {
        let Some((_, outcome)) = named.trade.ended.filter(|_| !named.trade.is_unopened()) else { continue };
        if outcome == Outcome::Cancelled {
            continue;
        }
        let money = named.money?;
        let payout = named.trade.payout.map(Payout::to_fraction);
        let payout = payout.or_else(|| (outcome != Outcome::Won).then_some(0.0))?;
        decided += u64::from(outcome != Outcome::Draw);
        count += 1;
        returns += to_trade_outcome(outcome).unit_return(payout);
        profit += money.profit;
        decimals = decimals.max(money.decimals);
        has_equal_stakes &= *first_stake.get_or_insert(money.stake) == money.stake;
    }
    let return_per_unit = returns / count as f64;
    let decimals = decimals.max(2);
    (count > 0).then_some(StakingResult { decided, return_per_unit, profit, decimals, has_equal_stakes })
}

fn decided_trades(trades: &[NamedTrade]) -> DecidedTrades {
    let mut ended: Vec<(Millis, Millis, bool, f64)> = trades
        .iter()
        .filter(|named| !named.trade.is_unopened())
        .filter_map(|named| {
            let (at, outcome) = named.trade.ended?;
            let is_won = match outcome {
                Outcome::Won => true,
                Outcome::Lost => false,
                Outcome::Draw | Outcome::Cancelled => return None,
            };
            let payout = named.trade.payout.map_or(0.0, Payout::to_fraction);
            Some((at, named.trade.decided, is_won, payout))
        })
        .collect();
    ended.sort_by_key(|(at, decided, ..)| (*at, *decided));
    let (mut won, mut lost, mut gained) = (0_u64, 0_u64, 0.0);
    let (mut streak, mut longest, mut non_overlapping, mut free_at) = (0, 0, 0, Millis::new(i64::MIN));
    for (at, decided, is_won, payout) in ended {
        if is_won {
            (won, gained, streak) = (won + 1, gained + payout, 0);
        } else {
            (lost, streak) = (lost + 1, streak + 1);
            longest = longest.max(streak);
        }
        if decided >= free_at {
            (non_overlapping, free_at) = (non_overlapping + 1, at);
        }
    }
    let profit_factor = (lost > 0).then(|| gained / lost as f64);
    DecidedTrades {
        won,
        lost,
        longest_losing_streak: longest,
        profit_factor,
        disjoint_trades: non_overlapping,
    }
}

fn unusual_payout_percent(trades: &[NamedTrade]) -> Option<f64> {
    let percents = || trades.iter().filter_map(|named| named.trade.payout).map(Payout::to_percent);
    let highest = percents().reduce(f64::max)?;
    if highest > 100.0 { Some(highest) } else { percents().reduce(f64::min) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Draw, Lost, Won};

    #[test]
    fn reports_rows_sorted_by_result_only() {
        let blocks = |blocks: &[(Outcome, usize)]| -> Vec<Outcome> {
            blocks.iter().flat_map(|(outcome, count)| vec![*outcome; *count]).collect()
        };
        for (rows, expected) in [
            (blocks(&[(Won, 60), (Lost, 40)]), true),
            (blocks(&[(Lost, 40), (Won, 60)]), true),
            (blocks(&[(Draw, 3), (Lost, 40), (Won, 60)]), true),
            (blocks(&[(Won, 60), (Lost, 39), (Won, 1)]), false),
            (blocks(&[(Won, 4), (Lost, 4)]), false),
            (blocks(&[(Won, 60)]), false),
            (vec![], false),
        ] {
            assert_eq!(check_row_order(&rows).is_some(), expected, "{rows:?}");
        }
    }
}
