use serde_json::{Value, json};

/// The form of `greet`: only the name is required.
pub(super) fn greet() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {
                "type": "string", "title": "Name", "description": "As on your passport",
                "minLength": 2, "maxLength": 20
            },
            "age": {"type": "integer", "title": "Age", "minimum": 18, "maximum": 99},
            "plan": {
                "type": "string", "title": "Plan",
                "oneOf": [
                    {"const": "free", "title": "Free plan", "description": "no card needed"},
                    {"const": "pro", "title": "Pro plan"}
                ]
            },
            "topics": {
                "type": "array", "title": "Topics", "minItems": 1, "maxItems": 2,
                "items": {"anyOf": [
                    {"const": "releases", "title": "Releases"},
                    {"const": "security", "title": "Security"},
                    {"const": "events", "title": "Events"}
                ]}
            }
        },
        "required": ["name"]
    })
}

/// The form of `survey`: every kind of field that a form may have.
pub(super) fn survey() -> Value {
    json!({
        "type": "object",
        "properties": {
            "nickname": {
                "type": "string", "title": "Nickname", "description": "Letters and digits",
                "minLength": 2, "maxLength": 12, "pattern": "^[A-Za-z0-9]+$"
            },
            "city": {"type": "string", "title": "City", "default": "Prague"},
            "email": {"type": "string", "title": "E-mail", "format": "email"},
            "homepage": {"type": "string", "title": "Homepage", "format": "uri"},
            "birthday": {"type": "string", "title": "Birthday", "format": "date"},
            "meeting": {"type": "string", "title": "Next meeting", "format": "date-time"},
            "children": {"type": "integer", "title": "Children", "minimum": 0, "maximum": 20, "default": 0},
            "height": {"type": "number", "title": "Height", "description": "In metres", "minimum": 0.3, "maximum": 2.8},
            "news": {"type": "boolean", "title": "Newsletter", "default": false},
            "rules": {"type": "boolean", "title": "I agree to the rules"},
            "color": {"type": "string", "title": "Colour", "enum": ["red", "green", "blue"], "default": "green"},
            "airport": {
                "type": "string", "title": "Airport",
                "enum": ["prg", "lax"], "enumNames": ["Prague", "Los Angeles"]
            },
            "size": {
                "type": "string", "title": "Size",
                "oneOf": [
                    {"const": "s", "title": "Small"}, {"const": "m", "title": "Medium"}, {"const": "l", "title": "Large"}
                ]
            },
            "languages": {
                "type": "array", "title": "Languages", "minItems": 1, "maxItems": 3,
                "items": {"type": "string", "enum": ["cs", "en", "de", "fr"]}, "default": ["en"]
            },
            "codecs": {
                "type": "array", "title": "Codecs",
                "items": {"anyOf": [{"const": "gz", "title": "Gzip"}, {"const": "zst", "title": "Zstandard"}]}
            }
        },
        "required": ["nickname", "rules", "size"]
    })
}
