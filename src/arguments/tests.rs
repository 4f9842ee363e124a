use serde_json::{Value, json};

use super::{ArgumentError, Arguments, Source, parse};

fn files(source: Source<'_>) -> Result<Vec<u8>, String> {
    match source {
        Source::File("note.txt") => Ok(b"two\nlines\n".to_vec()),
        Source::File("list.json") => Ok(b"\xef\xbb\xbf[1, 2]".to_vec()),
        Source::File("raw") => Ok(vec![0, 255, 1]),
        Source::File(_) => Err("no such file".to_owned()),
        Source::Stdin => Ok(br#"{"from": "stdin"}"#.to_vec()),
    }
}

fn read(words: &[&str], base: Option<&str>, schema: Option<&Value>) -> Result<Arguments, ArgumentError> {
    parse(words, base, schema, &mut files)
}

fn sent(words: &[&str], schema: &Value) -> Value {
    let arguments = read(words, None, Some(schema)).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    Value::Object(arguments.values)
}

fn refused(words: &[&str], schema: &Value) -> String {
    match read(words, None, Some(schema)).and_then(|arguments| arguments.check()) {
        Ok(_) => panic!("{words:?} is refused"),
        Err(error) => error.to_string(),
    }
}

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "code": {"type": "string"}, "qty": {"type": "integer", "minimum": 1}, "price": {"type": "number"},
        "dry": {"type": "boolean"}, "to": {"type": "array", "items": {"type": "string"}},
        "ids": {"type": "array", "items": {"type": "integer"}}, "where": {"type": "object"},
        "any": {}, "either": {"type": ["string", "integer"]}, "target": {"anyOf": [{"type": "string"}, {"type": "array"}]},
        "size": {"enum": ["s", "m", 10]}, "maybe": {"type": ["integer", "null"]}, "a.b": {"type": "integer"},
        "point": {"$ref": "#/$defs/P"}, "blob": {"type": "string", "contentEncoding": "base64"},
        "flag": {"type": ["boolean", "integer"]}},
        "$defs": {"P": {"type": "object", "properties": {"x": {"type": "integer"}, "c.d": {"type": "string"}}}}})
}

#[test]
fn the_schema_decides() {
    for (words, wanted) in [
        (vec!["code=00817", "qty=2"], json!({"code": "00817", "qty": 2})),
        (vec!["code=true"], json!({"code": "true"})),
        (vec!["code=1e3"], json!({"code": "1e3"})),
        (vec!["code=null"], json!({"code": "null"})),
        (vec!["code="], json!({"code": ""})),
        (vec!["code= a=b "], json!({"code": " a=b "})),
        (vec!["code:=\"x\"", "qty:=7"], json!({"code": "x", "qty": 7})),
        (vec!["qty=9007199254740993"], json!({"qty": 9_007_199_254_740_993_u64})),
        (vec!["price=1.5", "dry=yes"], json!({"price": 1.5, "dry": true})),
        (vec!["any=5"], json!({"any": "5"})),
        (vec!["any=[1]"], json!({"any": [1]})),
        (vec!["either=5"], json!({"either": "5"})),
        (vec!["either=[5]"], json!({"either": "[5]"})),
        (vec!["target=[\"a\"]"], json!({"target": ["a"]})),
        (vec!["target=a", "target=b"], json!({"target": ["a", "b"]})),
        (vec!["size=m"], json!({"size": "m"})),
        (vec!["size=10"], json!({"size": 10})),
        (vec!["maybe=null"], json!({"maybe": null})),
        (vec!["flag=true"], json!({"flag": true})),
        (vec!["flag=3"], json!({"flag": 3})),
        (vec!["unheard=5"], json!({"unheard": "5"})),
        (vec![], json!({})),
    ] {
        assert_eq!(sent(&words, &schema()), wanted, "{words:?}");
    }
}

