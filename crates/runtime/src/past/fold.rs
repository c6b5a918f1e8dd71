//! A journal folded line by line, from its beginning or from its last snapshot on, and the snapshots that are kept of it.

mod following;

use super::old_intents::{Kept, Leaving};
use super::pieces::{Before, Pieces, Restored, Unusable};
use super::snapshot::{Fingerprints, PART, Written, settings_of};
use super::whole_reading::{ReadingWatcher, WholeReading};
use super::{OldTrade, Past};
use crate::RuntimeError;
use candlewick_engine::{
    BotVerdict, EngineError, IntentId, JournalDecoder, Session, SessionNames, SessionSettings,
};
use candlewick_journal::{Head, JournalError, Line, Reader, StoredLine, is_snapshot};
use candlewick_sdk::Millis;

/// Lines read at once.
const PAGE: u32 = 5_000;

/// What the lines of a journal come to under the settings of one run, as a start of that run would find it. It is the one
/// owner of that: a start takes its Session and its past from here, and snapshots are of it.
pub struct JournalFold {
    session: Session,
    past: Past,
    decoder: Option<JournalDecoder>,
    fingerprint: String,
    written: Written,
    /// The same before the piece that is being kept.
    before: Written,
    /// Lines from one snapshot to the next; 0 for none.
    every: u64,
    /// Intents of a part of one.
    part: u64,
    /// Lines since the last whole one, and lines that were folded at all.
    since: u64,
    /// The last intent when a snapshot could not be kept last.
    tried: u64,
    read: u64,
    /// The number of the last one.
    last: u64,
    is_writing: bool,
    /// The number of the header of the run that it follows; none before that: then no header says under which settings it folds.
    header: Option<u64>,
    /// A line could not be folded: no snapshot is of anything any more.
    is_broken: bool,
    /// A snapshot was not kept; that is said once.
    has_failed: bool,
    /// How often rows of the tables were not written; that is said once, too.
    row_failures: u64,
    notice: Option<String>,
}

impl JournalFold {
    /// Of no line yet. Snapshots are due after every so many lines (0: never).
    ///
    /// # Errors
    /// [`EngineError`] when no Session can have these settings.
    pub fn new(settings: &SessionSettings, every: u64) -> Result<Self, EngineError> {
        let fingerprint = settings
            .fingerprint()
            .map_err(|error| EngineError::Setting { key: "bots".to_owned(), problem: error.to_string() })?;
        Ok(Self {
            session: Session::silent(settings)?,
            past: Past::default(),
            decoder: None,
            fingerprint,
            written: Written::default(),
            before: Written::default(),
            every,
            part: PART,
            since: 0,
            tried: 0,
            read: 0,
            last: 0,
            is_writing: false,
            header: None,
            is_broken: false,
            has_failed: false,
            row_failures: 0,
            notice: None,
        })
    }

    /// Folds all that a journal holds: from its last snapshot on where what that holds says what it comes to under these settings and was
    /// verified before, else from its first line, each verified.
    ///
    /// # Errors
    /// [`RuntimeError::Journal`] when the journal cannot be read or is not as it was written, [`RuntimeError::UnreadableEntry`] when
    /// an entry is not one.
    pub async fn read(
        reader: &mut Reader,
        settings: &SessionSettings,
        every: u64,
    ) -> Result<Self, RuntimeError> {
        Box::pin(Self::read_watched(reader, settings, every, None, &mut |_| {})).await
    }

    /// As [`JournalFold::read`], and says how far it is where the whole journal is read. For a run that remembers what is over for so long, it
    /// leaves older intents in the journal ([`Past::left_in_journal`]), where a snapshot and the tables have them.
    ///
    /// # Errors
    /// As [`JournalFold::read`].
    pub async fn read_watched(
        reader: &mut Reader,
        settings: &SessionSettings,
        every: u64,
        remember: Option<Millis>,
        watch: &mut ReadingWatcher<'_>,
    ) -> Result<Self, RuntimeError> {
        let leaving = match remember {
            Some(remember) => Leaving::of(reader, remember, settings.bots.len()).await?,
            None => None,
        };
        Box::pin(Self::read_leaving(reader, settings, every, leaving, watch)).await
    }

    /// As [`JournalFold::read`], but of old intents the rows alone ([`Past::old_rows`]).
    ///
    /// # Errors
    /// As [`JournalFold::read`].
    pub async fn read_rows(reader: &mut Reader, settings: &SessionSettings) -> Result<Self, RuntimeError> {
        let leaving = Self::leaving(reader, settings, Kept::Rows).await?;
        Box::pin(Self::read_leaving(reader, settings, 0, leaving, &mut |_| {})).await
    }

