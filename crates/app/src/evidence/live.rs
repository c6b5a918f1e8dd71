//! Live runs in the evidence ledger: traded days, and the shares of the error rate.

use super::EvidenceSettings;
use crate::configuration::LoadedConfig;
use crate::error::Result;
use crate::recent::read_recent;
use candlewick_broker::clock::Clock;
use candlewick_journal::{JournalUrl, Reader};
use candlewick_records::{Delays, RecordedRun, TradingMode};
use candlewick_sdk::Millis;
use candlewick_search::evidence::{Entry, EvidenceKind, day_of};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest time from the close of a candle to its arrival in a paper run that counts as live.
const MAX_CANDLE_DELAY: Millis = Millis::new(120_000);
/// Longest time from the first run of a journal to the first entry of a ledger that begins with this run.
const MAX_JOURNAL_AGE: Millis = Millis::new(600_000);
/// Time between attempts to read a journal that has no run yet.
const FIRST_RUN_WAIT: Millis = Millis::new(1_000);

/// Records each day that a live or paper run sees, until the task is aborted. Trading never waits for the ledger.
pub(crate) async fn record_days(
    settings: EvidenceSettings,
    (url, trading): (JournalUrl, TradingMode),
    clock: Arc<dyn Clock>,
) {
    if trading == TradingMode::Sandbox || !settings.seal {
        return;
    }
    loop {
        let next = match record_day(&settings, &url, clock.now()).await {
            Ok(true) => clock.now().floor_to(Millis::DAY) + Millis::DAY,
            Ok(false) => clock.now() + FIRST_RUN_WAIT,
            Err(error) => {
                tracing::warn!("cannot record this run in the evidence ledger: {error}");
                return;
            }
        };
        drop(clock.sleep_until(next).await);
    }
}

/// Records a day of the journal. Returns `false` if the journal has no run yet.
async fn record_day(settings: &EvidenceSettings, url: &JournalUrl, now: Millis) -> Result<bool> {
    let mut reader = Reader::open(url).await?;
    let Some(journal) = journal_id(&mut reader).await? else { return Ok(false) };
    reader.close().await;
    let known = settings.ledger()?.read()?.live;
    let mut worths = BTreeMap::new();
    let is_new = !known.journals().contains_key(&journal);
    for (other, recorded) in known.journals().iter().filter(|_| is_new) {
        let worth = read_worth(&recorded.place, other).await;
        worths.insert(other.clone(), worth.unwrap_or_default());
    }
    let (place, day) = (url.to_string(), day_of(now));
    settings.update(|evidence, _| {
        let is_new = !evidence.live.journals().contains_key(&journal);
        Ok((vec![Entry::Traded { journal, place, day, worths: is_new.then_some(worths) }], true))
    })
}

/// Returns the share of alpha that the bots of a journal have not lost, from 0 to 1.
async fn read_worth(place: &str, id: &str) -> Option<f64> {
    let mut reader = Reader::open(&place.parse().ok()?).await.ok()?;
    if journal_id(&mut reader).await.ok()?.as_deref() != Some(id) {
        return None;
    }
    let session = read_recent(&mut reader).await.ok()?.session;
    let worth = |test: &candlewick_statistics::EdgeTest| test.weight() * test.edge_account_minimum();
    Some(session.verdicts().map(|verdict| worth(verdict.edge_test())).sum())
}

/// Returns the id of a journal: the hash of its first run header. `None` if it has no run yet.
async fn journal_id(reader: &mut Reader) -> Result<Option<String>> {
    Ok(reader.run_headers().await?.first().map(|header| header.hash.to_string()))
}

/// Returns the kind of evidence of a journal's trades.
///
/// Runs on a sandbox explore past candles, and so do paper runs whose candles arrived late, because their results could
/// be known already.
pub async fn live_evidence(loaded: &LoadedConfig, reader: &mut Reader) -> Result<EvidenceKind> {
    let runs = RecordedRun::read_all(&reader.run_headers().await?)?;
    let has_run = |mode| runs.iter().any(|run| run.trading == Some(mode));
    if has_run(TradingMode::Sandbox) {
        return Ok(EvidenceKind::default());
    }
    if has_run(TradingMode::Paper) {
        let longest = Delays::read(reader, None).await?.longest_candle_delay();
        if longest.is_some_and(|delay| delay > MAX_CANDLE_DELAY) {
            return Ok(EvidenceKind::default());
        }
    }
    let evidence = loaded.config.evidence.ledger()?.read()?;
    let journal = journal_id(reader).await?.unwrap_or_default();
    if !loaded.config.evidence.seal && !evidence.live.journals().contains_key(&journal) {
        return Ok(EvidenceKind::Live { weight: 1.0 });
    }
    // If older journals counted, deleting the ledger would renew the error rate.
    let begun = runs.first().map(|run| run.began);
    let is_older = begun.zip(evidence.born).is_some_and(|(begun, born)| begun + MAX_JOURNAL_AGE < born);
    Ok(EvidenceKind::Live { weight: if is_older { 0.0 } else { evidence.live.share(&journal) } })
}
