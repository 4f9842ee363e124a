use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The result of `roots/list` (2025-11-25, *client/roots*): each folder as a `file:` URI, named after its last part.
pub(super) fn list(folders: &[PathBuf]) -> Value {
    json!({"roots": folders.iter().filter_map(|folder| root(folder)).collect::<Vec<Value>>()})
}

/// The root for a folder, or `None` if its path cannot be a URI.
fn root(folder: &Path) -> Option<Value> {
    let absolute = std::path::absolute(folder).ok()?;
    let uri = url::Url::from_file_path(&absolute).ok()?;
    let name = absolute.file_name().map_or_else(|| absolute.to_string_lossy(), |name| name.to_string_lossy());
    Some(json!({"uri": uri.as_str(), "name": name}))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn folders_become_file_addresses() {
        let folders = [PathBuf::from("/srv/my data"), PathBuf::from("/")];
        let expected = json!({"roots": [
            {"uri": "file:///srv/my%20data", "name": "my data"},
            {"uri": "file:///", "name": "/"},
        ]});
        assert_eq!(list(&folders), expected);
    }
}
