use std::{
    fs::{self, File},
    path::Path,
};

use super::identity;

/// Whether `file` is still the one at `path`, which may have been replaced since it was opened.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let (own, there) = (file.metadata(), fs::symlink_metadata(path));
    matches!((own, there), (Ok(own), Ok(there)) if identity(&own) == identity(&there))
}
