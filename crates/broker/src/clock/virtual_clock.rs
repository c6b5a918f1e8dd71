//! A clock that runs at a chosen speed or jumps to the next awaited time, and stops while a hold exists.

use super::{Clock, Hold, HoldCounter};
use async_trait::async_trait;
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// Speed of venue time while no hold exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// A multiple of real time.
    Times(f64),
    /// Lock-step: the clock jumps to the next awaited time.
    Max,
}

/// Virtual clock of an embedded venue and its bots. Clones share the same time.
#[derive(Clone)]
pub struct VirtualClock {
    shared: Arc<SharedClock>,
}

struct SharedClock {
    speed: Speed,
    state: Mutex<State>,
    /// Wake-up signal for the sleepers of a continuously running clock, sent whenever a hold is released.
    released: Notify,
}

struct State {
    /// Venue time when the clock last started or stopped.
    time: Millis,
    /// Real time at which the clock last started.
    since: Instant,
    holds: usize,
    /// Lock-step sleepers, sorted by wake-up time, then by arrival.
    sleepers: BTreeMap<(Millis, u64), oneshot::Sender<Hold>>,
    arrivals: u64,
}

impl VirtualClock {
    /// Creates a clock that is set to `start`.
    pub fn new(start: Millis, speed: Speed) -> Self {
        let state =
            State { time: start, since: Instant::now(), holds: 0, sleepers: BTreeMap::new(), arrivals: 0 };
        Self { shared: Arc::new(SharedClock { speed, state: Mutex::new(state), released: Notify::new() }) }
    }

    /// Returns the speed.
    pub fn speed(&self) -> Speed {
        self.shared.speed
    }
}

impl SharedClock {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self, state: &State) -> Millis {
        match self.speed {
            Speed::Times(factor) if state.holds == 0 => {
                let elapsed_ms = state.since.elapsed().as_secs_f64() * 1_000.0 * factor;
                state.time + Millis::new(elapsed_ms as i64)
            }
            Speed::Times(_) | Speed::Max => state.time,
        }
    }

    fn freeze(&self, state: &mut State) {
        state.time = self.now(state);
        state.holds += 1;
    }

    /// Jumps to the next awaited time if the clock runs in lock-step and no hold exists. Returns the sleepers to wake.
    fn jump(self: &Arc<Self>, state: &mut State) -> Vec<(oneshot::Sender<Hold>, Hold)> {
        let mut woken = Vec::new();
        // Dropped sleepers do not move the clock.
        while state.sleepers.first_key_value().is_some_and(|(_, sleeper)| sleeper.is_closed()) {
            state.sleepers.pop_first();
        }
        let next = state.sleepers.first_key_value().map(|((moment, _), _)| *moment);
        let Some(moment) = next.filter(|_| self.speed == Speed::Max && state.holds == 0) else {
            return woken;
        };
        state.time = state.time.max(moment);
        while let Some(entry) = state.sleepers.first_entry() {
            if entry.key().0 > state.time {
                break;
            }
            let sleeper = entry.remove();
            state.holds += 1;
            woken.push((sleeper, Hold(Some(Arc::clone(self) as Arc<dyn HoldCounter>))));
        }
        woken
    }

    /// Wakes sleepers. The caller must not hold the state lock: dropping a cancelled sleeper's [`Hold`] acquires it.
    fn wake_sleepers(woken: Vec<(oneshot::Sender<Hold>, Hold)>) {
        for (sleeper, hold) in woken {
            drop(sleeper.send(hold));
        }
    }
}

impl HoldCounter for SharedClock {
    fn add_hold(self: Arc<Self>) -> Arc<dyn HoldCounter> {
        self.freeze(&mut self.state());
        self
    }

    fn remove_hold(self: Arc<Self>) {
        let woken = {
            let mut state = self.state();
            state.holds = state.holds.saturating_sub(1);
            if state.holds == 0 {
                state.since = Instant::now();
            }
            self.jump(&mut state)
        };
        Self::wake_sleepers(woken);
        self.released.notify_waiters();
    }
}

