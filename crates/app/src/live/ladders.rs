//! Ruin probability of ladders, checked before the first trade.

use crate::error::AppError;
use candlewick_engine::{EngineError, SessionSettings, TradeRecord, check_ruin};
use candlewick_runtime::Standing;
use candlewick_sdk::Payout;
use candlewick_simulator::SimulationSettings;

pub(super) fn check(
    settings: &SessionSettings,
    standing: &Standing,
    simulation: &SimulationSettings,
) -> Result<(), AppError> {
    let assumed = settings.bots.iter().map(|bot| simulation.payout_of(bot.symbol));
    let records: Vec<TradeRecord> =
        assumed.enumerate().map(|(bot, assumed)| record_of(bot, standing, assumed)).collect();
    let report = check_ruin(settings, standing.free, &records)?;
    for notice in report.ladders {
        // The header does not know what the journal's trades say.
        if standing.rows.is_empty() {
            tracing::info!("{notice}");
        } else {
            tracing::warn!("{notice}");
        }
    }
    match report.refusal {
        None => Ok(()),
        Some(problem) => {
            let error = EngineError::Setting { key: "risk.max_ruin_probability".to_owned(), problem };
            Err(error.into())
        }
    }
}

fn record_of(bot: usize, standing: &Standing, assumed: Payout) -> TradeRecord {
    let own = standing.rows.iter().filter(|row| row.approved.bot().index() == bot);
    let payout = standing.payouts.get(bot).copied().flatten().unwrap_or(assumed);
    TradeRecord::of_rows(payout, own)
}
