//! `completions`: prints shell completion scripts.

use crate::app::Arguments as Program;
use crate::failure::{Ending, Failure};
use crate::output::print_as_it_is;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// For which shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick completions bash > ~/.local/share/bash-completion/completions/candlewick\n  candlewick \
                  completions zsh > ~/.zfunc/_candlewick\n  candlewick completions fish > ~/.config/fish/completions/candlewick.fish"
)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &CompletionsArguments) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Program::command(), "candlewick", &mut script);
    print_as_it_is(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Ending::Done)
}
