//! Reads journal lines page by page and decodes them.

use crate::RecordsError;
use crate::run::RecordedRun;
use candlewick_engine::{
    BotId, Event, EventKind, Header, JournalDecoder, RecordedEntry, RefusedSignal, Rejection, Rule, Session,
};
use candlewick_journal::{JournalError, LineKind, Reader, StoredLine, is_snapshot};
use candlewick_sdk::{Candle, CandleSeries, Direction, Millis, Reason, Series};
use serde::Deserialize;
use std::collections::BTreeMap;

const LINES_PER_PAGE: u32 = 5_000;
const BACKFILL_FRAGMENT: &str = "\"origin\":\"backfill\"";

#[derive(Default)]
pub(crate) struct JournalLines {
    pub lines: Vec<StoredLine>,
    /// Number of candles per run. Warm-up candles are not counted.
    pub candle_counts: BTreeMap<u64, u64>,
    pub last_line: Option<StoredLine>,
    run_began: Option<Millis>,
}

pub(crate) async fn read_lines(
    reader: &mut Reader,
    mut visit: impl FnMut(&StoredLine) -> Result<(), RecordsError>,
) -> Result<JournalLines, RecordsError> {
    let mut read = JournalLines::default();
    visit_pages(reader, |page| {
        page.iter().try_for_each(&mut visit)?;
        read.add_page(page);
        Ok(())
    })
    .await?;
    Ok(read)
}

pub(crate) async fn visit_lines(
    reader: &mut Reader,
    mut visit: impl FnMut(&StoredLine) -> Result<(), RecordsError>,
) -> Result<(), RecordsError> {
    visit_pages(reader, |page| page.iter().try_for_each(&mut visit)).await
}

async fn visit_pages(
    reader: &mut Reader,
    mut visit: impl FnMut(Vec<StoredLine>) -> Result<(), RecordsError>,
) -> Result<(), RecordsError> {
    let mut walk = reader.walk(LINES_PER_PAGE).await?;
    loop {
        let page = walk.next().await?;
        if page.is_empty() {
            return Ok(());
        }
        visit(page)?;
    }
}

pub(crate) async fn read_unverified_lines(reader: &mut Reader) -> Result<Vec<StoredLine>, JournalError> {
    let mut lines: Vec<StoredLine> = Vec::new();
    loop {
        let from = lines.last().map_or(1, |last| last.seq + 1);
        let page = reader.lines(from, LINES_PER_PAGE).await?;
        if page.is_empty() {
            return Ok(lines);
        }
        lines.extend(page);
    }
}

impl JournalLines {
    fn add_page(&mut self, page: Vec<StoredLine>) {
        if let Some(last) = page.last() {
            self.last_line = Some(last.clone());
        }
        for stored in page {
            match stored.line.kind {
                LineKind::Run => self.run_began = None,
                LineKind::Event => self.run_began = self.run_began.or(Some(stored.line.received)),
                LineKind::Action | LineKind::Note => {}
            }
            if is_candle(&stored) {
                let is_earlier = self.run_began.is_none_or(|run_began| stored.line.at <= run_began);
                let is_warm_up = is_earlier && stored.line.body.contains(BACKFILL_FRAGMENT);
                *self.candle_counts.entry(stored.line.run).or_default() += u64::from(!is_warm_up);
            } else if !is_snapshot(&stored.line.body) {
                self.lines.push(stored);
            }
        }
    }
}

pub fn parse<'a, T: Deserialize<'a>>(stored: &'a StoredLine) -> Result<T, RecordsError> {
    serde_json::from_str(&stored.line.body).map_err(|error| RecordsError::unreadable_entry(stored, error))
}

pub fn is_candle(stored: &StoredLine) -> bool {
    stored.line.kind == LineKind::Event && stored.line.body.contains("\"event\":\"candle\"")
}

pub struct SessionFold {
    pub session: Session,
    decoder: Option<JournalDecoder>,
}

impl SessionFold {
    pub const fn new(session: Session) -> Self {
        Self { session, decoder: None }
    }

