//! Checks that the same candles give the same decisions, whatever else the program does.

use super::super::candles::{at_interval, random_walk};
use super::bench::{Bench, Found, failed, passed};
use super::inspection::{Getter, Inspection};
use super::subject::{Manner, Stop, first_difference};

const REPEATS: usize = 3;
const OWN_STATE: &str =
    "keep what it remembers in the fields of its struct, which build() makes anew for each bot and each run";

pub(super) fn determinism(bench: &Bench<'_>) -> Found {
    let run = || bench.subject.run(bench.candles, Manner::LIVE);
    for _ in 0..REPEATS {
        if let Some(candle) = first_difference(&run()?, &bench.answers) {
            return failed(format!(
                "at candle {candle} two runs over the same candles differ: it goes by something that is neither a candle nor a parameter, such as a \
                 static, a clock, random numbers without a seed, a file or another thread; {OWN_STATE}, and draw chance from a generator that a \
                 parameter seeds"
            ));
        }
    }
    let elsewhere = std::thread::scope(|scope| scope.spawn(run).join());
    let Ok(elsewhere) = elsewhere else { return failed("it panics in a thread of its own") };
    if let Some(candle) = first_difference(&elsewhere?, &bench.answers) {
        return failed(format!(
            "at candle {candle} a run in another thread differs: it goes by something of its thread, such as a thread_local!; {OWN_STATE}"
        ));
    }
    if let Some(words) = changed_by_getters(bench)? {
        return failed(words);
    }
    passed(format!("{} runs decide alike", REPEATS + 3))
}

fn changed_by_getters(bench: &Bench<'_>) -> Result<Option<String>, Stop> {
    let differs = |inspection| -> Result<Option<usize>, Stop> {
        let run = bench.subject.run(bench.candles, Manner { inspection, ..Manner::LIVE })?;
        Ok(first_difference(&run, &bench.answers))
    };
    let Some(candle) = differs(Inspection::All)? else { return Ok(None) };
    for getter in Getter::ALL {
        if let Some(candle) = differs(Inspection::Only(getter))? {
            let name = getter.name();
            return Ok(Some(format!(
                "at candle {candle} it decides otherwise when {name} is called between candles: {name} must change nothing"
            )));
        }
    }
    Ok(Some(format!("at candle {candle} it decides otherwise when its getters are called between candles")))
}

pub(super) fn isolation(bench: &Bench<'_>) -> Found {
    let others = at_interval(&random_walk(41, bench.candles.len()), bench.subject.bot.interval);
    for (others, how) in [(&others[..], "other candles"), (bench.candles, "the same candles")] {
        let run = bench.subject.run_beside(bench.candles, others)?;
        if let Some(candle) = first_difference(&run, &bench.answers) {
            return failed(format!(
                "at candle {candle} it decides otherwise beside another bot on {how}: they share something, such as a static; {OWN_STATE}"
            ));
        }
    }
    bench.subject.run(&others, Manner::LIVE)?;
    let after = bench.subject.run(bench.candles, Manner::LIVE)?;
    if let Some(candle) = first_difference(&after, &bench.answers) {
        return failed(format!(
            "at candle {candle} it decides otherwise after a run over other candles: something outlives a run, such as a static; {OWN_STATE}"
        ));
    }
    passed("other bots before it and beside it change nothing")
}
