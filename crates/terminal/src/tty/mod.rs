//! The terminal: raw while a prompt is drawn, and as it was afterwards, however that ends.

mod editor;
mod keys;
mod paint;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Instant;

use crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rustix::fs::OFlags;
use rustix::termios::{self, LocalModes, OptionalActions, QueueSelector, Termios};
use tokio::net::unix::pipe::Receiver;

use crate::event::{Event, Key};
use crate::options::Options;
use crate::page::{Line, Screen, Size};
use keys::Keys;
use paint::{Paint, Painter};

pub(crate) use editor::edit;

/// The terminal of the person who started this process. Nothing is changed about it except while a question is asked.
#[derive(Debug)]
pub struct Terminal {
    tty: File,
    path: PathBuf,
    /// When a question was taken from under the person's hands.
    pub(crate) taken: Option<Instant>,
}

impl Terminal {
    /// Opens the terminal of this process, even if its standard streams lead elsewhere. An error means that there is
    /// none, or that the process runs in the background, where it must not touch it.
    pub fn open() -> io::Result<Self> {
        let named = [
            rustix::stdio::stdin(),
            rustix::stdio::stderr(),
            rustix::stdio::stdout(),
        ]
        .into_iter()
        .find_map(|stream| termios::ttyname(stream, Vec::new()).ok())
        .and_then(|name| name.into_string().ok())
        .map(PathBuf::from);
        let usual = PathBuf::from("/dev/tty");
        let open = |path: &PathBuf| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .custom_flags(OFlags::NOCTTY.bits() as i32)
                .open(path)
        };
        let (path, tty) = match named.and_then(|path| open(&path).ok().map(|tty| (path, tty))) {
            Some(found) => found,
            None => (usual.clone(), open(&usual)?),
        };
        let terminal = Self {
            tty,
            path,
            taken: None,
        };
        let group = termios::tcgetpgrp(&terminal.tty)?;
        if group != rustix::process::getpgrp() {
            return Err(io::Error::other(
                "this process runs in the background of its terminal",
            ));
        }
        Ok(terminal)
    }

    /// True if another program has the terminal in raw mode: a prompt would destroy its screen.
    pub fn is_raw(&self) -> io::Result<bool> {
        let modes = termios::tcgetattr(&self.tty)?;
        Ok(!modes.local_modes.contains(LocalModes::ICANON))
    }

    /// Begins a prompt.
    pub(crate) fn session(&self, options: &Options) -> io::Result<Session> {
        let restore = Restore {
            tty: self.tty.try_clone()?,
            before: termios::tcgetattr(&self.tty)?,
            is_drawn: !options.plain,
        };
        let input = match options.plain {
            true => {
                let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits() as i32;
                let tty = OpenOptions::new()
                    .read(true)
                    .custom_flags(flags)
                    .open(&self.path)?;
                Input::Lines {
                    tty: Receiver::from_file_unchecked(tty)?,
                    read: Vec::new(),
                    is_due: true,
                }
            }
            false => Input::Keys(None),
        };
        let painter = Painter::new(self.tty.try_clone()?, Paint::of(options));
        let mut session = Session {
            input,
            painter,
            restore,
        };
        session.resume()?;
        Ok(session)
    }
}

/// The terminal while a prompt has it.
pub(crate) struct Session {
    input: Input,
    painter: Painter,
    restore: Restore,
}

/// Where what the person types comes from.
enum Input {
    /// Keys, unless they are somebody else's for a while.
    Keys(Option<Keys>),
    /// Lines, from a terminal that edits them itself.
    Lines {
        tty: Receiver,
        read: Vec<u8>,
        /// Whether the next line still has to be asked for.
        is_due: bool,
    },
}

/// Puts the terminal back as it was when it is dropped.
struct Restore {
    tty: File,
    before: Termios,
    is_drawn: bool,
}

impl Session {
    pub fn size(&self) -> Size {
        let size = termios::tcgetwinsize(&self.restore.tty).ok();
        let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or(
            Size {
                columns: 80,
                rows: 24,
            },
            |size| Size {
                columns: size.ws_col.into(),
                rows: size.ws_row.into(),
            },
        )
    }

    /// Prints lines above the prompt, for good.
    pub fn print(&mut self, lines: &[Line]) -> io::Result<()> {
        if let Input::Lines { is_due, .. } = &mut self.input {
            *is_due = true;
        }
        self.painter.print(lines)
    }

