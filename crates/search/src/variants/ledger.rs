//! Append-only JSON Lines file of the variants tried.
//!
//! Each line is written in one call under a file lock. If a process is killed, at most a partial last line remains,
//! which is skipped. Each line contains a hash of the previous lines. A receipt in another folder has the line count.
//! Removed or changed lines are therefore detected, unless the receipt is removed too. The receipts in that folder
//! also name the project's other ledgers. Their variants are counted, and their missing lines are reported.

use super::chain::{Receipt, ReceiptState};
use super::contents::{LedgerContents, NewLines, read_text};
use super::line::{CandlesLine, KnownCandles, RunLine, SampledPart, VariantsLine};
use super::others::OtherLedgers;
use super::{CandleSample, Family, Look, LookEnd, Variant};
use candlewick_sdk::Millis;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantLedger {
    pub(super) path: PathBuf,
    pub(super) receipt: Option<Receipt>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VariantNote {
    pub variant: Variant,
    pub p_value: Option<f64>,
    pub daily_sharpe: Option<f64>,
    /// Hash of the trade results ([`trades_hash`](super::trades_hash)) of the whole time range, if known.
    pub trades_hash: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct KnownVariant {
    pub variant: String,
    pub p_value: Option<f64>,
    pub daily_sharpe: Option<f64>,
    pub trades_hash: Option<String>,
    pub candles_id: String,
    /// Id of the first recorded version of these candles, before later candles were added.
    pub root: String,
    pub span: Range<Millis>,
    pub sample: Arc<CandleSample>,
    /// Whether all trades come from one run that ended with the last of these candles.
    pub is_single_run_to_end: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedgerSummary {
    pub families: Vec<(Family, Vec<KnownVariant>)>,
    /// Number of sets, by strategy, that other running or stopped searches may have tried but not recorded.
    pub under_way: BTreeMap<String, u64>,
    pub root: String,
    pub other_ledgers: Vec<PathBuf>,
    pub is_first: bool,
    pub gaps: Option<String>,
}

impl VariantLedger {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), receipt: None }
    }

    #[must_use]
    pub fn with_receipt_in(self, folder: &Path) -> Self {
        Self { receipt: Some(Receipt::new(folder, &self.path)), ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records the variants that are new on these candles, and returns all known variants of the project.
    pub fn record_variants(&self, notes: &[VariantNote], look: &Look) -> io::Result<LedgerSummary> {
        let others = self.read_other_ledgers()?;
        let others = others.read();
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
        // The lock lasts until the file is closed. Other processes wait for this short time.
        file.lock()?;
        let text = read_text(&mut file)?;
        let contents = LedgerContents::new(&text, self.read_receipt()?);
        let mut added = NewLines::new(&contents)?;
        let mut candles = KnownCandles::default();
        [&contents].into_iter().chain(others.ledgers.iter().map(|other| &other.contents)).for_each(|known| {
            candles.add_missing(&known.candles);
        });
        let id = look.candles_id();
        let root = candles.resolve_root(&id, look);
        let mut families: Vec<(Family, Vec<KnownVariant>)> = Vec::new();
        let mut newly_noted = Vec::new();
        let mut has_candles = contents.candles.contains(&id);
        for note in notes {
            let family = &note.variant.family;
            if families.iter().any(|(known, _)| known == family) {
                continue;
            }
            let own: Vec<&VariantNote> = notes.iter().filter(|one| one.variant.family == *family).collect();
            let of_family = |contents: &LedgerContents<'_>| {
                let tried = contents.variant_lines(|strategy| strategy == family.strategy);
                tried.flat_map(|line| line.into_variants(&candles)).collect::<Vec<KnownVariant>>()
            };
            let here = of_family(&contents);
            let new = find_new_notes(&own, &here, &root, &look.span);
            let mut known: Vec<KnownVariant> =
                others.ledgers.iter().flat_map(|other| of_family(&other.contents)).chain(here).collect();
            if !new.is_empty() {
                if !has_candles {
                    added.push(&CandlesLine::new(
                        (added.chain.hash.clone(), id.clone(), root.clone()),
                        look,
                    ))?;
                    has_candles = true;
                }
                added.strategies.insert(family.strategy.clone());
                let seen = look.candles.index_ranges(&look.span);
                let line = VariantsLine::new(
                    (added.chain.hash.clone(), family),
                    (look.kind, look.run.as_ref()),
                    (id.clone(), seen, &look.span),
                    &new,
                );
                added.push(&line)?;
                let seen = Arc::new(look.candles.within(&look.span));
                let (candles, root) = (id.clone(), root.clone());
                known.extend(new.iter().map(|note| KnownVariant::new(note, (&candles, &root), look, &seen)));
            }
            newly_noted.push(new.len() as u64);
            families.push((family.clone(), known));
        }
        for ((family, _), noted) in families.iter().zip(newly_noted) {
            let of_family = |run: &String| contents.runs.get(&(family.strategy.clone(), run.clone()));
            let Some(run) = look.run.as_ref().and_then(of_family).filter(|run| !run.is_done) else {
                continue;
            };
            added.push(&run.with_progress(look.end, noted, added.chain.hash.clone()))?;
        }
        self.append(&mut file, &text, &added)?;
        Ok(Self::to_summary((&contents, &others), families, root, look))
    }

    fn to_summary(
        (contents, others): (&LedgerContents<'_>, &OtherLedgers<'_>),
        families: Vec<(Family, Vec<KnownVariant>)>,
        root: String,
        look: &Look,
    ) -> LedgerSummary {
        let own = look.run.as_deref();
        let strategies = || families.iter().map(|(family, _)| family.strategy.as_str());
        let under_way = strategies().map(|strategy| {
            let runs = others.unfinished_runs(strategy, (contents, own));
            (strategy.to_owned(), runs.iter().map(|(line, _)| line.sets).sum())
        });
        let other_ledgers: BTreeSet<_> = strategies().flat_map(|name| others.ledgers_with(name)).collect();
        let mut lost: Vec<String> = contents.gap.iter().cloned().collect();
        lost.extend(strategies().flat_map(|name| others.find_gaps(name, contents)).collect::<BTreeSet<_>>());
        LedgerSummary {
            under_way: under_way.collect(),
            other_ledgers: other_ledgers.into_iter().collect(),
            is_first: contents.is_first_run(own) && others.contain_no_other_run(own),
            gaps: (!lost.is_empty()).then(|| lost.join("; ")),
            families,
            root,
        }
    }

    pub(super) fn append(&self, file: &mut File, before: &str, added: &NewLines) -> io::Result<()> {
        if added.text.is_empty() {
            return Ok(());
        }
        let is_truncated = !before.is_empty() && !before.ends_with('\n');
        let whole = if is_truncated { format!("\n{}", added.text) } else { added.text.clone() };
        file.write_all(whole.as_bytes())?;
        let Some(receipt) = &self.receipt else { return Ok(()) };
        file.sync_data()?;
        receipt.save(&added.chain, added.strategies.clone())
    }

    pub(super) fn read_receipt(&self) -> io::Result<ReceiptState> {
        self.receipt.as_ref().map_or(Ok(ReceiptState::Nothing), Receipt::read)
    }

    /// Records the planned sets of a run before any of them starts.
    ///
    /// Planned sets count as tried until the run records its results. If the process is killed, they count until
    /// another process resumes the run and records the results.
    pub fn record_planned(&self, strategy: &str, sets: u64, look: &Look) -> io::Result<()> {
        let Some(run) = &look.run else { return Ok(()) };
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
        file.lock()?;
        let text = read_text(&mut file)?;
        let contents = LedgerContents::new(&text, self.read_receipt()?);
        let (strategy, run) = (strategy.to_owned(), run.clone());
        let known = contents.runs.get(&(strategy.clone(), run.clone()));
        let (before, unclosed) = known.map_or((0, 0), |known| (known.sets, known.unclosed));
        if sets == 0
            || known.is_some_and(|known| known.is_done || (before, unclosed) == (before.max(sets), before))
        {
            return Ok(());
        }
        let mut added = NewLines::new(&contents)?;
        let id = look.candles_id();
        if !contents.candles.contains(&id) {
            let root = contents.candles.resolve_root(&id, look);
            added.push(&CandlesLine::new((added.chain.hash.clone(), id.clone(), root), look))?;
        }
        added.strategies.insert(strategy.clone());
        let (chain, on) = (added.chain.hash.clone(), Some(SampledPart::new(&id, look)));
        added.push(&RunLine {
            chain,
            strategy,
            run,
            sets: sets.max(before),
            unclosed: before,
            is_done: false,
            on,
        })?;
        self.append(&mut file, &text, &added)
    }
}

fn find_new_notes<'a>(
    notes: &[&'a VariantNote],
    known: &[KnownVariant],
    root: &str,
    span: &Range<Millis>,
) -> Vec<&'a VariantNote> {
    let here = known.iter().filter(|one| one.root == root && one.span == *span);
    let mut seen: HashSet<_> = here.map(|one| (one.variant.as_str(), one.trades_hash.as_deref())).collect();
    let mut new = Vec::new();
    for note in notes {
        if seen.insert((&note.variant.name, note.trades_hash.as_deref())) {
            new.push(*note);
        }
    }
    new
}

