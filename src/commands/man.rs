//! `toolnexus man`: manual pages.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use super::context::Context;

/// What `man` takes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus man | man -l -
  toolnexus man --dir ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write a page for the program and one for each command to this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Prints the program's page, or writes all pages.
///
/// # Errors
/// If they cannot be written.
pub fn run(args: &ManArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let mut grammar = context.grammar();
    grammar.build();
    let Some(folder) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(grammar).render(&mut page)?;
        return Ok(printer.stdout(&String::from_utf8_lossy(&page))?);
    };
    let failed = || format!("the manual pages cannot be written to {}", folder.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    clap_mangen::generate_to(grammar, folder).with_context(failed)?;
    printer.line(&format!("{}: toolnexus.1 and a page for each command", folder.display()));
    Ok(())
}
