//! A server that asks before it deletes. Try it: `midcall wrap -- cargo run --example delete_files`.
//!
//! From a command line, with a file of answers: `cargo run --example delete_files answers.json old.txt`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use midcall_server::{Answers, Ask, AskError, Asks, WithAsks};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

/// A folder that only exists in memory.
#[derive(Clone)]
pub struct Folder(Arc<Mutex<BTreeSet<String>>>);

/// Which files.
#[derive(Deserialize, JsonSchema)]
pub struct Delete {
    /// Names of files
    pub names: Vec<String>,
}

impl Default for Folder {
    fn default() -> Self {
        let files = ["notes.txt", "old.txt", "photo.jpg"].map(str::to_owned);
        Self(Arc::new(Mutex::new(BTreeSet::from(files))))
    }
}

#[tool_router]
impl Folder {
    #[tool(description = "Lists the files", annotations(read_only_hint = true))]
    async fn list_files(&self) -> String {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Vec::from_iter(files.iter().cloned()).join("\n")
    }

    /// The tool, which a command line runs too.
    #[tool(
        description = "Deletes files, once the person agreed",
        annotations(destructive_hint = true)
    )]
    pub async fn delete_files(
        &self,
        ask: Ask,
        Parameters(Delete { names }): Parameters<Delete>,
    ) -> Result<String, AskError> {
        let question = ask
            .confirm(format!("Delete {} files?", names.len()))
            .because(names.join(", "))
            .dangerous();
        // Accepting a form is not agreeing: they may have sent it with the switch off.
        if !question.await?.accepted()? {
            return Ok("Nothing was deleted: the person said no".into());
        }
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let deleted = names.iter().filter(|name| files.remove(*name)).count();
        Ok(format!("Deleted {deleted} files"))
    }
}

#[tool_handler(name = "files")]
impl ServerHandler for Folder {}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "on a command line it has no client")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    if let Some(file) = words.next() {
        let answers = Answers::read(&std::fs::read_to_string(file)?)?;
        let ask = Asks::new().answers(answers).without_client("delete_files");
        let names = Parameters(Delete {
            names: words.collect(),
        });
        println!("{}", Folder::default().delete_files(ask, names).await?);
        return Ok(());
    }
    let server = Folder::default().with_asks();
    let stdio = (tokio::io::stdin(), tokio::io::stdout());
    server.serve(stdio).await?.waiting().await?;
    Ok(())
}
