//! A strategy's signals as text, and golden files of them.

use super::validation::{Manner, Subject, too_many_numbers};
use crate::{BotContext, Candle, StrategyFactory};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const UPDATE: &str = "UPDATE_GOLDEN";

/// Compares all signals on these candles with a golden file.
///
/// The path is relative to the package. The file has a line with the strategy's name, version and parameters, one
/// about the candles, and one per signal with the open time of its candle in milliseconds. `UPDATE_GOLDEN=1` writes
/// it. An intended change raises the strategy's version. Panics with the first line that differs.
#[track_caller]
pub fn assert_golden<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
    file: impl AsRef<Path>,
) {
    let is_update = env::var_os(UPDATE).is_some_and(|value| !value.is_empty() && value != "0");
    if let Err(problem) = compare(file.as_ref(), &run_of::<S>(params, bot, candles), is_update) {
        panic!("{}: {problem}", S::NAME);
    }
}

#[track_caller]
fn run_of<S: StrategyFactory>(params: &S::Params, bot: &BotContext, candles: &[Candle]) -> String {
    let params_text = serde_json::to_string(params).unwrap_or_default();
    let first = candles.first().map_or(0, |candle| candle.time().get());
    let mut text = format!("{} {} {params_text}\n", S::NAME, S::VERSION);
    // Writing into a text cannot fail.
    let _ = writeln!(text, "{} {}, {} candles from {first}", bot.symbol, bot.interval, candles.len());
    for (candle, signal) in candles.iter().zip(signals::<S>(params, bot, candles)) {
        if !signal.is_empty() {
            let _ = writeln!(text, "{} {signal}", candle.time());
        }
    }
    text
}

fn compare(file: &Path, run: &str, is_update: bool) -> Result<(), String> {
    let name = file.display();
    if is_update {
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        return folder
            .and_then(|()| fs::write(file, run))
            .map_err(|error| format!("cannot write {name}: {error}"));
    }
    let kept = fs::read_to_string(file)
        .map_err(|error| format!("cannot read {name}: {error}; {UPDATE}=1 writes it"))?;
    let (mut kept_lines, mut lines) = (kept.lines(), run.lines());
    for number in 1.. {
        match (kept_lines.next(), lines.next()) {
            (None, None) => break,
            (kept, now) if kept == now => {}
            (kept, now) => {
                let shown = |line: Option<&str>| line.unwrap_or("(the end)").to_owned();
                return Err(format!(
                    "its run is another than {name} from line {number} on; if it shall be, raise VERSION and run with \
                     {UPDATE}=1\n  kept: {}\n  now:  {}",
                    shown(kept),
                    shown(now)
                ));
            }
        }
    }
    Ok(())
}

/// Returns a strategy's signal at each of these candles as text.
///
/// Direction, own expiry and reason: `BUY oversold rsi=28.5` or `SELL 05:00 fell`, empty without a signal. Several
/// within a candle are separated by semicolons. Signals during warm-up are included. The strategy receives the
/// settlements of a backtest without risk rules. Panics if it cannot be built, panics, or gives too many numbers.
#[track_caller]
pub fn signals<S: StrategyFactory>(params: &S::Params, bot: &BotContext, candles: &[Candle]) -> Vec<String> {
    let subject = Subject::of::<S>(params, bot);
    let answers = match subject.map(|subject| subject.run(candles, Manner::LIVE)) {
        Err(error) => panic!("{error}"),
        Ok(Err(stop)) => panic!("{}: {stop}", S::NAME),
        Ok(Ok(answers)) => answers,
    };
    let mut signals = vec![String::new(); candles.len()];
    for answer in answers {
        let text = &mut signals[answer.candle];
        let (signal, next) = (answer.signal, if text.is_empty() { "" } else { "; " });
        if let Some(words) = too_many_numbers(&signal.reason) {
            panic!("{}: at candle {} {words}", S::NAME, answer.candle);
        }
        // Writing into a text cannot fail.
        let _ = write!(text, "{next}{}", signal.direction);
        if let Some(expiry) = signal.expiry {
            let _ = write!(text, " {}", expiry.close_type);
        }
        let _ = write!(text, " {}", signal.reason);
    }
    signals
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Follows, Params, message_of};
    use super::super::{bot, from_closes};
    use super::*;

    #[test]
    fn a_run_is_its_strategy_its_candles_and_its_signals() {
        let candles = from_closes(&[10.0, 11.0, 10.0, 12.0]);
        let expected = "follows 1.0.0 {\"far\":1.5}\nBTCUSDT 1m, 4 candles from 1735689600000\n\
                        1735689660000 BUY rose by=1\n1735689780000 SELL 05:00 rose far by=2\n";
        assert_eq!(run_of::<Follows>(&Params { far: 1.5 }, &bot("BTCUSDT"), &candles), expected);
    }

    #[test]
    fn a_file_is_written_when_that_is_asked_for_and_held_to_otherwise() {
        let folder = env::temp_dir().join(format!("golden-{}", std::process::id()));
        let file = folder.join("kept/run.txt");
        let missing = compare(&file, "a\nb\n", false).unwrap_err();
        assert!(missing.contains("cannot read"), "{missing}");
        assert!(missing.ends_with("UPDATE_GOLDEN=1 writes it"), "{missing}");
        compare(&file, "a\nb\n", true).unwrap();
        compare(&file, "a\nb\n", false).unwrap();
        for (run, expected) in [
            (
                "a\nc\n",
                "from line 2 on; if it shall be, raise VERSION and run with UPDATE_GOLDEN=1\n  kept: b\n  now:  c",
            ),
            ("a\n", "kept: b\n  now:  (the end)"),
            ("a\nb\nc\n", "kept: (the end)\n  now:  c"),
        ] {
            let problem = compare(&file, run, false).unwrap_err();
            assert!(problem.ends_with(expected), "{problem}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    fn answers(far: f64, closes: &[f64]) -> Vec<String> {
        signals::<Follows>(&Params { far }, &bot("BTCUSDT"), &from_closes(closes))
    }

    #[test]
    fn an_answer_is_its_direction_its_expiry_and_its_reason() {
        let expected = ["", "BUY rose by=1", "", "SELL 05:00 rose far by=1.5"];
        assert_eq!(answers(1.5, &[10.0, 11.0, 10.5, 12.0]), expected);
    }

    #[test]
    fn a_strategy_that_cannot_be_built_or_panics_says_so() {
        let message = message_of(|| _ = answers(9.0, &[10.0]));
        assert!(message.contains("far = 9 is outside 0 to 5"), "{message}");
        let message = message_of(|| _ = answers(5.0, &[10.0, 15.0]));
        assert!(message.contains("follows: it panics at candle 1: too far"), "{message}");
    }
}
