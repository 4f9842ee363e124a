use std::fs;

use crate::{system::page_size, transport::GroupId};

/// The memory of this process and of its server's process groups, in bytes, if the system reports it (Linux).
pub(super) fn held(groups: &[GroupId]) -> Option<u64> {
    let own = std::process::id();
    let mut pages = 0;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name in brackets may contain anything; after it come the state, the parent, and the group (proc(5)).
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |index: usize| fields.get(index).and_then(|field| field.parse::<i64>().ok()).unwrap_or_default();
        if pid == own || groups.iter().any(|group| group.is_group(number(2))) {
            pages += u64::try_from(number(21)).unwrap_or_default();
        }
    }
    Some(pages * page_size()?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn a_process_holds_something() {
        assert!(super::held(&[]).is_some_and(|bytes| bytes > 100_000));
    }
}