#[test]
fn lists_take_json_or_grow() {
    for (words, wanted) in [
        (vec![r#"to=["a@x.test","b@x.test"]"#], json!(["a@x.test", "b@x.test"])),
        (vec!["to=a@x.test", "to=b@x.test"], json!(["a@x.test", "b@x.test"])),
        (vec!["to=[\"a\"]", "to=b"], json!(["a", "b"])),
        (vec!["to=5"], json!(["5"])),
        (vec!["to=[draft] x"], json!(["[draft] x"])),
        (vec!["to=@note.txt"], json!(["two\nlines\n"])),
    ] {
        assert_eq!(sent(&words, &schema())["to"], wanted, "{words:?}");
    }
    assert_eq!(sent(&["ids=1", "ids=2"], &schema())["ids"], json!([1, 2]));
    assert_eq!(sent(&["ids=@list.json"], &schema())["ids"], json!([1, 2]));
    assert!(refused(&["to=[\"a\""], &schema()).starts_with("argument to: [\"a\" is not JSON"));
    assert_eq!(refused(&["ids=one"], &schema()), "argument ids: one is not a whole number");
}

#[test]
fn paths_reach_into_objects() {
    for (words, wanted) in [
        (vec!["where.a=x", "where.b.c=y"], json!({"where": {"a": "x", "b": {"c": "y"}}})),
        (vec!["a.b=3"], json!({"a.b": 3})),
        (vec!["point.x=3", r"point.c\.d=4"], json!({"point": {"x": 3, "c.d": "4"}})),
        (vec![r#"where={"a": 1}"#, "where.b=2"], json!({"where": {"a": 1, "b": "2"}})),
        (vec!["where:=@-"], json!({"where": {"from": "stdin"}})),
        (vec![r"un\.known=1"], json!({"un.known": "1"})),
    ] {
        assert_eq!(sent(&words, &schema()), wanted, "{words:?}");
    }
    assert_eq!(refused(&["code=x", "code.y=1"], &schema()), "argument code.y: code is text, not an object");
    assert_eq!(refused(&["point.x=far"], &schema()), "argument point.x: far is not a whole number");
}

#[test]
fn files_are_text_json_or_base64() {
    assert_eq!(sent(&["code=@note.txt"], &schema()), json!({"code": "two\nlines\n"}));
    assert_eq!(sent(&["any:=@list.json"], &schema()), json!({"any": [1, 2]}));
    assert_eq!(sent(&["blob=@raw"], &schema()), json!({"blob": "AP8B"}));
    assert_eq!(sent(&["blob=AP8B"], &schema()), json!({"blob": "AP8B"}));
    assert_eq!(sent(&["code=@@me"], &schema()), json!({"code": "@me"}));
    assert_eq!(refused(&["code=@raw"], &schema()), "argument code: the file is not UTF-8 text");
    assert_eq!(refused(&["code=@nowhere"], &schema()), "code: nowhere cannot be read: no such file");
}

#[test]
fn what_cannot_fit_is_refused_by_name() {
    for (words, reason) in [
        (vec!["qty=two"], "argument qty: two is not a whole number"),
        (vec!["qty=0"], "argument qty: 0 is below the minimum, 1"),
        (vec!["qty:=0"], "the arguments do not fit the tool: qty: 0 is below the minimum, 1"),
        (vec!["qty:=\"2\""], "the arguments do not fit the tool: qty: \"2\" is text, not a whole number"),
        (vec!["price=1e999"], "argument price: 1e999 is not a number that can be sent"),
        (vec!["any:=1e999"], "argument any: 1e+999 is not a number that can be sent"),
        (vec!["dry=maybe"], "argument dry: maybe is neither yes nor no"),
        (vec!["size=xl"], "argument size: \"xl\" is not one of \"s\", \"m\", 10"),
        (vec!["where=here"], "argument where: here is not a JSON object"),
        (vec!["code=a", "code=b"], "argument code: given twice, but it takes only one value"),
        (vec!["qty:={"], "argument qty: { is not JSON: EOF while parsing an object at line 1 column 1"),
        (vec!["verbose"], "\"verbose\" is not an argument: write key=text, key:=json or key=@file"),
    ] {
        assert_eq!(refused(&words, &schema()), reason, "{words:?}");
    }
}

#[test]
fn closed_objects_name_near_misses() {
    let closed = json!({"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": false});
    assert_eq!(refused(&["titel=x"], &closed), "argument titel: not an argument of this tool; did you mean title?");
    assert_eq!(refused(&["zzz=x"], &closed), "argument zzz: not an argument of this tool");
    let base = read(&[], Some(r#"{"titel": 1}"#), Some(&closed)).expect("parsed").check().expect_err("closed");
    assert_eq!(
        base.to_string(),
        "the arguments do not fit the tool: titel: not an argument of this tool; did you mean title?"
    );
    let open = read(&["qyt=2"], None, Some(&schema())).expect("open");
    assert_eq!(open.warnings, ["the tool has no argument qyt; did you mean qty?"]);
    let typed = json!({"additionalProperties": {"type": "integer"}, "patternProperties": {"^s_": {"type": "string"}}});
    assert_eq!(sent(&["a=5", "s_a=5"], &typed), json!({"a": 5, "s_a": "5"}));
}

#[test]
fn words_lie_over_the_whole_object() {
    let over = |base: &str, words: &[&str]| {
        read(words, Some(base), Some(&schema())).map(|arguments| Value::Object(arguments.values))
    };
    assert_eq!(
        over(r#"{"code": "a", "qty": 1, "to": ["x"], "where": {"k": 1}}"#, &["qty=2", "to=y", "where.l=3"]),
        Ok(json!({"code": "a", "qty": 2, "to": ["y"], "where": {"k": 1, "l": "3"}}))
    );
    assert_eq!(over("-", &[]), Ok(json!({"from": "stdin"})));
    assert_eq!(over("@-", &[]), Ok(json!({"from": "stdin"})));
    assert_eq!(over("@list.json", &[]).expect_err("a list").to_string(), "--args: it is a list, not an object");
    assert_eq!(over("@gone", &[]).expect_err("no file").to_string(), "--args: gone cannot be read: no such file");
}

#[cfg(feature = "schema")]
#[test]
fn missing_arguments_can_be_asked_for() {
    let schema = json!({"type": "object", "required": ["b", "a"], "properties":
        {"a": {"type": "string"}, "q": {"type": "string"}, "b": {"type": "integer"}}, "not": {"required": ["z"]}});
    let mut arguments = read(&["b=1"], None, Some(&schema)).expect("parsed");
    let form = arguments.missing();
    assert_eq!(form.fields.iter().map(|field| field.key.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(form.check(json!({"a": "x"}).as_object().expect("an object")), []);
    let error = arguments.check().expect_err("incomplete");
    assert_eq!(error.to_string(), "the arguments do not fit the tool: a: required, but missing");
    arguments.fill(json!({"a": "x"}).as_object().expect("an object").clone());
    assert_eq!(arguments.check(), Ok(None));
    assert!(arguments.missing().is_empty());
    assert_eq!(Value::Object(arguments.values), json!({"b": 1, "a": "x"}));
}

#[cfg(feature = "schema")]
#[test]
fn a_schema_that_cannot_be_used_is_a_warning() {
    for schema in [
        json!({"type": "object", "$schema": "https://own.example/dialect"}),
        json!({"properties": {"a": {"type": "strin"}}}),
        json!({"properties": {"a": {"$ref": "https://other.example/a.json"}}}),
    ] {
        let arguments = read(&["a=1"], None, Some(&schema)).expect("parsed");
        assert!(arguments.check().expect("not refused").is_some(), "{schema}");
        assert_eq!(Value::Object(arguments.values), json!({"a": "1"}));
    }
}

#[test]
fn without_a_schema_values_are_what_they_look_like() {
    let words = ["a=1", "b=x", "c=[1]", "d.e=true", "f=1e999"];
    let arguments = read(&words, None, None).expect("parsed");
    assert_eq!(arguments.check(), Ok(None));
    assert_eq!(Value::Object(arguments.values), json!({"a": 1, "b": "x", "c": [1], "d": {"e": true}, "f": "1e999"}));
}

#[cfg(feature = "schema")]
#[test]
fn alternatives_at_the_top_are_checked() {
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "oneOf": [{"required": ["id"]}, {"required": ["name"]}]});
    assert_eq!(read(&["id=1"], None, Some(&schema)).expect("parsed").check(), Ok(None));
    assert!(refused(&[], &schema).contains("does not fit any of the alternatives"));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_word_panics(words in proptest::collection::vec("(code|qty|to|where|any|a\\.b|point|\\PC{0,3})[.:=]{0,2}(\\.x)?[:=@]{0,3}\\PC{0,6}", 0..4)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for schema in [Some(&schema()), None] {
            if let Ok(arguments) = read(&words, None, schema) {
                drop(arguments.check());
                drop(arguments.missing());
            }
        }
    }
}

fn unions() -> Value {
    json!({"type": "object", "properties": {
        "two": {"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}, "b": {"type": "boolean"}}},
            {"type": "object", "properties": {"q": {"type": "number"}}}]},
        "shape": {"oneOf": [
            {"type": "object", "required": ["kind", "size"], "properties": {"kind": {"const": "circle"}, "size": {"type": "number"}}},
            {"type": "object", "required": ["kind", "size"], "properties": {"kind": {"const": "label"}, "size": {"type": "string"}}}]},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        "items": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}}}},
        "nested": {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}},
        "ends:": {"type": "integer"}, "numbered": {"type": "object", "properties": {"0": {"type": "integer"}}}}})
}

#[cfg(feature = "schema")]
#[test]
fn values_in_unions_are_read_as_the_whole_fits() {
    for (words, wanted) in [
        (vec!["two.n=2", "two.b=true"], json!({"two": {"n": 2, "b": true}})),
        (vec!["two.q=1.5"], json!({"two": {"q": 1.5}})),
        (vec!["shape.kind=circle", "shape.size=2"], json!({"shape": {"kind": "circle", "size": 2}})),
        (vec!["shape.size=2", "shape.kind=label"], json!({"shape": {"kind": "label", "size": "2"}})),
    ] {
        assert_eq!(sent(&words, &unions()), wanted, "{words:?}");
    }
    let told = refused(&["shape.kind=square", "shape.size=2"], &unions());
    assert!(told.contains("shape.kind"), "{told}");
    let told = refused(&["shape.size=2"], &unions());
    assert!(told.contains("shape.size:=JSON"), "{told}");
}

#[test]
fn paths_lead_into_lists() {
    for (words, wanted) in [
        (
            vec!["items.0.sku=A", "items.0.qty=2", "items.1.sku=B"],
            json!({"items": [{"sku": "A", "qty": 2}, {"sku": "B"}]}),
        ),
        (vec!["pair.0=7", "pair.1=7"], json!({"pair": [7, "7"]})),
        (vec!["nested.tags.0=a", "nested.tags.1=b"], json!({"nested": {"tags": ["a", "b"]}})),
        (vec!["nested.tags=a", "nested.tags=b"], json!({"nested": {"tags": ["a", "b"]}})),
        (vec!["numbered.0=1"], json!({"numbered": {"0": 1}})),
    ] {
        assert_eq!(sent(&words, &unions()), wanted, "{words:?}");
    }
    assert!(refused(&["items.1.sku=A"], &unions()).contains("items has 0 so far; the next is items.0"));
    assert!(refused(&["items.0.sku=A", "items.x=1"], &unions()).contains("items is a list: write items.0.x"));
}

#[test]
fn a_name_that_ends_in_a_colon_is_meant_where_it_is_one() {
    let schema = json!({"type": "object", "properties": {"ends:": {"type": "string"}, "n": {"type": "integer"},
        "n:": {"type": "string"}, "pair": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}}});
    let none = &mut |_: Source<'_>| Err("there is no file".to_owned());
    let mut read = |word: &str| parse(&[word], None, Some(&schema), none).map(|read| Value::Object(read.values));
    assert_eq!(read("ends:=x").expect("a text"), json!({"ends:": "x"}));
    assert_eq!(read("ends:=1").expect("a text"), json!({"ends:": "1"}));
    assert_eq!(read("n:=1").expect("JSON"), json!({"n": 1}));
    assert_eq!(read("pair:=[1, \"x\"]").expect("JSON"), json!({"pair": [1, "x"]}));
    let refused = read("pair=1").expect_err("refused").to_string();
    assert!(refused.contains("write pair.0=… pair.1=…, or pair:=[…]"), "{refused}");
}

