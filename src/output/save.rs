use std::{
    collections::HashMap,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::Value;

use crate::protocol::ContentBlock;

/// How many other names are tried if one is taken.
const MOST_NAMES: usize = 10_000;
/// The longest name of a file, in bytes; most file systems allow 255.
const LONGEST: usize = 120;

/// The outcome for one content block: its file, or why it was not saved. `None` for text and links.
pub type Saved = Option<Result<PathBuf, String>>;

/// Writes the images, the audio and the embedded resources of a result into `folder`, which is created if it is
/// missing. An existing file is never replaced: a number is added to the name.
///
/// # Errors
/// If the folder cannot be created.
pub fn save_blocks(folder: &Path, blocks: &[ContentBlock]) -> io::Result<Vec<Saved>> {
    fs::create_dir_all(folder)?;
    let mut taken = HashMap::new();
    let mut save = |block: &ContentBlock| {
        let (name, bytes) = match block {
            ContentBlock::Image { mime_type, data } => (named("image", mime_type), decoded(data)),
            ContentBlock::Audio { mime_type, data } => (named("audio", mime_type), decoded(data)),
            ContentBlock::Resource(resource) => embedded(resource)?,
            ContentBlock::Text(_) | ContentBlock::ResourceLink { .. } | ContentBlock::Unknown(_) => return None,
        };
        let written =
            bytes.and_then(|bytes| write_new(folder, &name, &bytes, &mut taken).map_err(|error| error.to_string()));
        Some(written.map_err(|reason| format!("{name} was not saved: {reason}")))
    };
    Ok(blocks.iter().map(&mut save).collect())
}

fn embedded(resource: &Value) -> Option<(String, Result<Vec<u8>, String>)> {
    let part = |key: &str| resource.get(key).and_then(Value::as_str);
    let bytes = match (part("text"), part("blob")) {
        (Some(text), _) => Ok(text.as_bytes().to_vec()),
        (None, Some(data)) => decoded(data),
        (None, None) => return None,
    };
    let kind = part("mimeType").unwrap_or(if part("text").is_some() { "text/plain" } else { "" });
    let name = part("uri").and_then(name_in).unwrap_or_else(|| named("resource", kind));
    Some((name, bytes))
}

/// The last step of a URI's path as a name that is safe in any folder: no separators, no controls, no leading dot.
fn name_in(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next()?.trim_end_matches('/');
    let last = path.rsplit(['/', '\\', ':']).next()?;
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ' | '+');
    let safe: String = last.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    let mut name = safe.trim_start_matches(['.', '-', ' ']).trim_end_matches(['.', ' ']).to_owned();
    while name.len() > LONGEST {
        name.pop();
    }
    (!name.is_empty()).then_some(name)
}

/// The name of a file that has none: the first is `image.png`, and [`write_new`] numbers those that follow.
fn named(what: &str, mime_type: &str) -> String {
    format!("{what}.{}", extension(mime_type))
}

/// The file extension for this type.
fn extension(mime_type: &str) -> String {
    let kind = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let known = match kind.as_str() {
        "image/jpeg" => "jpg",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "audio/x-wav" | "audio/wave" => "wav",
        "text/plain" => "txt",
        "text/markdown" => "md",
        _ => "",
    };
    let subtype = kind.split_once('/').map_or("", |(_, subtype)| subtype);
    let is_plain = !subtype.is_empty() && subtype.len() <= 8 && subtype.chars().all(|c| c.is_ascii_alphanumeric());
    match (known, is_plain) {
        ("", true) => subtype.to_owned(),
        ("", false) => "bin".to_owned(),
        (known, _) => known.to_owned(),
    }
}

/// The bytes of base64 as servers write it.
///
/// # Errors
/// The reason why not.
pub(super) fn decoded(data: &str) -> Result<Vec<u8>, String> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let standard: String = data
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    let bytes = GeneralPurpose::new(&STANDARD, config).decode(standard);
    bytes.map_err(|error| format!("its data is not base64: {error}"))
}

