//! The result of a guided search: what each step found, what it comes to, and what to do next.

mod conclusion;
mod page;
mod text;

pub use conclusion::Conclusion;

use crate::conditions::ConditionLine;
use crate::sweep::SweepReport;
use crate::walk_forward::{WalkForwardReport, WalkForwardSummary};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// What a report is made from.
pub struct TuneResult<'a> {
    /// What was tuned.
    pub bot: TunedBot,
    /// Each series that the bot needs.
    pub candles: Vec<FoundPart>,
    /// The checks of its strategy.
    pub strategy_check: FoundPart,
    /// The sweep; none where the bot has nothing to search.
    pub sweep: Option<&'a SweepReport>,
    /// The walk forward.
    pub walk_forward: WalkForwardSummary<'a>,
    /// How often the conditions of its rule held before the hold-out; nothing where it has none.
    pub conditions: Vec<ConditionLine>,
    /// What its gate made of its signals; none of a bot without one.
    pub gate: Option<TunedGate>,
    /// What is known of looks at the hold-out before this search.
    pub looks: Vec<String>,
    /// What the reader should know besides.
    pub notices: Vec<String>,
    /// Where things are.
    pub places: TunedPlaces,
    /// What was written.
    pub files: Vec<PathBuf>,
}

/// What was tuned.
#[derive(Clone, Debug, Serialize)]
pub struct TunedBot {
    /// The bot's name.
    pub name: String,
    /// Symbol and interval.
    pub series: String,
    /// Its strategy.
    pub strategy: String,
    /// The strategy's version.
    pub version: String,
    /// What was searched; nothing where it was tested as it stands.
    pub searched: Vec<String>,
}

/// What a step found: for people, and for machines.
#[derive(Clone, Debug)]
pub struct FoundPart {
    /// What was looked at.
    pub name: String,
    /// What was found, in words.
    pub words: String,
    /// The same as a document.
    pub document: Value,
}

/// What stands over the table of conditions.
const HELD: &str = "How often each condition held before the hold-out, with the bot's own numbers";

/// Where things are that the next step needs.
#[derive(Clone, Debug, Default)]
pub struct TunedPlaces {
    /// The configuration of the best set, or of the bot as it stands; none where nothing counted.
    pub best: Option<PathBuf>,
    /// The arguments that run it: `--config` and the file, behind the configuration that it is laid over.
    pub arguments: String,
    /// How there would be more candles.
    pub more: String,
}

/// What the gate of a bot made of its signals before the hold-out, with the bot's own numbers.
#[derive(Clone, Debug, Serialize)]
pub struct TunedGate {
    /// The gate in words.
    pub gate: String,
    /// Signals of the strategy whose end the candles show.
    pub signals: u64,
    /// Those that the gate let be traded; the others were virtual.
    pub traded: u64,
}

impl TunedGate {
    /// Whether most signals were virtual, so that trades are few because of it.
    pub(crate) const fn is_cause(&self) -> bool {
        self.signals > 0 && 2 * self.traded < self.signals
    }

    fn words(&self) -> String {
        let Self { gate, signals, traded } = self;
        format!(
            "{traded} of {signals} signals were traded, {} refused by the closed gate: {gate}",
            signals - traded
        )
    }
}

/// A guided search, reported.
#[derive(Serialize)]
pub struct TuneReport<'a> {
    conclusion: Conclusion,
    /// What it means.
    words: String,
    /// What to do next, the most useful first.
    next: Vec<String>,
    bot: TunedBot,
    #[serde(serialize_with = "documents")]
    candles: Vec<FoundPart>,
    #[serde(serialize_with = "document")]
    strategy_check: FoundPart,
    /// With the bot's own numbers, on the candles before the hold-out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionLine>,
    /// With the bot's own numbers, on the candles before the hold-out.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<TunedGate>,
    /// The best configuration.
    best: Option<PathBuf>,
    sweep: Option<&'a SweepReport>,
    walk_forward: WalkForwardSummary<'a>,
    /// What is known of looks at the hold-out before this search.
    #[serde(skip)]
    looks: Vec<String>,
    notices: Vec<String>,
    files: Vec<PathBuf>,
}

/// Puts the findings that are printed before a verdict in front of `words`.
fn with_headlines(report: &WalkForwardReport, words: &str) -> String {
    let mut sentences: Vec<&str> = report.headlines().collect();
    sentences.push(words);
    sentences.join(" ")
}

