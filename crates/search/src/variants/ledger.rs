//! The file in which tried variants are noted: lines of JSON that are only ever added.
//!
//! A line is written in one call while the file is locked, so that two processes at once lose nothing, and whatever moment
//! a process is killed at, at most the last line is not whole; it is skipped, and the next one begins on a line of its own.

use super::{Family, Variant};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where variants are noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantLedger(PathBuf);

/// A variant and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Which.
    pub tried: Variant,
    /// Its p-value, where it has one.
    pub p_value: Option<f64>,
    /// The Sharpe ratio of one of its days, where it has one.
    pub sharpe_of_a_day: Option<f64>,
}

/// A variant as the ledger knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The name of the variant.
    pub variant: String,
    /// Its p-value.
    pub p_value: Option<f64>,
    /// The Sharpe ratio of one of its days.
    pub sharpe_of_a_day: Option<f64>,
    /// The candles that it ran on.
    pub span: Range<Millis>,
}

/// One line: variants of one family on the same candles. The key comes first, so that lines of other families need
/// not be parsed.
#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    #[serde(flatten)]
    family: Family,
    from: Millis,
    to: Millis,
    /// Name, p-value, Sharpe ratio of a day.
    variants: Vec<(String, Option<f64>, Option<f64>)>,
}

impl VariantLedger {
    /// In this file, which is made when something is noted.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Notes variants that ran on the candles of `span`; those that it knows on these candles are not noted again. Whatever it
    /// then knows of their families comes back, in the families' order of first appearance among the notes.
    ///
    /// # Errors
    /// Those of the file.
    pub fn note(&self, notes: &[Note], span: &Range<Millis>) -> io::Result<Vec<(Family, Vec<Known>)>> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.0)?;
        // Until the file is closed: another process waits for the moment that this takes.
        file.lock()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // A kill may have cut a character in two.
        let text = String::from_utf8_lossy(&bytes);
        let mut families: Vec<(Family, Vec<Known>)> = Vec::new();
        let mut added = String::new();
        for note in notes {
            let family = &note.tried.family;
            if !families.iter().any(|(known, _)| known == family) {
                let own: Vec<&Note> = notes.iter().filter(|one| one.tried.family == *family).collect();
                let mut known = read(&text, &family.key());
                let new = unknown(&own, &known, span);
                if !new.is_empty() {
                    let line = Line::of(family.clone(), &new, span);
                    added.push_str(&serde_json::to_string(&line).map_err(io::Error::other)?);
                    added.push('\n');
                    known.extend(line.into_known());
                }
                families.push((family.clone(), known));
            }
        }
        append(&mut file, &text, &added)?;
        Ok(families)
    }
}

fn append(file: &mut File, before: &str, added: &str) -> io::Result<()> {
    if added.is_empty() {
        return Ok(());
    }
    let is_cut = !before.is_empty() && !before.ends_with('\n');
    let whole = if is_cut { format!("\n{added}") } else { added.to_owned() };
    file.write_all(whole.as_bytes())
}

/// What the lines of one family say; what is no line is skipped.
fn read(text: &str, key: &str) -> Vec<Known> {
    let begin = format!("{{\"key\":\"{key}\"");
    let lines = text.lines().filter(|line| line.starts_with(&begin));
    let parsed = lines.filter_map(|line| serde_json::from_str::<Line>(line).ok());
    parsed.flat_map(Line::into_known).collect()
}

/// The notes, each variant once, that are not known on these candles.
fn unknown<'a>(notes: &[&'a Note], known: &[Known], span: &Range<Millis>) -> Vec<&'a Note> {
    let here = known.iter().filter(|one| one.span == *span);
    let mut seen: HashSet<&str> = here.map(|one| one.variant.as_str()).collect();
    let mut new = Vec::new();
    for note in notes {
        if seen.insert(&note.tried.name) {
            new.push(*note);
        }
    }
    new
}

impl Line {
    fn of(family: Family, notes: &[&Note], span: &Range<Millis>) -> Self {
        let figures = |note: &&Note| (note.tried.name.clone(), note.p_value, note.sharpe_of_a_day);
        let variants = notes.iter().map(figures).collect();
        Self { key: family.key(), family, from: span.start, to: span.end, variants }
    }

    fn into_known(self) -> Vec<Known> {
        let span = self.from..self.to;
        let known = |(variant, p_value, sharpe_of_a_day)| Known {
            variant,
            p_value,
            sharpe_of_a_day,
            span: span.clone(),
        };
        self.variants.into_iter().map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(strategy: &str, variant: u32) -> Note {
        let (symbols, interval) = (vec!["BTCUSDT".to_owned()], "1m".to_owned());
        let family = Family { strategy: strategy.to_owned(), symbols, interval };
        let tried = Variant { family, name: format!("{variant:016x}") };
        Note { tried, p_value: Some(0.25), sharpe_of_a_day: None }
    }

    fn day(number: i64) -> Range<Millis> {
        Millis::DAY * number..Millis::DAY * (number + 1)
    }

    fn count(ledger: &VariantLedger, notes: &[Note], on: i64) -> usize {
        ledger.note(notes, &day(on)).unwrap()[0].1.len()
    }

    #[test]
    fn each_variant_is_noted_once_on_the_same_candles() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = VariantLedger::new(folder.path().join("variants.jsonl"));
        assert_eq!(count(&ledger, &[note("rsi", 1)], 1), 1);
        let before = std::fs::read_to_string(ledger.path()).unwrap();
        assert_eq!(count(&ledger, &[note("rsi", 1)], 1), 1);
        assert_eq!(std::fs::read_to_string(ledger.path()).unwrap(), before);
        assert_eq!(count(&ledger, &[note("rsi", 2), note("rsi", 3), note("rsi", 2)], 1), 3);
        assert_eq!(count(&ledger, &[note("rsi", 1)], 2), 4);
        // Another idea is another family.
        assert_eq!(count(&ledger, &[note("cross", 1)], 1), 1);
    }

    #[test]
    fn whatever_byte_a_kill_stops_at_the_whole_lines_count() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = VariantLedger::new(folder.path().join("variants.jsonl"));
        for variant in 1..4 {
            ledger.note(&[note("rsi", variant)], &day(1)).unwrap();
        }
        let whole = std::fs::read_to_string(ledger.path()).unwrap();
        for length in 0..=whole.len() {
            std::fs::write(ledger.path(), &whole[..length]).unwrap();
            // A line that lacks its end alone is whole.
            let kept = whole[..length].lines().filter(|line| line.ends_with("]}")).count();
            assert_eq!(count(&ledger, &[note("rsi", 9)], 1), kept + 1, "cut at {length}");
            assert_eq!(count(&ledger, &[note("rsi", 10)], 1), kept + 2, "cut at {length}");
        }
    }

    #[test]
    fn two_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = VariantLedger::new(folder.path().join("variants.jsonl"));
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let ledger = &ledger;
                scope.spawn(move || {
                    for variant in 0..25 {
                        ledger.note(&[note("rsi", writer * 100 + variant)], &day(1)).unwrap();
                    }
                });
            }
        });
        assert_eq!(count(&ledger, &[note("rsi", 0)], 1), 100);
    }
}
