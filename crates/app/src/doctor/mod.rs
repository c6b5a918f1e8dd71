//! Preflight checks of a live run, one file per check.
//!
//! Checks run in order, each with a timeout. They change nothing except a temporary file next to
//! the journal. A check that depends on a failed one is skipped with a note, so each cause yields
//! one FAIL.

// What is reported, and for how long it is waited for.
mod bound;
mod finding;
// This machine.
mod configuration;
mod control;
mod credentials;
mod data;
mod disk;
mod journal;
mod lease;
mod requests;
mod signals;
mod time_zones;
// The venue.
mod candles;
mod clock_skew;
mod open_trades;
mod price_api;
mod trading_api;
mod venue;

pub use finding::{Finding, Mark};
pub use price_api::alternatives;
pub use venue::{Api, remedy};

use crate::configuration::{Loaded, journal_url};
use candlewick_sdk::Registry;
use clock_skew::ClockSamples;
use std::path::PathBuf;
use venue::{Asked, Reached};

pub async fn examine(files: &[PathBuf], registry: &Registry, report: &mut dyn FnMut(Finding)) {
    let (loaded, finding) = configuration::check(files, registry);
    report(finding);
    let Some(loaded) = loaded else { return };
    requests::check(&loaded, registry).into_iter().for_each(&mut *report);
    credentials::check(&loaded).into_iter().for_each(&mut *report);
    let mut samples = ClockSamples::new();
    examine_venue(&loaded, &mut samples, report).await;
    report(clock_skew::check(&samples, loaded.config.risk.max_clock_skew_ms));
    examine_machine(&loaded, report).await;
    report(time_zones::check(&loaded.config.risk, samples.venue_now()));
}

async fn examine_venue(loaded: &Loaded, samples: &mut ClockSamples, report: &mut dyn FnMut(Finding)) {
    let Some(venue) = Asked::of(loaded) else { return };
    let user = trading_api::check_user(&venue, samples).await;
    let is_known = user.mark == Mark::Ok;
    report(user);
    if is_known {
        report(trading_api::check_wallets(&venue, &loaded.config, samples).await);
        report(open_trades::check(&venue, loaded).await);
    } else {
        report(trading_api::wallets_not_asked());
        report(open_trades::not_asked());
    }
    match price_api::check(&venue, &loaded.config.bots, samples, report).await {
        Reached::Yes => candles::check(&venue, &loaded.config.bots, samples, report).await,
        Reached::No => report(candles::not_asked()),
    }
}

async fn examine_machine(loaded: &Loaded, report: &mut dyn FnMut(Finding)) {
    // Without a URL the configuration has failed already.
    if let Ok(url) = journal_url(loaded) {
        report(disk::check(&url).await);
        report(journal::check(&url).await);
        report(lease::check(&url).await);
    }
    control::check(loaded, report).await;
    signals::check(loaded, report).await;
    data::check(loaded, report).await;
}
