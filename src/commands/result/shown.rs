use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, value::RawValue};

use crate::{
    config::Environment,
    error::Error,
    output::{Pictures, Printer, ResultLook, Saved, part, save_blocks},
    protocol::{CallToolResult, ResultOutline, parse_lenient},
};

/// Options for how a result is shown.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for the result")]
pub struct ResultArgs {
    /// Save images, audio and embedded resources in this folder; existing files are kept
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Show images in the terminal, if it can: kitty, Ghostty, iTerm2, WezTerm, Konsole, mintty (not as sixel)
    #[arg(long)]
    pub images: bool,
    /// Print only one part, text without quotes: content[0].text, items[0].name, or a JSON pointer
    #[arg(long, value_name = "PATH")]
    pub select: Option<String>,
}

impl ResultArgs {
    /// Whether files can probably be saved; checked before the call.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is something else in the folder's place.
    pub(crate) fn ready(&self) -> Result<(), Error> {
        let Some(folder) = self.save.as_ref().filter(|folder| folder.symlink_metadata().is_ok()) else { return Ok(()) };
        let reason = match folder.metadata() {
            Ok(there) if there.is_dir() => return Ok(()),
            Ok(_) => "it is not a folder",
            Err(_) => "it is a broken link",
        };
        Err(Error::usage(format!("nothing can be saved in {}: {reason}", folder.display())))
    }

    /// Prints a result, or the selected part of it.
    ///
    /// # Errors
    /// [`Error::NoPart`] if there is no such part; [`Error::Io`] if stdout or the folder cannot be written.
    pub(crate) fn show(
        &self,
        printer: &Printer,
        result: &RawValue,
        outline: &ResultOutline<'_>,
        reads: Option<&(String, String)>,
    ) -> anyhow::Result<()> {
        let is_whole = self.save.is_none() && self.select.is_none() && !self.images;
        if is_whole && printer.result_as_it_came(result, outline)? {
            return Ok(());
        }
        let view = &CallToolResult::from_raw(result);
        // The result is printed first, even if the files cannot be saved.
        let (saved, trouble) = match self.saved(view) {
            Ok(saved) => (saved, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let pictures = self.pictures(printer)?;
        match &self.select {
            // A failed result is printed whole, because it has another shape.
            Some(path) if !view.is_error => {
                for saved in saved.into_iter().flatten() {
                    match saved {
                        Ok(path) => printer.note(&format!("saved {}", path.display()))?,
                        Err(reason) => printer.warning(&reason)?,
                    }
                }
                printer.part(&selected(result, view, path)?)?;
            }
            Some(_) => printer.failure(result, view)?,
            None => printer.result(result, view, &ResultLook { saved: &saved, pictures, reads })?,
        }
        trouble.map_or(Ok(()), |error| Err(error.into()))
    }

    /// How images are shown, if they were requested and can be shown.
    fn pictures(&self, printer: &Printer) -> anyhow::Result<Option<Pictures>> {
        if !self.images {
            return Ok(None);
        }
        let found = if printer.mode().is_text() && printer.is_terminal() {
            Pictures::of_terminal(&Environment::current())
        } else {
            Err("images are shown only at a terminal".to_owned())
        };
        match found {
            Ok(pictures) => Ok(Some(pictures)),
            Err(reason) => {
                printer.warning(&format!("no image is shown: {reason}; --save DIR saves images"))?;
                Ok(None)
            }
        }
    }

    /// Saves images, audio and resources.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be created.
    pub(crate) fn saved(&self, view: &CallToolResult) -> Result<Vec<Saved>, Error> {
        let Some(folder) = &self.save else { return Ok(Vec::new()) };
        save_blocks(folder, &view.content)
            .map_err(|error| Error::Io(format!("the folder {} cannot be created: {error}", folder.display())))
    }
}

/// The part at `path`: of the result itself, or else of its essential content.
///
/// # Errors
/// [`Error::NoPart`] if there is no such part.
pub(crate) fn selected(result: &RawValue, view: &CallToolResult, path: &str) -> Result<Value, Error> {
    let whole = parse_lenient(result.get()).unwrap_or_default();
    let reason = match part(&whole, path) {
        Ok(found) => return Ok(found.clone()),
        Err(reason) => reason,
    };
    let data: Option<Value> = view.data().and_then(|data| parse_lenient(&data).ok());
    match data.filter(|data| data.is_object() || data.is_array()) {
        Some(data) => match part(&data, path) {
            Ok(found) => Ok(found.clone()),
            Err(_) if begins_with_key(path, &whole) => Err(Error::NoPart(reason)),
            Err(reason) => Err(Error::NoPart(reason)),
        },
        None => Err(Error::NoPart(reason)),
    }
}

fn begins_with_key(path: &str, whole: &Value) -> bool {
    let first = path.trim_start_matches('/').split(['.', '[', '/']).next().unwrap_or_default();
    whole.get(first).is_some()
}
