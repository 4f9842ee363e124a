use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::{
    elicitation::{Cause, Question},
    form::names_secret,
    text::{cut, safe_line, safe_text},
};

/// The longest name, message and argument of others that are shown, in characters.
const NAME: usize = 200;
const TEXT: usize = 60_000;
const ARGUMENT: usize = 500;
/// How many arguments of a call are shown.
const ARGUMENTS: usize = 30;

/// Who asks, and what is shown above everything. All text in it is safe.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// The server.
    pub(crate) server: String,
    /// What it does: `asks`.
    pub(crate) verb: &'static str,
    /// What is in use: a label such as `Tool`, and a name.
    pub(crate) call: Option<(&'static str, String)>,
    /// The server's message.
    pub(crate) message: String,
    /// Whether it is a sign-in: a question of ours, which the server does not learn about.
    pub(crate) is_sign_in: bool,
}

/// What a run does while it asks: see [`during`].
#[derive(Clone, Debug, Default)]
pub(crate) struct During {
    /// The arguments of the call, in words.
    pub(super) arguments: Vec<(String, String)>,
    /// How many more there are.
    pub(super) more: usize,
}

/// The call with these `arguments`, without showing secrets.
pub(crate) fn during(arguments: &Map<String, Value>) -> During {
    let shown = |(key, value): (&String, &Value)| {
        let text = match value {
            _ if names_secret(key) => "••••••".to_owned(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        (line(key), safe_text(&cut(&text, ARGUMENT)).into_owned())
    };
    During {
        arguments: arguments.iter().take(ARGUMENTS).map(shown).collect(),
        more: arguments.len().saturating_sub(ARGUMENTS),
    }
}

impl About {
    pub(crate) fn of(question: &Question) -> Self {
        let origin = &question.origin;
        let verb = match (question.request.is_link(), &origin.cause) {
            (_, Cause::SignIn) => "asks you to sign in",
            (true, _) => "asks you to open a link",
            (false, _) => "asks",
        };
        let label = if origin.is_tool { "Tool" } else { "During" };
        Self {
            server: line(origin.server.as_str()),
            verb,
            call: origin.call.as_ref().map(|call| (label, line(call.as_str()))),
            message: text(&question.request.prompt),
            is_sign_in: origin.cause == Cause::SignIn,
        }
    }

    /// The title of a page about this.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.server, self.verb)
    }

    /// The server's own words, separated from ours.
    pub(super) fn words(&self) -> Markup {
        html! { @if !self.message.is_empty() { blockquote dir="auto" { (self.message) } } }
    }

    /// Who asks, during what, and for whom.
    pub(super) fn facts(&self, during: &During, program: Option<&str>) -> Markup {
        html! {
            dl .facts {
                div { dt { "Server" } dd dir="auto" { (self.server) } }
                @if let Some((label, name)) = &self.call { div { dt { (label) } dd dir="auto" { (name) } } }
                @if !during.arguments.is_empty() {
                    div {
                        dt { "With" }
                        dd {
                            @for (key, value) in &during.arguments { p dir="auto" { span .key { (key) } " " (value) } }
                            @if during.more > 0 { p { "and " (during.more) " more" } }
                        }
                    }
                }
                @if let Some(program) = program { div { dt { "Started by" } dd { (program) } } }
            }
        }
    }
}

/// A name or label of others on one line.
pub(super) fn line(name: &str) -> String {
    safe_line(&cut(name, NAME)).into_owned()
}

/// A text of others.
pub(super) fn text(text: &str) -> String {
    safe_text(&cut(text, TEXT)).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_shown_without_secrets() {
        let value = json!({"city": "Br\u{202e}no", "apiKey": "hush", "list": [1, 2]});
        let during = during(value.as_object().expect("an object"));
        let shown: Vec<(&str, &str)> =
            during.arguments.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(shown, [("city", "Br\\u{202e}no"), ("apiKey", "••••••"), ("list", "[1,2]")]);
    }
}
