//! A sign-in on a page of the server's own: what is typed there goes neither through the client
//! nor through a model. The page here is one line on this computer; yours is your identity
//! provider's.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use midcall_server::{Ask, AskError, WithAsks};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// Mail, for whoever signed in.
#[derive(Clone)]
pub struct Mail {
    page: SocketAddr,
    expected: Expected,
}

/// The sign-ins that somebody waits for, by the ids that stand in their links.
#[derive(Clone, Default)]
struct Expected(Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>);

impl Expected {
    fn expect(&self, id: &str) -> oneshot::Receiver<()> {
        let (done, waiting) = oneshot::channel();
        let mut expected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        expected.retain(|_, done| !done.is_closed()); // Nobody waits for these any more.
        expected.insert(id.to_owned(), done);
        waiting
    }

    /// Whether somebody waited for it. Whoever brings another id was not sent here by us.
    fn finish(&self, id: &str) -> bool {
        let mut expected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        expected
            .remove(id)
            .is_some_and(|done| done.send(()).is_ok())
    }
}

impl Mail {
    /// Opens the page that people sign in on.
    pub async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let page = listener.local_addr()?;
        let expected = Expected::default();
        let visited = expected.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(visit(stream, visited.clone()));
            }
        });
        Ok(Self { page, expected })
    }
}

/// Somebody opens the page: that is all a sign-in is here.
async fn visit(mut stream: TcpStream, expected: Expected) {
    let mut request = [0; 1024];
    let Ok(length) = stream.read(&mut request).await else {
        return;
    };
    let request = String::from_utf8_lossy(&request[..length]);
    let state = request.split_once("state=").map(|(_, rest)| rest);
    let state = state.and_then(|rest| rest.split_ascii_whitespace().next());
    let (status, page) = match state.is_some_and(|state| expected.finish(state)) {
        true => ("200 OK", "You are signed in. You can close this page.\n"),
        false => ("404 Not Found", "Nobody waits for this sign-in.\n"),
    };
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    let _ = stream.write_all(response.as_bytes()).await; // They may have closed it already.
}

#[tool_router]
impl Mail {
    #[tool(description = "Counts new mail", annotations(read_only_hint = true))]
    async fn count_mail(&self, ask: Ask) -> Result<String, AskError> {
        let page = format!("http://{}/sign-in?state={{id}}", self.page);
        let link = ask.link("Sign in to your mail", page);
        let done = self.expected.expect(link.link_id());
        let opened = link.until(async |_| drop(done.await)).await?;
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
