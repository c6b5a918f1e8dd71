//! Findings about trades: too few trades, implausible results, streaks, a single profitable hour, stake sizes.

use super::{Finding, FindingKind, Severity, VerdictBasis};
use crate::analysis::{Cell, SensitivityPoint, select_disjoint};
use candlewick_backtest::metric::{Expectancy, WinRates};
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::{MoneyScale, Outcome, group_thousands};
use candlewick_statistics::{WinRate, clopper_pearson_interval, runs_test};
use std::collections::BTreeMap;

/// Half-width of the confidence interval above which the finding is serious. About 95 trades give this half-width.
const SERIOUS_HALF_WIDTH: f64 = 0.10;
/// Half-width of the confidence interval above which a finding is reported. About 380 trades give this half-width.
const REPORTED_HALF_WIDTH: f64 = 0.05;

pub(super) fn check_trade_count(rates: Option<&WinRates>, decided: u64) -> Option<Finding> {
    let kind = FindingKind::TooFewTrades;
    let Some(uncertainty) = rates.map(WinRates::uncertainty) else {
        return Some(kind.serious("No trade was won or lost, so the result cannot be judged."));
    };
    let severity = match uncertainty {
        wide if wide > SERIOUS_HALF_WIDTH => Severity::Serious,
        wide if wide > REPORTED_HALF_WIDTH => Severity::Warning,
        _ => return None,
    };
    let points = uncertainty * 100.0;
    let text = format!(
        "Too few trades: {decided} were won or lost, so the win rate is uncertain by +-{points:.1} points."
    );
    Some(kind.to_finding(severity, text))
}

/// Highest credible win rate. At a payout of 80 %, this win rate earns 35 % of each stake.
const MAX_CREDIBLE_WIN_RATE: f64 = 0.75;
/// Two-sided confidence level. Fewer than 1 in 1,000 bots with a credible win rate are reported.
const CONFIDENCE: f64 = 0.998;
/// Lowest implausible profit factor. At a payout of 80 %, this factor requires a win rate of 83 %.
const MIN_IMPLAUSIBLE_PROFIT_FACTOR: f64 = 4.0;
/// Minimum number of non-overlapping trades. At a win rate of 60 %, 1 in 4,000 runs has a factor of at least 4.2.
const MIN_TRADES_FOR_FACTOR: u64 = 50;
/// Minimum number of non-overlapping trades. At a win rate of 60 %, 1 in 600,000 runs has no two consecutive losses.
const MIN_TRADES_WITHOUT_STREAK: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DecidedTrades {
    pub(crate) won: u64,
    pub(crate) lost: u64,
    pub(crate) longest_losing_streak: u64,
    /// Total wins divided by total losses if each stake were 1; `None` if no trade was lost.
    pub(crate) profit_factor: Option<f64>,
    pub(crate) disjoint_trades: u64,
}

pub(crate) fn check_implausible_results(trades: &DecidedTrades) -> Option<Finding> {
    let DecidedTrades { won, lost, longest_losing_streak, profit_factor, disjoint_trades: non_overlapping } =
        *trades;
    let decided = won + lost;
    if decided == 0 {
        return None;
    }
    let groups = non_overlapping.min(decided);
    let rate = won as f64 / decided as f64;
    let mut why = Vec::new();
    if win_rate_lower_bound(rate, groups).is_some_and(|lower| lower > MAX_CREDIBLE_WIN_RATE) {
        why.push(format!("{:.1} % of {decided} trades won", rate * 100.0));
    }
    let factor = profit_factor
        .filter(|factor| *factor >= MIN_IMPLAUSIBLE_PROFIT_FACTOR && groups >= MIN_TRADES_FOR_FACTOR);
    why.extend(factor.map(|factor| format!("profit factor {factor:.1}")));
    if longest_losing_streak <= 1 && groups >= MIN_TRADES_WITHOUT_STREAK {
        why.push(format!("no two of {decided} trades were lost in a row"));
    }
    (!why.is_empty()).then(|| {
        FindingKind::TooGood.serious(format!(
            "Too good to be true: {}. The usual cause is look-ahead: a strategy or signal list that used later candles. Run \
             `candlewick strategy check` to test the strategy.",
            why.join(", ")
        ))
    })
}

