//! Parsed contents of a variant ledger, and lines to append.

use super::chain::{Chain, ReceiptState};
use super::line::{GapLine, KnownCandles, RunLine, VariantsLine};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};

#[derive(Deserialize)]
struct LineHead<'a> {
    #[serde(borrow)]
    chain: Option<Cow<'a, str>>,
    #[serde(borrow)]
    strategy: Option<Cow<'a, str>>,
    #[serde(borrow)]
    lost: Option<Cow<'a, str>>,
    #[serde(borrow)]
    trying: Option<Cow<'a, str>>,
    #[serde(borrow)]
    run: Option<Cow<'a, str>>,
}

pub(super) struct LedgerContents<'a> {
    tried: Vec<(Cow<'a, str>, &'a str)>,
    pub(super) runs: BTreeMap<(String, String), RunLine>,
    /// Ids of the recorded runs; `None` stands for runs without an id, which are not repeatable.
    recorded_runs: BTreeSet<Option<Cow<'a, str>>>,
    is_loss_recorded: bool,
    pub(super) candles: KnownCandles,
    pub(super) chain: Chain,
    pub(super) gap: Option<String>,
    hashes: Vec<String>,
}

pub(super) struct NewLines {
    pub(super) chain: Chain,
    pub(super) text: String,
    pub(super) strategies: BTreeSet<String>,
}

impl NewLines {
    pub(super) fn new(contents: &LedgerContents<'_>) -> io::Result<Self> {
        let (chain, strategies) = (contents.chain.clone(), contents.strategies());
        let mut added = Self { chain, text: String::new(), strategies };
        if let Some(lost) = contents.gap.as_ref().filter(|_| !contents.is_loss_recorded) {
            added.push(&GapLine { chain: added.chain.hash.clone(), lost: lost.clone() })?;
        }
        Ok(added)
    }

    pub(super) fn push(&mut self, line: &impl Serialize) -> io::Result<()> {
        let line = serde_json::to_string(line)?;
        self.chain.add(&line);
        self.text.push_str(&line);
        self.text.push('\n');
        Ok(())
    }
}

impl<'a> LedgerContents<'a> {
    pub(super) fn new(text: &'a str, seen: ReceiptState) -> Self {
        let (mut tried, mut candles, mut chain) = (Vec::new(), KnownCandles::default(), Chain::start());
        let (mut lost, mut is_loss_recorded, mut hashes) = (None, false, Vec::new());
        let (mut runs, mut recorded_runs) = (BTreeMap::new(), BTreeSet::new());
        let seen = match seen {
            ReceiptState::Nothing => Chain::start(),
            ReceiptState::Lines(seen) => seen,
            ReceiptState::Unreadable(why) => {
                lost = Some(why);
                Chain::start()
            }
        };
        let mut is_as_seen = seen.lines == 0;
        for line in text.lines() {
            let Ok(head) = serde_json::from_str::<LineHead<'_>>(line) else { continue };
            if head.chain.is_some_and(|before| before != chain.hash.as_str()) {
                let at = chain.lines + 1;
                lost.get_or_insert(format!("lines before line {at} were changed or removed"));
            }
            if let Some(said) = head.lost {
                (lost, is_loss_recorded) = (Some(said.into_owned()), true);
            }
            match (head.strategy, head.trying) {
                (Some(strategy), _) => {
                    tried.push((strategy, line));
                    recorded_runs.insert(head.run);
                }
                (None, Some(_)) => {
                    if let Ok(line) = serde_json::from_str::<RunLine>(line) {
                        recorded_runs.insert(head.run);
                        runs.insert((line.strategy.clone(), line.run.clone()), line);
                    }
                }
                (None, None) => candles.read(line),
            }
            chain.add(line);
            hashes.push(chain.hash.clone());
            is_as_seen |= seen == chain;
        }
        if !is_as_seen {
            let found = chain.lines;
            lost.get_or_insert(if found == 0 {
                format!("the file is missing or empty, but once had {} lines", seen.lines)
            } else {
                format!("the file has {found} lines but does not begin with the {} known lines", seen.lines)
            });
        }
        Self { tried, runs, recorded_runs, is_loss_recorded, candles, chain, gap: lost, hashes }
    }

    pub(super) fn variant_lines(&self, of: impl Fn(&str) -> bool) -> impl Iterator<Item = VariantsLine> {
        let own = self.tried.iter().filter(move |(found, _)| of(found));
        own.filter_map(|(_, line)| serde_json::from_str(line).ok())
    }

    pub(super) fn has_strategy(&self, strategy: &str) -> bool {
        self.tried.iter().any(|(found, _)| found == strategy) || self.runs_of(strategy).next().is_some()
    }

    fn strategies(&self) -> BTreeSet<String> {
        let tried = self.tried.iter().map(|(strategy, _)| strategy.to_string());
        tried.chain(self.runs.keys().map(|(strategy, _)| strategy.clone())).collect()
    }

    pub(super) fn runs_of(&self, strategy: &str) -> impl Iterator<Item = &RunLine> {
        self.runs.values().filter(move |line| line.strategy == strategy)
    }

    /// Returns whether this ledger starts with the lines of `chain`, which is the case if the file was merely renamed.
    pub(super) fn had_chain(&self, chain: &Chain) -> bool {
        let place = usize::try_from(chain.lines).unwrap_or_default().checked_sub(1);
        place.and_then(|place| self.hashes.get(place)) == Some(&chain.hash)
    }

    pub(super) fn is_first_run(&self, own: Option<&str>) -> bool {
        let is_own = |run: &Option<Cow<'_, str>>| run.is_some() && run.as_deref() == own;
        self.gap.is_none() && self.recorded_runs.iter().all(is_own)
    }
}

pub(super) fn read_text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // If a process was killed while it wrote, the text may end within a character.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
