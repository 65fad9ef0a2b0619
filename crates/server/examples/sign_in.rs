//! A sign-in on a page of the server's own: what is typed there goes neither through the client
//! nor through a model. The page here is one line on this computer; yours is your identity
//! provider's.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;

use midcall_server::{Ask, AskError, WithAsks};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Mail, for whoever signed in.
#[derive(Clone)]
pub struct Mail {
    page: SocketAddr,
    /// Which sign-ins came through.
    done: watch::Receiver<HashSet<String>>,
}

impl Mail {
    /// Opens the page that people sign in on.
    pub async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let page = listener.local_addr()?;
        let (sender, done) = watch::channel(HashSet::new());
        let sender = Arc::new(sender);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(visit(stream, sender.clone()));
            }
        });
        Ok(Self { page, done })
    }
}

/// Somebody opens the page: that is all a sign-in is here.
async fn visit(mut stream: TcpStream, done: Arc<watch::Sender<HashSet<String>>>) {
    let mut request = [0; 1024];
    let Ok(length) = stream.read(&mut request).await else {
        return;
    };
    let request = String::from_utf8_lossy(&request[..length]);
    let state = request.split_once("state=").map(|(_, rest)| rest);
    let state = state.and_then(|rest| rest.split_ascii_whitespace().next());
    if let Some(state) = state {
        done.send_modify(|done| {
            done.insert(state.to_owned());
        });
    }
    let page = "You are signed in. You can close this page.\n";
    let response = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    let _ = stream.write_all(response.as_bytes()).await; // They may have closed it already.
}

#[tool_router]
impl Mail {
    #[tool(description = "Counts new mail", annotations(read_only_hint = true))]
    async fn count_mail(&self, ask: Ask) -> Result<String, AskError> {
        let mut done = self.done.clone();
        let link = format!("http://{}/sign-in?state={{id}}", self.page);
        let opened = ask
            .link("Sign in to your mail", link)
            .until(async |opened| {
                // The id comes back with the sign-in, and nobody can guess it.
                let _ = done.wait_for(|done| done.contains(opened.id())).await;
            })
            .await?;
        opened.accepted()?;
        Ok("You have 3 new letters".into())
    }
}

#[tool_handler(name = "mail")]
impl ServerHandler for Mail {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stdio = (tokio::io::stdin(), tokio::io::stdout());
    let mail = Mail::open().await?;
    mail.with_asks().serve(stdio).await?.waiting().await?;
    Ok(())
}
