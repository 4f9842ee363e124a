use std::path::PathBuf;

use clap::Args;

use crate::commands::context::Context;
use crate::{
    config::{self, CONFIG_VARIABLE, ConfigError, EditedFile, Environment, own_file},
    error::Error,
};

/// Which file is edited.
#[derive(Args, Clone, Debug, Default)]
pub struct FileArgs {
    /// Edit your own file, not the project's
    #[arg(long, conflicts_with = "config")]
    pub user: bool,
}

impl FileArgs {
    /// The file that is named, or your own, or the one that is found; your own if there is none.
    ///
    /// # Errors
    /// If it cannot be edited.
    pub(crate) fn open(&self, context: &Context, environment: &Environment) -> Result<EditedFile, Error> {
        let found = || config::find(environment).map_or_else(|_| own_file(environment), |(path, _)| path);
        let path = if self.user { own_file(environment) } else { named(context, environment).unwrap_or_else(found) };
        Ok(EditedFile::open(&path, environment)?)
    }

    /// The file that contains the server `name`.
    ///
    /// # Errors
    /// If there is none, or it cannot be edited.
    pub(crate) fn open_with(
        &self,
        name: &str,
        context: &Context,
        environment: &Environment,
    ) -> Result<EditedFile, Error> {
        let file = if self.user || named(context, environment).is_some() {
            self.open(context, environment)?
        } else {
            let config = config::discover(None, environment)?;
            let file = config.entry(name).and_then(|entry| entry.file.clone());
            let path = file.or(config.path).unwrap_or_else(|| own_file(environment));
            EditedFile::open(&path, environment)?
        };
        if file.entry(name).is_none() {
            return Err(unknown(name, &file).into());
        }
        Ok(file)
    }
}

/// The file that the command line or the environment names.
fn named(context: &Context, environment: &Environment) -> Option<PathBuf> {
    let variable = || environment.variable(CONFIG_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    context.global.config.clone().or_else(variable)
}

fn unknown(name: &str, file: &EditedFile) -> ConfigError {
    let path = Some(file.path().to_owned());
    ConfigError::UnknownServer { name: name.to_owned(), known: file.names(), path, instead: None }
}
