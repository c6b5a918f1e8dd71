//! Checks that a strategy decides identically in other processes and depends only on the candles.

use super::file::{named_files, named_paths};
use super::process::{ChildOptions, ChildProgram, IoTraffic, Reply};
use candlewick_sdk::testkit::{
    Check, CheckReport, Decision, Finding, Market, Subject, check_declaration, check_foresight,
};
use candlewick_sdk::{Candle, Symbol};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Number of other processes. Together they miss a dependency on a random bit with a probability of 1/64.
const CHECK_PROCESSES: usize = 6;
/// Tolerance for bytes read while processing candles, since the measurement itself reads a few.
const MAX_IGNORED_READ_BYTES: u64 = 32;
const INHERITED_ENV_VARS: [&str; 4] =
    ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot", "LLVM_PROFILE_FILE"];
/// Time zones of the processes, including the zones furthest ahead of and behind UTC.
const TIME_ZONES: [&str; CHECK_PROCESSES] =
    ["Pacific/Kiritimati", "Etc/GMT+12", "Asia/Kathmandu", "America/St_Johns", "Asia/Tokyo", "America/Lima"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variation {
    Environment,
    Folder,
    Arguments,
    Bot,
    Rivals,
    Earlier,
}

impl Variation {
    const ALL: [Self; 6] =
        [Self::Environment, Self::Folder, Self::Arguments, Self::Bot, Self::Rivals, Self::Earlier];

    const fn describe(self) -> &'static str {
        match self {
            Self::Environment => "with other environment variables and another time zone: do not read either",
            Self::Folder => "in another working directory: pass file names as parameters",
            Self::Arguments => "with other program arguments: do not read program arguments",
            Self::Bot => "under another bot name: do not use the name, which may differ in a backtest",
            Self::Rivals => "next to bots with another symbol and parameters: keep no state in a static",
            Self::Earlier => "after other instances in the same process: keep no state in a static",
        }
    }
}

struct ProcessChecks<'a> {
    itself: &'a ChildProgram,
    subject: &'a Subject,
    candles: &'a [Candle],
    folders: Vec<TempDir>,
}

pub(super) fn check(itself: &ChildProgram, subject: &Subject, market: &Market) -> [CheckReport; 2] {
    let candles = &market.candles[..];
    let folders = (0..CHECK_PROCESSES).map(|_| tempfile::tempdir()).collect::<Result<Vec<_>, _>>();
    match folders {
        Ok(folders) => ProcessChecks { itself, subject, candles, folders }.check(),
        Err(error) => {
            [Check::Processes, Check::Outside].map(|check| check.report(Finding::NotRun, error.to_string()))
        }
    }
}

