//! Waiting for an unreachable venue before a run starts.

use super::Connection;
use candlewick_broker::{BrokerError, CandleQuery};
use candlewick_engine::BotSettings;
use std::time::Duration;

/// Delays between attempts in seconds; the last one repeats.
const PAUSES_S: [u64; 6] = [1, 2, 5, 10, 20, 30];

/// Waits until both APIs answer and announces the reason.
///
/// Returns early on errors that waiting cannot fix, such as a wrong token; the start reports them
/// again.
pub async fn wait_for_venue(connection: &Connection, bots: &[BotSettings], announce: &dyn Fn(&str)) {
    let mut said = None;
    for look in 0.. {
        let Err((which, error)) = look_at(connection, bots).await else { break };
        if !error.is_temporary() {
            break;
        }
        let pause = PAUSES_S[PAUSES_S.len().min(look + 1) - 1];
        let text =
            format!("waiting for {which} of the venue, asked every {} s at most: {error}", PAUSES_S[5]);
        if said.as_ref() != Some(&text) {
            announce(&format!("{text}; Ctrl-C ends\n"));
            said = Some(text);
        }
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
    if said.is_some() {
        announce("the venue answers\n");
    }
}

async fn look_at(connection: &Connection, bots: &[BotSettings]) -> Result<(), (&'static str, BrokerError)> {
    let Connection { broker, market, clock, .. } = connection;
    broker.identity().await.map_err(|error| ("the trading token API", error))?;
    let Some(bot) = bots.first() else { return Ok(()) };
    let now = clock.now();
    let query = CandleQuery {
        symbol: bot.symbol,
        interval: bot.interval,
        start: now - bot.interval.length() * 3,
        end: now,
    };
    market.candles(&query).await.map(|_| ()).map_err(|error| ("the symbol price API", error))
}

pub(crate) const ADVICE: &str = "`candlewick live --wait` waits until it answers";
