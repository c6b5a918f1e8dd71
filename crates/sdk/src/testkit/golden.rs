//! Text rendering of a strategy's signals, and golden files.

use super::validation::{RunMode, Subject, check_number_count};
use crate::{BotContext, Candle, StrategyFactory};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const UPDATE_VARIABLE: &str = "UPDATE_GOLDEN";

/// Asserts that the signals on these candles match a golden file.
///
/// The path is relative to the package. The file's first line has the strategy's name, version and parameters, and the
/// second line describes the candles. Each further line is a signal with its candle's open time in milliseconds. Set
/// `UPDATE_GOLDEN=1` to write the file. After an intended change, raise the strategy's version.
#[track_caller]
pub fn assert_golden<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
    file: impl AsRef<Path>,
) {
    let is_update = env::var_os(UPDATE_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0");
    if let Err(problem) = compare_or_write(file.as_ref(), &render_run::<S>(params, bot, candles), is_update) {
        panic!("{}: {problem}", S::NAME);
    }
}

#[track_caller]
fn render_run<S: StrategyFactory>(params: &S::Params, bot: &BotContext, candles: &[Candle]) -> String {
    let params_text = serde_json::to_string(params).unwrap_or_default();
    let first = candles.first().map_or(0, |candle| candle.time().get());
    let mut text = format!("{} {} {params_text}\n", S::NAME, S::VERSION);
    let _ = writeln!(text, "{} {}, {} candles from {first}", bot.symbol, bot.interval, candles.len());
    for (candle, signal) in candles.iter().zip(render_signals::<S>(params, bot, candles)) {
        if !signal.is_empty() {
            let _ = writeln!(text, "{} {signal}", candle.time());
        }
    }
    text
}

fn compare_or_write(file: &Path, run: &str, is_update: bool) -> Result<(), String> {
    let name = file.display();
    if is_update {
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        return folder
            .and_then(|()| fs::write(file, run))
            .map_err(|error| format!("cannot write {name}: {error}"));
    }
    let kept = fs::read_to_string(file)
        .map_err(|error| format!("cannot read {name}: {error}; run with {UPDATE_VARIABLE}=1 to create it"))?;
    let (mut kept_lines, mut lines) = (kept.lines(), run.lines());
    for number in 1.. {
        match (kept_lines.next(), lines.next()) {
            (None, None) => break,
            (kept, now) if kept == now => {}
            (kept, now) => {
                let shown = |line: Option<&str>| line.unwrap_or("(end of file)").to_owned();
                return Err(format!(
                    "the signals differ from {name} at line {number}; if the change is intended, raise VERSION and run with \
                     {UPDATE_VARIABLE}=1\n  expected: {}\n  actual:   {}",
                    shown(kept),
                    shown(now)
                ));
            }
        }
    }
    Ok(())
}

/// Returns a strategy's signals as text, with one string per candle.
///
/// A string has the direction, the expiry if the signal sets one, and the reason: `BUY oversold rsi=28.5` or
/// `SELL 05:00 fell`. The string is empty if the candle has no signal. Semicolons separate several signals within a
/// candle. Signals during the warm-up are included. The strategy receives settlements as in a backtest without risk
/// rules. Panics if the strategy cannot be built or panics, or if a signal has too many numbers.
#[track_caller]
pub fn render_signals<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
) -> Vec<String> {
    let subject = Subject::new::<S>(params, bot);
    let answers = match subject.map(|subject| subject.run(candles, RunMode::FULL)) {
        Err(error) => panic!("{error}"),
        Ok(Err(stop)) => panic!("{}: {stop}", S::NAME),
        Ok(Ok(answers)) => answers,
    };
    let mut signals = vec![String::new(); candles.len()];
    for answer in answers {
        let text = &mut signals[answer.candle];
        let (signal, next) = (answer.signal, if text.is_empty() { "" } else { "; " });
        if let Some(words) = check_number_count(&signal.reason) {
            panic!("{}: at candle {} {words}", S::NAME, answer.candle);
        }
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
    use super::super::sample::{Follows, Params, panic_message};
    use super::super::{bot, from_closes};
    use super::*;

    #[test]
    fn renders_strategy_candles_and_signals() {
        let candles = from_closes(&[10.0, 11.0, 10.0, 12.0]);
        let expected = "follows 1.0.0 {\"far\":1.5}\nBTCUSDT 1m, 4 candles from 1735689600000\n\
                        1735689660000 BUY rose by=1\n1735689780000 SELL 05:00 rose far by=2\n";
        assert_eq!(render_run::<Follows>(&Params { far: 1.5 }, &bot("BTCUSDT"), &candles), expected);
    }

    #[test]
    fn writes_file_on_request_and_compares_otherwise() {
        let folder = env::temp_dir().join(format!("golden-{}", std::process::id()));
        let file = folder.join("kept/run.txt");
        let missing = compare_or_write(&file, "a\nb\n", false).unwrap_err();
        assert!(missing.contains("cannot read"), "{missing}");
        assert!(missing.ends_with("run with UPDATE_GOLDEN=1 to create it"), "{missing}");
        compare_or_write(&file, "a\nb\n", true).unwrap();
        compare_or_write(&file, "a\nb\n", false).unwrap();
        for (run, expected) in [
            (
                "a\nc\n",
                "at line 2; if the change is intended, raise VERSION and run with UPDATE_GOLDEN=1\n  expected: b\n  actual:   c",
            ),
            ("a\n", "expected: b\n  actual:   (end of file)"),
            ("a\nb\nc\n", "expected: (end of file)\n  actual:   c"),
        ] {
            let problem = compare_or_write(&file, run, false).unwrap_err();
            assert!(problem.ends_with(expected), "{problem}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    fn answers(far: f64, closes: &[f64]) -> Vec<String> {
        render_signals::<Follows>(&Params { far }, &bot("BTCUSDT"), &from_closes(closes))
    }

    #[test]
    fn renders_direction_expiry_and_reason() {
        let expected = ["", "BUY rose by=1", "", "SELL 05:00 rose far by=1.5"];
        assert_eq!(answers(1.5, &[10.0, 11.0, 10.5, 12.0]), expected);
    }

    #[test]
    fn reports_failed_build_and_panic() {
        let message = panic_message(|| _ = answers(9.0, &[10.0]));
        assert!(message.contains("far = 9 is outside the range 0 to 5"), "{message}");
        let message = panic_message(|| _ = answers(5.0, &[10.0, 15.0]));
        assert!(message.contains("follows: the strategy panics at candle 1: too far"), "{message}");
    }
}
