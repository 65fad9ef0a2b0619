//! Asking a person: the loop between a prompt, the terminal, and what happens outside.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use midcall_core::Elicitation;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use crate::event::{Effect, End, Event, Key};
use crate::look::Look;
use crate::options::Options;
use crate::outcome::{Followed, Outcome};
use crate::page::Size;
use crate::plain::Plain;
use crate::remote::News;
use crate::styled::Prompt;
use crate::tty::{Session, Terminal, edit};

/// Why a person couldn't be asked. The terminal is as it was.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The terminal can't be read or written.
    #[error("the terminal can't be used: {0}")]
    Io(#[from] io::Error),
    /// The process was told to end while it asked.
    #[error("the process was told to end while it asked")]
    Ended,
}

/// How long keys are ignored after a question has ended; a key makes it longer. What was meant for that question, such as
/// a key that is held down, must not answer the next.
const STRAY: Duration = Duration::from_millis(700);

/// Asks a person one question, and waits until they have answered it or `news` says that it is closed.
///
/// What was typed before the question was shown is dropped. Ctrl-C, SIGINT and the end of input cancel. On SIGTERM and
/// SIGHUP it returns [`AskError::Ended`]; like everything that listens for signals with tokio, it leaves their default
/// actions off for the rest of the process, so the caller should end then.
///
/// Dropping the future takes the prompt away and restores the terminal.
pub async fn ask(
    terminal: &mut Terminal,
    question: &Elicitation,
    options: &Options,
    news: &mut News,
) -> Result<Outcome, AskError> {
    let face = |look: Look, size| match options.plain {
        true => {
            let (plain, effects) = Plain::ask(question, look, None, size);
            (Face::Plain(plain), effects)
        }
        false => {
            let (prompt, effects) = Prompt::ask(question, look, None, size);
            (Face::Styled(prompt), effects)
        }
    };
    match run(terminal, options, news, face).await? {
        End::Asked(outcome) => {
            terminal.taken = Some(Instant::now());
            Ok(outcome)
        }
        End::Followed(_) => unreachable!("only `opened` follows a link"),
    }
}

/// Waits until a person is done with a link that they agreed to open: [`ask`] returned an accepted answer to it. They
/// can open it again, say that they have finished, or cancel. If `question` isn't a link, it is finished already.
pub async fn opened(
    terminal: &mut Terminal,
    question: &Elicitation,
    options: &Options,
    news: &mut News,
) -> Result<Followed, AskError> {
    if matches!(question.wanted, midcall_core::Wanted::Form(_)) {
        return Ok(Followed::Finished);
    }
    terminal.taken = None; // It is still the same question.
    let face = |look: Look, size| match options.plain {
        true => {
            let (plain, effects) = Plain::opened(question, look, None, size);
            (Face::Plain(plain), effects)
        }
        false => (
            Face::Styled(Prompt::opened(question, look, None, size)),
            Vec::new(),
        ),
    };
    match run(terminal, options, news, face).await? {
        End::Followed(followed) => {
            terminal.taken = Some(Instant::now());
            Ok(followed)
        }
        End::Asked(_) => unreachable!("a link that was opened is only followed"),
    }
}

/// A prompt of either kind.
enum Face<'q> {
    Styled(Prompt<'q>),
    Plain(Plain<'q>),
}

impl Face<'_> {
    fn on(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        match self {
            Self::Styled(prompt) => prompt.on(event, now),
            Self::Plain(plain) => plain.on(event, now),
        }
    }

    fn until_tick(&self, now: Instant) -> Option<Duration> {
        match self {
            Self::Styled(prompt) => prompt.until_tick(now),
            Self::Plain(plain) => plain.until_tick(now),
        }
    }
}

