/// The longest paste that is accepted, in bytes; the rest is dropped.
const PASTE_LIMIT: usize = 1 << 20;

/// An action at the keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    /// A bracketed paste, unchanged.
    Paste(String),
    Enter,
    Tab,
    BackTab,
    Escape,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    WordLeft,
    WordRight,
    /// Ctrl-W or Alt-Backspace.
    EraseWordLeft,
    /// Alt-d.
    EraseWordRight,
    /// Ctrl-U.
    EraseToStart,
    /// Ctrl-K.
    EraseToEnd,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D: deletes, or at an empty prompt ends the input.
    EndOfInput,
    /// Ctrl-L.
    ClearScreen,
    /// Ctrl-O.
    External,
    /// Ctrl-R.
    Restore,
    /// Ctrl-T.
    Unfold,
    /// Anything else.
    Unknown,
}

/// The source of the bytes after the first: `None` if none arrives soon.
pub(super) type More<'a> = &'a mut dyn FnMut() -> Option<u8>;

impl Key {
    /// Decodes the key that begins with `first`, and reads no byte beyond it: the rest stays in the terminal's queue,
    /// where it can be flushed.
    pub(super) fn decode(first: u8, more: More) -> Self {
        match first {
            b'\r' | b'\n' => Self::Enter,
            b'\t' => Self::Tab,
            0x01 => Self::Home,
            0x02 => Self::Left,
            0x03 => Self::Interrupt,
            0x04 => Self::EndOfInput,
            0x05 => Self::End,
            0x06 => Self::Right,
            0x08 | 0x7f => Self::Backspace,
            0x0b => Self::EraseToEnd,
            0x0c => Self::ClearScreen,
            0x0e => Self::Down,
            0x0f => Self::External,
            0x10 => Self::Up,
            0x12 => Self::Restore,
            0x14 => Self::Unfold,
            0x15 => Self::EraseToStart,
            0x17 => Self::EraseWordLeft,
            0x1b => after_escape(more),
            0x00..0x20 => Self::Unknown,
            _ => character(first, more).map_or(Self::Unknown, Self::Char),
        }
    }
}

fn character(first: u8, more: More) -> Option<char> {
    let length = match first {
        0x20..0x80 => return Some(char::from(first)),
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return None,
    };
    let mut bytes = vec![first];
    while bytes.len() < length {
        bytes.push(more()?);
    }
    let character = std::str::from_utf8(&bytes).ok()?.chars().next()?;
    (!character.is_control()).then_some(character)
}

fn after_escape(more: More) -> Key {
    match more() {
        None | Some(0x1b) => Key::Escape,
        Some(b'[') => control_sequence(more),
        Some(b'O') => more().map_or(Key::Unknown, |last| named(last, false)),
        Some(b'b' | b'B') => Key::WordLeft,
        Some(b'f' | b'F') => Key::WordRight,
        Some(b'd' | b'D') => Key::EraseWordRight,
        Some(0x08 | 0x7f) => Key::EraseWordLeft,
        Some(_) => Key::Unknown,
    }
}

/// The rest of `ESC [`: parameters, then one byte in `@..=~`.
fn control_sequence(more: More) -> Key {
    let mut parameters = Vec::new();
    let last = loop {
        match more() {
            Some(byte @ 0x20..0x40) if parameters.len() < 32 => parameters.push(byte),
            Some(byte @ 0x40..0x7f) => break byte,
            _ => return Key::Unknown,
        }
    };
    let moves_words = matches!(parameters.rsplit(|byte| *byte == b';').next(), Some(b"3" | b"5"))
        && (parameters.contains(&b';') || last != b'~');
    match (last, parameters.split(|byte| *byte == b';').next()) {
        (b'~', Some(b"200")) => Key::Paste(paste(more)),
        (b'~', Some(b"1" | b"7")) => Key::Home,
        (b'~', Some(b"4" | b"8")) => Key::End,
        (b'~', Some(b"3")) if moves_words => Key::EraseWordRight,
        (b'~', Some(b"3")) => Key::Delete,
        (b'~', Some(b"5")) => Key::PageUp,
        (b'~', Some(b"6")) => Key::PageDown,
        (last, _) => named(last, moves_words),
    }
}

fn named(last: u8, moves_words: bool) -> Key {
    match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' if moves_words => Key::WordRight,
        b'D' if moves_words => Key::WordLeft,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'F' => Key::End,
        b'H' => Key::Home,
        b'M' => Key::Enter,
        b'Z' => Key::BackTab,
        _ => Key::Unknown,
    }
}

fn paste(more: More) -> String {
    const END: &[u8] = b"\x1b[201~";
    let mut bytes = Vec::new();
    let mut seen = 0;
    while seen < END.len() {
        let Some(byte) = more() else { break };
        seen = match byte {
            _ if byte == END[seen] => seen + 1,
            0x1b => 1,
            _ => 0,
        };
        if bytes.len() < PASTE_LIMIT || seen > 0 {
            bytes.push(byte);
        }
    }
    if bytes.ends_with(END) {
        bytes.truncate(bytes.len() - END.len());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut rest = bytes.iter().copied();
        let mut keys = Vec::new();
        while let Some(first) = rest.next() {
            keys.push(Key::decode(first, &mut || rest.next()));
        }
        keys
    }

    #[test]
    fn words_and_lines_are_moved_over() {
        assert_eq!(
            keys(b"\x1b[D\x1b[1;5D\x1b[1;3C\x1bb\x1bf"),
            [Key::Left, Key::WordLeft, Key::WordRight, Key::WordLeft, Key::WordRight]
        );
        assert_eq!(keys(b"\x1b[H\x1bOH\x1b[1~\x1b[7~\x01"), vec![Key::Home; 5]);
        assert_eq!(keys(b"\x1b[F\x1bOF\x1b[4~\x05"), vec![Key::End; 4]);
        assert_eq!(
            keys(b"\x1b[3~\x1b[3;5~\x1b\x7f\x17\x15\x0b"),
            [
                Key::Delete,
                Key::EraseWordRight,
                Key::EraseWordLeft,
                Key::EraseWordLeft,
                Key::EraseToStart,
                Key::EraseToEnd
            ]
        );
    }

    #[test]
    fn characters_of_every_length() {
        assert_eq!(keys("aé漢🎉".as_bytes()), ['a', 'é', '漢', '🎉'].map(Key::Char));
        assert_eq!(keys(b"\xff\xc2"), [Key::Unknown, Key::Unknown]);
    }

    #[test]
    fn a_paste_is_one_key_and_ends_where_it_ends() {
        assert_eq!(keys(b"\x1b[200~one\r\ntwo\x1b[201~\r"), [Key::Paste("one\r\ntwo".into()), Key::Enter]);
        assert_eq!(keys(b"\x1b[200~\x1b[20\x1b[201~x"), [Key::Paste("\x1b[20".into()), Key::Char('x')]);
    }

    #[test]
    fn unknown_sequences_type_nothing() {
        assert_eq!(keys(b"\x1b[27;5;9~\x1b[?1;2c\x1bOP\x1b[I"), vec![Key::Unknown; 4]);
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
    }
}
