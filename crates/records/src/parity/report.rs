//! Findings of a parity check, as a table or JSON.

use super::cause::Cause;
use super::decisions::{Decisions, NotCompared};
use super::outcomes::{Differing, Outcomes};
use super::prices::prices;
use crate::count::counted;
use crate::moment::utc;
use crate::run::{ANOTHER_OR_PART, ANOTHER_SINCE};
use crate::table::table;
use serde::Serialize;
use std::fmt::{self, Display, Write as _};

#[derive(Debug, Serialize)]
pub struct ParityReport {
    pub ok: bool,
    chain: ChainCheck,
    runs: usize,
    /// `None` if the journal could not be read to the end.
    decisions: Option<Decisions>,
    /// `None` if decisions already differ.
    outcomes: Option<Outcomes>,
    unexplained: usize,
}

#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ChainCheck {
    Whole { entries: u64 },
    Broken { seq: u64, reason: String },
}

impl ChainCheck {
    pub(super) const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole { .. })
    }
}

impl ParityReport {
    pub(super) const fn unread(chain: ChainCheck) -> Self {
        Self { ok: false, chain, runs: 0, decisions: None, outcomes: None, unexplained: 0 }
    }

    pub(super) fn of(
        chain: ChainCheck,
        runs: usize,
        decisions: Decisions,
        outcomes: Option<Outcomes>,
    ) -> Self {
        let unexplained = outcomes.as_ref().map_or(0, Outcomes::unexplained);
        let ok = chain.is_whole() && decisions.difference.is_none() && unexplained == 0;
        Self { ok, chain, runs, decisions: Some(decisions), outcomes, unexplained }
    }

    pub fn problem(&self) -> String {
        let mut problems = Vec::new();
        if let ChainCheck::Broken { seq, reason } = &self.chain {
            problems.push(format!("the journal is not as it was written from entry {seq} on: {reason}"));
        }
        if let Some(difference) = self.decisions.as_ref().and_then(|decisions| decisions.difference.as_ref())
        {
            let value = |name: &str, value: &Option<serde_json::Value>| {
                value.as_ref().map(|value| format!("; {name} {value}")).unwrap_or_default()
            };
            problems.push(format!(
                "first difference at entry {} of run {}: {}{}{}",
                difference.seq,
                difference.run,
                difference.problem,
                value("recorded", &difference.expected),
                value("replayed", &difference.got),
            ));
        }
        if self.unexplained > 0 {
            let intents: Vec<String> = self
                .differing_for(Cause::Unexplained)
                .map(|one| one.recorded.intent_id.to_string())
                .take(20)
                .collect();
            problems.push(format!(
                "{} without a cause: intents {}",
                counted(self.unexplained, "outcome differs", "outcomes differ"),
                intents.join(", ")
            ));
        }
        problems.join("; ")
    }

    pub fn advice(&self) -> &'static str {
        let is_whole = self.chain.is_whole();
        match self.decisions.as_ref().map(|decisions| decisions.difference.is_some()) {
            Some(false) if is_whole => {
                "look at each of these trades with `candlewick explain INTENT`; the figures of all others hold"
            }
            Some(true) if is_whole && self.says(ANOTHER_OR_PART) => {
                "put the files back as they were when the run began; if they are, read the journal with the program that wrote it"
            }
            Some(true) if is_whole && self.says(ANOTHER_SINCE) => {
                "put the file back as it was when the run began: what it holds now is another strategy, and decides otherwise"
            }
            Some(true) if is_whole => {
                "the journal is as it was written, but this program decides otherwise: read it with the program that wrote it"
            }
            Some(_) | None => "trust no figure of this journal from there on",
        }
    }

    fn says(&self, cause: &str) -> bool {
        let difference = self.decisions.as_ref().and_then(|decisions| decisions.difference.as_ref());
        difference.is_some_and(|difference| difference.problem.contains(cause))
    }

    fn differing_for(&self, cause: Cause) -> impl Iterator<Item = &Differing> {
        let all = self.outcomes.iter().flat_map(|outcomes| &outcomes.differing);
        all.filter(move |one| one.causes.contains(&cause))
    }
}

impl Display for ParityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut figures = table(["parity", ""]);
        let chain = match &self.chain {
            ChainCheck::Whole { entries } => format!("whole, {}", counted(*entries, "entry", "entries")),
            ChainCheck::Broken { seq, reason } => format!("broken at entry {seq}: {reason}"),
        };
        figures.add_row(["chain of entries".to_owned(), chain]);
        figures.add_row(["runs".to_owned(), self.runs.to_string()]);
        if let Some(decisions) = &self.decisions {
            let text = match &decisions.difference {
                None => decisions.words(),
                Some(difference) => format!("differ at entry {}: {}", difference.seq, difference.problem),
            };
            figures.add_row(["decisions".to_owned(), text]);
            for NotCompared { seq, run } in &decisions.not_compared {
                let text = format!(
                    "run {run} from entry {seq} on: a trade was refused, or was not, by a verdict of an earlier rule"
                );
                figures.add_row(["  not compared".to_owned(), text]);
            }
        }
        if let Some(outcomes) = &self.outcomes {
            let text = format!("{} of {} intents come out as simulated", outcomes.agree, outcomes.intents);
            figures.add_row(["outcomes".to_owned(), text]);
            for cause in Cause::ALL {
                if let Some(count) = outcomes.causes.get(cause.as_str()) {
                    figures.add_row([format!("  differ by {cause}"), count.to_string()]);
                }
            }
        }
        f.write_str(&figures.trim_fmt())?;
        match &self.outcomes {
            Some(outcomes) if !outcomes.differing.is_empty() => {
                write!(f, "\n\n{}\n", table_of(&outcomes.differing))?;
                let met = |cause: &Cause| outcomes.causes.contains_key(cause.as_str());
                Cause::ALL
                    .into_iter()
                    .filter(met)
                    .try_for_each(|cause| write!(f, "\n{cause}: {}", cause.words()))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn table_of(differing: &[Differing]) -> String {
    let mut rows = table(["intent", "bot", "decided", "to open ms", "recorded", "simulated", "cause"]);
    for Differing { recorded, simulated, decide_to_open_ms, causes } in differing {
        let mut names = String::new();
        for cause in causes {
            let _ = write!(names, "{}{cause}", if names.is_empty() { "" } else { ", " });
        }
        let result = recorded.result.map_or(recorded.state.to_owned(), |result| result.to_string());
        rows.add_row([
            recorded.intent_id.to_string(),
            recorded.bot.clone(),
            utc(recorded.decision_time),
            decide_to_open_ms.map_or("-".to_owned(), |delay| delay.to_string()),
            prices(&result, recorded.open_price, recorded.close_price),
            simulated.to_string(),
            names,
        ]);
    }
    rows.trim_fmt()
}
