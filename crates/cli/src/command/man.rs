//! `man`: the pages of the manual, made from the help.

use crate::app::Arguments as Program;
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::print;
use anyhow::Context as _;
use clap::{Args, CommandFactory};
use std::path::PathBuf;

/// Where to.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick man ~/.local/share/man/man1\n  man -l man1/candlewick-backtest.1"
)]
pub(crate) struct ManArguments {
    /// Folder for the pages, made where there is none; a page that is there is replaced
    folder: PathBuf,
}

pub(super) fn run(arguments: &ManArguments) -> Result<Ending, Failure> {
    let folder = &arguments.folder;
    let written =
        std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Program::command(), folder));
    written
        .with_context(|| format!("the pages cannot be written to {}", folder.display()))
        .map_err(|error| Failure::new(FailureKind::Configuration, error))?;
    print(&format!(
        "The manual is in {}: man -l {}",
        folder.display(),
        folder.join("candlewick.1").display()
    ))?;
    Ok(Ending::Done)
}
