use serde_json::{Map, Value};

use super::{
    draft::Draft,
    node::{Control, ControlNode},
    read::{EnteredField, Wrong, read},
};
use crate::{
    form::{Field, Form},
    pages::Fields,
};

/// A form that is being filled in.
pub(crate) struct Filling {
    pub(super) form: Form,
    pub(super) nodes: Vec<ControlNode>,
    pub(super) draft: Draft,
    /// Increases with every change, so that nothing is sent that was changed in another tab after the review.
    pub(super) revision: u64,
    /// Whether the person has tried to continue, and should see what is wrong.
    pub(super) is_tried: bool,
    /// Whether it was changed after the review.
    pub(super) is_stale: bool,
}

/// The result of reading a form.
pub(super) struct FormReading {
    pub(super) slots: Vec<EnteredField>,
    pub(super) wrongs: Vec<Wrong>,
    /// What would be sent.
    pub(super) content: Map<String, Value>,
}

impl Filling {
    /// A form that nobody has touched.
    #[allow(clippy::unnecessary_box_returns, reason = "it is stored in a box")]
    pub(crate) fn new(form: Form) -> Box<Self> {
        let nodes = ControlNode::all(&form);
        let draft = Draft::of(&nodes);
        Box::new(Self { form, nodes, draft, revision: 1, is_tried: false, is_stale: false })
    }

    /// Takes what a browser sent.
    pub(super) fn take(&mut self, fields: &Fields) {
        let draft = self.draft.sent(fields, &self.nodes);
        if draft != self.draft {
            self.draft = draft;
            self.revision += 1;
        }
    }

    /// The content of the form, and what is wrong with it: the fields first, then the whole.
    pub(super) fn read(&self) -> FormReading {
        let mut wrongs = Vec::new();
        let slots: Vec<EnteredField> = self.nodes.iter().map(|node| read(node, &self.draft, &mut wrongs)).collect();
        let mut content = Map::new();
        for (node, slot) in self.nodes.iter().zip(&slots) {
            if let EnteredField::Given(value) = slot {
                content.insert(node.field.key.clone(), value.clone());
            }
        }
        if wrongs.is_empty() {
            let node_of = |key: &str| self.nodes.iter().find(|node| node.field.key == key);
            wrongs.extend(self.form.check(&content).into_iter().map(|error| {
                let node = node_of(&error.key);
                Wrong {
                    id: node.map(|node| node.id.clone()),
                    label: node.map(ControlNode::label).unwrap_or_default(),
                    reason: error.reason,
                }
            }));
        }
        FormReading { slots, wrongs, content }
    }

    /// Puts a field's default into its inputs, or empties them.
    pub(super) fn reset(&mut self, id: &str, to_default: bool) {
        if let Some(node) = find(&self.nodes, &self.draft, id) {
            let default = node.field.default.clone().filter(|_| to_default);
            self.draft.lay(&node, default.as_ref());
            self.revision += 1;
        }
    }

    /// Adds an entry to a list.
    pub(super) fn add(&mut self, id: &str) {
        if let Some((node, item)) = self.list(id) {
            self.draft.add_row(&node, &item);
            self.revision += 1;
        }
    }

    /// Removes the list entry with this `id`.
    pub(super) fn remove(&mut self, id: &str) {
        let place = id.rsplit_once('.').and_then(|(list, row)| Some((list, row.parse().ok()?)));
        if let Some((list, row)) = place
            && let Some((node, _)) = self.list(list)
        {
            self.draft.remove_row(&node, row);
            self.revision += 1;
        }
    }

    fn list(&self, id: &str) -> Option<(ControlNode, Field)> {
        let node = find(&self.nodes, &self.draft, id)?;
        let Control::Items(item) = &node.control else { return None };
        let item = (**item).clone();
        Some((node, item))
    }
}

