use std::path::{Path, PathBuf};

use super::Environment;
use crate::transport::Mask;

/// The maximum length of an expanded text, in bytes.
const MOST_TEXT: usize = 4 << 20;
/// How deeply defaults may be nested.
const MAX_DEPTH: usize = 16;

/// The context of a configuration's text: the meaning of its variables, and the base of its relative paths.
pub(super) struct Scope<'a> {
    /// The variables.
    pub(super) environment: &'a Environment,
    /// The file's folder.
    pub(super) folder: PathBuf,
    /// The file itself.
    pub(super) file: Option<PathBuf>,
    /// The values of variables so far.
    pub(super) mask: Mask,
}

/// Variables with locations, which are not secrets.
const OPEN: [&str; 11] =
    ["HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "HOSTNAME", "TERM", "APPDATA"];

impl<'a> Scope<'a> {
    /// The scope of a file, or of the working folder if there is none.
    pub(super) fn new(environment: &'a Environment, file: Option<&Path>) -> Self {
        let absolute = file.map(|file| environment.absolute(file));
        let folder = absolute.as_deref().and_then(Path::parent).unwrap_or(&environment.folder).to_owned();
        Self { environment, folder, file: file.map(Path::to_owned), mask: Mask::default() }
    }

    /// `text` with its variables expanded.
    ///
    /// `${VAR}` and `${env:VAR}`; `${VAR:-default}`, where the default also replaces an empty value;
    /// `${workspaceFolder}`, `${workspaceFolderBasename}`, `${userHome}`, `${pathSeparator}` and `${/}`. `$${` is a
    /// literal `${`. If there is no valid name between the braces, the text is left unchanged.
    ///
    /// # Errors
    /// A reason that names the unset variable.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        let expanded = self.expand_within(text, 0)?;
        if expanded != text {
            self.mask.write_as(&expanded, text);
        }
        Ok(expanded)
    }

    fn expand_within(&self, text: &str, depth: usize) -> Result<String, String> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            if rest[..start].ends_with('$') {
                expanded.push_str(&rest[..start]);
                expanded.push('{');
                rest = &rest[start + 2..];
                continue;
            }
            expanded.push_str(&rest[..start]);
            let inside = &rest[start + 2..];
            let Some(end) = closing_brace(inside) else {
                return Err(format!("`{}` has no closing brace; write `$${{` for a plain `${{`", &rest[start..]));
            };
            match self.value(&inside[..end], depth)? {
                Some(value) => expanded.push_str(&value),
                None => expanded.push_str(&rest[start..start + end + 3]),
            }
            rest = &inside[end + 1..];
            if expanded.len() > MOST_TEXT {
                return Err(format!("it is longer than {} MiB with its variables", MOST_TEXT >> 20));
            }
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// The value of `inside` and its braces; `None` if it is not a name.
    fn value(&self, inside: &str, depth: usize) -> Result<Option<String>, String> {
        let folder = |path: &Path| Ok(Some(path.display().to_string()));
        match inside {
            "workspaceFolder" => return folder(self.workspace()),
            "workspaceFolderBasename" => return folder(Path::new(self.workspace().file_name().unwrap_or_default())),
            "userHome" => return self.environment.home.as_deref().map_or(Ok(None), folder),
            "pathSeparator" | "/" => return Ok(Some(std::path::MAIN_SEPARATOR.to_string())),
            _ if inside.starts_with("input:") && self.environment.keeps_unset => return Ok(None),
            _ if inside.starts_with("input:") => return self.entered(inside).map(Some),
            _ => {}
        }
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        if let Some(value) = self.environment.variable(name).filter(|_| !is_open(name)) {
            self.mask.hide(value, &format!("${{{name}}}"));
        }
        match (self.environment.variable(name), default) {
            (Some(value), None) => Ok(Some(value.to_owned())),
            (Some(value), Some(_)) if !value.is_empty() => Ok(Some(value.to_owned())),
            (_, Some(_)) if depth == MAX_DEPTH => Err(format!("the default of `{name}` is nested too deeply")),
            (_, Some(default)) if is_name(name) => self.expand_within(default, depth + 1).map(Some),
            (None, None) if is_name(name) && !self.environment.keeps_unset => {
                Err(format!("the variable {name} is not set; `${{{name}:-…}}` gives it a default"))
            }
            _ => Ok(None),
        }
    }

    /// A person's value for `input:ID`.
    fn entered(&self, inside: &str) -> Result<String, String> {
        let id = inside.trim_start_matches("input:").to_owned();
        let key = (self.file.clone().unwrap_or_default(), id);
        let Some(value) = self.environment.inputs.get(&key) else {
            let reason = "is asked for at a terminal, and there is none; `${env:NAME}` reads a variable instead";
            return Err(format!("`${{{inside}}}` {reason}"));
        };
        self.mask.hide(value, &format!("${{{inside}}}"));
        Ok(value.clone())
    }

    /// The folder of a project's file: `.vscode/mcp.json` belongs to the folder above.
    fn workspace(&self) -> &Path {
        let is_editors = self.folder.file_name().is_some_and(|name| name == ".vscode" || name == ".cursor");
        let above = self.folder.parent().filter(|_| is_editors);
        above.unwrap_or(&self.folder)
    }

    /// `text` as a path: `~` is the user's home, and relative paths are relative to the file's folder.
    pub(super) fn path(&self, text: &str) -> Result<PathBuf, String> {
        let path = self.tilde(text)?;
        // Joining an empty path would add a slash at the end.
        let inner = path.strip_prefix(".").unwrap_or(&path);
        Ok(if inner.as_os_str().is_empty() { self.folder.clone() } else { self.folder.join(inner) })
    }

    /// `text` as a program: a path if it contains a slash or begins with `~`, otherwise a name to search for.
    pub(super) fn program(&self, text: &str) -> Result<String, String> {
        if let Some(program) = self.environment.own_program(text) {
            return Ok(program.display().to_string());
        }
        let has_folder = text.contains(std::path::is_separator) || text == "~";
        if has_folder { Ok(self.path(text)?.display().to_string()) } else { Ok(text.to_owned()) }
    }

    fn tilde(&self, text: &str) -> Result<PathBuf, String> {
        let Some(rest) =
            text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with(std::path::is_separator))
        else {
            return Ok(PathBuf::from(text));
        };
        let home = self.environment.home.as_deref().ok_or("`~` cannot be used: there is no home folder")?;
        let rest = rest.trim_start_matches(std::path::is_separator);
        Ok(if rest.is_empty() { home.to_owned() } else { home.join(rest) })
    }
}

