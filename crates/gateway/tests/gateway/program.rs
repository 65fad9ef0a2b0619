//! Starts `midcall` without the settings of the machine that runs the tests.

use std::process::Command;

/// `midcall` without the settings of the person who runs the tests.
pub fn midcall() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_midcall"));
    without_settings(&mut command);
    command
}

/// Takes everything from a command's environment that changes what the program does or says, and
/// everything through which it would find other gateways or a browser.
pub fn without_settings(command: &mut Command) {
    const NAMES: [&str; 6] = [
        "BROWSER",
        "CLICOLOR_FORCE",
        "DISPLAY",
        "NO_COLOR",
        "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR",
    ];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_proxy = text.to_lowercase().ends_with("_proxy");
        if is_proxy || text.starts_with("MIDCALL_") || NAMES.contains(&&*text) {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", "/nowhere");
}
