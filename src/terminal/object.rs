use serde_json::{Map, Value};

use super::{
    fill::{FieldSlot, FieldStep, Fill, safe_label},
    list::{Item, Purpose},
    stage::DialogEnd,
};
use crate::form::{Field, FieldKind, Form};
use crate::text::safe_line;

/// The most keys for which an object is asked for key by key.
const FEW_KEYS: usize = 20;

/// The keys of an object that is simple enough to be asked for key by key.
pub(super) fn keys_of(field: &Field) -> Option<Form> {
    if field.kind != FieldKind::Json || field.secret || field.nullable {
        return None;
    }
    let keys = form_of(&field.schema)?;
    let is_simple = |key: &Field| key.kind != FieldKind::Json && key.notes.is_empty() && !key.secret;
    (keys.notes.is_empty() && keys.fields.len() <= FEW_KEYS && keys.fields.iter().all(is_simple)).then_some(keys)
}

/// The keys of an object, or of each object in a list, in words: for people who write JSON.
pub(super) fn parts(field: &Field) -> Option<String> {
    if field.kind != FieldKind::Json {
        return None;
    }
    let listed = field.schema.get("items").and_then(form_of);
    let (form, each) = match form_of(&field.schema) {
        Some(form) => (form, "keys"),
        None => (listed?, "each entry"),
    };
    let keys: Vec<String> =
        form.fields.iter().map(|key| format!("{} ({})", safe_label(&key.key), key.summary())).collect();
    Some(format!("{each}: {}", keys.join("; ")))
}

fn form_of(schema: &Value) -> Option<Form> {
    let is_object = schema.get("type").is_none_or(|name| name == "object");
    let has_keys = schema.get("properties").and_then(Value::as_object).is_some_and(|keys| !keys.is_empty());
    (is_object && has_keys).then(|| Form::from_schema(schema))
}

impl Fill<'_> {
    /// Asks for an object key by key; an optional one begins with that choice.
    pub(super) fn ask_keys(&mut self, at: usize, field: &Field, keys: &Form) -> Result<FieldStep, DialogEnd> {
        loop {
            if !field.required {
                match self.ask_whether(at)? {
                    None => return Ok(FieldStep::Back),
                    Some(false) => return Ok(self.take(at, FieldSlot::Out)),
                    Some(true) => {}
                }
            }
            if let Some(value) = self.ask_each(at, field, keys)? {
                return Ok(self.take(at, FieldSlot::Given(value)));
            }
            if field.required {
                return Ok(FieldStep::Back);
            }
        }
    }

    /// Whether an optional object is filled in; `None` is Escape.
    fn ask_whether(&mut self, at: usize) -> Result<Option<bool>, DialogEnd> {
        let items = [Item::new("leave it out", ""), Item::new("fill it in", "key by key")];
        let mut hints = vec!["↑↓ move".to_owned(), "Enter choose".to_owned()];
        self.add_back(at, &mut hints);
        let prompt = self.prompt(at, hints);
        let active = usize::from(matches!(self.slots[at], FieldSlot::Given(_)));
        Ok(self.stage.choose(&self.scene, &prompt, &items, Purpose::Value(active))?.map(|index| index == 1))
    }

    /// The object; `None` after Escape at its first key.
    fn ask_each(&mut self, at: usize, field: &Field, keys: &Form) -> Result<Option<Value>, DialogEnd> {
        let ready = match &self.slots[at] {
            FieldSlot::Given(value) => Some(value),
            _ => field.default.as_ref(),
        };
        let empty = Map::new();
        let ready = ready.and_then(Value::as_object).unwrap_or(&empty);
        let slots = keys
            .fields
            .iter()
            .map(|key| ready.get(&key.key).cloned().map_or(FieldSlot::Open, FieldSlot::Given))
            .collect();
        let mut inner = Fill {
            stage: &mut *self.stage,
            asking: self.asking,
            form: keys,
            scene: self.scene.clone(),
            slots,
            drafts: vec![None; keys.fields.len()],
            reviewing: false,
            within: Some(safe_label(field.label())),
            trouble: None,
        };
        let mut key = 0;
        loop {
            if key == keys.fields.len() {
                let value = Value::Object(inner.content());
                match field.check(&value) {
                    Ok(()) => return Ok(Some(value)),
                    Err(error) => inner.trouble = Some(safe_line(&error.reason).into_owned()),
                }
                key -= 1;
            }
            match inner.ask(key)? {
                FieldStep::Next => key += 1,
                FieldStep::Back if key > 0 => key -= 1,
                FieldStep::Back => return Ok(None),
            }
        }
    }
}
