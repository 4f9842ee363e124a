//! `toolnexus enable` and `disable`: switch a server on or off in its configuration file.

use clap::Args;
use serde_json::json;

use super::{config_files::target_file::FileArgs, context::Context};
use crate::{config::Environment, error::Error, text::safe_line};

/// What `enable` takes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus enable files
  toolnexus enable --user notes")]
pub struct EnableArgs {
    /// What both take.
    #[command(flatten)]
    pub switch: SwitchArgs,
}

/// What `disable` takes.
#[derive(Args, Debug)]
#[command(after_help = "A server that is switched off stays in the file, and is never started.

Examples:
  toolnexus disable files
  toolnexus disable --user notes")]
pub struct DisableArgs {
    /// What both take.
    #[command(flatten)]
    pub switch: SwitchArgs,
}

/// Which servers, and which file.
#[derive(Args, Debug)]
pub struct SwitchArgs {
    /// The servers
    #[arg(value_name = "SERVER", required = true)]
    pub names: Vec<String>,
    /// Which file.
    #[command(flatten)]
    pub file: FileArgs,
}

/// Switches the servers on, or off.
///
/// # Errors
/// If there is no such server, its entry is not an object, or the file cannot be edited.
pub fn run(args: &SwitchArgs, on: bool, context: &Context) -> anyhow::Result<()> {
    let environment = Environment::current();
    let (done, word) = if on { ("enabled", "on") } else { ("disabled", "off") };
    for name in &args.names {
        let mut file = args.file.open_with(name, context, &environment)?;
        let Some(changed) = file.switch(name, on) else {
            return Err(Error::Io(format!("{name} cannot be switched {word}: its entry is not an object")).into());
        };
        if changed {
            file.save(&environment)?;
        }
        let path = file.path().display().to_string();
        let value = json!({done: name, "file": path, "changed": changed});
        let name = safe_line(name);
        let text = || {
            if changed { format!("{done} {name} in {path}\n") } else { format!("{name} is already {done} in {path}\n") }
        };
        context.printer.data(done, &value, text)?;
    }
    Ok(())
}
