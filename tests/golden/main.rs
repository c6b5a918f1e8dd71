//! Golden outputs: `cases.toml` lists commands and outputs, `masks.toml` masked values, `allowed.toml` differences.
//!
//! `CANDLEWICK_GOLDEN=record` adds missing outputs, `CANDLEWICK_GOLDEN_BINARY` selects another program, and
//! `CANDLEWICK_GOLDEN_CASE` filters cases by a part of their names.
#![allow(clippy::unwrap_used, reason = "a failed read or command fails the test")]

mod allowed;
mod base;
mod case;
mod document;
mod mask;
mod program;
mod server;

use allowed::{Allowed, Difference, find_differences};
use base::Base;
use case::Case;
use mask::Masks;
use program::Program;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const SHOWN_DIFFERENCES: usize = 12;

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("tests/golden")
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[test]
fn program_produces_recorded_outputs() {
    let folder = golden_folder();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let binary = variable("CANDLEWICK_GOLDEN_BINARY");
    let program = Program::new(binary.unwrap_or_else(|| env!("CARGO_BIN_EXE_candlewick").to_owned()));
    let part = variable("CANDLEWICK_GOLDEN_CASE");
    let (masks, cases) = (Masks::parse(&read("masks.toml")), Case::parse_all(&read("cases.toml")));
    let is_chosen =
        |case: &&Case| case.package.is_none() && part.as_ref().is_none_or(|part| case.name.contains(part));
    let chosen: Vec<&Case> = cases.iter().filter(is_chosen).collect();
    let (outputs, panicked) = run_all(&program, &chosen, &masks);
    let (mut base, mut problems) = Base::open(&folder.join("base"));
    problems.extend(panicked);
    if variable("CANDLEWICK_GOLDEN").is_some_and(|mode| mode == "record") {
        base.record_missing(&outputs);
    }
    let allowed = Allowed::parse(&read("allowed.toml"));
    problems.extend(compare(&base, &outputs, &allowed));
    if part.is_none() {
        problems.extend(allowed.unused_rows());
        problems.extend(base.files_without_case(&cases));
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

fn run_all(program: &Program, cases: &[&Case], masks: &Masks) -> (Vec<(String, Value)>, Vec<String>) {
    let queue: Mutex<Vec<&Case>> = Mutex::new(cases.iter().rev().copied().collect());
    let (outputs, panicked): (Mutex<Vec<_>>, Mutex<Vec<_>>) = Default::default();
    let work = || {
        // The guard of the queue must not outlive the statement.
        while let Some(case) = { queue.lock().unwrap().pop() } {
            let Ok(mut output) = catch_unwind(AssertUnwindSafe(|| program.run_case(case))) else {
                panicked.lock().unwrap().push(format!("{}: this case panicked, as printed above", case.name));
                continue;
            };
            masks.apply(&mut output, &case.mask);
            outputs.lock().unwrap().push((case.file_name(), output));
        }
    };
    // Many cases spend most of their time waiting.
    let threads = std::thread::available_parallelism().map_or(2, usize::from) * 2;
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut outputs: Vec<(String, Value)> = outputs.into_inner().unwrap();
    outputs.sort_by(|(one, _), (other, _)| one.cmp(other));
    (outputs, panicked.into_inner().unwrap())
}

fn compare(base: &Base, outputs: &[(String, Value)], allowed: &Allowed) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, output) in outputs {
        let Some(recorded) = base.read(file) else {
            problems.push(format!("{file}: not recorded; run with CANDLEWICK_GOLDEN=record"));
            continue;
        };
        let found: Vec<Difference> = find_differences(&recorded, output);
        let refused: Vec<&Difference> = found.iter().filter(|one| !allowed.permits(file, one)).collect();
        problems.extend(refused.iter().take(SHOWN_DIFFERENCES).map(|one| format!("{file}: {one}")));
        if refused.len() > SHOWN_DIFFERENCES {
            problems.push(format!("{file}: {} more differences", refused.len() - SHOWN_DIFFERENCES));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ROW: &str = "[[row]]\nchange = \"payout\"\nfile = \"plain*\"\npointer = \"/trades/*/payout\"\n\
                       kind = \"changed\"\nreason = \"a new default\"\n";

    fn recorded_base() -> (tempfile::TempDir, Base) {
        let folder = tempfile::tempdir().unwrap();
        let (mut base, problems) = Base::open(folder.path());
        assert!(problems.is_empty(), "{problems:?}");
        base.record_missing(&outputs(80));
        (folder, base)
    }

    fn outputs(payout: u32) -> Vec<(String, Value)> {
        vec![("plain.json".to_owned(), json!({ "trades": [{ "bot": "btc", "payout": payout }] }))]
    }

    #[test]
    fn accepts_equal_outputs_and_reports_an_unlisted_difference() {
        let (_folder, base) = recorded_base();
        let none = Allowed::parse("");
        assert!(compare(&base, &outputs(80), &none).is_empty());
        let found = compare(&base, &outputs(85), &none);
        assert_eq!(found, ["plain.json: Changed /trades/0/payout: 80 -> 85"]);
    }

    #[test]
    fn permits_a_listed_difference_and_reports_an_unused_row() {
        let (_folder, base) = recorded_base();
        let allowed = Allowed::parse(ROW);
        let unused = allowed.unused_rows();
        assert!(unused.len() == 1 && unused[0].contains("/trades/*/payout"), "{unused:?}");
        assert!(compare(&base, &outputs(85), &allowed).is_empty());
        assert!(allowed.unused_rows().is_empty());
        for (from, to) in [("plain*", "other*"), ("/*/payout", "/*/bot"), ("\"changed\"", "\"removed\"")] {
            let other = Allowed::parse(&ROW.replace(from, to));
            assert_eq!(compare(&base, &outputs(85), &other).len(), 1, "{to}");
        }
    }

    #[test]
    fn reports_a_case_without_a_base_file_and_a_base_file_without_a_case() {
        let (_folder, base) = recorded_base();
        let other = vec![("other.json".to_owned(), json!({}))];
        assert!(compare(&base, &other, &Allowed::parse(""))[0].contains("not recorded"));
        let cases = |name: &str| Case::parse_all(&format!("[[case]]\nname = \"{name}\"\n"));
        assert!(base.files_without_case(&cases("other"))[0].contains("plain.json"));
        assert!(base.files_without_case(&cases("plain")).is_empty());
    }

    #[test]
    fn reports_changed_missing_and_unlisted_base_files() {
        let (folder, _base) = recorded_base();
        let path = folder.path().join("plain.json");
        let recorded = std::fs::read(&path).unwrap();
        let problems = || Base::open(folder.path()).1;
        assert!(problems().is_empty());
        std::fs::write(&path, b"{}\n").unwrap();
        assert!(problems()[0].contains("plain.json: differs from its hash"));
        std::fs::remove_file(&path).unwrap();
        assert!(problems()[0].contains("plain.json: missing"));
        std::fs::write(&path, recorded).unwrap();
        std::fs::write(folder.path().join("more.json"), b"{}\n").unwrap();
        assert!(problems()[0].contains("more.json: not listed"));
    }

    #[test]
    fn recording_never_rewrites_a_file() {
        let (folder, _base) = recorded_base();
        let (mut base, _) = Base::open(folder.path());
        base.record_missing(&outputs(85));
        assert_eq!(base.read("plain.json").unwrap(), outputs(80)[0].1);
        assert!(Base::open(folder.path()).1.is_empty());
    }

    #[test]
    fn runs_the_named_cases_once_for_each_word() {
        let cases =
            Case::parse_all("[[case]]\nname = \"list-{}\"\neach = [\"a\", \"b\"]\nrun = [\"status {}\"]\n");
        let names: Vec<(&str, &str)> =
            cases.iter().map(|case| (case.name.as_str(), case.run[0].as_str())).collect();
        assert_eq!(names, [("list-a", "status a"), ("list-b", "status b")]);
    }
}
