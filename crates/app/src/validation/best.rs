//! Candle-by-candle verification of a sweep's best set, here and in another process.

use super::elsewhere::first_difference;
use super::process::{Itself, Surroundings};
use candlewick_sdk::Candle;
use candlewick_sdk::testkit::{Checked, Finding, Market, Subject, check_declaration, check_foresight};

/// Maximum number of candles, the newest ones. A strategy that knows the future knows it there,
/// too.
const MAX_CANDLES: usize = 200_000;

/// Verifies a set of a sweep by showing the strategy only the past.
///
/// Its declared decisions must equal those it makes when no later candle exists. It must not
/// recognise the candles by their times or prices, and a new process must decide alike.
pub fn verify_best(
    itself: &Itself,
    subject: &Subject,
    candles: &[Candle],
    seed: u64,
) -> Result<(), anyhow::Error> {
    let name = &subject.entry.name;
    let newest = candles[candles.len().saturating_sub(MAX_CANDLES)..].to_vec();
    let hold = |checked: Checked| match checked.finding {
        Finding::Failed => Err(anyhow::anyhow!("the best set of {name} is no result: {}", checked.words)),
        _ => Ok(()),
    };
    hold(check_declaration(subject, &newest))?;
    let market = Market { name: "the candles of the sweep".to_owned(), candles: newest };
    hold(check_foresight(subject, &market, seed))?;
    let here = subject.decisions(&market.candles, &[]).map_err(anyhow::Error::msg)?;
    let reply = itself.run(subject, &market.candles, &Surroundings::default());
    let there = reply.and_then(|reply| reply.decisions).map_err(anyhow::Error::msg)?;
    match first_difference(&here, &there).and_then(|candle| market.candles.get(candle)) {
        None => Ok(()),
        Some(candle) => Err(anyhow::anyhow!(
            "the best set of {name} is no result: at the candle that opens {} it decides otherwise in a new process; keep what it \
             knows in itself, not in a static",
            candle.time()
        )),
    }
}
