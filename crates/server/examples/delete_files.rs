//! A server that asks before it deletes. Try it: `midcall wrap -- cargo run --example delete_files`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use midcall_server::{Ask, AskError, WithAsks};
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

    #[tool(
        description = "Deletes files, once the person agreed",
        annotations(destructive_hint = true)
    )]
    async fn delete_files(
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
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Folder::default().with_asks();
    let stdio = (tokio::io::stdin(), tokio::io::stdout());
    server.serve(stdio).await?.waiting().await?;
    Ok(())
}
