//! Report of a guided search: findings per step, conclusion and next steps.

mod conclusion;

use crate::ReportError;
use crate::conditions::ConditionLine;
use crate::figure::{capitalise, format_number, prefixed_lines};
use crate::page::{DataTable, TunePage};
use crate::sweep::SweepReport;
use crate::walk_forward::WalkForwardSummary;
use candlewick_records::table_text;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

pub use conclusion::Conclusion;

pub struct TuneResult<'a> {
    pub bot: TunedBot,
    pub candles: Vec<StepResult>,
    pub strategy_check: StepResult,
    pub sweep: Option<&'a SweepReport>,
    pub walk_forward: WalkForwardSummary<'a>,
    pub conditions: Vec<ConditionLine>,
    pub gate: Option<TunedGate>,
    pub notices: Vec<String>,
    pub hints: TuneHints,
    pub files: Vec<PathBuf>,
}

#[derive(Clone, Debug, Serialize)]
pub struct TunedBot {
    pub name: String,
    pub series: String,
    pub strategy: String,
    pub version: String,
    /// Names of the searched parameters; empty if the bot was tested only with its configured values.
    pub searched: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct StepResult {
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub text: String,
    pub document: Value,
}

const CONDITIONS_HEADING: &str = "Conditions with configured parameters";

#[derive(Clone, Debug, Default)]
pub struct TuneHints {
    /// Configuration file with the best parameter set or the unchanged bot; `None` if no set qualified.
    pub best_file: Option<PathBuf>,
    /// Command-line arguments that run `best`: the base configuration, followed by `--config` with this file.
    pub arguments: String,
    pub more_candles_hint: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct TunedGate {
    pub gate: String,
    pub signals: u64,
    pub traded: u64,
}

impl TunedGate {
    pub(crate) const fn blocks_most_signals(&self) -> bool {
        self.signals > 0 && 2 * self.traded < self.signals
    }

    fn describe(&self) -> String {
        let [signals, traded, blocked] =
            [self.signals, self.traded, self.signals - self.traded].map(format_number);
        format!("{traded} of {signals} signals were traded, {blocked} blocked by the gate: {}", self.gate)
    }
}

#[derive(Serialize)]
pub struct TuneReport<'a> {
    conclusion: Conclusion,
    words: String,
    next: Vec<String>,
    bot: TunedBot,
    candles: Vec<StepResult>,
    strategy_check: StepResult,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<TunedGate>,
    best: Option<PathBuf>,
    sweep: Option<&'a SweepReport>,
    walk_forward: WalkForwardSummary<'a>,
    notices: Vec<String>,
    files: Vec<PathBuf>,
}

impl<'a> TuneReport<'a> {
    pub fn new(result: TuneResult<'a>) -> Self {
        let TuneResult { bot, candles, strategy_check, conditions, sweep, walk_forward, .. } = result;
        let TuneResult { mut notices, hints: places, files, gate, .. } = result;
        notices.extend(ConditionLine::describe_always_true(&conditions));
        notices.extend(ConditionLine::describe_overlaps(&conditions));
        let report = walk_forward.report;
        let conclusion = Conclusion::from_report(report);
        let words = conclusion.describe(report, gate.as_ref());
        Self {
            conclusion,
            words: report.headlines().chain([words.as_str()]).collect::<Vec<_>>().join(" "),
            next: conclusion.next_steps(report, (&conditions, gate.as_ref()), &places),
            bot,
            candles,
            strategy_check,
            conditions,
            gate,
            best: places.best_file,
            sweep,
            walk_forward,
            notices,
            files,
        }
    }

    pub const fn conclusion(&self) -> Conclusion {
        self.conclusion
    }

    pub fn add_written_file(&mut self, file: PathBuf) {
        self.files.push(file);
    }

    fn steps(&self) -> Vec<(String, String)> {
        let candles = self.candles.iter();
        let mut steps: Vec<(String, String)> =
            candles.map(|part| (format!("candles {}", part.name), part.text.clone())).collect();
        steps.push((self.strategy_check.name.clone(), self.strategy_check.text.clone()));
        steps.extend(self.gate.iter().map(|gate| ("gate".to_owned(), gate.describe())));
        match self.sweep {
            None => steps.push((
                "sweep".to_owned(),
                "skipped: no parameter has a range, so the bot is tested as configured".to_owned(),
            )),
            Some(sweep) => {
                steps.push(("sweep".to_owned(), sweep.summary()));
                let luck = sweep.luck.iter().map(|luck| luck.interpretation().to_owned());
                steps.extend(luck.map(|text| ("luck of the best set".to_owned(), text)));
            }
        }
        let report = self.walk_forward.report;
        steps.push(("walk-forward".to_owned(), report.summary()));
        steps.push(("verdict on the tests".to_owned(), report.edge.describe()));
        steps
    }

    fn notes(&self) -> Vec<&str> {
        let mut notes: Vec<&str> = Vec::new();
        let sweep = self.sweep.into_iter().flat_map(|sweep| &sweep.notices);
        for note in self.notices.iter().chain(sweep).chain(&self.walk_forward.report.notices) {
            if !notes.contains(&note.as_str()) {
                notes.push(note);
            }
        }
        notes
    }
}

impl TuneReport<'_> {
    pub fn page(&self) -> Result<TunePage, ReportError> {
        let bot = &self.bot;
        let searched = format!("searched: {}", bot.searched.join(", "));
        let searched = if bot.searched.is_empty() { "tested as configured" } else { &searched };
        let rows = self.steps().into_iter().map(|(name, found)| vec![name, found]).collect();
        let steps = DataTable::new(["step", "result"], rows);
        let mut tables = vec![("steps", "Results by step", steps)];
        tables.extend(self.sweep.map(|sweep| ("best", "Best sets", sweep.best_table())));
        if !self.conditions.is_empty() {
            tables.push(("conditions", CONDITIONS_HEADING, ConditionLine::table(&self.conditions)));
        }
        tables.push(("windows", "Walk-forward windows", self.walk_forward.report.window_table()));
        let (class, headline) = self.conclusion.class_and_headline();
        Ok(TunePage {
            title: format!("{} on {}", bot.name, bot.series),
            subtitle: format!("{} {}, {searched}", bot.strategy, bot.version),
            class,
            headline,
            explanation: self.words.clone(),
            next_steps: self.next.clone(),
            tables,
            notes: self.notes().into_iter().map(str::to_owned).collect(),
            document: serde_json::to_value(self)?,
        })
    }
}

impl fmt::Display for TuneReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bot = &self.bot;
        writeln!(f, "{} on {}: {}\n", bot.name, bot.series, self.conclusion.class_and_headline().1)?;
        writeln!(f, "{}\n", self.words)?;
        let steps = self.steps().into_iter().map(|(name, found)| [name, found]);
        writeln!(f, "{}\n", table_text(["step", "result"], steps))?;
        if !self.conditions.is_empty() {
            let held = ConditionLine::table(&self.conditions).to_text();
            writeln!(f, "{CONDITIONS_HEADING}\n\n{held}\n")?;
        }
        writeln!(f, "Next")?;
        for (step, number) in self.next.iter().zip(1..) {
            writeln!(f, "{number}. {}.", capitalise(step))?;
        }
        let files = self.files.iter().map(|file| file.display());
        write!(f, "{}{}", prefixed_lines("note: ", self.notes()), prefixed_lines("wrote ", files))
    }
}
