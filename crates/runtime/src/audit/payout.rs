//! Audit of payout changes, with the win rate that a strategy then needs.

use super::{Audit, Finding};
use candlewick_sdk::{Payout, Symbol};
use candlewick_statistics::break_even;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct PayoutAudit {
    last: BTreeMap<Symbol, Payout>,
}

impl PayoutAudit {
    pub(crate) fn recall(&mut self, symbol: Symbol, payout: Payout) {
        self.last.insert(symbol, payout);
    }

    pub(crate) fn take(&mut self, symbol: Symbol, payout: Payout) -> Option<Finding> {
        let before = self.last.insert(symbol, payout).filter(|before| *before != payout)?;
        let needed = |payout: Payout| {
            break_even(payout.to_fraction()).map_or("-".to_owned(), |rate| format!("{:.2} %", rate * 100.0))
        };
        let text = format!(
            "{symbol} pays {payout} % instead of {before} %: a strategy breaks even at {} wins instead of {}",
            needed(payout),
            needed(before)
        );
        let finding = if payout < before { Finding::alarm } else { Finding::note };
        Some(finding(Audit::Payout, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Weight;

    #[test]
    fn a_change_is_told_with_both_break_evens_and_a_cut_is_an_alarm() {
        let payout = |percent: i32| Payout::from_percent(percent.into()).unwrap();
        let symbol = "BTCUSDT".parse().unwrap();
        let mut audit = PayoutAudit::default();
        audit.recall(symbol, payout(85));
        assert_eq!(audit.take(symbol, payout(85)), None);
        // 1 / 1.8 and 1 / 1.85.
        let cut = audit.take(symbol, payout(80)).unwrap();
        assert!(cut.text.contains("55.56 %") && cut.text.contains("54.05 %"), "{}", cut.text);
        assert_eq!(cut.weight, Weight::Alarm);
        assert!(
            audit.take(symbol, payout(57)).unwrap().text.starts_with("BTCUSDT pays 57 % instead of 80 %")
        );
        audit.take(symbol, payout(80));
        assert_eq!(audit.take(symbol, payout(90)).map(|rise| rise.weight), Some(Weight::Note));
    }
}
