//! What outlives every process of a schedule: the venue, the disk, true time, and what was found broken.

use crate::memory_journal::Disk;
use crate::prelude::*;
use crate::time::TrueTime;
use std::sync::MutexGuard;

/// How far a clock may be off before trades can no longer be distinguished by their times (the rules of opening).
const CLOCK_UNCERTAINTY: Millis = Millis::from_seconds(2);
const MAX_QUESTIONS: u64 = 400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    Coordinator,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logging {
    Nothing,
    All,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) from: Millis,
    pub(crate) by: Millis,
    /// Its run is over: it never leaves.
    pub(crate) has_run_ended: bool,
}

pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) time: TrueTime,
    dice: Mutex<Dice>,
    truth: Mutex<Truth>,
    disk: Mutex<Disk>,
    questions: Mutex<u64>,
    departures: Mutex<BTreeMap<u64, Departure>>,
    /// Intents that were given up although their trades were only kept back for longer than they may be.
    kept_back: AtomicU64,
    /// Whether a trade was only settled or reported long after all was over, as the list showed it by chance.
    is_list_slow: AtomicBool,
    forgotten: AtomicU64,
    said: Mutex<Vec<String>>,
    /// Until when an intent was in doubt, or its stake was reserved, in ms: the wallet hides what it lacks behind that.
    unclear_until: AtomicI64,
    /// When a false balance was shown first, in ms.
    false_wallet_since: AtomicI64,
    false_records: Mutex<BTreeMap<String, Millis>>,
    most_off: AtomicI64,
    /// By how much a lie passed for the venue's clock, in ms.
    most_ahead: AtomicI64,
    broken: Mutex<Vec<String>>,
    is_excused: AtomicBool,
    log: Option<Mutex<Vec<String>>>,
}

impl World {
    pub(crate) fn of((plan, dice): (Plan, Dice), layer: Layer, logging: Logging) -> Arc<Self> {
        let time = match layer {
            Layer::Coordinator => TrueTime::moved(plan.epoch),
            Layer::Bytes => TrueTime::paused(plan.epoch),
        };
        Arc::new(Self {
            time,
            truth: Mutex::new(Truth::new(&plan)),
            plan,
            dice: Mutex::new(dice),
            disk: Mutex::default(),
            questions: Mutex::default(),
            departures: Mutex::default(),
            kept_back: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            is_list_slow: AtomicBool::new(false),
            said: Mutex::default(),
            unclear_until: AtomicI64::new(0),
            false_wallet_since: AtomicI64::new(i64::MAX),
            false_records: Mutex::default(),
            most_off: AtomicI64::new(0),
            most_ahead: AtomicI64::new(0),
            broken: Mutex::default(),
            is_excused: AtomicBool::new(false),
            log: (logging == Logging::All).then(Mutex::default),
        })
    }

