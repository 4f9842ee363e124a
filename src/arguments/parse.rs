use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    ArgumentError, Source,
    admits::Admits,
    convert::{convert, guessed, json, text},
    place::{ArgumentPlace, NamePatterns, has_property, may_be_closed, place},
    plain::fits_plainly,
    put::{Repetition, inside, put},
    word::{Word, WordValue, Written, steps},
};
use crate::form::{Checker, FieldError, Form, TooCostly, cut, plain_schema, resolve, type_of, unsendable};

/// The most steps that a key like `a.b.c` may have.
const MOST_STEPS: usize = 100;

/// How many faults of one kind are listed.
const MOST_TOLD: usize = 20;

/// How many combinations of readings are tried for values in unions, until one fits.
const MOST_READINGS: usize = 64;

/// The arguments of a `tools/call`, on their way from the command line to the server.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// The object that is sent.
    pub values: Map<String, Value>,
    /// What looks like a mistake but is sent anyway. Not yet safe for a terminal.
    pub warnings: Vec<String>,
    schema: Option<Value>,
    patterns: NamePatterns,
}

/// Reads ARG words on top of the object `base` (`--args`: JSON, `@file`, or `-` for stdin), for a tool with this
/// `inputSchema`. If the schema is `None`, because it is not known, values become the JSON that they look like. `read`
/// reads files and stdin, and returns the reason if it cannot.
///
/// # Errors
/// If a word is not an argument, or its value does not fit the schema; see also [`Arguments::check`].
///
/// ```
/// use serde_json::json;
/// use toolnexus::arguments::parse;
/// let schema = json!({"type": "object", "properties": {"code": {"type": "string"}, "qty": {"type": "integer"}}});
/// let none = &mut |_: toolnexus::arguments::Source<'_>| Err("there is no file".to_owned());
/// let arguments = parse(&["code=00817", "qty=2"], None, Some(&schema), none).unwrap();
/// assert_eq!(serde_json::to_value(&arguments.values).unwrap(), json!({"code": "00817", "qty": 2}));
/// let refused = parse(&["qty=two"], None, Some(&schema), none).unwrap_err();
/// assert_eq!(refused.to_string(), "argument qty: two is not a whole number");
/// ```
pub fn parse<S: AsRef<str>>(
    words: &[S],
    base: Option<&str>,
    schema: Option<&Value>,
    read: &mut dyn FnMut(Source<'_>) -> Result<Vec<u8>, String>,
) -> Result<Arguments, ArgumentError> {
    let values = base.map(|base| read_base(base, read)).transpose()?.unwrap_or_default();
    let schema = schema.map(|schema| plain_schema(schema).into_owned());
    let mut arguments = Arguments { values, warnings: Vec::new(), schema, patterns: NamePatterns::default() };
    let mut given: HashSet<Vec<String>> = HashSet::new();
    let mut open = Vec::new();
    for word in words {
        let word = arguments.literal(Word::split(word.as_ref())?, word.as_ref());
        let path = arguments.path(word.key);
        if path.len() > MOST_STEPS {
            let reason = format!("it has {} steps, and the limit is {MOST_STEPS}", path.len());
            return Err(ArgumentError::Refused(FieldError::new(&cut(word.key, 40), reason)));
        }
        let input =
            match word.value {
                Written::Here(text) => WordValue::Text(text.to_owned()),
                Written::From(source) => WordValue::Bytes(read(source).map_err(|reason| {
                    ArgumentError::Unreadable { key: word.key.to_owned(), from: source.name().to_owned(), reason }
                })?),
            };
        let refuse = |reason: String| ArgumentError::Refused(FieldError::new(word.key, reason));
        let places = arguments.place(&path).map_err(refuse)?;
        let mut readings = arguments.readings(&word, &places, input).map_err(refuse)?;
        let again = !given.insert(path.clone());
        let takes_list = places.iter().any(|part| arguments.takes_list(part));
        let first = readings.remove(0);
        if !readings.is_empty() && !again {
            open.push(UnionValue { key: word.key.to_owned(), path: path.clone(), others: readings });
        }
        arguments.put(&path, first, again, takes_list).map_err(refuse)?;
    }
    arguments.settle(&open)?;
    Ok(arguments)
}

/// A value with several possible readings, because a union has several schemas for it.
struct UnionValue {
    key: String,
    path: Vec<String>,
    others: Vec<Value>,
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
        None => WordValue::Text(base.to_owned()),
        Some(source) => WordValue::Bytes(read(source).map_err(|reason| ArgumentError::Unreadable {
            key: "--args".to_owned(),
            from: source.name().to_owned(),
            reason,
        })?),
    };
    match json(input).map_err(ArgumentError::Whole)? {
        Value::Object(values) => Ok(values),
        other => Err(ArgumentError::Whole(format!("it is {}, not an object", type_of(&other)))),
    }
}