/// Returns the lower confidence bound of the win rate. Only trades that do not overlap count as independent.
fn win_rate_lower_bound(rate: f64, groups: u64) -> Option<f64> {
    let won = (rate * groups as f64).round() as u64;
    let counted = WinRate::new(won, groups - won.min(groups)).ok()?;
    clopper_pearson_interval(counted, CONFIDENCE).ok().map(|interval| interval.lower)
}

/// Minimum number of clusters (Cameron and Miller, *A Practitioner's Guide to Cluster-Robust Inference*: 20 to 50).
const MIN_CLUSTERS: u64 = 30;
/// Minimum number of trades if there is no verdict yet. With fewer trades, `check_trade_count` already reports a finding.
const MIN_TRADES: u64 = 95;

pub(super) fn check_cluster_count(basis: VerdictBasis, decided: u64) -> Option<Finding> {
    let VerdictBasis { disjoint_trades: non_overlapping, is_decided } = basis;
    let is_few = (is_decided || decided >= MIN_TRADES) && (1..MIN_CLUSTERS).contains(&non_overlapping);
    let what = if is_decided { "The verdict rests" } else { "These results rest" };
    is_few.then(|| {
        FindingKind::FewClusters.warning(format!(
            "{what} on {decided} trades, but only {non_overlapping} of the trades did not overlap. Overlapping trades \
             tend to win or lose together. Wait for at least {MIN_CLUSTERS} non-overlapping trades."
        ))
    })
}

/// Probability of a false positive: the finding is reported although the win rate is constant.
const ALPHA: f64 = 0.01;

pub(super) fn check_streaks(settled: &[&IntentRow], bots: &[BotSettings]) -> Option<Finding> {
    let mut symbols: BTreeMap<&str, Vec<&IntentRow>> = BTreeMap::new();
    for row in settled.iter().filter(|row| matches!(row.outcome, Some(Outcome::Won | Outcome::Lost))) {
        if let Some(bot) = bots.get(row.approved.bot().index()) {
            symbols.entry(bot.symbol.as_str()).or_default().push(row);
        }
    }
    let outcomes = |rows: Vec<&IntentRow>| -> Vec<bool> {
        select_disjoint(rows).iter().map(|row| row.outcome == Some(Outcome::Won)).collect()
    };
    let outcomes: Vec<Vec<bool>> = symbols.into_values().map(outcomes).collect();
    runs_test_finding(outcomes.iter().map(|outcomes| &outcomes[..]))
}

fn runs_test_finding<'a>(sequences: impl Iterator<Item = &'a [bool]>) -> Option<Finding> {
    let test = runs_test(sequences).filter(|test| test.p_value <= ALPHA)?;
    let (what, why) = if (test.runs as f64) < test.expected_runs {
        ("come in streaks", "The win rate may change over time")
    } else {
        ("alternate", "A win may predict a loss, and a loss may predict a win")
    };
    Some(FindingKind::Regimes.warning(format!(
        "Wins and losses {what}: {} groups of equal results, compared with about {:.0} in random order \
         (p-value {:.4}). Only non-overlapping trades count. {why}. The verdict's error rate assumes that no \
         result predicts the next.",
        test.runs, test.expected_runs, test.p_value
    )))
}

const MIN_HOURS: usize = 3;

