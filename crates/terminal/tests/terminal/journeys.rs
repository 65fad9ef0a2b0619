//! What people live at a real terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use crate::pty::{Running, Screen};

const APPROVE: &str =
    r#"{"message": "Go?", "requestedSchema": {"type": "object", "properties": {}}}"#;
const TEXT: &str = r#"{"message": "Words?", "requestedSchema": {"type": "object", "properties": {"words": {"type": "string"}}}}"#;
const SECRET: &str = r#"{"message": "Key?", "requestedSchema": {"type": "object", "properties": {"key": {"type": "string", "format": "password"}}}}"#;
const LONG: &str = r#"{"message": "Tale?", "requestedSchema": {"type": "object", "properties": {"tale": {"type": "string", "format": "textarea"}}}}"#;

fn start(arguments: &[&str]) -> Running {
    Screen::new(80, 24).starts(arguments, &[])
}

#[test]
fn a_form_is_filled_in_corrected_and_sent() {
    let mut person = start(&[]);
    person.sees("1 of 7 · Name *");
    person.types("Ana\r");
    person.sees("2 of 7 · Day *");
    person.types("2027-02-30\r");
    person.sees("! Enter a date, such as 2027-03-09");
    person.types("\x7f\x7f28\r");
    person.sees("3 of 7 · People");
    person.types("\r");
    person.sees("4 of 7 · Area *");
    person.types("\x1b[B\x1b[B\r");
    person.sees("5 of 7 · Extras");
    person.types("123\r");
    person.sees("! Give at most 2 items");
    person.types("2\r");
    person.sees("6 of 7 · Note");
    person.types("one\ntwo\r");
    person.sees("7 of 7 · Newsletter");
    person.types("y");
    person.sees("Check your answers before you send them");
    person.sees("People: 2");
    person.types("\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\r");
    person.sees_no("Check your answers");
    person.types("\x154\r");
    person.sees("  People: 4");
    person.sees("> [Submit]");
    person.types("\r");
    let answer = r#"accepted {"name":"Ana","day":"2027-02-28","people":4,"area":"Terrace","#;
    person.sees(answer);
    assert!(
        person.screen().contains("restaurant: Answered"),
        "{}",
        person.screen()
    );
    assert!(
        !person.screen().contains("Check your answers"),
        "the prompt is gone: {}",
        person.screen()
    );
    assert!(person.ends("followed Some(Finished)"));
}