impl<'a> TuneReport<'a> {
    /// What the steps come to.
    pub fn of(result: TuneResult<'a>) -> Self {
        let TuneResult { bot, candles, strategy_check, conditions, sweep, walk_forward, .. } = result;
        let TuneResult { looks, mut notices, places, files, gate, .. } = result;
        notices.extend(ConditionLine::always(&conditions));
        notices.extend(ConditionLine::overlaps(&conditions));
        let conclusion = Conclusion::of(walk_forward.report);
        Self {
            conclusion,
            words: with_headlines(
                walk_forward.report,
                &conclusion.words(walk_forward.report, &looks, gate.as_ref()),
            ),
            next: conclusion.next(walk_forward.report, (&looks, &conditions, gate.as_ref()), &places),
            bot,
            candles,
            strategy_check,
            conditions,
            gate,
            best: places.best,
            sweep,
            walk_forward,
            looks,
            notices,
            files,
        }
    }

    /// What it comes to.
    pub const fn conclusion(&self) -> Conclusion {
        self.conclusion
    }

    /// Notes that a file was written.
    pub fn wrote(&mut self, file: PathBuf) {
        self.files.push(file);
    }

    /// Each step with what it found.
    fn steps(&self) -> Vec<(String, String)> {
        let mut steps = Vec::new();
        for part in &self.candles {
            steps.push((format!("candles {}", part.name), part.words.clone()));
        }
        steps.push((self.strategy_check.name.clone(), self.strategy_check.words.clone()));
        steps.extend(self.gate.iter().map(|gate| ("gate before the hold-out".to_owned(), gate.words())));
        match self.sweep {
            None => steps.push((
                "sweep".to_owned(),
                "skipped: there is no parameter with a range, so the bot is tested as it stands".to_owned(),
            )),
            Some(sweep) => {
                steps.push(("sweep before the hold-out".to_owned(), sweep.brief()));
                steps.extend(
                    sweep.luck_words().map(|words| ("luck of the best".to_owned(), words.to_owned())),
                );
            }
        }
        let report = self.walk_forward.report;
        steps.push(("walk-forward".to_owned(), report.brief()));
        if let Some(sweep) = self.sweep {
            // The walk's sets are counted after the sweep's.
            let counts = [sweep.variants(), self.walk_forward.variants_tried];
            let words = counts.into_iter().flatten().max();
            let words = words.map(|count| variants_words(count, sweep.tried() as u64, &self.bot.strategy));
            steps.extend(words.map(|words| ("variants tried".to_owned(), words)));
        }
        steps.push(("verdict on its tests".to_owned(), report.verdict_words()));
        steps.extend(report.hold_out().map(|hold_out| ("hold-out".to_owned(), hold_out.brief())));
        let looks = self.looks.iter().map(|look| ("hold-out seen before".to_owned(), look.clone()));
        steps.extend(looks);
        steps
    }

    /// What the reader should know, each once.
    fn notes(&self) -> Vec<&str> {
        let mut notes: Vec<&str> = Vec::new();
        let sweep = self.sweep.into_iter().flat_map(SweepReport::notes);
        let walk = self.walk_forward.variants_notices.iter().chain(self.walk_forward.report.notes());
        for note in self.notices.iter().chain(sweep).chain(walk) {
            if !notes.contains(&note.as_str()) {
                notes.push(note);
            }
        }
        notes
    }
}

/// How many variants count of so many sets.
fn variants_words(count: u64, sets: u64, strategy: &str) -> String {
    let fewer = if count < sets {
        format!(" (of {sets} sets: those with the same trades count as one)")
    } else {
        String::new()
    };
    // The ledger counts by strategy: whoever tries several rules chooses among all of them.
    let idea = if strategy == "rules" { "this idea, which is all rules together," } else { "this idea" };
    format!(
        "{count} of {idea} by now{fewer}: whatever shows an edge of it is held to that, and a \
         p-value counts after it is multiplied by it"
    )
}

fn documents<S: serde::Serializer>(parts: &[FoundPart], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(parts.iter().map(|part| &part.document))
}

fn document<S: serde::Serializer>(part: &FoundPart, serializer: S) -> Result<S::Ok, S::Error> {
    part.document.serialize(serializer)
}
