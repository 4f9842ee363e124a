use std::path::{Path, PathBuf};

use super::{Config, ConfigError, Environment, FoundBy, parse};
use crate::files;

/// The variable that names a configuration file.
pub const CONFIG_VARIABLE: &str = "TOOLNEXUS_CONFIG";
/// The files that are looked for in the working folder and above, the strongest first.
pub const FOUND_NAMES: [&str; 4] = ["mcp.json", ".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"];

/// The configuration: the file that is `named`, else the one in [`CONFIG_VARIABLE`], else the first that is [`find`]ed.
pub fn discover(named: Option<&Path>, environment: &Environment) -> Result<Config, ConfigError> {
    if let Some(path) = named {
        return load(path, environment);
    }
    if let Some(path) = environment.variable(CONFIG_VARIABLE).filter(|path| !path.is_empty()) {
        return load(Path::new(path), environment);
    }
    let (path, found_by) = find(environment)?;
    Ok(Config { found_by, ..load(&path, environment)? })
}

/// The first of [`FOUND_NAMES`] in the nearest folder upward that has one, else the user's own file.
pub fn find(environment: &Environment) -> Result<(PathBuf, FoundBy), ConfigError> {
    for folder in environment.folder.ancestors() {
        if let Some(path) = FOUND_NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) {
            return Ok((path, FoundBy::Project));
        }
    }
    let users = environment.config_folder.clone().unwrap_or_default().join(env!("CARGO_PKG_NAME")).join("mcp.json");
    if users.is_file() {
        return Ok((users, FoundBy::User));
    }
    Err(ConfigError::NotFound(FOUND_NAMES.map(str::to_owned).to_vec(), users))
}

/// Reads the file at `path`.
pub fn load(path: &Path, environment: &Environment) -> Result<Config, ConfigError> {
    parse(&read_text(path, environment)?, Some(path), environment)
}

/// The text of the file at `path`.
///
/// # Errors
/// [`ConfigError::Unreadable`] when there is none.
pub(super) fn read_text(path: &Path, environment: &Environment) -> Result<String, ConfigError> {
    let unreadable = |reason: String| ConfigError::Unreadable { path: path.to_owned(), reason };
    let bytes = files::read(&environment.absolute(path)).map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| {
        let is_utf16 = error.as_bytes().starts_with(&[0xff, 0xfe]) || error.as_bytes().starts_with(&[0xfe, 0xff]);
        let reason = if is_utf16 { "it is UTF-16; save it as UTF-8" } else { "it is not UTF-8" };
        unreadable(reason.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_file_counts_then_the_users() {
        let root = tempfile::tempdir().expect("a folder");
        let (project, config) = (root.path().join("a/b"), root.path().join("config"));
        fs::create_dir_all(&project).expect("made");
        let environment =
            Environment { folder: project.join("c/d"), config_folder: Some(config.clone()), ..Environment::default() };
        let write = |path: PathBuf| {
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, r#"{"mcpServers": {}}"#).expect("written");
        };
        assert!(matches!(discover(None, &environment), Err(ConfigError::NotFound(..))));
        for (file, found_by) in [
            (config.join("toolnexus/mcp.json"), FoundBy::User),
            (root.path().join("a/mcp.json"), FoundBy::Project),
            (project.join(".cursor/mcp.json"), FoundBy::Project),
            (project.join(".vscode/mcp.json"), FoundBy::Project),
            (project.join(".mcp.json"), FoundBy::Project),
        ] {
            write(file.clone());
            let config = discover(None, &environment).expect("found");
            assert_eq!((config.path, config.found_by), (Some(file), found_by));
        }
        let mut named = environment;
        named.variables.insert(CONFIG_VARIABLE.into(), config.join("toolnexus/mcp.json").display().to_string());
        assert_eq!(discover(None, &named).expect("found").found_by, FoundBy::Name);
        let missing = discover(Some(Path::new("none.json")), &named).expect_err("missing").to_string();
        assert!(missing.starts_with("the configuration none.json cannot be read: "), "{missing}");
    }

    #[test]
    fn what_is_no_text_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("mcp.json");
        fs::write(&file, [0xff, 0xfe, b'{', 0, b'}', 0]).expect("written");
        let environment = Environment::default();
        assert!(load(&file, &environment).expect_err("refused").to_string().contains("UTF-16"));
        assert!(load(folder.path(), &environment).expect_err("refused").to_string().contains("folder"));
    }
}