    /// As [`JournalFold::read`], but of old intents no more than figures take ([`Past::take_old_trades`]).
    ///
    /// # Errors
    /// As [`JournalFold::read`].
    pub async fn read_trades(reader: &mut Reader, settings: &SessionSettings) -> Result<Self, RuntimeError> {
        let leaving = Self::leaving(reader, settings, Kept::Trades).await?;
        Box::pin(Self::read_leaving(reader, settings, 0, leaving, &mut |_| {})).await
    }

    async fn leaving(
        reader: &mut Reader,
        settings: &SessionSettings,
        kept: Kept,
    ) -> Result<Option<Leaving>, RuntimeError> {
        let leaving = Leaving::of(reader, Millis::ZERO, settings.bots.len()).await?;
        Ok(leaving.map(|leaving| leaving.with_kept(kept)))
    }

    async fn read_leaving(
        reader: &mut Reader,
        settings: &SessionSettings,
        every: u64,
        leaving: Option<Leaving>,
        watch: &mut ReadingWatcher<'_>,
    ) -> Result<Self, RuntimeError> {
        let of_snapshot = Self::from_last_snapshot(reader, settings, leaving, every);
        let notice = match Box::pin(of_snapshot).await? {
            Ok(Some(mut fold)) => {
                fold.past.find_halt(reader).await?;
                return Ok(fold);
            }
            Ok(None) => None,
            Err((seq, why)) => Some(format!(
                "the snapshot in entry {seq} of the journal is not used, and the whole journal is read: {why}"
            )),
        };
        let new = Self::new(settings, every);
        let mut fold = new.map_err(|error| super::damaged(0, &error.to_string()))?;
        fold.notice = notice;
        let total = reader.head().await?.seq;
        let mut tell = |notice: Option<&String>, done: u64| {
            watch(WholeReading { why: notice.map(String::as_str), done, total: total.max(done) });
        };
        let mut walk = reader.walk(PAGE).await?;
        loop {
            tell(fold.notice(), fold.last);
            let lines = walk.next().await?;
            if lines.is_empty() {
                return Ok(fold);
            }
            lines.iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
        }
    }

    /// As [`JournalFold::read_trades`], from the last snapshot on only; none where there is no usable one.
    ///
    /// # Errors
    /// As [`JournalFold::read`].
    pub async fn read_recent(
        reader: &mut Reader,
        settings: &SessionSettings,
    ) -> Result<Option<Self>, RuntimeError> {
        let leaving = Self::leaving(reader, settings, Kept::Trades).await?;
        let of_snapshot = Self::from_last_snapshot(reader, settings, leaving, 0);
        let mut fold = Box::pin(of_snapshot).await?.unwrap_or(None);
        if let Some(fold) = &mut fold {
            fold.past.find_halt(reader).await?;
        }
        Ok(fold)
    }

    async fn from_last_snapshot(
        reader: &mut Reader,
        settings: &SessionSettings,
        leaving: Option<Leaving>,
        every: u64,
    ) -> Result<Result<Option<Self>, (u64, Unusable)>, RuntimeError> {
        let fingerprints = Fingerprints::of(settings)?;
        let Some(last) = reader.last_snapshot().await? else { return Ok(Ok(None)) };
        let unusable = |why: Unusable| Ok(Err((last.seq, why)));
        let before = match settings_of(&last.line.body).filter(|settings| !fingerprints.has(settings)) {
            Some(settings) => Some(Before::of(reader, &last, &settings).await?),
            None => None,
        };
        let mut pieces = Pieces::under(settings, &fingerprints, before).leaving(leaving);
        let mut next = Some(last.clone());
        while let Some(stored) = next.take() {
            let previous = match pieces.take(&stored) {
                Ok(previous) => previous,
                Err(why) => return unusable(why),
            };
            let Some(previous) = previous else { break };
            next = reader.line_at(previous).await?;
            if next.is_none() {
                return unusable(format!("entry {}, which it continues, is another", previous.seq));
            }
        }
        let mut fold = match pieces.restore() {
            Ok(restored) => Self::of_restored(restored, (fingerprints.own.clone(), every), last.head()),
            Err(why) => return unusable(why),
        };
        let mut walk = match reader.walk_after(last.head(), PAGE).await {
            Err(JournalError::BrokenChain { reason, .. }) => return unusable(reason),
            walk => walk?,
        };
        loop {
            let lines = match walk.next().await {
                // Read from the first line on, the first that is wrong is named.
                Err(JournalError::BrokenChain { reason, .. }) => return unusable(reason),
                lines => lines?,
            };
            if lines.is_empty() {
                return Ok(Ok(Some(fold)));
            }
            lines.iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
            if fold.past.lacks_settlement {
                return unusable("a trade that settled before it was corrected after it".to_owned());
            }
        }
    }

