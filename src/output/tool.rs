use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::{cut, pretty, safe_line, safe_text};
use crate::{
    form::{Field, FieldKind, Form},
    protocol::Tool,
};

/// Longest description in a list, in characters.
const LONGEST: usize = 100;

/// One line for each tool: its name, and the first line of what it does.
pub fn tool_list(tools: &[Tool]) -> String {
    let rows = tools.iter().map(|tool| {
        let about = tool.description().or(tool.title()).unwrap_or_default();
        let about = about.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        vec![safe_line(&tool.name).into_owned(), cut(&safe_line(about.trim()), LONGEST).into_owned()]
    });
    table(&rows.collect::<Vec<_>>(), "")
}

/// All about one tool: what it does, its arguments as a person would be asked for them, and the schema they come from.
pub fn tool_page(tool: &Tool) -> String {
    let mut page = safe_line(&tool.name).into_owned();
    if let Some(title) = tool.title().filter(|title| *title != tool.name) {
        _ = write!(page, "  {}", safe_line(title));
    }
    page.push('\n');
    if let Some(about) = tool.description() {
        // Set in, so that no line of it looks like one of ours.
        let lines = safe_text(about.trim_end());
        page.extend(lines.lines().flat_map(|line| ["\n  ", line]));
        page.push('\n');
    }
    let Some(schema) = tool.raw.get("inputSchema") else { return page };
    let form = Form::from_schema(schema);
    page.push_str(if form.is_empty() { "\nNo arguments.\n" } else { "\nArguments:\n" });
    page.push_str(&table(&form.fields.iter().map(argument).collect::<Vec<_>>(), "  "));
    _ = write!(page, "\nSchema:\n{}\n", safe_text(&pretty(&schema.to_string())));
    page
}

fn argument(field: &Field) -> Vec<String> {
    let mut about = field.description.as_deref().or(field.title.as_deref()).unwrap_or_default().trim().to_owned();
    if let FieldKind::Choice(choices) = &field.kind {
        let values: Vec<String> = choices.choices.iter().map(|choice| bare(&choice.value)).collect();
        about = format!("{about} [{}]", values.join("|"));
    }
    if let Some(default) = &field.default {
        about = format!("{about} (default {})", bare(default));
    }
    [field.key.as_str(), &field.summary(), about.trim()].map(|text| cut(&safe_line(text), LONGEST).into_owned()).into()
}

fn bare(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Rows with their columns below each other, each line after `indent`.
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
            tool(json!({"name": "add", "description": "\nAdds.\nAnd more."})),
            tool(json!({"name": "漢字", "title": "Words"})),
            tool(json!({"name": "x\u{1b}[2J"})),
        ];
        assert_eq!(tool_list(&tools), "add         Adds.\n漢字        Words\nx\\u{1b}[2J\n");
    }

    #[test]
    fn a_page_has_the_arguments_and_the_schema() {
        let schema = json!({"type": "object", "properties": {
            "code": {"type": "string", "description": "The code"}, "qty": {"type": "integer", "default": 2}
        }, "required": ["code"]});
        let page = tool_page(&tool(json!({"name": "order", "title": "Order", "inputSchema": schema})));
        assert!(page.starts_with("order  Order\n\nArguments:\n  code  required, text"), "{page}");
        assert!(page.contains("(default 2)") && page.contains("Schema:\n{\n  \"type\": \"object\""), "{page}");
        assert!(tool_page(&tool(json!({"name": "a", "inputSchema": {}}))).contains("No arguments."));
    }
}
