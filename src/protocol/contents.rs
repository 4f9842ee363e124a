use base64::{
    Engine as _,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::URL_SAFE},
};
use serde_json::Value;

use super::parse_lenient;

/// One entry of the `contents` of `resources/read` (2025-11-25, *server/resources*), read leniently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceContents {
    /// Its URI, as the server says; empty if the server does not say.
    pub uri: String,
    /// Its MIME type.
    pub mime_type: Option<String>,
    /// What it is.
    pub body: ResourceBody,
}

/// Text or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, which were sent as base64.
    Bytes(Vec<u8>),
}

impl ResourceContents {
    /// The contents in the JSON text of a result.
    ///
    /// # Errors
    /// If there are none, or one of them is neither text nor base64, in our words.
    pub fn all(result: &str) -> Result<Vec<Self>, String> {
        Self::each(result)?.into_iter().collect()
    }

    /// The contents in the JSON text of a result, each by itself: one that is neither text nor base64 is an error in our
    /// words, beside those that can be read.
    ///
    /// # Errors
    /// When the result has no contents, in our words.
    pub fn each(result: &str) -> Result<Vec<Result<Self, String>>, String> {
        let value: Value = parse_lenient(result).map_err(|error| error.to_string())?;
        match &value["contents"] {
            Value::Array(entries) => Ok(entries.iter().map(Self::read).collect()),
            // Some servers send a single entry instead of the list.
            Value::Object(_) => Ok(vec![Self::read(&value["contents"])]),
            _ => Err("the result has no \"contents\" list".to_owned()),
        }
    }

    fn read(entry: &Value) -> Result<Self, String> {
        let text = |key: &str| entry[key].as_str();
        let body = match (text("text"), text("blob")) {
            (Some(words), _) => ResourceBody::Text(words.to_owned()),
            (None, Some(blob)) => ResourceBody::Bytes(decode(blob).ok_or("a blob is not base64")?),
            (None, None) => return Err("an entry of its contents has neither text nor blob".to_owned()),
        };
        let uri = text("uri").unwrap_or_default().to_owned();
        Ok(Self { uri, mime_type: text("mimeType").map(str::to_owned), body })
    }
}

/// Base64, with or without padding, in either alphabet, ignoring line ends.
fn decode(text: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let standard = GeneralPurpose::new(&base64::alphabet::STANDARD, config);
    standard.decode(&text).or_else(|_| URL_SAFE.decode(&text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_blobs_are_read() {
        let read = ResourceContents::all(
            r#"{"contents":[{"uri":"a:1","text":"x"},{"uri":"a:2","mimeType":"image/png","blob":"/+8\n="},{"blob":"/+8"}]}"#,
        );
        let bodies: Vec<ResourceBody> = read.expect("read").into_iter().map(|contents| contents.body).collect();
        let bytes = ResourceBody::Bytes(vec![0xff, 0xef]);
        assert_eq!(bodies, [ResourceBody::Text("x".to_owned()), bytes.clone(), bytes]);
        assert_eq!(ResourceContents::all(r#"{"contents":{"uri":"a:1","text":""}}"#).expect("read").len(), 1);
    }

    #[test]
    fn other_contents_are_reported() {
        for result in ["{}", r#"{"contents":[{"uri":"a"}]}"#, r#"{"contents":[{"blob":"%"}]}"#, "7"] {
            assert!(ResourceContents::all(result).is_err(), "{result}");
        }
    }
}
