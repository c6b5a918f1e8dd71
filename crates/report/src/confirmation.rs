//! Reports of confirmations: the plan before the test, and the answer.

use crate::run::{Caveats, RunReport, cancelled_reason};
use candlewick_engine::TradeBook;
use candlewick_records::{count_text, threshold_text};
use candlewick_sdk::Millis;
use candlewick_search::evidence::{
    Answer, Confirmation, FORECAST_EDGE_POINTS, PlannedTest, SetForecast, day_of, last_day,
};
use serde::Serialize;
use std::fmt;

/// Text of the answer *not shown*. It is the same for losses, too few trades and failed replays.
const NOT_SHOWN: &str = "Not shown. The sealed candles do not show an edge at the threshold of this test.";
const NOTHING_REVEALED: &str = "This does not rule out an edge. With more candles, the same command continues\n\
                                this test. Nothing else is revealed, so the next test can use these days too.";
const REVEALED: &str = "These days are now explored days.";

/// Plan of a confirmation, as shown before the test begins.
pub struct ConfirmationPlan<'a> {
    pub test: &'a PlannedTest,
    /// Time of the first entry of the ledger.
    pub born: Option<Millis>,
    pub threshold: f64,
    pub sets: &'a [SetForecast],
}

/// Answer of a confirmation. Without revealed sets, its text depends on the answer only.
#[derive(Debug, Serialize)]
pub struct ConfirmationReport {
    answer: Answer,
    test: usize,
    threshold: f64,
    from: String,
    until: String,
    repeat: bool,
    sets: Vec<String>,
    #[serde(rename = "report", skip_serializing_if = "Vec::is_empty")]
    revealed: Vec<SetReport>,
    #[serde(skip)]
    is_open: bool,
}

/// Report on the trades of one revealed set.
#[derive(Debug, Serialize)]
pub struct SetReport {
    pub set: String,
    #[serde(skip)]
    pub is_shown: bool,
    #[serde(flatten)]
    pub run: RunReport,
}

/// Returns whether data gaps affected so many trades that a report would withhold an edge.
pub fn has_many_gaps(book: &TradeBook) -> bool {
    let mut caveats = Caveats::default();
    caveats.add_gap_reason(book);
    let ended = book.rows().iter().filter_map(|row| row.outcome);
    !caveats.withholding_reasons.is_empty() || cancelled_reason(ended).is_some()
}

impl ConfirmationPlan<'_> {
    /// Returns the question to ask before the test.
    pub fn question(&self) -> String {
        let number = self.test.number;
        match self.test.earlier {
            Some(_) => format!("This repeats test {number}. Continue?"),
            None => format!("This uses up test {number}. Continue?"),
        }
    }
}

impl fmt::Display for ConfirmationPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlannedTest { number, days, earlier } = self.test;
        let repeats = if earlier.is_some() { " (repeated)" } else { "" };
        let last = last_day(days);
        let count = count_text((days.end - days.start).num_days(), "day", "days");
        let sets = if self.sets.len() > 1 { " for each set" } else { "" };
        let born = self.born.map_or_else(String::new, |at| format!(", which begins on {}", day_of(at)));
        writeln!(f, "Test       {number} of this ledger{born}{repeats}")?;
        writeln!(f, "Days       sealed days {} to {last}, {count}", days.start)?;
        write!(f, "Threshold  {}{sets}", threshold_text(Some(self.threshold)))?;
        for SetForecast { name, trades, power } in self.sets {
            let trades = count_text(*trades, "trade", "trades");
            write!(f, "\nSet        {name}, about {trades} expected. ")?;
            match power {
                Some(power) => write!(
                    f,
                    "If the true win rate is {FORECAST_EDGE_POINTS} points above break-even, this test shows it \
                     in {:.0} of 100 cases.",
                    power * 100.0
                )?,
                None => {
                    f.write_str("It has no trades on the explored candles, so no edge can be expected.")?;
                }
            }
        }
        Ok(())
    }
}

impl ConfirmationReport {
    /// Builds the report. `is_open` states whether the days are revealed even if no edge is shown.
    pub fn new(
        confirmation: &Confirmation,
        (threshold, is_open): (f64, bool),
        (sets, revealed): (Vec<String>, Vec<SetReport>),
    ) -> Self {
        let Confirmation { number, answer, is_repeat, ref days, .. } = *confirmation;
        Self {
            answer,
            test: number,
            // Weights such as 0.8 are inexact in binary, but thresholds are whole numbers.
            threshold: (threshold * 1e6).round() / 1e6,
            from: days.start.to_string(),
            until: days.end.to_string(),
            repeat: is_repeat,
            sets,
            revealed,
            is_open,
        }
    }
}

impl fmt::Display for ConfirmationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.answer {
            Answer::NotShown if self.is_open => write!(f, "{NOT_SHOWN}\n{REVEALED}")?,
            Answer::NotShown => write!(f, "{NOT_SHOWN}\n{NOTHING_REVEALED}")?,
            Answer::Shown => {
                let shown = self.revealed.iter().filter(|set| set.is_shown).map(|set| set.set.as_str());
                let shown = shown.collect::<Vec<_>>().join(", ");
                write!(f, "Shown. The sealed candles show an edge of {shown}.\n{REVEALED}")?;
            }
        }
        for SetReport { set, run, .. } in &self.revealed {
            write!(f, "\n\n{set}\n\n{run}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_search::evidence::{SeenDays, day_of};

    /// Monday, 2026-01-05 00:00 UTC.
    const MONDAY: Millis = Millis::new(1_767_571_200_000);

    fn report(answer: Answer, (number, shown): (usize, &[bool]), is_open: bool) -> ConfirmationReport {
        let days = day_of(MONDAY)..day_of(MONDAY + Millis::DAY * 3);
        let (is_repeat, shown) = (number > 1, shown.to_vec());
        let seen = SeenDays::default();
        let confirmation = Confirmation { number, answer, is_repeat, days, shown, seen };
        ConfirmationReport::new(&confirmation, (24.999_999_999_999_996, is_open), (Vec::new(), Vec::new()))
    }

    #[test]
    fn text_of_not_shown_never_changes() {
        let first = report(Answer::NotShown, (1, &[false]), false).to_string();
        assert_eq!(first, format!("{NOT_SHOWN}\n{NOTHING_REVEALED}"));
        assert_eq!(report(Answer::NotShown, (7, &[]), false).to_string(), first);
        assert_ne!(report(Answer::NotShown, (1, &[false]), true).to_string(), first);
    }

    #[test]
    fn document_has_fixed_keys() {
        let document = serde_json::to_value(report(Answer::NotShown, (2, &[false]), false)).unwrap();
        let expected = serde_json::json!({
            "answer": "not_shown", "test": 2, "threshold": 25.0, "from": "2026-01-05", "until": "2026-01-08",
            "repeat": true, "sets": []
        });
        assert_eq!(document, expected);
    }

    #[test]
    fn plan_names_days_and_power() {
        let days = day_of(MONDAY)..day_of(MONDAY + Millis::DAY * 3);
        let test = PlannedTest { number: 3, days, earlier: None };
        let forecast = |power| SetForecast { name: "a.toml".to_owned(), trades: 1_480, power };
        let plan =
            ConfirmationPlan { test: &test, born: None, threshold: 600.0, sets: &[forecast(Some(0.721))] };
        let text = plan.to_string();
        for part in
            ["sealed days 2026-01-05 to 2026-01-07, 3 days", "600", "1,480 trades", "in 72 of 100 cases"]
        {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        assert_eq!(plan.question(), "This uses up test 3. Continue?");
    }
}
