//! A page of trades, each read from its own lines: the cost does not grow with the journal.

use crate::error::RecordsError;
use crate::run::{BETWEEN_RUNS, RecordedRun};
use crate::trade::{IntentOrigin, TradeLine};
use candlewick_engine::{Header, JournalDecoder, Recorded, TradeBook};
use candlewick_journal::{LineKind, Reader, StoredLine};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

const LOOKED: u64 = 500;

#[derive(Debug)]
pub struct TradePage {
    pub trades: Vec<TradeLine>,
    /// Intent number before which more may be found; `None` at the end.
    pub before: Option<u64>,
}

struct Run {
    run: RecordedRun,
    decoder: JournalDecoder,
}

impl TradePage {
    /// Reads up to the given number of trades before an intent number, of one bot or all. Returns
    /// fewer if many trades of other bots are in between.
    pub async fn read(
        reader: &mut Reader,
        before: u64,
        (most, bot): (usize, Option<&str>),
    ) -> Result<Self, RecordsError> {
        let (mut runs, mut trades) = (BTreeMap::new(), Vec::new());
        let (mut next, end) = (before, before.saturating_sub(LOOKED).max(1));
        while next > end && trades.len() < most {
            next -= 1;
            let lines = reader.sound_lines_of(next).await?;
            if let Some(trade) = Box::pin(trade_of(reader, &mut runs, &lines)).await? {
                trades.extend(Some(trade).filter(|trade| bot.is_none_or(|bot| trade.bot == bot)));
            }
        }
        Ok(Self { trades, before: Some(next).filter(|next| *next > 1) })
    }
}

async fn trade_of(
    reader: &mut Reader,
    runs: &mut BTreeMap<u64, Run>,
    lines: &[StoredLine],
) -> Result<Option<TradeLine>, RecordsError> {
    let (mut book, mut origin, mut number) = (TradeBook::default(), None, BETWEEN_RUNS);
    for stored in lines.iter().filter(|stored| stored.line.kind != LineKind::Note) {
        // What a person wrote between runs is read as the run before.
        number = Some(stored.line.run).filter(|run| *run != BETWEEN_RUNS).unwrap_or(number);
        let Run { run, decoder } = match runs.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let Some(header) = reader.run_header(number).await? else { continue };
                vacant.insert(Run::of(&header)?)
            }
        };
        let body = &stored.line.body;
        let recorded = match stored.line.kind {
            LineKind::Action => decoder.read_action(body),
            LineKind::Event | LineKind::Run | LineKind::Note => decoder.read_event(body),
        };
        let recorded = recorded.map_err(|error| RecordsError::unreadable(stored, error))?;
        if let Recorded::Open(_) = &recorded {
            origin = Some(IntentOrigin::of(stored, run)?);
        }
        book.recall(&recorded);
    }
    let row = book.rows().first().zip(origin.as_ref());
    Ok(row.map(|row| TradeLine::of(&book, row)))
}

impl Run {
    fn of(stored: &StoredLine) -> Result<Self, RecordsError> {
        let run = RecordedRun::of(stored)?;
        let header: Header = serde_json::from_str(&stored.line.body)
            .map_err(|error| RecordsError::unreadable(stored, error))?;
        let decoder = JournalDecoder::of_run(&header, &mut run.silent_session()?);
        Ok(Self { run, decoder: decoder.map_err(|error| RecordsError::unreadable(stored, error))? })
    }
}
