//! HTML page of a guided search.

use super::{HELD, TuneReport};
use crate::ReportError;
use crate::conditions::ConditionLine;
use crate::page::{DataTable, TunePage};

impl TuneReport<'_> {
    pub fn page(&self) -> Result<TunePage, ReportError> {
        let bot = &self.bot;
        let searched = if bot.searched.is_empty() {
            "tested as it stands".to_owned()
        } else {
            format!("searched: {}", bot.searched.join(", "))
        };
        let steps = DataTable {
            header: ["step", "found"].map(str::to_owned).to_vec(),
            rows: self.steps().into_iter().map(|(name, found)| vec![name, found]).collect(),
        };
        let mut tables = vec![("steps", "What each step found", steps)];
        tables.extend(
            self.sweep.map(|sweep| ("best", "The best sets before the hold-out", sweep.best_table())),
        );
        if !self.conditions.is_empty() {
            tables.push(("conditions", HELD, ConditionLine::table(&self.conditions)));
        }
        tables.push(("windows", "The windows of the walk-forward", self.walk_forward.report.window_table()));
        Ok(TunePage {
            title: format!("{} on {}", bot.name, bot.series),
            subtitle: format!("{} {}, {searched}", bot.strategy, bot.version),
            class: self.conclusion.class(),
            headline: self.conclusion.headline(),
            words: self.words.clone(),
            next: self.next.clone(),
            tables,
            notes: self.notes().into_iter().map(str::to_owned).collect(),
            document: serde_json::to_value(self)?,
        })
    }
}
