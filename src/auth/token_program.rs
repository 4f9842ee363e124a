use std::{process::Stdio, time::Duration};

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::Value;
use tokio::{
    io::AsyncReadExt as _,
    process::Command,
    sync::{Mutex, watch},
    time::timeout,
};

use crate::{
    config::{Prints, TokenProgram},
    transport::{Credentials, CredentialsError, Grant, Refused},
};

/// How long the program may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much it may print, in bytes.
const LARGEST: u64 = 64 << 10;

/// Credentials from another program: it is run when they are needed, and again when they were refused.
pub struct ProgramCredentials {
    program: TokenProgram,
    printed: Mutex<Option<Grant>>,
    asking: watch::Sender<bool>,
}

crate::text::opaque! { ProgramCredentials }

impl ProgramCredentials {
    /// The credentials that `program` prints.
    pub fn new(program: TokenProgram) -> Self {
        Self { program, printed: Mutex::default(), asking: watch::Sender::new(false) }
    }

    async fn run(&self) -> Result<Grant, CredentialsError> {
        let name = self.program.words.first().map(String::as_str).unwrap_or_default();
        let wrong = |what: String| CredentialsError::new(format!("{name:?}, which prints the credentials, {what}"));
        let mut command = Command::new(name);
        command.args(self.program.words.iter().skip(1)).current_dir(&self.program.folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| wrong(format!("did not start: {error}")))?;
        let stdout = child.stdout.take();
        let ended = timeout(PATIENCE, async {
            let mut text = String::new();
            if let Some(stdout) = stdout {
                stdout.take(LARGEST).read_to_string(&mut text).await?;
            }
            std::io::Result::Ok((text, child.wait().await?))
        });
        let ended = ended.await.map_err(|_| wrong(format!("took more than {} s", PATIENCE.as_secs())))?;
        let (text, status) = ended.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if !status.success() {
            return Err(wrong(format!("failed ({status})")));
        }
        read(self.program.prints, text.trim()).map_err(|what| wrong(what.to_owned()))
    }
}

/// Parses the program's output, which is secret and never shown.
fn read(prints: Prints, text: &str) -> Result<Grant, &'static str> {
    let grant = match prints {
        Prints::Token if text.is_empty() => return Err("printed nothing"),
        Prints::Token if text.contains(char::is_whitespace) => return Err("printed more than a token"),
        Prints::Token => Grant::bearer(text),
        Prints::Headers => {
            let Ok(Value::Object(object)) = serde_json::from_str(text) else {
                return Err("did not print a JSON object of headers");
            };
            let pairs = object.into_iter().map(|(name, value)| match value {
                Value::String(value) => Some((name, value)),
                _ => None,
            });
            Grant(pairs.collect::<Option<_>>().ok_or("printed a header whose value is not a string")?)
        }
    };
    let can_be_sent = |(name, value): &(String, String)| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
            && !value.chars().any(char::is_control)
    };
    if grant.0.iter().all(can_be_sent) { Ok(grant) } else { Err("printed a header that cannot be sent") }
}

impl Credentials for ProgramCredentials {
    fn headers(&self) -> BoxFuture<'_, Result<Grant, CredentialsError>> {
        async {
            let mut printed = self.printed.lock().await;
            if let Some(grant) = &*printed {
                return Ok(grant.clone());
            }
            let grant = self.run().await?;
            *printed = Some(grant.clone());
            Ok(grant)
        }
        .boxed()
    }

    fn refused<'a>(&'a self, refusal: &'a Refused) -> BoxFuture<'a, Result<bool, CredentialsError>> {
        async {
            if refusal.status != 401 {
                return Ok(false);
            }
            let mut printed = self.printed.lock().await;
            if printed.as_ref().is_some_and(|grant| *grant != refusal.grant) {
                return Ok(true);
            }
            let grant = self.run().await?;
            // The same credentials would be refused again.
            let is_new = grant != refusal.grant;
            *printed = Some(grant);
            Ok(is_new)
        }
        .boxed()
    }

    fn asking(&self) -> watch::Receiver<bool> {
        self.asking.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_checked() {
        assert_eq!(read(Prints::Token, "abc"), Ok(Grant::bearer("abc")));
        assert_eq!(read(Prints::Headers, r#"{"X-A": "1"}"#), Ok(Grant(vec![("X-A".into(), "1".into())])));
        for (prints, text) in [
            (Prints::Token, ""),
            (Prints::Token, "two words"),
            (Prints::Headers, "abc"),
            (Prints::Headers, r#"{"X": 1}"#),
            (Prints::Headers, r#"{"X": "a\r\nY: b"}"#),
            (Prints::Headers, r#"{"X Y": "a"}"#),
        ] {
            assert!(read(prints, text).is_err(), "{text}");
        }
    }
}
