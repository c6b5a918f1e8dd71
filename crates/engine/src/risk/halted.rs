//! `Halted`: the kill switch is on.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.state.is_halted())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scene;
    use super::*;

    #[test]
    fn the_kill_switch_refuses_until_resumed() {
        let mut scene = Scene::default();
        assert_eq!(scene.ask(check), Ruling::Pass);
        scene.state.halt();
        assert_eq!(scene.ask(check), Ruling::Refuse);
        scene.state.resume();
        assert_eq!(scene.ask(check), Ruling::Pass);
    }

    #[test]
    fn a_suspended_program_opens_nothing_and_no_person_lifts_that() {
        let mut scene = Scene::default();
        scene.state.suspend();
        scene.state.resume();
        assert_eq!(scene.ask(check), Ruling::Refuse);
        scene.state.go_on();
        assert_eq!(scene.ask(check), Ruling::Pass);
    }
}
