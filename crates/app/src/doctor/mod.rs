//! Preflight checks for a live run. Each check has a timeout. The checks write nothing except a temporary file next to
//! the journal. A check that depends on a failed check is skipped with a note, so that each cause yields one FAIL.

mod finding;
mod machine;
mod prices;
mod setup;
mod venue;

pub use finding::{Finding, FindingStatus};
pub use prices::alternative_symbols;
pub use venue::{ApiKind, suggest_fix};

use crate::configuration::{LoadedConfig, journal_url};
use candlewick_sdk::Registry;
use finding::Check;
use std::path::PathBuf;
use venue::{ClockSamples, VenueProbe};

pub async fn examine(files: &[PathBuf], registry: &Registry, report: &mut dyn FnMut(Finding)) {
    let (loaded, finding) = setup::check_configuration(files, registry);
    report(finding);
    let Some(loaded) = loaded else { return };
    setup::check_request_rate(&loaded, registry).into_iter().for_each(&mut *report);
    setup::check_credentials(&loaded).into_iter().for_each(&mut *report);
    let mut samples = ClockSamples::new();
    examine_venue(&loaded, &mut samples, report).await;
    report(venue::check_clock_skew(&samples, loaded.config.risk.max_clock_skew_ms));
    examine_machine(&loaded, report).await;
    report(setup::check_time_zones(&loaded.config.risk, samples.venue_now()));
}

async fn examine_venue(loaded: &LoadedConfig, samples: &mut ClockSamples, report: &mut dyn FnMut(Finding)) {
    let Some(asked) = VenueProbe::new(loaded) else { return };
    let user = venue::check_user(&asked, samples).await;
    let is_known = user.mark == FindingStatus::Ok;
    report(user);
    if is_known {
        report(venue::check_wallets(&asked, &loaded.config, samples).await);
        report(venue::check_open_trades(&asked, loaded).await);
    } else {
        for check in [Check::Wallets, Check::OpenTrades] {
            report(check.warn("skipped", "fix the trading API first"));
        }
    }
    if prices::check_prices(&asked, &loaded.config.bots, samples, report).await {
        prices::check_candles(&asked, &loaded.config.bots, samples, report).await;
    } else {
        report(Check::Candles.warn("skipped", "fix the price API first"));
    }
}

async fn examine_machine(loaded: &LoadedConfig, report: &mut dyn FnMut(Finding)) {
    // A missing URL is reported as a configuration problem.
    if let Ok(url) = journal_url(loaded) {
        report(machine::check_disk(&url).await);
        report(machine::check_journal(&url).await);
        report(machine::check_lease(&url).await);
    }
    setup::check_control(loaded, report).await;
    setup::check_signals(loaded, report).await;
    machine::check_data(loaded, report).await;
}
