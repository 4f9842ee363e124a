/// The variable syntax of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `${VAR}`, `${VAR:-default}`, `${env:VAR}` and `${input:…}`, as here.
    Ours,
    /// Only `${env:VAR}` and editors' own names; `${VAR}` is plain text.
    Editor,
    /// `$VAR` in addition to ours.
    Dollar,
    /// `{env:VAR}`.
    Braces,
    /// No variables at all.
    Plain,
}

/// Names that editors expand.
const EDITORS: [&str; 5] = ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"];

impl Style {
    /// `text` with its variables in our syntax.
    pub(super) fn ours(self, text: &str) -> String {
        match self {
            Self::Ours => text.to_owned(),
            Self::Editor => each_brace(text, |inside| {
                inside.starts_with("env:") || inside.starts_with("input:") || EDITORS.contains(&inside)
            }),
            Self::Plain => each_brace(text, |_| false),
            Self::Dollar => dollars(text),
            Self::Braces => braces(text),
        }
    }
}

/// `text` with every `${…}` escaped that is not a variable.
fn each_brace(text: &str, is_variable: impl Fn(&str) -> bool) -> String {
    let mut ours = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let inside = &rest[start + 2..];
        let name = inside.split('}').next().unwrap_or_default();
        ours.push_str(&rest[..start]);
        ours.push_str(if is_variable(name) { "${" } else { "$${" });
        rest = inside;
    }
    ours + rest
}

/// `text` with `$VAR` as `${VAR}`.
fn dollars(text: &str) -> String {
    let mut ours = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        ours.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let length = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
        if after.starts_with(is_first) {
            ours.push_str(&format!("${{{}}}", &after[..length]));
            rest = &after[length..];
        } else {
            ours.push('$');
            rest = after;
        }
    }
    ours + rest
}

/// `text` with `{env:VAR}` as `${VAR}`, and with every `${` escaped.
fn braces(text: &str) -> String {
    let text = each_brace(text, |_| false);
    let mut ours = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("{env:") {
        ours.push_str(before);
        if let Some((name, rest_after)) = after.split_once('}') {
            // There, an unset variable is empty, not an error.
            ours.push_str(&format!("${{{name}:-}}"));
            rest = rest_after;
        } else {
            ours.push_str("{env:");
            rest = after;
        }
    }
    ours + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_means_the_same_here() {
        for (style, text, expected) in [
            (Style::Ours, "Bearer ${TOK:-x} $Y {env:Z}", "Bearer ${TOK:-x} $Y {env:Z}"),
            (Style::Editor, "${env:A} ${B} ${userHome}${/} ${input:c}", "${env:A} $${B} ${userHome}${/} ${input:c}"),
            (Style::Dollar, "$A/${B} $1 $$C a$", "${A}/${B} $1 $${C} a$"),
            (Style::Braces, "Bearer {env:A} ${B} {file:x} {env:", "Bearer ${A:-} $${B} {file:x} {env:"),
            (Style::Plain, "${A} $B {env:C} $${D}", "$${A} $B {env:C} $$${D}"),
            (Style::Dollar, "é$É", "é$É"),
        ] {
            assert_eq!(style.ours(text), expected, "{style:?} {text}");
        }
    }
}
