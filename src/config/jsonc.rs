use jsonc_parser::{CollectOptions, ParseOptions, ast, common::Ranged, parse_to_ast};
use serde_json::{Map, Number, Value};

/// JSON with comments and trailing commas, and no other extensions.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A JSON text with comments and trailing commas, as a tree in which every node knows its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    text: String,
    /// Line and column at regular intervals, so that a position is found without counting from the start.
    marks: Vec<FilePlace>,
    /// The outermost value; `None` if the text is empty except for comments.
    pub root: Option<Node>,
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The position in bytes; [`Document::place`] converts it to a line and a column.
    pub at: usize,
    /// The value.
    pub content: Content,
}

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with all its digits.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object, including duplicate keys.
    Object(Vec<Member>),
}

/// A key of an object with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The key.
    pub key: String,
    /// The position of the key, in bytes.
    pub at: usize,
    /// The value.
    pub value: Node,
}

/// A position in a file: both numbers count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Why a text is not JSONC.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SyntaxError {
    /// Where.
    pub place: FilePlace,
    /// What is wrong there.
    pub reason: String,
}

impl Document {
    /// Parses `text`: JSON, with comments and trailing commas allowed, and a byte order mark skipped.
    ///
    /// # Errors
    /// [`SyntaxError`], which says where and why.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| SyntaxError {
            place: place(text, error.range().start),
            reason: lowercase_first(&error.kind().to_string()),
        })?;
        let root = parsed.value.map(|value| Node::new(value, text)).transpose()?;
        Ok(Self::of(text, root))
    }

    /// A text that was parsed in another way, with its content.
    pub(super) fn of(text: &str, root: Option<Node>) -> Self {
        Self { marks: marks(text), text: text.to_owned(), root }
    }

    /// The line and column of a position.
    pub fn place(&self, at: usize) -> FilePlace {
        let at = boundary(&self.text, at);
        let mark = at / BETWEEN_MARKS;
        match self.marks.get(mark) {
            Some(from) => from.after(&self.text[boundary(&self.text, mark * BETWEEN_MARKS)..at]),
            None => place(&self.text, at),
        }
    }
}

impl SyntaxError {
    /// The error `reason` at a position of `text`, in bytes.
    pub(super) fn new(text: &str, at: usize, reason: &str) -> Self {
        Self { place: place(text, at), reason: lowercase_first(reason) }
    }
}

impl Node {
    fn new(value: ast::Value<'_>, text: &str) -> Result<Self, SyntaxError> {
        let at = value.start();
        let content = match value {
            ast::Value::NullKeyword(_) => Content::Null,
            ast::Value::BooleanLit(literal) => Content::Bool(literal.value),
            ast::Value::NumberLit(literal) => {
                let reason = || format!("{} is not a number", literal.value);
                Content::Number(
                    literal.value.parse().map_err(|_| SyntaxError { place: place(text, at), reason: reason() })?,
                )
            }
            ast::Value::StringLit(literal) => Content::Text(literal.value.into_owned()),
            ast::Value::Array(array) => {
                Content::List(array.elements.into_iter().map(|node| Self::new(node, text)).collect::<Result<_, _>>()?)
            }
            ast::Value::Object(object) => {
                let member = |property: ast::ObjectProp<'_>| {
                    let at = property.range.start;
                    Ok(Member { at, value: Self::new(property.value, text)?, key: property.name.into_string() })
                };
                Content::Object(object.properties.into_iter().map(member).collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { at, content })
    }

    /// The members, if this is an object.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.content {
            Content::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The member called `key`, if this is an object that has one. Of duplicate keys, the last one counts.
    pub fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().rev().find(|member| member.key == key)
    }