pub(super) fn check_hour_concentration(hours: &[Cell]) -> Option<Finding> {
    let total: f64 = hours.iter().map(|cell| cell.total_return).sum();
    let best = hours.iter().max_by(|one, two| one.total_return.total_cmp(&two.total_return))?;
    let rest = total - best.total_return;
    let is_alone = hours.len() >= MIN_HOURS && total > 0.0 && rest <= 0.0;
    is_alone.then(|| {
        let Cell { label, trades, .. } = best;
        FindingKind::OneHourOnly.warning(format!(
            "One hour made all of the profit: {trades} trades from {label} UTC returned {:+.1} stakes, the other {} hours returned {rest:+.1}.",
            best.total_return,
            hours.len() - 1
        ))
    })
}

/// Typical latency in milliseconds. A profit that disappears at this latency cannot be earned in practice.
const TYPICAL_LATENCY_MS: f64 = 1_000.0;

/// Reports a profit that latency removes. `latencies` is in ascending order, and empty without a sensitivity analysis.
pub(super) fn latency_finding(latencies: &[SensitivityPoint]) -> Option<Finding> {
    let known = |point: &SensitivityPoint| Some((point.value?, point.return_per_unit?));
    let (_, at_once) = latencies.first().and_then(known).filter(|(at, gain)| *at == 0.0 && *gain > 0.0)?;
    let (dead_at, left) = latencies.iter().filter_map(known).find(|(_, gain)| *gain <= 0.0)?;
    let severity = if dead_at <= TYPICAL_LATENCY_MS { Severity::Serious } else { Severity::Warning };
    let text = format!(
        "Latency removes the profit: a trade returns {:+.2} % of its stake without latency and {:+.2} % at {dead_at:.0} ms.",
        at_once * 100.0,
        left * 100.0
    );
    Some(FindingKind::DiesOfLatency.to_finding(severity, text))
}

/// Minimum number of decided trades. With 30, the 95 % margin of error of the mean return is a third of the stake.
const MIN_DECIDED: u64 = 30;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StakingResult {
    pub(crate) decided: u64,
    pub(crate) return_per_unit: f64,
    pub(crate) profit: f64,
    pub(crate) decimals: u32,
    /// Whether all stakes are equal. If so, the results in money and in stake units differ only by rounding.
    pub(crate) has_equal_stakes: bool,
}

impl StakingResult {
    pub(crate) fn from_rows(settled: &[&IntentRow], scale: MoneyScale) -> Option<Self> {
        let return_per_unit = Expectancy::new(settled, scale)?.return_per_unit;
        let is_decided = |row: &&&IntentRow| matches!(row.outcome, Some(Outcome::Won | Outcome::Lost));
        let mut stakes = settled.iter().map(|row| row.approved.stake());
        let first = stakes.next();
        Some(Self {
            decided: settled.iter().filter(is_decided).count() as u64,
            return_per_unit,
            profit: scale.to_f64(settled.iter().map(|row| row.profit).sum()),
            decimals: scale.decimals(),
            has_equal_stakes: stakes.all(|stake| Some(stake) == first),
        })
    }

    pub(crate) fn finding(&self, bots: &[&BotSettings]) -> Option<Finding> {
        if self.decided < MIN_DECIDED || self.has_equal_stakes {
            return None;
        }
        let percent = self.return_per_unit * 100.0;
        let profit = group_thousands(&format!("{:+.*}", self.decimals as usize, self.profit));
        if self.return_per_unit < 0.0 && self.profit > 0.0 {
            Some(FindingKind::LadderHidesLosses.serious(format!(
                "{} losses: the account made {profit}, but the mean return of a trade is {percent:+.2} % of its stake. A losing \
                 streak can take the whole profit.",
                describe_ladders(bots)
            )))
        } else if self.return_per_unit > 0.0 && self.profit < 0.0 {
            Some(FindingKind::StakesLoseMoney.serious(format!(
                "Losing trades had larger stakes: the account lost {}, although the mean return of a trade is {percent:+.2} % of \
                 its stake. The verdict weights all trades equally and does not cover stake sizes.",
                profit.trim_start_matches('-')
            )))
        } else {
            None
        }
    }
}

