//! A run that ends and begins again on its journal.
#![cfg(unix)]

use crate::two_runs;

#[test]
fn a_run_after_a_clean_end_trades_on_and_both_are_replayed() {
    two_runs::check("run.db", &[], |_| ());
}
