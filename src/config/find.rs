use std::path::{Path, PathBuf};

use super::{Config, ConfigError, Environment, FoundBy, parse};
use crate::files;

/// The variable that names a configuration file.
pub const CONFIG_VARIABLE: &str = "TOOLNEXUS_CONFIG";
/// The files that are searched for in the working folder and above, in order of precedence.
pub const FOUND_NAMES: [&str; 4] = ["mcp.json", ".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"];

/// The configuration: the file that is `named`, or the one in [`CONFIG_VARIABLE`], or the first that [`find`] returns,
/// with the user's own file added to a project's.
///
/// # Errors
/// [`ConfigError::NotFound`], and the errors of [`load`].
pub fn discover(named: Option<&Path>, environment: &Environment) -> Result<Config, ConfigError> {
    if let Some(path) = named {
        return load(path, environment);
    }
    if let Some(path) = environment.variable(CONFIG_VARIABLE).filter(|path| !path.is_empty()) {
        return load(Path::new(path), environment);
    }
    let (path, found_by) = find(environment)?;
    let mut config = Config { found_by, ..load(&path, environment)? };
    let own = own_file(environment);
    if found_by == FoundBy::Project && own.is_file() && own != path {
        match load(&own, environment) {
            Ok(own) => config.put_below(own),
            // An error in the user's own file must not stop the project's from working.
            Err(error) => config.warnings.push(error.to_string()),
        }
    }
    Ok(config)
}

/// The path of the user's own file, whether it exists or not.
pub fn own_file(environment: &Environment) -> PathBuf {
    environment.config_folder.clone().unwrap_or_default().join(env!("CARGO_PKG_NAME")).join("mcp.json")
}

/// The first of [`FOUND_NAMES`] in the nearest folder upward that has one, or the user's own file.
///
/// # Errors
/// [`ConfigError::NotFound`], which says where it looked.
pub fn find(environment: &Environment) -> Result<(PathBuf, FoundBy), ConfigError> {
    for folder in environment.folder.ancestors() {
        if let Some(path) = FOUND_NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) {
            return Ok((path, FoundBy::Project));
        }
    }
    let users = own_file(environment);
    if users.is_file() {
        return Ok((users, FoundBy::User));
    }
    Err(ConfigError::NotFound(FOUND_NAMES.map(str::to_owned).to_vec(), users))
}

/// Reads the file at `path`.
///
/// # Errors
/// If the file cannot be read, or is not a configuration.
pub fn load(path: &Path, environment: &Environment) -> Result<Config, ConfigError> {
    parse(&read_text(path, environment)?, Some(path), environment)
}

/// The text of the file at `path`.
///
/// # Errors
/// [`ConfigError::Unreadable`] if there is none.
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
    fn a_projects_file_and_the_users_own_are_one_and_the_nearer_wins() {
        let root = tempfile::tempdir().expect("a folder");
        let config = root.path().join("config");
        fs::create_dir_all(config.join("toolnexus")).expect("made");
        let (near, own) = (root.path().join("mcp.json"), config.join("toolnexus/mcp.json"));
        let write = |path: &Path, text: &str| fs::write(path, text).expect("written");
        write(
            &near,
            r#"{"mcpServers": {"a": {"command": "near"}, "b": {"command": "same"}, "c": {"command": "${T}"}}}"#,
        );
        write(&own, r#"{"mcpServers": {"d": {"command": "own"}, "a": {"command": "own"}, "b": {"command": "same"}}}"#);
        let environment =
            Environment { folder: root.path().to_owned(), config_folder: Some(config), ..Environment::default() };
        let read = discover(None, &environment).expect("found");
        let told: Vec<_> = read.servers.iter().map(|entry| (entry.name.as_str(), &entry.file, &entry.hides)).collect();
        let (near_file, own_file) = (Some(near.clone()), Some(own.clone()));
        let expected =
            [("a", &near_file, &own_file), ("b", &near_file, &None), ("c", &near_file, &None), ("d", &own_file, &None)];
        assert_eq!(told, expected);
        assert_eq!((read.path.clone(), read.below.clone(), read.of_project().count()), (near_file, own_file, 3));
        // A named file is used alone, and errors in the user's own file are not reported.
        assert_eq!(discover(Some(&near), &environment).expect("read").servers.len(), 3);
        write(&own, "{");
        let read = discover(None, &environment).expect("found");
        assert_eq!((read.servers.len(), read.warnings.len()), (3, 1), "{:?}", read.warnings);
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
