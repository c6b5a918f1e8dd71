//! Audits: what the venue says, held against what was asked, recorded or computed. What they find is counted, kept in the
//! journal as notes and shown to people. A result that the venue contradicts is corrected, or halts the run (`domain 5.10`).

mod candles;
mod payout;
mod prices;
mod profit;
mod results;
mod settlement;
mod terms;
mod wallet;

pub(crate) use candles::RevisionAudit;
pub(crate) use payout::PayoutAudit;
pub(crate) use prices::PriceAudit;
pub(crate) use profit::{ProfitRules, SettledProfit};
pub(crate) use results::{ListedResults, Settling, Source, Word, describe_result};
pub(crate) use settlement::{PriceCheck, Settlement, SettlementAudit};
pub(crate) use terms::{OrderedTerms, Terms, check_terms, staked_elsewhere};
pub(crate) use wallet::{
    APART, BonusWallets, NameCheck, Reading, UnderWayMoney, WalletAudit, WalletReading, WalletState,
};

use candlewick_engine::IntentId;
use candlewick_sdk::{Payout, Symbol};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audit {
    /// The venue's report of a trade against what was asked for.
    Terms,
    /// The wallet against the ledger.
    Wallet,
    /// A settlement against the price records and the payout.
    Settlement,
    /// A polled price against the candle of its moment.
    Price,
    /// A candle against what it was when first seen.
    Revision,
    /// A payout against the one before.
    Payout,
    /// Fields and values that this client does not know.
    Schema,
    /// The account's trades against the intents.
    Trades,
}

impl Audit {
    /// Those whose findings name what they are about, a trade or a field: the same words are the same finding.
    pub(crate) const FOUND_ONCE: [Self; 3] = [Self::Terms, Self::Settlement, Self::Schema];

    /// As it stands in a journal.
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

/// Whether a person must see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// It is kept and counted.
    Note,
    /// It is shown to people at once besides.
    Alarm,
}

/// Something that is not as it should be, or has changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) audit: Audit,
    pub(crate) weight: Weight,
    pub(crate) text: String,
}

/// How often something was looked at, and how often it was not as it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Looked at.
    pub checked: u64,
    /// Not as it should be, or changed.
    pub findings: u64,
}

/// The audits of a run.
#[derive(Debug, Default)]
pub(crate) struct Audits {
    pub(crate) wallet: WalletAudit,
    pub(crate) settlements: SettlementAudit,
    pub(crate) results: ListedResults,
    pub(crate) prices: PriceAudit,
    pub(crate) revisions: RevisionAudit,
    pub(crate) payouts: PayoutAudit,
    /// Names of what is unknown and was reported.
    unrecognised: BTreeMap<String, u64>,
    /// What earlier runs found, of the audits that find a thing once.
    found: BTreeSet<String>,
    tallies: BTreeMap<Audit, Tally>,
}

impl Finding {
    pub(crate) fn alarm(audit: Audit, text: String) -> Self {
        Self { audit, weight: Weight::Alarm, text }
    }

    pub(crate) fn note(audit: Audit, text: String) -> Self {
        Self { audit, weight: Weight::Note, text }
    }
}

impl Audits {
    /// Those of a run that follows others, which followed the wallet so far, and whose old trades opened at these payouts.
    pub(crate) fn after(
        wallet: WalletAudit,
        found: BTreeSet<String>,
        payouts: impl IntoIterator<Item = (Symbol, Payout)>,
    ) -> Self {
        let mut audits = Self { wallet, found, ..Self::default() };
        for (symbol, payout) in payouts {
            audits.payouts.recall(symbol, payout);
        }
        audits
    }

    /// Those that no earlier run has found and told people of.
    pub(crate) fn new_of(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let is_new = |finding: &Finding| {
            !Audit::FOUND_ONCE.contains(&finding.audit) || !self.found.contains(&finding.text)
        };
        findings.into_iter().filter(is_new).collect()
    }

    /// Counts so many looks.
    pub(crate) fn count(&mut self, audit: Audit, looks: usize, findings: usize) {
        let tally = self.tallies.entry(audit).or_default();
        tally.checked += looks as u64;
        tally.findings += findings as u64;
    }

    /// All counts so far.
    pub(crate) fn tallies(&self) -> BTreeMap<Audit, Tally> {
        self.tallies.clone()
    }

    /// What the venue's adapter met for the first time since it was last asked.
    pub(crate) fn take_unrecognised(&mut self, met: BTreeMap<String, u64>) -> Vec<Finding> {
        let news = met.keys().filter(|name| !self.unrecognised.contains_key(*name));
        let finding = |name: &String| {
            let text = format!("the venue sent something unknown: {name}; it was passed over");
            Finding::alarm(Audit::Schema, text)
        };
        let found: Vec<Finding> = news.map(finding).collect();
        self.unrecognised = met;
        found
    }
}

/// How an intent is named in a note, so that `explain` finds it.
pub(crate) fn named(intent: IntentId) -> String {
    format!("trade #{intent} ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_reported_once_for_each_name() {
        let mut audits = Audits::default();
        let met =
            |names: &[(&str, u64)]| names.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(audits.take_unrecognised(met(&[("Trade.reverted", 1)])).len(), 1);
        assert_eq!(audits.take_unrecognised(met(&[("Trade.reverted", 9)])), []);
        let found = audits.take_unrecognised(met(&[("Trade.reverted", 9), ("User.flag", 1)]));
        assert!(found[0].text.contains("User.flag") && found[0].weight == Weight::Alarm);
        audits.count(Audit::Schema, 0, 2);
        assert_eq!(audits.tallies()[&Audit::Schema], Tally { checked: 0, findings: 2 });
    }

    #[test]
    fn what_an_earlier_run_found_of_a_trade_is_not_found_again() {
        let text = "trade #3 settled wrongly";
        let audits = Audits::after(WalletAudit::default(), BTreeSet::from([text.to_owned()]), []);
        let one = |audit, text: &str| Finding::alarm(audit, text.to_owned());
        let findings = vec![
            one(Audit::Settlement, text),
            one(Audit::Settlement, "trade #4 settled wrongly"),
            // Money may come into a wallet again.
            one(Audit::Wallet, text),
        ];
        assert_eq!(audits.new_of(findings.clone()), findings[1..]);
    }
}
