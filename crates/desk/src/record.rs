//! A ticket as it is stored, and as surfaces are told of it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use bytes::Bytes;
use midcall_core::Asker;
use midcall_core::wire::RawParams;
use midcall_store::Record;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::clock::Stamp;
use crate::outcome::{By, Closing};

/// What the store keeps of a ticket. The params are kept as the wire brought them.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored<'a> {
    pub asked: Stamp,
    pub deadline: Stamp,
    /// When it last changed. Changes are told in this order.
    pub changed: Stamp,
    /// The node that waits for the answer.
    pub owner: &'a str,
    /// When it closed, if it did. Its answer's delivery changes it later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<Stamp>,
    /// Only while it is open or what was said is kept, to validate that again.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub question: Option<StoredQuestion<'a>>,
    /// Who has opened the link, if somebody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<By>,
    /// Where the opened link leads now, if that isn't what the params say.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Closing>,
    /// The attempt that answered it, if the surface named it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Cow<'a, str>>,
    /// What was said, until the asker has sent it on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub said: Option<&'a RawValue>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredQuestion<'a> {
    #[serde(borrow)]
    pub server: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub links: Cow<'a, [String]>,
    #[serde(borrow)]
    pub params: &'a RawValue,
}

impl<'a> Stored<'a> {
    pub fn read(bytes: &'a Bytes) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub fn write(&self) -> Bytes {
        thread_local!(static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
        // A million tickets may wait: what is kept has exactly the room it needs.
        BUFFER.with_borrow_mut(|buffer| {
            buffer.clear();
            serde_json::to_writer(&mut *buffer, self).expect("names and numbers can be written");
            Bytes::copy_from_slice(buffer)
        })
    }
}

impl<'a> StoredQuestion<'a> {
    pub fn new(asker: &'a Asker, params: &'a RawValue) -> Self {
        Self {
            server: asker.server.as_str().into(),
            version: asker.version.as_deref().map(Into::into),
            tool: asker.tool.as_deref().map(Into::into),
            host: asker.host.as_deref().map(Into::into),
            links: asker.links.as_slice().into(),
            params,
        }
    }

    pub fn asked(&self) -> Option<RawParams<'a>> {
        RawParams::find(self.params)
    }
}

/// An open ticket as surfaces see it: the data of `elicitation/request`.
#[derive(Clone, Serialize)]
pub struct Question {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The ticket.
    pub id: String,
    /// `form` or `url`.
    pub mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The server's message.
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    params: Box<RawValue>,
    /// The server that asks.
    pub server: Server,
    /// The tool in whose call it asks, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    /// When it was asked, by RFC 3339.
    pub asked: String,
    /// Until when it can be answered, by RFC 3339.
    pub deadline: String,
}

/// The server that asks, as surfaces see it.
#[derive(Clone, Debug, Serialize)]
pub struct Server {
    /// The name under which it asks.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Where it is reached, so that a surface can tell its links from those of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// Unencrypted origins that its links may lead to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<String>,
}

impl Question {
    pub(crate) fn of(record: &Record, stored: &Stored<'_>) -> Option<Self> {
        #[derive(Deserialize)]
        struct Titled {
            #[serde(default)]
            title: Option<String>,
        }
        let question = stored.question.as_ref()?;
        let asked = question.asked()?;
        let url = asked.url();
        let schema = asked.schema().filter(|_| url.is_none());
        let titled = schema.and_then(|schema| serde_json::from_str::<Titled>(schema.get()).ok());
        Some(Self {
            kind: "elicitation/request",
            id: record.id.clone(),
            mode: if url.is_some() { "url" } else { "form" },
            title: titled.and_then(|titled| titled.title),
            description: asked.message().into_owned(),
            schema: schema.map(ToOwned::to_owned),
            url: url.map(Into::into),
            params: question.params.to_owned(),
            server: Server {
                name: question.server.clone().into_owned(),
                version: question.version.clone().map(Into::into),
                host: question.host.clone().map(Into::into),
                links: question.links.to_vec(),
            },
            tool: question.tool.clone().map(Into::into),
            workspace: record.scope.workspace.clone(),
            conversation: record.scope.conversation.clone(),
            asked: stored.asked.rfc3339(),
            deadline: stored.deadline.rfc3339(),
        })
    }
}

/// The params may hold anything in their `_meta`, and a link may hold a secret.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("id", &self.id)
            .field("mode", &self.mode)
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}
