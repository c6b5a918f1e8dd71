//! Life of an evidence ledger: one market, and confirmations until one of them shows an edge.

use crate::market::{Bot, Days, Dice, Market};
use candlewick_engine::judge_trades;
use candlewick_sdk::Millis;
use candlewick_search::evidence::{
    Answer, ConfirmationRequest, Entry, EvidenceLedger, LedgerError, TestedSet, confirm, day_of,
    first_sealed_day, start_of,
};
use candlewick_statistics::{EdgeTestPlan, Verdict};
use std::error::Error;
use std::path::Path;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// First sealed day of every ledger: 80 % of the days until [`END`] may be explored.
pub(crate) const SEALED: i64 = 120;
/// End of the first candles.
pub(crate) const END: i64 = 150;

pub(crate) struct Life {
    pub(crate) market: Market,
    pub(crate) dice: Dice,
    pub(crate) ledger: EvidenceLedger,
    /// Whether every test is judged with the full alpha, which the attacks must detect.
    is_broken: bool,
}

impl Life {
    /// Starts a ledger in `folder`. The life's `number` determines its market and its payout.
    pub(crate) fn start(folder: &Path, number: u64, is_broken: bool) -> Result<Self> {
        let mut dice = Dice::new(20_261_201, number);
        let market = Market::new(&mut dice, number);
        let ledger = EvidenceLedger::new(folder.join("evidence.jsonl"));
        let sealed = Entry::Sealed {
            from: first_sealed_day(&(0..END).map(|day| day_of(Millis::DAY * day)).collect()),
        };
        ledger.update(Millis::ZERO, |_| Ok::<_, LedgerError>((vec![sealed], ())))?;
        Ok(Self { market, dice, ledger, is_broken })
    }

    /// Confirms with the real ledger. Returns the number of the test, and whether it shows an edge.
    pub(crate) fn confirm(
        &self,
        request: &ConfirmationRequest,
        replay: impl FnOnce(&Days) -> Vec<TestedSet>,
    ) -> Result<(usize, bool)> {
        let mut is_luck = false;
        let confirmation = confirm(&self.ledger, request, |days| {
            let day = |day| start_of(day).get() / Millis::DAY.get();
            let run = replay(&(day(days.start)..day(days.end)));
            let verdict = |set: &TestedSet| judge_trades(&set.trades, request.plan).verdict();
            is_luck = self.is_broken && run.iter().any(|set| verdict(set) == Verdict::EdgeShown);
            Some(run)
        })?;
        Ok((confirmation.number, is_luck || confirmation.answer == Answer::Shown))
    }

    /// Confirms one bot until [`END`] and returns whether an edge is shown. The identity is the bot's settings.
    pub(crate) fn shows(&self, bot: &Bot) -> Result<bool> {
        Ok(self.confirm(&request(format!("{bot:?}")), |days| self.run(&[(bot, days)]))?.1)
    }

    /// Replays a set whose bots trade on different days.
    pub(crate) fn run(&self, parts: &[(&Bot, &Days)]) -> Vec<TestedSet> {
        let trades = parts.iter().flat_map(|(bot, days)| bot.trades(&self.market, days)).collect();
        vec![TestedSet { trades }]
    }

    /// Replays each bot as a set of its own.
    pub(crate) fn run_sets(&self, bots: &[Bot], days: &Days) -> Vec<TestedSet> {
        bots.iter().flat_map(|bot| self.run(&[(bot, days)])).collect()
    }

    pub(crate) fn random_bots<const N: usize>(&mut self) -> [Bot; N] {
        [(); N].map(|()| Bot::random(&mut self.dice))
    }
}

pub(crate) fn request(identity: impl Into<String>) -> ConfirmationRequest {
    ConfirmationRequest {
        identity: identity.into(),
        plan: EdgeTestPlan::default(),
        sets: 1,
        candles: Vec::new(),
        end: Millis::DAY * END,
        now: Millis::ZERO,
        reveal: false,
    }
}

/// Checks the number of a test and returns whether the test shows an edge.
pub(crate) fn numbered(expected: i64, (number, is_shown): (usize, bool)) -> Result<bool> {
    check(number as i64 == expected, || format!("test {expected} got number {number}"))?;
    Ok(is_shown)
}

pub(crate) fn check(holds: bool, breach: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(breach().into()) }
}

/// Tries ideas until one shows an edge.
pub(crate) fn any<T>(all: impl IntoIterator<Item = T>, shows: impl FnMut(T) -> Result<bool>) -> Result<bool> {
    all.into_iter().map(shows).find(|shown| !matches!(shown, Ok(false))).unwrap_or(Ok(false))
}
