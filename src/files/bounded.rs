use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

/// The most bytes that are read from a file.
const MOST: u64 = 64 << 20;

/// The whole content of the file at `path`, which may be a pipe.
///
/// # Errors
/// When it cannot be read, is a folder, or does not end within [`MOST`].
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    read_all(file)
}

/// Everything that `reader` yields.
///
/// # Errors
/// When it cannot be read, or does not end within [`MOST`].
pub(crate) fn read_all(reader: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        let reason = format!("it is larger than {} MiB", MOST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

/// Everything that `reader` yields, as text.
///
/// # Errors
/// As for [`read_all`], and if it is not UTF-8.
pub(crate) fn read_text(reader: impl io::Read) -> io::Result<String> {
    let text = String::from_utf8(read_all(reader)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_refused() {
        let error = read_all(io::repeat(b'x')).expect_err("it never ends");
        assert_eq!(error.to_string(), "it is larger than 64 MiB");
        assert_eq!(read_text(&b"a"[..]).expect("text"), "a");
        assert!(read_text(&[0xff][..]).is_err() && read(Path::new("/")).is_err());
    }
}
