//! A strategy whose code changed while its candles grew: on what the earlier run saw, the later one trades otherwise.

use super::{Known, Look, Note, Noted};
use candlewick_sdk::Millis;
use std::ops::Range;

impl Noted {
    /// The stretches, up to where the candles ended then, of the first and the last earlier run of a variant before they grew to
    /// what it looks at now. The trades that closed by an end ([`trades_hash_of_closed`](super::trades_hash_of_closed)) are those of
    /// that run, unless something that its name does not know was changed. The first stretch has every version beside the others,
    /// the last one those that differ late.
    pub fn spans_before_growth(&self, note: &Note, look: &Look) -> Vec<Range<Millis>> {
        let is_before = |one: &&Known| {
            let is_this = (&one.variant, &one.root) == (&note.tried.name, &self.root) && one.trades.is_some();
            let Range { start, end } = one.span;
            is_this && one.is_to_the_end && start == look.span.start && end < look.span.end
        };
        let before = || self.known_of(note).filter(is_before).map(|one| &one.span);
        let first = before().min_by_key(|span| span.end);
        let last = before().max_by_key(|span| span.end).filter(|last| Some(*last) != first);
        first.into_iter().chain(last).cloned().collect()
    }

    /// Whether this is known on a stretch of the candles of the look, with these trades.
    pub fn knows(&self, note: &Note, span: &Range<Millis>) -> bool {
        self.known_of(note).any(|one| {
            (&one.variant, &one.root, &one.span) == (&note.tried.name, &self.root, span)
                && one.trades == note.trades
        })
    }

    fn known_of(&self, note: &Note) -> impl Iterator<Item = &Known> {
        let families = self.families.iter().filter(|(family, _)| *family == note.tried.family);
        families.flat_map(|(_, known)| known)
    }
}

#[cfg(test)]
mod tests {
    use super::super::VariantCount;
    use super::super::ledger::tests::{Fixture, candles, look, note};
    use super::*;
    use candlewick_sdk::testkit::random_walk;

    #[test]
    fn a_body_that_is_rewritten_while_candles_grow_is_another_variant() {
        let (fixture, all) = (Fixture::new(), random_walk(1, 400));
        let look = |count: usize| {
            let candles = candles("BTCUSDT", &all[..count]);
            Look { span: candles.span().unwrap(), candles, ..look(0) }
        };
        let with = |trades: &str| Note { trades: Some(trades.to_owned()), ..note("rsi", 1) };
        let noted =
            |trades: &str, count: usize| fixture.ledger().note(&[with(trades)], &look(count)).unwrap();
        assert_eq!(noted("t", 200).spans_before_growth(&with("t"), &look(200)), []);
        noted("u", 300);
        let grown = noted("v", 400);
        let [first, before] = grown.spans_before_growth(&with("v"), &look(400)).try_into().unwrap();
        assert_eq!((&first, &before), (&look(200).span, &look(300).span), "the first and the latest");
        assert!(grown.knows(&with("u"), &before) && !grown.knows(&with("w"), &before));
        let count = |noted: &Noted| VariantCount::of(noted, &[with("v")], &look(400)).count;
        assert_eq!(count(&grown), 1);
        // It would have traded otherwise then.
        let rewritten = Look { span: before, ..look(400) };
        fixture.ledger().note(&[with("w")], &rewritten).unwrap();
        assert_eq!(count(&noted("v", 400)), 2);
        // An end that somebody chose is none of the candles.
        let chosen = Look { span: look(400).span.start..look(350).span.end, ..look(400) };
        let noted = fixture.ledger().note(&[with("x")], &chosen).unwrap();
        assert_eq!(noted.spans_before_growth(&with("v"), &look(400)), [look(200).span, look(300).span]);
    }

    #[test]
    fn a_body_that_is_rewritten_at_each_fetch_is_as_many_variants() {
        let (fixture, all) = (Fixture::new(), random_walk(1, 800));
        let look = |count: usize| {
            let candles = candles("BTCUSDT", &all[..count]);
            Look { span: candles.span().unwrap(), candles, ..look(0) }
        };
        let with = |trades: String| Note { trades: Some(trades), ..note("rsi", 1) };
        let ledger = fixture.ledger();
        for version in 1..=6 {
            let look = look(100 + 100 * version);
            let own = with(format!("version {version} until {}", look.span.end));
            let noted = ledger.note(std::slice::from_ref(&own), &look).unwrap();
            for span in noted.spans_before_growth(&own, &look) {
                let then = with(format!("version {version} until {}", span.end));
                ledger.note(&[then], &Look { span, ..look.clone() }).unwrap();
            }
            let noted = ledger.note(std::slice::from_ref(&own), &look).unwrap();
            assert_eq!(VariantCount::of(&noted, &[own], &look).count, version as u64);
        }
    }
}
