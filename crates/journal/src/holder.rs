//! Who holds a journal.

use candlewick_sdk::Millis;
use std::fmt;

/// A process that may hold a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Name and version of the program.
    pub program: String,
    /// Its process.
    pub pid: u32,
    /// The host's name, for people.
    pub host: String,
    /// What distinguishes this host since its last start, and this namespace of processes, from all others; empty when
    /// nothing does. Only there does [`Holder::pid`] mean anything.
    pub machine: String,
}

impl Holder {
    /// This process.
    pub fn of_this_process(program: &str) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned());
        let host = read("/proc/sys/kernel/hostname");
        let boot = read("/proc/sys/kernel/random/boot_id");
        // Containers may share a host's name, but not its processes.
        let room = std::fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned());
        let machine = boot.and_then(|boot| room.map(|room| format!("{boot} {room}")));
        Self {
            program: program.to_owned(),
            pid: std::process::id(),
            host: host.unwrap_or_else(|_| "unknown".to_owned()),
            machine: machine.unwrap_or_default(),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {} on {})", self.program, self.pid, self.host)
    }
}

/// Who holds a journal, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who.
    pub holder: Holder,
    /// Since when, in real time.
    pub since: Millis,
    /// When it last showed that it lives.
    pub heartbeat: Millis,
    /// How long after that it is believed to live.
    pub duration: Millis,
}

/// How a lease is kept, and taken from the dead.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTerms {
    /// How long after its last heartbeat a holder is believed to live.
    pub duration: Millis,
    /// Whether a process of this machine lives.
    pub is_alive: fn(u32) -> bool,
}

impl Default for LeaseTerms {
    fn default() -> Self {
        Self { duration: Millis::from_seconds(30), is_alive: is_alive_here }
    }
}

impl LeaseTerms {
    /// Whether a lease may be taken from its holder: it has been silent for too long, or its process has ended.
    pub fn is_over(&self, lease: &Lease, claimant: &Holder, now: Millis) -> bool {
        let is_near = !lease.holder.machine.is_empty() && lease.holder.machine == claimant.machine;
        let is_silent = now - lease.heartbeat > lease.duration;
        is_silent || (is_near && !(self.is_alive)(lease.holder.pid))
    }
}

/// Whether a process of this machine lives. Where that is not known it does, and its heartbeat decides.
fn is_alive_here(pid: u32) -> bool {
    if cfg!(not(target_os = "linux")) {
        return true;
    }
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        // `PID (NAME) STATE ...`: a zombie is dead, though nobody has fetched it.
        Ok(stat) => !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])),
        Err(_) => std::path::Path::new(&format!("/proc/{pid}")).exists(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_over_when_its_holder_is_silent_or_dead_here() {
        const ALIVE: fn(u32) -> bool = |_| true;
        const DEAD: fn(u32) -> bool = |_| false;
        let claimant = Holder { program: "b".into(), pid: 2, host: "h".into(), machine: "m".into() };
        for (machine, now, is_alive, expected) in [
            ("m", 1_000, ALIVE, false),
            ("m", 31_000, ALIVE, false),
            ("m", 31_001, ALIVE, true),
            ("m", 1_000, DEAD, true),
            // A process number of another machine means nothing here.
            ("n", 1_000, DEAD, false),
            ("", 1_000, DEAD, false),
            ("n", 31_001, ALIVE, true),
            // A clock that runs behind the holder's takes nothing.
            ("n", -99_000, ALIVE, false),
        ] {
            let holder = Holder { program: "a".into(), pid: 1, host: "h".into(), machine: machine.into() };
            let lease = Lease {
                holder,
                since: Millis::ZERO,
                heartbeat: Millis::SECOND,
                duration: Millis::from_seconds(30),
            };
            let terms = LeaseTerms { duration: Millis::MINUTE, is_alive };
            assert_eq!(terms.is_over(&lease, &claimant, Millis::new(now)), expected, "{machine} {now}");
        }
    }

    #[test]
    fn processes_are_told_dead_from_alive() {
        assert!(is_alive_here(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(!is_alive_here(pid));
        assert!(!Holder::of_this_process("x").machine.is_empty());
    }
}
