//! Parity check: replays a journal with this program, and compares decisions and outcomes with the recorded ones.

mod decisions;
mod outcomes;

use crate::RecordsError;
use crate::contents::{JournalContents, compacted_before};
use crate::lines::read_unverified_lines;
use crate::moment::{count_text, format_number, format_utc};
use crate::run::{FILE_CHANGED, FILE_OR_PART_CHANGED, RecordedRun};
use crate::table::{table, table_text};
use candlewick_journal::{JournalError, Reader};
use candlewick_sdk::{Outcome, Registry, format_price};
use decisions::{DecisionComparison, Difference, UncomparedDecisions};
use outcomes::{DifferingTrade, OutcomeComparison};
use serde::Serialize;
use std::fmt::{self, Display};

pub async fn check(reader: &mut Reader, registry: &Registry) -> Result<ParityReport, RecordsError> {
    let chain = match reader.verify().await {
        Ok(verified) => ChainCheck::Whole { entries: verified.entries },
        Err(JournalError::BrokenChain { seq, reason, .. }) => ChainCheck::Broken { seq, reason },
        Err(error) => return Err(error.into()),
    };
    let lines = match read_unverified_lines(reader).await {
        Ok(lines) => lines,
        // The check of the hash chain already reports the unreadable row.
        Err(JournalError::BrokenChain { .. }) => return Ok(ParityReport::for_unreadable_journal(chain)),
        Err(error) => return Err(error.into()),
    };
    if let Some(since) = compacted_before(&lines).filter(|_| chain.is_intact()) {
        return Err(RecordsError::Compacted { since });
    }
    let runs = match RecordedRun::read_all(&lines) {
        Ok(runs) => runs,
        Err(_) if !chain.is_intact() => return Ok(ParityReport::for_unreadable_journal(chain)),
        Err(failure) => return Err(failure),
    };
    let decisions = DecisionComparison::compare(&lines, &runs, registry)?;
    let outcomes = if decisions.difference.is_none() && chain.is_intact() {
        Some(OutcomeComparison::compare(&JournalContents::read(reader).await?, &lines)?)
    } else {
        None
    };
    Ok(ParityReport::new(chain, runs.len(), decisions, outcomes))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Cause {
    Latency,
    PriceSource,
    Payout,
    Refusal,
    Gap,
    EndOfRecording,
    Unexplained,
}

impl Cause {
    const LABELS: [(&'static str, &'static str); 7] = [
        (
            "latency",
            "the recorded latency differs from the configured latency; `backtest --latency-from` uses recorded latencies",
        ),
        (
            "price_source",
            "the venue's price is within the recorded candle, but differs from the simulated price",
        ),
        ("payout", "the venue's payout differs from the configured payout"),
        ("refusal", "the venue declined the order, the order was not sent, or its status is unknown"),
        ("gap", "candles around the open or close are missing from the journal"),
        ("end_of_recording", "the journal ends before the settlement"),
        ("unexplained", "no known cause: the terms of the trade do not explain the recorded outcome"),
    ];

    const fn as_str(self) -> &'static str {
        Self::LABELS[self as usize].0
    }
}

fn outcome_text(result: &str, open: Option<f64>, close: Option<f64>) -> String {
    let price = |price: Option<f64>| price.map_or("?".to_owned(), format_price);
    format!("{result} {} to {}", price(open), price(close))
}

#[derive(Debug, Serialize)]
pub struct ParityReport {
    pub ok: bool,
    chain: ChainCheck,
    runs: usize,
    /// Compared decisions; `None` if the journal could not be read to the end.
    decisions: Option<DecisionComparison>,
    /// Compared outcomes; `None` if a decision differs or if the hash chain is broken.
    outcomes: Option<OutcomeComparison>,
    unexplained: usize,
}

#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ChainCheck {
    Whole { entries: u64 },
    Broken { seq: u64, reason: String },
}

impl ChainCheck {
    const fn is_intact(&self) -> bool {
        matches!(self, Self::Whole { .. })
    }
}

impl ParityReport {
    const fn for_unreadable_journal(chain: ChainCheck) -> Self {
        Self { ok: false, chain, runs: 0, decisions: None, outcomes: None, unexplained: 0 }
    }

    fn new(
        chain: ChainCheck,
        runs: usize,
        decisions: DecisionComparison,
        outcomes: Option<OutcomeComparison>,
    ) -> Self {
        let unexplained = outcomes.as_ref().map_or(0, OutcomeComparison::unexplained_count);
        let ok = chain.is_intact() && decisions.difference.is_none() && unexplained == 0;
        Self { ok, chain, runs, decisions: Some(decisions), outcomes, unexplained }
    }

