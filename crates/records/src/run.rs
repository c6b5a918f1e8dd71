//! Recorded runs: the settings in the header of a run, and the data of one or all runs for reports.

use crate::RecordsError;
use crate::contents::JournalContents;
use crate::delays::{DelayCollector, Delays};
use crate::lines::{SessionFold, parse, parse_refusal};
use candlewick_engine::{
    Action, BotSettings, BotVerdict, EngineError, Header, LambdaRule, Ledger, Session, SessionSettings,
    TradeBook,
};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_sdk::{
    BotContext, BuildError, Millis, Money, Registry, Series, Strategy, StrategyEntry, Symbol,
};
use candlewick_simulator::SimulationSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;

/// Run number of journal lines that an operator added while no bot was running.
pub const NO_RUN: u64 = 0;

pub struct RecordedRun {
    /// 1-based number of the run.
    pub number: u64,
    pub seq: u64,
    /// Venue time at which the run started.
    pub began: Millis,
    pub format: u32,
    pub settings: SessionSettings,
    pub has_old_verdict_rule: bool,
    pub simulation: SimulationSettings,
    pub trading: Option<TradingMode>,
    pub(crate) is_replay: bool,
    pub strategies: Vec<(String, String)>,
    pub series: Vec<Series>,
}

impl RecordedRun {
    pub fn read_all(lines: &[StoredLine]) -> Result<Vec<Self>, RecordsError> {
        lines.iter().filter(|stored| stored.line.kind == LineKind::Run).map(Self::from_stored).collect()
    }

    pub fn from_stored(stored: &StoredLine) -> Result<Self, RecordsError> {
        let header: Header = parse(stored)?;
        let part = |name: &str| header.settings.get(name).cloned().unwrap_or(Value::Null);
        let unreadable = |error: serde_json::Error| RecordsError::unreadable_entry(stored, error);
        let settings = serde_json::from_value(add_kelly_bound(part("session")));
        let settings: SessionSettings = settings.map_err(unreadable)?;
        let simulation = serde_json::from_value(part("simulation"));
        let trading = serde_json::from_value(part("trading"));
        let rule = header.settings.pointer("/session/risk/verdict/lambda").cloned();
        let today = serde_json::to_value(LambdaRule::default()).ok();
        Ok(Self {
            is_replay: header.data_hash.is_some(),
            has_old_verdict_rule: rule.is_some() && rule != today,
            number: stored.line.run,
            seq: stored.seq,
            began: stored.line.at,
            format: header.format,
            series: required_series(&settings),
            settings,
            simulation: simulation.map_err(unreadable)?,
            trading: trading.map_err(unreadable)?,
            strategies: header.strategies,
        })
    }

    pub fn session_without_strategies(&self) -> Result<Session, RecordsError> {
        Ok(Session::without_strategies(&self.settings)?)
    }

    pub(crate) fn build_strategy(
        &self,
        place: usize,
        registry: &Registry,
        build: impl FnOnce(&StrategyEntry, &Value, &BotContext) -> Result<Box<dyn Strategy>, BuildError>,
    ) -> Result<Result<Box<dyn Strategy>, String>, RecordsError> {
        let (Some(bot), Some((name, version))) = (self.settings.bots.get(place), self.strategies.get(place))
        else {
            return Ok(Err("the header of the run does not name the bot's strategy".to_owned()));
        };
        let Some(entry) = registry.find(name) else {
            return Ok(Err(format!("this program has no strategy \"{name}\"")));
        };
        let entry = entry.for_params(&bot.params);
        let entry = entry.map_err(|source| EngineError::Strategy { bot: bot.name.clone(), source })?;
        if entry.version != *version {
            let here = &entry.version;
            let is_remade = strip_build_suffix(here) == strip_build_suffix(version);
            let what =
                if is_remade { format!("{}: ", describe_change(name, &bot.params)) } else { String::new() };
            return Ok(Err(format!(
                "{what}the run used version {version} of strategy \"{name}\", but this program has version {here}"
            )));
        }
        let context = bot.context(self.settings.longer_share_percent);
        let strategy = build(&entry, &bot.params, &context);
        let strategy = strategy.map_err(|source| EngineError::Strategy { bot: bot.name.clone(), source })?;
        Ok(Ok(strategy))
    }