    pub(crate) fn dice(&self) -> MutexGuard<'_, Dice> {
        self.dice.lock().unwrap()
    }

    pub(crate) fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap()
    }

    pub(crate) fn truth(&self) -> MutexGuard<'_, Truth> {
        let mut truth = self.truth.lock().unwrap();
        truth.advance(self.time.now());
        truth
    }

    pub(crate) fn journal_began(&self) -> Millis {
        self.disk().lines.first().map_or(Millis::MAX, |first| first.line.received)
    }

    pub(crate) fn note_offset(&self, offset: Millis) {
        self.most_off.fetch_max(offset.abs_diff(Millis::ZERO).get(), Relaxed);
    }

    pub(crate) fn note_forgotten(&self, forgotten: u64) {
        self.forgotten.fetch_add(forgotten, Relaxed);
    }

    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten.load(Relaxed)
    }

    pub(crate) fn note_ahead(&self, ahead: Millis) {
        self.most_ahead.fetch_max(ahead.get(), Relaxed);
    }

    pub(crate) fn most_off(&self) -> Millis {
        Millis::new(self.most_off.load(Relaxed).max(self.most_ahead.load(Relaxed)))
    }

    pub(crate) fn most_shown_off(&self) -> Millis {
        Millis::new(self.most_off.load(Relaxed) + self.most_ahead.load(Relaxed))
    }

    pub(crate) fn is_far_off(&self) -> bool {
        self.most_off() > CLOCK_UNCERTAINTY
    }

    pub(crate) fn is_lying(&self) -> bool {
        self.plan.lies.has_any()
    }

    /// Whether the wallet may hold another amount than our trades explain: it lags for longer than it may, others trade, or
    /// the venue lies.
    pub(crate) fn may_be_off(&self) -> bool {
        let Plan { habits, settings, .. } = &self.plan;
        let lags = habits.list_lag_ms > i64::from(settings.list_lag_ms);
        let follows = habits.withholding == Withholding::Both;
        let has_others = habits.has_strangers || habits.company > 0;
        follows && lags || has_others || self.is_lying() || self.is_far_off()
    }

    pub(crate) fn note_said(&self, text: &str) {
        if self.is_lying() {
            self.said.lock().unwrap().push(text.to_owned());
        }
    }

    pub(crate) fn has_said(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.said.lock().unwrap().iter().any(|text| is_it(text))
    }

    pub(crate) fn halts(&self) -> u64 {
        self.said.lock().unwrap().iter().filter(|text| text.starts_with("halted: ")).count() as u64
    }

    pub(crate) fn note_unclear(&self, until: Millis) {
        self.unclear_until.fetch_max(until.get(), Relaxed);
    }

    pub(crate) fn unclear_until(&self) -> Millis {
        Millis::new(self.unclear_until.load(Relaxed))
    }

    pub(crate) fn note_false_wallet(&self) {
        self.false_wallet_since.fetch_min(self.time.now().get(), Relaxed);
    }

    pub(crate) fn false_wallet_since(&self) -> Millis {
        Millis::new(self.false_wallet_since.load(Relaxed))
    }

    pub(crate) fn note_false_record(&self, id: &str) {
        self.false_records.lock().unwrap().entry(id.to_owned()).or_insert_with(|| self.time.now());
    }

    pub(crate) fn has_shown_false_record(&self, id: &str) -> bool {
        let first = self.false_records.lock().unwrap().get(id).copied();
        first.is_some_and(|at| self.time.now() - at > READ_AT_MOST)
    }

    pub(crate) fn note_departure(&self, intent: u64, departure: Departure) {
        self.departures.lock().unwrap().insert(intent, departure);
    }

    pub(crate) fn departure(&self, intent: u64) -> Departure {
        self.departures.lock().unwrap()[&intent]
    }

    pub(crate) fn end_run(&self) -> u64 {
        let (truth, disk, now) = (self.truth(), self.disk(), self.time.now());
        let mut held = 0;
        for (intent, departure) in &mut *self.departures.lock().unwrap() {
            let is_held =
                !departure.has_run_ended && departure.from > now && truth.order_of(*intent).is_none();
            held += u64::from(is_held && disk.intents.contains(intent));
            departure.has_run_ended = true;
        }
        held
    }

    pub(crate) fn note_kept_back(&self) {
        self.kept_back.fetch_add(1, Relaxed);
    }

    pub(crate) fn kept_back(&self) -> u64 {
        self.kept_back.load(Relaxed)
    }

    pub(crate) fn note_slow_list(&self) {
        self.is_list_slow.store(true, Relaxed);
    }

    pub(crate) fn is_list_slow(&self) -> bool {
        self.is_list_slow.load(Relaxed)
    }

    pub(crate) fn excuse(&self) {
        self.log(|| "excused from here on".to_owned());
        self.is_excused.store(true, Relaxed);
    }

    pub(crate) fn is_excused(&self) -> bool {
        self.is_excused.load(Relaxed)
    }

    pub(crate) fn require(&self, holds: bool, text: impl FnOnce() -> String) {
        if !holds && !self.is_excused() {
            let text = format!("after {} ms: {}", self.time.elapsed().get(), text());
            self.log(|| format!("BROKEN {text}"));
            self.broken.lock().unwrap().push(text);
        }
    }

    pub(crate) fn log(&self, text: impl FnOnce() -> String) {
        if let Some(log) = &self.log {
            let line = format!("{:>9} {}", self.time.elapsed().get(), text());
            log.lock().unwrap().push(line);
        }
    }

    pub(crate) fn lines_of_log(&self) -> Vec<String> {
        self.log.as_ref().map(|log| log.lock().unwrap().clone()).unwrap_or_default()
    }

    pub(crate) fn count_question(&self) -> bool {
        let mut questions = self.questions.lock().unwrap();
        *questions += 1;
        *questions <= MAX_QUESTIONS
    }

    pub(crate) fn questions(&self) -> u64 {
        *self.questions.lock().unwrap()
    }

    pub(crate) fn broken(&self) -> Vec<String> {
        self.broken.lock().unwrap().clone()
    }
}