impl KnownVariant {
    fn new(note: &VariantNote, (candles, root): (&str, &str), look: &Look, seen: &Arc<CandleSample>) -> Self {
        Self {
            variant: note.variant.name.clone(),
            p_value: note.p_value,
            daily_sharpe: note.daily_sharpe,
            trades_hash: note.trades_hash.clone(),
            candles_id: candles.to_owned(),
            root: root.to_owned(),
            span: look.span.clone(),
            sample: Arc::clone(seen),
            is_single_run_to_end: look.kind.is_single_run() && look.candles.ends_at(look.span.end),
        }
    }
}

impl RunLine {
    pub(super) fn with_progress(&self, end: LookEnd, noted: u64, chain: String) -> Self {
        let (unclosed, is_done) = match end {
            LookEnd::Whole => (0, true),
            LookEnd::Stopped => (self.unclosed.saturating_sub(noted), false),
        };
        let (strategy, run, on) = (self.strategy.clone(), self.run.clone(), self.on.clone());
        Self { chain, strategy, run, sets: unclosed, unclosed, is_done, on }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LookKind;
    use super::super::tests::{Fixture, candles, look, look_at, note};
    use super::*;
    use candlewick_sdk::Candle;
    use candlewick_sdk::testkit::random_walk;
    use std::fs;

    fn count(ledger: &VariantLedger, notes: &[VariantNote], hour: i64) -> usize {
        ledger.record_variants(notes, &look(hour)).unwrap().families[0].1.len()
    }

    fn noted(ledger: &VariantLedger, strategy: &str, variant: u32) -> LedgerSummary {
        ledger.record_variants(&[note(strategy, variant)], &look(0)).unwrap()
    }

    fn lost(fixture: &Fixture) -> Option<String> {
        noted(&fixture.ledger(), "rsi", 7).gaps
    }

    fn receipt(fixture: &Fixture) -> PathBuf {
        fs::read_dir(fixture.0.path().join("state")).unwrap().next().unwrap().unwrap().path()
    }

    /// Returns the number of distinct roots after a look at the first `count` candles of `all`.
    fn roots(ledger: &VariantLedger, all: &[Candle], count: usize) -> usize {
        let look = look_at(candles("BTCUSDT", &all[..count]));
        let known = ledger.record_variants(&[note("grown", 1)], &look).unwrap().families.remove(0).1;
        known.into_iter().map(|known| known.root).collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn each_variant_is_noted_once_on_the_same_candles() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        assert!(noted(&ledger, "rsi", 1).is_first);
        let before = fs::read_to_string(ledger.path()).unwrap();
        assert_eq!(count(&ledger, &[note("rsi", 1)], 0), 1);
        assert_eq!(fs::read_to_string(ledger.path()).unwrap(), before);
        assert_eq!(count(&ledger, &[note("rsi", 2), note("rsi", 3), note("rsi", 2)], 0), 3);
        assert_eq!(count(&ledger, &[note("rsi", 1)], 1), 4);
        assert_eq!(count(&ledger, &[note("cross", 1)], 0), 1);
        let again = noted(&ledger, "cross", 1);
        assert_eq!((again.is_first, again.gaps), (false, None));
        // The candles are written once, however many lines refer to them.
        assert_eq!(fs::read_to_string(ledger.path()).unwrap().matches("\"sample\":").count(), 1);
    }

    #[test]
    fn whatever_byte_a_kill_stops_at_the_whole_lines_count() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = VariantLedger::new(folder.path().join("variants.jsonl"));
        for variant in 1..4 {
            noted(&ledger, "rsi", variant);
        }
        let whole = fs::read_to_string(ledger.path()).unwrap();
        let candles = whole.lines().next().unwrap().len() + 1;
        let cuts = (0..candles).step_by(97).chain(candles..=whole.len());
        for length in cuts {
            fs::write(ledger.path(), &whole[..length]).unwrap();
            // A line that lacks only its newline is complete.
            let kept = whole[..length].lines().filter(|line| line.ends_with("]]}")).count();
            for (new, variant) in (1..).zip([9, 10]) {
                let found = noted(&ledger, "rsi", variant);
                assert_eq!((found.families[0].1.len(), found.gaps), (kept + new, None), "cut at {length}");
            }
        }
    }

