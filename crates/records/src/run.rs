//! A run as its header describes it.

use crate::error::RecordsError;
use crate::trading::TradingMode;
use candlewick_engine::{EngineError, Header, LambdaRule, Session, SessionSettings};
use candlewick_journal::{LineKind, StoredLine};
use candlewick_sdk::{BotContext, BuildError, Millis, Registry, Series, Strategy, StrategyEntry, Symbol};
use candlewick_simulator::SimulationSettings;
use serde_json::Value;

/// Run number of lines that an operator wrote while no bot ran.
pub const BETWEEN_RUNS: u64 = 0;

pub struct RecordedRun {
    /// 1-based.
    pub number: u64,
    pub seq: u64,
    /// In venue time.
    pub began: Millis,
    pub format: u32,
    pub settings: SessionSettings,
    pub has_earlier_verdict_rule: bool,
    pub simulation: SimulationSettings,
    pub trading: Option<TradingMode>,
    pub(crate) is_replay: bool,
    pub strategies: Vec<(String, String)>,
    pub(crate) series: Vec<Series>,
}

impl RecordedRun {
    pub fn all_of(lines: &[StoredLine]) -> Result<Vec<Self>, RecordsError> {
        lines.iter().filter(|stored| stored.line.kind == LineKind::Run).map(Self::of).collect()
    }

    pub(crate) fn of(stored: &StoredLine) -> Result<Self, RecordsError> {
        let header: Header = serde_json::from_str(&stored.line.body)
            .map_err(|error| RecordsError::unreadable(stored, error))?;
        let part = |name: &str| header.settings.get(name).cloned().unwrap_or(Value::Null);
        let settings: SessionSettings = serde_json::from_value(with_earlier_kelly(part("session")))
            .map_err(|error| RecordsError::unreadable(stored, error))?;
        let simulation = serde_json::from_value(part("simulation"));
        let trading = serde_json::from_value(part("trading"));
        let rule = header.settings.pointer("/session/risk/verdict/lambda").cloned();
        let today = serde_json::to_value(LambdaRule::default()).ok();
        Ok(Self {
            is_replay: header.data_hash.is_some(),
            has_earlier_verdict_rule: rule.is_some() && rule != today,
            number: stored.line.run,
            seq: stored.seq,
            began: stored.line.at,
            format: header.format,
            series: series_of(&settings),
            settings,
            simulation: simulation.map_err(|error| RecordsError::unreadable(stored, error))?,
            trading: trading.map_err(|error| RecordsError::unreadable(stored, error))?,
            strategies: header.strategies,
        })
    }

    pub fn silent_session(&self) -> Result<Session, RecordsError> {
        Ok(Session::silent(&self.settings)?)
    }

    pub fn strategy(
        &self,
        place: usize,
        registry: &Registry,
    ) -> Result<Result<Box<dyn Strategy>, String>, RecordsError> {
        self.built(place, registry, StrategyEntry::build)
    }

    pub(crate) fn explained_strategy(
        &self,
        place: usize,
        registry: &Registry,
    ) -> Result<Result<Box<dyn Strategy>, String>, RecordsError> {
        self.built(place, registry, StrategyEntry::build_explained)
    }

    fn built(
        &self,
        place: usize,
        registry: &Registry,
        build: impl FnOnce(&StrategyEntry, &Value, &BotContext) -> Result<Box<dyn Strategy>, BuildError>,
    ) -> Result<Result<Box<dyn Strategy>, String>, RecordsError> {
        let (Some(bot), Some((name, version))) = (self.settings.bots.get(place), self.strategies.get(place))
        else {
            return Ok(Err("the run does not say which strategy that was".to_owned()));
        };
        let Some(entry) = registry.find(name) else {
            return Ok(Err(format!("this program has no strategy \"{name}\"")));
        };
        let entry = entry.for_params(&bot.params);
        let entry = entry.map_err(|source| EngineError::Strategy { bot: bot.name.clone(), source })?;
        if entry.version != *version {
            let here = &entry.version;
            let is_remade = base_of(here) == base_of(version);
            let what =
                if is_remade { format!("{}: ", another_part(name, &bot.params)) } else { String::new() };
            return Ok(Err(format!(
                "{what}the run had version {version} of strategy \"{name}\", this program has version {here}"
            )));
        }
        let context = bot.context(self.settings.longer_share_percent);
        let strategy = build(&entry, &bot.params, &context);
        let strategy = strategy.map_err(|source| EngineError::Strategy { bot: bot.name.clone(), source })?;
        Ok(Ok(strategy))
    }

    pub fn series(&self) -> &[Series] {
        &self.series
    }

    pub fn symbols(&self) -> Vec<Symbol> {
        let mut symbols = Vec::new();
        for bot in &self.settings.bots {
            if !symbols.contains(&bot.symbol) {
                symbols.push(bot.symbol);
            }
        }
        symbols
    }
}

/// Computed once per run: with many bots, this takes longer than reading a candle.
pub(crate) fn series_of(settings: &SessionSettings) -> Vec<Series> {
    let mut series = Vec::new();
    for bot in &settings.bots {
        if !series.contains(&bot.series()) {
            series.push(bot.series());
        }
    }
    series
}

pub(crate) const ANOTHER_SINCE: &str = "is another one since the run began";
/// A combination has one hash for its files and the versions of its parts, so either may have
/// changed.
pub(crate) const ANOTHER_OR_PART: &str =
    "is another one since the run began, or this program has another version of a part";

fn another_part(strategy: &str, params: &Value) -> String {
    let mut files = Vec::new();
    files_in(params, &mut files);
    let file = match &files[..] {
        // Its parameters are those of the run.
        [] => return "this program has another version of a part of it".to_owned(),
        [file] => format!("the file {file}"),
        files => format!("one of the files {}", files.join(", ")),
    };
    // A rule has nothing but its text; parts have versions.
    format!("{file} {}", if strategy == "rules" { ANOTHER_SINCE } else { ANOTHER_OR_PART })
}

fn base_of(version: &str) -> &str {
    version.split_once('+').map_or(version, |(base, _)| base)
}

fn files_in(params: &Value, found: &mut Vec<String>) {
    match params {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str().filter(|_| key.rsplit('.').next() == Some("file")) {
                    Some(file) if !found.iter().any(|known| known == file) => found.push(file.to_owned()),
                    Some(_) => {}
                    None => files_in(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| files_in(value, found)),
        _ => {}
    }
}

/// Journals that do not record the lower bound of Kelly stakes used Wilson's.
fn with_earlier_kelly(mut session: Value) -> Value {
    let bots = session.pointer_mut("/bots").and_then(Value::as_array_mut);
    for stake in bots.into_iter().flatten().filter_map(|bot| bot.pointer_mut("/stake")?.as_object_mut()) {
        if stake.get("kind").is_some_and(|kind| kind == "kelly") {
            stake.entry("bound").or_insert_with(|| "wilson".into());
        }
    }
    session
}
