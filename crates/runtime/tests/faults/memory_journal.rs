//! A journal in memory whose durable part survives a crash.

use crate::prelude::*;
use candlewick_engine::{Entry, Recorder};
use candlewick_journal::Journal;
use std::io;

#[derive(Default)]
pub(crate) struct Disk {
    pub(crate) lines: Vec<StoredLine>,
    pub(crate) intents: BTreeSet<u64>,
    /// Intents that may be unknown trades, with the time until which stakes of those taken as not opened stay
    /// reserved.
    pub(crate) unclear: BTreeMap<u64, Option<Millis>>,
    pub(crate) answered: BTreeMap<u64, String>,
    pub(crate) settled: BTreeSet<u64>,
    pub(crate) seconds: BTreeSet<String>,
}

impl Disk {
    pub(crate) fn knows(&self, trade: &Trade) -> bool {
        trade.intent.is_some_and(|intent| self.answered.get(&intent).is_some_and(|id| *id == trade.id))
    }

    fn learn(&mut self, event: &EventKind) {
        match event {
            EventKind::Reinstated(terms) => {
                self.unclear.insert(terms.intent().number(), None);
            }
            EventKind::NotOpened { intent, reserved_until } => {
                self.unclear.insert(intent.number(), Some(*reserved_until));
            }
            EventKind::Rejected { intent, .. } | EventKind::NotSent { intent } => {
                self.unclear.remove(&intent.number());
            }
            EventKind::Opened(opened) | EventKind::Adopted(opened) => {
                let intent = opened.intent.number();
                self.answered.extend(opened.venue_id.map(|id| (intent, id.as_str().to_owned())));
                self.unclear.remove(&intent);
            }
            EventKind::Settled(settled) => {
                self.settled.insert(settled.intent.number());
            }
            _ => {}
        }
    }

    pub(crate) fn is_halted(&self) -> bool {
        let mut bodies = self.lines.iter().rev().map(|stored| stored.line.body.as_str());
        let decides = |body: &str| body.contains("\"halt\"") || body.contains("\"resume\"");
        let last = bodies.find(|body| body.contains("\"event\":\"control\"") && decides(body));
        last.is_some_and(|body| body.contains("\"halt\""))
    }
}

pub(crate) fn events<'a>(
    lines: impl Iterator<Item = &'a StoredLine>,
    names: &[&str],
) -> impl Iterator<Item = EventKind> {
    let is_meant = move |stored: &&StoredLine| names.iter().any(|name| stored.line.body.contains(name));
    lines.filter(is_meant).filter_map(|stored| serde_json::from_str(&stored.line.body).ok())
}

pub(crate) struct CrashingJournal {
    world: Arc<World>,
    fuse: Arc<Fuse>,
    run: u64,
    pending: Vec<Line>,
    events: Vec<EventKind>,
    taken: usize,
    moment: (Millis, Millis),
}

impl CrashingJournal {
    pub(crate) fn new(world: Arc<World>, fuse: Arc<Fuse>, run: u64, now: Millis) -> Self {
        let (pending, events) = (Vec::new(), Vec::new());
        Self { world, fuse, run, pending, events, taken: 0, moment: (now, now) }
    }

    fn add(&mut self, kind: LineKind, intent: Option<u64>, body: String) {
        let (at, received) = self.moment;
        self.pending.push(Line { run: self.run, kind, intent, at, received, body });
    }

    fn write(&mut self) {
        let mut disk = self.world.disk();
        for line in self.pending.drain(..) {
            let (seq, before) = disk.lines.last().map_or((0, ChainHash::GENESIS), |end| (end.seq, end.hash));
            match (line.kind, line.intent) {
                (LineKind::Action, Some(intent)) => {
                    disk.intents.insert(intent);
                    disk.unclear.insert(intent, None);
                }
                (LineKind::Note, _) => disk.seconds.extend(second_trade_of(&line.body)),
                _ => {}
            }
            disk.lines.push(StoredLine { seq: seq + 1, hash: before.next(seq + 1, &line), line });
        }
        for event in self.events.drain(..) {
            disk.learn(&event);
        }
        self.taken = 0;
    }
}

impl Recorder for CrashingJournal {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.fuse.burn_by_writing();
        self.taken += 1;
        match entry {
            Entry::Header(_) => self.add(LineKind::Run, None, serde_json::to_string(&entry)?),
            Entry::Event(event) => {
                self.moment = (event.at, event.received);
                if !matches!(event.kind, EventKind::Candle { .. }) {
                    self.events.push(event.kind);
                    self.add(LineKind::Event, None, serde_json::to_string(&entry)?);
                }
            }
            Entry::Action(action) => {
                let intent = match action {
                    Action::Open(approved) => Some(approved.intent().number()),
                    Action::Refuse(_) | Action::DayOpened { .. } | Action::Verdict(_) => None,
                };
                self.add(LineKind::Action, intent, serde_json::to_string(&entry)?);
            }
        }
        Ok(())
    }
}

fn second_trade_of(note: &str) -> Option<String> {
    let note: serde_json::Value = serde_json::from_str(note).ok()?;
    note["second_of"].as_u64()?;
    Some(note["unexplained"].as_str()?.to_owned())
}

pub(crate) enum Durability {
    Done,
    After(Millis, bool),
    Failed(JournalError),
    Never,
}

impl CrashingJournal {
    pub(crate) fn begin_durable(&mut self) -> Durability {
        if self.fuse.is_burnt.load(Relaxed) {
            return Durability::Never;
        }
        let plan = &self.world.plan;
        if self.world.is_within(plan.habits.journal_outage) {
            let (url, source) = ("memory".to_owned(), "no room".into());
            return Durability::Failed(JournalError::DiskFull { url, source });
        }
        let (slow_ms, is_early) = {
            let mut dice = self.world.dice();
            (dice.per_mille(plan.habits.slow_writes).then(|| dice.skewed(1, 15_000)), dice.one_in(2))
        };
        let is_last = self.fuse.burn_by_writing();
        if is_last && !is_early {
            return Durability::Never;
        }
        if slow_ms.is_none() || is_early {
            self.write();
        }
        match slow_ms {
            Some(span) => Durability::After(Millis::new(span), is_last),
            None if is_last => Durability::Never,
            None => Durability::Done,
        }
    }

    pub(crate) fn end_durable(&mut self, is_last: bool) -> bool {
        self.write();
        !is_last
    }

    fn add_note(&mut self, at: Millis, intent: Option<u64>, body: String) {
        self.fuse.burn_by_writing();
        self.moment = (at, at);
        self.taken += 1;
        self.add(LineKind::Note, intent, body);
    }
}

#[async_trait]
impl Journal for CrashingJournal {
    async fn make_durable(&mut self) -> Result<(), JournalError> {
        match self.begin_durable() {
            Durability::Done => return Ok(()),
            Durability::Failed(error) => return Err(error),
            Durability::After(span, is_last) => {
                tokio::time::sleep(Duration::from_millis(span.get() as u64)).await;
                if self.end_durable(is_last) {
                    return Ok(());
                }
            }
            Durability::Never => {}
        }
        std::future::pending().await
    }

    fn pending_count(&self) -> usize {
        self.taken
    }

    fn note(&mut self, at: Millis, body: String) {
        self.add_note(at, None, body);
    }

    fn note_about(&mut self, at: Millis, intent: IntentId, body: String) {
        self.add_note(at, Some(intent.number()), body);
    }
}