#[test]
fn names_that_end_in_a_colon_can_be_written() {
    assert_eq!(sent(&[r"ends\:=1"], &unions()), json!({"ends:": 1}));
    assert_eq!(sent(&[r"ends\::=1"], &unions()), json!({"ends:": 1}));
}

#[test]
fn properties_stand_in_every_member_of_all_of() {
    let schema = json!({"type": "object", "allOf": [{"properties": {"n": {"type": "integer"}}}, {"$ref": "#/$defs/more"}],
        "$defs": {"more": {"allOf": [{"properties": {"b": {"type": "boolean"}}}, {"properties": {"a.b": {"type": "integer"}}}]}},
        "dependentSchemas": {"b": {"properties": {"d": {"type": "integer"}}}}});
    let wanted = json!({"n": 1, "b": true, "a.b": 2, "d": 3});
    assert_eq!(sent(&["n=1", "b=true", "a.b=2", "d=3"], &schema), wanted);
}

#[test]
fn empty_brackets_add_to_a_list() {
    assert_eq!(sent(&["nested.tags[]=a", "nested.tags[]=b"], &unions()), json!({"nested": {"tags": ["a", "b"]}}));
    let own = json!({"type": "object", "properties": {"x[]": {"type": "integer"}, "x": {"type": "array"}, "s": {"type": "string"}}});
    assert_eq!(sent(&["x[]=1", "s[]=2"], &own), json!({"x[]": 1, "s[]": "2"}));
}

#[test]
fn a_list_is_not_taken_for_an_object() {
    for key in ["items.sku", "items.x.sku", "items.-1.sku"] {
        let told = refused(&[&format!("{key}=A")], &unions());
        assert!(told.contains("items is a list: write items.0."), "{told}");
        assert!(told.contains("or items:=[…]"), "{told}");
    }
    assert_eq!(sent(&["any.x=1"], &schema()), json!({"any": {"x": "1"}}));
}

#[cfg(feature = "schema")]
#[test]
fn nulls_in_a_schema_are_no_rules() {
    let schema = json!({"type": "object", "required": [null], "properties": {
        "n": {"type": ["integer", null], "enum": null}, "u": {"anyOf": [null, {"type": "integer"}]}, "x": null}});
    let read = read(&["n=1", "u=2", "x=3"], None, Some(&schema)).expect("parsed");
    assert_eq!(read.check(), Ok(None));
    assert_eq!(Value::Object(read.values), json!({"n": 1, "u": 2, "x": "3"}));
}

#[cfg(feature = "schema")]
#[test]
fn what_an_alternative_lacks_is_told() {
    let told = refused(&["shape.kind=circle"], &unions());
    assert!(told.contains("does not fit any of the alternatives: size is missing"), "{told}");
}
