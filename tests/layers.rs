//! The shape of the source: imports point down the code map in `src/lib.rs`, no two folders import each other, and code
//! for one system is in files named after it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Files and folders for one system.
const OF_A_SYSTEM: [&str; 4] = ["unix", "unix.rs", "linux.rs", "elsewhere.rs"];
/// Outside the layers: files that gather names from all of them, and the program's entry point.
const BESIDE: [&str; 4] = ["lib", "main", "prelude", "fuzzing"];
/// The beginning of the tests in a file.
const TESTS: [&str; 3] = [
    "#[cfg(all(test, target_os = \"linux\"))]\nmod tests {",
    "#[cfg(test)]\nmod tests {",
    "#[cfg(test)]\npub(super) mod tests {",
];
/// Words that show that a line depends on Unix.
const UNIX: [&str; 6] = ["nix::", "libc", "std::os::", "os::unix", "os::fd", "signal::unix"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every source file without tests, by its path from `src`, without its tests and comments.
fn files() -> Vec<(String, String)> {
    let (mut files, mut folders) = (Vec::new(), vec![source()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let name = entry.file_name().and_then(|name| name.to_str()).expect("a name");
            if entry.is_dir() && name != "tests" {
                folders.push(entry);
            } else if entry.is_file()
                && entry.extension().is_some_and(|ending| ending == "rs")
                && !["tests.rs", "properties.rs"].contains(&name)
            {
                let path = entry.strip_prefix(source()).expect("in src").to_str().expect("a path").replace('\\', "/");
                let text = fs::read_to_string(&entry).expect("source");
                let text = TESTS.iter().filter_map(|begin| text.split(begin).next()).min_by_key(|text| text.len());
                let text = text.unwrap_or_default();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                files.push((path, code.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    assert!(files.len() > 100, "the source was found");
    files.sort();
    files
}

/// The folder of `src`, or the file next to the folders, that `path` is in.
fn layer(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or_default();
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The first names after `crate::` in `code`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => found.extend(first_names(list)),
            None => found.extend(name(rest)),
        }
    }
    found
}

/// The first names in a list in braces, up to its end.
fn first_names(list: &str) -> Vec<String> {
    let (mut names, mut depth, mut is_start) = (Vec::new(), 1, true);
    for (place, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => is_start = true,
            c if is_start && !c.is_whitespace() => {
                names.extend(name(&list[place..]));
                is_start = false;
            }
            _ => {}
        }
    }
    names
}

/// The name of a module at the beginning of `text`: names of items begin with a capital letter.
fn name(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

/// Who imports whom, and in which files.
fn arrows() -> BTreeMap<(String, String), Vec<String>> {
    let mut arrows: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (path, code) in files() {
        let from = layer(&path).to_owned();
        for to in imports(&code).into_iter().filter(|to| *to != from && !BESIDE.contains(&from.as_str())) {
            arrows.entry((from.clone(), to)).or_default().push(path.clone());
        }
    }
    assert!(arrows.len() > 50, "imports were found");
    arrows
}

/// The rows of the code map, the highest first: the modules in each.
fn code_map() -> Vec<Vec<String>> {
    let text = fs::read_to_string(source().join("lib.rs")).expect("lib.rs");
    let map = text.split("//! # Code map").nth(1).and_then(|text| text.split("//! # ").next()).unwrap_or_default();
    let rows = map.lines().filter_map(|line| line.strip_prefix("//! | "));
    let places = rows.filter_map(|row| row.split(" | ").nth(1)).skip(2);
    let names = |place: &str| {
        let parts = place.split('`').skip(1).step_by(2);
        parts.map(|part| part.strip_suffix(".rs").unwrap_or(part).to_owned()).collect::<Vec<_>>()
    };
    places.map(names).collect()
}

#[test]
fn imports_point_down_the_code_map() {
    let map = code_map();
    let row = |name: &str| map.iter().position(|row| row.iter().any(|other| other == name));
    let drawn: BTreeSet<&str> = map.iter().flatten().map(String::as_str).collect();
    let paths: Vec<String> = files().into_iter().map(|(path, _)| path).collect();
    let there: BTreeSet<&str> = paths.iter().map(|path| layer(path)).collect();
    let missing: Vec<_> = there.iter().filter(|name| !BESIDE.contains(name) && !drawn.contains(*name)).collect();
    assert!(missing.is_empty(), "the code map in src/lib.rs lacks {missing:?}");
    let gone: Vec<_> = drawn.iter().filter(|name| !there.contains(*name)).collect();
    assert!(gone.is_empty(), "the code map in src/lib.rs names {gone:?}, which is not in src");
    for ((from, to), files) in arrows() {
        assert!(row(&from) <= row(&to), "{from} imports {to}, which stands above it in the code map: {files:?}");
    }
}

#[test]
fn no_two_folders_import_each_other() {
    let arrows = arrows();
    let mut left: BTreeSet<&str> = arrows.keys().flat_map(|(from, to)| [from.as_str(), to.as_str()]).collect();
    // A module that imports nothing of the rest is not part of a circle.
    loop {
        let imports = |from: &str| arrows.keys().any(|(other, to)| other == from && left.contains(to.as_str()));
        let still: BTreeSet<&str> = left.iter().copied().filter(|from| imports(from)).collect();
        if still.len() == left.len() {
            break;
        }
        left = still;
    }
    let circle: Vec<_> =
        arrows.iter().filter(|((from, to), _)| [from, to].iter().all(|it| left.contains(it.as_str()))).collect();
    assert!(left.is_empty(), "there is a circle among {left:?}: {circle:#?}");
}

#[test]
fn code_for_one_system_is_in_files_named_after_it() {
    for (path, code) in files() {
        if path.split('/').any(|part| OF_A_SYSTEM.contains(&part)) {
            continue;
        }
        for line in code.lines() {
            let is_word = |at: usize| !line[..at].ends_with(char::is_alphanumeric);
            let word = UNIX.iter().find(|word| line.match_indices(*word).any(|(at, _)| is_word(at)));
            assert_eq!(word, None, "src/{path} knows Unix, and is not named after it: {line}");
        }
    }
}

#[test]
fn this_file_reads_imports_as_the_compiler_does() {
    let code =
        "use crate::{\n    alpha::{Thing, beta::other},\n    gamma,\n};\nfn f() { crate::delta::g(crate::Epsilon) }";
    assert_eq!(imports(code), ["alpha", "delta", "gamma"].map(str::to_owned).into());
}
