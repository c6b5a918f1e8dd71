//! The verdict on one bot and its confidence intervals, as JSON and text.

use crate::moment::{count_text, format_utc};
use candlewick_engine::{BotVerdict, IntentRow, TradeBook, edge_sequence};
use candlewick_sdk::Millis;
use candlewick_statistics::{ConfidenceInterval, ConfidenceSequence, EdgeTest, Verdict};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictLine {
    pub bot: String,
    /// Name of the verdict: `edge_shown`, `edge_rejected`, `edge_no_longer_held` or `not_enough_trades`.
    pub verdict: &'static str,
    pub trades: u64,
    /// Number of trades whose result an operator entered. These trades do not count as evidence.
    pub settled_by_person: u64,
    pub about_more_trades: Option<u64>,
    /// Evidence for an edge: the value of an account that starts at 1 and bets on the edge.
    pub account_for: f64,
    pub account_against: f64,
    /// Value of `account_for` that shows an edge: `1 / (alpha x weight)`. `None` if the bot has no weight.
    pub threshold_for: Option<f64>,
    /// Value of `account_against` that rules out an edge: `1 / beta`.
    pub threshold_against: f64,
    pub since_intent: u64,
    /// Time at which an edge shown earlier stopped holding; `None` if no such change was detected.
    pub no_longer_held_since: Option<Millis>,
    #[serde(flatten)]
    pub intervals: EdgeIntervals,
}

impl VerdictLine {
    pub fn new((bot, place): (&str, usize), verdict: &BotVerdict, book: &TradeBook) -> Self {
        let is_own = |row: &&IntentRow| {
            let terms = &row.approved;
            terms.bot().index() == place && terms.intent() >= verdict.first_intent()
        };
        let own: Vec<&IntentRow> = book.rows().iter().filter(is_own).collect();
        let manual = own.iter().filter(|row| book.is_settled_by_operator(row.approved.intent()));
        let intervals = EdgeIntervals::from_sequence(&edge_sequence(own.iter().copied()));
        Self::from_verdict(bot, verdict, (manual.count() as u64, intervals))
    }

    pub fn from_verdict(bot: &str, verdict: &BotVerdict, (manual, intervals): (u64, EdgeIntervals)) -> Self {
        let test = verdict.edge_test();
        let no_longer_held_since = verdict.judge().no_longer_held_since();
        let (mut name, about_more_trades) = verdict_name(test);
        if no_longer_held_since.is_some() {
            name = EDGE_NO_LONGER_HELD;
        }
        Self {
            bot: bot.to_owned(),
            verdict: name,
            trades: test.settled(),
            settled_by_person: manual,
            about_more_trades,
            account_for: test.edge_account(),
            account_against: test.mirror_account(),
            threshold_for: edge_threshold(test),
            threshold_against: test.plan().beta().recip(),
            since_intent: verdict.first_intent().number(),
            no_longer_held_since,
            intervals,
        }
    }

    /// Replaces *edge shown*, which trades on past candles cannot show.
    #[must_use]
    pub fn on_past_candles(self) -> Self {
        if self.verdict == "edge_shown" { Self { verdict: EXPLORATORY, ..self } } else { self }
    }

    pub fn describe(&self) -> String {
        let Self { bot, trades, account_for, account_against, threshold_for, threshold_against, .. } = self;
        let trades = count_text(*trades, "trade", "trades");
        let (needed, against) = (threshold_text(*threshold_for), threshold_text(Some(*threshold_against)));
        let verdict = self.no_longer_held_since.map_or_else(
            || verdict_text(self.verdict, self.about_more_trades),
            |since| no_longer_held_text(&format_utc(since)),
        );
        let interval = self.intervals.edge_text();
        let interval = interval.map(|interval| format!(", edge {interval} of the stake")).unwrap_or_default();
        let manual = match self.settled_by_person {
            0 => String::new(),
            count => format!(" ({count} manually settled, excluded)"),
        };
        format!(
            "{bot}: {verdict}; {trades}{manual}{interval}, evidence {account_for:.3} for an edge (threshold {needed}) and {account_against:.3} against it (threshold {against})"
        )
    }
}

/// Returns the value of the test's account that would show an edge; `None` if the bot has no part of alpha.
pub fn edge_threshold(test: &EdgeTest) -> Option<f64> {
    Some(test.goal()).filter(|goal| goal.is_finite())
}

pub fn threshold_text(threshold: Option<f64>) -> String {
    match threshold {
        None => "none".to_owned(),
        Some(threshold) if (threshold - threshold.round()).abs() < 1e-6 => format!("{threshold:.0}"),
        Some(threshold) => format!("{threshold:.1}"),
    }
}

