//! What the targets in `fuzz/` run: each function takes bytes as a server, a file, a page or a keyboard would send
//! them, and panics if something that must hold does not. `docs/reliability.md` says how to run them.

use std::path::PathBuf;

use hyper::body::Bytes;
use serde_json::Value;

use crate::{
    arguments,
    config::{self, Environment},
    elicitation::Link,
    form::{Field, Form},
    keeper, pages,
    protocol::UriTemplate,
    resolver::answers::{AnswersFile, FillSource, Overlay, fill},
    terminal,
    text::{is_harmful, safe_line, safe_name, safe_piped, safe_text},
    transport::{Challenge, fuzzed_events, stdio},
};

/// A target: its name, and the function that it runs.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[FuzzTarget] = &[
    ("stdio_frames", stdio_frames),
    ("sse_frames", sse_frames),
    ("config_text", config_text),
    ("answers_text", answers_text),
    ("schema_to_form", schema_to_form),
    ("text_to_value", text_to_value),
    ("sanitising", sanitising),
    ("link_verdict", link_verdict),
    ("key_strokes", key_strokes),
    ("argument_words", argument_words),
    ("challenge_header", challenge_header),
    ("keeper_message", keeper_message),
    ("posted_form", posted_form),
    ("uri_template", uri_template),
];

/// Lines of a server's standard output: each becomes messages or is reported as junk, and a message keeps its bytes.
pub fn stdio_frames(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        stdio::fuzzed_line(line);
    }
}

/// A stream of events, in chunks as long as the first byte says: the chunk size makes no difference.
pub fn sse_frames(bytes: &[u8]) {
    let Some((length, bytes)) = bytes.split_first() else { return };
    let whole = fuzzed_events(vec![Bytes::copy_from_slice(bytes)]);
    let parts = bytes.chunks(usize::from(*length).max(1)).map(Bytes::copy_from_slice).collect();
    assert_eq!(whole, fuzzed_events(parts), "chunks change the events");
}

/// A configuration file is understood or refused, and an error points to a place within the text.
pub fn config_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let environment = Environment { folder: PathBuf::from("/"), ..Environment::default() };
    if let Ok(config) = config::parse(text, None, &environment) {
        for server in config.servers.iter().filter_map(|entry| entry.server.as_ref().ok()) {
            assert!(!server.fingerprint().is_empty());
        }
    }
}

/// An answers file, a zero byte, and a form's schema: what is filled in fits the form.
pub fn answers_text(bytes: &[u8]) {
    let Some((text, schema)) = two(bytes) else { return };
    let (Ok(file), Ok(schema)) = (AnswersFile::parse(text, "answers.json"), serde_json::from_str::<Value>(schema))
    else {
        return;
    };
    let form = Form::from_schema(&schema);
    for entry in &file.entries {
        if let Ok(content) = fill(&form, FillSource::entry(entry, &Overlay::default())) {
            assert!(form.check(&content).is_empty(), "what was filled in does not fit: {content:?}");
        }
    }
}

/// A `requestedSchema`: any schema makes a form, and the defaults that it offers fit their fields.
pub fn schema_to_form(bytes: &[u8]) {
    let Ok(schema) = serde_json::from_slice::<Value>(bytes) else { return };
    let form = Form::from_schema(&schema);
    for field in &form.fields {
        if let Some(default) = &field.default {
            assert!(field.check(default).is_ok(), "{}: the default {default} does not fit", field.key);
        }
        let _ = (field.rules(), field.summary(), field.template(), field.default_words());
    }
}

/// A form's schema, a zero byte, and the text typed into each of its fields: an accepted value fits, and stays the same
/// when it is edited again.
pub fn text_to_value(bytes: &[u8]) {
    let Some((schema, typed)) = two(bytes) else { return };
    let Ok(schema) = serde_json::from_str::<Value>(schema) else { return };
    for field in &Form::from_schema(&schema).fields {
        let Ok(value) = field.parse(typed) else { continue };
        assert!(field.check(&value).is_ok(), "{typed:?} was taken as {value}, which does not fit");
        same_again(field, &value);
    }
}

fn same_again(field: &Field, value: &Value) {
    let again = field.parse(&field.edit(value));
    let again = again.map(|again| field.canonical(again));
    assert_eq!(again.ok(), Some(field.canonical(value.clone())), "{value} is another value when it is edited");
}

/// Text from a server: nothing dangerous remains, and what is safe does not change.
pub fn sanitising(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for safe in [safe_line(&text), safe_text(&text), safe_name(&text)] {
        let bare = |c: &char| !is_harmful(*c) || *c == '\u{200d}';
        assert!(safe.chars().all(|c| bare(&c)), "{safe:?}");
    }
    assert!(!safe_line(&text).contains(['\n', '\t']));
    let controls = |text: &str| text.replace("\r\n", "\n").chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert!(!controls(&safe_piped(&text)));
    for (once, twice) in [
        (safe_line(&text), safe_line(&safe_line(&text)).into_owned()),
        (safe_text(&text), safe_text(&safe_text(&text)).into_owned()),
        (safe_piped(&text), safe_piped(&safe_piped(&text)).into_owned()),
    ] {
        assert_eq!(once, twice);
    }
}