    #[test]
    fn a_ledger_that_is_missing_emptied_shortened_or_changed_says_so_from_then_on() {
        let damages: [fn(&str) -> Option<String>; 5] = [
            |_| None,
            |_| Some(String::new()),
            |whole| Some(whole.lines().take(3).flat_map(|line| [line, "\n"]).collect()),
            |whole| Some(whole.replacen("0000000000000001", "000000000000000f", 1)),
            |whole| Some(whole.lines().skip(1).flat_map(|line| [line, "\n"]).collect()),
        ];
        for (number, damage) in damages.into_iter().enumerate() {
            let fixture = Fixture::new();
            for variant in 1..4 {
                assert_eq!(noted(&fixture.ledger(), "rsi", variant).gaps, None);
            }
            let path = fixture.0.path().join("variants.jsonl");
            match damage(&fs::read_to_string(&path).unwrap()) {
                Some(rest) => fs::write(&path, rest).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let said = lost(&fixture).unwrap_or_else(|| panic!("{number}"));
            // One more line records the loss, and every later run reports it.
            assert_eq!(lost(&fixture), Some(said.clone()), "{number}");
            let again = noted(&fixture.ledger(), "rsi", 8);
            assert_eq!((again.gaps, again.is_first), (Some(said), false), "{number}");
        }
    }

    #[test]
    fn what_a_kill_left_between_the_ledger_and_its_receipt_is_no_loss() {
        let fixture = Fixture::new();
        lost(&fixture);
        let receipt = receipt(&fixture);
        let before = fs::read(&receipt).unwrap();
        noted(&fixture.ledger(), "rsi", 8);
        fs::write(&receipt, &before).unwrap();
        assert_eq!(lost(&fixture), None);
    }

    #[test]
    fn a_receipt_that_cannot_be_read_is_said_from_then_on() {
        for cut in [0, 9] {
            let fixture = Fixture::new();
            assert_eq!(lost(&fixture), None);
            let receipt = receipt(&fixture);
            fs::write(&receipt, &fs::read(&receipt).unwrap()[..cut]).unwrap();
            let looks = fixture.ledger().earlier_looks("rsi", &look(0).candles, "").unwrap();
            assert!(looks.gaps.len() == 1 && looks.gaps[0].contains("cannot be read"), "{looks:?}");
            let said = lost(&fixture).unwrap();
            assert!(said.contains(receipt.to_str().unwrap()), "{said}");
            let again = noted(&fixture.ledger(), "rsi", 8);
            assert_eq!((again.gaps, again.is_first), (Some(said), false));
        }
    }

    #[test]
    fn what_a_ledger_of_another_name_in_the_same_project_knows_counts_too() {
        let fixture = Fixture::new();
        let (old, new) = (fixture.named("old.jsonl"), fixture.named("new.jsonl"));
        assert_eq!(count(&old, &[note("rsi", 1), note("rsi", 2)], 0), 2);
        assert_eq!(count(&old, &[note("ema", 1)], 0), 1);
        let sweep = sweep("r1", LookEnd::Whole);
        old.record_planned("rsi", 20, &sweep).unwrap();
        let found = noted(&new, "rsi", 3);
        assert_eq!((found.families[0].1.len(), found.under_way["rsi"], found.is_first), (3, 20, false));
        assert_eq!((&found.other_ledgers[..], found.gaps), (&[old.path().to_owned()][..], None));
        let found = noted(&new, "cross", 1);
        assert_eq!((found.families[0].1.len(), found.other_ledgers.len()), (1, 0));
        new.record_planned("rsi", 12, &sweep).unwrap();
        assert_eq!(noted(&old, "rsi", 1).under_way["rsi"], 12);
        assert_eq!(new.record_variants(&[note("rsi", 4)], &sweep).unwrap().under_way["rsi"], 0);
        assert_eq!(noted(&old, "rsi", 1).families[0].1.len(), 4);
        // A file that grew has the same first candles in both ledgers.
        let all = random_walk(1, 400);
        for (ledger, count) in [(&old, 200), (&new, 300), (&old, 400), (&new, 400)] {
            assert_eq!(roots(ledger, &all, count), 1, "{count}");
        }
    }

    #[test]
    fn a_lost_ledger_of_another_name_is_said_of_its_strategies_and_a_renamed_one_is_not_lost() {
        let fixture = Fixture::new();
        let (old, new) = (fixture.named("old.jsonl"), fixture.named("new.jsonl"));
        noted(&old, "rsi", 1);
        let whole = fs::read(old.path()).unwrap();
        fs::rename(old.path(), new.path()).unwrap();
        let found = |strategy| noted(&new, strategy, 2);
        assert_eq!((found("rsi").gaps, found("rsi").families[0].1.len()), (None, 2));
        fs::remove_file(new.path()).unwrap();
        let third = fixture.named("third.jsonl");
        let lost = |strategy| noted(&third, strategy, 3).gaps;
        let said = lost("rsi").unwrap();
        assert!(said.contains("old.jsonl: the file is missing") && said.contains("new.jsonl: "), "{said}");
        assert_eq!(lost("cross"), None);
        fs::write(old.path(), whole).unwrap();
        assert!(!lost("rsi").unwrap().contains("old.jsonl"));
    }

    #[test]
    fn a_ledger_that_begins_with_a_run_is_new_to_that_run_alone() {
        let fixture = Fixture::new();
        let run = |run: &str| Look { run: Some(run.to_owned()), ..look(0) };
        let is_first =
            |look: &Look| fixture.ledger().record_variants(&[note("rsi", 1)], look).unwrap().is_first;
        fixture.ledger().record_planned("rsi", 20, &run("r1")).unwrap();
        assert!(is_first(&run("r1")) && is_first(&run("r1")));
        assert!(!is_first(&run("r2")) && !is_first(&look(0)));
    }

    #[test]
    fn candles_that_became_fewer_after_a_look_are_another_choice() {
        let (fixture, all) = (Fixture::new(), random_walk(1, 400));
        let ledger = fixture.ledger();
        let found = [200, 300, 250, 240, 260, 300, 400, 399].map(|count| roots(&ledger, &all, count));
        assert_eq!(found, [1, 1, 2, 3, 3, 3, 3, 3]);
    }

    #[test]
    fn writers_and_readers_at_once_lose_nothing() {
        let fixture = Fixture::new();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let ledger = fixture.ledger();
                scope.spawn(move || {
                    for variant in 0..25 {
                        noted(&ledger, "rsi", writer * 100 + variant);
                        let looks = ledger.earlier_looks("cross", &look(0).candles, "").unwrap();
                        assert_eq!(looks.gaps, [""; 0]);
                    }
                });
            }
        });
        assert_eq!(count(&fixture.ledger(), &[note("rsi", 0)], 0), 100);
        assert_eq!(lost(&fixture), None);
    }

    #[test]
    fn a_ledger_of_before_is_read_on() {
        let fixture = Fixture::new();
        let older = "{\"key\":\"0123456789abcdef\",\"strategy\":\"rsi\",\"symbols\":[\"BTCUSDT\"],\"interval\":\"1m\",\
                     \"from\":0,\"to\":9,\"variants\":[[\"a\",0.5,null],[\"b\",null,0.1]]}\n";
        fs::write(fixture.ledger().path(), older).unwrap();
        assert_eq!(count(&fixture.ledger(), &[note("rsi", 1)], 0), 3);
        assert_eq!(lost(&fixture), None);
    }

    fn sweep(run: &str, end: LookEnd) -> Look {
        Look { kind: LookKind::Sweep, run: Some(run.to_owned()), end, ..look(0) }
    }

    #[test]
    fn what_a_run_set_out_to_try_counts_until_it_is_noted_and_once() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let under_way = || noted(&ledger, "rsi", 0).under_way["rsi"];
        ledger.record_planned("rsi", 20, &sweep("r1", LookEnd::Stopped)).unwrap();
        ledger.record_planned("cross", 7, &sweep("r2", LookEnd::Stopped)).unwrap();
        assert_eq!(under_way(), 20);
        let ran = [note("rsi", 1), note("rsi", 2)];
        let found = ledger.record_variants(&ran, &sweep("r1", LookEnd::Stopped)).unwrap();
        assert_eq!((found.under_way["rsi"], found.families[0].1.len(), under_way()), (0, 3, 0));
        ledger.record_planned("rsi", 18, &sweep("r1", LookEnd::Stopped)).unwrap();
        assert_eq!(under_way(), 18);
        let all = [&ran[..], &[note("rsi", 3)]].concat();
        assert_eq!(
            ledger.record_variants(&all, &sweep("r1", LookEnd::Whole)).unwrap().families[0].1.len(),
            4
        );
        let whole = fs::read_to_string(ledger.path()).unwrap();
        // If a run was recorded completely, a repeated run plans no sets.
        ledger.record_planned("rsi", 20, &sweep("r1", LookEnd::Stopped)).unwrap();
        ledger.record_variants(&all, &sweep("r1", LookEnd::Whole)).unwrap();
        assert_eq!((under_way(), fs::read_to_string(ledger.path()).unwrap()), (0, whole));
        assert_eq!(noted(&ledger, "rsi", 0).gaps, None);
    }

    #[test]
    fn whatever_is_left_of_a_killed_run_it_counts_no_less_than_it_may_have_tried() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let count = || {
            let found = noted(&ledger, "rsi", 0);
            (found.families[0].1.len() - 1, found.under_way["rsi"])
        };
        let begin = |sets| ledger.record_planned("rsi", sets, &sweep("r1", LookEnd::Stopped)).unwrap();
        let ran = |ran: u32, end: LookEnd| {
            let ran: Vec<_> = (1..=ran).map(|variant| note("rsi", variant)).collect();
            ledger.record_variants(&ran, &sweep("r1", end)).unwrap();
        };
        // The run is interrupted after two sets. The next process plans the remaining sets and is killed.
        begin(20);
        ran(2, LookEnd::Stopped);
        begin(18);
        assert_eq!(count(), (2, 18));
        // The journal of the run is lost or truncated. The run restarts, records one more set, and is interrupted.
        begin(20);
        begin(12);
        ran(3, LookEnd::Stopped);
        assert_eq!(count(), (3, 17 + 2));
        begin(17);
        ran(5, LookEnd::Stopped);
        assert_eq!(count(), (5, 15 + 2));
        begin(15);
        ran(20, LookEnd::Whole);
        assert_eq!(count(), (20, 0));
    }
}
