//! Asking a person: the loop between a prompt, the terminal, and what happens outside.

use std::io;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use midcall_core::Elicitation;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use crate::event::{Effect, End, Event, Key};
use crate::look::Look;
use crate::options::Options;
use crate::outcome::{Closing, Followed, Outcome};
use crate::page::Size;
use crate::plain::Plain;
use crate::remote::News;
use crate::styled::Prompt;
use crate::tty::{Terminal, edit};

/// Why a person couldn't be asked. The terminal is as it was.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The terminal can't be read or written.
    #[error("the terminal can't be used: {0}")]
    Io(#[from] io::Error),
    /// The process was told to end while it asked.
    #[error("the process was told to end while it asked")]
    Ended,
    /// The terminal is gone, or its user sent the end of input where a key was due.
    #[error("the terminal was closed")]
    HungUp,
}

/// How long keys are ignored after a question was taken from under a person's hands; a key makes it longer. What was
/// meant for that question must not answer the next.
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
            if matches!(outcome, Outcome::Closed(_)) {
                terminal.taken = Some(Instant::now());
            }
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
        End::Followed(followed) => Ok(followed),
        End::Asked(_) => Ok(Followed::Closed(Closing::Unavailable)),
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
    let mut signals = Signals::listen()?;
    let mut quiet = terminal.taken.take().map(|taken| taken + STRAY);
    let mut session = terminal.session(options)?;
    let (mut face, mut effects) = face(options.look(), session.size());
    let mut is_open = true;
    loop {
        for effect in std::mem::take(&mut effects) {
            match effect {
                Effect::Print(lines) => session.print(&lines)?,
                Effect::End(end) => return Ok(end),
                Effect::Open(address) => {
                    let is_open = (options.open)(&address);
                    effects.extend(face.on(Event::Launched(is_open), Instant::now()));
                }
                Effect::Edit { text, ending } => {
                    let written = match &options.editor {
                        Some(editor) => {
                            let pause = session.pause()?;
                            let written = edit(editor, &text, ending, pause).await;
                            session.resume()?;
                            signals.forget();
                            written
                        }
                        None => None,
                    };
                    effects.extend(face.on(Event::Edited(written), Instant::now()));
                }
            }
        }
        if !effects.is_empty() {
            continue;
        }
        let now = Instant::now();
        match &mut face {
            Face::Styled(prompt) => {
                prompt.resize(session.size());
                session.draw(&prompt.screen(now))?;
            }
            Face::Plain(plain) => session.wait_for_line(plain.is_hidden())?,
        }
        let tick = face.until_tick(now);
        let event = tokio::select! {
            biased;
            told = news.0.recv(), if is_open => match told {
                Some(told) => Event::News(told),
                None => {
                    is_open = false;
                    continue;
                }
            },
            is_interrupt = signals.next() => match is_interrupt {
                true => Event::Key(Key::Ctrl('c')),
                false => return Err(AskError::Ended),
            },
            () = sleep(tick.unwrap_or_default()), if tick.is_some() => Event::Tick,
            event = session.next() => match event? {
                Some(event) => event,
                None => continue,
            },
        };
        let now = Instant::now();
        let is_typed = matches!(&event, Event::Key(key) if *key != Key::Ctrl('c'))
            || matches!(&event, Event::Paste(_));
        if is_typed && quiet.is_some_and(|quiet| now < quiet) {
            quiet = Some(now + STRAY);
            continue;
        }
        // In plain mode an interrupt comes as a signal, and means the same.
        let event = match (&face, event) {
            (Face::Plain(_), Event::Key(Key::Ctrl('c'))) => Event::Eof,
            (_, event) => event,
        };
        effects = face.on(event, now);
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
