use std::{fs, io::Write, path::PathBuf};

use crate::{files::PrivateFile, form::names_secret};

/// How many lines are kept.
const LINES: usize = 1000;

/// The lines of earlier sessions and of this one, in a private file. Lines with an answer or a secret are not kept, and
/// neither are those that begin with a space.
pub(crate) struct History {
    path: Option<PathBuf>,
    lines: Vec<String>,
}

impl History {
    /// Reads the file.
    pub(crate) fn read(path: Option<PathBuf>) -> Self {
        let path = path.filter(|path| fs::symlink_metadata(path).map_or(true, |data| data.is_file()));
        let text = path.as_ref().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        Self { path, lines: text.lines().map(str::to_owned).collect() }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.clone()
    }

    /// Adds `line`, if it may be kept. A file that cannot be written does not stop the shell.
    pub(crate) fn add(&mut self, line: &str) {
        if !may_be_kept(line) || self.lines.last().is_some_and(|last| last == line) {
            return;
        }
        self.lines.push(line.to_owned());
        let excess = self.lines.len().saturating_sub(LINES);
        self.lines.drain(..excess);
        drop(self.save());
    }

    fn save(&self) -> std::io::Result<()> {
        let Some((path, folder)) = self.path.as_ref().and_then(|path| Some((path, path.parent()?))) else {
            return Ok(());
        };
        fs::create_dir_all(folder)?;
        let mut file = PrivateFile::new(path)?;
        file.write_all((self.lines.join("\n") + "\n").as_bytes())?;
        file.put()?;
        Ok(())
    }
}

fn may_be_kept(line: &str) -> bool {
    const SECRET_OPTIONS: [&str; 6] = ["--answer", "-H", "--header", "--env", "--args", "--bearer"];
    if line.starts_with(' ') || line.trim().is_empty() {
        return false;
    }
    let Ok(words) = shell_words::split(line) else { return false };
    words.iter().all(|word| {
        let key = word.split(['=', ':']).next().unwrap_or_default();
        let names = key.trim_start_matches('-').split('.');
        let is_pair = word.contains('=');
        let has_user = word.contains("://") && word.contains('@');
        let has_secret = SECRET_OPTIONS.iter().any(|option| word.starts_with(option));
        !(has_secret || has_user || is_pair && names.into_iter().any(names_secret))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_secrets_are_not_kept() {
        for line in ["call a b", "call a b name=Ada", "tools files", "$x = call a b n=1"] {
            assert!(may_be_kept(line), "{line}");
        }
        for line in [
            "",
            " call a b",
            "call a b password=x",
            "call a b auth.token:=\"x\"",
            "call a b --answer name=Ada",
            "call a b -H 'Authorization: x'",
            "call a b --header=x",
            "tools https://u:p@a.example/",
            "call 'open",
        ] {
            assert!(!may_be_kept(line), "{line}");
        }
    }
}