    /// The text, if this is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    pub fn elements(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(nodes) => Some(nodes),
            _ => None,
        }
    }

    /// Each member with a duplicate key, with the one before it. Empty if this is not an object.
    pub fn repeated(&self) -> Vec<(&Member, &Member)> {
        let members = self.members().unwrap_or_default();
        let mut seen = std::collections::HashMap::with_capacity(members.len());
        members.iter().filter_map(|member| Some((seen.insert(member.key.as_str(), member)?, member))).collect()
    }

    /// The plain JSON value. Of duplicate keys, the last one counts.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(flag) => Value::Bool(*flag),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(nodes) => Value::Array(nodes.iter().map(Self::to_value).collect()),
            Content::Object(members) => Value::Object(
                members.iter().map(|member| (member.key.clone(), member.value.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// A description for an error: `a number`, `an object`, or the short value itself.
    pub fn describe(&self) -> String {
        match &self.content {
            Content::Null => "null".to_owned(),
            Content::Bool(flag) => flag.to_string(),
            Content::Number(number) => number.to_string(),
            Content::Text(text) if text.chars().count() <= 40 => format!("{text:?}"),
            Content::Text(_) => "a string".to_owned(),
            Content::List(_) => "a list".to_owned(),
            Content::Object(_) => "an object".to_owned(),
        }
    }
}

fn place(text: &str, at: usize) -> FilePlace {
    // Positions come from the parser; one inside a character is moved to that character's end.
    START.after(&text[..boundary(text, at)])
}

/// The beginning of a text.
const START: FilePlace = FilePlace { line: 1, column: 1 };
/// How many bytes lie between two stored positions.
const BETWEEN_MARKS: usize = 1024;

impl FilePlace {
    /// The position after `text`, which begins here.
    fn after(self, text: &str) -> Self {
        match text.rfind('\n') {
            None => Self { line: self.line, column: self.column + text.chars().count() },
            Some(end) => Self {
                line: self.line + text.bytes().filter(|byte| *byte == b'\n').count(),
                column: text[end + 1..].chars().count() + 1,
            },
        }
    }
}

/// The stored positions.
fn marks(text: &str) -> Vec<FilePlace> {
    let mut marks = vec![START];
    let mut from = 0;
    while let Some(last) = marks.last().copied().filter(|_| marks.len() * BETWEEN_MARKS <= text.len()) {
        let to = boundary(text, marks.len() * BETWEEN_MARKS);
        marks.push(last.after(&text[from..to]));
        from = to;
    }
    marks
}

/// The end of a character at or after `at`.
fn boundary(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

fn lowercase_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Value {
        Document::parse(text).expect("parsed").root.expect("a value").to_value()
    }

    #[test]
    fn comments_trailing_commas_marks_and_line_ends() {
        assert_eq!(value("\u{feff}{\"a\": /* b */ [1, 2.5,],\r\n} // end"), json!({"a": [1, 2.5]}));
        assert_eq!(value(r#"["http://h//p", "\ud83d\ude00"]"#), json!(["http://h//p", "😀"]));
        assert_eq!(value("12345678901234567890.10").to_string(), "12345678901234567890.10");
        assert_eq!(Document::parse(" // nothing\n").expect("parsed").root, None);
    }

    #[test]
    fn errors_know_their_place() {
        for (text, line, column) in [
            ("{\"a\": 1\n \"b\": 2}", 1, 8),
            ("{'a': 1}", 1, 2),
            ("{\n  \"é\": +1}", 2, 8),
            ("{\"a\": 1} {}", 1, 10),
            ("{\"a\": 0x1}", 1, 7),
            ("{a: 1}", 1, 2),
        ] {
            let error = Document::parse(text).expect_err(text);
            assert_eq!((error.place.line, error.place.column), (line, column), "{text}: {error}");
        }
    }

    #[test]
    fn nodes_know_their_place_and_repeated_keys_are_seen() {
        let document = Document::parse("\u{feff}{\r\n  \"ä\": 1, \"b\": 2,\r\n  \"ä\": 3}").expect("parsed");
        let root = document.root.as_ref().expect("a value");
        let repeated = root.repeated();
        assert_eq!(repeated.len(), 1);
        let (first, second) = repeated[0];
        assert_eq!(document.place(first.at), FilePlace { line: 2, column: 3 });
        assert_eq!(document.place(second.at), FilePlace { line: 3, column: 3 });
        assert_eq!(document.place(root.member("b").expect("b").value.at), FilePlace { line: 2, column: 16 });
        assert_eq!(root.to_value(), json!({"ä": 3, "b": 2}));
    }

    #[test]
    fn depth_is_bounded() {
        assert!(Document::parse(&"[".repeat(100_000)).is_err());
        assert!(Document::parse(&format!("{}{}", "[".repeat(5000), "]".repeat(5000))).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = Document::parse(&text);
        }

        #[test]
        fn no_almost_json_panics(text in r#"[\[\]{}:,"'/*\\ untrfalse0-9.eE+é\u{feff}\n\r-]{0,60}"#) {
            let _ = Document::parse(&text);
        }

        #[test]
        fn plain_json_is_read_as_it_is(entries in prop::collection::btree_map(any::<String>(), any::<i64>(), 0..8)) {
            let expected = serde_json::to_value(&entries).unwrap();
            prop_assert_eq!(value(&expected.to_string()), expected);
        }
    }
}
