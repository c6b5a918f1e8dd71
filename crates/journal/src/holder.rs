//! Holder of a journal, and its lease.

use crate::process;
use candlewick_sdk::Millis;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub program: String,
    pub pid: u32,
    /// Start time in clock ticks of the kernel, `None` if unknown.
    pub started: Option<u64>,
    pub host: String,
    /// Host since its last boot, a space, and the process namespace. Empty if unknown.
    ///
    /// [`Holder::pid`] is only meaningful on the same machine.
    pub machine: String,
}

impl Holder {
    pub fn of_this_process(program: &str) -> Self {
        let pid = std::process::id();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname");
        Self {
            program: program.to_owned(),
            pid,
            started: process::started(pid),
            host: host.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned()),
            machine: process::this_machine(),
        }
    }

    /// Returns whether both run under one kernel, possibly in different containers.
    pub(crate) fn has_same_kernel(&self, other: &Self) -> bool {
        let started = |holder: &Self| holder.machine.split(' ').next().map(str::to_owned);
        !self.machine.is_empty() && started(self) == started(other)
    }

    /// Returns whether both share a process namespace, so that ids can be checked.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        !self.machine.is_empty() && self.machine == other.machine
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {} on {})", self.program, self.pid, self.host)
    }
}

/// Holder of a journal. Times are the database's, because host clocks may disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub holder: Holder,
    pub since: Millis,
    pub heartbeat: Millis,
    pub silence: Millis,
    /// Validity after the last heartbeat, if the holder's process cannot be checked.
    pub duration: Millis,
}

#[derive(Clone, Copy, Debug)]
pub struct LeaseTerms {
    pub duration: Millis,
    pub is_alive: fn(&Holder) -> bool,
}

impl Default for LeaseTerms {
    fn default() -> Self {
        Self {
            duration: Millis::from_seconds(30),
            is_alive: |holder| process::is_alive(holder.pid, holder.started),
        }
    }
}

impl LeaseTerms {
    /// Returns whether a lease may be taken over, as far as `judge` can tell.
    ///
    /// On the same machine the process must have ended, however long it was silent. Elsewhere the
    /// lease must have expired.
    pub fn is_over(&self, lease: &Lease, judge: &Holder) -> bool {
        if lease.holder.is_near(judge) {
            !(self.is_alive)(&lease.holder)
        } else {
            lease.silence > lease.duration
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_over_when_its_holder_is_dead_here_or_silent_elsewhere() {
        const ALIVE: fn(&Holder) -> bool = |_| true;
        const DEAD: fn(&Holder) -> bool = |_| false;
        let holder = |machine: &str| Holder {
            program: "a".into(),
            pid: 1,
            started: None,
            host: "h".into(),
            machine: machine.into(),
        };
        let judge = holder("m");
        for (machine, silence, is_alive, expected) in [
            ("m", 0, ALIVE, false),
            // A living process of this machine is never robbed, however long it slept or its clock leapt.
            ("m", 86_400_000, ALIVE, false),
            ("m", 0, DEAD, true),
            // A process number of another machine means nothing here.
            ("n", 30_000, DEAD, false),
            ("", 30_000, DEAD, false),
            ("n", 30_001, ALIVE, true),
            ("", 30_001, ALIVE, true),
            // The database's clock was set back.
            ("n", -99_000, ALIVE, false),
        ] {
            let lease = Lease {
                holder: holder(machine),
                since: Millis::ZERO,
                heartbeat: Millis::SECOND,
                silence: Millis::new(silence),
                duration: Millis::from_seconds(30),
            };
            let terms = LeaseTerms { duration: Millis::MINUTE, is_alive };
            assert_eq!(terms.is_over(&lease, &judge), expected, "{machine} {silence}");
        }
    }
}