/// The address of a link: only http and https are accepted, and what a person reads is what is opened.
pub fn link_verdict(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(link) = Link::inspect(&text) {
        assert!(["http://", "https://"].iter().any(|start| link.url.starts_with(start)), "{}", link.url);
        let shown = [&link.url, &link.host].into_iter().chain(&link.warnings);
        assert!(shown.clone().all(|text| !text.is_empty() && text.chars().all(|c| matches!(c, ' '..='~'))), "{link:?}");
    }
}

/// Bytes from a keyboard, decoded and typed into a line: the cursor stays between characters, the line within its
/// columns.
pub fn key_strokes(bytes: &[u8]) {
    terminal::fuzzed_keys(bytes);
}

/// A tool's schema, a zero byte, and words separated by line ends: an accepted value fits.
pub fn argument_words(bytes: &[u8]) {
    let Some((schema, words)) = two(bytes) else { return };
    let Ok(schema) = serde_json::from_str::<Value>(schema) else { return };
    let words: Vec<&str> = words.lines().collect();
    let nothing = &mut |_: arguments::Source<'_>| Err::<Vec<u8>, _>("there is no file".to_owned());
    if let Ok(read) = arguments::parse(&words, None, Some(&schema), nothing) {
        let _ = (read.check(), read.missing().is_empty());
    }
}

/// A `WWW-Authenticate` header.
pub fn challenge_header(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(challenge) = Challenge::parse(&text) {
        assert!(!challenge.scheme.is_empty());
        let _ = (challenge.scopes(), challenge.resource_metadata(), challenge.to_string());
    }
}

/// Bytes on a keeper's socket, from either end.
pub fn keeper_message(bytes: &[u8]) {
    keeper::fuzzed_messages(bytes);
}

/// The body of a posted form: what is parsed is written and parsed as the same again.
pub fn posted_form(bytes: &[u8]) {
    let fields = pages::Fields::parse(bytes);
    let written: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields.iter()).finish();
    assert_eq!(fields, pages::Fields::parse(written.as_bytes()));
}

/// A URI template, a zero byte, and a value for its variables.
pub fn uri_template(bytes: &[u8]) {
    let Some((template, value)) = two(bytes) else { return };
    let Some(template) = UriTemplate::parse(template) else { return };
    let values = |_: &str| vec![value.to_owned()];
    let _ = (template.variables(), template.required(), template.expand(values));
}

/// The text before the first zero byte, and the text after it.
fn two(bytes: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(bytes).ok()?.split_once('\0')
}

#[cfg(test)]
mod tests {
    use std::{
        collections::hash_map::RandomState,
        env, fs,
        hash::{BuildHasher as _, Hasher as _},
        panic::{AssertUnwindSafe, catch_unwind},
        path::Path,
        sync::Mutex,
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    /// The longest input, in bytes, as in `fuzz/run`.
    const LONGEST: usize = 8192;

    /// A number from `state` (xorshift), which is never 0.
    fn next(state: &mut u64) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        usize::try_from(*state >> 33).unwrap_or_default()
    }

    /// `seeds` mixed: a piece of one in another, and some bytes changed.
    fn mixed(seeds: &[Vec<u8>], state: &mut u64) -> Vec<u8> {
        let mut input = seeds[next(state) % seeds.len()].clone();
        let other = &seeds[next(state) % seeds.len()];
        let (begin, length) = (next(state) % (other.len() + 1), next(state) % 64);
        let piece: Vec<u8> = other.iter().skip(begin).take(length).copied().collect();
        let at = next(state) % (input.len() + 1);
        let end = (at + next(state) % 16).min(input.len());
        input.splice(at..end, piece);
        for _ in 0..next(state) % 4 {
            let at = next(state) % (input.len() + 1);
            let byte = u8::try_from(next(state) % 256).unwrap_or_default();
            if at == input.len() { input.push(byte) } else { input[at] = byte }
        }
        input.truncate(LONGEST);
        input
    }

    /// `FUZZ_SECONDS` says how long each target runs.
    #[test]
    fn seeds_and_mixtures_of_them_break_nothing() {
        let seconds = env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
        let left = Mutex::new(TARGETS.to_vec());
        let run = || {
            while let Some((name, target)) = { left.lock().expect("targets").pop() } {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
                let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
                let read = |file: std::io::Result<fs::DirEntry>| fs::read(file.expect("a file").path());
                let seeds: Vec<Vec<u8>> = files.map(|file| read(file).expect("a seed")).collect();
                let check = |input: &[u8]| {
                    assert!(
                        catch_unwind(AssertUnwindSafe(|| target(input))).is_ok(),
                        "{name}: {:?}",
                        input.escape_ascii().to_string()
                    );
                };
                seeds.iter().for_each(|seed| check(seed));
                let (mut state, begin) = (RandomState::new().build_hasher().finish() | 1, Instant::now());
                while begin.elapsed() < Duration::from_secs(seconds) {
                    check(&mixed(&seeds, &mut state));
                }
            }
        };
        thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(run))));
    }
}
