//! Earlier runs on the same candles (looks), as recorded in the ledgers.

use super::contents::LedgerContents;
use super::line::VariantsLine;
use super::{CandleSample, VariantLedger};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct Look {
    pub kind: LookKind,
    /// Id of a repeatable run. Looks with the same id count as one look.
    pub run: Option<String>,
    pub candles: CandleSample,
    /// Whether the user set the end of the candles. Otherwise, later runs may extend the candles.
    pub is_truncated: bool,
    pub span: Range<Millis>,
    pub end: LookEnd,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookEnd {
    #[default]
    Whole,
    Stopped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookKind {
    /// Backtest; the default for lines without a kind.
    #[default]
    Backtest,
    Sweep,
    /// A walk-forward run, except the hold-out.
    WalkForward,
    HoldOut,
    Sandbox,
}

impl LookKind {
    /// Returns whether the trade results of this look come from a single run over the whole time range.
    pub(super) const fn is_single_run(self) -> bool {
        matches!(self, Self::Backtest | Self::Sweep)
    }
}

impl Look {
    pub(super) fn candles_id(&self) -> String {
        let id = self.candles.id();
        if self.is_truncated { format!("{id}-cut") } else { id }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierLooks {
    pub same_strategy: Vec<(LookKind, u64)>,
    pub other_strategies: BTreeMap<String, u64>,
    pub is_first: bool,
    pub gaps: Vec<String>,
}

impl VariantLedger {
    /// Returns earlier looks at the same candles, even if the candles had other names. Looks of `run` are excluded.
    pub fn earlier_looks(
        &self,
        strategy: &str,
        candles: &CandleSample,
        run: &str,
    ) -> io::Result<EarlierLooks> {
        let ((seen, text), others) = (self.read()?, self.read_other_ledgers()?);
        let (own, others) = (LedgerContents::new(&text, seen), others.read());
        let is_first = own.is_first_run(Some(run)) && others.contain_no_other_run(Some(run));
        let mut looks = EarlierLooks { is_first, ..EarlierLooks::default() };
        looks.gaps.extend(own.gap.iter().map(|lost| format!("{}: {lost}", self.path.display())));
        looks.gaps.extend(others.find_gaps(strategy, &own));
        for (line, contents) in others.unfinished_runs(strategy, (&own, Some(run))) {
            let seen = line.on.as_ref().and_then(|on| on.sample(&contents.candles));
            if seen.is_none_or(|seen| candles.is_seen_in(&seen)) {
                let sets = line.sets;
                looks.gaps.push(format!(
                    "search {} is unfinished and may have tried {sets} sets on these candles: resume it \
                     with the same build of the program",
                    line.run
                ));
            }
        }
        // Results are cached, because many looks use the same candles.
        let mut seen_in = BTreeMap::new();
        let mut is_seen = |line: &VariantsLine, contents: &LedgerContents<'_>| {
            let look = || candles.is_seen_in(&line.sample(&contents.candles));
            if !contents.candles.contains(&line.candles) {
                return look();
            }
            *seen_in.entry((line.candles.clone(), line.from, line.to)).or_insert_with(look)
        };
        let mut known = BTreeSet::new();
        for contents in others.ledgers.iter().map(|other| &other.contents).chain([&own]) {
            for line in contents.variant_lines(|_| true) {
                if line.run.as_deref() == Some(run) || !is_seen(&line, contents) {
                    continue;
                }
                // A copied ledger repeats the same lines.
                if !line.chain.is_empty() && !known.insert(line.chain.clone()) {
                    continue;
                }
                if line.strategy != strategy {
                    *looks.other_strategies.entry(line.strategy).or_default() += 1;
                    continue;
                }
                match looks.same_strategy.iter_mut().find(|(kind, _)| *kind == line.kind) {
                    Some((_, count)) => *count += 1,
                    None => looks.same_strategy.push((line.kind, 1)),
                }
            }
        }
        looks.same_strategy.sort_unstable();
        Ok(looks)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixture, candles, closes, look, look_at, note, series};
    use super::*;
    use candlewick_sdk::Candle;
    use candlewick_sdk::testkit::random_walk;

    fn hour_of(all: &[Candle], name: &str, hour: usize) -> CandleSample {
        candles(name, &all[60 * hour..60 * (hour + 1)])
    }

    #[test]
    fn a_ledger_of_another_name_in_the_same_project_knows_of_looks_and_of_its_own_loss() {
        let fixture = Fixture::new();
        let named = |name: &str| fixture.named(name);
        let looks = || named("new.jsonl").earlier_looks("rsi", &look(0).candles, "").unwrap();
        assert_eq!((looks().is_first, looks().gaps.len()), (true, 0));
        named("old.jsonl").record_variants(&[note("rsi", 1)], &look(0)).unwrap();
        assert_eq!((looks().same_strategy, looks().is_first), (vec![(LookKind::Backtest, 1)], false));
        std::fs::remove_file(named("old.jsonl").path()).unwrap();
        let lost = looks().gaps;
        assert!(lost.len() == 1 && lost[0].contains("old.jsonl: the file is missing or empty"), "{lost:?}");
    }

    #[test]
    fn a_search_that_was_killed_may_have_looked_until_it_is_noted() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let lost = |name: &str, run: &str| ledger.earlier_looks(name, &look(2).candles, run).unwrap().gaps;
        let sweep = |hour| Look { kind: LookKind::Sweep, run: Some("r1".to_owned()), ..look(hour) };
        ledger.record_planned("rsi", 20, &sweep(2)).unwrap();
        let found = lost("rsi", "r2");
        assert!(found.len() == 1 && found[0].contains("sets on these candles"), "{found:?}");
        assert_eq!((lost("cross", "r2"), lost("rsi", "r1")), (vec![], vec![]));
        // Candles that the strategy does not run on cannot have been seen.
        let elsewhere = ledger.earlier_looks("rsi", &hour_of(&random_walk(1, 180), "X", 0), "r2").unwrap();
        assert_eq!(elsewhere.gaps, [""; 0]);
        ledger.record_variants(&[note("rsi", 1)], &sweep(0)).unwrap();
        assert_eq!(lost("rsi", "r2"), [""; 0]);
    }

    #[test]
    fn earlier_looks_at_candles_that_were_moved_in_time_are_found() {
        let fixture = Fixture::new();
        let all = random_walk(1, 2_000);
        let later = closes(1, 2_000).into_iter().skip(1_000);
        let later = later.map(|(time, close)| (time + Millis::MINUTE * 10_007, close));
        let moved = look_at(CandleSample::from_series([&series(1, later)]));
        fixture.ledger().record_variants(&[note("rsi", 1)], &moved).unwrap();
        let looks = |part: Range<usize>| {
            fixture.ledger().earlier_looks("rsi", &candles("BTCUSDT", &all[part]), "").unwrap().same_strategy
        };
        assert_eq!(looks(1_600..2_000), [(LookKind::Backtest, 1)]);
        assert_eq!(looks(0..1_000), []);
    }

    #[test]
    fn earlier_looks_at_the_same_candles_are_found_under_another_name() {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let all = random_walk(1, 180);
        let hour = |name: &str, hour: usize| hour_of(&all, name, hour);
        let looks = |strategy: &str, candles: &CandleSample, run: &str| {
            ledger.earlier_looks(strategy, candles, run).unwrap().same_strategy
        };
        assert_eq!(looks("rsi", &hour("MINE", 2), ""), []);
        ledger.record_variants(&[note("rsi", 1)], &look(1)).unwrap();
        let walk = Look { kind: LookKind::WalkForward, run: Some("r1".to_owned()), ..look(1) };
        ledger.record_variants(&[note("rsi", 2)], &walk).unwrap();
        for name in ["BTCUSDT", "MINE"] {
            assert_eq!(looks("rsi", &hour(name, 2), ""), [], "another hour");
            let both = [(LookKind::Backtest, 1), (LookKind::WalkForward, 1)];
            assert_eq!(looks("rsi", &hour(name, 1), "r2"), both);
            assert_eq!(looks("rsi", &hour(name, 1), "r1"), both[..1]);
            assert_eq!(looks("cross", &hour(name, 1), ""), []);
            // A look by a strategy with another name also counts.
            let others = |strategy, at| {
                ledger.earlier_looks(strategy, &hour(name, at), "r1").unwrap().other_strategies
            };
            assert_eq!(others("cross", 1), [("rsi".to_owned(), 1)].into());
            assert_eq!((others("rsi", 1), others("cross", 2)), Default::default());
        }
    }
}
