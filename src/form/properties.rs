//! What holds for every schema and every typed text.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use super::Form;

const KEYWORDS: [&str; 38] = [
    "type",
    "title",
    "description",
    "default",
    "enum",
    "enumNames",
    "const",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "then",
    "$ref",
    "$defs",
    "$id",
    "$schema",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "writeOnly",
    "contentEncoding",
    "$anchor",
    "dependentRequired",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3..9_i64).prop_map(Value::from),
        select(vec!["1e999", "-0", "1.0", "0.1", "1e-7", "18446744073709551616"])
            .prop_map(|text| serde_json::from_str(text).expect("a number")),
        select(vec![
            "string",
            "integer",
            "number",
            "boolean",
            "array",
            "object",
            "null",
            "#",
            "#/$defs/a",
            "#/properties/a",
            "#/x",
            "email",
            "uri",
            "date",
            "date-time",
            "password",
            "(",
            "^a+$",
            r"(?<=\d)[^]\u0041*",
            "(a+)+$",
            "a",
            "",
        ])
        .prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ]
}

/// JSON made from a schema's words, whether it makes sense or not.
fn schema() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 60, 6, |inner| {
        let key = prop_oneof![4 => select(&KEYWORDS[..]).prop_map(str::to_owned), 1 => "[a-c]"];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key, inner), 0..6).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn form_schema() -> impl Strategy<Value = Value> {
    let properties = vec(("[a-d]", schema()), 0..4).prop_map(|entries| Value::Object(entries.into_iter().collect()));
    prop_oneof![
        schema(),
        (properties, schema(), vec("[a-e]", 0..3)).prop_map(|(properties, part, required)| json!({
            "type": "object", "properties": properties, "required": required, "$defs": {"a": part, "b": {"$ref": "#/$defs/a"}},
        })),
    ]
}

fn typed() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        "-?[0-9]{1,20}(\\.[0-9]{1,4})?(e-?[0-9]{1,3})?",
        select(vec![
            "",
            "true",
            "no",
            "null",
            "[]",
            "{}",
            "[\"a\", \"b\"]",
            "a, b",
            "1",
            "a@b.example",
            "https://a.example/"
        ])
        .prop_map(str::to_owned),
        select(vec!["2026-02-28", "2026-02-30", "2026-02-28T01:02:03Z", "a", "b", "A", "B b", "{\"a\": 1}"])
            .prop_map(str::to_owned),
    ]
}

/// A field of a kind that the specification has, with bounds that may contradict each other.
fn standard() -> impl Strategy<Value = Value> {
    let bound = || proptest::option::of(-3..9_i64);
    let count = || proptest::option::of(0..5_u64);
    let format = proptest::option::of(select(vec!["email", "uri", "date", "date-time"]));
    let pattern = proptest::option::of(select(vec!["^[a-z]+$", "[0-9]", "^.{2,}$", r"^\w+@"]));
    let text = (count(), count(), format, pattern).prop_map(
        |(low, high, format, pattern)| json!({"type": "string", "minLength": low, "maxLength": high, "format": format, "pattern": pattern}),
    );
    let unit = proptest::option::of(select(vec!["1", "2", "0.5", "0.1", "0.01"]));
    let kind = select(vec!["integer", "number"]);
    let number = (kind, bound(), bound(), bound(), unit).prop_map(|(kind, low, high, above, unit)| {
        let unit = unit.map(|unit| serde_json::from_str::<Value>(unit).expect("a number"));
        json!({"type": kind, "minimum": low, "maximum": high, "exclusiveMinimum": above, "multipleOf": unit})
    });
    let list = (count(), count(), any::<bool>()).prop_map(|(low, high, unique)| {
        json!({"type": "array", "minItems": low, "maxItems": high, "uniqueItems": unique, "items": {"type": "string", "enum": ["a", "b", "c"]}})
    });
    let fixed = select(vec![
        json!({"type": "boolean"}),
        json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B b"]}),
        json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "1", "title": "B b"}]}),
        json!({"enum": [1, 2, null, "a"]}),
        json!({"type": ["integer", "null"]}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}}}),
    ]);
    (prop_oneof![text, number, list, fixed], scalar()).prop_map(|(mut field, default)| {
        if let Value::Object(map) = &mut field {
            map.retain(|_, value| !value.is_null());
            map.insert("default".into(), default);
        }
        field
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_schema_and_no_text_panics(schema in form_schema(), typed in typed(), value in schema()) {
        let form = Form::from_schema(&schema);
        for field in &form.fields {
            let parsed = field.parse(&typed);
            if let Ok(value) = &parsed {
                prop_assert_eq!(field.check(value), Ok(()));
            }
            if let Some(default) = &field.default {
                prop_assert_eq!(field.check(default), Ok(()));
            }
            let told = (field.rules(), field.label().len(), field.parse_empty(), field.summary(), field.show(&value));
            prop_assert!(!told.0.is_empty());
        }
        let content: Map<String, Value> = form.fields.iter().map(|field| (field.key.clone(), value.clone())).collect();
        form.check(&content);
        drop(form.canonical(form.defaults()));
    }

    #[test]
    fn what_is_taken_is_right_by_the_schema(part in standard(), typed in typed()) {
        let root = json!({"type": "object", "properties": {"x": part}, "required": ["x"]});
        let validator = jsonschema::options().should_validate_formats(true).build(&root).expect("a schema");
        let form = Form::from_schema(&root);
        let field = &form.fields[0];
        let sent = |value: Value| Map::from_iter([("x".to_owned(), value)]);
        for value in field.parse(&typed).into_iter().chain(field.default.clone()) {
            prop_assert_eq!(field.check(&value), Ok(()));
            prop_assert_eq!(form.check(&sent(value.clone())), []);
            let content = Value::Object(sent(value.clone()));
            prop_assert!(validator.is_valid(&content), "{}", content);
            let again = field.parse(&field.edit(&value));
            prop_assert!(again.is_ok_and(|again| super::same(&again, &value)), "{}", value);
        }
        // What is refused is also wrong by the schema, if the text is clearly a value, and one that a double can hold.
        if typed.len() < 14
            && let Ok(value) = serde_json::from_str::<Value>(&typed)
            && field.check(&value).is_err()
            && super::unsendable(&value).is_none()
        {
            let content = Value::Object(sent(value));
            prop_assert!(!validator.is_valid(&content), "{}", content);
        }
    }
}
