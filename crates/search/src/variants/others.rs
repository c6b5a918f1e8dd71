//! The other variant ledgers of the project, found through receipts.

use super::VariantLedger;
use super::chain::{Chain, OtherLedger, Receipt, ReceiptState};
use super::contents::{LedgerContents, read_text};
use super::line::RunLine;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(super) struct OtherLedgerTexts {
    found: Vec<(OtherLedger, ReceiptState, String)>,
    unreadable: Vec<String>,
}

pub(super) struct OtherContents<'a> {
    ledger: &'a OtherLedger,
    seen: Option<Chain>,
    pub(super) contents: LedgerContents<'a>,
}

pub(super) struct OtherLedgers<'a> {
    pub(super) ledgers: Vec<OtherContents<'a>>,
    unreadable: &'a [String],
}

impl VariantLedger {
    pub(super) fn read(&self) -> io::Result<(ReceiptState, String)> {
        // The receipt is read first, so that a concurrent write makes the ledger longer, not shorter, than the receipt.
        let seen = self.read_receipt()?;
        let text = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            file => {
                let mut file = file?;
                file.lock_shared()?;
                read_text(&mut file)?
            }
        };
        Ok((seen, text))
    }

    /// Reads the project's other ledgers. Do not call this while this ledger is locked: two processes could deadlock.
    pub(super) fn read_other_ledgers(&self) -> io::Result<OtherLedgerTexts> {
        let Some(receipt) = &self.receipt else { return Ok(OtherLedgerTexts::default()) };
        let mut texts = OtherLedgerTexts::default();
        for other in receipt.other_ledgers()? {
            match other {
                Ok(other) => match self.with_path(&other.path).read() {
                    Ok((seen, text)) => texts.found.push((other, seen, text)),
                    Err(error) => texts.unreadable.push(format!("{}: {error}", other.path.display())),
                },
                Err(receipt) => {
                    let receipt = receipt.display();
                    texts.unreadable.push(format!("{receipt}: the receipt does not name a ledger"));
                }
            }
        }
        Ok(texts)
    }

    fn with_path(&self, path: &Path) -> Self {
        let folder = self.receipt.as_ref().map(Receipt::folder);
        Self { path: path.to_owned(), receipt: folder.map(|folder| Receipt::new(folder, path)) }
    }
}

impl OtherLedgerTexts {
    pub(super) fn read(&self) -> OtherLedgers<'_> {
        let ledgers = self.found.iter().map(|(ledger, seen, text)| {
            let contents = LedgerContents::new(text, seen.clone());
            let seen = if let ReceiptState::Lines(chain) = seen { Some(chain.clone()) } else { None };
            OtherContents { ledger, seen, contents }
        });
        OtherLedgers { ledgers: ledgers.collect(), unreadable: &self.unreadable }
    }
}

impl OtherLedgers<'_> {
    /// Returns the reasons why the variant count of a strategy may be too low. A renamed ledger is not a reason.
    pub(super) fn find_gaps(&self, strategy: &str, own: &LedgerContents<'_>) -> Vec<String> {
        let is_renamed = |other: &OtherContents<'_>| {
            other.contents.chain.lines == 0 && other.seen.as_ref().is_some_and(|chain| own.had_chain(chain))
        };
        let may_contain =
            self.ledgers.iter().filter(|other| other.ledger.may_contain(strategy) && !is_renamed(other));
        let lost = may_contain.filter_map(|other| {
            Some(format!("{}: {}", other.ledger.path.display(), other.contents.gap.as_ref()?))
        });
        lost.chain(self.unreadable.iter().cloned()).collect()
    }

    pub(super) fn ledgers_with(&self, strategy: &str) -> impl Iterator<Item = PathBuf> {
        let known = self.ledgers.iter().filter(move |other| other.contents.has_strategy(strategy));
        known.map(|other| other.ledger.path.clone())
    }

    pub(super) fn contain_no_other_run(&self, run: Option<&str>) -> bool {
        self.unreadable.is_empty() && self.ledgers.iter().all(|other| other.contents.is_first_run(run))
    }

    /// Returns other runs with unrecorded sets. Of several lines of a run, returns the one with the fewest such sets.
    pub(super) fn unfinished_runs<'a>(
        &'a self,
        strategy: &'a str,
        (own, run): (&'a LedgerContents<'a>, Option<&str>),
    ) -> Vec<(&'a RunLine, &'a LedgerContents<'a>)> {
        let mut runs: BTreeMap<&str, (&RunLine, &LedgerContents<'_>)> = BTreeMap::new();
        for contents in self.ledgers.iter().map(|other| &other.contents).chain([own]) {
            for line in contents.runs_of(strategy).filter(|line| run != Some(line.run.as_str())) {
                let furthest = runs.entry(&line.run).or_insert((line, contents));
                if line.sets < furthest.0.sets {
                    *furthest = (line, contents);
                }
            }
        }
        runs.into_values().filter(|(line, _)| line.sets > 0).collect()
    }
}
