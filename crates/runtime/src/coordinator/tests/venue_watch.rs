//! What stands between a run and its venue: said at once, and shown for as long as it does.

use super::*;
use crate::Notice;
use crate::control::{ControlAnswer, ControlOrder};
use candlewick_broker::{Balances, Identity};

/// What is warned of, and what the status names as trouble after that.
fn seen(bench: &mut Bench, input: Input) -> (Vec<String>, Vec<String>) {
    let warnings = bench.step(input).into_iter().filter_map(|command| match command {
        Command::Notify(Notice::Warning(text) | Notice::Alarm(text) | Notice::Logged { text, .. }) => {
            Some(text)
        }
        _ => None,
    });
    let warnings = warnings.collect();
    let answers = bench.step(Input::Order(OrderId(1), ControlOrder::Status));
    let troubles = answers.into_iter().find_map(|command| match command {
        Command::AnswerOrder(_, ControlAnswer::Done { state }) => Some(state.troubles),
        _ => None,
    });
    (warnings, troubles.expect("the status is answered"))
}

/// The venue's word on the user, `ms` after the start.
fn user(bench: &mut Bench, ms: i64, restrictions: &[&str]) -> (Vec<String>, Vec<String>) {
    let asked = bench.at(ms).step(Input::Time);
    assert!(asked.iter().any(|command| matches!(command, Command::Ask(Ask::User))), "{asked:?}");
    let restrictions = restrictions.iter().map(ToString::to_string).collect();
    let identity = Identity { user: "u".to_owned(), restrictions };
    seen(bench, Input::Answer(Answer::User(Ok(Reply::at(identity, bench.now)))))
}

fn watched() -> Bench {
    let mut parts = parts();
    parts.settings.wallet_every_s = 10_000;
    let mut bench = Bench::of(parts);
    bench.on(Input::Start);
    bench.on(Input::Answer(Answer::Candles(SeriesId::FIRST, Ok(Reply::at(Candles::default(), START)))));
    bench
}

#[test]
fn a_user_that_may_not_trade_is_said_at_the_start_and_later_and_shown_while_it_lasts() {
    let mut bench = watched();
    let said =
        |words: &str| vec![format!("the venue says that the account is {words}: it may take no trade")];
    assert_eq!(user(&mut bench, 0, &["banned"]), (said("banned"), vec!["the account is banned".to_owned()]));
    assert_eq!(user(&mut bench, 600_000, &["banned"]).0, [""; 0], "said once");
    let both = user(&mut bench, 1_200_000, &["banned", "deleted"]);
    assert_eq!(both, (said("banned, deleted"), vec!["the account is banned, deleted".to_owned()]));
    let (warnings, troubles) = user(&mut bench, 1_800_000, &[]);
    assert_eq!((warnings.len(), troubles.len()), (1, 0));
}

#[test]
fn a_venue_that_is_silent_and_a_wallet_that_is_gone_are_shown() {
    let mut bench = watched();
    assert_eq!(user(&mut bench, 0, &[]).1, [""; 0]);
    assert_eq!(seen(bench.at(180_000), Input::Time).1, [""; 0]);
    assert_eq!(seen(bench.at(180_001), Input::Time).1, [""; 0], "nothing that was asked has failed");
    let error = BrokerError::Unavailable { text: "no".to_owned() };
    let answer = Answer::Candles(SeriesId::FIRST, Err(error));
    assert_eq!(seen(&mut bench, Input::Answer(answer)).1, ["the venue does not answer"]);
    bench.at(10_000_000).step(Input::Time);
    let none = Balances { demo: None, real: None };
    let answer = Answer::Balances(Ok(Reply::at(none, bench.now)));
    assert_eq!(seen(&mut bench, Input::Answer(answer)).1, ["the venue shows no demo wallet"]);
}