    /// Applies the next line to the Session. Returns `None` if the line is a header, a note or a candle.
    pub fn apply_line(&mut self, stored: &StoredLine) -> Result<Option<RecordedEntry>, RecordsError> {
        match stored.line.kind {
            LineKind::Run => {
                self.decoder = Some(build_decoder(stored, &mut self.session)?);
                return Ok(None);
            }
            LineKind::Note => return Ok(None),
            LineKind::Event if is_candle(stored) => return Ok(None),
            LineKind::Event | LineKind::Action => {}
        }
        let decoder = self.decoder.as_mut();
        let decoder = decoder
            .ok_or_else(|| RecordsError::unreadable_entry(stored, "the entry comes before the first run"))?;
        let recorded = decode(decoder, stored)?;
        self.session.recall(&recorded);
        Ok(Some(recorded))
    }
}

pub(crate) fn build_decoder(
    header: &StoredLine,
    session: &mut Session,
) -> Result<JournalDecoder, RecordsError> {
    let decoder = JournalDecoder::for_run(&parse::<Header>(header)?, session);
    decoder.map_err(|error| RecordsError::unreadable_entry(header, error))
}

pub(crate) fn decode(decoder: &mut JournalDecoder, row: &StoredLine) -> Result<RecordedEntry, RecordsError> {
    let recorded = match row.line.kind {
        LineKind::Action => decoder.read_action(&row.line.body),
        LineKind::Event | LineKind::Run | LineKind::Note => decoder.read_event(&row.line.body),
    };
    recorded.map_err(|error| RecordsError::unreadable_entry(row, error))
}

/// Parses a refusal, except the text of its reason. Returns `None` if the line is not a refusal.
pub fn parse_refusal(stored: &StoredLine) -> Result<Option<RefusedSignal>, RecordsError> {
    #[derive(Deserialize)]
    struct RecordedRefusal {
        bot: BotId,
        decision_time: Millis,
        direction: Direction,
        rule: Rule,
    }
    if stored.line.kind != LineKind::Action || !stored.line.body.starts_with(r#"{"action":"refuse""#) {
        return Ok(None);
    }
    let RecordedRefusal { bot, decision_time, direction, rule } = parse(stored)?;
    Ok(Some(RefusedSignal { bot, decision_time, direction, rule, reason: Reason::new("") }))
}

pub(crate) fn find_rejection(lines: &[StoredLine]) -> Option<Rejection> {
    let events = lines.iter().filter(|stored| stored.line.kind == LineKind::Event);
    let mut events = events.filter_map(|stored| serde_json::from_str::<Event>(&stored.line.body).ok());
    events.find_map(|event| match event.kind {
        EventKind::Rejected { rejection, .. } => Some(rejection),
        _ => None,
    })
}

#[derive(Default)]
pub(crate) struct RecordedCandles {
    pub by_series: BTreeMap<Series, BTreeMap<Millis, Candle>>,
    run_series: Vec<Series>,
}

impl RecordedCandles {
    pub(crate) fn add_line(&mut self, stored: &StoredLine) -> Result<(), RecordsError> {
        if stored.line.kind == LineKind::Run {
            self.run_series = RecordedRun::from_stored(stored)?.series;
        } else if is_candle(stored) {
            let event: Event = parse(stored)?;
            if let EventKind::Candle { series, candle, .. } = event.kind {
                let series = self.run_series.get(series.index());
                let series =
                    series.ok_or_else(|| RecordsError::unreadable_entry(stored, "unknown series index"))?;
                self.by_series.entry(*series).or_default().entry(candle.time()).or_insert(candle);
            }
        }
        Ok(())
    }
}

pub async fn read_recorded_candles(
    reader: &mut Reader,
    run: Option<u64>,
) -> Result<Vec<CandleSeries>, RecordsError> {
    let mut recorded = RecordedCandles::default();
    visit_lines(reader, |stored| {
        let is_read = stored.line.kind == LineKind::Run || run.is_none_or(|run| run == stored.line.run);
        if is_read { recorded.add_line(stored) } else { Ok(()) }
    })
    .await?;
    let series = |(series, candles): (Series, BTreeMap<Millis, Candle>)| {
        CandleSeries::new(series, candles.into_values().collect::<Vec<_>>())
            .map_err(|error| RecordsError::UnreadableCandles { series, problem: error.to_string() })
    };
    recorded.by_series.into_iter().map(series).collect()
}
