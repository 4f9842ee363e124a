use std::{io::ErrorKind, path::Path, sync::Arc, time::Duration};

use anyhow::Context as _;
use clap::ValueEnum;
use serde_json::{Map, Value};

use crate::commands::{
    context::Context,
    options::{ELICIT_VARIABLE, ElicitPolicy, QuestionArgs},
    server::over_http::{Browser, browser},
};
use crate::{
    client::SignInOptions,
    config::Environment,
    elicitation::Resolver,
    error::Error,
    files::read_text,
    output::Printer,
    resolver::{
        AnswerProgram, Chain, Deferred, LineSink, Pending, Person, ProgramError, Recorder,
        answers::{Answers, AnswersError, AnswersFile, LinkSink, Otherwise, Overlay},
    },
    terminal::Terminal,
};

/// How long a program may take for an answer, unless an option says otherwise.
const PROGRAM_LIMIT: Duration = Duration::from_secs(60);

/// Who answers the questions of a run, according to its options.
#[derive(Clone, Default)]
pub(crate) struct Questions {
    /// The resolver; with `None`, elicitation is not declared.
    pub(crate) resolver: Option<Arc<dyn Resolver>>,
    /// Who signs in, and how.
    pub(crate) sign_in: SignInOptions,
    /// How long to wait for an accepted link.
    pub(crate) url_wait: Option<Duration>,
    answers: Option<Arc<Answers>>,
    recorder: Option<Recorder>,
    terminal: Option<Terminal>,
    browser: Option<Browser>,
    /// Whether it belongs to a shell, which finishes it.
    is_lent: bool,
}

impl Questions {
    /// Reads the files that the options name, before anything is started. `stdin_is_taken` says that arguments come
    /// from standard input.
    ///
    /// # Errors
    /// [`Error::Usage`] for options that contradict each other, [`Error::Answers`] for a file that cannot be used.
    pub(crate) fn new(args: &QuestionArgs, stdin_is_taken: bool, printer: &Arc<Printer>) -> anyhow::Result<Self> {
        Self::build(args, stdin_is_taken, false, printer)
    }

    /// Like [`Questions::new`], for a command; a line of a shell without its own options uses the shell's.
    ///
    /// # Errors
    /// As for [`Questions::new`].
    pub(crate) fn of(args: &QuestionArgs, stdin_is_taken: bool, context: &Context) -> anyhow::Result<Self> {
        match &context.shared {
            Some(shared) if args.is_plain() => Ok(shared.questions.lent()),
            Some(_) => Self::new(args, true, &context.printer),
            None => Self::new(args, stdin_is_taken, &context.printer),
        }
    }

    /// The same for a line of a shell, which does not finish it.
    pub(crate) fn lent(&self) -> Self {
        Self { is_lent: true, ..self.clone() }
    }

    /// Whether a connection of the shell can be used with this.
    pub(crate) fn fits(&self) -> bool {
        self.is_lent || (self.url_wait.is_none() && self.resolver.is_some())
    }

    /// Like [`Questions::new`], for a call that was put aside: a question that is still open keeps waiting, unless an
    /// option or the answers file says otherwise.
    ///
    /// # Errors
    /// As for [`Questions::new`].
    pub(crate) fn of_pending(args: &QuestionArgs, printer: &Arc<Printer>) -> anyhow::Result<Self> {
        Self::build(args, false, true, printer)
    }

    /// For a listing, which must be the same as in a call: some servers offer certain tools only to clients that can be
    /// asked. A question during a listing is asked at the terminal, or answered with cancel.
    pub(crate) fn for_listing() -> Self {
        let terminal = Terminal::open(false);
        let otherwise = if terminal.is_some() { Otherwise::Prompt } else { Otherwise::Fail };
        let person = terminal.clone().map(|terminal| Arc::new(Person::new(terminal, true)) as Arc<dyn Resolver>);
        let sign_in = SignInOptions { person: person.clone(), ..SignInOptions::default() };
        let chain = Chain::new(Vec::new(), person, otherwise);
        Self { resolver: Some(Arc::new(chain)), sign_in, terminal, ..Self::default() }
    }

    /// For a sign-in: the server itself may not ask anything.
    pub(crate) fn for_login(sign_in: SignInOptions) -> Self {
        Self { sign_in, ..Self::default() }
    }