impl Arguments {
    /// A form of the required arguments that are missing, in the tool's order; empty if there are none. A person can
    /// fill it in, and the content goes to [`Arguments::fill`].
    pub fn missing(&self) -> Form {
        let Some(schema) = self.schema.as_ref().filter(|schema| self.may_be_missing(schema)) else {
            return Form::default();
        };
        Form::from_schema(schema).part(|field| field.required && !self.values.contains_key(&field.key))
    }

    /// Whether a required argument may be missing: a cheap check.
    fn may_be_missing(&self, schema: &Value) -> bool {
        let Value::Object(map) = schema else { return false };
        let resolved = resolve(schema, map);
        let named = resolved.schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let is_required = |part: &Value| part.get("required") == Some(&Value::Bool(true)) || part.get("$ref").is_some();
        let parts = resolved.schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let told = parts.filter(|(_, part)| is_required(part)).map(|(key, _)| key.as_str());
        named.filter_map(Value::as_str).chain(told).any(|key| !self.values.contains_key(key))
    }

    /// Adds what a person entered.
    pub fn fill(&mut self, content: Map<String, Value>) {
        self.values.extend(content);
    }

    /// Checks the whole object against the tool's schema. Returns a warning if that is not possible: an invalid schema,
    /// an unknown dialect, references to other documents.
    ///
    /// # Errors
    /// [`ArgumentError::Unfit`] with every rule that is broken, by argument.
    pub fn check(&self) -> Result<Option<String>, ArgumentError> {
        let Some(schema) = &self.schema else { return Ok(None) };
        let closed = self.closed(schema);
        if !closed.is_empty() {
            return Err(ArgumentError::Unfit(closed));
        }
        let whole = Value::Object(self.values.clone());
        if let Some(number) = unsendable(&whole) {
            let key = self.values.iter().find(|(_, value)| unsendable(value).is_some()).map_or("", |(key, _)| key);
            let error = FieldError::new(key, format!("{number} is not a number that can be sent"));
            return Err(ArgumentError::Unfit(vec![error]));
        }
        if fits_plainly(schema, &self.values) {
            return Ok(None);
        }
        let checker = match Checker::known(schema) {
            Ok(checker) => checker,
            Err(reason) => return Ok(Some(format!("the arguments are not checked: {reason}"))),
        };
        let unread = || {
            let unread = checker.unread();
            let all = unread.join("; ");
            let tells = "the tool's schema cannot be read at";
            (!unread.is_empty()).then(|| format!("{tells} {all}; anything that depends on it is not checked"))
        };
        let faults = match checker.faults(&whole) {
            Ok(faults) if faults.is_empty() => return Ok(unread()),
            Ok(faults) => faults,
            Err(TooCostly) => {
                return Ok(Some("the arguments are not checked, because this schema would take too long".to_owned()));
            }
        };
        Err(ArgumentError::Unfit(faults.into_iter().map(FieldError::from).collect()))
    }

