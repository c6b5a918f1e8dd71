//! Identity of a process: id, start time and machine.

use std::path::Path;

/// Returns the host's identity since boot and the process namespace, empty if unknown.
///
/// Containers may share a host name, but not their processes.
pub(crate) fn this_machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let room = std::fs::read_link("/proc/self/ns/pid");
    match (boot, room) {
        (Ok(boot), Ok(room)) => format!("{} {}", boot.trim(), room.display()),
        _ => String::new(),
    }
}

/// Returns the start time of a local process, in clock ticks since boot.
pub(crate) fn started(pid: u32) -> Option<u64> {
    stat(pid)?.1
}

/// Returns whether the process lives. Assumed if it cannot be checked.
pub(crate) fn is_alive(pid: u32, began: Option<u64>) -> bool {
    match stat(pid) {
        Some((is_ended, now)) => !is_ended && (began.is_none() || now.is_none() || began == now),
        None => Path::new(&format!("/proc/{pid}")).exists() || is_hidden(pid),
    }
}

pub(crate) fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['T', 't']))
}

/// Returns whether the process has ended, also as a zombie, and its start time.
fn stat(pid: u32) -> Option<(bool, Option<u64>)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // `PID (NAME) STATE ...`, where the name may hold anything; the beginning is the twentieth after it.
    let rest = stat.rsplit(')').next()?.trim_start();
    let began = rest.split(' ').nth(19).and_then(|ticks| ticks.parse().ok());
    Some((rest.starts_with(['Z', 'X']), began))
}

#[cfg(unix)]
fn is_hidden(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::PERM))
}

#[cfg(not(unix))]
fn is_hidden(_: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_told_dead_from_alive_and_from_later_ones_of_their_number() {
        let us = std::process::id();
        let began = started(us);
        assert!(began.is_some() && is_alive(us, began) && is_alive(us, None));
        assert!(!is_alive(us, began.map(|ticks| ticks + 1)), "another process of our number");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(!is_alive(pid, None));
        assert!(!is_alive(u32::MAX, None));
        assert!(!this_machine().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_stopped_process_is_told_from_one_that_runs() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        assert!(!is_stopped(child.id()));
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        // The kernel stops it when it next looks.
        rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::UNTRACED).unwrap();
        assert!(is_stopped(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