#[async_trait]
impl Clock for VirtualClock {
    fn now(&self) -> Millis {
        let state = self.shared.state();
        self.shared.now(&state)
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        match self.shared.speed {
            Speed::Max => self.sleep_in_lock_step(at).await,
            Speed::Times(factor) => self.sleep_scaled(at, factor).await,
        }
    }

    fn hold(&self) -> Hold {
        self.shared.freeze(&mut self.shared.state());
        Hold(Some(Arc::clone(&self.shared) as Arc<dyn HoldCounter>))
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn is_lock_step(&self) -> bool {
        self.shared.speed == Speed::Max
    }
}

impl VirtualClock {
    async fn sleep_in_lock_step(&self, at: Millis) -> Hold {
        let (sender, receiver) = oneshot::channel();
        let woken = {
            let mut state = self.shared.state();
            let arrival = state.arrivals;
            state.arrivals += 1;
            state.sleepers.insert((at, arrival), sender);
            self.shared.jump(&mut state)
        };
        SharedClock::wake_sleepers(woken);
        match receiver.await {
            Ok(hold) => hold,
            // Unreachable: `self` keeps the state with the sender alive.
            Err(_) => std::future::pending().await,
        }
    }

    async fn sleep_scaled(&self, at: Millis, factor: f64) -> Hold {
        loop {
            let mut released = std::pin::pin!(self.shared.released.notified());
            released.as_mut().enable();
            let (left, held) = {
                let mut state = self.shared.state();
                let left = at - self.shared.now(&state);
                if left <= Millis::ZERO {
                    self.shared.freeze(&mut state);
                    return Hold(Some(Arc::clone(&self.shared) as Arc<dyn HoldCounter>));
                }
                (left, state.holds > 0)
            };
            if held {
                released.await;
            } else {
                let seconds = left.get() as f64 / 1_000.0 / factor.max(1e-9);
                let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                // Waits at least for tokio's resolution, so that rounding cannot cause a busy loop.
                tokio::time::sleep(wait.clamp(Duration::from_millis(1), Duration::from_hours(1))).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lock_step_jumps_between_moments_and_waits_for_holds() {
        let clock = VirtualClock::new(Millis::ZERO, Speed::Max);
        let start = clock.hold();
        let (early, late) = (clock.clone(), clock.clone());
        let early = tokio::spawn(async move { early.sleep_until(Millis::MINUTE).await });
        let late = tokio::spawn(async move { late.sleep_until(Millis::HOUR).await });
        tokio::task::yield_now().await;
        assert_eq!(clock.now(), Millis::ZERO, "held: nothing moves");
        drop(start);
        let held = early.await.unwrap();
        tokio::task::yield_now().await;
        assert_eq!(clock.now(), Millis::MINUTE, "the first sleeper woke up holding the clock");
        let second = held.clone();
        drop(held);
        assert_eq!(clock.now(), Millis::MINUTE, "a cloned hold still holds");
        drop(second);
        drop(late.await.unwrap());
        assert_eq!(clock.now(), Millis::HOUR);
    }

    #[tokio::test]
    async fn dropped_sleepers_do_not_affect_the_clock() {
        let clock = VirtualClock::new(Millis::ZERO, Speed::Max);
        let start = clock.hold();
        for at in [Millis::MINUTE, Millis::DAY] {
            assert!(tokio::time::timeout(Duration::ZERO, clock.sleep_until(at)).await.is_err());
        }
        let other = clock.clone();
        let other = tokio::spawn(async move { other.sleep_until(Millis::HOUR).await });
        tokio::task::yield_now().await;
        drop(start);
        drop(other.await.unwrap());
        assert_eq!(clock.now(), Millis::HOUR, "past the minute, and no task waits for the day");
    }

    #[tokio::test(start_paused = true)]
    async fn running_clock_keeps_its_speed_and_stops_while_held() {
        let clock = VirtualClock::new(Millis::ZERO, Speed::Times(60.0));
        let held = clock.sleep_until(Millis::MINUTE).await;
        let at = clock.now();
        assert!((60_000..60_200).contains(&at.get()), "{at}");
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(clock.now(), at, "held: nothing moves");
        drop(held);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(clock.now(), at + Millis::MINUTE);
    }
}
