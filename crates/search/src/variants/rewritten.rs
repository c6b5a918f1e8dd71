//! Hashes of trade results, and detection of strategies whose code changed while candles were added.

use super::{KnownVariant, LedgerSummary, Look, VariantLedger, VariantNote};
use crate::sweep::{Figures, Timeline};
use candlewick_engine::{IntentRow, TradeBook};
use candlewick_sdk::{Millis, Outcome};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

impl Figures {
    pub fn trades_hash(&self) -> String {
        hash_outcomes([self.won, self.lost, self.draw, self.cancelled], &self.timeline)
    }
}

pub fn join_hashes(hashes: &[String]) -> String {
    blake3::hash(hashes.join(" ").as_bytes()).to_hex()[..16].to_owned()
}

pub fn trades_hash(book: &TradeBook, bots: &[usize], span: &Range<Millis>) -> String {
    hash_trades(book, &|row| bots.contains(&row.approved.bot().index()), span)
}

/// Returns the hash of the trades that closed by the end of `span`, as if the candles of the run ended there.
pub fn trades_hash_of_closed(book: &TradeBook, bots: &[usize], span: &Range<Millis>) -> String {
    let has_closed = |row: &IntentRow| row.close_time.is_some_and(|close| close <= span.end);
    hash_trades(book, &|row| bots.contains(&row.approved.bot().index()) && has_closed(row), span)
}

fn hash_trades(book: &TradeBook, is_own: &dyn Fn(&IntentRow) -> bool, span: &Range<Millis>) -> String {
    let own = || book.rows().iter().filter(|row| is_own(row));
    let count = |outcome| own().filter(|row| row.outcome == Some(outcome)).count() as u64;
    let counts = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled].map(count);
    hash_outcomes(counts, &Timeline::from_rows(own(), span))
}

