use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::text::safe_line;
use crate::{
    elicitation::{Cause, Origin, Question, Why, elicitation_to_request},
    error::Unanswered,
    form::Form,
    protocol::Era,
    resolver::answers::{Action, AnswersEntry, AnswersFile, FillError, FillSource, Otherwise, Overlay, fill, suggest},
};

/// Shown instead of a secret.
const MASK: &str = "••••";

/// An answers file, and the question to check it with.
pub(crate) struct Case {
    /// The file; without a server, the entries' conditions on the origin count as met.
    pub(crate) file: AnswersFile,
    /// The server and the tool.
    origin: Option<(String, String)>,
    question: Option<Arc<Question>>,
}

/// Something that the file would do.
pub(crate) struct ReportLine {
    /// For people.
    pub(crate) text: String,
    /// For programs.
    pub(crate) value: Value,
}

/// The outcome of the check.
pub(crate) enum CheckVerdict {
    /// The file is right and, if a question was given, would answer it.
    Fine,
    /// It would not.
    Unanswered(Unanswered),
}

impl Case {
    pub(crate) fn new(mut file: AnswersFile, server: Option<&str>, tool: Option<&str>, params: Option<Value>) -> Self {
        let origin = server.zip(tool).map(|(server, tool)| (server.to_owned(), tool.to_owned()));
        if origin.is_none() {
            for entry in &mut file.entries {
                entry.when = std::mem::take(&mut entry.when).of_any_origin();
            }
        }
        let (server, tool) = origin.clone().unwrap_or(("SERVER".to_owned(), "TOOL".to_owned()));
        let question = params.map(|params| {
            let cause = Cause::Input(String::new());
            let origin =
                Origin { server: server.into(), call: Some(tool.into()), is_tool: true, era: Era::Modern, cause };
            Arc::new(Question::new(elicitation_to_request(&params), origin))
        });
        Self { file, origin, question }
    }

    /// What the file would do, and whether that answers the question.
    pub(crate) fn judge(&self) -> (Vec<ReportLine>, CheckVerdict) {
        match &self.question {
            Some(question) => self.judge_question(question),
            None => self.judge_origin(),
        }
    }

    fn judge_origin(&self) -> (Vec<ReportLine>, CheckVerdict) {
        let Some((server, tool)) = &self.origin else { return (Vec::new(), CheckVerdict::Fine) };
        let meant = self.file.entries.iter().filter(|entry| entry.when.fits_origin(server, tool));
        let lines: Vec<ReportLine> = meant
            .map(|entry| ReportLine {
                text: format!("{}: {}", name(entry), action_words(entry)),
                value: json!({"entry": entry.number, "action": entry.action.as_str()}),
            })
            .collect();
        let has_end = matches!(self.file.otherwise, Some(Otherwise::Decline | Otherwise::Cancel));
        if lines.is_empty() && self.file.plain.is_none() && !has_end {
            let why = Why::new(format!("no entry matches {server}, {tool}"));
            return (lines, CheckVerdict::Unanswered(Unanswered { question: None, why }));
        }
        (lines, CheckVerdict::Fine)
    }

    fn judge_question(&self, question: &Arc<Question>) -> (Vec<ReportLine>, CheckVerdict) {
        let form = question.form().map(|form| &**form);
        let overlay = Overlay::default();
        let fits = |entry: &&AnswersEntry| entry.may_answer(form.is_none()) && entry.when.fits(question, form);
        let mut lines = Vec::new();
        let mut first: Option<Result<(), Why>> = None;
        for entry in self.file.entries.iter().filter(fits) {
            let filled = match (entry.action, form) {
                (Action::Accept, Some(form)) => Some(fill(form, FillSource::entry(entry, &overlay))),
                _ => None,
            };
            let (line, result) = outcome(&name(entry), entry.action, filled, form);
            lines.push(line);
            first.get_or_insert(result);
        }
        if let Some((line, result)) = form.filter(|_| first.is_none()).and_then(|form| self.by_plain(form)) {
            lines.push(line);
            first = Some(result);
        }
        let result = first.unwrap_or_else(|| self.otherwise(question, &mut lines));
        let unanswered = |why| CheckVerdict::Unanswered(Unanswered { question: Some(question.clone()), why });
        (lines, result.map_or_else(unanswered, |()| CheckVerdict::Fine))
    }

    /// What the plain object would do, if it can fill `form`.
    fn by_plain(&self, form: &Form) -> Option<(ReportLine, Result<(), Why>)> {
        let overlay = Overlay::default();
        let source = FillSource::plain(self.file.plain.as_ref()?, &overlay);
        let is_for_it = !form.fields.is_empty() && source.covers(form);
        is_for_it.then(|| outcome("the file", Action::Accept, Some(fill(form, source)), Some(form)))
    }

