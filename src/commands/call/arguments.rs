use std::{collections::HashMap, path::Path};

use crate::commands::argv::{tool_option, unmarked};
use crate::{
    arguments::{ArgumentError, Arguments, Source, ToolWord, parse, spell_out},
    error::Error,
    files,
    protocol::Tool,
};

/// The content of each file, by name; `None` is standard input.
type Files = HashMap<Option<String>, Result<Vec<u8>, String>>;

/// The arguments on the command line, with the files that they name. The files are read before a server is started,
/// while Ctrl-C still ends the program immediately.
#[derive(Debug)]
pub(crate) struct Given {
    words: Vec<ToolWord>,
    whole: Option<String>,
    files: Files,
}

impl Given {
    /// Reads the files that `words` and `--args` name. `stdin_is_taken` says that standard input is already used.
    ///
    /// # Errors
    /// [`Error::Usage`] for a word that is not an argument, and for a file that cannot be read.
    pub(crate) fn read(words: Vec<String>, whole: Option<String>, stdin_is_taken: bool) -> Result<Self, Error> {
        let mut files = HashMap::new();
        let mut read = |source: Source<'_>| {
            let bytes = match source {
                Source::Stdin if stdin_is_taken => Err("stdin is already used for something else".to_owned()),
                source => from(source, &files),
            };
            files.insert(name(source), bytes.clone());
            bytes
        };
        let words: Vec<ToolWord> = words.iter().map(|word| tool_word(word)).collect();
        let spelled = spell_out(&words, None).map_err(|error| refused(&error))?;
        match parse(&spelled, whole.as_deref(), None, &mut read) {
            // Whether the values fit is only known with the schema.
            Ok(_) | Err(ArgumentError::Refused(_) | ArgumentError::Unfit(_) | ArgumentError::Ambiguous { .. }) => {
                Ok(Self { words, whole, files })
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// Whether arguments came from standard input.
    pub(crate) fn takes_stdin(&self) -> bool {
        self.files.contains_key(&None)
    }

    /// The arguments for `tool`, with types from its schema.
    ///
    /// # Errors
    /// If an argument cannot fit.
    pub(crate) fn typed(&self, tool: Option<&Tool>) -> Result<Arguments, ArgumentError> {
        self.typed_over_base(self.whole.as_deref(), tool)
    }

    /// The arguments for `tool`, which override `whole`, a JSON object.
    ///
    /// # Errors
    /// If an argument cannot fit.
    pub(crate) fn typed_over(&self, whole: &str, tool: Option<&Tool>) -> Result<Arguments, ArgumentError> {
        self.typed_over_base(Some(whole), tool)
    }

    fn typed_over_base(&self, whole: Option<&str>, tool: Option<&Tool>) -> Result<Arguments, ArgumentError> {
        let schema = tool.and_then(|tool| tool.raw.get("inputSchema")).filter(|schema| schema.is_object());
        let mut read = |source: Source<'_>| match self.files.get(&name(source)) {
            Some(bytes) => bytes.clone(),
            None => from(source, &self.files),
        };
        parse(&spell_out(&self.words, schema)?, whole, schema, &mut read)
    }
}

/// A word of the command line; options of the tool carry a mark.
fn tool_word(word: &str) -> ToolWord {
    match tool_option(word) {
        Some(option) => ToolWord::Option(option.to_owned()),
        None => ToolWord::Plain(unmarked(word).to_owned()),
    }
}

/// The error of the run for an argument that cannot be sent.
pub(crate) fn refused(error: &ArgumentError) -> Error {
    let hint = match error {
        ArgumentError::NoArgument(word) if word.trim_start().starts_with('{') => {
            Some(format!("--args takes the whole object: --args {}", shell_words::quote(word)))
        }
        _ => None,
    };
    Error::Usage { message: error.to_string(), hint }
}

fn name(source: Source<'_>) -> Option<String> {
    match source {
        Source::Stdin => None,
        Source::File(name) => Some(name.to_owned()),
    }
}

fn from(source: Source<'_>, files: &Files) -> Result<Vec<u8>, String> {
    match source {
        Source::Stdin if files.contains_key(&None) => Err("stdin has already been read".to_owned()),
        Source::Stdin => files::read_all(std::io::stdin()).map_err(|error| error.to_string()),
        Source::File(name) => files::read(Path::new(name)).map_err(|error| error.to_string()),
    }
}
