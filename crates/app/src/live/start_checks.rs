//! Checks and notices before the first trade.

use crate::error::{AppError, ErrorKind, Result};
use candlewick_engine::{EngineError, IntentState, Session, SessionSettings, TrackRecord, check_ruin};
use candlewick_runtime::{ConnectedAccount, RecoveredState, ReloadInput};
use candlewick_sdk::Payout;
use candlewick_simulator::SimulationSettings;
use serde_json::Value;
use std::fmt::Write as _;

pub(super) fn check_real_money(past: &RecoveredState, session: &Session) -> Result<()> {
    let stopped = |problem: String| AppError::new(ErrorKind::RealMoneyRefused, problem);
    let is_unsettled = |state| matches!(state, IntentState::InDoubt | IntentState::InFlight);
    let rows = past.book().rows().iter().filter(|row| is_unsettled(row.state));
    let in_doubt: Vec<String> = rows.map(|row| row.approved.intent().to_string()).collect();
    if let Some(first) = in_doubt.first() {
        let problem = format!(
            "refusing to trade real money while the status of an order is unknown: trade #{}",
            in_doubt.join(", #")
        );
        return Err(stopped(problem).with_help(format!(
            "check the venue's list of trades, then run `candlewick resolve {first} --adopt VENUE_ID` or `--not-opened`"
        )));
    }
    let rejected: Vec<&str> = session.bots_without_edge().collect();
    if rejected.is_empty() {
        return Ok(());
    }
    let problem = format!(
        "these bots must not trade real money, because an edge is ruled out or no longer holds: {}",
        rejected.join(", ")
    );
    Err(stopped(problem).with_help("use the demo wallet for these bots, or remove them"))
}

pub(super) fn real_money_summary(settings: &SessionSettings, account: &ConnectedAccount) -> String {
    let balance = account.balance.normalize();
    let mut text = format!("This run trades REAL MONEY: the real wallets hold {balance}.\n");
    for bot in &settings.bots {
        let stake = serde_json::to_value(&bot.stake).unwrap_or_default();
        let (series, expiry) = (bot.series(), bot.expiry());
        let stake = describe_settings(&stake, "");
        let _ = writeln!(
            text,
            "  bot {}: {} on {series} for {}, stake {}",
            bot.name,
            bot.strategy,
            expiry.close_type,
            stake.join(", ")
        );
    }
    let limits = serde_json::to_value(&settings.risk).unwrap_or_default();
    let is_off = |value: &Value| value.as_f64() == Some(0.0) || value.as_str() == Some("0");
    let (off, on): (Vec<_>, Vec<_>) =
        limits.as_object().into_iter().flatten().partition(|(_, value)| is_off(value));
    for (key, value) in on {
        for line in describe_settings(value, key) {
            let _ = writeln!(text, "  {line}");
        }
    }
    let off: Vec<&str> = off.into_iter().map(|(key, _)| key.as_str()).collect();
    let _ = writeln!(text, "  no limit: {}", off.join(", "));
    text
}

fn describe_settings(value: &Value, key: &str) -> Vec<String> {
    match value {
        Value::Object(table) => table.iter().flat_map(|(key, value)| describe_settings(value, key)).collect(),
        Value::Array(rows) if rows.is_empty() => Vec::new(),
        Value::String(text) => vec![format!("{key} = {text}")],
        other => vec![format!("{key} = {other}")],
    }
}

pub(super) fn check_ladders(
    settings: &SessionSettings,
    standing: &ReloadInput,
    simulation: &SimulationSettings,
) -> Result<()> {
    let assumed = settings.bots.iter().map(|bot| simulation.payout_of(bot.symbol));
    let records: Vec<TrackRecord> =
        assumed.enumerate().map(|(bot, assumed)| track_record(bot, standing, assumed)).collect();
    let report = check_ruin(settings, standing.free_balance, &records)?;
    for notice in report.ladder_lines {
        // The header is printed before the trades of the journal are known.
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

fn track_record(bot: usize, standing: &ReloadInput, assumed: Payout) -> TrackRecord {
    let own = standing.rows.iter().filter(|row| row.approved.bot().index() == bot);
    let payout = standing.payouts.get(bot).copied().flatten().unwrap_or(assumed);
    TrackRecord::from_rows(payout, own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bot;
    use candlewick_broker::Account as Kind;
    use candlewick_engine::{BotSettings, RiskSettings, StakeSettings};
    use candlewick_sdk::MoneyScale;
    use candlewick_sdk::rust_decimal::Decimal;

    #[test]
    fn summary_names_money_bots_and_limits() {
        let stake = StakeSettings::Fixed { amount: Decimal::TEN };
        let bot = BotSettings { name: "btc".to_owned(), stake, ..bot("BTCUSDT", "1m") };
        let risk = RiskSettings { max_trades_per_day: 0, ..RiskSettings::default() };
        let (money_scale, balance, bots) = (MoneyScale::default(), Decimal::ONE_HUNDRED, vec![bot]);
        let settings = SessionSettings { money_scale, balance, risk, bots, longer_share_percent: None };
        let (user, balance) = ("user".to_owned(), Decimal::new(123_450, 3));
        let text = real_money_summary(
            &settings,
            &ConnectedAccount { user, kind: Kind::Real, balance, balances: None },
        );
        for line in [
            "This run trades REAL MONEY: the real wallets hold 123.45.\n",
            "  bot btc: x on BTCUSDT 1m for 01:00, stake amount = 10, kind = fixed\n",
            "  max_open_trades = 3\n",
            "  daily_loss_limit = 100\n",
            "  max_drawdown_percent = 20.0\n",
            "  allow_opposite = false\n",
        ] {
            assert!(text.contains(line), "no {line:?} in {text}");
        }
        let unlimited = text.lines().last().unwrap();
        for key in ["max_trades_per_day", "daily_profit_target", "max_loss_streak"] {
            assert!(unlimited.contains(key) && !text.contains(&format!("{key} =")), "{text}");
        }
    }
}
