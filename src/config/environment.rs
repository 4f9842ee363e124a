use std::{
    collections::HashMap,
    env,
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy;

/// What a configuration depends on: variables, folders, and the running program.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The variables that are set and valid text.
    pub variables: HashMap<String, String>,
    /// The working folder.
    pub folder: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folder of the user's configurations; ours is `toolnexus` inside it.
    pub config_folder: Option<PathBuf>,
    /// The folder of the user's data; ours is `toolnexus` inside it.
    pub data_folder: Option<PathBuf>,
    /// The folder of the user's caches; ours is `toolnexus` inside it.
    pub cache_folder: Option<PathBuf>,
    /// Whether unset variables are left as written: for display, not for use.
    pub keeps_unset: bool,
    /// A person's values for the `inputs` of files, by file and id.
    pub inputs: HashMap<(PathBuf, String), String>,
    /// The running program, which the command `toolnexus` means if it is not on PATH.
    pub program: Option<PathBuf>,
}

impl Environment {
    /// The environment of this process.
    pub fn current() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let folders = etcetera::choose_base_strategy().ok();
        Self {
            variables: env::vars_os().filter_map(text).collect(),
            folder: env::current_dir().unwrap_or_default(),
            home: folders.as_ref().map(|folders| folders.home_dir().to_owned()),
            config_folder: folders.as_ref().map(BaseStrategy::config_dir),
            data_folder: folders.as_ref().map(BaseStrategy::data_dir),
            cache_folder: folders.as_ref().map(BaseStrategy::cache_dir),
            keeps_unset: false,
            inputs: HashMap::new(),
            program: env::current_exe().ok(),
        }
    }

    /// The value of a variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// `path` relative to the working folder, as an absolute path.
    pub fn absolute(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.join(path)
    }

    /// The program to start for `command`: for `toolnexus` the running one, if it is not on PATH.
    pub(super) fn own_program(&self, command: &str) -> Option<&Path> {
        let is_ours = command == env!("CARGO_PKG_NAME");
        is_ours.then(|| self.program.as_deref().filter(|_| !self.is_on_path(command))).flatten()
    }

    fn is_on_path(&self, command: &str) -> bool {
        let file = format!("{command}{}", env::consts::EXE_SUFFIX);
        let path = self.variable("PATH").unwrap_or_default();
        env::split_paths(path).any(|folder| self.folder.join(folder).join(&file).is_file())
    }
}
