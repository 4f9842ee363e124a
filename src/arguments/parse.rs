use serde_json::{Map, Value};

use super::{
    ArgumentError, Source,
    admits::Admits,
    convert::{convert, guessed, json, text},
    place::{Place, has_property, place},
    plain::fits_plainly,
    word::{Input, Word, Written, steps},
};
use crate::form::{Checker, FieldError, Form, TooCostly, resolve, type_of, unsendable};

/// The arguments of a `tools/call`, on their way from the command line to the server.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// The object that is sent.
    pub values: Map<String, Value>,
    /// What looks like a mistake and is sent all the same. Not made safe for a terminal.
    pub warnings: Vec<String>,
    schema: Option<Value>,
}

/// Reads ARG words, laid over the object `base` (`--args`: JSON, `@file`, or `-` for stdin), for a tool with this
/// `inputSchema`; `None` when the schema is not known, so that values are what JSON they look like. `read` reads files
/// and stdin, and gives the reason when it cannot.
///
/// # Errors
/// What is no argument, or cannot be the value that the schema wants; see also [`Arguments::check`].
///
/// ```
/// use serde_json::json;
/// use toolnexus::arguments::parse;
/// let schema = json!({"type": "object", "properties": {"code": {"type": "string"}, "qty": {"type": "integer"}}});
/// let none = &mut |_: toolnexus::arguments::Source<'_>| Err("there is no file".to_owned());
/// let arguments = parse(&["code=00817", "qty=2"], None, Some(&schema), none).unwrap();
/// assert_eq!(serde_json::to_value(&arguments.values).unwrap(), json!({"code": "00817", "qty": 2}));
/// let refused = parse(&["qty=two"], None, Some(&schema), none).unwrap_err();
/// assert_eq!(refused.to_string(), "take qty: two is no whole number");
/// ```
pub fn parse<S: AsRef<str>>(
    words: &[S],
    base: Option<&str>,
    schema: Option<&Value>,
    read: &mut dyn FnMut(Source<'_>) -> Result<Vec<u8>, String>,
) -> Result<Arguments, ArgumentError> {
    let values = base.map(|base| read_base(base, read)).transpose()?.unwrap_or_default();
    let mut arguments = Arguments { values, warnings: Vec::new(), schema: schema.cloned() };
    let mut given: Vec<Vec<String>> = Vec::new();
    for word in words {
        let word = Word::split(word.as_ref())?;
        let path = arguments.path(word.key);
        let input = match word.value {
            Written::Here(text) => Input::Text(text.to_owned()),
            Written::From(source) => Input::Bytes(read(source).map_err(|reason| ArgumentError::Unreadable {
                key: word.key.to_owned(),
                from: source.name().to_owned(),
                reason,
            })?),
        };
        let refuse = |reason: String| ArgumentError::Refused(FieldError::new(word.key, reason));
        let place = arguments.place(&path).map_err(refuse)?;
        let value = arguments.value(&word, place.as_ref(), input).map_err(refuse)?;
        let again = given.contains(&path);
        let takes_list = place.as_ref().is_some_and(|part| arguments.takes_list(part));
        arguments.put(&path, value, again, takes_list).map_err(refuse)?;
        given.push(path);
    }
    Ok(arguments)
}

fn read_base(
    base: &str,
    read: &mut dyn FnMut(Source<'_>) -> Result<Vec<u8>, String>,
) -> Result<Map<String, Value>, ArgumentError> {
    let source = match (base.trim(), base.strip_prefix('@')) {
        ("-", _) => Some(Source::Stdin),
        (_, name) => name.map(Source::named),
    };
    let input = match source {
        None => Input::Text(base.to_owned()),
        Some(source) => Input::Bytes(read(source).map_err(|reason| ArgumentError::Unreadable {
            key: "--args".to_owned(),
            from: source.name().to_owned(),
            reason,
        })?),
    };
    match json(input).map_err(ArgumentError::Whole)? {
        Value::Object(values) => Ok(values),
        other => Err(ArgumentError::Whole(format!("it is {}, but an object is wanted", type_of(&other)))),
    }
}

impl Arguments {
    /// A form of the required arguments that are missing, in the tool's order; empty when none is. A person may fill it,
    /// and the content goes to [`Arguments::fill`].
    pub fn missing(&self) -> Form {
        let form = self.schema.as_ref().map(Form::from_schema).unwrap_or_default();
        form.part(|field| field.required && !self.values.contains_key(&field.key))
    }

    /// Adds what a person entered.
    pub fn fill(&mut self, content: Map<String, Value>) {
        self.values.extend(content);
    }

    /// Holds the whole object against the tool's schema. Gives a warning when that cannot be done: an invalid schema, an
    /// unknown dialect, references to other documents.
    ///
    /// # Errors
    /// [`ArgumentError::Unfit`] with every rule that is broken, by argument.
    pub fn check(&self) -> Result<Option<String>, ArgumentError> {
        let Some(schema) = &self.schema else { return Ok(None) };
        let closed: Vec<FieldError> = self.values.keys().filter_map(|key| closed(schema, key)).collect();
        if !closed.is_empty() {
            return Err(ArgumentError::Unfit(closed));
        }
        let whole = Value::Object(self.values.clone());
        if let Some(number) = unsendable(&whole) {
            let key = self.values.iter().find(|(_, value)| unsendable(value).is_some()).map_or("", |(key, _)| key);
            let error = FieldError::new(key, format!("{number} is no number that can be sent"));
            return Err(ArgumentError::Unfit(vec![error]));
        }
        if fits_plainly(schema, &self.values) {
            return Ok(None);
        }
        let checker = match Checker::new(schema) {
            Ok(checker) => checker,
            Err(reason) => return Ok(Some(format!("the arguments are not checked: {reason}"))),
        };
        let faults = match checker.faults(&whole) {
            Ok(faults) if faults.is_empty() => return Ok(None),
            Ok(faults) => faults,
            Err(TooCostly) => {
                return Ok(Some("the arguments are not checked: by this schema that would take too long".to_owned()));
            }
        };
        Err(ArgumentError::Unfit(faults.into_iter().map(FieldError::from).collect()))
    }

    /// Where a key points: one step where a property has that literal name, else a step for each dot.
    fn path(&self, key: &str) -> Vec<String> {
        match &self.schema {
            Some(schema) if has_property(schema, schema, key) => vec![key.to_owned()],
            _ => steps(key),
        }
    }

    /// The schema of the value at `path`, `None` where nothing is known. A name that is much like a property's is noted.
    fn place(&mut self, path: &[String]) -> Result<Option<Value>, String> {
        let Some(schema) = &self.schema else { return Ok(None) };
        match place(schema, schema, path) {
            Place::Known(part) => Ok(Some(part)),
            Place::Unknown { near: None } => Ok(None),
            Place::Unknown { near: Some(near) } => {
                let name = path.join(".");
                self.warnings.push(format!("the tool has no argument {name}; did you mean {near}?"));
                Ok(None)
            }
            Place::Closed { near } => Err(not_known(near.as_deref())),
        }
    }

    fn value(&self, word: &Word<'_>, place: Option<&Value>, input: Input) -> Result<Value, String> {
        match (&self.schema, place) {
            _ if word.json => json(input),
            (Some(schema), Some(part)) => convert(schema, word.key, part, input),
            (Some(_), None) => text(input).map(Value::String),
            (None, _) => guessed(input),
        }
    }

    fn takes_list(&self, part: &Value) -> bool {
        let (Some(schema), Value::Object(map)) = (&self.schema, part) else { return false };
        let resolved = resolve(schema, map);
        let admits = Admits::of(schema, &resolved.schema, resolved.nullable);
        admits.takes("array")
    }

    /// Puts `value` at `path`; `again` when a word before it did so.
    fn put(&mut self, path: &[String], value: Value, again: bool, takes_list: bool) -> Result<(), String> {
        let Some((last, steps)) = path.split_last() else { return Ok(()) };
        let mut object = &mut self.values;
        for step in steps {
            let inner = object.entry(step.clone()).or_insert_with(|| Value::Object(Map::new()));
            let found = type_of(inner);
            object = inner.as_object_mut().ok_or_else(|| format!("{step} is {found}, not an object"))?;
        }
        match object.get_mut(last) {
            Some(before) if again && takes_list => {
                let first = std::mem::take(before);
                *before = Value::Array(listed(first).into_iter().chain(listed(value)).collect());
            }
            _ if again => return Err("given twice, and it takes one value".to_owned()),
            _ => drop(object.insert(last.clone(), value)),
        }
        Ok(())
    }
}

/// The error of the argument `key` where the tool takes no such argument.
fn closed(schema: &Value, key: &str) -> Option<FieldError> {
    match place(schema, schema, &[key.to_owned()]) {
        Place::Closed { near } => Some(FieldError::new(key, not_known(near.as_deref()))),
        _ => None,
    }
}

fn not_known(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("not an argument of this tool; did you mean {near}?"),
        None => "not an argument of this tool".to_owned(),
    }
}

fn listed(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        other => vec![other],
    }
}