impl ProcessChecks<'_> {
    fn check(&self) -> [CheckReport; 2] {
        let outside = match self.run(&[], 0) {
            Ok(reply) => self.check_side_effects(&reply),
            Err(problem) => Check::Outside.report(Finding::NotRun, problem),
        };
        let (finding, words) = match self.find_difference() {
            Ok(None) => (
                Finding::Passed,
                format!(
                    "the strategy makes the same decisions in {} processes with different environments and bots",
                    CHECK_PROCESSES + 1
                ),
            ),
            Ok(Some(words)) | Err(words) => (Finding::Failed, words),
        };
        [Check::Processes.report(finding, words), outside]
    }

    fn find_difference(&self) -> Result<Option<String>, String> {
        let here = self.subject.collect_decisions(self.candles, &[])?;
        let differs = |changes: &[Variation], token| -> Result<Option<usize>, String> {
            Ok(first_difference(&here, &self.run(changes, token)?.decisions?))
        };
        if let Some(candle) = differs(&[], 0)? {
            return Ok(Some(format!(
                "the decision at candle {candle} differs in another process: do not depend on randomness, a clock, an address, \
                 a process id, or a static such as an instance counter"
            )));
        }
        for token in 0..CHECK_PROCESSES {
            let Some(candle) = differs(&Variation::ALL, token)? else { continue };
            for change in Variation::ALL {
                if let Some(candle) = differs(&[change], token)? {
                    return Ok(Some(format!(
                        "the decision at candle {candle} differs {}",
                        change.describe()
                    )));
                }
            }
            return Ok(Some(format!("the decision at candle {candle} differs in another environment")));
        }
        Ok(None)
    }

    fn run(&self, changes: &[Variation], token: usize) -> Result<Reply, String> {
        let mut around = ChildOptions::default();
        let word = |prefix: &str| format!("{prefix}-{}", token * 7 + 1);
        for change in changes {
            match change {
                Variation::Environment => {
                    let kept = INHERITED_ENV_VARS
                        .iter()
                        .filter_map(|key| Some(((*key).to_owned(), std::env::var(key).ok()?)));
                    let other = ["HOME", "USER", "LANG", "HOSTNAME", "PATH", "PWD", "TMPDIR", "SHELL"];
                    let other = other.iter().map(|key| ((*key).to_owned(), word(&key.to_lowercase())));
                    let zone = ("TZ".to_owned(), TIME_ZONES[token].to_owned());
                    let more = (0..token).map(|number| (format!("VARIABLE_{number}"), String::new()));
                    around.environment = Some(kept.chain(other).chain([zone]).chain(more).collect());
                }
                Variation::Folder => around.folder = self.folders.get(token).map(TempDir::path),
                Variation::Arguments => around.arguments = (0..=token).map(|_| word("argument")).collect(),
                Variation::Bot => around.bot = Some(word(["bot", "night", "x", "eur", "second", "a"][token])),
                Variation::Rivals => {
                    let all = ["XAUUSD", "EURJPY", "ABC"].iter().filter_map(|it| it.parse::<Symbol>().ok());
                    let all: Vec<Symbol> = all.filter(|symbol| *symbol != self.subject.bot.symbol).collect();
                    around.rival_symbol = all.get(token % all.len().max(1)).copied();
                }
                // The number starts at 0, so that in one process, the first instance of the strategy decides.
                Variation::Earlier => around.earlier_instances = token,
            }
        }
        let subject = with_absolute_paths(self.subject);
        self.itself.run(&subject, self.candles, &around)
    }

    fn check_side_effects(&self, reply: &Reply) -> CheckReport {
        let left: BTreeSet<String> = self.folders.iter().flat_map(|one| file_names(one.path())).collect();
        let names_a_file = !named_files(&self.subject.params).is_empty();
        let (finding, words) = match (left.first(), reply.traffic) {
            (Some(file), _) => {
                (Finding::Failed, format!("the strategy writes {file}, so its next run could read the file"))
            }
            (None, None) => (Finding::NotRun, "this system does not count I/O bytes per thread".to_owned()),
            (None, Some(IoTraffic { read_to_decide, .. })) if read_to_decide > MAX_IGNORED_READ_BYTES => (
                Finding::Failed,
                format!(
                    "the strategy reads {read_to_decide} bytes while processing candles: read files only in build, and name them in parameters"
                ),
            ),
            (None, Some(IoTraffic { read_to_build, .. })) if read_to_build > 0 && !names_a_file => (
                Finding::Failed,
                format!(
                    "the strategy reads {read_to_build} bytes in build, but no parameter names a file: name the file in a parameter, so \
                     that the results are recorded with the file content"
                ),
            ),
            (None, Some(IoTraffic { wrote, .. })) if wrote > 0 => (
                Finding::Noted,
                format!("the strategy writes {wrote} bytes to a file or output: do not read them back"),
            ),
            _ => (Finding::Passed, "only files named by parameters are read; none are written".to_owned()),
        };
        Check::Outside.report(finding, words)
    }
}

pub(super) fn first_difference(one: &[Decision], other: &[Decision]) -> Option<usize> {
    let place = one.iter().zip(other).position(|(one, other)| one != other);
    let place = place.or((one.len() != other.len()).then(|| one.len().min(other.len())))?;
    one.get(place).into_iter().chain(other.get(place)).map(|decision| decision.candle).min()
}

fn with_absolute_paths(subject: &Subject) -> Subject {
    let mut whole = subject.clone();
    for (place, file) in named_paths(&subject.params) {
        let path = fs::canonicalize(file).ok();
        if let (Some(path), Some(value)) = (path, whole.params.pointer_mut(&place)) {
            *value = Value::String(path.to_string_lossy().into_owned());
        }
    }
    whole
}

fn file_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Maximum number of candles. Only the newest are used, since older candles would not reveal more look-ahead.
const MAX_CANDLES: usize = 200_000;

/// Checks that decisions do not depend on later candles, absolute times, absolute prices or the process.
pub fn verify_best_set(
    itself: &ChildProgram,
    subject: &Subject,
    candles: &[Candle],
    seed: u64,
) -> Result<(), anyhow::Error> {
    let name = &subject.entry.name;
    let newest = candles[candles.len().saturating_sub(MAX_CANDLES)..].to_vec();
    let require = |checked: CheckReport| match checked.finding {
        Finding::Failed => Err(anyhow::anyhow!("the best set of {name} is invalid: {}", checked.words)),
        _ => Ok(()),
    };
    require(check_declaration(subject, &newest))?;
    let market = Market { name: "the candles of the sweep".to_owned(), candles: newest };
    require(check_foresight(subject, &market, seed))?;
    let here = subject.collect_decisions(&market.candles, &[]).map_err(anyhow::Error::msg)?;
    let reply = itself.run(subject, &market.candles, &ChildOptions::default());
    let there = reply.and_then(|reply| reply.decisions).map_err(anyhow::Error::msg)?;
    match first_difference(&here, &there).and_then(|candle| market.candles.get(candle)) {
        None => Ok(()),
        Some(candle) => Err(anyhow::anyhow!(
            "the best set of {name} is invalid: the decision at the candle that opens {} differs in a new process; keep state \
             in the strategy, not in a static",
            candle.time()
        )),
    }
}
