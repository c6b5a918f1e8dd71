//! `man`: writes manual pages generated from the help.

use crate::app::Arguments as Program;
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::print;
use anyhow::Context as _;
use candlewick_history::write_whole_file;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick man ~/.local/share/man/man1\n  man -l man1/candlewick-backtest.1"
)]
pub(crate) struct ManArguments {
    /// Output folder, created if missing; existing pages are replaced
    folder: PathBuf,
}

pub(super) fn run(arguments: &ManArguments) -> Result<Ending, Failure> {
    let folder = &arguments.folder;
    let mut program = Program::command().disable_help_subcommand(true);
    program.build();
    std::fs::create_dir_all(folder)
        .and_then(|()| write_pages(&program, folder))
        .with_context(|| format!("cannot write manual pages to {}", folder.display()))
        .map_err(|error| Failure::new(FailureKind::Configuration, error))?;
    print(&format!(
        "Wrote manual pages to {}. Read them with: man -l {}",
        folder.display(),
        folder.join("candlewick.1").display()
    ))?;
    Ok(Ending::Done)
}

fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .try_for_each(|inner| write_pages(inner, folder))?;
    let page = Man::new(command.clone());
    write_whole_file(&folder.join(page.get_filename()), |file| page.render(file))
}
