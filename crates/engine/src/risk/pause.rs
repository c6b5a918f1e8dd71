//! `Pause`: a pause after a number of wins, losses or trades is running.

use super::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(super) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    refuse_if(proposal.at < view.state.paused_until(proposal.bot, proposal.symbol))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::super::{PauseCause, PauseScope, PauseSettings};
    use super::*;
    use crate::BotId;
    use Outcome::{Cancelled, Draw, Lost, Won};
    use candlewick_sdk::{Millis, Outcome};

    const DAY_END: Millis = Millis::new(1_767_571_200_000 + 86_400_000);

    fn pause(after: u32, of: PauseCause, for_s: u32) -> PauseSettings {
        PauseSettings { after, of, for_s, scope: PauseScope::All }
    }

    /// After trades that ended so, one a second, the last of them `wait_ms` ago.
    fn ask(pause: PauseSettings, outcomes: &[Outcome], wait_ms: i64) -> Ruling {
        let mut situation = Situation::with(|risk| risk.pauses = vec![pause]);
        let last = situation.proposal.at - Millis::new(wait_ms);
        for (later, outcome) in outcomes.iter().rev().enumerate().rev() {
            let at = last - Millis::from_seconds(later as i64);
            let whose = (BotId::FIRST, Situation::SYMBOL);
            situation.state.count_pauses(&situation.limits, whose, *outcome, (at, DAY_END));
        }
        situation.ask(check)
    }

    #[test]
    fn wins_losses_and_trades_are_counted_each_in_its_way() {
        use PauseCause::{Losses, Trades, Wins};
        let (pass, refuse) = (Ruling::Pass, Ruling::Refuse);
        for (of, outcomes, expected) in [
            (Wins, &[Won][..], pass),
            (Wins, &[Won, Won], refuse),
            (Wins, &[Won, Draw, Cancelled, Won], refuse),
            (Wins, &[Won, Lost, Won], pass),
            (Losses, &[Lost, Lost], refuse),
            (Losses, &[Lost, Won, Lost], pass),
            (Losses, &[Won, Won], pass),
            (Trades, &[Won, Lost], refuse),
            (Trades, &[Draw, Lost], refuse),
            (Trades, &[Cancelled, Lost], pass),
        ] {
            assert_eq!(ask(pause(2, of, 600), outcomes, 1), expected, "{of:?} {outcomes:?}");
        }
    }

    #[test]
    fn a_pause_ends_after_its_time_and_is_counted_anew() {
        let three = pause(3, PauseCause::Trades, 600);
        assert_eq!(ask(three, &[Won; 3], 599_999), Ruling::Refuse);
        assert_eq!(ask(three, &[Won; 3], 600_000), Ruling::Pass);
        // Five trades: the third began a pause two seconds before the last, and two count towards the next one.
        assert_eq!(ask(three, &[Won; 5], 597_999), Ruling::Refuse);
        assert_eq!(ask(three, &[Won; 5], 598_000), Ruling::Pass);
        assert_eq!(ask(three, &[Won; 6], 599_999), Ruling::Refuse);
    }

    #[test]
    fn one_without_a_time_lasts_until_the_day_ends() {
        for (at, expected) in [(DAY_END - Millis::new(1), Ruling::Refuse), (DAY_END, Ruling::Pass)] {
            let mut situation = Situation::with(|risk| risk.pauses = vec![pause(1, PauseCause::Wins, 0)]);
            let end = (situation.proposal.at, DAY_END);
            let whose = (BotId::FIRST, Situation::SYMBOL);
            situation.state.count_pauses(&situation.limits, whose, Won, end);
            situation.proposal.at = at;
            assert_eq!(situation.ask(check), expected, "{at}");
        }
    }

    #[test]
    fn the_scope_says_whose_trades_count_and_who_rests() {
        // One loss each of another bot on the symbol, and of the bot on another symbol.
        let other_bot = BotId::new(1).unwrap();
        for (scope, expected) in [
            (PauseScope::All, Ruling::Refuse),
            (PauseScope::Symbol, Ruling::Pass),
            (PauseScope::Bot, Ruling::Pass),
        ] {
            let two = PauseSettings { scope, ..pause(2, PauseCause::Losses, 60) };
            let mut situation = Situation::with(|risk| risk.pauses = vec![two]);
            let end = (situation.proposal.at, DAY_END);
            for whose in [(other_bot, Situation::SYMBOL), (BotId::FIRST, Situation::other_symbol())] {
                situation.state.count_pauses(&situation.limits, whose, Lost, end);
            }
            assert_eq!(situation.ask(check), expected, "{scope:?}");
            // The second of the bot on the symbol is the second for each.
            situation.state.count_pauses(&situation.limits, (BotId::FIRST, Situation::SYMBOL), Lost, end);
            assert_eq!(situation.ask(check), Ruling::Refuse, "{scope:?}");
            (situation.proposal.bot, situation.proposal.symbol) = (other_bot, Situation::other_symbol());
            let others = if scope == PauseScope::All { Ruling::Refuse } else { Ruling::Pass };
            assert_eq!(situation.ask(check), others, "{scope:?}");
        }
    }

    #[test]
    fn a_resume_counts_anew_and_ends_no_pause() {
        let mut situation = Situation::with(|risk| risk.pauses = vec![pause(2, PauseCause::Losses, 60)]);
        let (whose, end) = ((BotId::FIRST, Situation::SYMBOL), (situation.proposal.at, DAY_END));
        let mut lose = |is_resumed: bool| {
            if is_resumed {
                situation.state.resume();
            }
            situation.state.count_pauses(&situation.limits, whose, Lost, end);
            situation.ask(check)
        };
        assert_eq!([lose(false), lose(true), lose(false)], [Ruling::Pass, Ruling::Pass, Ruling::Refuse]);
        situation.state.resume();
        assert_eq!(situation.ask(check), Ruling::Refuse);
    }
}
