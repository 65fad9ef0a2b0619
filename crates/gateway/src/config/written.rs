//! `[serve]` and `[identity]`: what holds for all servers of a file.

use std::io;
use std::net::SocketAddr;

use serde::Deserialize;
use toml::Spanned;

use super::machine::Machine;
use crate::flag::{self, Unusable};
use crate::route::Mistakes;
use crate::route::document::{self, Document};

/// The tables as they are written.
pub(super) struct Written {
    serve: Serve,
    identity: Identity,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "a table")]
struct Serve {
    listen: Option<Spanned<String>>,
    store: Option<Spanned<String>>,
    public_url: Option<Spanned<String>>,
    asks_per_minute: Option<u32>,
    open_questions: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "a table")]
struct Identity {
    mode: Option<Spanned<String>>,
    jwks: Option<Spanned<String>>,
    issuer: Option<Spanned<String>>,
    audience: Option<Spanned<String>>,
    trusted: Option<Spanned<toml::Value>>,
}

impl Written {
    /// Reads both tables. What a file may say one day, and what has no meaning until then, is a mistake.
    pub fn read(document: &Document<'_>, mistakes: &mut Mistakes) -> Self {
        document.knows(&["serve"], document::keys::<Serve>(), mistakes);
        document.knows(&["identity"], document::keys::<Identity>(), mistakes);
        let written = Self {
            serve: document.take(&["serve"], mistakes),
            identity: document.take(&["identity"], mistakes),
        };
        written.refuse_what_is_not_built(mistakes);
        written
    }

    /// Where clients and the page find the gateway. A mistake may leave it open.
    pub fn listen(&self, machine: &Machine, mistakes: &mut Mistakes) -> SocketAddr {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let Some(written) = &self.serve.listen else {
            return anywhere;
        };
        let listen = match flag::loopback(written.get_ref()) {
            Ok(listen) => listen,
            Err(wrong) => {
                mistakes.add(written.span(), no_address(&wrong));
                return anywhere;
            }
        };
        if let Err(error) = (machine.listens)(listen) {
            let why = match error.kind() {
                io::ErrorKind::AddrInUse => "another program uses this port".to_owned(),
                _ => error.to_string(),
            };
            mistakes.add(written.span(), format!("cannot listen on {listen}: {why}"));
        }
        listen
    }

    /// How much may wait at the desk.
    pub fn desk(&self) -> midcall_desk::Rules {
        let mut desk = midcall_desk::Rules::default();
        desk.asks_per_minute = (self.serve.asks_per_minute).unwrap_or(desk.asks_per_minute);
        if let Some(most) = self.serve.open_questions {
            desk.open_per_user = most;
            desk.open_per_server = most;
            desk.open_per_conversation = most;
        }
        desk
    }

    fn refuse_what_is_not_built(&self, mistakes: &mut Mistakes) {
        let other = |value: &Option<Spanned<String>>, only: &str| {
            let value = value.as_ref().filter(|value| value.get_ref() != only);
            value.map(Spanned::span)
        };
        if let Some(store) = other(&self.serve.store, "memory") {
            mistakes.add(store, "only \"memory\" can be the store so far");
        }
        if let Some(mode) = other(&self.identity.mode, "local") {
            let reason = "only \"local\" can be the mode so far: one person, on this machine";
            mistakes.add(mode, reason);
        }
        let identity = &self.identity;
        let texts = [
            &identity.jwks,
            &identity.issuer,
            &identity.audience,
            &self.serve.public_url,
        ];
        let texts = texts.into_iter().flatten().map(Spanned::span);
        for place in texts.chain(identity.trusted.as_ref().map(Spanned::span)) {
            let reason = "this has no meaning with mode = \"local\": one person, on this machine";
            mistakes.add(place, reason);
        }
    }
}

fn no_address(wrong: &Unusable) -> String {
    match wrong {
        Unusable::Open { instead, .. } | Unusable::OtherLoopback { instead, .. } => format!(
            "only 127.0.0.1 or [::1] with mode = \"local\": one person, on this machine. Write \"{instead}\""
        ),
        _ => "expected an address and a port, like 127.0.0.1:8642".to_owned(),
    }
}
