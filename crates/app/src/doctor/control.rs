//! Check for a HALT file and for a listening bot.

use super::finding::{Check, Finding};
use crate::configuration::{Loaded, control_paths};
use crate::control::describe;
use candlewick_runtime::control::{ControlAnswer, ControlError, ControlOrder, ControlPaths, send_order};

pub(super) async fn check(loaded: &Loaded, report: &mut dyn FnMut(Finding)) {
    // Without them the configuration has failed already.
    let Ok(paths) = control_paths(loaded) else { return };
    if paths.halt_file.is_there() {
        let remedy = "a bot that starts opens no trade: `candlewick resume` removes it";
        report(Check::Control.warn(paths.halt_file.reason(), remedy));
    }
    report(ask(&paths).await);
}

async fn ask(paths: &ControlPaths) -> Finding {
    let socket = paths.socket.display();
    match send_order(&paths.socket, &ControlOrder::Status, None).await {
        Ok(ControlAnswer::Done { state }) => Check::Control.ok(describe(&state)),
        Ok(ControlAnswer::Signal { .. }) => Check::Control.warn(
            format!("a bot listens at {socket}, but answers what it was not asked"),
            "look at what it does",
        ),
        Ok(
            ControlAnswer::Refused { problem }
            | ControlAnswer::VenueFailed { problem }
            | ControlAnswer::Unanswered { problem },
        ) => Check::Control.warn(format!("a bot listens at {socket}, but {problem}"), "look at what it does"),
        Err(ControlError::NoBotListens { .. }) => Check::Control.ok(format!("no bot listens at {socket}")),
        Err(error @ ControlError::NoSocketsHere) => {
            let path = paths.halt_file.path().display();
            Check::Control.warn(error.to_string(), format!("make the file {path} to halt a bot"))
        }
        Err(error) => {
            let remedy = "`halt` may not reach a bot there: set control.socket to a place of your own";
            Check::Control.warn(error.to_string(), remedy)
        }
    }
}
