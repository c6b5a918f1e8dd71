//! `Halted`: the kill switch is on.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.state.is_halted())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn the_kill_switch_refuses_until_resumed() {
        let mut situation = Situation::default();
        assert_eq!(situation.ask(check), Ruling::Pass);
        situation.state.halt();
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.state.resume();
        assert_eq!(situation.ask(check), Ruling::Pass);
    }

    #[test]
    fn a_suspended_program_opens_nothing_and_no_person_lifts_that() {
        let mut situation = Situation::default();
        situation.state.suspend();
        situation.state.resume();
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.state.go_on();
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