    /// As it was when a snapshot was written, by lines of snapshots, the last one first; those that it does not go on from may be among
    /// them.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn of_snapshot(settings: &SessionSettings, every: u64, lines: &[StoredLine]) -> Result<Self, String> {
        let fingerprints = Fingerprints::of(settings).map_err(|error| error.to_string())?;
        let mut pieces = Pieces::under(settings, &fingerprints, None);
        let last = lines.first().ok_or("there is no line")?;
        let mut next = Some(last);
        while let Some(stored) = next {
            let previous = pieces.take(stored)?;
            let part = |head: Head| lines.iter().find(|line| line.head() == head);
            next = match previous {
                Some(head) => Some(part(head).ok_or_else(|| format!("part {} is missing", head.seq))?),
                None => None,
            };
        }
        Ok(Self::of_restored(pieces.restore()?, (fingerprints.own.clone(), every), last.head()))
    }

    /// The same, whose snapshots have parts of so many intents.
    #[must_use]
    pub fn with_parts_of(mut self, intents: u64) -> Self {
        self.part = intents.max(1);
        self
    }

    fn of_restored(restored: Restored, (fingerprint, every): (String, u64), last: Head) -> Self {
        let Restored { session, past, decoder, written } = restored;
        let (since, read, is_writing, is_broken, notice) = (0, 0, false, false, None);
        Self {
            session,
            past,
            decoder,
            fingerprint,
            before: written.clone(),
            written,
            every,
            part: PART,
            since,
            tried: 0,
            read,
            last: last.seq,
            is_writing,
            header: None,
            is_broken,
            has_failed: false,
            row_failures: 0,
            notice,
        }
    }

    /// The number of the last line that was folded.
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// Whether a correction was folded whose settlement lies before the first folded line: only a fold of all lines applies it.
    pub const fn lacks_settlement(&self) -> bool {
        self.past.lacks_settlement
    }

    /// What it knows besides its Session.
    pub const fn past(&self) -> &Past {
        &self.past
    }

    /// The Session and the past that it has come to, and the number of the last line that was folded.
    pub fn into_parts(self) -> (Session, Past, u64) {
        (self.session, self.past, self.last)
    }

    /// From which intent on each bot's trades count for its verdict, in the bots' order.
    pub fn first_intents(&self) -> impl Iterator<Item = IntentId> {
        self.session.verdicts().map(BotVerdict::first_intent)
    }

    /// Takes out what figures take of old intents ([`Past::take_old_trades`]).
    pub fn take_old_trades(&mut self) -> Vec<OldTrade> {
        self.past.take_old_trades()
    }

    /// Lets a Session of the same settings go on from what was folded; what it goes on from beside itself.
    ///
    /// # Errors
    /// [`RuntimeError::UnreadableEntry`] when its settings are others.
    pub fn hand_over(&self, session: &mut Session) -> Result<Past, RuntimeError> {
        let restored = session.restore(self.session.snapshot());
        restored.map_err(|error| super::damaged(0, &error.to_string()))?;
        session.share_history(&self.session);
        Ok(self.past.clone())
    }

    /// How many lines were folded besides those that a snapshot stands for.
    pub const fn read_lines(&self) -> u64 {
        self.read
    }

    /// Why a snapshot that is there was not used, if it was not.
    pub const fn notice(&self) -> Option<&String> {
        self.notice.as_ref()
    }

    /// Takes the next line.
    ///
    /// # Errors
    /// [`RuntimeError::UnreadableEntry`] when it is no entry.
    pub fn fold(&mut self, seq: u64, line: &Line) -> Result<(), RuntimeError> {
        (self.read, self.last) = (self.read + 1, seq);
        self.since += u64::from(!is_snapshot(&line.body));
        self.past.take((seq, line), &mut self.decoder, &mut self.session)
    }

    /// The next piece of a snapshot of it as it stands, and whether that is the last.
    fn piece(&mut self) -> Result<(String, bool), serde_json::Error> {
        match self.written.next_part(&self.past, self.part) {
            Some(end) => Ok((self.written.part(&self.past, end)?, false)),
            None => Ok((self.whole(&self.fingerprint)?, true)),
        }
    }

    fn whole(&self, fingerprint: &str) -> Result<String, serde_json::Error> {
        self.written.whole(&self.past, (fingerprint, &self.session, self.decoder.as_ref()))
    }

    /// The piece that this one would be, if it is of this fold as it stands and the same was written before it. Of which settings it is
    /// the caller knows by what it says of that.
    pub(super) fn piece_like(&mut self, body: &str) -> Option<String> {
        match self.written.end_of_part(&self.past, body) {
            Some(end) => self.written.part(&self.past, end).ok(),
            None => self.whole(&settings_of(body)?).ok(),
        }
    }

    /// What its numbers of bots and symbols mean.
    pub(super) fn names(&self) -> SessionNames {
        self.session.names()
    }

    /// How much of it is written already.
    pub(super) const fn written(&mut self) -> &mut Written {
        &mut self.written
    }
}
