//! Blackouts: periods in which no trades are opened, such as around news releases.

use super::{Proposal, RiskView, Ruling, refuse_if};
use crate::EngineError;
use candlewick_sdk::{Millis, Symbol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Periods in which no trades are opened, and the file that lists these periods.
/// A configuration contains only the file name. A journal header also contains the contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "SerializedBlackouts", into = "SerializedBlackouts")]
#[schemars(with = "String")]
pub struct Blackouts {
    /// Name of the file with the periods.
    pub file: String,
    /// The blake3 hash of the file in hexadecimal, empty until the file is read.
    pub hash: String,
    /// Periods in the order of the file.
    pub spans: Vec<Blackout>,
}

/// A period in which no trades are opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blackout {
    /// Start in venue time, inclusive.
    pub from: Millis,
    /// End in venue time, exclusive.
    pub to: Millis,
    /// Affected symbols. An empty list means all symbols.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<Symbol>,
    /// Reason for the period.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum SerializedBlackouts {
    Named(String),
    Read { file: String, hash: String, spans: Vec<Blackout> },
}

impl From<SerializedBlackouts> for Blackouts {
    fn from(serialized: SerializedBlackouts) -> Self {
        match serialized {
            SerializedBlackouts::Named(file) => Self { file, ..Self::default() },
            SerializedBlackouts::Read { file, hash, spans } => Self { file, hash, spans },
        }
    }
}

impl From<Blackouts> for SerializedBlackouts {
    fn from(Blackouts { file, hash, spans }: Blackouts) -> Self {
        if hash.is_empty() { Self::Named(file) } else { Self::Read { file, hash, spans } }
    }
}

impl Blackouts {
    /// Returns whether neither a file nor periods are set.
    pub fn is_none(&self) -> bool {
        self.file.is_empty() && self.spans.is_empty()
    }

    pub(super) fn check(&self) -> Result<(), EngineError> {
        if !self.file.is_empty() && self.hash.is_empty() {
            return Err(EngineError::setting("risk.blackouts", format!("{} has not been read", self.file)));
        }
        match self.spans.iter().find(|span| span.from >= span.to) {
            Some(span) => {
                let problem = format!("blackout from {} to {} must end after its start", span.from, span.to);
                Err(EngineError::setting("risk.blackouts", problem))
            }
            None => Ok(()),
        }
    }

    pub(super) fn spans_by_symbol(&self, symbols: &[Symbol]) -> Vec<Vec<(Millis, Millis)>> {
        let of = |symbol: &Symbol| {
            let is_its = |span: &&Blackout| span.symbols.is_empty() || span.symbols.contains(symbol);
            let mut spans: Vec<_> =
                self.spans.iter().filter(is_its).map(|span| (span.from, span.to)).collect();
            spans.sort_unstable();
            let mut joined: Vec<(Millis, Millis)> = Vec::with_capacity(spans.len());
            for (from, to) in spans {
                match joined.last_mut().filter(|last| from <= last.1) {
                    Some(last) => last.1 = last.1.max(to),
                    None => joined.push((from, to)),
                }
            }
            joined
        };
        symbols.iter().map(of).collect()
    }
}

#[inline]
pub(super) fn check_blackout(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    match view.limits.blackouts.get(proposal.symbol.index()) {
        Some(spans) if !spans.is_empty() => refuse_if(is_within(spans, proposal.at)),
        _ => Ruling::Pass,
    }
}

/// Returns whether a time is in one of the periods, which are sorted, disjoint and half-open.
#[inline(never)]
fn is_within(spans: &[(Millis, Millis)], at: Millis) -> bool {
    let begun = spans.partition_point(|(from, _)| *from <= at);
    begun.checked_sub(1).is_some_and(|last| at < spans[last].1)
}

#[cfg(test)]
mod tests {
    use super::super::RiskSettings;
    use super::super::testing::Situation;
    use super::*;
    use serde_json::json;

    #[test]
    fn file_name_is_serialized_alone_until_the_file_has_been_read() {
        let named: Blackouts = serde_json::from_value(json!("news.csv")).unwrap();
        let found = (named.file.as_str(), named.spans.len(), json!(named));
        assert_eq!(found, ("news.csv", 0, json!("news.csv")));
        assert!(named.check().unwrap_err().to_string().contains("news.csv"));
        let read = json!({"file": "news.csv", "hash": "ab", "spans": [{"from": 1, "to": 2, "symbols": ["BTCUSDT"], "reason": "x"}]});
        let blackouts: Blackouts = serde_json::from_value(read.clone()).unwrap();
        assert_eq!(json!(blackouts), read);
        assert!(blackouts.check().is_ok() && !blackouts.is_none() && Blackouts::default().is_none());
        let mut turned = blackouts;
        turned.spans[0].to = Millis::new(1);
        assert!(turned.check().is_err());
    }

    #[test]
    fn rejects_signal_within_a_span_of_its_symbol() {
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
                situation.ask(check_blackout) == Ruling::Refuse
            };
            (0..3_600).filter(is_refused).collect::<Vec<i64>>()
        };
        // [10, 16) for the first symbol, [10, 15) and [30, 40) for the other.
        assert_eq!(refused(Situation::SYMBOL), (600..960).collect::<Vec<_>>());
        assert_eq!(refused(Situation::other_symbol()), (600..900).chain(1_800..2_400).collect::<Vec<_>>());
        assert_eq!(refused(crate::SymbolId::RETIRED), [0; 0]);
    }
}
