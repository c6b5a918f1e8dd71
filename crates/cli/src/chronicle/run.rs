//! A run as its header tells it.

use super::damaged;
use crate::failure::Failure;
use crate::live::Trading;
use candlewick_engine::{Header, Session, SessionSettings};
use candlewick_journal::{LineKind, StoredLine};
use candlewick_sdk::{Candle, Millis, Series, Signal, Strategy};
use candlewick_simulator::SimulationSettings;
use serde_json::Value;

/// The run number of lines that a person wrote while no bot ran.
pub(crate) const BETWEEN_RUNS: u64 = 0;

/// A run of a journal.
pub(crate) struct RecordedRun {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// The number of the line that holds its header.
    pub(crate) seq: u64,
    /// When it began, in venue time.
    pub(crate) began: Millis,
    /// What its Session was made from.
    pub(crate) settings: SessionSettings,
    /// How a simulated venue was set then.
    pub(crate) simulation: SimulationSettings,
    /// What its trades are worth; none in a journal that does not say.
    pub(crate) trading: Option<Trading>,
    /// Name and version of each bot's strategy.
    pub(crate) strategies: Vec<(String, String)>,
}

impl RecordedRun {
    /// The runs among these lines.
    ///
    /// # Errors
    /// A header that cannot be read.
    pub(crate) fn all_of(lines: &[StoredLine]) -> Result<Vec<Self>, Failure> {
        lines.iter().filter(|stored| stored.line.kind == LineKind::Run).map(Self::of).collect()
    }

    fn of(stored: &StoredLine) -> Result<Self, Failure> {
        let header: Header =
            serde_json::from_str(&stored.line.body).map_err(|error| damaged(stored, error))?;
        let part = |name: &str| header.settings.get(name).cloned().unwrap_or(Value::Null);
        let settings = serde_json::from_value(part("session"));
        let simulation = serde_json::from_value(part("simulation"));
        let trading = serde_json::from_value(part("trading"));
        Ok(Self {
            number: stored.line.run,
            seq: stored.seq,
            began: stored.line.at,
            settings: settings.map_err(|error| damaged(stored, error))?,
            simulation: simulation.map_err(|error| damaged(stored, error))?,
            trading: trading.map_err(|error| damaged(stored, error))?,
            strategies: header.strategies,
        })
    }

    /// The Session of its settings with strategies that say nothing: enough to fold a journal into.
    ///
    /// # Errors
    /// Settings that no Session can have.
    pub(crate) fn silent_session(&self) -> Result<Session, Failure> {
        let strategies = self.settings.bots.iter().map(|_| Box::new(Silent) as Box<dyn Strategy>);
        Ok(Session::new(&self.settings, strategies.collect())?)
    }

    /// Its series, in the order of their numbers.
    pub(crate) fn series(&self) -> Vec<Series> {
        let mut series = Vec::new();
        for bot in &self.settings.bots {
            if !series.contains(&bot.series()) {
                series.push(bot.series());
            }
        }
        series
    }
}

struct Silent;

impl Strategy for Silent {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        None
    }
}
