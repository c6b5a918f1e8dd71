//! Holder of a journal: the process that has the lease. Also checks whether that process is alive.

use candlewick_sdk::Millis;
use std::fmt;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub program: String,
    pub pid: u32,
    /// Start time of the process in clock ticks since boot; `None` if unknown.
    pub start_ticks: Option<u64>,
    pub host: String,
    /// Boot id of the kernel, a space, and the PID namespace; empty if unknown. Process ids are comparable only
    /// within one scope.
    pub pid_scope: String,
}

impl Holder {
    pub fn current_process(program: &str) -> Self {
        let pid = std::process::id();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname");
        Self {
            program: program.to_owned(),
            pid,
            start_ticks: read_start_time(pid),
            host: host.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned()),
            pid_scope: read_pid_scope(),
        }
    }

    /// Returns whether both processes run on the same kernel, possibly in different containers.
    pub(crate) fn has_same_kernel(&self, other: &Self) -> bool {
        let kernel = |holder: &Self| holder.pid_scope.split(' ').next().map(str::to_owned);
        !self.pid_scope.is_empty() && kernel(self) == kernel(other)
    }

    /// Returns whether both processes share a PID namespace. If not, neither can check the other's process id.
    pub(crate) fn has_same_pid_namespace(&self, other: &Self) -> bool {
        !self.pid_scope.is_empty() && self.pid_scope == other.pid_scope
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {} on {})", self.program, self.pid, self.host)
    }
}

/// Lease of a journal. All times come from the database's clock, because the clocks of different hosts may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub holder: Holder,
    pub since: Millis,
    pub heartbeat: Millis,
    pub heartbeat_age: Millis,
    /// Time from the last heartbeat to expiry. Applies only if the holder's process cannot be checked.
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
            is_alive: |holder| is_alive(holder.pid, holder.start_ticks),
        }
    }
}

impl LeaseTerms {
    /// Returns whether the process `claimant` may take over a lease. If both share a PID namespace, the holder must
    /// have exited, however old its last heartbeat is. Otherwise, the lease must have expired.
    pub fn may_take_over(&self, lease: &Lease, claimant: &Holder) -> bool {
        if lease.holder.has_same_pid_namespace(claimant) {
            !(self.is_alive)(&lease.holder)
        } else {
            lease.heartbeat_age > lease.duration
        }
    }
}

/// Returns the boot id and the PID namespace; empty if unknown. A host name would not be unique among containers.
fn read_pid_scope() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let namespace = std::fs::read_link("/proc/self/ns/pid");
    match (boot, namespace) {
        (Ok(boot), Ok(namespace)) => format!("{} {}", boot.trim(), namespace.display()),
        _ => String::new(),
    }
}

/// Returns the start time of a local process, in clock ticks since boot.
fn read_start_time(pid: u32) -> Option<u64> {
    read_stat(pid)?.1
}

/// Returns whether a process is alive. Also returns true if this cannot be checked.
fn is_alive(pid: u32, began: Option<u64>) -> bool {
    match read_stat(pid) {
        Some((is_ended, now)) => !is_ended && (began.is_none() || now.is_none() || began == now),
        None => Path::new(&format!("/proc/{pid}")).exists() || is_owned_by_other_user(pid),
    }
}

pub(crate) fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['T', 't']))
}

fn read_stat(pid: u32) -> Option<(bool, Option<u64>)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The format is `PID (NAME) STATE ...`. NAME may contain any character. The start time is 20 fields after NAME.
    let rest = stat.rsplit(')').next()?.trim_start();
    let began = rest.split(' ').nth(19).and_then(|ticks| ticks.parse().ok());
    Some((rest.starts_with(['Z', 'X']), began))
}

#[cfg(unix)]
fn is_owned_by_other_user(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::PERM))
}

#[cfg(not(unix))]
fn is_owned_by_other_user(_: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_ends_with_a_dead_local_or_silent_remote_holder() {
        const ALIVE: fn(&Holder) -> bool = |_| true;
        const DEAD: fn(&Holder) -> bool = |_| false;
        let holder = |machine: &str| Holder {
            program: "a".into(),
            pid: 1,
            start_ticks: None,
            host: "h".into(),
            pid_scope: machine.into(),
        };
        let claimant = holder("m");
        for (machine, silence, is_alive, expected) in [
            ("m", 0, ALIVE, false),
            // The lease of a live local process is never taken over, no matter how old its last heartbeat is.
            ("m", 86_400_000, ALIVE, false),
            ("m", 0, DEAD, true),
            ("n", 30_000, DEAD, false),
            ("", 30_000, DEAD, false),
            ("n", 30_001, ALIVE, true),
            ("", 30_001, ALIVE, true),
            ("n", -99_000, ALIVE, false),
        ] {
            let lease = Lease {
                holder: holder(machine),
                since: Millis::ZERO,
                heartbeat: Millis::SECOND,
                heartbeat_age: Millis::new(silence),
                duration: Millis::from_seconds(30),
            };
            let terms = LeaseTerms { duration: Millis::MINUTE, is_alive };
            assert_eq!(terms.may_take_over(&lease, &claimant), expected, "{machine} {silence}");
        }
    }

    #[test]
    fn distinguishes_dead_live_and_reused_process_ids() {
        let us = std::process::id();
        let began = read_start_time(us);
        assert!(began.is_some() && is_alive(us, began) && is_alive(us, None));
        assert!(!is_alive(us, began.map(|ticks| ticks + 1)), "another process of our number");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(!is_alive(pid, None));
        assert!(!is_alive(u32::MAX, None));
        assert!(!read_pid_scope().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn distinguishes_stopped_from_running_process() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        assert!(!is_stopped(child.id()));
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        // The signal takes effect only when the process is next scheduled, so wait until it has stopped.
        rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::UNTRACED).unwrap();
        assert!(is_stopped(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
