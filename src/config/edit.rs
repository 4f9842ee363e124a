use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

use super::{ConfigError, Document, Environment, Node, file::way_to_servers, find::read_text, jsonc::OPTIONS, parse};
use crate::files::PrivateFile;

/// A configuration file while it is edited: whatever is not changed stays as written, including comments and order.
pub struct EditedFile {
    path: PathBuf,
    /// The file's absolute path.
    absolute: PathBuf,
    /// Its original text; `None` if there is no file yet.
    before: Option<String>,
    root: CstRootNode,
    /// The keys that lead to the servers; `None` if there is no place for them yet.
    way: Option<Vec<&'static str>>,
}

crate::text::opaque! { EditedFile }

impl EditedFile {
    /// The file at `path`, which need not exist yet.
    ///
    /// # Errors
    /// If it cannot be read, or is not a configuration: then it is not edited.
    pub fn open(path: &Path, environment: &Environment) -> Result<Self, ConfigError> {
        let absolute = environment.absolute(path);
        let is_there = fs::symlink_metadata(&absolute).is_ok();
        // What cannot be replaced is not read either: a pipe may have nothing to read for ever.
        if fs::metadata(&absolute).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            let reason = "it is not a regular file".to_owned();
            return Err(ConfigError::Unreadable { path: path.to_owned(), reason });
        }
        let before = if is_there { Some(read_text(path, environment)?) } else { None };
        let text = before.as_deref().unwrap_or_default();
        let document = document(path, text)?;
        if document.root.is_some() {
            parse(text, Some(path), environment)?;
        }
        let way = document.root.as_ref().and_then(way_to_servers).map(|(way, _)| way);
        let root = CstRootNode::parse(text.strip_prefix(MARK).unwrap_or(text), &OPTIONS)
            .map_err(|error| ConfigError::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        if document.root.is_none() {
            root.object_value_or_set();
        }
        Ok(Self { path: path.to_owned(), absolute, before, root, way })
    }

    /// Its path, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The entry called `name`, as written.
    pub fn entry(&self, name: &str) -> Option<Value> {
        let written = property(&self.servers()?, name)?.value()?.to_string();
        Some(Document::parse(&written).ok()?.root?.to_value())
    }

    /// The names of its servers.
    pub fn names(&self) -> Vec<String> {
        let servers = self.servers().map(|servers| servers.properties()).unwrap_or_default();
        servers.iter().filter_map(CstObjectProp::decoded_name).collect()
    }

    /// The current content.
    fn document(&self) -> Option<Document> {
        Document::parse(&self.root.to_string()).ok()
    }

    /// Adds an entry after the others, or replaces the one with that name.
    pub fn put(&mut self, name: &str, entry: &Map<String, Value>) {
        let value = input(&Value::Object(entry.clone()));
        match self.servers().and_then(|servers| property(&servers, name)) {
            Some(there) => there.set_value(value),
            None => drop(self.servers_or_made().append(name, value)),
        }
    }

