//! Check of the configuration and each bot's strategy.

use super::finding::{Check, Finding};
use crate::configuration::{Base, Loaded, RealMoney};
use crate::inspection::{ladder_figures, problem_of_network, problems_of};
use crate::lints::{self, LintInput, Stage};
use candlewick_sdk::Registry;
use std::path::PathBuf;

const REMEDY: &str =
    "mend it; `candlewick config check` lists all that is wrong, `config show` where values come from";

const BUILT_IN: &str = "none given: the built-in example bots, for `backtest`, `sandbox` and `live --sandbox`; `live` and \
                        `paper` need --config";

/// Loads and checks the configuration.
///
/// Since nothing trades, real money needs only one confirmation.
pub(super) fn check(files: &[PathBuf], registry: &Registry) -> (Option<Loaded>, Finding) {
    let loaded = match Loaded::read(files, Base::Sandbox, Vec::new()) {
        Ok(loaded) => loaded,
        Err(error) => {
            return (None, Check::Configuration.fail(error.text(), REMEDY));
        }
    };
    let mut problems = problems_of(&loaded, RealMoney::Asked, registry);
    if problems.is_empty() {
        problems.extend(problem_of_network(&loaded));
    }
    let finding = if problems.is_empty() {
        sound(files, &loaded, registry)
    } else {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Check::Configuration.fail(problems.join("; "), REMEDY)
    };
    (Some(loaded), finding)
}

fn sound(files: &[PathBuf], loaded: &Loaded, registry: &Registry) -> Finding {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let from = if names.is_empty() { BUILT_IN.to_owned() } else { names.join(", ") };
    let bots = loaded.config.bots.len();
    let text = format!("{from}; {bots} bot{}", if bots == 1 { "" } else { "s" });
    let mut notices = ladder_figures(loaded);
    notices.extend(lints::texts(&LintInput::new(loaded, registry), Stage::Doctor));
    if notices.is_empty() {
        Check::Configuration.ok(text)
    } else {
        Check::Configuration.warn(text, notices.join("; "))
    }
}
