use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use crate::text::start_of;
use jiff::Timestamp;

use crate::{
    client::{Notice, NoticeKind},
    files::open_private_itself,
};

/// How large a log may become, in bytes, before it is rotated; one older part is kept.
const LONGEST: u64 = 1 << 20;
/// How long a line may be, in bytes.
const LONGEST_LINE: usize = 8 << 10;

/// The log of a kept server: its standard error, and everything that belongs to no call. Only its owner may read it.
pub(super) struct KeeperLog {
    path: PathBuf,
    file: Option<File>,
    length: u64,
}

impl KeeperLog {
    /// The log at `path`, which is continued. Without a file everything is dropped.
    pub(super) fn open(path: &Path) -> Self {
        let file = open_private_itself(path, OpenOptions::new().append(true).create(true)).ok();
        let length = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |metadata| metadata.len());
        Self { path: path.to_owned(), file, length }
    }

    /// Writes one line, with the time. If the disk is full, only lines are lost.
    pub(super) fn line(&mut self, text: &str) {
        if self.length > LONGEST {
            drop(fs::rename(&self.path, self.path.with_extension("log.1")));
            *self = Self::open(&self.path.clone());
        }
        let Some(file) = &mut self.file else { return };
        let text = start_of(text, LONGEST_LINE).replace(['\n', '\r'], " ");
        let line = format!("{} {text}\n", Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ"));
        if file.write_all(line.as_bytes()).is_ok() {
            self.length += line.len() as u64;
        }
    }

    /// Writes the server's words behind a bar, so that none of its lines looks like one of ours.
    fn theirs(&mut self, kind: &str, words: &str) {
        self.line(&format!("{kind}│ {}", start_of(words, LONGEST_LINE)));
    }

    /// Writes a notice, if it is worth keeping.
    pub(super) fn notice(&mut self, notice: &Notice) {
        match &notice.kind {
            NoticeKind::Stderr(line) => self.theirs("", line),
            NoticeKind::Warning(text) => self.line(&format!("warning: {text}")),
            NoticeKind::Log { level, logger, data } => {
                let logger = logger.as_ref().map(|logger| format!(" {logger}")).unwrap_or_default();
                let data = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
                self.theirs("log ", &format!("{level}{logger}: {data}"));
            }
            NoticeKind::Changed { method, .. } => self.theirs("changed ", method),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_private_and_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        let mut log = KeeperLog::open(&path);
        for _ in 0..400 {
            log.line(&"x".repeat(10_000));
        }
        let (now, before) = (fs::metadata(&path).expect("a log"), fs::metadata(path.with_extension("log.1")));
        assert!(now.len() <= LONGEST + 9000 && before.expect("a log").len() <= LONGEST + 9000);
        assert_eq!(now.permissions().mode() & 0o777, 0o600);
        let mut nowhere = KeeperLog::open(Path::new("/nowhere/a.log"));
        nowhere.line("lost");
    }
}
