//! Yes-or-no questions on the terminal.

use std::io::{self, IsTerminal as _, Write as _};

/// Asks `question` on a terminal, and returns whether the answer is yes.
pub(crate) fn ask_yes_or_no(question: &str) -> bool {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return false;
    }
    let mut answer = String::new();
    let asked = write!(io::stderr(), "{question} [y/N] ").and_then(|()| io::stderr().flush());
    let read = asked.and_then(|()| io::stdin().read_line(&mut answer));
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
