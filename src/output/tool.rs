use std::fmt::Write as _;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::{
    example::example_words,
    pretty,
    shape::Shapes,
    signature::{first_sentence, marks, signature},
};
use crate::text::{cut, safe_address, safe_line, safe_name, safe_text, start_of};
use crate::{
    form::{Field, FieldKind, Form},
    protocol::Tool,
};

/// The longest cell of a page, in characters.
const LONGEST: usize = 1_000;
/// The longest description, in bytes.
const LONGEST_ABOUT: usize = 64 << 10;

/// One line for each tool: its signature, the first sentence of its description, and its marks.
pub fn tool_list(tools: &[Tool]) -> String {
    let rows = tools.iter().map(|tool| {
        let marks = marks(tool).into_iter().map(|mark| format!("[{mark}]"));
        let about = std::iter::once(first_sentence(tool)).chain(marks).collect::<Vec<_>>().join(" ");
        vec![signature(tool), about.trim().to_owned()]
    });
    table(&rows.collect::<Vec<_>>(), "")
}

/// What the page of a tool shows in addition to the tool itself.
#[derive(Clone, Copy, Debug)]
pub struct PageOptions<'a> {
    /// The words before the arguments of a call, and those after them: `toolnexus call forms greet`, ``.
    pub call: (&'a str, &'a str),
    /// Whether the schemas are shown as the server sent them.
    pub schema: bool,
}

/// Everything about one tool: its description, its arguments, its result, and a call to copy.
pub fn tool_page(tool: &Tool, options: PageOptions<'_>) -> String {
    let mut page = safe_name(&tool.name).into_owned();
    if let Some(title) = tool.title().filter(|title| *title != tool.name) {
        _ = write!(page, "  {}", safe_name(title));
    }
    page.extend(marks(tool).into_iter().map(|mark| format!("  [{mark}]")));
    page.push('\n');
    if let Some(about) = tool.description() {
        // Indented, so that none of its lines looks like one of ours.
        let shown = start_of(about.trim_end(), LONGEST_ABOUT);
        page.extend(safe_text(shown).lines().flat_map(|line| ["\n  ", line]));
        page.push_str(if shown.len() < about.trim_end().len() { "… (-o json has all of it)\n" } else { "\n" });
    }
    let nothing = serde_json::Value::Null;
    let schema = tool.raw.get("inputSchema").unwrap_or(&nothing);
    let form = Form::from_schema(schema);
    page.push_str(if form.is_empty() { "\nNo arguments.\n" } else { "\nArguments:\n" });
    let mut shapes = Shapes::of(schema);
    let rows: Vec<_> = form.fields.iter().map(|field| argument(field, &mut shapes)).collect();
    page.push_str(&table(&rows, "  "));
    if let Some(output) = tool.output_schema() {
        _ = write!(page, "\nResult:\n  {}\n", safe_line(&Shapes::of(output).shape(output)));
    }
    if options.schema {
        _ = write!(page, "\nSchema:\n{}\n", safe_text(&pretty(&schema.to_string())));
        if let Some(output) = tool.output_schema() {
            _ = write!(page, "\nResult schema:\n{}\n", safe_text(&pretty(&output.to_string())));
        }
    }
    let (before, after) = options.call;
    let words = example_words(schema).iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    let call = [before, words.as_str(), after].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    _ = write!(page, "\nExample:\n  {}\n", safe_address(&call.join(" ")));
    page
}

/// `key=value` for a shell, quoted no more than needed: `items:='[{"n":1}]'`.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:@%+,".contains(c));
    match word.split_once('=') {
        Some((key, "")) if is_plain(key) => format!("{key}="),
        Some((key, value)) if is_plain(key) && is_plain(value) => word.to_owned(),
        Some((key, value)) if is_plain(key) => format!("{key}={}", shell_words::quote(value)),
        _ => shell_words::quote(word).into_owned(),
    }
}

fn argument(field: &Field, shapes: &mut Shapes<'_>) -> Vec<String> {
    let about = field.description.as_deref().or(field.title.as_deref()).unwrap_or_default().trim();
    let rules = rules(field, shapes, Some("may be repeated"));
    // Much longer text is not scanned again for each field.
    let start = |text| cut(&safe_line(start_of(text, 4 * LONGEST + 4)), LONGEST).into_owned();
    [field.key.as_str(), &rules, about].map(start).into()
}

/// What a value has to be: objects and lists as they are drawn. `of_lists` is said of lists.
fn rules(field: &Field, shapes: &mut Shapes<'_>, of_lists: Option<&str>) -> String {
    if field.kind != FieldKind::Json {
        return field.summary();
    }
    let wants = if field.required { "required" } else { "optional" };
    let shape = shapes.shape(&field.schema);
    let of_lists = of_lists.filter(|_| shape.starts_with('['));
    let parts = [Some(wants.to_owned()), Some(shape), of_lists.map(str::to_owned), field.default_words()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The first `most` fields of a form with this schema, a row each: the key, and what its value has to be. The values
/// are not yet safe for a terminal.
pub(crate) fn field_rows(form: &Form, schema: &Value, most: usize) -> Vec<Vec<String>> {
    let mut shapes = Shapes::of(schema);
    let fields = form.fields.iter().take(most);
    let mut told = |field: &Field| match field.plain_items() {
        Some(_) => field.summary(),
        None => rules(field, &mut shapes, None),
    };
    fields.map(|field| vec![safe_name(&field.key).into_owned(), told(field)]).collect()
}

/// Rows with aligned columns, each line after `indent`.
pub fn table(rows: &[Vec<String>], indent: &str) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    // One very long cell must not push all the others out of sight.
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default().min(40)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = indent.to_owned();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(value: serde_json::Value) -> Tool {
        Tool::from_value(value).expect("a tool")
    }

    #[test]
    fn a_list_has_a_line_for_each_tool() {
        let tools = [
            tool(json!({"name": "add", "description": "\nAdds.\nAnd more.", "annotations": {"readOnlyHint": true}})),
            tool(json!({"name": "漢字", "title": "Words"})),
            tool(json!({"name": "x\u{1b}[2J"})),
        ];
        assert_eq!(tool_list(&tools), "add()         Adds. [read-only]\n漢字()        Words\nx\\u{1b}[2J()\n");
    }

    #[test]
    fn a_page_draws_the_arguments_and_ends_with_a_call() {
        let schema = json!({"type": "object", "properties": {
            "code": {"type": "string", "description": "The code"}, "qty": {"type": "integer", "default": 2},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}}
        }, "required": ["code"]});
        let order = tool(json!({"name": "order", "title": "Order", "inputSchema": schema,
            "outputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}}}));
        let call = ("toolnexus call order", "-- node 'a b.js'");
        let page = tool_page(&order, PageOptions { call, schema: false });
        assert_eq!(
            page,
            "order  Order\n\nArguments:\n  code   required, text                            The code\n  \
             qty    optional, whole number, default 2\n  lines  optional, [{sku?: text}], may be repeated\n\n\
             Result:\n  {id?: whole number}\n\n\
             Example:\n  toolnexus call order code=TEXT -- node 'a b.js'\n"
        );
        let page = tool_page(&order, PageOptions { call, schema: true });
        assert!(page.contains("Schema:\n{\n  \"type\": \"object\"") && page.contains("Result schema:\n{"), "{page}");
        let plain =
            tool_page(&tool(json!({"name": "a", "inputSchema": {}})), PageOptions { call: ("x", ""), schema: false });
        assert!(plain.ends_with("No arguments.\n\nExample:\n  x\n"), "{plain}");
    }
}
