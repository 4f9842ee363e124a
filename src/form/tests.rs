//! Forms as servers send them, from the schema to the value on the wire.

use serde_json::{Map, Value, json};

use super::*;

fn form(properties: &Value, required: &[&str]) -> Form {
    Form::from_schema(&json!({"type": "object", "properties": properties, "required": required}))
}

fn field(schema: &Value) -> Field {
    form(&json!({"x": schema}), &["x"]).fields.remove(0)
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn refusal(field: &Field, typed: &str) -> String {
    field.parse(typed).expect_err(typed).reason
}

#[test]
fn fields_keep_the_servers_order() {
    let form = form(&json!({"street": {"type": "string"}, "city": {}, "zip": {}, "country": {}}), &[]);
    let keys: Vec<_> = form.fields.iter().map(|field| field.key.as_str()).collect();
    assert_eq!(keys, ["street", "city", "zip", "country"]);
}

#[test]
fn unknown_keywords_are_passed_over() {
    let form = Form::from_schema(&json!({
        "title": "AnswerModel", "type": "object", "x-order": 3,
        "properties": {"value": {"title": "Value", "type": "integer", "x-hint": []}}, "required": ["value"],
    }));
    assert_eq!(form.fields[0].label(), "Value");
    assert_eq!(form.fields[0].parse("4"), Ok(json!(4)));
    assert!(form.notes.is_empty() && form.fields[0].notes.is_empty());
}

#[test]
fn titles_are_shown_and_values_sent() {
    let airport = field(&json!({"type": "string", "enum": ["lax", "sfo"],
        "enumNames": ["Los Angeles", "San Francisco"], "default": "sfo"}));
    assert_eq!(airport.default, Some(json!("sfo")));
    assert_eq!(airport.show(&json!("sfo")), "San Francisco");
    for typed in ["sfo", "San Francisco", "san francisco", "2", " sfo "] {
        assert_eq!(airport.parse(typed), Ok(json!("sfo")), "{typed}");
    }
    assert_eq!(refusal(&airport, "Boston"), "Boston is not one of Los Angeles, San Francisco");
    assert_eq!(
        airport.check(&json!("San Francisco")).expect_err("a title").reason,
        r#""San Francisco" is a title; write its value, "sfo""#
    );

    let choice = field(&json!({"type": "string", "oneOf": [
        {"const": "go", "title": "Go on"}, {"const": "why", "title": "Explain first", "description": "slower"}]}));
    let FieldKind::Choice(choices) = &choice.kind else { panic!("a choice") };
    assert_eq!(choices.choices[1].description.as_deref(), Some("slower"));
    assert_eq!(choice.parse("Explain first"), Ok(json!("why")));
}

#[test]
fn numbers_name_a_choice_only_where_they_are_no_values() {
    let levels = field(&json!({"enum": [10, 20, 1]}));
    assert_eq!(levels.parse("1"), Ok(json!(1)));
    assert_eq!(levels.parse("10.0"), Ok(json!(10)));
    assert!(levels.parse("2").is_err());
    assert!(levels.check(&json!("10")).is_err());
    assert_eq!(levels.check(&json!(10.0)), Ok(()));
    let mixed = field(&json!({"enum": ["a", 2, true, null]}));
    assert_eq!(mixed.parse("2"), Ok(json!(2)));
    assert_eq!(mixed.parse("true"), Ok(json!(true)));
    assert_eq!(mixed.parse("null"), Ok(json!(null)));
}

#[test]
fn a_multiple_choice_is_a_list_within_bounds() {
    let codecs = field(&json!({"type": "array", "title": "Codecs", "maxItems": 1, "items":
        {"anyOf": [{"const": "gz", "title": "Gzip"}, {"const": "zst", "title": "Zstandard"}]}}));
    assert_eq!(codecs.parse("Zstandard"), Ok(json!(["zst"])));
    assert_eq!(codecs.parse(r#"["zst"]"#), Ok(json!(["zst"])));
    assert_eq!(refusal(&codecs, "gz, zst"), "2 are chosen: choose at most 1");
    assert_eq!(codecs.show(&json!(["zst", "gz"])), "Zstandard, Gzip");

    let topics = field(&json!({"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]},
        "minItems": 1, "maxItems": 2, "uniqueItems": true}));
    assert_eq!(topics.rules(), "choose 1 to 2");
    assert_eq!(refusal(&topics, ""), "nothing is chosen: choose 1 to 2");
    assert_eq!(topics.parse("1,1, c"), Ok(json!(["a", "c"])));
    assert_eq!(topics.check(&json!(["a", "a"])).expect_err("twice").reason, r#""a" is chosen twice"#);
    assert_eq!(topics.check(&json!("a")).expect_err("text").reason, r#""a" is text, not a list"#);

    let behind = Form::from_schema(&json!({"$defs": {"T": {"enum": ["x", "y"]}},
        "properties": {"t": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}));
    assert_eq!(behind.fields[0].parse("x,y"), Ok(json!(["x", "y"])));
}

#[test]
fn local_references_are_followed() {
    let form = Form::from_schema(&json!({"type": "object",
        "$defs": {"Status": {"title": "Status", "type": "string", "enum": ["todo", "doing", "done"]}, "a/b~c d": {"type": "integer"}},
        "properties": {
            "status": {"$ref": "#/$defs/Status"},
            "all": {"allOf": [{"$ref": "#/$defs/Status"}], "default": "done", "title": "How far"},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Status"}, {"type": "null"}], "default": null},
            "odd": {"$ref": "#/$defs/a~1b~0c%20d"}},
        "required": ["status"]}));
    assert_eq!(refusal(&form.fields[0], "finished"), "finished is not one of todo, doing, done");
    assert_eq!((form.fields[1].label(), &form.fields[1].default), ("How far", &Some(json!("done"))));
    assert!(form.fields[2].nullable && form.fields[2].default.is_none());
    assert_eq!(form.fields[2].parse("doing"), Ok(json!("doing")));
    assert_eq!(form.fields[3].parse("5"), Ok(json!(5)));
    assert!(form.fields.iter().all(|field| field.notes.is_empty()), "{form:?}");
}

#[cfg(feature = "schema")]
#[test]
fn references_that_lead_nowhere_are_noted() {
    for reference in ["#/$defs/none", "https://a.example/s.json", "#/properties/x", "#/$defs/loop", "#anchor"] {
        let form = Form::from_schema(&json!({
            "$defs": {"loop": {"allOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/loop"}]}},
            "properties": {"x": {"$ref": reference}}}));
        let field = &form.fields[0];
        assert!(!field.notes.is_empty(), "{reference}");
        assert_eq!(field.parse("hello"), Ok(json!("hello")), "{reference}");
    }
}

#[test]
fn an_empty_form_is_a_confirmation() {
    for schema in [json!({"type": "object", "properties": {}}), json!({"type": "object"}), json!({})] {
        let form = Form::from_schema(&schema);
        assert!(form.is_empty() && form.notes.is_empty());
        assert_eq!(form.check(&Map::new()), []);
        assert_eq!(form.defaults(), Map::new());
    }
}

#[test]
fn booleans_are_never_turned_round() {
    let keep = field(&json!({"type": "boolean", "default": true}));
    assert_eq!(keep.default, Some(json!(true)));
    for typed in ["true", "yes", "Y", " on ", "1"] {
        assert_eq!(keep.parse(typed), Ok(json!(true)), "{typed}");
    }
    assert_eq!(keep.parse("No"), Ok(json!(false)));
    assert_eq!(refusal(&keep, "perhaps"), "perhaps is neither yes nor no");
    assert_eq!(keep.check(&json!("true")).expect_err("text").reason, r#""true" is text, not true or false"#);
}

#[test]
fn bounds_and_formats_are_checked_before_sending() {
    let form = form(
        &json!({"age": {"type": "integer", "minimum": 0, "maximum": 120}, "name": {"type": "string", "minLength": 2, "maxLength": 20},
               "mail": {"type": "string", "format": "email"}, "agree": {"type": "boolean"}}),
        &["age"],
    );
    let [age, name, mail, agree] = form.fields.as_slice() else { panic!("four fields") };
    assert_eq!(age.label(), "age");
    assert_eq!(refusal(age, "130"), "130 is above the maximum, 120");
    assert_eq!(refusal(age, "-1"), "-1 is below the minimum, 0");
    assert_eq!(refusal(age, "two"), "two is not a whole number");
    assert_eq!(refusal(age, "1.5"), "1.5 is not a whole number");
    assert_eq!(refusal(name, "x"), "x is too short: 2 to 20 characters");
    assert_eq!(name.parse("žš"), Ok(json!("žš")));
    assert_eq!(refusal(mail, "nobody"), "nobody is not an e-mail address");
    assert_eq!(agree.parse("y"), Ok(json!(true)));
    assert_eq!(name.rules(), "optional, 2 to 20 characters");
    assert_eq!(age.rules(), "required, whole number, 0 to 120");
}

#[test]
fn an_accept_never_breaks_the_schema() {
    let form = form(&json!({"value": {"type": "string", "oneOf": [{"const": "eu", "title": "Europe"}]}}), &["value"]);
    assert_eq!(form.defaults(), Map::new());
    assert_eq!(form.check(&Map::new()), [FieldError::new("value", "required, but missing")]);
    let errors = form.check(&object(&json!({"value": "us", "vaule": 1, "z": 2})));
    let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            r#"value: "us" is not one of "eu""#,
            "vaule: not a field of this form; did you mean value?",
            "z: not a field of this form",
        ]
    );
}

#[test]
fn numbers_are_exact() {
    let integer = field(&json!({"type": "integer"}));
    for digits in ["9007199254740993", "-9223372036854775808", "18446744073709551615", "123456789012345678901234567890"]
    {
        assert_eq!(integer.parse(digits).expect(digits).to_string(), digits);
    }
    assert_eq!(integer.parse("1.0").expect("whole").to_string(), "1");
    assert_eq!(integer.parse("1e3").expect("whole").to_string(), "1000");
    assert_eq!(integer.check(&json!(1.0)), Ok(()));
    assert_eq!(integer.canonical(json!(1.0)).to_string(), "1");
    for typed in ["1e999", "NaN", "Infinity", "0x1f", "1 000", ""] {
        assert!(integer.parse(typed).is_err(), "{typed}");
    }
    let tenths = field(&json!({"type": "number", "multipleOf": 0.1, "exclusiveMinimum": 0, "exclusiveMaximum": 1}));
    assert_eq!(tenths.parse("0.3").expect("a tenth").to_string(), "0.3");
    assert_eq!(refusal(&tenths, "0.35"), "0.35 is not a multiple of 0.1");
    assert_eq!(refusal(&tenths, "0"), "0 is not greater than 0");
    assert_eq!(refusal(&tenths, "1"), "1 is not less than 1");
    assert_eq!(refusal(&tenths, "1e999"), "1e999 is not a number that can be sent");
    let draft4 = field(
        &json!({"type": "number", "minimum": 0, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false}),
    );
    assert_eq!(draft4.rules(), "required, number, at most 5, above 0");
    assert!(draft4.parse("0").is_err() && draft4.parse("5").is_ok());
}

#[test]
fn nullable_fields_take_null_and_leave_it_out() {
    for schema in [
        json!({"type": ["integer", "null"], "minimum": 3}),
        json!({"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}),
        json!({"oneOf": [{"type": "null"}, {"type": "integer", "minimum": 3}], "default": null}),
    ] {
        let field = field(&schema);
        assert!(field.nullable, "{field:?}");
        assert_eq!((field.parse("5"), field.parse("null")), (Ok(json!(5)), Ok(json!(null))));
        assert_eq!(refusal(&field, "2"), "2 is below the minimum, 3");
        assert_eq!(field.parse_empty(), Ok(Some(json!(null))));
        assert_eq!(field.check(&json!(null)), Ok(()));
    }
    let text = field(&json!({"type": ["string", "null"]}));
    assert_eq!(text.parse("null"), Ok(json!("null")));
    let optional = form(&json!({"x": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}}), &[]);
    assert_eq!(optional.fields[0].parse_empty(), Ok(None));
    assert_eq!(optional.defaults(), Map::new());
    let choice = field(&json!({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}));
    assert_eq!(choice.parse("null"), Ok(json!(null)));
}

#[test]
fn an_empty_text_is_sent_only_where_the_server_means_it() {
    let refused = field(&json!({"type": "string"}));
    assert!(refused.parse_empty().is_err());
    assert_eq!(refused.check(&json!("")), Ok(()));
    assert_eq!(field(&json!({"type": "string", "minLength": 0})).parse_empty(), Ok(Some(json!(""))));
    assert_eq!(form(&json!({"x": {"type": "string", "minLength": 3}}), &[]).fields[0].parse_empty(), Ok(None));
}

#[cfg(feature = "schema")]
#[test]
fn a_missing_type_is_inferred() {
    for (schema, typed, value) in [
        (json!({"minLength": 1}), "5", json!("5")),
        (json!({"title": "Name"}), "Ada", json!("Ada")),
        (json!({"maximum": 9}), "5", json!(5)),
        (json!({"default": false}), "yes", json!(true)),
        (json!({"items": {"enum": ["a"]}}), "a", json!(["a"])),
        (json!({"properties": {"a": {}}}), r#"{"a": 1}"#, json!({"a": 1})),
        (json!({"const": "fixed"}), "", json!("fixed")),
        (
            json!({"anyOf": [{"type": "string", "format": "email"}, {"type": "string", "maxLength": 3}]}),
            "abc",
            json!("abc"),
        ),
        (json!({"type": ["integer", "number"]}), "1.5", json!(1.5)),
        (json!({"type": "int"}), "5", json!("5")),
    ] {
        assert_eq!(field(&schema).parse(typed), Ok(value), "{schema}");
    }
}

#[cfg(feature = "schema")]
#[test]
fn what_cannot_be_drawn_is_json_and_checked() {
    let form = Form::from_schema(&json!({
        "$defs": {"P": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
        "properties": {
            "point": {"$ref": "#/$defs/P"}, "points": {"type": "array", "items": {"$ref": "#/$defs/P"}, "minItems": 1},
            "either": {"type": ["string", "integer"]}, "words": {"type": "array", "items": {"type": "string"}},
            "tree": {"$ref": "#/$defs/T"}, "no": false},
        "required": ["point"]}));
    let [point, points, either, words, _, no] = form.fields.as_slice() else { panic!("six fields") };
    assert_eq!(point.kind, FieldKind::Json);
    assert_eq!(point.parse(r#" {"x": 1} "#), Ok(json!({"x": 1})));
    assert_eq!(refusal(point, r#"{"x": "1"}"#), r#"at /x, "1" is text, not a whole number"#);
    assert_eq!(refusal(point, "{}"), "at /x, required, but missing");
    assert!(refusal(point, "{").starts_with("{ is not JSON: EOF"));
    assert!(refusal(point, "hello").starts_with("hello is not JSON"));
    assert!(points.parse("[]").is_err() && points.parse(r#"[{"x": 2}]"#).is_ok());
    assert_eq!(either.parse("5"), Ok(json!(5)));
    assert_eq!(either.parse("hello there"), Ok(json!("hello there")));
    assert_eq!(words.parse(r#"["a"]"#), Ok(json!(["a"])));
    assert!(words.check(&json!([1])).is_err());
    assert!(no.parse("1").is_err());
}

#[cfg(feature = "schema")]
#[test]
fn what_kinds_do_not_say_is_checked_too() {
    let odd = field(&json!({"type": "string", "not": {"const": "root"}}));
    assert!(odd.parse("root").is_err() && odd.parse("ada").is_ok());
    let both = Form::from_schema(&json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}));
    assert_eq!(both.check(&object(&json!({"b": "x"}))), []);
    assert_eq!(both.check(&Map::new()).len(), 1);
}

#[test]
fn nonsense_is_noted_and_never_refused() {
    for schema in [json!(true), json!([]), json!(null), json!("form"), json!(7)] {
        let form = Form::from_schema(&schema);
        assert!(form.is_empty() && form.notes.len() == 1, "{schema}");
    }
    let form = Form::from_schema(&json!({"type": "object", "required": ["ghost", "a", 7, "ghost"], "properties": {
        "a": "string", "b": {"type": "string", "minLength": "x", "pattern": "("}, "c": {"type": "integer", "default": "five"},
        "d": {"enum": []}, "e": {"type": "string", "format": "color"}, "f": null}}));
    let notes = |key: &str| form.field(key).expect(key).notes.clone();
    assert!(["a", "b", "c", "e", "f", "ghost"].iter().all(|key| !notes(key).is_empty()), "{form:?}");
    assert_eq!(notes("b").len(), 2);
    assert_eq!(notes("c"), [r#"the default is left out: "five" is text, not a whole number"#]);
    assert_eq!(form.fields.len(), 7);
    assert!(form.field("ghost").expect("drawn").required);
    assert!(Form::from_schema(&json!({"properties": [1]})).notes.len() == 1);
}

#[test]
fn a_default_that_breaks_the_rules_is_dropped() {
    let field = field(&json!({"type": "integer", "minimum": 18, "default": 5}));
    assert_eq!(
        (field.default, field.notes),
        (None, vec!["the default is left out: 5 is below the minimum, 18".to_owned()])
    );
}

#[test]
fn without_a_type_a_person_types_text_and_a_file_holds_anything() {
    let field = field(&json!({"title": "Anything"}));
    assert_eq!(field.parse("7").expect("text"), json!("7"));
    for value in [json!(7), json!(true), json!({"a": [1]}), json!("x")] {
        assert_eq!(field.check(&value), Ok(()), "{value}");
    }
}

#[test]
fn secrets_are_not_repeated() {
    let field = field(&json!({"type": "string", "format": "password", "minLength": 8}));
    assert!(field.secret && field.notes.is_empty());
    assert_eq!(refusal(&field, "hunter2"), "this is too short: at least 8 characters");
    assert_eq!(field.show(&json!("hunter22")), "••••••");
    assert!(!field.check(&json!(12_345)).expect_err("no text").reason.contains("12345"));
}

#[test]
fn a_very_large_form_is_drawn_at_once() {
    let start = std::time::Instant::now();
    let keys: Vec<String> = (0..20_000).map(|number| format!("k{number}")).collect();
    let properties: Map<String, Value> = keys.iter().map(|key| (key.clone(), json!({"type": "string"}))).collect();
    let form = Form::from_schema(&json!({"properties": properties, "required": keys}));
    let content: Map<String, Value> = keys.iter().map(|key| (key.clone(), json!("x"))).collect();
    assert_eq!(form.check(&content), []);
    assert_eq!(form.canonical(content.clone()), content);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[cfg(feature = "schema")]
#[test]
fn the_spellings_of_openapi_and_of_googles_generators_are_understood() {
    let age = field(&json!({"type": "INTEGER", "minimum": 18}));
    assert_eq!(age.rules(), "required, whole number, at least 18");
    assert_eq!(age.parse("30"), Ok(json!(30)));
    assert!(age.notes.is_empty());
    let name = field(&json!({"type": "STRING", "nullable": true}));
    assert!(name.nullable && name.notes.is_empty());
    assert_eq!(name.check(&Value::Null), Ok(()));
    let whole = Form::from_schema(&json!({
        "type": "OBJECT", "properties": {"n": {"type": "NUMBER", "nullable": true, "not": {"type": "NUMBER", "minimum": 5}}},
        "minProperties": 1,
    }));
    assert!(whole.notes.is_empty() && whole.fields[0].notes.is_empty(), "{whole:?}");
    assert_eq!(whole.check(&object(&json!({"n": null}))), []);
    assert_eq!(whole.check(&object(&json!({"n": 7}))).len(), 1);
}