    fn build(
        args: &QuestionArgs,
        stdin_is_taken: bool,
        is_pending: bool,
        printer: &Arc<Printer>,
    ) -> anyhow::Result<Self> {
        let answers = read_answers(args)?;
        let terminal = Terminal::open(args.takes_stdin() || stdin_is_taken);
        let policy = Policy::new(args)?;
        let browser = policy.wants_browser(terminal.is_some()).then(|| browser(args, printer)).transpose()?;
        let at_terminal = terminal.clone().filter(|_| browser.is_none());
        let person = at_terminal.map(|terminal| Arc::new(Person::new(terminal, !args.no_browser)) as Arc<dyn Resolver>);
        let mut person = person.or_else(|| browser.clone().map(|browser| Arc::new(browser) as Arc<dyn Resolver>));
        if args.elicit_timeout.is_some() && args.on_elicit.is_none() && browser.is_none() {
            return Err(Error::usage("--elicit-timeout needs --on-elicit, or --elicit browser").into());
        }
        // A sign-in is the host's own question: the options for servers' questions do not apply.
        let sign_in = SignInOptions { person: person.clone(), ..SignInOptions::default() };
        if policy.is_off(args)? {
            return Ok(Self { sign_in, terminal, ..Self::default() });
        }
        let said = answers.as_ref().and_then(|(file, _)| file.otherwise);
        let waits_on = is_pending && policy.lets_wait() && said.is_none();
        let otherwise = policy.otherwise(said, person.is_some());
        let answers = answers.map(|(file, overlay)| Arc::new(Answers::new(file, overlay, links(printer, args))));
        let program = args.on_elicit.as_ref().map(|words| program(words, args, printer)).transpose()?;
        let first = answers.clone().map(|answers| answers as Arc<dyn Resolver>);
        let deferred = args.defer.as_ref().map(|path| deferred(path)).transpose()?;
        let mut resolvers: Vec<_> = first.into_iter().chain(program).chain(deferred).collect();
        if waits_on {
            resolvers.extend(person.take());
            resolvers.push(Arc::new(Deferred));
        }
        let chain: Arc<dyn Resolver> = Arc::new(Chain::new(resolvers, person, otherwise));
        let recorder = args.record.as_ref().map(|path| {
            let recorder = Recorder::new(Arc::clone(&chain), path);
            recorder.map_err(|error| match error.kind() {
                ErrorKind::InvalidInput => {
                    Error::usage(format!("the record {} cannot be written: {error}", path.display()))
                }
                _ => Error::Answers(format!("the record {} cannot be written: {error}", path.display())),
            })
        });
        let recorder = recorder.transpose()?;
        let resolver = recorder.clone().map_or(chain, |recorder| Arc::new(recorder));
        Ok(Self {
            resolver: Some(resolver),
            sign_in,
            url_wait: args.url_wait,
            answers,
            recorder,
            terminal,
            browser,
            is_lent: false,
        })
    }

    /// Sets the arguments of the call, which are shown with its questions.
    pub(crate) fn set_arguments(&self, arguments: &Map<String, Value>) {
        if let Some(browser) = &self.browser {
            browser.set_arguments(arguments);
        }
    }

    /// The terminal, if there is one at which a person can be asked.
    pub(crate) fn terminal(&self) -> Option<&Terminal> {
        self.terminal.as_ref()
    }

    /// Ends the pages in a browser and writes the record, when no more questions can arrive. If the call `ended_well`,
    /// unused answers are reported, too.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub(crate) async fn finish(&self, printer: &Printer, ended_well: bool) -> anyhow::Result<()> {
        if self.is_lent {
            return Ok(());
        }
        if let Some(browser) = &self.browser {
            browser.close().await;
        }
        let unused = self.answers.as_ref().filter(|_| ended_well).map(|answers| answers.unused()).unwrap_or_default();
        for unused in unused {
            printer.warning(&format!("not used: {unused}"))?;
        }
        if let Some(recorder) = &self.recorder {
            for secret in recorder.save().context("the record cannot be written")? {
                printer.warning(&format!("not recorded, because it looks like a secret: {secret}"))?;
            }
        }
        Ok(())
    }
}

impl QuestionArgs {
    /// Whether no option is given.
    pub(crate) fn is_plain(&self) -> bool {
        let others = self.elicit.is_some() || self.elicit_timeout.is_some() || self.url_wait.is_some();
        self.first().is_none() && !others && !self.no_browser
    }

    /// Whether answers come from standard input.
    pub(crate) fn takes_stdin(&self) -> bool {
        self.answers.as_deref() == Some(Path::new("-"))
    }

    /// The first option about answers that was given.
    fn first(&self) -> Option<&'static str> {
        let given = [
            (self.answers.is_some(), "--answers"),
            (!self.answer.is_empty(), "--answer"),
            (self.on_elicit.is_some(), "--on-elicit"),
            (self.defer.is_some(), "--defer"),
            (self.record.is_some(), "--record"),
        ];
        given.into_iter().find_map(|(given, option)| given.then_some(option))
    }
}

fn read_answers(args: &QuestionArgs) -> anyhow::Result<Option<(AnswersFile, Overlay)>> {
    let overlay = Overlay::parse(&args.answer).map_err(|error| Error::usage(error.to_string()))?;
    let file = match args.answers.as_deref() {
        None if overlay.is_empty() => return Ok(None),
        None => AnswersFile::default(),
        Some(path) if path == Path::new("-") => {
            let text = read_text(std::io::stdin()).map_err(|error| {
                unusable(&AnswersError::Unreadable { path: path.to_owned(), reason: error.to_string() })
            })?;
            AnswersFile::parse(&text, "stdin").map_err(|error| unusable(&error))?
        }
        Some(path) => AnswersFile::load(path).map_err(|error| unusable(&error))?,
    };
    Ok(Some((file, overlay)))
}

