//! Message for why a run stops and what it waits for.

use super::line::clock_time;
use candlewick_runtime::Stop;
use candlewick_sdk::Millis;

pub(super) fn stopping_words(
    why: Stop,
    unfinished: usize,
    (last_close, waits_until): (Option<Millis>, Millis),
) -> String {
    let why = match why {
        Stop::TimeUp => "the time is up: ",
        Stop::DataEnds(_) => "the candles end: ",
        Stop::Limit(rule) => &format!("the {} was reached: ", rule.words()),
        Stop::Interrupted | Stop::Terminated => "",
    };
    if unfinished == 0 {
        return format!("{why}no new trades; none is open");
    }
    let until = clock_time(waits_until);
    let trades = if unfinished == 1 { "trade" } else { "trades" };
    let closes = last_close.map(|at| format!(" (closes {})", clock_time(at))).unwrap_or_default();
    format!(
        "{why}no new trades; waiting for {unfinished} open {trades}{closes}, until {until} at most; Ctrl-C again quits now"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_says_what_is_waited_for_and_how_to_quit() {
        let now = Millis::HOUR * 3;
        let (close, until) = (now + Millis::from_seconds(722), now + Millis::from_seconds(90));
        assert_eq!(
            stopping_words(Stop::Interrupted, 1, (Some(close), until)),
            "no new trades; waiting for 1 open trade (closes 03:12:02), until 03:01:30 at most; Ctrl-C again quits now"
        );
        assert_eq!(
            stopping_words(Stop::TimeUp, 0, (None, until)),
            "the time is up: no new trades; none is open"
        );
    }
}
