//! Before the first trade: how probably the bots' ladders run out of money.

use crate::error::AppError;
use candlewick_engine::{
    BotId, BotVerdict, EngineError, Session, SessionSettings, TradeBook, TradeRecord, check_ruin,
};
use candlewick_sdk::Payout;

/// Logs the figures of each ladder, by the payouts and trades that the journal knows.
///
/// # Errors
/// Ladders that are ruined more probably than the limit allows.
pub(super) fn check(
    settings: &SessionSettings,
    (session, book): (&Session, &TradeBook),
    assumed: Payout,
) -> Result<(), AppError> {
    let records: Vec<TradeRecord> =
        (0..settings.bots.len()).map(|bot| record_of(bot, (session, book), assumed)).collect();
    let report = check_ruin(settings, session.ledger().free(), &records)?;
    for notice in report.notices {
        tracing::warn!("{notice}");
    }
    match report.refusal {
        None => Ok(()),
        Some(problem) => {
            let error = EngineError::Setting { key: "risk.max_ruin_probability".to_owned(), problem };
            Err(error.into())
        }
    }
}

fn record_of(bot: usize, (session, book): (&Session, &TradeBook), assumed: Payout) -> TradeRecord {
    // What it decided with other parameters says nothing of its ladder.
    let since = session.verdicts().nth(bot).map(BotVerdict::first_intent);
    let own = book.rows().iter().filter(|row| {
        row.approved.bot().index() == bot && since.is_none_or(|since| row.approved.intent() >= since)
    });
    let payout = BotId::new(bot).and_then(|bot| session.last_payout(bot)).unwrap_or(assumed);
    TradeRecord::of_rows(payout, own)
}