    /// Removes the entries called `name`; returns whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(servers) = self.servers() else { return false };
        let mut found = false;
        while let Some(there) = property(&servers, name) {
            there.remove();
            found = true;
        }
        found
    }

    /// Switches an entry on or off; returns whether that changed anything, or `None` if there is no such entry.
    pub fn switch(&mut self, name: &str, on: bool) -> Option<bool> {
        let entry = property(&self.servers()?, name)?.object_value()?;
        let (enabled, disabled) = (property(&entry, "enabled"), property(&entry, "disabled"));
        let says = |property: &Option<CstObjectProp>| {
            property.as_ref().and_then(|property| Some(property.value()?.as_boolean_lit()?.value()))
        };
        let is_on = says(&enabled) != Some(false) && says(&disabled) != Some(true);
        if is_on == on {
            return Some(false);
        }
        let is_said = enabled.is_some() || disabled.is_some();
        if let Some(enabled) = enabled {
            enabled.set_value(CstInputValue::Bool(on));
        }
        if let Some(disabled) = disabled {
            disabled.set_value(CstInputValue::Bool(!on));
        }
        if !is_said {
            entry.append("disabled", CstInputValue::Bool(true));
        }
        Some(true)
    }

    /// Adds `inputs`, unless there already is one with the same `id`.
    pub fn put_inputs(&mut self, inputs: &[Value]) {
        if inputs.is_empty() {
            return;
        }
        let list = self.root.object_value_or_set().array_value_or_set("inputs");
        let document = self.document();
        let there = document.as_ref().and_then(|document| document.root.as_ref()?.member("inputs"));
        let there: Vec<Value> =
            there.and_then(|there| there.value.elements()).unwrap_or_default().iter().map(Node::to_value).collect();
        for new in inputs.iter().filter(|new| there.iter().all(|there| there["id"] != new["id"])) {
            list.append(input(new));
        }
    }

    /// Writes the file atomically, keeping its mode; a new file is readable only by its owner.
    ///
    /// # Errors
    /// [`ConfigError::Unwritable`] if it is read-only, was changed in the meantime, or the system refuses.
    pub fn save(&self, environment: &Environment) -> Result<(), ConfigError> {
        let unwritable = |reason: String| ConfigError::Unwritable { path: self.path.clone(), reason };
        let mut text = self.root.to_string();
        if self.before.as_deref().is_some_and(|before| before.starts_with(MARK)) {
            text.insert(0, MARK);
        } else if !text.ends_with('\n') && self.before.as_deref().is_none_or(str::is_empty) {
            text.push('\n');
        }
        // Never write what could not be read again.
        parse(&text, Some(&self.path), environment)?;
        let now =
            fs::symlink_metadata(&self.absolute).is_ok().then(|| read_text(&self.path, environment)).transpose()?;
        if now != self.before {
            return Err(unwritable("another program changed it in the meantime; try again".to_owned()));
        }
        let write = || -> io::Result<()> {
            if let Some(folder) = self.absolute.parent().filter(|_| self.before.is_none()) {
                fs::create_dir_all(folder)?;
            }
            let mut file = PrivateFile::like_before(&self.absolute)?;
            file.write_all(text.as_bytes())?;
            file.save()
        };
        write().map_err(|error| unwritable(error.to_string()))
    }

    /// The object with the servers, if there is one.
    fn servers(&self) -> Option<CstObject> {
        let mut object = self.root.object_value()?;
        for key in self.way.as_ref()? {
            object = property(&object, key)?.object_value()?;
        }
        Some(object)
    }

    fn servers_or_made(&mut self) -> CstObject {
        if let Some(servers) = self.servers() {
            return servers;
        }
        let is_editors = self.absolute.ends_with(".vscode/mcp.json");
        let key = if is_editors { "servers" } else { "mcpServers" };
        self.way = Some(vec![key]);
        self.root.object_value_or_set().object_value_or_set(key)
    }
}

/// A byte order mark.
const MARK: char = '\u{feff}';

fn document(path: &Path, text: &str) -> Result<Document, ConfigError> {
    let wrong = |place, reason| ConfigError::Wrong { path: Some(path.to_owned()), place, reason };
    let document = Document::parse(text).map_err(|error| wrong(Some(error.place), error.reason))?;
    match &document.root {
        Some(Node { content: super::Content::Object(_), .. }) | None => Ok(document),
        Some(root) => Err(wrong(Some(document.place(root.at)), format!("expected an object, not {}", root.describe()))),
    }
}

