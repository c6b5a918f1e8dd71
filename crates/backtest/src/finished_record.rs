//! What a run left behind in a form that can be kept, so that the same run need not be made again.

use crate::{BacktestSettings, Finished};
use candlewick_engine::{BookRecord, BotVerdict, TradeBook};
use candlewick_sdk::{Money, MoneyScale};
use serde::{Deserialize, Serialize};

/// Everything of a [`Finished`] that does not follow from the rest of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct FinishedRecord {
    book: BookRecord,
    candles: u64,
    final_balance: Money,
    unsettled_stakes: Money,
    incomplete_candles: u64,
    money_scale: MoneyScale,
}

impl Finished {
    /// All of it, to be kept; nothing of a run that cannot be told.
    pub fn to_record(&self) -> Option<FinishedRecord> {
        let Self {
            book,
            candles,
            final_balance,
            unsettled_stakes,
            incomplete_candles,
            money_scale,
            verdicts: _,
        } = self;
        Some(FinishedRecord {
            book: book.to_record()?,
            candles: *candles,
            final_balance: *final_balance,
            unsettled_stakes: *unsettled_stakes,
            incomplete_candles: *incomplete_candles,
            money_scale: *money_scale,
        })
    }

    /// What the run of these settings left behind, as it was recorded. The verdicts follow from the trades. None of what is
    /// no record.
    pub fn from_record(record: FinishedRecord, settings: &BacktestSettings) -> Option<Self> {
        let book = TradeBook::from_record(record.book)?;
        let plan = settings.session.risk.verdict.to_plan().ok()?;
        let verdict = |bot: usize| {
            BotVerdict::after(book.rows().iter().filter(|row| row.approved.bot().index() == bot), plan)
        };
        let verdicts = (0..settings.session.bots.len()).map(verdict).collect();
        Some(Self {
            candles: record.candles,
            final_balance: record.final_balance,
            unsettled_stakes: record.unsettled_stakes,
            incomplete_candles: record.incomplete_candles,
            money_scale: record.money_scale,
            verdicts,
            book,
        })
    }
}