/// The position of the brace that closes the one just before `text`.
fn closing_brace(text: &str) -> Option<usize> {
    let mut open = 1;
    let mut before = ' ';
    for (index, c) in text.char_indices() {
        match c {
            '{' if before == '$' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(index);
        }
        before = c;
    }
    None
}

/// Whether the variable `name` is a location and not a secret.
fn is_open(name: &str) -> bool {
    OPEN.contains(&name) || name.starts_with("XDG_") || name.starts_with("LC_")
}

/// Whether `text` is a valid name of a variable.
fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let variables = [("TOK", "s3cret"), ("EMPTY", ""), ("NESTED", "${TOK}"), ("ProgramFiles(x86)", "pf")];
        Environment {
            variables: variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            home: Some("/home/ada".into()),
            folder: "/srv".into(),
            ..Environment::default()
        }
    }

    #[test]
    fn variables_defaults_and_escapes() {
        let environment = environment();
        let scope = Scope::new(&environment, Some(Path::new("/project/.vscode/mcp.json")));
        for (text, expected) in [
            ("plain $HOME %PATH% {}", "plain $HOME %PATH% {}"),
            ("Bearer ${TOK}!", "Bearer s3cret!"),
            ("${env:TOK}", "s3cret"),
            ("${NOPE:-none}", "none"),
            ("${env:NOPE:-none}", "none"),
            ("${TOK:-none}", "s3cret"),
            ("${EMPTY}|${EMPTY:-none}|${NOPE:-}", "|none|"),
            ("${NOPE:-${ALSO:-${TOK}}}", "s3cret"),
            ("${NOPE:-a:-b}", "a:-b"),
            ("${NESTED}", "${TOK}"),
            ("$${TOK} $$ ${TOK}", "${TOK} $$ s3cret"),
            ("${ProgramFiles(x86)}", "pf"),
            ("echo ${1} ${x##*/}", "echo ${1} ${x##*/}"),
            ("${workspaceFolder}/${workspaceFolderBasename}", "/project/project"),
            ("${userHome}${/}x", "/home/ada/x"),
        ] {
            assert_eq!(scope.expand(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_set_is_named() {
        let environment = environment();
        let scope = Scope::new(&environment, None);
        for (text, part) in [
            ("a ${NOPE} b", "the variable NOPE is not set"),
            ("${env:NOPE}", "the variable NOPE is not set"),
            ("${NOPE:-${ALSO}}", "the variable ALSO is not set"),
            ("${TOK", "no closing brace"),
            ("${input:token}", "asked for at a terminal"),
        ] {
            let error = scope.expand(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        let deep = format!("{}x{}", "${A:-".repeat(5000), "}".repeat(5000));
        assert!(scope.expand(&deep).expect_err("refused").contains("too deep"));
    }

    #[test]
    fn paths_count_from_the_files_folder() {
        let environment = environment();
        let scope = Scope::new(&environment, Some(Path::new("conf/mcp.json")));
        let path = |text| scope.path(text).expect("a path").display().to_string();
        assert_eq!(path("data"), "/srv/conf/data");
        assert_eq!(path("/abs"), "/abs");
        assert_eq!(
            (path("~"), path("~/x"), path("~ada")),
            ("/home/ada".into(), "/home/ada/x".into(), "/srv/conf/~ada".into())
        );
        let program = |text| scope.program(text).expect("a program");
        assert_eq!((program("node"), program("./srv")), ("node".into(), "/srv/conf/srv".into()));
        assert_eq!(
            (program("bin/srv"), program("~/bin/srv")),
            ("/srv/conf/bin/srv".into(), "/home/ada/bin/srv".into())
        );
    }
}