async fn run<'q>(
    terminal: &mut Terminal,
    options: &Options,
    news: &mut News,
    face: impl FnOnce(Look, Size) -> (Face<'q>, Vec<Effect>),
) -> Result<End, AskError> {
    let quiet = terminal.taken.take().map(|taken| taken + STRAY);
    let session = terminal.session(options)?;
    let (face, mut effects) = face(options.look(), session.size());
    let mut asking = Asking {
        face,
        session,
        signals: Signals::listen()?,
        options,
        quiet,
        has_news: true,
    };
    loop {
        if let Some(end) = asking.perform(effects).await? {
            return Ok(end);
        }
        asking.draw()?;
        let event = asking.next(news).await?;
        effects = match event.filter(|event| !asking.is_stray(event)) {
            Some(event) => asking.face.on(event, Instant::now()),
            None => Vec::new(),
        };
    }
}

/// A prompt and the terminal it has.
struct Asking<'q> {
    face: Face<'q>,
    session: Session,
    signals: Signals,
    options: &'q Options,
    /// Until when keys are ignored.
    quiet: Option<Instant>,
    /// Whether the other end of the news is there.
    has_news: bool,
}

impl Asking<'_> {
    /// Does what the prompt wants done. Returns how it ended, if it did.
    async fn perform(&mut self, effects: Vec<Effect>) -> Result<Option<End>, AskError> {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            let event = match effect {
                Effect::Print(lines) => {
                    self.session.print(&lines)?;
                    continue;
                }
                Effect::End(end) => return Ok(Some(end)),
                Effect::Open(address) => Event::Launched((self.options.open)(&address)),
                Effect::Edit { text, ending } => Event::Edited(self.edit(&text, ending).await?),
            };
            effects.extend(self.face.on(event, Instant::now()));
        }
        Ok(None)
    }

    /// Gives the terminal to the person's editor.
    async fn edit(&mut self, text: &str, ending: &str) -> io::Result<Option<String>> {
        let Some(editor) = &self.options.editor else {
            return Ok(None);
        };
        let tty = self.session.pause()?;
        let written = edit(editor, text, ending, tty).await;
        self.session.resume()?;
        self.signals.forget();
        Ok(written)
    }

    fn draw(&mut self) -> io::Result<()> {
        match &mut self.face {
            Face::Styled(prompt) => {
                prompt.resize(self.session.size());
                self.session.draw(&prompt.screen(Instant::now()))
            }
            Face::Plain(plain) => self.session.wait_for_line(plain.is_hidden()),
        }
    }

    /// What happens next; nothing if it means nothing.
    async fn next(&mut self, news: &mut News) -> Result<Option<Event>, AskError> {
        let tick = self.face.until_tick(Instant::now());
        tokio::select! {
            biased;
            told = news.0.recv(), if self.has_news => {
                self.has_news = told.is_some();
                Ok(told.map(Event::News))
            }
            is_interrupt = self.signals.next() => match (is_interrupt, &self.face) {
                (true, Face::Styled(_)) => Ok(Some(Event::Key(Key::Ctrl('c')))),
                (true, Face::Plain(_)) => Ok(Some(Event::Eof)),
                (false, _) => Err(AskError::Ended),
            },
            () = sleep(tick.unwrap_or_default()), if tick.is_some() => Ok(Some(Event::Tick)),
            event = self.session.next() => Ok(event?),
        }
    }

    /// Whether something was typed for the question before.
    fn is_stray(&mut self, event: &Event) -> bool {
        let is_typed = match event {
            Event::Key(key) => *key != Key::Ctrl('c'),
            Event::Paste(_) | Event::Line(_) => true,
            _ => false,
        };
        let now = Instant::now();
        let is_stray = is_typed && self.quiet.is_some_and(|quiet| now < quiet);
        if is_stray {
            self.quiet = Some(now + STRAY);
        }
        is_stray
    }
}

/// The signals that end a prompt.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for one. Returns true for an interrupt, which only cancels.
    async fn next(&mut self) -> bool {
        tokio::select! {
            _ = self.interrupt.recv() => true,
            _ = self.terminate.recv() => false,
            _ = self.hang_up.recv() => false,
        }
    }

    /// An interrupt that the person sent to their editor isn't meant for the prompt.
    fn forget(&mut self) {
        while self.interrupt.recv().now_or_never().flatten().is_some() {}
    }
}
