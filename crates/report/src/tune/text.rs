//! Text rendering of a guided search, one terminal page long.

use super::{HELD, TuneReport};
use crate::conditions::ConditionLine;
use candlewick_records::table;
use std::fmt;

impl fmt::Display for TuneReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bot = &self.bot;
        writeln!(f, "{} on {}: {}\n", bot.name, bot.series, self.conclusion.headline())?;
        writeln!(f, "{}\n", self.words)?;
        let mut steps = table(["step", "found"]);
        for (name, found) in self.steps() {
            steps.add_row([name, found]);
        }
        writeln!(f, "{}\n", steps.trim_fmt())?;
        if !self.conditions.is_empty() {
            let held = ConditionLine::table(&self.conditions).to_text();
            writeln!(f, "{HELD}\n\n{held}\n")?;
        }
        writeln!(f, "Next")?;
        for (step, number) in self.next.iter().zip(1..) {
            writeln!(f, "{number}. {step}")?;
        }
        for note in self.notes() {
            write!(f, "\nnote: {note}")?;
        }
        for file in &self.files {
            write!(f, "\nwrote {}", file.display())?;
        }
        Ok(())
    }
}