#[test]
fn the_same_form_by_lines_without_a_cursor() {
    for (arguments, variables) in [(&["--plain"][..], &[][..]), (&[], &[("TERM", "dumb")])] {
        let mut person = Screen::new(80, 60).starts(arguments, variables);
        for (question, line) in [
            ("1 of 7. Name", "Ana"),
            ("2 of 7. Day", "2027-02-28"),
            ("3 of 7. People", ""),
            ("4 of 7. Area", "ter"),
            ("5 of 7. Extras", "1 3"),
            ("6 of 7. Note", "one\n"),
            ("7 of 7. Newsletter", "y"),
            ("1. Name: Ana", "submit"),
        ] {
            person.sees(question);
            person.types(&format!("{line}\n"));
        }
        person.sees(r#"accepted {"name":"Ana""#);
        let written = person.written();
        assert!(
            !written.contains('\x1b'),
            "no cursor moves and nothing is colored: {written:?}"
        );
        assert!(person.ends("followed Some(Finished)"));
    }
}

#[test]
fn it_closes_while_the_person_types() {
    for mode in [&[TEXT][..], &["--plain", TEXT]] {
        let mut person = start(mode);
        person.sees("> ");
        person.types("half a wor");
        person.sees("half a wor");
        person.gets(Signal::USR1);
        person.sees("restaurant: The server no longer needs an answer");
        assert!(person.ends("closed Withdrawn"));
    }
}

#[test]
fn it_closes_when_the_time_is_up() {
    for mode in [
        &["--timeout", "5", TEXT][..],
        &["--plain", "--timeout", "5", TEXT],
    ] {
        let person = start(mode);
        person.sees("Closing in ");
        person.sees("restaurant: Time ran out");
        assert!(person.ends("closed TimedOut"));
    }
}

#[test]
fn the_window_is_resized_while_the_person_types() {
    let mut person = start(&[TEXT]);
    person.sees("Enter: next");
    person.types("a text that is so long that it needs several lines of a narrow window");
    person.sees("> a text that is so long that it needs several lines of a narrow window");
    person.resizes(40, 24);
    person.sees("\n  several lines of a narrow window");
    person.types("!");
    person.sees("window!");
    person.resizes(80, 24);
    person.sees("lines of a narrow window!");
    assert_eq!(
        person.screen().matches("Enter: next").count(),
        1,
        "{}",
        person.screen()
    );
    person.types("\r");
    person.sees("needs several lines of a narrow window!\"}");
    assert!(person.ends("followed Some(Finished)"));
}

#[test]
fn however_it_ends_the_terminal_is_as_it_was() {
    for mode in [&[TEXT][..], &["--plain", TEXT]] {
        let asked = || {
            let mut person = start(mode);
            person.sees("> ");
            person.types("typed");
            person.sees("typed");
            person
        };
        let mut person = asked();
        person.types("\x03");
        person.sees("restaurant: Canceled");
        assert!(person.ends("cancelled"));
        let person = asked();
        person.gets(Signal::INT);
        assert!(person.ends("cancelled"));
        let person = asked();
        person.gets(Signal::TERM);
        assert!(!person.ends("Error: Ended"), "it reports an error");
        let person = asked();
        person.gets(Signal::USR2);
        assert!(!person.ends("as the example was told to"), "it panics");
    }
}

#[test]
fn the_end_of_input_cancels() {
    let mut person = start(&["--plain", TEXT]);
    person.sees("> ");
    person.types("\x04");
    assert!(person.ends("cancelled"));
}

#[test]
fn a_secret_never_reaches_the_screen() {
    for mode in [&[SECRET][..], &["--plain", SECRET]] {
        let is_plain = mode.len() > 1;
        let mut person = start(mode);
        person.sees("> ");
        person.types("hunter2");
        if is_plain {
            person.types("\x03");
        } else {
            person.sees("> •••••••");
            person.types("\x1b");
            person.sees("key: ••••••••");
            person.types("\x03");
        }
        person.sees("cancelled");
        assert!(!person.written().contains("hunter"), "{}", person.written());
        assert!(person.ends("cancelled"));
    }
}

#[test]
fn pasted_lines_are_one_text() {
    let mut person = start(&[LONG]);
    person.sees("> ");
    person.types("\x1b[200~one\ntwo\r\n\rthree\x1b[201~");
    person.sees("three");
    person.types("\r");
    person.sees(r#"accepted {"tale":"one\ntwo\n\nthree"}"#);
    assert!(person.ends("followed Some(Finished)"));
}

/// What was typed before a question is there can't be meant for it.
#[test]
fn keys_from_before_the_question_answer_nothing() {
    let mut screen = Screen::new(80, 24);
    screen.types("y\ry");
    let mut person = screen.starts(&[APPROVE], &[]);
    person.sees("Press y to approve");
    person.types("n");
    person.sees("Reason");
    person.types("no\r");
    assert!(person.ends(r#"declined Some("no")"#));
}

#[test]
fn a_text_is_written_in_the_persons_editor() {
    let folder = tempfile::tempdir().unwrap();
    let (editor, seen) = (folder.path().join("editor"), folder.path().join("seen"));
    let script = format!(
        "#!/bin/sh\nls -l \"$1\" > {seen}\necho \"$1\" >> {seen}\ncat \"$1\" >> {seen}\nprintf 'from the editor\\n' > \"$1\"\n",
        seen = seen.display()
    );
    fs::write(&editor, script).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o700)).unwrap();
    let editor = editor.to_str().unwrap();
    let mut person = Screen::new(80, 24).starts(&[LONG], &[("EDITOR", editor)]);
    person.sees("Ctrl+G: editor");
    person.types("draft\x07");
    person.sees("> from the editor");
    person.types("!\r");
    person.sees(r#"accepted {"tale":"from the editor!"}"#);
    assert!(person.ends("followed Some(Finished)"));
    let seen = fs::read_to_string(seen).unwrap();
    let lines: Vec<&str> = seen.lines().collect();
    assert!(
        lines[0].starts_with("-rw-------"),
        "only its owner may read it: {seen}"
    );
    assert_eq!(lines[2], "draft");
    assert!(!fs::exists(lines[1]).unwrap(), "it is removed");
}

#[test]
fn a_link_is_opened_after_a_typed_yes() {
    let link = r#"{"mode": "url", "message": "Sign in", "url": "https://bank.example/in", "elicitationId": "1"}"#;
    let mut person = start(&[link]);
    person.sees("  bank.example");
    person.sees("Type yes to open this link");
    person.types("\rye\r");
    person.sees("> ye");
    person.types("s\r");
    person.sees("Opening external page");
    person.sees("> [I've finished]");
    person.types("\r");
    person.sees("accepted {}");
    assert!(person.ends("followed Some(Finished)"));
}

#[test]
fn colors_are_left_out_on_request() {
    for (variables, is_colored) in [(&[][..], true), (&[("NO_COLOR", "1")], false)] {
        let mut person = Screen::new(80, 24).starts(&[TEXT], variables);
        person.sees("> ");
        assert_eq!(person.written().contains("\x1b[36m"), is_colored);
        person.types("\x03");
        assert!(person.ends("cancelled"));
    }
}

#[test]
fn the_language_is_the_environments() {
    let mut person = Screen::new(80, 24).starts(&[APPROVE], &[("LANG", "pt_BR.UTF-8")]);
    person.sees("Pressione s para aprovar");
    person.types("s");
    person.sees("restaurant: Respondida");
    assert!(person.ends("followed Some(Finished)"));
}