    /// The arguments that the tool does not take, up to the number that is listed.
    fn closed(&self, schema: &Value) -> Vec<FieldError> {
        if !may_be_closed(schema) {
            return Vec::new();
        }
        let error = |key: &String| match place(schema, schema, std::slice::from_ref(key), &self.patterns) {
            ArgumentPlace::Closed { near } => Some(FieldError::new(key, not_known(near.as_deref()))),
            _ => None,
        };
        self.values.keys().filter_map(error).take(MOST_TOLD).collect()
    }

    /// `word` with the colon that its property's name ends in: `ends:=x` is text for `ends:` if there is no property
    /// `ends`.
    fn literal<'a>(&self, word: Word<'a>, text: &'a str) -> Word<'a> {
        let Some(schema) = self.schema.as_ref().filter(|_| word.json) else { return word };
        let with_colon = text.get(..=word.key.len()).filter(|name| name.ends_with(':'));
        match with_colon {
            Some(name) if has_property(schema, schema, name) && !has_property(schema, schema, word.key) => {
                Word { key: name, json: false, ..word }
            }
            _ => word,
        }
    }

    /// Where a key points: one step where a property has that literal name, else a step for each dot. `key[]` is one more
    /// entry of the list `key`.
    fn path(&self, key: &str) -> Vec<String> {
        let Some(schema) = &self.schema else { return steps(key) };
        if has_property(schema, schema, key) {
            return vec![key.to_owned()];
        }
        if let Some(list) = key.strip_suffix("[]").filter(|list| !list.is_empty()) {
            let path = self.path(list);
            let known = place(schema, schema, &path, &self.patterns);
            if matches!(known, ArgumentPlace::Known(parts) if parts.iter().any(|part| self.takes_list(part))) {
                return path;
            }
        }
        steps(key)
    }

    /// The schemas of the value at `path`; empty if nothing is known. A name that is similar to a property's name is
    /// noted.
    fn place(&mut self, path: &[String]) -> Result<Vec<Value>, String> {
        let Some(schema) = &self.schema else { return Ok(Vec::new()) };
        match place(schema, schema, path, &self.patterns) {
            ArgumentPlace::Known(parts) => Ok(parts),
            ArgumentPlace::Unknown { near: None } => Ok(Vec::new()),
            ArgumentPlace::Unknown { near: Some(near) } => {
                let name = path.join(".");
                self.warnings.push(format!("the tool has no argument {name}; did you mean {near}?"));
                Ok(Vec::new())
            }
            ArgumentPlace::Closed { near } => Err(not_known(near.as_deref())),
        }
    }

    /// The values that a word may stand for, according to the schemas of its place; never empty.
    fn readings(&self, word: &Word<'_>, places: &[Value], input: WordValue) -> Result<Vec<Value>, String> {
        match (&self.schema, places) {
            _ if word.json => json(input).map(|value| vec![value]),
            (None, _) => guessed(input).map(|value| vec![value]),
            (Some(_), []) => text(input).map(|text| vec![Value::String(text)]),
            (Some(schema), [part]) => convert(schema, word.key, part, input).map(|value| vec![value]),
            (Some(schema), parts) => {
                let (mut values, mut refused) = (Vec::new(), Vec::new());
                for part in parts {
                    match convert(schema, word.key, part, input.clone()) {
                        Ok(value) if !values.contains(&value) => values.push(value),
                        Ok(_) => {}
                        Err(reason) => refused.push(reason),
                    }
                }
                if values.is_empty() { Err(refused.join("; or ")) } else { Ok(values) }
            }
        }
    }