fn describe_ladders(bots: &[&BotSettings]) -> String {
    let climbing = bots.iter().filter(|bot| bot.stake.climbs_after_losses());
    let ladders: Vec<&str> = climbing.map(|bot| bot.name.as_str()).collect();
    match ladders[..] {
        [] => "The stake sizes hide".to_owned(),
        [one] => format!("The ladder of {one} hides"),
        _ => format!("The ladders of {} hide", ladders.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_statistics::{StreamDependence, StreamEvent, TradeOutcome, TradeStream};
    use std::ops::ControlFlow;

    #[test]
    fn reports_too_few_trades() {
        for (half_width, expected) in
            [(0.16, Some(Severity::Serious)), (0.08, Some(Severity::Warning)), (0.04, None)]
        {
            let interval = [0.5 - half_width, 0.5 + half_width];
            let rates = WinRates {
                rate: 0.5,
                assumes: WinRates::ASSUMPTIONS,
                wilson: interval,
                clopper_pearson: interval,
                break_even: None,
                above_break_even: None,
                break_even_by_money: None,
            };
            let found = check_trade_count(Some(&rates), 90).map(|finding| finding.severity);
            assert_eq!(found, expected, "{half_width}");
        }
        assert_eq!(check_trade_count(None, 0).map(|finding| finding.severity), Some(Severity::Serious));
    }

    fn found_too_good(won: u64, lost: u64, streak: u64, non_overlapping: u64) -> Option<String> {
        let profit_factor = (lost > 0).then(|| 0.8 * won as f64 / lost as f64);
        let longest_losing_streak = streak;
        let trades = DecidedTrades {
            won,
            lost,
            longest_losing_streak,
            profit_factor,
            disjoint_trades: non_overlapping,
        };
        check_implausible_results(&trades).map(|finding| finding.text)
    }

    #[test]
    fn reports_win_rate_profit_factor_and_missing_streak_that_are_too_good() {
        let found = found_too_good(4_969, 31, 2, 5_000).unwrap();
        assert!(found.contains("99.4 % of 5000") && found.contains("profit factor 128.2"), "{found}");
        assert!(found_too_good(200, 90, 1, 290).unwrap().contains("no two of 290 trades were lost in a row"));
        assert_eq!(found_too_good(40, 5, 5, 9), None);
        assert_eq!(found_too_good(0, 0, 0, 0), None);
    }

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
        found_too_good(won, lost, longest, (won + lost) / stream.max_open_trades() as u64).is_some()
    }

    #[test]
    fn rarely_accuses_honest_bots_and_finds_look_ahead() {
        // The break-even win rate at a payout of 80 % is 55.6 %. The bots have no edge, a huge edge, and look-ahead.
        for (points, group, trades, at_most, at_least) in [
            (0.0, 1, 30, 2, 0),
            (5.0, 1, 100, 2, 0),
            (9.0, 1, 1_000, 2, 0),
            (5.0, 5, 250, 2, 0),
            (40.0, 1, 100, 1_000, 990),
            (40.0, 5, 500, 1_000, 990),
        ] {
            let dependence =
                if group == 1 { StreamDependence::Independent } else { StreamDependence::SameTrade(group) };
            let stream = TradeStream::new(dependence, &[0.8], points, 0.0).unwrap();
            let accused = (0..1_000).filter(|run| is_accused(&stream, *run, trades)).count();
            assert!((at_least..=at_most).contains(&accused), "{points} {group} {trades}: {accused} of 1000");
        }
    }

    #[test]
    fn reports_few_trades_that_do_not_overlap() {
        for (non_overlapping, is_decided, decided, expected) in [
            (29, true, 40, true),
            (30, true, 40, false),
            (3, false, 95, true),
            (3, false, 94, false),
            (30, false, 400, false),
            (0, true, 0, false),
        ] {
            let found =
                check_cluster_count(VerdictBasis { disjoint_trades: non_overlapping, is_decided }, decided);
            assert_eq!(found.is_some(), expected, "{non_overlapping} {is_decided} {decided}");
        }
    }

    #[test]
    fn reports_alternating_outcomes() {
        let turns: Vec<bool> = (0..400).map(|place| place % 2 == 0).collect();
        let found = runs_test_finding([&turns[..]].into_iter()).unwrap();
        assert!(found.text.contains("alternate: 400 groups"), "{}", found.text);
    }

    #[test]
    fn reports_profit_of_a_single_hour() {
        for (returns, expected) in [
            (&[9.0, -2.0, -3.0][..], true),
            (&[9.0, 1.0, 0.5], false),
            // Two cases: a loss, and a single hour without other hours to compare.
            (&[2.0, -2.0, -3.0], false),
            (&[9.0], false),
            (&[], false),
        ] {
            let cell = |total_return: &f64| Cell {
                label: "09:00".to_owned(),
                trades: 40,
                won: 20,
                lost: 20,
                win_rate: Some(0.5),
                break_even: None,
                return_per_unit: None,
                shrunk_return: None,
                total_return: *total_return,
                is_small: false,
                pnl: 0.0,
            };
            let hours: Vec<Cell> = returns.iter().map(cell).collect();
            assert_eq!(check_hour_concentration(&hours).is_some(), expected, "{returns:?}");
        }
    }

    #[test]
    fn reports_profit_that_latency_removes() {
        for (returns, expected) in [
            (&[(0.0, 0.1), (1_000.0, -0.01), (2_000.0, -0.02)][..], Some(Severity::Serious)),
            (&[(0.0, 0.1), (1_000.0, 0.05), (3_000.0, 0.0)], Some(Severity::Warning)),
            (&[(0.0, 0.1), (1_000.0, 0.1), (5_000.0, 0.02)], None),
            (&[(0.0, -0.1), (1_000.0, -0.2)], None),
            (&[], None),
        ] {
            let point = |(value, return_per_unit): &(f64, f64)| {
                let (label, value, return_per_unit) = (String::new(), Some(*value), Some(*return_per_unit));
                let (is_own, trades, win_rate, break_even, pnl) = (false, 100, None, None, 0.0);
                SensitivityPoint { label, value, is_own, trades, win_rate, break_even, return_per_unit, pnl }
            };
            let points: Vec<SensitivityPoint> = returns.iter().map(point).collect();
            assert_eq!(latency_finding(&points).map(|finding| finding.severity), expected, "{returns:?}");
        }
    }

    #[test]
    fn reports_opposite_signs_of_units_and_money() {
        use FindingKind::{LadderHidesLosses, StakesLoseMoney};
        for (return_per_unit, decided, profit, has_equal_stakes, expected) in [
            (-0.05, 30, 12.0, false, Some(LadderHidesLosses)),
            (0.081_2, 30, -52_594.0, false, Some(StakesLoseMoney)),
            // The case has too few trades.
            (-0.1, 2, 3.0, false, None),
            (-0.05, 29, 3.0, false, None),
            (0.05, 29, -3.0, false, None),
            (-0.05, 300, -3.0, false, None),
            (0.05, 300, 3.0, false, None),
            // The stakes are equal, so the results differ only by rounding.
            (0.000_01, 300, -0.02, true, None),
            (-0.000_01, 300, 0.02, true, None),
        ] {
            let result = StakingResult { decided, return_per_unit, profit, decimals: 2, has_equal_stakes };
            let found = result.finding(&[]);
            let kind = found.as_ref().map(|finding| finding.kind);
            assert_eq!(kind, expected, "{return_per_unit} of {decided}, {profit}");
            let text = found.filter(|_| kind == Some(StakesLoseMoney)).map(|finding| finding.text);
            assert!(text.is_none_or(|text| text.contains("52,594.00") && text.contains("+8.12 %")));
        }
    }
}
