//! All stored sign-ins, as one entry of the system's keyring.

#[cfg(feature = "keyring")]
mod system {
    use keyring::v1::{Entry, Error};

    fn entry() -> Result<Entry, String> {
        Entry::store_status().as_ref().map_err(|error| format!("no keyring can be used ({error})"))?;
        Entry::new(env!("CARGO_PKG_NAME"), "sign-ins").map_err(|error| error.to_string())
    }

    /// The entry's text; `None` if there is no entry.
    pub(in crate::auth) fn read() -> Result<Option<String>, String> {
        away(|| match entry()?.get_password() {
            Ok(text) => Ok(Some(text)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Writes the entry.
    pub(in crate::auth) fn write(text: &str) -> Result<(), String> {
        let text = text.to_owned();
        away(move || entry()?.set_password(&text).map_err(|error| error.to_string()))
    }

    /// On a thread outside any runtime: it waits for the system, and perhaps for a person to unlock the keyring.
    fn away<T: Send + 'static>(ask: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
        let asked = std::thread::spawn(ask).join();
        asked.unwrap_or_else(|_| Err("it stopped unexpectedly".to_owned()))
    }
}

#[cfg(not(feature = "keyring"))]
mod system {
    const WITHOUT: &str = "this toolnexus was built without it (feature `keyring`)";

    pub(in crate::auth) fn read() -> Result<Option<String>, String> {
        Err(WITHOUT.to_owned())
    }

    pub(in crate::auth) fn write(_: &str) -> Result<(), String> {
        Err(WITHOUT.to_owned())
    }
}

pub(super) use system::{read, write};