    /// Chooses among the readings of values in unions: those with which the whole object fits the schema. The first
    /// readings are already in place.
    fn settle(&mut self, open: &[UnionValue]) -> Result<(), ArgumentError> {
        let Some(schema) = self.schema.as_ref().filter(|_| !open.is_empty()) else { return Ok(()) };
        let Ok(checker) = Checker::known(schema) else { return Ok(()) };
        let fits = |values: &Map<String, Value>| match checker.faults(&Value::Object(values.clone())) {
            Ok(faults) => faults.is_empty(),
            // If a check is too expensive, the first readings stay.
            Err(_) => true,
        };
        // Missing values are asked for later, and may or may not fit then.
        if fits(&self.values) || !self.missing().is_empty() {
            return Ok(());
        }
        let counts: Vec<usize> = open.iter().map(|reading| reading.others.len() + 1).collect();
        let all = counts.iter().try_fold(1_usize, |all, count| all.checked_mul(*count)).unwrap_or(usize::MAX);
        for mut number in 1..all.min(MOST_READINGS) {
            let mut values = self.values.clone();
            for (reading, count) in open.iter().zip(&counts) {
                if let Some(other) = (number % count).checked_sub(1).and_then(|at| reading.others.get(at))
                    && let Some(place) = inside(&mut values, &reading.path)
                {
                    *place = other.clone();
                }
                number /= count;
            }
            if fits(&values) {
                self.values = values;
                return Ok(());
            }
        }
        let keys: Vec<String> = open.iter().map(|reading| format!("{}:=JSON", reading.key)).collect();
        let faults = checker.faults(&Value::Object(self.values.clone())).unwrap_or_default();
        let faults = faults.into_iter().map(FieldError::from).collect();
        Err(ArgumentError::Ambiguous { keys: keys.join(" "), faults })
    }

    fn takes_list(&self, part: &Value) -> bool {
        let (Some(schema), Value::Object(map)) = (&self.schema, part) else { return false };
        let resolved = resolve(schema, map);
        let admits = Admits::of(schema, &resolved.schema, resolved.nullable);
        admits.takes("array")
    }

    /// Puts `value` at `path`; `again` if an earlier word already did.
    fn put(&mut self, path: &[String], value: Value, again: bool, takes_list: bool) -> Result<(), String> {
        let Some((last, steps)) = path.split_last() else { return Ok(()) };
        let turn = match again {
            true if takes_list => Repetition::Grows,
            true => Repetition::Refused,
            false => Repetition::First,
        };
        // Whether what stands after each step is a list, which the schema says, or the step itself.
        let lists = (1..path.len()).map(|count| self.is_list(&path[..count], &path[count]));
        let lists = lists.collect::<Result<Vec<bool>, String>>()?;
        let mut values = Value::Object(std::mem::take(&mut self.values));
        let put = put(&mut values, steps.iter().zip(&lists), last, value, turn);
        if let Value::Object(values) = values {
            self.values = values;
        }
        put
    }

    /// Whether the value at `path` is a list, of which `next` is an entry.
    ///
    /// # Errors
    /// When it can be nothing but a list, and `next` is not a number.
    fn is_list(&self, path: &[String], next: &str) -> Result<bool, String> {
        let is_index = next.parse::<usize>().is_ok();
        let Some(schema) = &self.schema else { return Ok(is_index) };
        let ArgumentPlace::Known(parts) = place(schema, schema, path, &self.patterns) else { return Ok(false) };
        let (mut may_be_list, mut may_be_object) = (false, false);
        for part in &parts {
            let Value::Object(map) = part else {
                may_be_object = true;
                continue;
            };
            let resolved = resolve(schema, map);
            let admits = Admits::of(schema, &resolved.schema, false);
            may_be_list |= admits.takes("array") && !resolved.schema.contains_key("properties");
            may_be_object |= admits.takes("object");
        }
        if may_be_list && !may_be_object && !is_index {
            let list = path.join(".");
            let rest = format!("{list}.0.{next}=…");
            return Err(format!("{list} is a list: write {rest} for its first entry, or {list}:=[…]"));
        }
        Ok(is_index && may_be_list)
    }
}

fn not_known(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("not an argument of this tool; did you mean {near}?"),
        None => "not an argument of this tool".to_owned(),
    }
}
