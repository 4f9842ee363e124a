use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    client::ServerInfo,
    protocol::{Era, Revision},
};

/// How long a remembered revision is valid.
const LASTS: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// How many tools of one server are remembered, and how long a name may be, in bytes.
const TOOLS: (usize, usize) = (256, 256);

/// The revision that a server spoke in an earlier run, in its own file in the cache folder. A file that cannot be read
/// or written counts as not remembered.
#[derive(Clone)]
pub(in crate::client) struct Memory(Option<PathBuf>);

#[derive(Serialize, Deserialize)]
struct Remembered {
    /// Seconds since the Unix epoch.
    at: u64,
    revision: String,
    #[serde(default)]
    server: Map<String, Value>,
    #[serde(default)]
    capabilities: Map<String, Value>,
    #[serde(default)]
    instructions: Option<String>,
    /// The tools of a modern server that can ask only over a legacy connection.
    #[serde(default)]
    legacy_tools: Vec<String>,
}

impl Memory {
    /// The memory of the server with this configuration fingerprint; nothing is remembered without a `cache` folder.
    pub(in crate::client) fn new(cache: Option<&Path>, fingerprint: &str) -> Self {
        Self(cache.map(|cache| cache.join("eras").join(format!("{fingerprint}.json"))))
    }

    /// What the server said about itself in the last seven days.
    pub(in crate::client) fn recall(&self) -> Option<ServerInfo> {
        let Remembered { revision, server, capabilities, instructions, .. } = self.read()?;
        let revision = Revision::parse(&revision)?;
        Some(ServerInfo { revision, server, capabilities, instructions })
    }

    fn read(&self) -> Option<Remembered> {
        let path = self.0.as_ref()?;
        if fs::metadata(path).ok()?.len() > LARGEST {
            return None;
        }
        let remembered: Remembered = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let age = now().checked_sub(remembered.at)?;
        (age < LASTS.as_secs()).then_some(remembered)
    }

    /// Remembers which revision the server spoke. For a legacy server, only that.
    pub(in crate::client) fn keep(&self, info: &ServerInfo) {
        let Some(path) = &self.0 else { return };
        let ServerInfo { revision, server, capabilities, instructions } = match info.era() {
            Era::Modern => info.clone(),
            Era::Legacy => ServerInfo::new(info.revision),
        };
        let legacy_tools = self.read().filter(|_| revision.era() == Era::Modern);
        let legacy_tools = legacy_tools.map(|remembered| remembered.legacy_tools).unwrap_or_default();
        let revision = revision.as_str().to_owned();
        let remembered = Remembered { at: now(), revision, server, capabilities, instructions, legacy_tools };
        // If the folder cannot be written to, the next run negotiates again.
        drop(write(path, &remembered));
    }

    /// Whether this tool can ask only over a legacy connection.
    pub(in crate::client) fn is_legacy_tool(&self, tool: &str) -> bool {
        self.read().is_some_and(|remembered| remembered.legacy_tools.iter().any(|known| known == tool))
    }

    /// Remembers, or forgets, that this tool can ask only over a legacy connection.
    pub(in crate::client) fn mark_legacy_tool(&self, tool: &str, is_legacy: bool) {
        let (Some(path), Some(mut remembered)) = (&self.0, self.read()) else { return };
        let before = remembered.legacy_tools.len();
        remembered.legacy_tools.retain(|known| known != tool);
        if is_legacy && remembered.legacy_tools.len() < TOOLS.0 && tool.len() <= TOOLS.1 {
            remembered.legacy_tools.push(tool.to_owned());
        }
        if is_legacy || remembered.legacy_tools.len() < before {
            drop(write(path, &remembered));
        }
    }

    /// Whether the server was seen, in the last seven days, to do nothing when its input is closed.
    pub(in crate::client) fn waits_to_be_told(&self) -> bool {
        let marked = self.mark_of_ending().and_then(|path| fs::metadata(path).ok()?.modified().ok());
        marked.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < LASTS))
    }

    /// Remembers, or forgets, that the server does nothing when its input is closed.
    pub(in crate::client) fn mark_waits_to_be_told(&self, waits: bool) {
        let Some(path) = self.mark_of_ending() else { return };
        if waits {
            // If the folder cannot be written to, the next run finds out again.
            drop(fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).and_then(|()| fs::write(path, "")));
        } else {
            drop(fs::remove_file(path));
        }
    }

    /// An empty file whose age is the information.
    fn mark_of_ending(&self) -> Option<PathBuf> {
        Some(self.0.as_ref()?.with_extension("waits"))
    }

    /// Forgets the server's revision, because it no longer speaks it.
    pub(in crate::client) fn forget(&self) {
        if let Some(path) = &self.0 {
            drop(fs::remove_file(path));
            self.mark_waits_to_be_told(false);
        }
    }
}

