//! `toolnexus answers`: checks and shows answers files before they are needed.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::{
    answers::report::{Case, CheckVerdict, entry_line, entry_value, summary},
    context::Context,
};
use crate::{
    config::Document,
    error::Error,
    files::read_text,
    output::{Printer, table},
    resolver::answers::{AnswersError, AnswersFile, Otherwise},
};

mod report;

/// The JSON Schema of answers files.
pub const SCHEMA: &str = include_str!("../../docs/answers.schema.json");

/// What `answers` takes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus answers check answers.json
  toolnexus answers show answers.json
  toolnexus answers schema > answers.schema.json")]
pub struct AnswersArgs {
    #[command(subcommand)]
    command: AnswersCommand,
}

#[derive(Debug, Subcommand)]
enum AnswersCommand {
    /// Check an answers file and show what it would answer
    #[command(after_help = "Examples:
  toolnexus answers check answers.json
  toolnexus answers check answers.json forms greet --schema schema.json

--schema takes the schema of a form (`requestedSchema`) or the whole params of `elicitation/create`. Exit code 8 means \
that the file has no answer.")]
    Check(CheckArgs),
    /// Show what an answers file contains, with secrets masked
    #[command(after_help = "Examples:
  toolnexus answers show answers.json")]
    Show {
        /// The file, or `-` for stdin
        file: PathBuf,
    },
    /// Print the JSON Schema of answers files
    #[command(after_help = "Examples:
  toolnexus answers schema > answers.schema.json")]
    Schema,
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// The file, or `-` for stdin
    file: PathBuf,
    /// The server that asks
    #[arg(requires = "tool")]
    server: Option<String>,
    /// The tool that was called
    tool: Option<String>,
    /// Answer the question in this file: a form's schema, or the params of a question
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
}

/// Runs `answers`.
///
/// # Errors
/// [`Error::Answers`] if the file is wrong, [`Error::Unanswered`] if it would not answer the question.
pub fn run(args: &AnswersArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    match &args.command {
        AnswersCommand::Check(args) => check(args, printer),
        AnswersCommand::Show { file } => show(&read(file)?, printer),
        AnswersCommand::Schema => Ok(printer.stdout(SCHEMA)?),
    }
}

fn read(path: &Path) -> Result<AnswersFile, Error> {
    if path.as_os_str() == "-" {
        return AnswersFile::parse(&stdin()?, "stdin").map_err(|error| unusable(&error));
    }
    AnswersFile::load(path).map_err(|error| unusable(&error))
}

fn stdin() -> Result<String, Error> {
    read_text(std::io::stdin()).map_err(|error| Error::Answers(format!("stdin cannot be read: {error}")))
}

fn unusable(error: &AnswersError) -> Error {
    Error::Answers(error.to_string())
}

fn check(args: &CheckArgs, printer: &Printer) -> anyhow::Result<()> {
    let file = read(&args.file)?;
    let question = args.schema.as_deref().map(read_question).transpose()?;
    let case = Case::new(file, args.server.as_deref(), args.tool.as_deref(), question);
    let (lines, verdict) = case.judge();
    let answers: Vec<Value> = lines.iter().map(|line| line.value.clone()).collect();
    let value = json!({"file": case.file.name, "entries": case.file.entries.len(), "answers": answers});
    printer.data("check", &value, || {
        let head = format!("{}: {}", case.file.name, summary(&case.file));
        let lines = lines.iter().map(|line| format!("  {}", line.text));
        std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n") + "\n"
    })?;
    match verdict {
        CheckVerdict::Fine => Ok(()),
        CheckVerdict::Unanswered(unanswered) => Err(Error::Unanswered(vec![unanswered]).into()),
    }
}

/// The params of the question in a file: a whole question, or only a form's schema.
fn read_question(path: &Path) -> Result<Value, Error> {
    let wrong = |reason: String| Error::Answers(format!("the schema {} cannot be used: {reason}", path.display()));
    let text = match path.as_os_str().to_str() {
        Some("-") => stdin()?,
        _ => std::fs::File::open(path).and_then(read_text).map_err(|error| wrong(error.to_string()))?,
    };
    let document = Document::parse(&text)
        .map_err(|error| wrong(format!("line {} column {}: {error}", error.place.line, error.place.column)))?;
    match document.root.map(|root| root.to_value()) {
        Some(Value::Object(object)) if is_question(&object) => Ok(Value::Object(object)),
        Some(schema @ Value::Object(_)) => Ok(json!({"message": "", "requestedSchema": schema})),
        _ => Err(wrong("expected an object".to_owned())),
    }
}

fn is_question(object: &Map<String, Value>) -> bool {
    object.contains_key("requestedSchema") || object.get("mode").is_some_and(Value::is_string)
}

fn show(file: &AnswersFile, printer: &Printer) -> anyhow::Result<()> {
    if let Some(plain) = &file.plain {
        let rows: Vec<_> = plain.iter().map(|(key, value)| vec![key.clone(), value.to_string()]).collect();
        printer.data("answers", &json!({"file": file.name, "plain": plain}), || {
            format!("{}: values for every form that they can fill\n{}", file.name, table(&rows, "  "))
        })?;
        return Ok(());
    }
    let otherwise = file.otherwise.map(Otherwise::as_str);
    let entries: Vec<Value> = file.entries.iter().map(entry_value).collect();
    printer.data("answers", &json!({"file": file.name, "otherwise": otherwise, "answers": entries}), || {
        let rows: Vec<Vec<String>> = file.entries.iter().map(entry_line).collect();
        format!("{}: {}\n{}", file.name, summary(file), table(&rows, "  "))
    })?;
    Ok(())
}