    pub fn symbols(&self) -> Vec<Symbol> {
        distinct(self.settings.bots.iter().map(|bot| bot.symbol))
    }
}

/// Returns the distinct series of all bots. This is slow for many bots, so callers should store the result.
pub(crate) fn required_series(settings: &SessionSettings) -> Vec<Series> {
    distinct(settings.bots.iter().map(BotSettings::series))
}

fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

pub(crate) const FILE_CHANGED: &str = "has changed since the run began";
pub(crate) const FILE_OR_PART_CHANGED: &str =
    "has changed since the run began, or this program has another version of one of the combined strategies";

fn describe_change(strategy: &str, params: &Value) -> String {
    let mut files = Vec::new();
    collect_files(params, &mut files);
    let file = match &files[..] {
        // Without files, the hash can differ only because a combined strategy has another version.
        [] => return "this program has another version of one of the combined strategies".to_owned(),
        [file] => format!("the file {file}"),
        files => format!("one of the files {}", files.join(", ")),
    };
    // A rule consists only of its text. A combination also has parts with versions.
    format!("{file} {}", if strategy == "rules" { FILE_CHANGED } else { FILE_OR_PART_CHANGED })
}

fn strip_build_suffix(version: &str) -> &str {
    version.split_once('+').map_or(version, |(base, _)| base)
}

fn collect_files(params: &Value, found: &mut Vec<String>) {
    match params {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str().filter(|_| key.rsplit('.').next() == Some("file")) {
                    Some(file) if !found.iter().any(|known| known == file) => found.push(file.to_owned()),
                    Some(_) => {}
                    None => collect_files(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_files(value, found)),
        _ => {}
    }
}

/// Sets the bound of Kelly stakes to `wilson` if an older journal does not record it.
fn add_kelly_bound(mut session: Value) -> Value {
    let bots = session.pointer_mut("/bots").and_then(Value::as_array_mut);
    for stake in bots.into_iter().flatten().filter_map(|bot| bot.pointer_mut("/stake")?.as_object_mut()) {
        if stake.get("kind").is_some_and(|kind| kind == "kelly") {
            stake.entry("bound").or_insert_with(|| "wilson".into());
        }
    }
    session
}

/// Kind of money that a run trades with. All runs of a journal trade with the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TradingMode {
    Demo,
    Real,
    Paper,
    Sandbox,
}

pub struct RecordedRuns {
    /// Settings of the selected run (by default the last run), with the limits in force at its end.
    pub session: SessionSettings,
    pub simulation: SimulationSettings,
    pub strategies: Vec<(String, String)>,
    pub trading: Option<TradingMode>,
    pub book: TradeBook,
    pub balance: Money,
    pub ledger: Ledger,
    pub candle_count: u64,
    pub head_hash: String,
    pub span: Range<Millis>,
    pub verdicts: Vec<BotVerdict>,
    /// Weight of the joint verdict on the trades of all bots, as a fraction of alpha. 0 without a joint verdict.
    pub joint_verdict_weight: f64,
    pub delays: Delays,
    pub audit_findings: BTreeMap<String, u64>,
}

impl RecordedRuns {
    pub async fn read(reader: &mut Reader, number: Option<u64>) -> Result<Self, RecordsError> {
        let mut delays = DelayCollector::for_run(number);
        let contents = JournalContents::read_and_visit(reader, |stored| delays.add_line(stored)).await?;
        let delays = delays.delays;
        let Some(number) = number else { return Self::from_all_runs(contents, delays) };
        let last = contents.last_run().number;
        let run = contents.run(number).ok_or(RecordsError::UnknownRun { number, last })?;
        Self::from_run(&contents, run, delays)
    }

