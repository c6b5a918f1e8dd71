//! Planned sets of runs that may have been tried but are not recorded.

use super::contents::{Added, Contents, text_of};
use super::line::{CandlesLine, RunLine, SeenPart};
use super::{Look, LookEnd, VariantLedger};
use std::fs::OpenOptions;
use std::io;

impl VariantLedger {
    /// Records the planned sets of a run before any of them starts.
    ///
    /// They count until the results are recorded, however the run ends. A finished run, or a look
    /// without a run, plans nothing. If a process of the run was killed, its planned sets count
    /// until all of them are recorded, because its results may have been lost or cut.
    pub fn begin(&self, strategy: &str, sets: u64, look: &Look) -> io::Result<()> {
        let Some(run) = &look.run else { return Ok(()) };
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
        file.lock()?;
        let text = text_of(&mut file)?;
        let contents = Contents::of(&text, self.seen_before()?);
        let (trying, run) = (strategy.to_owned(), run.clone());
        let known = contents.runs.get(&(trying.clone(), run.clone()));
        let (before, unclosed) = known.map_or((0, 0), |known| (known.sets, known.unclosed));
        if sets == 0
            || known.is_some_and(|known| known.is_done || (before, unclosed) == (before.max(sets), before))
        {
            return Ok(());
        }
        let mut added = Added::to(&contents)?;
        let id = look.candles_id();
        if !contents.candles.contains(&id) {
            let root = contents.candles.root_for(&id, look);
            added.push(&CandlesLine::of((added.chain.hash.clone(), id.clone(), root), look))?;
        }
        added.strategies.insert(trying.clone());
        let (chain, on) = (added.chain.hash.clone(), Some(SeenPart::of(&id, look)));
        added.push(&RunLine {
            chain,
            trying,
            run,
            sets: sets.max(before),
            unclosed: before,
            is_done: false,
            on,
        })?;
        self.append(&mut file, &text, &added)
    }
}

impl RunLine {
    pub(super) fn after(&self, end: LookEnd, noted: u64, chain: String) -> Self {
        let (unclosed, is_done) = match end {
            LookEnd::Whole => (0, true),
            LookEnd::Stopped => (self.unclosed.saturating_sub(noted), false),
        };
        let (trying, run, on) = (self.trying.clone(), self.run.clone(), self.on.clone());
        Self { chain, trying, run, sets: unclosed, unclosed, is_done, on }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LookKind;
    use super::super::ledger::tests::{Fixture, look, note};
    use super::*;

    fn sweep(run: &str, end: LookEnd) -> Look {
        Look { kind: LookKind::Sweep, run: Some(run.to_owned()), end, ..look(0) }
    }

    #[test]
    fn what_a_run_set_out_to_try_counts_until_it_is_noted_and_once() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let under_way = || ledger.note(&[note("rsi", 0)], &look(0)).unwrap().under_way["rsi"];
        ledger.begin("rsi", 20, &sweep("r1", LookEnd::Stopped)).unwrap();
        ledger.begin("cross", 7, &sweep("r2", LookEnd::Stopped)).unwrap();
        assert_eq!(under_way(), 20);
        let ran = [note("rsi", 1), note("rsi", 2)];
        let noted = ledger.note(&ran, &sweep("r1", LookEnd::Stopped)).unwrap();
        assert_eq!((noted.under_way["rsi"], noted.families[0].1.len(), under_way()), (0, 3, 0));
        ledger.begin("rsi", 18, &sweep("r1", LookEnd::Stopped)).unwrap();
        assert_eq!(under_way(), 18);
        let all = [&ran[..], &[note("rsi", 3)]].concat();
        assert_eq!(ledger.note(&all, &sweep("r1", LookEnd::Whole)).unwrap().families[0].1.len(), 4);
        let whole = std::fs::read_to_string(ledger.path()).unwrap();
        // Run again: whoever was noted to the end sets out for nothing.
        ledger.begin("rsi", 20, &sweep("r1", LookEnd::Stopped)).unwrap();
        ledger.note(&all, &sweep("r1", LookEnd::Whole)).unwrap();
        assert_eq!((under_way(), std::fs::read_to_string(ledger.path()).unwrap()), (0, whole));
        assert_eq!(fixture.ledger().note(&[note("rsi", 0)], &look(0)).unwrap().lost, None);
    }

    #[test]
    fn whatever_is_left_of_a_killed_run_it_counts_no_less_than_it_may_have_tried() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let count = || {
            let noted = ledger.note(&[note("rsi", 0)], &look(0)).unwrap();
            (noted.families[0].1.len() - 1, noted.under_way["rsi"])
        };
        let begin = |sets| ledger.begin("rsi", sets, &sweep("r1", LookEnd::Stopped)).unwrap();
        let stop = |ran: u32| {
            let ran: Vec<_> = (1..=ran).map(|variant| note("rsi", variant)).collect();
            ledger.note(&ran, &sweep("r1", LookEnd::Stopped)).unwrap();
        };
        // Interrupted after two sets; then all but those two are set out for, and that is killed.
        begin(20);
        stop(2);
        begin(18);
        assert_eq!(count(), (2, 18));
        // Its journal is gone or cut: it begins anew, and is interrupted after the two that are noted and one more.
        for sets in [20, 12] {
            begin(sets);
        }
        stop(3);
        assert_eq!(count(), (3, 17 + 2));
        begin(17);
        stop(5);
        assert_eq!(count(), (5, 15 + 2));
        // All of it ran.
        begin(15);
        let all: Vec<_> = (1..=20).map(|variant| note("rsi", variant)).collect();
        ledger.note(&all, &sweep("r1", LookEnd::Whole)).unwrap();
        assert_eq!(count(), (20, 0));
    }
}
