//! Finding: a result too good to be true, usually because of look-ahead.

use super::{Finding, FindingKind, Severity};
use candlewick_statistics::{WinRate, clopper_pearson_interval};

/// A higher true win rate is not credible. At a payout of 80 % it earns 35 % of each stake: staking
/// 1 % of the balance doubles it every 200 trades, and no trader is known to have sustained that.
const WIN_RATE: f64 = 0.75;
/// Confidence of the win rate's lower bound: an honest edge of up to that rate is reported less
/// than once in a thousand times.
const CONFIDENCE: f64 = 0.998;
/// A profit factor from this value on is not credible: at a payout of 80 % it takes a win rate of
/// 83 %.
const PROFIT_FACTOR: f64 = 4.0;
/// With fewer trades that do not overlap, a profit factor says little: a true 60 % reaches 42 wins
/// of 50 once in 3,000 times.
const GROUPS_FOR_FACTOR: u64 = 50;
/// This many such trades without two losses in a row occur once in a million times at a true 60 %.
const GROUPS_WITHOUT_STREAK: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DecidedTrades {
    pub(crate) won: u64,
    pub(crate) lost: u64,
    pub(crate) longest_losing_streak: u64,
    /// Wins over losses, with a stake of 1 each; `None` without a loss.
    pub(crate) profit_factor: Option<f64>,
    /// Trades that were never open at the same time.
    pub(crate) apart: u64,
}

pub(crate) fn too_good(trades: &DecidedTrades) -> Option<Finding> {
    let DecidedTrades { won, lost, longest_losing_streak, profit_factor, apart } = *trades;
    let decided = won + lost;
    if decided == 0 {
        return None;
    }
    let groups = apart.min(decided);
    let rate = won as f64 / decided as f64;
    let mut why = Vec::new();
    if lower_end(rate, groups).is_some_and(|lower| lower > WIN_RATE) {
        why.push(format!("{:.1} % of {decided} trades won", rate * 100.0));
    }
    let factor = profit_factor.filter(|factor| *factor >= PROFIT_FACTOR && groups >= GROUPS_FOR_FACTOR);
    why.extend(factor.map(|factor| format!("wins brought {factor:.1} times what losses cost")));
    if longest_losing_streak <= 1 && groups >= GROUPS_WITHOUT_STREAK {
        why.push(format!("no two of {decided} trades were lost in a row"));
    }
    (!why.is_empty()).then(|| Finding {
        kind: FindingKind::TooGood,
        severity: Severity::Serious,
        text: format!(
            "Too good to be true: {}. Usually it is look-ahead, a strategy or a list of signals that was made with later candles: \
             `candlewick strategy check` tests a strategy.",
            why.join(", ")
        ),
    })
}

/// Returns the lower bound of the win rate, counting only trades that do not overlap as
/// independent.
fn lower_end(rate: f64, groups: u64) -> Option<f64> {
    let won = (rate * groups as f64).round() as u64;
    let counted = WinRate::new(won, groups - won.min(groups)).ok()?;
    clopper_pearson_interval(counted, CONFIDENCE).ok().map(|interval| interval.lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_statistics::{StreamEvent, TradeDependence, TradeOutcome, TradeStream};
    use std::ops::ControlFlow;

    fn found(won: u64, lost: u64, streak: u64, apart: u64) -> Option<String> {
        let profit_factor = (lost > 0).then(|| 0.8 * won as f64 / lost as f64);
        let trades = DecidedTrades { won, lost, longest_losing_streak: streak, profit_factor, apart };
        too_good(&trades).map(|finding| finding.text)
    }

    #[test]
    fn a_win_rate_a_profit_factor_and_a_run_without_losses_in_a_row_are_reported() {
        assert!(
            found(4_969, 31, 2, 5_000)
                .unwrap()
                .contains("99.4 % of 5000 trades won, wins brought 128.2 times")
        );
        assert!(found(30, 0, 0, 30).unwrap().contains("100.0 % of 30 trades won"));
        assert!(found(200, 90, 1, 290).unwrap().contains("no two of 290 trades were lost in a row"));
        // Five trades at a time are one look.
        assert_eq!(found(40, 5, 5, 9), None);
        assert_eq!(found(0, 0, 0, 0), None);
    }

    /// Whether a run of honest trades is accused: won and lost ones are counted as they come, and so are the groups.
    fn is_accused(stream: &TradeStream, run: u64, trades: u64) -> bool {
        let (mut won, mut lost, mut streak, mut longest) = (0, 0, 0, 0);
        stream.play(5, run, trades, |event| {
            if let StreamEvent::Settled { outcome, .. } = event {
                let is_won = outcome == TradeOutcome::Won;
                streak = if is_won { 0 } else { streak + 1 };
                longest = longest.max(streak);
                *(if is_won { &mut won } else { &mut lost }) += 1;
            }
            ControlFlow::Continue(())
        });
        found(won, lost, longest, (won + lost) / stream.slots() as u64).is_some()
    }

    #[test]
    fn honest_bots_are_accused_less_than_one_time_in_a_thousand_and_those_that_know_the_future_are_found() {
        // At a payout of 80 break-even is 55.6 %: worthless, far better than any that is known, and a cheat.
        for (points, group, trades, at_most, at_least) in [
            (0.0, 1, 30, 2, 0),
            (5.0, 1, 100, 2, 0),
            (9.0, 1, 1_000, 2, 0),
            (5.0, 5, 250, 2, 0),
            (40.0, 1, 100, 1_000, 990),
            (40.0, 5, 500, 1_000, 990),
        ] {
            let dependence =
                if group == 1 { TradeDependence::Independent } else { TradeDependence::SameTrade(group) };
            let stream = TradeStream::new(dependence, &[0.8], points, 0.0).unwrap();
            let accused = (0..1_000).filter(|run| is_accused(&stream, *run, trades)).count();
            assert!((at_least..=at_most).contains(&accused), "{points} {group} {trades}: {accused} of 1000");
        }
    }
}
