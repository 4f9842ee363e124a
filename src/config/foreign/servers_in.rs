use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    OtherClient, Reach,
    dialect::{Dialect, servers_of},
    translate::{Translation, translate},
};
use crate::config::{Document, Environment, Node};

/// A server in another client's file.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignServer {
    /// Its name.
    pub name: String,
    /// Its line in the file.
    pub line: usize,
    /// Who it is for.
    pub reach: Reach,
    /// Its entry in our own format.
    pub entry: Map<String, Value>,
    /// What was lost in translation.
    pub notes: Vec<String>,
    /// The folder for its relative paths and `${workspaceFolder}`.
    pub folder: PathBuf,
}

/// An entry among the servers of a file that cannot be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its name.
    pub name: String,
    /// Its line in the file.
    pub line: usize,
    /// Why not.
    pub reason: String,
}

/// The servers in a file, with its `inputs`.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) servers: Vec<ForeignServer>,
    pub(super) left: Vec<Left>,
    pub(super) inputs: Vec<Value>,
    /// Whether there was a place for servers at all.
    pub(super) has_servers: bool,
}

/// Reads the servers of the file at `path`.
pub(super) fn read_servers(
    document: &Document,
    path: &Path,
    client: Option<OtherClient>,
    reach: Reach,
    environment: &Environment,
) -> Contents {
    let mut contents = Contents::default();
    let Some(root) = &document.root else { return contents };
    let folder = project_of(path).to_owned();
    if let Some((servers, dialect)) = servers_of(root, client) {
        contents.has_servers = true;
        let excluded = excluded(root, dialect);
        contents.add(document, servers, dialect, (reach, &folder), &excluded);
    }
    if let Some(projects) = root.member("projects").and_then(|projects| projects.value.members()) {
        contents.has_servers = true;
        for project in projects.iter().filter(|project| environment.folder.starts_with(&project.key)) {
            if let Some((servers, dialect)) = servers_of(&project.value, Some(OtherClient::ClaudeCode)) {
                contents.add(document, servers, dialect, (Reach::Local, Path::new(&project.key)), &[]);
            }
        }
    }
    let inputs = root.member("inputs").or_else(|| root.member("mcp")?.value.member("inputs"));
    let inputs = inputs.and_then(|inputs| inputs.value.elements()).unwrap_or_default();
    contents.inputs = inputs.iter().map(Node::to_value).collect();
    contents
}

impl Contents {
    fn add(
        &mut self,
        document: &Document,
        servers: &Node,
        dialect: Dialect,
        (reach, folder): (Reach, &Path),
        excluded: &[String],
    ) {
        let members = servers.members().unwrap_or_default();
        // Of duplicate keys, the last one counts.
        let last: HashMap<&str, usize> = members.iter().map(|member| (member.key.as_str(), member.at)).collect();
        for member in members.iter().filter(|member| last.get(member.key.as_str()) == Some(&member.at)) {
            let (name, line) = (member.key.clone(), document.place(member.at).line);
            match translate(&member.value, dialect) {
                Translation::None(reason) => self.left.push(Left { name, line, reason }),
                Translation::Entry(mut entry, notes) => {
                    if excluded.contains(&name) {
                        entry.insert("disabled".to_owned(), Value::Bool(true));
                    }
                    let folder = folder.to_owned();
                    self.servers.push(ForeignServer { name, line, reach, entry, notes, folder });
                }
            }
        }
    }
}

/// The servers that Gemini CLI has excluded.
fn excluded(root: &Node, dialect: Dialect) -> Vec<String> {
    let list = |key: &str| {
        let list = root.member("mcp").filter(|_| dialect == Dialect::Gemini)?.value.member(key)?;
        Some(list.value.elements()?.iter().filter_map(Node::text).map(str::to_owned).collect::<Vec<_>>())
    };
    let mut excluded = list("excluded").unwrap_or_default();
    if let (Some(allowed), Some(servers)) = (list("allowed"), root.member("mcpServers")) {
        let names = servers.value.members().unwrap_or_default().iter().map(|member| member.key.clone());
        excluded.extend(names.filter(|name| !allowed.contains(name)));
    }
    excluded
}

/// The folder of the project that a file belongs to: the one above an editor's own folder.
fn project_of(path: &Path) -> &Path {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Kiro's file is one folder deeper.
    if let Some(kiro) = folder.parent().filter(|parent| name == "settings" && parent.ends_with(".kiro")) {
        return kiro.parent().unwrap_or(kiro);
    }
    let editors = [".vscode", ".cursor", ".zed", ".codex", ".gemini", ".opencode", ".github", ".qwen"];
    let is_editors = editors.contains(&name);
    folder.parent().filter(|_| is_editors).unwrap_or(folder)
}
