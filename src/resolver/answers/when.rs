use std::fmt;

use serde_json::{Map, Value, json};

use super::UrlPattern;
use crate::{
    elicitation::{CallName, Cause, Question},
    form::Form,
};

/// Text in which `*` stands for any number of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<String>);

impl Glob {
    /// The pattern `text`.
    pub fn new(text: &str) -> Self {
        Self(text.split('*').map(str::to_owned).collect())
    }

    /// Whether the whole of `text` matches. The time is at most proportional to the product of both lengths.
    pub fn fits(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.0.as_slice() else {
            return self.0.first().is_some_and(|only| only == text);
        };
        let Some(text) = text.strip_prefix(first.as_str()).and_then(|text| text.strip_suffix(last.as_str())) else {
            return false;
        };
        // The leftmost match of each part leaves the most text for the next one.
        middle.iter().try_fold(text, |text, part| Some(&text[text.find(part.as_str())? + part.len()..])).is_some()
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("*"))
    }
}

/// Which questions an entry answers: all of its conditions must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// The server's name.
    pub server: Option<Glob>,
    /// What is in use: the tool, prompt or resource.
    pub call: Option<Glob>,
    /// The tool that is being called.
    pub tool: Option<Glob>,
    /// `Some(true)` for links, `Some(false)` for forms.
    pub is_link: Option<bool>,
    /// The server's message.
    pub message: Option<Glob>,
    /// The link.
    pub url: Option<UrlPattern>,
    /// Fields that must be in the form.
    pub fields: Vec<String>,
}

impl When {
    /// Whether it names links: otherwise it accepts no link.
    pub fn names_links(&self) -> bool {
        self.is_link == Some(true) || self.url.is_some()
    }

    /// The same without its conditions on the server and on what is in use there.
    #[must_use]
    pub fn of_any_origin(self) -> Self {
        Self { server: None, call: None, tool: None, ..self }
    }

    /// Whether it may match questions of the server `server` during the tool `tool`.
    pub fn fits_origin(&self, server: &str, tool: &str) -> bool {
        let fits = |glob: &Option<Glob>, text| glob.as_ref().is_none_or(|glob| glob.fits(text));
        fits(&self.server, server) && fits(&self.call, tool) && fits(&self.tool, tool)
    }

    /// The object as written in a file.
    pub fn to_value(&self) -> Map<String, Value> {
        let mut object = Map::new();
        let globs = [("server", &self.server), ("call", &self.call), ("tool", &self.tool), ("message", &self.message)];
        for (key, glob) in globs {
            object.extend(glob.as_ref().map(|glob| (key.to_owned(), json!(glob.to_string()))));
        }
        let mode = |is_link| json!(if is_link { "url" } else { "form" });
        object.extend(self.is_link.map(|is_link| ("mode".to_owned(), mode(is_link))));
        object.extend(self.url.as_ref().map(|url| ("url".to_owned(), json!(url.to_string()))));
        if !self.fields.is_empty() {
            object.insert("fields".to_owned(), json!(self.fields));
        }
        object
    }

    /// Whether `question` matches. `form` is its form, `None` for a link. The host's own sign-in never matches.
    pub fn fits(&self, question: &Question, form: Option<&Form>) -> bool {
        let origin = &question.origin;
        let named = |glob: &Option<Glob>, text: Option<&str>| {
            glob.as_ref().is_none_or(|glob| text.is_some_and(|text| glob.fits(text)))
        };
        let call = origin.call.as_ref().map(CallName::as_str);
        origin.cause != Cause::SignIn
            && self.is_link.is_none_or(|is_link| is_link == form.is_none())
            && named(&self.server, Some(origin.server.as_str()))
            && named(&self.call, call)
            && named(&self.tool, call.filter(|_| origin.is_tool))
            && named(&self.message, Some(&question.request.prompt))
            && self.url.as_ref().is_none_or(|pattern| {
                form.is_none() && question.request.url.as_ref().is_some_and(|url| pattern.fits(url))
            })
            && self.fields.iter().all(|key| form.is_some_and(|form| form.fields.iter().any(|field| field.key == *key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, text, fits) in [
            ("greet", "greet", true),
            ("greet", "greeting", false),
            ("greet*", "greet", true),
            ("*", "", true),
            ("*", "any\nthing", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("*é*", "née", true),
            ("**", "x", true),
            ("", "", true),
            ("", "x", false),
            ("what is 2 * 3?", "what is 2 * 3?", true),
            ("a?", "ab", false),
        ] {
            assert_eq!(Glob::new(pattern).fits(text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn globs_take_no_exponential_time() {
        assert!(!Glob::new(&"*a".repeat(2000)).fits(&"b".repeat(20_000)));
        assert!(!Glob::new(&format!("{}b", "a*".repeat(2000))).fits(&"a".repeat(20_000)));
    }
}
