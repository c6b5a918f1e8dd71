//! Compares the venue's reports with requests, with records and with computed values.
//! Each finding is counted, written to the journal as a note, and displayed. If the venue contradicts a booked
//! result, the run corrects the result or halts (see `domain 5.10`).

mod prices;
mod profit;
mod results;
mod settlement;
mod terms;
mod wallet;

pub(crate) use prices::{PriceAudit, RevisionAudit};
pub(crate) use profit::{ProfitRules, SettledProfit};
pub(crate) use results::{BookedResult, BookedResults, ResultSource, VenueClaim, describe_result};
pub(crate) use settlement::{PriceCheck, Settlement, SettlementAudit};
pub(crate) use terms::{ExpectedTerms, PayoutAudit, TermsCheck, check_terms, describe_stake};
pub(crate) use wallet::{
    BonusWallets, CONFIRMATION_INTERVAL, InFlightMoney, NameCheck, ReadingOutcome, WalletAudit,
    WalletReading, WalletState, magnitude,
};

use candlewick_engine::IntentId;
use candlewick_sdk::{Payout, Symbol};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audit {
    Terms,
    Wallet,
    Settlement,
    Price,
    Revision,
    Payout,
    Schema,
    Trades,
}

impl Audit {
    /// Audits that report each text only once, because each text names a specific trade or field.
    pub(crate) const DEDUPLICATED: [Self; 3] = [Self::Terms, Self::Settlement, Self::Schema];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Terms => "terms",
            Self::Wallet => "wallet",
            Self::Settlement => "settlement",
            Self::Price => "price",
            Self::Revision => "revision",
            Self::Payout => "payout",
            Self::Schema => "schema",
            Self::Trades => "trades",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Note,
    Alarm,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) audit: Audit,
    pub(crate) severity: Severity,
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub checked: u64,
    pub findings: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Audits {
    pub(crate) wallet: WalletAudit,
    pub(crate) settlements: SettlementAudit,
    pub(crate) results: BookedResults,
    pub(crate) prices: PriceAudit,
    pub(crate) revisions: RevisionAudit,
    pub(crate) payouts: PayoutAudit,
    unrecognised: BTreeMap<String, u64>,
    found: BTreeSet<String>,
    tallies: BTreeMap<Audit, Tally>,
}

impl Finding {
    pub(crate) fn alarm(audit: Audit, text: String) -> Self {
        Self { audit, severity: Severity::Alarm, text }
    }

    pub(crate) fn note(audit: Audit, text: String) -> Self {
        Self { audit, severity: Severity::Note, text }
    }
}

impl Audits {
    pub(crate) fn from_journal(
        wallet: WalletAudit,
        found: BTreeSet<String>,
        payouts: impl IntoIterator<Item = (Symbol, Payout)>,
    ) -> Self {
        let mut audits = Self { wallet, found, ..Self::default() };
        for (symbol, payout) in payouts {
            audits.payouts.restore(symbol, payout);
        }
        audits
    }

    pub(crate) fn drop_duplicates(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let is_new = |finding: &Finding| {
            !Audit::DEDUPLICATED.contains(&finding.audit) || !self.found.contains(&finding.text)
        };
        findings.into_iter().filter(is_new).collect()
    }

    pub(crate) fn add_counts(&mut self, audit: Audit, checked: usize, findings: usize) {
        let tally = self.tallies.entry(audit).or_default();
        tally.checked += checked as u64;
        tally.findings += findings as u64;
    }

    pub(crate) fn tallies(&self) -> BTreeMap<Audit, Tally> {
        self.tallies.clone()
    }

    pub(crate) fn check_unrecognised_data(&mut self, counts: BTreeMap<String, u64>) -> Vec<Finding> {
        let unknown = counts.keys().filter(|name| !self.unrecognised.contains_key(*name));
        let finding = |name: &String| {
            let text = format!("skipped unknown data from the venue: {name}");
            Finding::alarm(Audit::Schema, text)
        };
        let found: Vec<Finding> = unknown.map(finding).collect();
        self.unrecognised = counts;
        found
    }
}

/// Returns the label that identifies a trade in a note. The command `explain` searches for this label.
pub(crate) fn trade_label(intent: IntentId) -> String {
    format!("trade #{intent} ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_each_unknown_name_once() {
        let mut audits = Audits::default();
        let met = |names: &[(&str, u64)]| names.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        assert_eq!(audits.check_unrecognised_data(met(&[("Trade.reverted", 1)])).len(), 1);
        assert_eq!(audits.check_unrecognised_data(met(&[("Trade.reverted", 9)])), []);
        let found = audits.check_unrecognised_data(met(&[("Trade.reverted", 9), ("User.flag", 1)]));
        assert!(found[0].text.contains("User.flag") && found[0].severity == Severity::Alarm);
        audits.add_counts(Audit::Schema, 0, 2);
        assert_eq!(audits.tallies()[&Audit::Schema], Tally { checked: 0, findings: 2 });
    }

    #[test]
    fn drops_findings_of_earlier_runs() {
        let text = "trade #3 settled wrongly";
        let audits = Audits::from_journal(WalletAudit::default(), BTreeSet::from([text.to_owned()]), []);
        let one = |audit, text: &str| Finding::alarm(audit, text.to_owned());
        let findings = vec![
            one(Audit::Settlement, text),
            one(Audit::Settlement, "trade #4 settled wrongly"),
            // Two equal texts may describe two different payments, so equal texts are not dropped as duplicates.
            one(Audit::Wallet, text),
        ];
        assert_eq!(audits.drop_duplicates(findings.clone()), findings[1..]);
    }
}