    fn otherwise(&self, question: &Question, lines: &mut Vec<ReportLine>) -> Result<(), Why> {
        match self.file.otherwise {
            Some(word @ (Otherwise::Decline | Otherwise::Cancel)) => {
                let value = json!({"entry": null, "action": word.as_str()});
                lines.push(ReportLine { text: format!("otherwise: {}", word.as_str()), value });
                Ok(())
            }
            Some(Otherwise::Prompt | Otherwise::Fail) | None => {
                let hint = format!("add this entry to the file:\n  {}", suggest(question));
                Err(Why::new("no entry answers it").with_hint(hint))
            }
        }
    }
}

/// What a matching entry would do.
fn outcome(
    name: &str,
    action: Action,
    filled: Option<Result<Map<String, Value>, FillError>>,
    form: Option<&Form>,
) -> (ReportLine, Result<(), Why>) {
    let mut value = json!({"entry": name, "action": action.as_str()});
    match filled {
        None => (ReportLine { text: format!("{name}: {}", action.as_str()), value }, Ok(())),
        Some(Ok(mut content)) => {
            for field in form.iter().flat_map(|form| &form.fields).filter(|field| field.secret) {
                content.entry(&field.key).and_modify(|value| *value = json!(MASK));
            }
            let text = format!("{name}: {} {}", action.as_str(), Value::Object(content.clone()));
            value["content"] = Value::Object(content);
            (ReportLine { text, value }, Ok(()))
        }
        Some(Err(error)) => {
            value["error"] = json!(error.to_string());
            let why = Why::new(format!("{name}: {error}"));
            (ReportLine { text: format!("{name}: does not fit: {error}"), value }, Err(why))
        }
    }
}

fn name(entry: &AnswersEntry) -> String {
    format!("entry {} (line {})", entry.number, entry.place.line)
}

/// A short description of the file.
pub(crate) fn summary(file: &AnswersFile) -> String {
    if let Some(plain) = &file.plain {
        return format!("values for {}", count(plain.len(), "field"));
    }
    let otherwise = file.otherwise.map(|word| format!(", otherwise {}", word.as_str())).unwrap_or_default();
    format!("{}{otherwise}", count(file.entries.len(), "entry"))
}

fn count(number: usize, word: &str) -> String {
    match (number, word.strip_suffix('y')) {
        (1, _) => format!("1 {word}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {word}s"),
    }
}

/// The values of an entry; masked where it may fill secrets.
fn values(entry: &AnswersEntry) -> Map<String, Value> {
    let shown = |value: &Value| if entry.secret { json!(MASK) } else { value.clone() };
    entry.content.iter().map(|(key, value)| (key.clone(), shown(value))).collect()
}

/// What an entry does, in words: `accept name "Ada", without plan; any number of times`.
fn action_words(entry: &AnswersEntry) -> String {
    let mut words = entry.action.as_str().to_owned();
    let values: Vec<String> = values(entry).iter().map(|(key, value)| format!("{key} {value}")).collect();
    if !values.is_empty() {
        words = format!("{words} {}", values.join(", "));
    }
    if !entry.omit.is_empty() {
        words = format!("{words}, without {}", entry.omit.join(", "));
    }
    for (is_so, what) in [(entry.open, "; opens the browser"), (entry.repeat, "; any number of times")] {
        if is_so {
            words.push_str(what);
        }
    }
    words
}

/// An entry as a row of a table.
pub(crate) fn entry_line(entry: &AnswersEntry) -> Vec<String> {
    let when = entry.when.to_value();
    let conditions: Vec<String> = when
        .iter()
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key} {text}"),
            other => format!("{key} {other}"),
        })
        .collect();
    let conditions = if conditions.is_empty() { "any form".to_owned() } else { conditions.join(", ") };
    let row = [name(entry), conditions, action_words(entry)];
    row.iter().map(|cell| safe_line(cell).into_owned()).collect()
}

/// An entry as JSON, as written in a file.
pub(crate) fn entry_value(entry: &AnswersEntry) -> Value {
    let mut object = Map::new();
    let when = entry.when.to_value();
    if !when.is_empty() {
        object.insert("when".to_owned(), Value::Object(when));
    }
    object.insert("action".to_owned(), json!(entry.action.as_str()));
    if !entry.content.is_empty() {
        object.insert("content".to_owned(), Value::Object(values(entry)));
    }
    if !entry.omit.is_empty() {
        object.insert("omit".to_owned(), json!(entry.omit));
    }
    for (key, is_so) in [("open", entry.open), ("repeat", entry.repeat), ("secret", entry.secret)] {
        if is_so {
            object.insert(key.to_owned(), json!(true));
        }
    }
    Value::Object(object)
}
