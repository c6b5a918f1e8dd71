//! The process that holds a journal.

use candlewick_journal::{Holder, Lease, LeaseTerms};
use candlewick_records::utc;
use candlewick_sdk::Millis;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Serialize)]
pub struct HolderLine {
    pub program: String,
    pub pid: u32,
    pub host: String,
    /// Derived from the process and its heartbeat.
    pub alive: bool,
    pub since: Millis,
    pub heartbeat: Millis,
    /// Time of the journal's clock when this was read.
    #[serde(skip)]
    pub(super) read: Millis,
}

impl HolderLine {
    pub(super) fn of(lease: Lease) -> Self {
        let judge = Holder::of_this_process("candlewick");
        let alive = !LeaseTerms::default().is_over(&lease, &judge);
        let Lease { holder, since, heartbeat, silence, .. } = lease;
        let read = heartbeat + silence;
        Self { program: holder.program, pid: holder.pid, host: holder.host, alive, since, heartbeat, read }
    }
}

impl fmt::Display for HolderLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, pid, host, alive, heartbeat, .. } = self;
        let life = if *alive { "alive" } else { "no longer alive" };
        write!(f, "{program} (process {pid} on {host}), {life}, last sign of life {}", utc(*heartbeat))
    }
}