    pub fn draw(&mut self, screen: &Screen) -> io::Result<()> {
        let columns = self.size().columns;
        self.painter.draw(screen, columns)
    }

    /// Asks for a line.
    pub fn wait_for_line(&mut self, is_hidden: bool) -> io::Result<()> {
        let mut modes = self.restore.before.clone();
        modes.local_modes |= LocalModes::ICANON | LocalModes::ISIG;
        modes.local_modes.set(LocalModes::ECHO, !is_hidden);
        modes.local_modes.set(LocalModes::ECHONL, is_hidden);
        termios::tcsetattr(&self.restore.tty, OptionalActions::Drain, &modes)?;
        if let Input::Lines { is_due, .. } = &mut self.input
            && std::mem::take(is_due)
        {
            self.painter.write("> ")?;
        }
        Ok(())
    }

    /// What the person does next; nothing if it means nothing.
    pub async fn next(&mut self) -> io::Result<Option<Event>> {
        match &mut self.input {
            Input::Keys(Some(keys)) => Ok(meant(keys.next().await?)),
            Input::Keys(None) => std::future::pending().await,
            Input::Lines { tty, read, is_due } => {
                let line = next_line(tty, read).await?;
                *is_due = true;
                Ok(Some(line.map_or(Event::Eof, Event::Line)))
            }
        }
    }

    /// Gives the terminal to another program for a while.
    pub fn pause(&mut self) -> io::Result<File> {
        if let Input::Keys(keys) = &mut self.input {
            *keys = None;
        }
        self.painter.clear()?;
        self.restore.now();
        self.restore.tty.try_clone()
    }

    /// Takes it back. What was typed before can't be meant for what is asked now.
    pub fn resume(&mut self) -> io::Result<()> {
        if let Input::Keys(keys) = &mut self.input {
            crossterm::terminal::enable_raw_mode()?;
            self.painter.write("\x1b[?2004h")?;
            termios::tcflush(&self.restore.tty, QueueSelector::IFlush)?;
            *keys = Some(Keys::listen()?);
        } else {
            termios::tcflush(&self.restore.tty, QueueSelector::IFlush)?;
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Input::Keys(keys) = &mut self.input {
            *keys = None;
            let _ = self.painter.clear(); // the terminal may be gone
        }
        // What was typed too late must not become a command of the person's shell.
        let _ = termios::tcflush(&self.restore.tty, QueueSelector::IFlush);
    }
}

impl Restore {
    fn now(&mut self) {
        if self.is_drawn {
            let _ = crossterm::terminal::disable_raw_mode(); // the terminal may be gone
            let _ = self.tty.write_all(b"\x1b[?2004l\x1b[?25h\x1b[0m");
        }
        let _ = termios::tcsetattr(&self.tty, OptionalActions::Drain, &self.before);
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        self.now();
    }
}

/// The next line; nothing if there will be none.
async fn next_line(tty: &Receiver, read: &mut Vec<u8>) -> io::Result<Option<String>> {
    loop {
        if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = read.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            return Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()));
        }
        tty.readable().await?;
        let mut bytes = [0; 4096];
        match tty.try_read(&mut bytes) {
            Ok(0) => return Ok(None),
            Ok(length) => read.extend_from_slice(&bytes[..length]),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) => {}
            Err(error) => return Err(error),
        }
    }
}

/// What an event of the terminal means to a prompt.
fn meant(event: event::Event) -> Option<Event> {
    match event {
        event::Event::Key(key) if key.kind != KeyEventKind::Release => pressed(key).map(Event::Key),
        event::Event::Paste(text) => Some(Event::Paste(text)),
        event::Event::Resize(..) => Some(Event::Tick),
        _ => None,
    }
}

fn pressed(key: KeyEvent) -> Option<Key> {
    let has = |modifier| key.modifiers.contains(modifier);
    Some(match key.code {
        KeyCode::Char('j') if has(KeyModifiers::CONTROL) => Key::NewLine,
        KeyCode::Char(letter) if has(KeyModifiers::CONTROL) => {
            Key::Ctrl(letter.to_ascii_lowercase())
        }
        KeyCode::Char(_) if has(KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Enter if has(KeyModifiers::ALT) => Key::NewLine,
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Esc => Key::Esc,
        _ => return None,
    })
}
