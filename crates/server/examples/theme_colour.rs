//! Two questions at once, each with something to start from.

use midcall_server::{Ask, AskError, WithAsks};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};

/// An editor whose look can be chosen.
#[derive(Clone, Default)]
pub struct Editor;

#[tool_router]
impl Editor {
    #[tool(
        description = "Lets the person choose a theme",
        annotations(destructive_hint = false)
    )]
    async fn choose_theme(&self, ask: Ask) -> Result<String, AskError> {
        let colours = [("rose", "Rose"), ("moss", "Moss"), ("slate", "Slate")];
        let (colour, dark) = ask
            .together((
                ask.select("Which colour do you like?", colours)
                    .default("slate")
                    .id("colour"),
                ask.confirm("Dark at night?").default(true).id("dark"),
            ))
            .await?;
        let dark = if dark.accepted()? {
            "dark at night"
        } else {
            "always light"
        };
        Ok(format!("The theme is {}, {dark}", colour.accepted()?))
    }
}

#[tool_handler(name = "editor")]
impl ServerHandler for Editor {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stdio = (tokio::io::stdin(), tokio::io::stdout());
    Editor.with_asks().serve(stdio).await?.waiting().await?;
    Ok(())
}
