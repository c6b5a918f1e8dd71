//! Strategies that are shown candles on threads of their own, ahead of the Session that decides on what they answer.

mod batches;
mod group;

use batches::Batches;
use candlewick_engine::LentStrategy;
use candlewick_sdk::Candle;
use group::{Batch, Group, Job};
use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Batches that lie ready for all strategies together at most, and for each group at least and at most: few enough to stay in a cache,
/// and as many as make it rare that a thread has to be woken.
const READY: usize = 64;
const LEAST_READY: usize = 4;
const MOST_READY: usize = 8;

/// Groups of strategies, and what they answer that has not been taken yet.
pub(crate) struct Ahead<'a> {
    state: Mutex<State<'a>>,
    /// There may be room for further answers, or nobody wants any.
    room: Condvar,
    /// Somebody has done what he did when the Session's thread began to wait for it.
    done: Condvar,
    most_ready: usize,
}

struct State<'a> {
    groups: Vec<Group<'a>>,
    /// Threads that wait for room.
    resting: usize,
    /// Whether the Session's thread waits for a batch.
    is_awaited: bool,
    /// Whether nobody wants further answers.
    is_over: bool,
    /// What a strategy panicked with.
    panic: Option<Box<dyn Any + Send>>,
}

/// Ends the threads, however the run ends.
struct EndOnDrop<'q, 'a>(&'q Ahead<'a>);

impl<'a> Ahead<'a> {
    /// Does this while so many further threads show the strategies the candles of these series; it takes what they answer from what it is given.
    pub(crate) fn beside<T>(
        lent: Vec<LentStrategy>,
        series: &[&'a [Candle]],
        threads: usize,
        run: impl FnOnce(&mut Batches<'_, 'a>) -> T,
    ) -> T {
        let (ahead, places) = Self::of(lent, series, threads);
        let groups = ahead.lock().groups.len();
        let mut batches = Batches::new(&ahead, places, groups);
        thread::scope(|scope| {
            let _end = EndOnDrop(&ahead);
            for _ in 0..threads.min(groups) {
                // Where there can be no further thread, this one makes all batches itself.
                let thread = thread::Builder::new().name("strategies".to_owned());
                let _ = thread.spawn_scoped(scope, || ahead.work());
            }
            run(&mut batches)
        })
    }

    /// Also the group and the place in it of each strategy.
    fn of(lent: Vec<LentStrategy>, series: &[&'a [Candle]], threads: usize) -> (Self, Vec<(usize, usize)>) {
        let most_ready = (READY / lent.len().max(1)).clamp(LEAST_READY, MOST_READY);
        let (groups, places) = group::groups_of(lent, series, threads);
        // Those that lie ready, one that is being made, and two that are being taken.
        let groups = groups.into_iter().map(|group| group.with_room_for(most_ready + 3)).collect();
        let state = State { groups, resting: 0, is_awaited: false, is_over: false, panic: None };
        let (room, done) = (Condvar::new(), Condvar::new());
        (Self { state: Mutex::new(state), room, done, most_ready }, places)
    }

    /// Shows strategies candles wherever there is room for their answers, until they have been shown all, or nobody wants any more.
    fn work(&self) {
        let mut state = self.lock();
        while !state.is_over && state.groups.iter().any(Group::has_candles) {
            let Some(mut job) = state.next_job(self.most_ready) else {
                state.resting += 1;
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.resting -= 1;
                continue;
            };
            drop(state);
            let done = catch_unwind(AssertUnwindSafe(|| job.run()));
            state = self.lock();
            match done {
                Ok(()) => state.put_back(job),
                Err(panic) => {
                    state.panic = Some(panic);
                    state.is_over = true;
                }
            }
            if mem::take(&mut state.is_awaited) {
                self.done.notify_one();
            }
        }
    }

    /// The next batch of a group; none after its last candle. Where it does not lie ready, and nobody is about to make it, it is made here.
    fn next_batch(&self, group: usize, spent: Option<Batch>) -> Option<Batch> {
        let mut state = self.lock();
        state.groups[group].spent.extend(spent);
        loop {
            if let Some(batch) = state.groups[group].ready.pop_front() {
                // Not at each batch: to wake a thread takes as long as some thousand candles.
                if state.resting > 0 && state.groups[group].ready.len() <= self.most_ready / 2 {
                    self.room.notify_one();
                }
                return Some(batch);
            }
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            if let Some(mut job) = state.groups[group].job(group) {
                drop(state);
                job.run();
                state = self.lock();
                state.put_back(job);
            } else if state.groups[group].is_free() {
                return None;
            } else {
                state.is_awaited = true;
                state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> State<'a> {
    /// Of those groups with room, that which has come the least far.
    fn next_job(&mut self, most_ready: usize) -> Option<Job<'a>> {
        let has_room = |group: &Group<'_>| group.ready.len() < most_ready && group.is_free();
        let groups = self.groups.iter().enumerate().filter(|(_, group)| has_room(group));
        let times = groups.filter_map(|(number, group)| Some((group.next_time()?, number)));
        let (_, number) = times.min()?;
        self.groups[number].job(number)
    }

    fn put_back(&mut self, job: Job<'a>) {
        let group = &mut self.groups[job.group];
        group.put_back(job);
    }
}

impl Drop for EndOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.room.notify_all();
    }
}
