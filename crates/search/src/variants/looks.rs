//! Who looked at candles before, as ledgers know it.

use super::chain::Receipt;
use super::contents::{Contents, text_of};
use super::{CandleSample, LookKind, VariantLedger};
use std::fs::File;
use std::io;
use std::path::Path;

/// Earlier looks at some candles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierLooks {
    /// By the same strategy, each kind with its number.
    pub same_strategy: Vec<(LookKind, u64)>,
    /// Whether nothing was noted before: who looked then is not known.
    pub is_first: bool,
    /// What is known to be missing of ledgers.
    pub lost: Vec<String>,
}

impl VariantLedger {
    /// Which earlier runs of a strategy looked at these candles, whatever they were called; those of `run` are its own. Ledgers of
    /// another name that were kept in the same project know, too.
    ///
    /// # Errors
    /// Those of the files and of their receipts.
    pub fn earlier_looks(
        &self,
        strategy: &str,
        candles: &CandleSample,
        run: &str,
    ) -> io::Result<EarlierLooks> {
        let mut looks = EarlierLooks { is_first: true, ..EarlierLooks::default() };
        self.add_looks(&mut looks, (strategy, candles, run))?;
        for other in self.receipt.as_ref().map_or(Ok(Vec::new()), Receipt::other_ledgers)? {
            match other {
                Ok(path) => Self { receipt: self.receipt_of(&path), path }
                    .add_looks(&mut looks, (strategy, candles, run))?,
                Err(receipt) => {
                    let receipt = receipt.display();
                    looks.lost.push(format!("{receipt}: it does not say where its ledger is"));
                }
            }
        }
        looks.same_strategy.sort_unstable();
        Ok(looks)
    }

    fn add_looks(
        &self,
        looks: &mut EarlierLooks,
        (strategy, candles, run): (&str, &CandleSample, &str),
    ) -> io::Result<()> {
        // Before the ledger: whoever writes between the two makes it longer than the receipt says, which is no loss.
        let seen = self.seen_before()?;
        let text = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            file => {
                let mut file = file?;
                file.lock_shared()?;
                text_of(&mut file)?
            }
        };
        let contents = Contents::of(&text, seen);
        looks.is_first &= contents.is_first(Some(run));
        looks.lost.extend(contents.lost.iter().map(|lost| format!("{}: {lost}", self.path.display())));
        if contents.sets_under_way(strategy, Some(run)) > 0 {
            let path = self.path.display();
            looks.lost.push(format!("{path}: a search that was stopped or is under way may have seen them"));
        }
        for line in contents.tried(strategy) {
            let is_own = line.run.as_deref() == Some(run);
            if is_own || candles.seen_in(&line.sample(&contents.candles)).is_none() {
                continue;
            }
            match looks.same_strategy.iter_mut().find(|(kind, _)| *kind == line.kind) {
                Some((_, count)) => *count += 1,
                None => looks.same_strategy.push((line.kind, 1)),
            }
        }
        Ok(())
    }

    /// Of another ledger in the same project.
    fn receipt_of(&self, ledger: &Path) -> Option<Receipt> {
        Some(Receipt::of(self.receipt.as_ref()?.folder(), ledger))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ledger::tests::{Fixture, candles, look, note};
    use super::super::{Look, LookKind};
    use super::*;
    use candlewick_sdk::testkit::random_walk;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn whoever_reads_while_another_writes_misses_nothing() {
        let (fixture, look, is_done) = (Fixture::new(), look(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let write = || {
                for variant in 0..40 {
                    fixture.ledger().note(&[note("rsi", variant)], &look).unwrap();
                }
                is_done.store(true, Ordering::SeqCst);
            };
            scope.spawn(write);
            for _ in 0..4 {
                scope.spawn(|| {
                    while !is_done.load(Ordering::SeqCst) {
                        // Of another strategy: as quick as can be.
                        let looks = fixture.ledger().earlier_looks("cross", &look.candles, "").unwrap();
                        assert_eq!(looks.lost, [""; 0]);
                    }
                });
            }
        });
    }

    #[test]
    fn a_ledger_of_another_name_in_the_same_project_knows_of_looks_and_of_its_own_loss() {
        let fixture = Fixture::new();
        let named = |name: &str| {
            VariantLedger::new(fixture.0.path().join(name)).with_receipt_in(&fixture.0.path().join("state"))
        };
        let looks = || named("new.jsonl").earlier_looks("rsi", &look(0).candles, "").unwrap();
        assert_eq!((looks().is_first, looks().lost.len()), (true, 0));
        named("old.jsonl").note(&[note("rsi", 1)], &look(0)).unwrap();
        assert_eq!((looks().same_strategy, looks().is_first), (vec![(LookKind::Backtest, 1)], false));
        std::fs::remove_file(named("old.jsonl").path()).unwrap();
        let lost = looks().lost;
        assert!(lost.len() == 1 && lost[0].contains("old.jsonl: the file is missing or empty"), "{lost:?}");
    }

    #[test]
    fn a_search_that_was_killed_may_have_looked_until_it_is_noted() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let lost =
            |strategy: &str, run: &str| ledger.earlier_looks(strategy, &look(2).candles, run).unwrap().lost;
        ledger.begin("rsi", "r1", 20).unwrap();
        let found = lost("rsi", "r2");
        assert!(found.len() == 1 && found[0].contains("may have seen them"), "{found:?}");
        assert_eq!((lost("cross", "r2"), lost("rsi", "r1")), (vec![], vec![]));
        let sweep = Look { kind: LookKind::Sweep, run: Some("r1".to_owned()), ..look(0) };
        ledger.note(&[note("rsi", 1)], &sweep).unwrap();
        assert_eq!(lost("rsi", "r2"), [""; 0]);
    }

    #[test]
    fn earlier_looks_at_the_same_candles_are_found_under_another_name() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let all = random_walk(1, 180);
        let hour = |name: &str, hour: usize| candles(name, &all[60 * hour..60 * (hour + 1)]);
        let looks = |strategy: &str, candles: &CandleSample, run: &str| {
            ledger.earlier_looks(strategy, candles, run).unwrap().same_strategy
        };
        assert_eq!(looks("rsi", &hour("MINE", 2), ""), []);
        ledger.note(&[note("rsi", 1)], &look(1)).unwrap();
        let walk = Look { kind: LookKind::WalkForward, run: Some("r1".to_owned()), ..look(1) };
        ledger.note(&[note("rsi", 2)], &walk).unwrap();
        for name in ["BTCUSDT", "MINE"] {
            assert_eq!(looks("rsi", &hour(name, 2), ""), [], "another hour");
            let both = [(LookKind::Backtest, 1), (LookKind::WalkForward, 1)];
            assert_eq!(looks("rsi", &hour(name, 1), "r2"), both);
            assert_eq!(looks("rsi", &hour(name, 1), "r1"), both[..1]);
            assert_eq!(looks("cross", &hour(name, 1), ""), []);
        }
    }
}
