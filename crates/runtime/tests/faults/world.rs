//! State that outlives each process of a schedule: venue, disk, true time, and broken invariants.

use crate::memory_journal::Disk;
use crate::prelude::*;
use crate::time::TrueTime;
use std::sync::{MutexGuard, OnceLock};

/// Clock offset beyond which trades can no longer be distinguished by their times (the rules of opening).
const CLOCK_UNCERTAINTY: Millis = Millis::from_seconds(2);
pub(crate) const MAX_QUESTIONS: u64 = 400_000;

pub(crate) type Counts = BTreeMap<&'static str, u64>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    Coordinator,
    Bytes,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) from: Millis,
    pub(crate) by: Millis,
    pub(crate) has_run_ended: bool,
}

pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) time: TrueTime,
    dice: Mutex<Dice>,
    truth: Mutex<Truth>,
    disk: Mutex<Disk>,
    pub(crate) notes: Notes,
    is_logging: bool,
}

#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) counts: Mutex<Counts>,
    pub(crate) departures: Mutex<BTreeMap<u64, Departure>>,
    reports: Mutex<Vec<String>>,
    /// Time in ms until which an intent was in doubt or its stake reserved: the wallet may hide a shortage until then.
    pub(crate) unclear_until: AtomicI64,
    pub(crate) false_wallet_since: OnceLock<Millis>,
    pub(crate) false_records: Mutex<BTreeMap<String, Millis>>,
    pub(crate) max_offset: AtomicI64,
    pub(crate) most_ahead: AtomicI64,
    broken: Mutex<Vec<String>>,
    pub(crate) is_excused: AtomicBool,
    pub(crate) log: Mutex<Vec<String>>,
}

impl World {
    pub(crate) fn new((plan, dice): (Plan, Dice), layer: Layer, is_logging: bool) -> Arc<Self> {
        let time = TrueTime::new(plan.epoch, layer == Layer::Bytes);
        let (dice, truth, disk) = (Mutex::new(dice), Mutex::default(), Mutex::default());
        Arc::new(Self { plan, time, dice, truth, disk, notes: Notes::default(), is_logging })
    }

    pub(crate) fn dice(&self) -> MutexGuard<'_, Dice> {
        self.dice.lock().unwrap()
    }

    pub(crate) fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap()
    }

    pub(crate) fn truth(&self) -> MutexGuard<'_, Truth> {
        let mut truth = self.truth.lock().unwrap();
        truth.advance(&self.plan, self.time.now());
        truth
    }

    pub(crate) fn is_within(&self, (from, until): (Millis, Millis)) -> bool {
        (from..until).contains(&self.time.elapsed())
    }

    pub(crate) fn journal_began(&self) -> Millis {
        self.disk().lines.first().map_or(Millis::MAX, |first| first.line.received)
    }

    pub(crate) fn count(&self, what: &'static str, by: u64) -> u64 {
        let mut counts = self.notes.counts.lock().unwrap();
        let count = counts.entry(what).or_default();
        *count += by;
        *count
    }

    pub(crate) fn note_offset(&self, offset: Millis) {
        self.notes.max_offset.fetch_max(offset.abs_diff(Millis::ZERO).get(), Relaxed);
    }

    pub(crate) fn max_offset(&self) -> Millis {
        Millis::new(self.notes.max_offset.load(Relaxed).max(self.notes.most_ahead.load(Relaxed)))
    }

    pub(crate) fn max_visible_offset(&self) -> Millis {
        Millis::new(self.notes.max_offset.load(Relaxed) + self.notes.most_ahead.load(Relaxed))
    }

    pub(crate) fn is_far_off(&self) -> bool {
        self.max_offset() > CLOCK_UNCERTAINTY
    }

    pub(crate) fn may_be_off(&self) -> bool {
        let habits = &self.plan.habits;
        let follows = habits.withholding == Withholding::Both;
        let has_others = habits.has_strangers || habits.company > 0;
        follows && self.plan.lists_late() || has_others || self.plan.lies.has_any() || self.is_far_off()
    }

    pub(crate) fn note_said(&self, text: &str) {
        if self.plan.lies.has_any() {
            self.notes.reports.lock().unwrap().push(text.to_owned());
        }
    }

    pub(crate) fn has_said(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.notes.reports.lock().unwrap().iter().any(|text| is_it(text))
    }

    pub(crate) fn halts(&self) -> u64 {
        self.notes.reports.lock().unwrap().iter().filter(|text| text.starts_with("halted: ")).count() as u64
    }

    pub(crate) fn has_shown_false_record(&self, id: &str) -> bool {
        let first = self.notes.false_records.lock().unwrap().get(id).copied();
        first.is_some_and(|at| self.time.now() - at > READ_AT_MOST)
    }

    pub(crate) fn end_run(&self) -> u64 {
        let (truth, disk, now) = (self.truth(), self.disk(), self.time.now());
        let mut held = 0;
        for (intent, departure) in &mut *self.notes.departures.lock().unwrap() {
            let is_held =
                !departure.has_run_ended && departure.from > now && truth.order_of(*intent).is_none();
            held += u64::from(is_held && disk.intents.contains(intent));
            departure.has_run_ended = true;
        }
        held
    }

    pub(crate) fn is_excused(&self) -> bool {
        self.notes.is_excused.load(Relaxed)
    }

    pub(crate) fn require(&self, holds: bool, text: impl FnOnce() -> String) {
        if !holds && !self.is_excused() {
            let text = format!("after {} ms: {}", self.time.elapsed().get(), text());
            self.log(|| format!("BROKEN {text}"));
            self.notes.broken.lock().unwrap().push(text);
        }
    }

    pub(crate) fn log(&self, text: impl FnOnce() -> String) {
        if self.is_logging {
            let line = format!("{:>9} {}", self.time.elapsed().get(), text());
            self.notes.log.lock().unwrap().push(line);
        }
    }

    pub(crate) fn broken(&self) -> Vec<String> {
        self.notes.broken.lock().unwrap().clone()
    }
}