/// The property `name`; if it is repeated, the last one, which counts.
fn property(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().rev().find(|property| property.decoded_name().as_deref() == Some(name))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use serde_json::json;

    use super::*;

    fn edited(before: &str, edit: impl FnOnce(&mut EditedFile)) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mcp.json");
        fs::write(&path, before).expect("written");
        let environment = Environment::default();
        let mut file = EditedFile::open(&path, &environment).expect("a configuration");
        edit(&mut file);
        file.save(&environment).expect("saved");
        fs::read_to_string(&path).expect("read")
    }

    fn entry(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    const FILE: &str = "\u{feff}// mine\r\n{\r\n    \"inputs\": [], // none\r\n    \"mcpServers\": {\r\n        // the first\r\n        \"a\": {\"command\": \"x\"}, // a's\r\n        /* the second */\r\n        \"b\": {\r\n            \"url\": \"http://h/\", // b's\r\n        },\r\n    },\r\n}\r\n// end\r\n";

    #[test]
    fn comments_order_marks_and_line_ends_stay() {
        let added = edited(FILE, |file| file.put("c", &entry(json!({"command": "y", "args": ["1", "2"]}))));
        let new = "        },\r\n        \"c\": {\r\n            \"command\": \"y\",\r\n            \"args\": [\"1\", \"2\"],\r\n        },\r\n    },\r\n}\r\n// end\r\n";
        assert_eq!(added, FILE.replace("        },\r\n    },\r\n}\r\n// end\r\n", new));
        let off = edited(FILE, |file| assert_eq!(file.switch("b", false), Some(true)));
        assert_eq!(
            off,
            FILE.replace("\"http://h/\", // b's\r\n", "\"http://h/\", // b's\r\n            \"disabled\": true,\r\n")
        );
        let on = edited(&off, |file| assert_eq!(file.switch("b", true), Some(true)));
        assert_eq!(on, off.replace("\"disabled\": true", "\"disabled\": false"));
        let same =
            edited(FILE, |file| assert_eq!((file.switch("a", true), file.switch("z", true)), (Some(false), None)));
        assert_eq!(same, FILE);
        let removed = edited(FILE, |file| assert!(file.remove("a") && !file.remove("z")));
        for kept in ["// mine", "// none", "/* the second */", "// b's", "// end"] {
            assert!(removed.contains(kept), "{kept}: {removed}");
        }
        assert!(!removed.contains("\"a\""), "{removed}");
    }

    #[test]
    fn every_shape_is_edited_where_its_servers_stand() {
        let added = |before: &str| edited(before, |file| file.put("n", &entry(json!({"command": "x"}))));
        let value = |text: &str| Document::parse(text).expect("JSON").root.expect("a value").to_value();
        for (before, way) in [
            (r#"{"mcpServers": {}}"#, "/mcpServers"),
            (r#"{"servers": {"a": {"command": "x"}}}"#, "/servers"),
            (r#"{"mcp": {"servers": {}}}"#, "/mcp/servers"),
            (r#"{"mcp": {"a": {"command": ["x"]}}}"#, "/mcp"),
            (r#"{"context_servers": {}, "theme": 1}"#, "/context_servers"),
            (r#"{"a": {"command": "x"}}"#, ""),
            ("{}", "/mcpServers"),
            (r#"{"$schema": "s"}"#, "/mcpServers"),
            ("", "/mcpServers"),
            ("// nothing\n", "/mcpServers"),
            (r#"{"mcpServers": {}, "mcpServers": {"z": {"command": "x"}}}"#, "/mcpServers"),
        ] {
            let after = added(before);
            let found = value(&after).pointer(&format!("{way}/n")).cloned();
            assert_eq!(found, Some(json!({"command": "x"})), "{before} became {after}");
        }
    }

    #[test]
    fn repeated_names_are_one() {
        let twice = r#"{"mcpServers": {"a": {"command": "1"}, "a": {"command": "2"}}}"#;
        assert_eq!(edited(twice, |file| assert!(file.remove("a"))).replace([' ', '\n'], ""), r#"{"mcpServers":{}}"#);
        let off = edited(twice, |file| assert_eq!(file.switch("a", false), Some(true)));
        let expected = r#"{"mcpServers":{"a":{"command":"1"},"a":{"command":"2","disabled":true}}}"#;
        assert_eq!(off.replace([' ', '\n'], ""), expected);
    }

    #[test]
    fn what_cannot_be_written_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let environment = Environment { folder: folder.path().to_owned(), ..Environment::default() };
        let path = folder.path().join("mcp.json");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        let put = |file: &mut EditedFile| file.put("n", &entry(json!({"command": "x"})));

        let mut new = EditedFile::open(&folder.path().join("new/mcp.json"), &environment).expect("nothing there");
        put(&mut new);
        new.save(&environment).expect("saved");
        assert_eq!(mode(&folder.path().join("new/mcp.json")), 0o600);

        fs::write(&path, "{}").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
        let link = folder.path().join("link.json");
        symlink(&path, &link).expect("a link");
        let mut file = EditedFile::open(&link, &environment).expect("a configuration");
        put(&mut file);
        file.save(&environment).expect("saved");
        assert!(
            link.is_symlink() && mode(&path) == 0o640 && fs::read_to_string(&path).expect("read").contains("\"n\"")
        );

        let mut late = EditedFile::open(&path, &environment).expect("a configuration");
        fs::write(&path, "{ }").expect("written");
        put(&mut late);
        assert!(late.save(&environment).expect_err("changed").to_string().contains("another program changed it"));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).expect("a mode");
        let mut file = EditedFile::open(&path, &environment).expect("a configuration");
        put(&mut file);
        assert!(file.save(&environment).expect_err("read-only").to_string().contains("read-only"));
        assert_eq!(fs::read_to_string(&path).expect("read"), "{ }");
        assert!(EditedFile::open(folder.path(), &environment).is_err());
        let broken = folder.path().join("broken.json");
        fs::write(&broken, "{\n  \"mcpServers\": {,}\n}").expect("written");
        let error = EditedFile::open(&broken, &environment).map(drop).expect_err("broken").to_string();
        assert!(error.contains("broken.json:2:"), "{error}");
        fs::write(&broken, "[1]").expect("written");
        assert!(EditedFile::open(&broken, &environment).is_err());
        fs::write(&broken, "[".repeat(100_000)).expect("written");
        assert!(EditedFile::open(&broken, &environment).is_err());
    }
}