fn hash_outcomes(counts: [u64; 4], timeline: &Timeline) -> String {
    let mut hasher = blake3::Hasher::new();
    for count in counts {
        hasher.update(&count.to_le_bytes());
    }
    hasher.update(&timeline.longest_trade_parts().to_le_bytes());
    for (won, lost) in timeline.parts() {
        hasher.update(&won.to_le_bytes()).update(&lost.to_le_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

const MAX_SPOT_CHECKS: usize = 8;

/// Callback that runs the sets at these indices up to a time. Returns their trades hashes, `None` for invalid sets.
pub type RerunFn<'a> = dyn Fn(&[usize], Millis) -> io::Result<Vec<Option<String>>> + 'a;

impl VariantLedger {
    /// Reruns sets of a sweep on the candles of earlier runs, and records the sets whose trades have changed since.
    ///
    /// A few sets are rerun on the candles of their first and last earlier run. If any set differs, all sets are
    /// rerun. Returns whether anything was recorded.
    pub fn record_changed_sets(
        &self,
        noted: &LedgerSummary,
        sets: &[VariantNote],
        look: &Look,
        run: &RerunFn<'_>,
    ) -> io::Result<bool> {
        let whole: Vec<usize> = (0..sets.len()).filter(|place| sets[*place].trades_hash.is_some()).collect();
        let few = whole.len().min(MAX_SPOT_CHECKS);
        let spread: Vec<usize> = (0..few).map(|number| whole[number * whole.len() / few]).collect();
        if rerun_sets(noted, (sets, &spread), look, run)?.is_empty() {
            return Ok(false);
        }
        for (span, rewritten) in rerun_sets(noted, (sets, &whole), look, run)? {
            self.record_variants(&rewritten, &Look { span, ..look.clone() })?;
        }
        Ok(true)
    }
}

fn rerun_sets(
    noted: &LedgerSummary,
    (sets, places): (&[VariantNote], &[usize]),
    look: &Look,
    run: &RerunFn<'_>,
) -> io::Result<Vec<(Range<Millis>, Vec<VariantNote>)>> {
    let mut stretches: BTreeMap<(Millis, Millis), Vec<usize>> = BTreeMap::new();
    for place in places {
        for Range { start, end } in noted.earlier_run_spans(&sets[*place], look) {
            stretches.entry((start, end)).or_default().push(*place);
        }
    }
    let mut rewritten = Vec::new();
    for ((start, end), places) in stretches {
        let then = places.iter().zip(run(&places, end)?).filter_map(|(place, trades)| {
            let note = VariantNote {
                variant: sets[*place].variant.clone(),
                p_value: None,
                daily_sharpe: None,
                trades_hash: trades,
            };
            (note.trades_hash.is_some() && !noted.has_variant(&note, &(start..end))).then_some(note)
        });
        let then: Vec<VariantNote> = then.collect();
        if !then.is_empty() {
            rewritten.push((start..end, then));
        }
    }
    Ok(rewritten)
}

impl LedgerSummary {
    /// Returns the shortest and the longest time range on which a variant ran before later candles were added.
    ///
    /// If a rerun has other trades up to the end of such a range ([`trades_hash_of_closed`]), something outside the
    /// variant's hash has changed, such as the code. The shortest range is covered by all versions of the code. The
    /// longest range also shows changes that affect only later trades.
    pub fn earlier_run_spans(&self, note: &VariantNote, look: &Look) -> Vec<Range<Millis>> {
        let is_before = |one: &&KnownVariant| {
            let is_this =
                (&one.variant, &one.root) == (&note.variant.name, &self.root) && one.trades_hash.is_some();
            let Range { start, end } = one.span;
            is_this && one.is_single_run_to_end && start == look.span.start && end < look.span.end
        };
        let before = || self.known_variants(note).filter(is_before).map(|one| &one.span);
        let first = before().min_by_key(|span| span.end);
        let last = before().max_by_key(|span| span.end).filter(|last| Some(*last) != first);
        first.into_iter().chain(last).cloned().collect()
    }

    pub fn has_variant(&self, note: &VariantNote, span: &Range<Millis>) -> bool {
        self.known_variants(note).any(|one| {
            (&one.variant, &one.root, &one.span) == (&note.variant.name, &self.root, span)
                && one.trades_hash == note.trades_hash
        })
    }

    fn known_variants(&self, note: &VariantNote) -> impl Iterator<Item = &KnownVariant> {
        let families = self.families.iter().filter(|(family, _)| *family == note.variant.family);
        families.flat_map(|(_, known)| known)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixture, candles, look_at, note};
    use super::super::{LookKind, VariantCount};
    use super::*;
    use candlewick_sdk::testkit::random_walk;
    use std::cell::RefCell;

    #[test]
    fn a_body_that_is_rewritten_while_candles_grow_is_another_variant() {
        let (fixture, all) = (Fixture::new(), random_walk(1, 400));
        let look = |count: usize| look_at(candles("BTCUSDT", &all[..count]));
        let with = |trades: &str| VariantNote { trades_hash: Some(trades.to_owned()), ..note("rsi", 1) };
        let noted = |trades: &str, count: usize| {
            fixture.ledger().record_variants(&[with(trades)], &look(count)).unwrap()
        };
        assert_eq!(noted("t", 200).earlier_run_spans(&with("t"), &look(200)), []);
        noted("u", 300);
        let grown = noted("v", 400);
        let [first, before] = grown.earlier_run_spans(&with("v"), &look(400)).try_into().unwrap();
        assert_eq!((&first, &before), (&look(200).span, &look(300).span), "the first and the latest");
        assert!(grown.has_variant(&with("u"), &before) && !grown.has_variant(&with("w"), &before));
        let count = |noted: &LedgerSummary| VariantCount::new(noted, &[with("v")], &look(400)).count;
        assert_eq!(count(&grown), 1);
        // On the earlier candles, the rewritten variant would have had other trades.
        fixture.ledger().record_variants(&[with("w")], &Look { span: before, ..look(400) }).unwrap();
        assert_eq!(count(&noted("v", 400)), 2);
        // The user chose this end, so it is not the end of the candles.
        let chosen = Look { span: look(400).span.start..look(350).span.end, ..look(400) };
        let noted = fixture.ledger().record_variants(&[with("x")], &chosen).unwrap();
        assert_eq!(noted.earlier_run_spans(&with("v"), &look(400)), [look(200).span, look(300).span]);
    }

    #[test]
    fn a_body_that_is_rewritten_at_each_fetch_is_as_many_variants() {
        let (fixture, all) = (Fixture::new(), random_walk(1, 800));
        let look = |count: usize| look_at(candles("BTCUSDT", &all[..count]));
        let with = |trades: String| VariantNote { trades_hash: Some(trades), ..note("rsi", 1) };
        let ledger = fixture.ledger();
        for version in 1..=6 {
            let look = look(100 + 100 * version);
            let own = with(format!("version {version} until {}", look.span.end));
            let noted = ledger.record_variants(std::slice::from_ref(&own), &look).unwrap();
            for span in noted.earlier_run_spans(&own, &look) {
                let then = with(format!("version {version} until {}", span.end));
                ledger.record_variants(&[then], &Look { span, ..look.clone() }).unwrap();
            }
            let noted = ledger.record_variants(std::slice::from_ref(&own), &look).unwrap();
            assert_eq!(VariantCount::new(&noted, &[own], &look).count, version as u64);
        }
    }

    #[test]
    fn a_sweep_whose_strategy_is_rewritten_while_candles_grow_tries_as_many_sets_again() {
        let (fixture, all) = (Fixture::new(), random_walk(1, 800));
        let ledger = fixture.ledger();
        let look = |end: usize| Look { kind: LookKind::Sweep, ..look_at(candles("BTCUSDT", &all[..end])) };
        let trades =
            |version: u32, set: usize, end: Millis| format!("version {version} of {set} until {end}");
        // The last of 21 sets ran on only a part of the candles.
        let sweep = |version: u32, look: &Look| {
            let of = |set: usize| VariantNote {
                trades_hash: (set < 20).then(|| trades(version, set, look.span.end)),
                ..note("rsi", set as u32)
            };
            let (sets, ran) = ((0..21).map(of).collect::<Vec<_>>(), RefCell::new(Vec::new()));
            let run = |places: &[usize], end: Millis| {
                ran.borrow_mut().push((places.to_vec(), end));
                // A set that is rejected on these candles has no trades.
                let found = |set: &usize| (*set != 19).then(|| trades(version, *set, end));
                Ok(places.iter().map(found).collect())
            };
            let noted = ledger.record_variants(&sets, look).unwrap();
            let is_any = ledger.record_changed_sets(&noted, &sets, look, &run).unwrap();
            let noted = ledger.record_variants(&sets, look).unwrap();
            (is_any, VariantCount::new(&noted, &sets, look).count, ran.into_inner())
        };
        assert_eq!(sweep(1, &look(200)), (false, 21, vec![]));
        // Unchanged strategy: only a few sets are rerun.
        let few = vec![0, 2, 5, 7, 10, 12, 15, 17];
        let first = look(200).span.end;
        assert_eq!(sweep(1, &look(300)), (false, 21, vec![(few.clone(), first)]));
        let every = (0..20).collect::<Vec<usize>>();
        let both = |places: &Vec<usize>| vec![(places.clone(), first), (places.clone(), look(300).span.end)];
        let (is_any, count, ran) = sweep(2, &look(400));
        assert_eq!((is_any, count, ran), (true, 40, [both(&few), both(&every)].concat()));
        // A repeated sweep records nothing new, neither on these candles nor on more candles.
        assert_eq!(sweep(2, &look(400)).1, 40);
        let (is_any, count, ran) = sweep(2, &look(500));
        assert_eq!((is_any, count, ran.len()), (false, 40, 2));
        assert_eq!(sweep(3, &look(600)).1, 59);
    }
}