fn unusable(error: &AnswersError) -> Error {
    Error::Answers(error.to_string())
}

/// The program of `--on-elicit`. Its standard error is shown as it arrives.
fn program(words: &str, args: &QuestionArgs, printer: &Arc<Printer>) -> Result<Arc<dyn Resolver>, Error> {
    let stderr = Arc::clone(printer);
    let lines: LineSink = Arc::new(move |line| stderr.program_line(line));
    let limit = args.elicit_timeout.unwrap_or(PROGRAM_LIMIT);
    match AnswerProgram::new(words, limit, lines, links(printer, args)) {
        Ok(program) => Ok(Arc::new(program)),
        Err(error @ ProgramError::Missing(_)) => Err(Error::Answers(error.to_string())),
        Err(error) => Err(Error::usage(error.to_string())),
    }
}

/// The resolver that puts questions aside, after checking that `path` can be written.
fn deferred(path: &Path) -> Result<Arc<dyn Resolver>, Error> {
    let place = Pending::check_place(path);
    place.map_err(|error| Error::Answers(format!("a call cannot be put aside in {}: {error}", path.display())))?;
    Ok(Arc::new(Deferred))
}

/// The policy for a question that nothing answered: from the option, or else from the variable.
#[derive(Clone, Copy)]
struct Policy {
    option: Option<ElicitPolicy>,
    variable: Option<ElicitPolicy>,
}

impl Policy {
    fn new(args: &QuestionArgs) -> Result<Self, Error> {
        let environment = Environment::current();
        let word = environment.variable(ELICIT_VARIABLE).filter(|word| !word.is_empty());
        let variable = word.map(|word| {
            ElicitPolicy::from_str(word, false).map_err(|_| {
                let known: Vec<_> =
                    ElicitPolicy::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
                let known: Vec<&str> = known.iter().map(clap::builder::PossibleValue::get_name).collect();
                Error::usage(format!("the variable {ELICIT_VARIABLE} is {word:?}, not one of {}", known.join(", ")))
            })
        });
        Ok(Self { option: args.elicit, variable: variable.transpose()? })
    }

    fn said(self) -> Option<ElicitPolicy> {
        self.option.or(self.variable)
    }

    /// Whether a person is asked in a browser.
    fn wants_browser(self, has_terminal: bool) -> bool {
        match self.said() {
            Some(ElicitPolicy::Browser) => true,
            Some(ElicitPolicy::Ask) => !has_terminal,
            _ => false,
        }
    }

    /// Whether servers may not ask at all. The variable says so only if no option for answers was given.
    fn is_off(self, args: &QuestionArgs) -> Result<bool, Error> {
        match (self.option, self.variable, args.first()) {
            (Some(ElicitPolicy::Off), _, Some(option)) => {
                Err(Error::usage(format!("--elicit off cannot be used with {option}")))
            }
            (Some(ElicitPolicy::Off), ..) | (None, Some(ElicitPolicy::Off), None) => Ok(true),
            _ => Ok(false),
        }
    }

    /// Whether a call that was put aside may keep waiting.
    fn lets_wait(self) -> bool {
        matches!(self.said(), None | Some(ElicitPolicy::Prompt | ElicitPolicy::Browser | ElicitPolicy::Ask))
    }

    /// What happens to a question that nothing answered: according to the option, the file, the variable, or else to
    /// whether there is a person.
    fn otherwise(self, file: Option<Otherwise>, person: bool) -> Otherwise {
        let by_default = if person { Otherwise::Prompt } else { Otherwise::Fail };
        let word = |policy: ElicitPolicy| match policy {
            ElicitPolicy::Prompt | ElicitPolicy::Browser | ElicitPolicy::Ask => Otherwise::Prompt,
            ElicitPolicy::Decline => Otherwise::Decline,
            ElicitPolicy::Cancel => Otherwise::Cancel,
            ElicitPolicy::Fail | ElicitPolicy::Off => Otherwise::Fail,
        };
        self.option.map(word).or(file).or(self.variable.map(word)).unwrap_or(by_default)
    }
}

/// Prints each link that an answers file accepts, and opens it if the file says so.
fn links(printer: &Arc<Printer>, args: &QuestionArgs) -> LinkSink {
    let printer = Arc::clone(printer);
    let browser = !args.no_browser;
    Arc::new(move |question, open| {
        // Refused links do not get here.
        let Some(link) = question.link().map(Arc::clone) else { return };
        printer.link(&question.origin.server, &link);
        if open && browser {
            let printer = Arc::clone(&printer);
            // Starting a browser may take long, and nobody waits for it.
            std::thread::spawn(move || {
                if let Err(error) = webbrowser::open(&link.url) {
                    drop(printer.warning(&format!("the browser did not start: {error}")));
                }
            });
        }
    })
}
