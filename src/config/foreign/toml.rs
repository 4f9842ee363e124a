use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::config::{Content, Document, Member, Node, SyntaxError};

/// Parses TOML into the same tree as JSON.
///
/// # Errors
/// If it is not TOML. The parser limits the depth.
pub(super) fn parse_toml(text: &str) -> Result<Document, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SyntaxError::new(text, at, error.message().lines().next().unwrap_or_default())
    })?;
    let at = table.span().start;
    Ok(Document::of(text, Some(Node { at, content: members(table.get_ref()) })))
}

/// A table's members in the order of the file.
fn members(table: &DeTable<'_>) -> Content {
    let member = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Member { key: name.to_string(), at: key.span().start, value: node(value) }
    };
    let mut members: Vec<Member> = table.iter().map(member).collect();
    members.sort_by_key(|member| member.at);
    Content::Object(members)
}

fn node(value: &Spanned<DeValue<'_>>) -> Node {
    let content = match value.get_ref() {
        DeValue::String(text) => Content::Text(text.to_string()),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            number.map_or_else(|error| Content::Text(error.to_string()), |number| Content::Number(number.into()))
        }
        DeValue::Float(number) => {
            let written = number.as_str().replace('_', "");
            written.parse().map_or(Content::Text(written), Content::Number)
        }
        DeValue::Boolean(flag) => Content::Bool(*flag),
        DeValue::Datetime(time) => Content::Text(time.to_string()),
        DeValue::Array(values) => Content::List(values.iter().map(node).collect()),
        DeValue::Table(table) => members(table),
    };
    Node { at: value.span().start, content }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_keep_their_order_and_places() {
        let text =
            "\u{feff}model = \"x\"\r\n[b.\"c d\"]\r\nn = 1_000\nf = 1.5\nat = 2026-12-01\n[a]\nlist = [true, 0x10]\n";
        let document = parse_toml(text).expect("TOML");
        let root = document.root.as_ref().expect("a table");
        assert_eq!(
            root.to_value(),
            json!({"model": "x", "b": {"c d": {"n": 1000, "f": 1.5, "at": "2026-12-01"}}, "a": {"list": [true, 16]}})
        );
        let keys: Vec<&str> = root.members().expect("members").iter().map(|member| member.key.as_str()).collect();
        assert_eq!(keys, ["model", "b", "a"]);
        let inner = root.member("b").and_then(|b| b.value.member("c d")).expect("c d");
        assert_eq!(document.place(inner.at).line, 2);
    }

    #[test]
    fn errors_know_their_place_and_depth_is_bounded() {
        let error = parse_toml("a = 1\nb = \n").expect_err("no value");
        assert_eq!(error.place.line, 2, "{error}");
        assert!(parse_toml("a = 1\na = 2\n").is_err());
        assert!(parse_toml(&format!("a = {}", "[".repeat(100_000))).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[\[\]{}=."'# a-c0-9\n\r-]{0,60}"#) {
            let _ = parse_toml(&text);
        }
    }
}
