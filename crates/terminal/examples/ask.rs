//! Asks one question in this terminal and prints what became of it.
//!
//! ```sh
//! cargo run -p midcall-terminal --example ask
//! cargo run -p midcall-terminal --example ask -- --plain --locale pt-BR '{"message": "Go?", "requestedSchema": {"type": "object", "properties": {}}}'
//! ```
//!
//! SIGUSR1 closes the question as its server would; SIGUSR2 panics while it is asked.

use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use midcall_core::catalog::Locale;
use midcall_core::{Answer, Asker, Elicitation, Limits};
use midcall_terminal::{Closing, Options, Outcome, Remote, Terminal, ask, opened};
use tokio::signal::unix::{SignalKind, signal};

const QUESTION: &str = r#"{
  "message": "Book a table",
  "requestedSchema": {
    "type": "object",
    "properties": {
      "name": {"type": "string", "title": "Name", "minLength": 2},
      "day": {"type": "string", "title": "Day", "format": "date"},
      "people": {"type": "integer", "title": "People", "minimum": 1, "maximum": 12, "default": 2},
      "area": {"type": "string", "title": "Area", "enum": ["Inside", "Terrace", "Bar"]},
      "extras": {"type": "array", "title": "Extras", "items": {"type": "string", "enum": ["High chair", "Window", "Quiet"]}, "maxItems": 2},
      "note": {"type": "string", "title": "Note", "format": "textarea", "description": "Anything the kitchen should know"},
      "news": {"type": "boolean", "title": "Newsletter", "default": false}
    },
    "required": ["name", "day", "area"]
  }
}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::from_env();
    let mut deadline = None;
    let mut text = QUESTION.to_owned();
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--plain" => options.plain = true,
            "--locale" => options.locale = Locale::negotiate(&words.next().unwrap_or_default()),
            "--timeout" => {
                let seconds = words.next().unwrap_or_default().parse()?;
                deadline = Some(Instant::now() + Duration::from_secs(seconds));
            }
            _ => text = word,
        }
    }
    options.open = Arc::new(|_address| true); // a real launcher starts the person's browser
    let asker = Asker {
        tool: Some("book_table".into()),
        ..Asker::named("restaurant")
    };
    let question = Elicitation::read(&text, asker, &Limits::default())?;
    let mut terminal = Terminal::open()?;

    let (remote, mut news) = Remote::new();
    remote.deadline(deadline);
    let mut withdrawn = signal(SignalKind::user_defined1())?;
    let mut panicked = signal(SignalKind::user_defined2())?;
    let control = async {
        tokio::select! {
            _ = withdrawn.recv() => remote.close(Closing::Withdrawn),
            _ = panicked.recv() => panic!("as the example was told to"),
        }
        std::future::pending::<()>().await
    };
    let asking = async {
        let outcome = ask(&mut terminal, &question, &options, &mut news).await?;
        let is_open = matches!(&outcome, Outcome::Answered(Answer::Accepted(_)));
        let followed = match is_open {
            true => Some(opened(&mut terminal, &question, &options, &mut news).await?),
            false => None,
        };
        Ok::<_, midcall_terminal::AskError>((outcome, followed))
    };
    let (outcome, followed) = tokio::select! {
        ended = asking => ended?,
        () = control => unreachable!("it only ends by panicking"),
    };
    #[expect(
        clippy::print_stdout,
        reason = "the result is what this program is for"
    )]
    {
        match outcome {
            Outcome::Answered(Answer::Accepted(content)) => {
                println!(
                    "accepted {}",
                    serde_json::Value::Object(content.into_values().into_object())
                );
                println!("followed {followed:?}");
            }
            Outcome::Answered(Answer::Declined { reason }) => {
                println!(
                    "declined {:?}",
                    reason.as_ref().map(midcall_core::Words::as_str)
                );
            }
            Outcome::Answered(Answer::Cancelled) => println!("cancelled"),
            Outcome::Closed(why) => println!("closed {why:?}"),
        }
    }
    Ok(())
}