    fn from_all_runs(contents: JournalContents, delays: Delays) -> Result<Self, RecordsError> {
        let last = contents.last_run();
        let first = contents.runs.first();
        let balance = first
            .map(|run| run.session_without_strategies().map(|session| session.ledger().equity()))
            .transpose()?;
        let end = contents.last_line.line.received;
        Ok(Self {
            session: contents.settings_at_end(last)?,
            simulation: last.simulation.clone(),
            strategies: last.strategies.clone(),
            trading: last.trading,
            balance: balance.unwrap_or_default(),
            ledger: contents.session.ledger().clone(),
            candle_count: contents.candle_counts.values().sum(),
            head_hash: contents.last_line.hash.to_string(),
            span: first.map_or(end, |run| run.began)..end,
            verdicts: contents.session.verdicts().cloned().collect(),
            joint_verdict_weight: contents.session.joint_verdict_weight(),
            delays,
            audit_findings: contents.audit_findings(None),
            book: contents.book,
        })
    }

    /// Builds the data of one run, including later settlements of its trades. Earlier runs only restore the Session.
    fn from_run(contents: &JournalContents, run: &RecordedRun, delays: Delays) -> Result<Self, RecordsError> {
        let mut fold = SessionFold::new(run.session_without_strategies()?);
        let mut book = TradeBook::default();
        let mut balance = None;
        let (mut ledger, mut verdicts) = (contents.session.ledger().clone(), Vec::new());
        let mut weight_of_all_bots = 0.0;
        let end = contents.lines.iter().rposition(|stored| stored.line.run == run.number);
        for (place, stored) in contents.lines.iter().enumerate() {
            let is_own = stored.line.run == run.number;
            if is_own && stored.line.kind == LineKind::Run {
                balance = Some(fold.session.ledger().equity());
            }
            let recorded = fold.apply_line(stored)?;
            if end == Some(place) {
                ledger = fold.session.ledger().clone();
                verdicts = fold.session.verdicts().cloned().collect();
                weight_of_all_bots = fold.session.joint_verdict_weight();
            }
            let is_later_event = balance.is_some() && stored.line.kind == LineKind::Event;
            if let (true, Some(recorded)) = (is_own || is_later_event, &recorded) {
                book.recall(recorded);
                if let Some(refused) = parse_refusal(stored)? {
                    book.record_action(&Action::Refuse(refused));
                }
            }
        }
        let last = end.and_then(|end| contents.lines.get(end)).unwrap_or(&contents.last_line);
        Ok(Self {
            session: contents.settings_at_end(run)?,
            simulation: run.simulation.clone(),
            strategies: run.strategies.clone(),
            trading: run.trading,
            book,
            balance: balance.unwrap_or_default(),
            ledger,
            candle_count: contents.candle_counts.get(&run.number).copied().unwrap_or_default(),
            head_hash: last.hash.to_string(),
            span: run.began..last.line.received,
            verdicts,
            joint_verdict_weight: weight_of_all_bots,
            delays,
            audit_findings: contents.audit_findings(Some(run.number)),
        })
    }
}

#[cfg(test)]
impl RecordedRun {
    pub(crate) fn from_settings(settings: Value, strategy: (&str, &str)) -> Self {
        let settings: SessionSettings = serde_json::from_value(settings).expect("settings of a run");
        Self {
            number: 2,
            seq: 10,
            began: Millis::ZERO,
            format: Header::FORMAT,
            series: required_series(&settings),
            strategies: vec![(strategy.0.to_owned(), strategy.1.to_owned()); settings.bots.len()],
            settings,
            has_old_verdict_rule: false,
            is_replay: false,
            simulation: SimulationSettings::default(),
            trading: None,
        }
    }
}
