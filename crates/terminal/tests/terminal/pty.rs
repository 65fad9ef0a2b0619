//! A program in a pseudo-terminal, and what its user sees.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// How long anything may take on a machine that is busy. Nothing waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the screen is before a program starts.
pub struct Screen {
    master: Box<dyn MasterPty + Send>,
    slave: Box<dyn SlavePty + Send>,
    keyboard: Box<dyn Write + Send>,
    output: Arc<(Mutex<Output>, Condvar)>,
    before: String,
}

/// A program that runs on a screen.
pub struct Running {
    screen: Screen,
    child: Box<dyn Child + Send + Sync>,
}

struct Output {
    terminal: vt100::Parser,
    bytes: Vec<u8>,
}

impl Screen {
    pub fn new(columns: u16, rows: u16) -> Self {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let terminal =
            vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 1_000);
        let output = Arc::new((
            Mutex::new(Output {
                terminal,
                bytes: Vec::new(),
            }),
            Condvar::new(),
        ));
        let shared = Arc::clone(&output);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut bytes) {
                let mut output = shared.0.lock().unwrap();
                output.terminal.process(&bytes[..length]);
                output.bytes.extend_from_slice(&bytes[..length]);
                shared.1.notify_all();
            }
        });
        let mut screen = Self {
            master: pair.master,
            slave: pair.slave,
            keyboard,
            output,
            before: String::new(),
        };
        screen.before = screen.modes();
        screen
    }

    /// Starts the example there, with such variables and nothing else of this process's environment.
    pub fn starts(self, arguments: &[&str], variables: &[(&str, &str)]) -> Running {
        let mut command = CommandBuilder::new(example());
        command.args(arguments);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("TERM", "xterm-256color");
        variables
            .iter()
            .for_each(|(name, value)| command.env(name, value));
        let child = self.slave.spawn_command(command).unwrap();
        Running {
            screen: self,
            child,
        }
    }

    pub fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// The settings of the terminal's line.
    fn modes(&self) -> String {
        format!("{:?}", self.master.get_termios().unwrap())
    }
}

impl Running {
    pub fn types(&mut self, keys: &str) {
        self.screen.types(keys);
    }

    /// Waits until the screen shows this.
    pub fn sees(&self, text: &str) {
        self.waits_until(&format!("it shows {text:?}"), |output| {
            output.terminal.screen().contents().contains(text)
        });
    }

    /// Waits until the screen doesn't show this.
    pub fn sees_no(&self, text: &str) {
        self.waits_until(&format!("it doesn't show {text:?}"), |output| {
            !output.terminal.screen().contents().contains(text)
        });
    }

    fn waits_until(&self, what: &str, is_so: impl Fn(&Output) -> bool) {
        let (output, changed) = &*self.screen.output;
        let output = output.lock().unwrap();
        let (output, waited) = changed
            .wait_timeout_while(output, PATIENCE, |output| !is_so(output))
            .unwrap();
        let contents = output.terminal.screen().contents();
        assert!(
            !waited.timed_out(),
            "waited until {what}, and saw\n{contents}"
        );
    }

    /// What the screen shows now.
    pub fn screen(&self) -> String {
        self.screen
            .output
            .0
            .lock()
            .unwrap()
            .terminal
            .screen()
            .contents()
    }

    /// Everything that was ever written to it.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.screen.output.0.lock().unwrap().bytes).into_owned()
    }

    pub fn resizes(&mut self, columns: u16, rows: u16) {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let mut output = self.screen.output.0.lock().unwrap();
        output
            .terminal
            .set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        drop(output);
        self.screen.master.resize(size).unwrap();
    }

    pub fn gets(&self, signal: Signal) {
        let pid = self.child.process_id().unwrap();
        kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for the program's last word and its end, and finds the terminal as it was before. Returns whether it ended
    /// well.
    pub fn ends(mut self, last: &str) -> bool {
        self.sees(last);
        let status = self.child.wait().unwrap();
        assert_eq!(
            self.screen.modes(),
            self.screen.before,
            "the terminal is as it was"
        );
        // A panic tells its message before the terminal is restored, so the rest may still be on its way here.
        self.waits_until("the terminal's modes are as they were", |output| {
            let screen = output.terminal.screen();
            let is_usual =
                !screen.hide_cursor() && !screen.bracketed_paste() && !screen.alternate_screen();
            is_usual && !screen.bold() && screen.fgcolor() == vt100::Color::Default
        });
        status.success()
    }
}

fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(|deps| deps.parent()).unwrap();
    target.join("examples/ask")
}
