//! Every kind of client, in memory.

use std::fmt;

use rmcp::{RoleServer, Service, ServiceExt};
use serde_json::{Value, json};

use super::connected::{Connected, heard};
use super::person::Person;
use super::wire::Wire;
use crate::layer::Layer;

/// A kind of client.
///
/// ```
/// use midcall_server::testing::Client;
/// assert_eq!(Client::ALL.len(), 5);
/// assert_eq!(Client::Model.to_string(), "of 2025-11-25, without elicitation");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Client {
    /// Of 2025-06-18: forms.
    V2025_06_18,
    /// Of 2025-11-25: forms and links.
    V2025_11_25,
    /// Of 2026-07-28: forms and links, in rounds.
    V2026_07_28,
    /// Of 2025-11-25, without elicitation: its model is told to ask.
    Model,
    /// Of 2026-07-28, without elicitation: its model is told to ask.
    ModernModel,
}

/// Plays a story with every kind of client, one after the other.
///
/// ```
/// use midcall_server::WithAsks;
/// use midcall_server::testing::{Person, for_every_client};
/// # #[derive(Clone)] struct Files;
/// # impl rmcp::ServerHandler for Files {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// for_every_client(|client| async move {
///     let connected = client.connect(Files.with_asks(), &Person::quiet()).await;
///     assert!(!connected.tools().await.contains(&"delete".into()), "{client}");
/// })
/// .await;
/// # }
/// ```
pub async fn for_every_client<F, Story>(story: F)
where
    F: Fn(Client) -> Story,
    Story: Future<Output = ()>,
{
    for client in Client::ALL {
        let _told = Told(client);
        story(client).await;
    }
}

/// Says which client it was, when a story fails.
struct Told(Client);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this happened with the client {}", self.0);
        }
    }
}

impl Client {
    /// Every kind.
    ///
    /// ```
    /// use midcall_server::testing::Client;
    /// let modern = Client::ALL.into_iter().filter(|client| client.is_modern());
    /// assert_eq!(modern.count(), 2);
    /// ```
    pub const ALL: [Self; 5] = [
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
        Self::Model,
        Self::ModernModel,
    ];

    /// Whether it asks by itself.
    ///
    /// ```
    /// use midcall_server::testing::Client;
    /// assert!(Client::V2025_11_25.asks() && !Client::Model.asks());
    /// ```
    pub fn asks(self) -> bool {
        !matches!(self, Self::Model | Self::ModernModel)
    }

    /// Whether it opens links.
    ///
    /// ```
    /// use midcall_server::testing::Client;
    /// assert!(Client::V2026_07_28.links() && !Client::V2025_06_18.links());
    /// ```
    pub fn links(self) -> bool {
        matches!(self, Self::V2025_11_25 | Self::V2026_07_28)
    }

    /// Whether it speaks the modern era: 2026-07-28.
    ///
    /// ```
    /// use midcall_server::testing::Client;
    /// assert!(Client::ModernModel.is_modern());
    /// ```
    pub fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28 | Self::ModernModel)
    }

    /// Connects to a server, with a person before it.
    ///
    /// ```
    /// use midcall_server::WithAsks;
    /// use midcall_server::testing::{Client, Person};
    /// # #[derive(Clone)] struct Files;
    /// # impl rmcp::ServerHandler for Files {}
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let connected = Client::Model.connect(Files.with_asks(), &Person::declines()).await;
    /// assert_eq!(connected.tools().await, ["sendElicitationResult"]);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the server does not open.
    pub async fn connect<S: Service<RoleServer>>(
        self,
        server: Layer<S>,
        person: &Person,
    ) -> Connected<S> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let asked = person.clone();
        let wire = Wire::new(ours, move |request| {
            if request["method"] != "elicitation/create" {
                return Some(json!({"code": -32601, "message": "not here"}));
            }
            asked.asked(heard(&request["params"]))
        });
        let opening = async {
            if !self.is_modern() {
                let params = json!({
                    "protocolVersion": self.version(), "capabilities": self.capabilities(),
                    "clientInfo": {"name": "test", "version": "1"}
                });
                let (_, response) = wire.request("initialize", params).await;
                response.await.expect("the server answers `initialize`");
                wire.notify("notifications/initialized", json!({})).await;
            } else {
                let params = self.with_meta(json!({}));
                let (_, response) = wire.request("tools/list", params).await;
                response.await.expect("the server answers");
            }
        };
        let (server, ()) = tokio::join!(server.serve(tokio::io::split(theirs)), opening);
        Connected {
            client: self,
            person: person.clone(),
            wire,
            server: server.expect("the server opens"),
        }
    }

    fn version(self) -> &'static str {
        match self {
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 | Self::Model => "2025-11-25",
            Self::V2026_07_28 | Self::ModernModel => "2026-07-28",
        }
    }

    fn capabilities(self) -> Value {
        match self {
            Self::V2025_06_18 => json!({"elicitation": {}}),
            Self::V2025_11_25 | Self::V2026_07_28 => {
                json!({"elicitation": {"form": {}, "url": {}}})
            }
            Self::Model | Self::ModernModel => json!({}),
        }
    }

    /// What each request of a modern client says of it.
    pub(super) fn with_meta(self, mut params: Value) -> Value {
        if self.is_modern() {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": self.version(),
                "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
            });
            for (key, value) in meta.as_object().into_iter().flatten() {
                params["_meta"][key] = value.clone();
            }
        }
        params
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let without = if self.asks() {
            ""
        } else {
            ", without elicitation"
        };
        write!(f, "of {}{without}", self.version())
    }
}