/// The node with this id.
fn find(nodes: &[ControlNode], draft: &Draft, id: &str) -> Option<ControlNode> {
    let node = nodes
        .iter()
        .find(|node| id.strip_prefix(&node.id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))?;
    if node.id == id {
        return Some(node.clone());
    }
    match &node.control {
        Control::Group(keys) => find(keys, draft, id),
        Control::Items(item) => {
            let rows: Vec<ControlNode> = (0..draft.rows(node)).map(|row| node.row(item, row)).collect();
            find(&rows, draft, id)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[allow(clippy::unnecessary_box_returns, reason = "it is stored in a box")]
    fn filling(properties: &Value) -> Box<Filling> {
        Filling::new(Form::from_schema(&json!({"type": "object", "properties": properties, "required": ["who"]})))
    }

    fn sent(filling: &mut Filling, text: &str) -> Result<Value, Vec<(Option<String>, String)>> {
        filling.take(&Fields::parse(text.as_bytes()));
        let reading = filling.read();
        if reading.wrongs.is_empty() {
            return Ok(Value::Object(reading.content));
        }
        Err(reading.wrongs.into_iter().map(|wrong| (wrong.id, wrong.reason)).collect())
    }

    #[test]
    fn every_kind_of_field_is_read_as_it_is_sent() {
        let mut filling = filling(&json!({
            "who": {"type": "string"},
            "age": {"type": "integer", "minimum": 18},
            "agreed": {"type": "boolean"},
            "plan": {"type": "string", "enum": ["free", "pro"], "default": "free"},
            "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 2},
            "home": {"type": "object", "properties": {"street": {"type": "string"}, "zip": {"type": "string"}},
                     "required": ["street"]},
            "pets": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "rest": {"type": "object"},
        }));
        let all = "f0=Ada&f1=36&f2=no&f3=1&f4=0&f4=2&f5-on=on&f5.0=Long+Lane&f5.1=&f6-count=3&f6.0.0=Rex&f6.1.0=&f6.2.0=Tom\
            &f7=%7B%22x%22%3A+1.50%7D";
        let value = json!({"who": "Ada", "age": 36, "agreed": false, "plan": "pro", "tags": ["a", "c"],
            "home": {"street": "Long Lane"}, "pets": [{"name": "Rex"}, {"name": "Tom"}]});
        let mut read = sent(&mut filling, all).expect("it fits");
        assert_eq!(read["rest"].to_string(), r#"{"x":1.50}"#);
        read.as_object_mut().expect("an object").remove("rest");
        assert_eq!(read, value);

        assert_eq!(sent(&mut filling, "f0=Ada&f2=out&f3=out"), Ok(json!({"who": "Ada"})));
        let wrong = sent(&mut filling, "f1=17&f4=0&f4=1&f4=2&f5-on=on&f7=%7B").expect_err("much is wrong");
        let ids: Vec<&str> = wrong.iter().filter_map(|(id, _)| id.as_deref()).collect();
        assert_eq!(ids, ["f0", "f1", "f4", "f5.0", "f7"]);
        assert_eq!(wrong[1].1, "17 is below the minimum, 18");
    }

    #[test]
    fn names_that_a_browser_made_up_are_nothing() {
        let mut filling = filling(&json!({"who": {"enum": ["a"]}, "agreed": {"type": "boolean"}}));
        for text in ["f0=7", "f0=-1", "f0=null&f1=null", "f0=yes", "f0=0&f1=maybe", ""] {
            let read = sent(&mut filling, text);
            assert!(read.is_err() || read == Ok(json!({"who": "a"})), "{text}: {read:?}");
        }
        assert_eq!(sent(&mut filling, "f0=0&f99=x&f1.0=y"), Ok(json!({"who": "a"})));
    }

    #[test]
    fn defaults_are_taken_and_left_out() {
        let mut filling = filling(
            &json!({"who": {"type": "string", "default": "Ada"}, "city": {"type": "string", "default": "Brno"}}),
        );
        assert_eq!(Value::Object(filling.read().content), json!({"who": "Ada", "city": "Brno"}));
        assert_eq!(sent(&mut filling, "f0=Bob&f1="), Ok(json!({"who": "Bob"})));
        let before = filling.revision;
        filling.reset("f1", true);
        assert_eq!(Value::Object(filling.read().content), json!({"who": "Bob", "city": "Brno"}));
        assert!(filling.revision > before);
    }
}
