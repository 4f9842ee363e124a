use std::{
    collections::HashMap,
    fs,
    time::{Duration, SystemTime},
};

use super::{
    folder::{DIGITS, Folder},
    is_heard,
};

/// How long the files of a server that is no longer kept remain: its log may say why.
const STAYS: Duration = Duration::from_secs(24 * 60 * 60);
/// How many files a sweep checks.
const MOST: usize = 10_000;

impl Folder {
    /// Removes old files of servers that are no longer kept: logs, locks, and sockets without a keeper.
    pub(super) fn sweep(&self, now: SystemTime) {
        let mut newest: HashMap<String, SystemTime> = HashMap::new();
        for entry in fs::read_dir(self.path()).into_iter().flatten().flatten().take(MOST) {
            let Ok(changed) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(key) = key_of(&name) {
                let newest = newest.entry(key.to_owned()).or_insert(changed);
                *newest = changed.max(*newest);
            } else if name.starts_with(".tmp") && is_old(changed, now) {
                // A key that was never completed.
                drop(fs::remove_file(entry.path()));
            }
        }
        for (key, _) in newest.into_iter().filter(|(_, changed)| is_old(*changed, now)) {
            // Nobody can start it meanwhile.
            let Ok(Some(_lock)) = self.try_lock(&key) else { continue };
            if is_heard(&self.socket(&key)) {
                continue;
            }
            for path in [self.log(&key), self.log(&key).with_extension("log.1"), self.socket(&key), self.lock(&key)] {
                drop(fs::remove_file(path));
            }
        }
    }
}

/// The name of the server that a file belongs to.
fn key_of(name: &str) -> Option<&str> {
    let (key, ending) = name.split_once('.')?;
    let is_key = key.len() == DIGITS && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_key && ["sock", "lock", "log", "log.1"].contains(&ending)).then_some(key)
}

fn is_old(changed: SystemTime, now: SystemTime) -> bool {
    now.duration_since(changed).is_ok_and(|age| age > STAYS)
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::{fs::PermissionsExt as _, net::UnixListener},
        path::Path,
    };

    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(path)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_nobody_uses_any_more_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).expect("set");
        let path = |name: &str| folder.path().join(name);
        let (left, kept, dead) = ("a".repeat(DIGITS), "b".repeat(DIGITS), "c".repeat(DIGITS));
        for name in [&format!("{left}.log"), &format!("{left}.log.1"), &format!("{left}.lock")] {
            fs::write(path(name), "").expect("written");
        }
        for name in ["key", "notes.log", ".tmpAbCdEf", &format!("{kept}.log")] {
            fs::write(path(name), "").expect("written");
        }
        let _keeper = UnixListener::bind(path(&format!("{kept}.sock"))).expect("bound");
        drop(UnixListener::bind(path(&format!("{dead}.sock"))).expect("bound"));
        let ours = Folder::at(folder.path()).expect("ours");
        let all = names(folder.path());
        ours.sweep(SystemTime::now() + STAYS / 2);
        assert_eq!(names(folder.path()), all);
        ours.sweep(SystemTime::now() + STAYS * 2);
        let mut stays = vec![format!("{kept}.lock"), format!("{kept}.log"), format!("{kept}.sock")];
        stays.extend(["key".to_owned(), "notes.log".to_owned()]);
        assert_eq!(names(folder.path()), stays);
    }
}
