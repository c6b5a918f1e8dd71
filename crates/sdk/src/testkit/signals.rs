//! A strategy's signals as text.

use super::validation::{Manner, Subject, too_many_numbers};
use crate::{BotContext, Candle, StrategyFactory};
use std::fmt::Write as _;

/// Returns a strategy's signal at each of these candles as text.
///
/// Direction, own expiry and reason: `BUY oversold rsi=28.5` or `SELL 05:00 fell`, empty without a
/// signal. Several signals within a candle, of a strategy that wants prices, are separated by
/// semicolons. Signals during warm-up are included, although they are never traded. The strategy
/// receives the settlements of a backtest without risk rules.
///
/// # Panics
/// If the strategy cannot be built, panics, or gives a signal too many numbers.
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
