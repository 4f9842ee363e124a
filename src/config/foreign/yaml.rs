use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, StrInput};

use crate::config::{Content, Document, Member, Node, SyntaxError};

/// How deeply values may be nested.
const DEEPEST: usize = 100;
/// How many values a file may have, including those that aliases repeat.
const MOST_NODES: usize = 200_000;

/// Parses the first document of a YAML text into the same tree as JSON.
///
/// # Errors
/// If it is not YAML, or is too deep or too large.
pub(super) fn parse_yaml(text: &str) -> Result<Document, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut reader =
        YamlReader { text, starts, events: Parser::new_from_str(text), anchors: HashMap::new(), left: MOST_NODES };
    let root = reader.document()?;
    Ok(Document::of(text, root))
}

struct YamlReader<'a> {
    text: &'a str,
    /// Where each line begins, in bytes.
    starts: Vec<usize>,
    events: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    /// How many more values there may be.
    left: usize,
}

impl<'a> YamlReader<'a> {
    fn document(&mut self) -> Result<Option<Node>, SyntaxError> {
        loop {
            match self.next()? {
                None | Some((Event::StreamEnd, _)) => return Ok(None),
                Some((Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd, _)) => {}
                Some((event, mark)) => return self.value(event, mark, 0).map(Some),
            }
        }
    }

    fn next(&mut self) -> Result<Option<(Event<'a>, Marker)>, SyntaxError> {
        match self.events.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, span.start))),
            Some(Err(error)) => Err(self.broken(&error)),
        }
    }

    fn broken(&self, error: &ScanError) -> SyntaxError {
        self.wrong(*error.marker(), error.info())
    }

    fn wrong(&self, mark: Marker, reason: &str) -> SyntaxError {
        SyntaxError::new(self.text, self.at(mark), reason)
    }

    /// A position in bytes.
    fn at(&self, mark: Marker) -> usize {
        let start = self.starts.get(mark.line().saturating_sub(1)).copied().unwrap_or(self.text.len());
        let line = &self.text[start..];
        start + line.char_indices().nth(mark.col()).map_or(line.len(), |(at, _)| at)
    }

    fn value(&mut self, event: Event<'a>, mark: Marker, depth: usize) -> Result<Node, SyntaxError> {
        if depth > DEEPEST {
            return Err(self.wrong(mark, &format!("it is more than {DEEPEST} values deep")));
        }
        self.take(1, mark)?;
        let at = self.at(mark);
        let (anchor, content) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.is_some_and(|tag| tag.suffix == "str") || style != ScalarStyle::Plain;
                (anchor, if is_text { Content::Text(text.into_owned()) } else { plain(&text) })
            }
            Event::SequenceStart(anchor, _) => {
                let mut nodes = Vec::new();
                while let Some((event, mark)) = self.next()?.filter(|(event, _)| *event != Event::SequenceEnd) {
                    nodes.push(self.value(event, mark, depth + 1)?);
                }
                (anchor, Content::List(nodes))
            }
            Event::MappingStart(anchor, _) => (anchor, Content::Object(self.members(depth)?)),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.wrong(mark, "the alias has no value yet"));
                };
                self.take(count(&node), mark)?;
                return Ok(Node { at, ..node });
            }
            _ => return Err(self.wrong(mark, "a value is missing")),
        };
        let node = Node { at, content };
        if anchor > 0 {
            self.take(count(&node), mark)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, SyntaxError> {
        let mut members = Vec::new();
        while let Some((event, mark)) = self.next()?.filter(|(event, _)| *event != Event::MappingEnd) {
            let key = match self.value(event, mark, depth + 1)?.content {
                Content::Text(text) => text,
                Content::Number(number) => number.to_string(),
                Content::Bool(flag) => flag.to_string(),
                Content::Null => "null".to_owned(),
                Content::List(_) | Content::Object(_) => return Err(self.wrong(mark, "a key is not a string")),
            };
            let Some((event, inner)) = self.next()? else { break };
            members.push(Member { key, at: self.at(mark), value: self.value(event, inner, depth + 1)? });
        }
        Ok(members)
    }

    fn take(&mut self, nodes: usize, mark: Marker) -> Result<(), SyntaxError> {
        let too_many = || self.wrong(mark, &format!("it has more than {MOST_NODES} values"));
        self.left = self.left.checked_sub(nodes).ok_or_else(too_many)?;
        Ok(())
    }
}

fn count(node: &Node) -> usize {
    match &node.content {
        Content::List(nodes) => 1 + nodes.iter().map(count).sum::<usize>(),
        Content::Object(members) => 1 + members.iter().map(|member| count(&member.value)).sum::<usize>(),
        _ => 1,
    }
}

/// The value of an unquoted scalar (YAML 1.2.2, 10.3.2, the core schema, without octal and hexadecimal numbers).
fn plain(text: &str) -> Content {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "true" | "True" | "TRUE" => Content::Bool(true),
        "false" | "False" | "FALSE" => Content::Bool(false),
        // Numbers are those that JSON accepts; `007` and `1.2.3` are text.
        text => text.parse().map_or_else(|_| Content::Text(text.to_owned()), Content::Number),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn value(text: &str) -> Value {
        parse_yaml(text).expect("YAML").root.map_or(Value::Null, |root| root.to_value())
    }

    #[test]
    fn the_usual_is_read() {
        let text =
            "\u{feff}# c\r\na:\r\n  b: [x, 1, 1.5, true, ~, '1', 007, 1.2.3]\r\n  c: |\r\n    two\r\n    lines\r\n";
        let list = json!(["x", 1, 1.5, true, null, "1", "007", "1.2.3"]);
        assert_eq!(value(text), json!({"a": {"b": list, "c": "two\nlines\n"}}));
        assert_eq!(value("a: &x {k: v}\nb: *x\n"), json!({"a": {"k": "v"}, "b": {"k": "v"}}));
        assert_eq!(value("a: 1\n---\nb: 2\n"), json!({"a": 1}));
        assert_eq!((value(""), value("1: !!str 2")), (Value::Null, json!({"1": "2"})));
    }

    #[test]
    fn places_are_known() {
        let document = parse_yaml("é: 1\nb:\n  ü: x\n").expect("YAML");
        let inner = document.root.as_ref().and_then(|root| root.member("b")?.value.member("ü")).expect("there");
        assert_eq!((document.place(inner.at).line, document.place(inner.value.at).column), (3, 6));
        let error = parse_yaml("a: 1\nb: [1\n").expect_err("it does not end");
        assert!(error.place.line >= 2, "{error:?}");
        assert!(parse_yaml("a: 1\n\tb: 2\n").is_err() && parse_yaml("a: *x\n").is_err());
    }

    #[test]
    fn size_and_depth_are_bounded() {
        assert!(parse_yaml(&"[".repeat(5000)).is_err());
        assert!(parse_yaml(&format!("{}{}", "[".repeat(150), "]".repeat(150))).is_err());
        let mut laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..10 {
            let before = format!("*a{}", level - 1);
            laughs.push_str(&format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(",")));
        }
        assert!(parse_yaml(&laughs).expect_err("too large").reason.contains("values"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = parse_yaml(&text);
        }

        #[test]
        fn no_almost_yaml_panics(text in r"[\[\]{}:,&*!|>'# a-c0-9é\n\t-]{0,60}") {
            let _ = parse_yaml(&text);
        }
    }
}
