//! `Blackout`: the time is within a dated span without opens.

use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Millis;

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    match view.limits.blackouts.get(proposal.symbol.index()) {
        Some(spans) if !spans.is_empty() => refuse_if(lies_in(spans, proposal.at)),
        _ => Ruling::Pass,
    }
}

/// Returns whether a time is in one of the spans, which are sorted, disjoint and half-open.
#[inline(never)]
fn lies_in(spans: &[(Millis, Millis)], at: Millis) -> bool {
    let begun = spans.partition_point(|(from, _)| *from <= at);
    begun.checked_sub(1).is_some_and(|last| at < spans[last].1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::super::{Blackout, Blackouts, RiskSettings};
    use super::*;

    #[test]
    fn a_signal_within_a_span_of_its_symbol_is_refused() {
        let span = |from: i64, to: i64, symbols: &[&str]| Blackout {
            from: Millis::MINUTE * from,
            to: Millis::MINUTE * to,
            symbols: symbols.iter().map(|symbol| symbol.parse().unwrap()).collect(),
            reason: String::new(),
        };
        let spans = vec![
            span(30, 40, &["ETHUSDT"]),
            span(10, 12, &[]),
            span(11, 15, &["BTCUSDT", "ETHUSDT"]),
            span(10, 11, &["BTCUSDT"]),
            span(15, 16, &["BTCUSDT"]),
        ];
        let blackouts = Blackouts { file: "news.csv".to_owned(), hash: "ab".to_owned(), spans };
        let mut situation = Situation::with(|risk: &mut RiskSettings| risk.blackouts = blackouts.clone());
        situation.know_symbols(&["BTCUSDT", "ETHUSDT"]);
        let mut refused = |symbol| {
            situation.proposal.symbol = symbol;
            let is_refused = |second: &i64| {
                situation.proposal.at = Millis::SECOND * *second;
                situation.ask(check) == Ruling::Refuse
            };
            (0..3_600).filter(is_refused).collect::<Vec<i64>>()
        };
        // From 10:00 until before 16:00, and of the other until before 15:00 and from 30:00 until before 40:00.
        assert_eq!(refused(Situation::SYMBOL), (600..960).collect::<Vec<_>>());
        assert_eq!(refused(Situation::other_symbol()), (600..900).chain(1_800..2_400).collect::<Vec<_>>());
        // One that only earlier runs traded has none.
        assert_eq!(refused(crate::SymbolId::RETIRED), [0; 0]);
    }
}