pub const EDGE_NO_LONGER_HELD: &str = "edge_no_longer_held";
/// Verdict on trades on explored candles, whose evidence does not rule out an edge.
pub const EXPLORATORY: &str = "exploratory";
/// Verdict on trades on synthetic candles, whose evidence does not rule out an edge.
pub const PRACTICE: &str = "practice";

pub fn no_longer_held_text(since: &str) -> String {
    format!("the edge has not held since {since} (it has ended, or was smaller from the start)")
}

pub fn withheld_verdict_text(reasons: &[String], no_longer_held_since: Option<&str>) -> String {
    let since = no_longer_held_since.map(|since| format!("; also {}", no_longer_held_text(since)));
    format!("edge withheld: {}{}", reasons.join("; "), since.unwrap_or_default())
}

pub fn verdict_name(test: &EdgeTest) -> (&'static str, Option<u64>) {
    match test.verdict() {
        Verdict::EdgeShown => ("edge_shown", None),
        Verdict::EdgeRejected => ("edge_rejected", None),
        Verdict::NotEnoughTrades { expected_more_trades: about_more } => ("not_enough_trades", about_more),
    }
}

pub fn verdict_text(verdict: &str, about_more: Option<u64>) -> String {
    match (verdict, about_more) {
        ("edge_shown", _) => "edge shown".to_owned(),
        ("edge_rejected", _) => "no edge".to_owned(),
        (EXPLORATORY | PRACTICE, _) => verdict.to_owned(),
        (_, Some(more)) => format!("not enough trades yet (about {})", count_text(more, "more", "more")),
        (_, None) => "not enough trades yet".to_owned(),
    }
}

const CONFIDENCE_LEVEL: f64 = 0.95;

/// Anytime-valid confidence intervals. A lower bound above the upper bound means that the true value has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EdgeIntervals {
    /// 95 % confidence sequence of the mean return per unit of stake; `None` before the first trade.
    pub edge_sequence_95: Option<[f64; 2]>,
    pub win_rate_sequence_95: Option<[f64; 2]>,
}

impl EdgeIntervals {
    pub fn from_sequence(sequence: &ConfidenceSequence) -> Self {
        if sequence.settled() == 0 {
            return Self::default();
        }
        let ends = |interval: ConfidenceInterval| [interval.lower, interval.upper];
        Self {
            edge_sequence_95: sequence.edge(CONFIDENCE_LEVEL).ok().map(ends),
            win_rate_sequence_95: sequence.win_rate(CONFIDENCE_LEVEL).ok().map(ends),
        }
    }

    pub fn edge_text(&self) -> Option<String> {
        self.edge_sequence_95.map(|ends| interval_text(ends, |end| format!("{:+.2} %", end * 100.0), "edge"))
    }

    pub fn win_rate_text(&self) -> Option<String> {
        self.win_rate_sequence_95
            .map(|ends| interval_text(ends, |end| format!("{:.2} %", end * 100.0), "win rate"))
    }
}

fn interval_text([low, high]: [f64; 2], text: impl Fn(f64) -> String, name: &str) -> String {
    if low <= high {
        format!("{} to {}", text(low), text(high))
    } else {
        format!(
            "the {name} has changed: it was above {} at one time and below {} at another",
            text(low),
            text(high)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_edge_that_is_withheld_and_no_longer_held() {
        let reasons = ["prices are coarse".to_owned(), "payouts are high".to_owned()];
        let one = withheld_verdict_text(&reasons, None);
        let both = withheld_verdict_text(&reasons, Some(&format_utc(Millis::ZERO)));
        for words in [&one, &both] {
            assert!(words.contains("withheld: prices are coarse; payouts are high"), "{words}");
        }
        assert_eq!([one, both].map(|words| words.contains("has not held since 1970-01-01")), [false, true]);
    }

    #[test]
    fn describes_crossed_interval() {
        let intervals = |edge| EdgeIntervals { edge_sequence_95: Some(edge), ..EdgeIntervals::default() };
        assert_eq!(intervals([-0.012, 0.0345]).edge_text().unwrap(), "-1.20 % to +3.45 %");
        let crossed = intervals([0.04, -0.05]).edge_text().unwrap();
        assert!(crossed.contains("above +4.00 %") && crossed.contains("below -5.00 %"), "{crossed}");
        assert_eq!(EdgeIntervals::from_sequence(&ConfidenceSequence::new()), EdgeIntervals::default());
    }
}
