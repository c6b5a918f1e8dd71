//! Blackouts that protect nothing: a file without spans, spans that are over, currencies that no bot trades.

use crate::configuration::{Config, Loaded};
use crate::traded_symbols::TradedSymbols;
use candlewick_engine::Blackouts;
use candlewick_sandbox::StartTime;
use candlewick_sdk::{Millis, Symbol};
use std::collections::BTreeMap;

/// Describes all blackouts that protect nothing from `now` on.
pub(crate) fn idle_blackouts(loaded: &Loaded, now: Millis) -> Vec<String> {
    let Config { risk, sandbox, bots, .. } = &loaded.config;
    let ended = ended_blackouts(&risk.blackouts, now).map(|note| {
        let last = risk.blackouts.spans.iter().map(|span| span.to).max();
        match sandbox.start.map(|start| start.0).filter(|start| last.is_some_and(|last| *start < last)) {
            Some(start) => {
                format!("{note}; `live --sandbox` starts earlier, at {} (sandbox.start)", utc(start))
            }
            None => note,
        }
    });
    let unused = currencies_without_pair(&risk.blackouts, &TradedSymbols::new(bots));
    ended.into_iter().chain(unused).collect()
}

/// Renders a moment in UTC.
fn utc(at: Millis) -> String {
    StartTime(at).into()
}

/// Describes a file of blackouts that has no span, or whose spans are all over at `now`.
pub(crate) fn ended_blackouts(blackouts: &Blackouts, now: Millis) -> Option<String> {
    let file = &blackouts.file;
    match blackouts.spans.iter().map(|span| span.to).max() {
        None if file.is_empty() => None,
        None => Some(format!("risk.blackouts: {file} has no span, so it blocks no trade")),
        Some(last) if last <= now => {
            Some(format!("risk.blackouts: every span of {file} is over, the last one since {}", utc(last)))
        }
        Some(_) => None,
    }
}

/// Describes the currencies of spans that no traded pair has.
fn currencies_without_pair(blackouts: &Blackouts, traded: &TradedSymbols) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in blackouts.spans.iter().flat_map(|span| span.symbols.iter().map(Symbol::as_str)) {
        if traded.find_all(name).is_some_and(|pairs| pairs.is_empty()) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let names: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} ({count} {})", if *count == 1 { "span" } else { "spans" }))
        .collect();
    (!names.is_empty()).then(|| {
        format!("risk.blackouts: no bot trades a pair of {}: these spans block nothing", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::Blackout;

    fn blackouts(spans: &[(i64, i64)]) -> Blackouts {
        let span = |(from, to): &(i64, i64)| Blackout {
            from: Millis::new(*from),
            to: Millis::new(*to),
            symbols: Vec::new(),
            reason: String::new(),
        };
        Blackouts {
            file: "news.csv".to_owned(),
            hash: "ab".to_owned(),
            spans: spans.iter().map(span).collect(),
        }
    }

    #[test]
    fn notes_a_file_whose_spans_are_all_over() {
        let note = |spans: &[(i64, i64)], now| ended_blackouts(&blackouts(spans), Millis::new(now));
        let over = "risk.blackouts: every span of news.csv is over, the last one since 1970-01-01T00:00:20Z";
        // The end of a span is not part of it.
        assert_eq!(note(&[(10_000, 20_000), (1_000, 2_000)], 20_000).as_deref(), Some(over));
        assert_eq!(note(&[(10_000, 20_000), (1_000, 2_000)], 19_999), None);
        assert!(note(&[], 0).unwrap().contains("news.csv has no span"));
        assert_eq!(ended_blackouts(&Blackouts::default(), Millis::ZERO), None);
    }
}