    pub fn problem(&self) -> String {
        let mut problems = Vec::new();
        if let ChainCheck::Broken { seq, reason } = &self.chain {
            problems.push(format!("the journal was changed at entry {seq}: {reason}"));
        }
        if let Some(difference) = self.difference() {
            let Difference { seq, run, problem, expected, got } = difference;
            let value = |name: &str, value: &Option<serde_json::Value>| {
                value.as_ref().map(|value| format!("; {name} {value}")).unwrap_or_default()
            };
            let (recorded, replayed) = (value("recorded", expected), value("replayed", got));
            problems
                .push(format!("first difference at entry {seq} of run {run}: {problem}{recorded}{replayed}"));
        }
        if self.unexplained > 0 {
            let all = self.outcomes.iter().flat_map(|outcomes| &outcomes.differing);
            let unexplained = all.filter(|one| one.causes.contains(&Cause::Unexplained));
            let intents = unexplained.map(|one| format!("#{}", one.recorded.intent_id)).take(20);
            problems.push(format!(
                "{} without a known cause: trades {}",
                count_text(self.unexplained, "outcome differs", "outcomes differ"),
                intents.collect::<Vec<_>>().join(", ")
            ));
        }
        problems.join("; ")
    }

    pub fn advice(&self) -> &'static str {
        let is_intact = self.chain.is_intact();
        match self.decisions.as_ref().map(|decisions| decisions.difference.is_some()) {
            Some(false) if is_intact => {
                "check each of these trades with `candlewick explain NUMBER`; all other figures are valid"
            }
            Some(true) if is_intact && self.problem_contains(FILE_OR_PART_CHANGED) => {
                "restore the original files of the run; if the files are unchanged, use the program version that wrote the journal"
            }
            Some(true) if is_intact && self.problem_contains(FILE_CHANGED) => {
                "restore the original file of the run: the changed file defines a different strategy"
            }
            Some(true) if is_intact => {
                "the journal is unchanged, but this program decides differently: use the program version that wrote it"
            }
            Some(_) | None => "do not trust any figure of this journal from the changed entry on",
        }
    }

    fn problem_contains(&self, cause: &str) -> bool {
        self.difference().is_some_and(|difference| difference.problem.contains(cause))
    }

    fn difference(&self) -> Option<&Difference> {
        self.decisions.as_ref()?.difference.as_ref()
    }
}

impl Display for ParityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut figures = table(["parity", ""]);
        let chain = match &self.chain {
            ChainCheck::Whole { entries } => {
                format!("unchanged, {}", count_text(*entries, "entry", "entries"))
            }
            ChainCheck::Broken { seq, reason } => format!("broken at entry {seq}: {reason}"),
        };
        figures.add_row(["hash chain".to_owned(), chain]);
        figures.add_row(["runs".to_owned(), self.runs.to_string()]);
        if let Some(decisions) = &self.decisions {
            let text = match &decisions.difference {
                None => decisions.summary(),
                Some(difference) => format!("differ at entry {}: {}", difference.seq, difference.problem),
            };
            figures.add_row(["decisions".to_owned(), text]);
            for UncomparedDecisions { seq, run } in &decisions.not_compared {
                let text =
                    format!("run {run}, from entry {seq} on: a decision depends on an obsolete verdict rule");
                figures.add_row(["  not compared".to_owned(), text]);
            }
        }
        if let Some(outcomes) = &self.outcomes {
            let all = count_text(outcomes.intents, "trade", "trades");
            let text = format!("{} of {all} match the simulation", format_number(outcomes.agree));
            figures.add_row(["outcomes".to_owned(), text]);
            for (name, _) in Cause::LABELS {
                if let Some(count) = outcomes.causes.get(name) {
                    figures.add_row([format!("  differ by {name}"), format_number(count)]);
                }
            }
        }
        f.write_str(&figures.render())?;
        match &self.outcomes {
            Some(outcomes) if !outcomes.differing.is_empty() => {
                write!(f, "\n\n{}\n", render_differing_trades(&outcomes.differing))?;
                let mut met = Cause::LABELS.iter().filter(|(name, _)| outcomes.causes.contains_key(name));
                met.try_for_each(|(name, description)| write!(f, "\n{name}: {description}"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn render_differing_trades(differing: &[DifferingTrade]) -> String {
    let row = |DifferingTrade { recorded, simulated, decide_to_open_ms, causes }: &DifferingTrade| {
        let names: Vec<&str> = causes.iter().map(|cause| cause.as_str()).collect();
        let result = recorded.result.map_or(recorded.state, Outcome::as_str);
        [
            format!("#{}", recorded.intent_id),
            recorded.bot.clone(),
            format_utc(recorded.decision_time),
            decide_to_open_ms.map_or("-".to_owned(), |delay| delay.to_string()),
            outcome_text(result, recorded.open_price, recorded.close_price),
            simulated.to_string(),
            names.join(", "),
        ]
    };
    let header = ["trade", "bot", "decided", "to open, ms", "recorded", "simulated", "cause"];
    table_text(header, differing.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_prices_to_significant_digits() {
        let price = Some(1.576_093_999_999_999_9);
        assert_eq!(outcome_text("WON", price, Some(93_663.5)), "WON 1.576094 to 93663.5");
        assert_eq!(outcome_text("OPEN", Some(1.25), None), "OPEN 1.25 to ?");
    }
}