/// Writes a temporary file and moves it into place, so that parallel runs never see half of it.
fn write(path: &Path, remembered: &Remembered) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(remembered)?)?;
    file.persist(path)?;
    Ok(())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_era_is_kept_for_a_week_and_forgotten_when_told() {
        let cache = tempfile::tempdir().expect("a folder");
        let memory = Memory::new(Some(cache.path()), "f");
        assert_eq!(memory.recall(), None);
        let result = json!({"capabilities": {"tools": {}}, "serverInfo": {"name": "a"}});
        let modern = ServerInfo::from_result(Revision::V2026_07_28, &result);
        memory.keep(&modern);
        assert_eq!(memory.recall(), Some(modern));
        memory.keep(&ServerInfo::from_result(Revision::V2025_06_18, &result));
        assert_eq!(memory.recall(), Some(ServerInfo::new(Revision::V2025_06_18)));
        memory.forget();
        assert_eq!(memory.recall(), None);
    }

    #[test]
    fn a_tool_that_asks_over_a_legacy_revision_is_remembered_by_itself() {
        let cache = tempfile::tempdir().expect("a folder");
        let memory = Memory::new(Some(cache.path()), "f");
        memory.mark_legacy_tool("old", true);
        assert!(!memory.is_legacy_tool("old"), "nothing is known of the server");
        let modern = ServerInfo::new(Revision::V2026_07_28);
        memory.keep(&modern);
        memory.mark_legacy_tool("old", true);
        memory.keep(&modern);
        assert!(memory.is_legacy_tool("old") && !memory.is_legacy_tool("new"));
        assert_eq!(memory.recall(), Some(modern));
        memory.mark_legacy_tool("old", false);
        assert!(!memory.is_legacy_tool("old"));
        memory.mark_legacy_tool(&"x".repeat(300), true);
        assert!(!memory.is_legacy_tool(&"x".repeat(300)));
    }

    #[test]
    fn how_a_server_ends_is_kept_for_a_week_and_forgotten_with_the_rest() {
        let cache = tempfile::tempdir().expect("a folder");
        let memory = Memory::new(Some(cache.path()), "f");
        assert!(!memory.waits_to_be_told());
        memory.mark_waits_to_be_told(true);
        assert!(memory.waits_to_be_told() && !Memory::new(Some(cache.path()), "g").waits_to_be_told());
        let mark = fs::File::open(cache.path().join("eras/f.waits")).expect("a mark");
        mark.set_modified(SystemTime::now() - LASTS).expect("set");
        assert!(!memory.waits_to_be_told());
        memory.mark_waits_to_be_told(true);
        memory.forget();
        assert!(!memory.waits_to_be_told());
        Memory::new(None, "f").mark_waits_to_be_told(true);
    }

    #[test]
    fn what_is_old_or_broken_counts_as_nothing() {
        let cache = tempfile::tempdir().expect("a folder");
        let memory = Memory::new(Some(cache.path()), "f");
        let path = cache.path().join("eras/f.json");
        fs::create_dir_all(cache.path().join("eras")).expect("a folder");
        let old = now() - LASTS.as_secs();
        let later = now() + 1000;
        let texts = [
            String::new(),
            "{".into(),
            format!(r#"{{"at":{old},"revision":"2026-07-28"}}"#),
            format!(r#"{{"at":{later},"revision":"2026-07-28"}}"#),
            format!(r#"{{"at":{},"revision":"2099-01-01"}}"#, now()),
        ];
        for text in texts {
            fs::write(&path, &text).expect("written");
            assert_eq!(memory.recall(), None, "{text}");
        }
        Memory::new(None, "f").keep(&ServerInfo::new(Revision::V2026_07_28));
        Memory::new(Some(Path::new("/proc/nowhere")), "f").keep(&ServerInfo::new(Revision::V2026_07_28));
    }
}
