//! The trade at which the account for an edge reached its threshold, and the results of all later trades.

use crate::analysis::{Finding, FindingKind};
use crate::edge::is_calendar_time;
use candlewick_engine::{EdgeDetection, JudgedTrade};
use candlewick_records::format_time;
use candlewick_sdk::{Millis, Outcome, Payout};
use candlewick_statistics::{EdgeTest, MeanBreakEven, Verdict};
use serde::Serialize;

const MIN_LATER_TRADES: u64 = 30;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EdgeDetectionLine {
    pub after_trades: u64,
    /// Time at which the edge was shown; `None` if the trades have no dates.
    pub at: Option<Millis>,
    pub won_since: u64,
    pub lost_since: u64,
    pub draw_since: u64,
    pub win_rate_since: Option<f64>,
    /// Break-even win rate of the later trades; `None` if a payout is unknown.
    pub break_even_since: Option<f64>,
    /// Whether later trades support the edge; `None` until at least 30 and `after_trades` of them are won or lost.
    pub is_supported_since: Option<bool>,
}

impl EdgeDetectionLine {
    /// Finds the trade that first showed an edge; `None` if no trade did. `test` must not contain any trades yet.
    pub(crate) fn find(trades: &[JudgedTrade], test: EdgeTest) -> Option<Self> {
        EdgeDetection::find(trades, test).map(|shown| Self::from_detection(&shown))
    }

    pub(crate) fn from_judged(trades: &[JudgedTrade], test: &EdgeTest) -> Option<Self> {
        let is_shown = test.verdict() == Verdict::EdgeShown;
        is_shown.then(|| Self::find(trades, EdgeTest::new(test.plan()).with_weight(test.weight())))?
    }

    fn from_detection(shown: &EdgeDetection) -> Self {
        let ended = || shown.later_trades.iter().filter(|trade| !trade.is_unopened());
        let count = |outcome| ended().filter(|trade| trade_outcome(trade) == Some(outcome)).count() as u64;
        let (won, lost) = (count(Outcome::Won), count(Outcome::Lost));
        let decided = ended().filter(|trade| {
            trade_outcome(trade).is_some_and(|outcome| matches!(outcome, Outcome::Won | Outcome::Lost))
        });
        let win_rate = (won + lost > 0).then(|| won as f64 / (won + lost) as f64);
        let break_even = mean_break_even(decided);
        let is_enough = won + lost >= shown.after_trades.max(MIN_LATER_TRADES);
        Self {
            after_trades: shown.after_trades,
            at: Some(shown.at).filter(|at| is_calendar_time(*at)),
            won_since: won,
            lost_since: lost,
            draw_since: count(Outcome::Draw),
            win_rate_since: win_rate,
            break_even_since: break_even,
            is_supported_since: win_rate
                .zip(break_even)
                .filter(|_| is_enough)
                .map(|(rate, needed)| rate > needed),
        }
    }

    const fn later_trades(&self) -> u64 {
        self.won_since + self.lost_since + self.draw_since
    }

    pub fn describe(&self) -> String {
        let since = self.later_trades();
        let all = self.after_trades + since;
        let shown = format!("edge shown after trade {} of {all}{}", self.after_trades, self.date_suffix());
        match (since, self.later_win_rate()) {
            (0, _) => shown,
            (_, None) => format!("{shown}; {since} since then"),
            (_, Some(words)) => format!("{shown}; since then {words}"),
        }
    }

    fn date_suffix(&self) -> String {
        self.at.map(|at| format_time(at, " on %Y-%m-%d")).unwrap_or_default()
    }

    fn later_win_rate(&self) -> Option<String> {
        let won = format!("{:.2} % won", self.win_rate_since? * 100.0);
        Some(
            self.break_even_since
                .map_or_else(|| won.clone(), |needed| format!("{won} (break-even {:.2} %)", needed * 100.0)),
        )
    }

    pub(crate) fn finding(&self) -> Option<Finding> {
        let words = self.later_win_rate().filter(|_| self.is_supported_since == Some(false))?;
        let text = format!(
            "The edge did not last: its evidence reached the threshold after trade {}{}, but the {} later \
             trades do not support it: {words}.",
            self.after_trades,
            self.date_suffix(),
            self.later_trades()
        );
        Some(FindingKind::EdgeDidNotLast.serious(text))
    }
}

pub(crate) fn explain_interval(
    verdict: &str,
    interval: Option<[f64; 2]>,
    delta: f64,
) -> Option<&'static str> {
    let [low, high] = interval?;
    match verdict {
        "edge_shown" if low <= 0.0 => Some(
            "The 95 % interval still includes 0. The verdict is one-sided, so it can show an edge before the interval \
             excludes 0, and later trades do not revoke it",
        ),
        "edge_rejected" if high >= delta => Some(
            "The 95 % interval still includes the tested edge. The verdict is one-sided, so it can rule out an edge \
             before the interval does",
        ),
        _ => None,
    }
}

fn trade_outcome(trade: &JudgedTrade) -> Option<Outcome> {
    trade.ended.map(|(_, outcome)| outcome)
}

fn mean_break_even<'a>(mut decided: impl Iterator<Item = &'a JudgedTrade>) -> Option<f64> {
    let mut needed = MeanBreakEven::default();
    let is_known = decided
        .all(|trade| trade.payout.is_some_and(|payout| needed.add(Payout::to_fraction(payout)).is_ok()));
    needed.mean().filter(|_| is_known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::SymbolId;

    fn line(after_trades: u64, won: u32, lost: u32) -> EdgeDetectionLine {
        let (decided, payout) = (Millis::ZERO, Payout::from_percent(85.into()).ok());
        let trade = |outcome| {
            let ended = Some((decided, outcome));
            JudgedTrade { symbol: SymbolId::FIRST, decided, answered: None, payout, ended, sequence: None }
        };
        let won = (0..won).map(|_| trade(Outcome::Won));
        let since = won.chain((0..lost).map(|_| trade(Outcome::Lost))).collect();
        EdgeDetectionLine::from_detection(&EdgeDetection {
            at: Millis::new(1_767_571_200_000),
            after_trades,
            later_trades: since,
        })
    }

    /// At a payout of 85 %, the break-even win rate is 1 / 1.85 = 54.05 %.
    #[test]
    fn compares_later_trades_with_break_even_if_there_are_enough() {
        for (after, won, lost, expected) in
            [(43, 347, 302, Some(false)), (43, 360, 289, Some(true)), (10, 0, 29, None), (100, 0, 99, None)]
        {
            let line = line(after, won, lost);
            assert_eq!(line.is_supported_since, expected, "{after} {won} {lost}");
            assert_eq!(line.finding().is_some(), expected == Some(false), "{after} {won} {lost}");
        }
    }

    #[test]
    fn explains_interval_that_contradicts_the_verdict() {
        assert!(explain_interval("edge_shown", Some([-0.07, 0.12]), 0.04).is_some());
        assert!(explain_interval("edge_shown", Some([0.01, 0.12]), 0.04).is_none());
        assert!(explain_interval("edge_rejected", Some([-0.07, 0.12]), 0.04).is_some());
        assert!(explain_interval("not_enough_trades", Some([-0.07, 0.12]), 0.04).is_none());
    }
}
