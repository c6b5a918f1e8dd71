//! Checks that program, candles and settings match those of a plan.

use super::plan::{OtherProgram, PlanDifferences};
use crate::candles::SeriesContent;
use crate::error::AppError;
use crate::program_hash::Program;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn check_program(planned: &Program, others: OtherProgram) -> Result<PlanDifferences, AppError> {
    let (own, mut found) = (Program::running()?, PlanDifferences::default());
    if own.hash != planned.hash {
        let problem = format!("this is another program than made the plan: {own}, not {planned}");
        if others == OtherProgram::Refused {
            return Err(AppError::invalid(problem).help(
                "run the program that made it; --allow-other-program runs this one, and the report says so",
            ));
        }
        found.allowed.push(problem);
    }
    let libraries = own.other_libraries(planned);
    if !libraries.is_empty() {
        found.noted.push(format!(
            "libraries of the system differ from those where the plan was made: {}",
            libraries.join(", ")
        ));
    }
    Ok(found)
}

pub(super) fn check_candles(plan: &[SeriesContent], here: &[SeriesContent]) -> Result<(), AppError> {
    let text = |one: &SeriesContent| {
        let SeriesContent { candles, start, end, hash, .. } = one;
        let [start, end] = [*start, *end].map(candlewick_records::utc);
        format!("{candles} candles from {start} to {end} ({})", &hash[..hash.len().min(12)])
    };
    for planned in plan {
        let name = &planned.series;
        let found = here.iter().find(|one| one.series == *name);
        if found == Some(planned) {
            continue;
        }
        let found =
            found.map_or_else(|| "there are none".to_owned(), |found| format!("there are {}", text(found)));
        let problem =
            format!("the candles of {name} are not those of the plan: {}; here {found}", text(planned));
        return Err(AppError::data(problem).help("--data or --catalog says where they lie on this machine"));
    }
    let more = here.iter().find(|one| plan.iter().all(|planned| planned.series != one.series));
    let Some(more) = more else { return Ok(()) };
    let problem = format!("the candles of {} are not in the plan, and would price its trades", more.series);
    Err(AppError::data(problem).help("--data names the files of the plan's series alone"))
}

pub(super) fn check_identity(planned: &Value, here: &Value, done: &str) -> Result<(), AppError> {
    let differs = |key: &&String| *key != "program" && planned.get(*key) != here.get(*key);
    let keys = here.as_object().into_iter().flat_map(|here| here.keys()).filter(differs);
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    if keys.contains(&"files") {
        let files = other_files(planned, here);
        let problem = format!("{files} is not what it was when the plan was made");
        return Err(
            AppError::data(problem).help("bring the files that parameters name here as they were there")
        );
    }
    if !keys.is_empty() {
        let keys = keys.join(", ");
        let problem = format!("what is {done} here is not what was planned: it differs in: {keys}");
        return Err(AppError::invalid(problem)
            .help("settings of the environment are laid under the plan: unset what is not in it"));
    }
    Ok(())
}

fn other_files(planned: &Value, here: &Value) -> String {
    let of = |whose: &Value| whose["files"].as_object().cloned().unwrap_or_default();
    let (planned, here) = (of(planned), of(here));
    let differs = |name: &&String| planned.get(*name) != here.get(*name);
    let names: BTreeSet<&String> = planned.keys().chain(here.keys()).filter(differs).collect();
    names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
