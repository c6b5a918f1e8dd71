//! Active faults and the number of strikes of each.

use super::{Fault, FaultProfile};
use crate::chance::{Chance, Subject};
use candlewick_sdk::Millis;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub struct Switchboard {
    chance: Chance,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    profile: FaultProfile,
    draws: BTreeMap<Fault, u64>,
    counts: FaultCounts,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FaultCounts {
    strikes: BTreeMap<Fault, u64>,
}

impl FaultCounts {
    pub fn of(&self, fault: Fault) -> u64 {
        self.strikes.get(&fault).copied().unwrap_or_default()
    }

    pub fn total(&self) -> u64 {
        self.strikes.values().sum()
    }
}

impl Switchboard {
    pub fn new(profile: FaultProfile, seed: u64) -> Self {
        Self { chance: Chance::new(seed), state: Mutex::new(State { profile, ..State::default() }) }
    }

    pub fn set(&self, profile: FaultProfile) {
        self.state().profile = profile;
    }

    pub fn profile(&self) -> FaultProfile {
        self.state().profile.clone()
    }

    pub fn counts(&self) -> FaultCounts {
        self.state().counts.clone()
    }

    /// Draws for one occasion and returns the span if the fault strikes.
    ///
    /// The span is zero for an instantaneous fault.
    pub(crate) fn strike(&self, fault: Fault) -> Option<Millis> {
        let mut state = self.state();
        let rate = state.profile.rate(fault)?;
        let draw = state.draws.entry(fault).or_default();
        let index = *draw;
        *draw += 1;
        if self.chance.fraction(Subject::Fault, [fault as u64, 0], index) >= rate.probability {
            return None;
        }
        *state.counts.strikes.entry(fault).or_default() += 1;
        Some(rate.span)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strikes(switchboard: &Switchboard, fault: Fault, occasions: usize) -> Vec<bool> {
        (0..occasions).map(|_| switchboard.strike(fault).is_some()).collect()
    }

    #[test]
    fn strikes_repeat_with_the_seed_and_are_counted() {
        let make = |seed| Switchboard::new("errors:0.3".parse().unwrap(), seed);
        let (one, same, other) = (make(5), make(5), make(6));
        let struck = strikes(&one, Fault::Errors, 1_000);
        assert_eq!(struck, strikes(&same, Fault::Errors, 1_000));
        assert_ne!(struck, strikes(&other, Fault::Errors, 1_000));
        let count = struck.iter().filter(|struck| **struck).count();
        assert!((250..350).contains(&count), "{count}");
        assert_eq!(one.counts().of(Fault::Errors), count as u64);
        assert_eq!(one.counts().total(), count as u64);
    }

    #[test]
    fn another_profile_takes_over_at_once() {
        let switchboard = Switchboard::new(FaultProfile::none(), 1);
        assert_eq!(switchboard.strike(Fault::Hang), None);
        switchboard.set("hang:1:2s".parse().unwrap());
        assert_eq!(switchboard.strike(Fault::Hang), Some(Millis::new(2_000)));
        switchboard.set("hang:0".parse().unwrap());
        assert_eq!(switchboard.strike(Fault::Hang), None);
        assert_eq!(switchboard.counts().of(Fault::Hang), 1);
    }
}