/// Writes a new file, and returns its path. `taken` has the number from which on a name may be free, so that a thousand
/// blocks with one name do not need a million attempts.
fn write_new(folder: &Path, name: &str, bytes: &[u8], taken: &mut HashMap<String, usize>) -> io::Result<PathBuf> {
    let (stem, end) = match name.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() => (stem, format!(".{end}")),
        _ => (name, String::new()),
    };
    let first = taken.entry(name.to_owned()).or_insert(1);
    for attempt in *first..MOST_NAMES {
        *first = attempt + 1;
        let name = if attempt == 1 { name.to_owned() } else { format!("{stem}-{attempt}{end}") };
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                return match file.write_all(bytes) {
                    Ok(()) => Ok(path),
                    Err(error) => {
                        // Half a file is worse than none.
                        drop(fs::remove_file(&path));
                        Err(error)
                    }
                };
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "files with all of its names exist"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn blocks() -> Vec<ContentBlock> {
        let values = [
            json!({"type": "text", "text": "words"}),
            json!({"type": "image", "mimeType": "image/png", "data": "iVBO Rw=="}),
            json!({"type": "audio", "mimeType": "audio/x", "data": "_-8"}),
            json!({"type": "resource", "resource": {"uri": "file:///a/../../.ssh/b c?x=/etc/passwd", "text": "t"}}),
            json!({"type": "resource", "resource": {"uri": "demo://..", "mimeType": "application/pdf", "blob": "AAAA"}}),
            json!({"type": "image", "mimeType": "image/jpeg", "data": "*"}),
        ];
        values.iter().map(ContentBlock::from_value).collect()
    }

    fn names(saved: &[Saved]) -> Vec<Option<String>> {
        let name = |saved: &Saved| match saved {
            Some(Ok(path)) => Some(path.file_name().expect("a name").to_string_lossy().into_owned()),
            Some(Err(reason)) => Some(reason.clone()),
            None => None,
        };
        saved.iter().map(name).collect()
    }

    #[test]
    fn blocks_become_files_with_safe_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("new/one");
        let saved = names(&save_blocks(&place, &blocks()).expect("saved"));
        let told = |name: &str| Some(name.to_owned());
        assert_eq!(saved[..5], [None, told("image.png"), told("audio.x"), told("b c"), told("resource.pdf")]);
        assert!(saved[5].as_ref().is_some_and(|reason| reason.starts_with("image.jpg was not saved: its data")));
        assert_eq!(fs::read(place.join("image.png")).expect("a file"), b"\x89PNG");
        assert_eq!(fs::read(place.join("audio.x")).expect("a file"), [0xff, 0xef]);
        assert_eq!(fs::read_dir(&place).expect("a folder").count(), 4);
    }

    #[test]
    fn the_first_of_a_kind_has_no_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let image = |kind: &str| json!({"type": "image", "mimeType": kind, "data": "AAAA"});
        let values =
            [json!({"type": "text", "text": "two:"}), image("image/png"), image("image/png"), image("image/gif")];
        let blocks: Vec<ContentBlock> = values.iter().map(ContentBlock::from_value).collect();
        let saved = names(&save_blocks(folder.path(), &blocks).expect("saved"));
        assert_eq!(saved[1..], ["image.png", "image-2.png", "image.gif"].map(|name| Some(name.to_owned())));
    }

    #[test]
    fn nothing_is_replaced_and_no_link_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("saved");
        fs::create_dir(&place).expect("made");
        fs::write(place.join("image.png"), "mine").expect("written");
        std::os::unix::fs::symlink(folder.path().join("target"), place.join("b c")).expect("linked");
        let saved = names(&save_blocks(&place, &blocks()).expect("saved"));
        assert_eq!((saved[1].as_deref(), saved[3].as_deref()), (Some("image-2.png"), Some("b c-2")));
        assert_eq!(fs::read(place.join("image.png")).expect("a file"), b"mine");
        assert!(!folder.path().join("target").exists());
        assert!(save_blocks(&place.join("image.png"), &blocks()).is_err());
    }
}
