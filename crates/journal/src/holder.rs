//! Who holds a journal.

use crate::process;
use candlewick_sdk::Millis;
use std::fmt;

/// A process that may hold a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Name and version of the program.
    pub program: String,
    /// Its process.
    pub pid: u32,
    /// When that began, in the kernel's own count; none where that is not known.
    pub started: Option<u64>,
    /// The host's name, for people.
    pub host: String,
    /// What distinguishes this host since its last start, and behind a space this namespace of processes, from all others;
    /// empty when nothing does. Only there does [`Holder::pid`] mean anything.
    pub machine: String,
}

impl Holder {
    /// This process.
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

    /// Whether it runs under the kernel of another, be it in another container.
    pub(crate) fn has_same_kernel(&self, other: &Self) -> bool {
        let started = |holder: &Self| holder.machine.split(' ').next().map(str::to_owned);
        !self.machine.is_empty() && started(self) == started(other)
    }

    /// Whether this process sees those of another.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        !self.machine.is_empty() && self.machine == other.machine
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {} on {})", self.program, self.pid, self.host)
    }
}

/// Who holds a journal, and since when. All times are the database's: clocks of hosts may disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who.
    pub holder: Holder,
    /// Since when.
    pub since: Millis,
    /// When it last showed that it lives.
    pub heartbeat: Millis,
    /// How long ago that is.
    pub silence: Millis,
    /// How long after it the holder is believed to live where nobody can look.
    pub duration: Millis,
}

/// How a lease is kept, and taken from the dead.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTerms {
    /// How long after its last heartbeat a holder elsewhere is believed to live.
    pub duration: Millis,
    /// Whether the process of a holder on this machine lives.
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
    /// Whether a lease may be taken from its holder, as far as `judge` can see: on its own machine when the process has
    /// ended, however long it was silent, and elsewhere when it was silent for too long.
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
