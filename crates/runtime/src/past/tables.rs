//! Verifies the tables of a journal against the fold of its entries.

use super::Past;
use super::rows::names_of;
use crate::RuntimeError;
use candlewick_journal::{IntentRecord, IntentRows as _, LineKind, RunNames, StoredLine, Tables, figures_of};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablesCheck {
    Absent,
    Sound { seq: u64, intents: u64 },
}

pub(super) struct TablesToCheck {
    tables: Option<Tables>,
    last: BTreeMap<u64, u64>,
    names: BTreeMap<u64, RunNames>,
    pub(super) found: TablesCheck,
}

impl TablesToCheck {
    pub(super) fn new(tables: Option<Tables>) -> Self {
        let tables = tables.filter(|tables| tables.up_to.seq > 0);
        Self { tables, last: BTreeMap::new(), names: BTreeMap::new(), found: TablesCheck::Absent }
    }

    pub(super) fn take(&mut self, stored: &StoredLine, past: &Past) -> Result<(), RuntimeError> {
        let Some(tables) = &self.tables else { return Ok(()) };
        match (stored.line.kind, stored.line.intent) {
            (LineKind::Event | LineKind::Action, Some(intent)) => {
                self.last.insert(intent, stored.seq);
            }
            (LineKind::Run, _) => {
                self.names.extend(names_of(stored).map(|names| (stored.line.run, names)));
            }
            _ => {}
        }
        if stored.seq < tables.up_to.seq {
            return Ok(());
        }
        let wrong = |row: String| Err(RuntimeError::WrongRow { row });
        if stored.head() != tables.up_to {
            return wrong(format!("of the table projection, which names entry {}", tables.up_to.seq));
        }
        let expected: Vec<IntentRecord> =
            self.last.iter().filter_map(|last| self.record(last, past)).collect();
        let different = |(expected, found): (&IntentRecord, &IntentRecord)| expected != found;
        if let Some(place) = expected.iter().zip(&tables.intents).position(different) {
            return wrong(format!(
                "{} of the table intents",
                expected[place].intent.min(tables.intents[place].intent)
            ));
        }
        if expected.len() != tables.intents.len() {
            let place = expected.len().min(tables.intents.len());
            let row = expected.get(place).or_else(|| tables.intents.get(place)).map_or(0, |row| row.intent);
            return wrong(format!("{row} of the table intents"));
        }
        let figures = figures_of(&expected);
        let all = figures.keys().chain(tables.figures.keys());
        let mut all = all.filter(|key| figures.get(key) != tables.figures.get(key));
        if let Some((day, bot)) = all.next() {
            return wrong(format!("{} {bot} of the table figures", day.get()));
        }
        self.found = TablesCheck::Sound { seq: stored.seq, intents: expected.len() as u64 };
        self.tables = None;
        Ok(())
    }

    fn record(&self, (intent, seq): (&u64, &u64), past: &Past) -> Option<IntentRecord> {
        past.record(*intent, *seq, self.names.get(&past.run_of(*intent)?)?)
    }

    pub(super) fn end(self) -> Result<TablesCheck, RuntimeError> {
        match self.tables {
            Some(tables) => Err(RuntimeError::WrongRow {
                row: format!("of the table projection, which names entry {}", tables.up_to.seq),
            }),
            None => Ok(self.found),
        }
    }
}
