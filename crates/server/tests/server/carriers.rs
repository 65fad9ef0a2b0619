//! Every example, with `rmcp`'s own clients.

use std::sync::{Arc, Mutex};

use midcall_server::testing::{Client, Person, for_every_client};
use midcall_server::{Asks, Carrier, WithAsks};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, FormElicitationCapability, Implementation,
    ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService, Service, ServiceExt,
};
use rmcp::{ClientHandler, ErrorData, RoleClient, RoleServer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::examples::book_table::Restaurant;
use crate::examples::delete_files::Folder;
use crate::examples::sign_in::Mail;
use crate::examples::theme_colour::Editor;
use crate::world::World;

/// A host on `rmcp`, whose person says these things one after the other.
#[derive(Clone)]
struct Host(Arc<Mutex<Vec<Option<Value>>>>);

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = Some(FormElicitationCapability::default());
        elicitation.url = Some(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, Implementation::new("host", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if let ElicitRequestParams::UrlElicitationParams { url, .. } = &request {
            visit(url).await;
            return Ok(ElicitResult::new(ElicitationAction::Accept));
        }
        let said = self.0.lock().unwrap().remove(0);
        Ok(match said {
            Some(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }
}

/// What a browser does with the link.
async fn visit(url: &str) {
    let address = url.strip_prefix("http://").unwrap();
    let (host, path) = address.split_once('/').unwrap();
    let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).await.unwrap();
    assert!(page.contains("You are signed in"), "{page}");
}

/// Both eras, each with a server of its own.
async fn hosts<S: Service<RoleServer>>(
    server: impl Fn() -> S,
    said: &[Option<Value>],
) -> Vec<RunningService<RoleClient, Host>> {
    let mut hosts = Vec::new();
    for lifecycle in [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    ] {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let server = server();
        tokio::spawn(async move {
            server
                .serve(tokio::io::split(theirs))
                .await
                .unwrap()
                .waiting()
                .await
        });
        let host = Host(Arc::new(Mutex::new(said.to_vec())));
        let host = host
            .serve_with_lifecycle(tokio::io::split(ours), lifecycle)
            .await;
        hosts.push(host.unwrap());
    }
    hosts
}

async fn call(
    host: &RunningService<RoleClient, Host>,
    tool: &'static str,
    arguments: Value,
) -> String {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    let result = host.call_tool(params).await.unwrap();
    json!(result)["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn files_are_deleted_once_the_person_agreed() {
    let said = [
        Some(json!({"confirmed": true})),
        Some(json!({"confirmed": false})),
        None,
    ];
    for host in hosts(|| Folder::default().with_asks(), &said).await {
        let delete = || {
            call(
                &host,
                "delete_files",
                json!({"names": ["old.txt", "notes.txt"]}),
            )
        };
        assert_eq!(delete().await, "Deleted 2 files");
        assert_eq!(delete().await, "Nothing was deleted: the person said no");
        assert_eq!(delete().await, "the person was asked and said no");
        assert_eq!(call(&host, "list_files", json!({})).await, "photo.jpg");
    }
}

#[tokio::test]
async fn a_table_is_booked_in_three_steps() {
    let said = [
        Some(json!({"name": "Ana", "guests": 3, "day": "2026-12-24", "extras": ["dog"]})),
        Some(json!({"selected": "garden"})),
        Some(json!({"confirmed": true})),
    ];
    for host in hosts(|| Restaurant.with_asks(), &said).await {
        let told = call(&host, "book_table", json!({})).await;
        assert_eq!(
            told,
            "Booked: Ana on 2026-12-24, 3 guests, table garden, extras [Dog], notes none"
        );
    }
    for host in hosts(|| Restaurant.with_asks(), &[None]).await {
        assert_eq!(
            call(&host, "book_table", json!({})).await,
            "No table was booked"
        );
    }
}

#[tokio::test]
async fn a_theme_is_chosen_by_two_questions_at_once() {
    let said = [
        Some(json!({"selected": "moss"})),
        Some(json!({"confirmed": false})),
    ];
    let ways = Arc::new(Mutex::new(Vec::new()));
    let seen = ways.clone();
    let asks = Asks::new().on_ask(move |asked| seen.lock().unwrap().push(asked.carrier));
    for host in hosts(|| asks.around(Editor), &said).await {
        let told = call(&host, "choose_theme", json!({})).await;
        assert_eq!(told, "The theme is moss, always light");
    }
    let (live, round) = (Carrier::Live, Carrier::Round);
    assert_eq!(*ways.lock().unwrap(), [live, live, round, round]);
}

#[tokio::test]
async fn mail_is_counted_after_a_sign_in() {
    let mail = Mail::open().await.unwrap();
    for host in hosts(|| mail.clone().with_asks(), &[]).await {
        assert_eq!(
            call(&host, "count_mail", json!({})).await,
            "You have 3 new letters"
        );
    }
}

#[tokio::test]
async fn every_example_works_with_every_client() {
    for_every_client(|client| async move {
        let person = Person::answers(
            json!({"name": "Ana", "guests": 3, "day": "2026-12-24", "extras": ["dog"]}),
        )
        .then_answers(json!({"selected": "garden"}))
        .then_answers(json!({"confirmed": true}));
        let connected = client.connect(Restaurant.with_asks(), &person).await;
        let got = connected.call("book_table", json!({})).await;
        assert!(
            got.text().starts_with("Booked: Ana on 2026-12-24"),
            "{got:?}"
        );

        let person =
            Person::answers(json!({"selected": "rose"})).then_answers(json!({"confirmed": true}));
        let connected = client.connect(Editor.with_asks(), &person).await;
        let got = connected.call("choose_theme", json!({})).await;
        assert_eq!(got.text(), "The theme is rose, dark at night");

        let person = Person::answers(json!({"confirmed": true}));
        let connected = client.connect(Folder::default().with_asks(), &person).await;
        let got = connected
            .call("delete_files", json!({"names": ["old.txt"]}))
            .await;
        match client.asks() {
            true => assert_eq!(got.text(), "Deleted 1 files"),
            false => assert!(got.text().contains("a model must not agree"), "{got:?}"),
        }
    })
    .await;
}

#[tokio::test]
async fn two_calls_of_one_client_ask_at_the_same_time() {
    for client in Client::ALL {
        let person = Person::who(|heard| {
            midcall_server::testing::Said::Answer(match heard.message.starts_with("Which") {
                true => json!({"selected": "rose"}),
                false => json!({"confirmed": true}),
            })
        });
        let connected = client.connect(Asks::new().around(Editor), &person).await;
        let (one, two) = tokio::join!(
            connected.call("choose_theme", json!({})),
            connected.call("choose_theme", json!({}))
        );
        assert_eq!(one.text(), "The theme is rose, dark at night", "{client}");
        assert_eq!(two.text(), "The theme is rose, dark at night", "{client}");
    }
}

#[tokio::test]
async fn prompts_and_resources_ask_too() {
    for_every_client(|client| async move {
        for (method, params, at, told) in [
            (
                "prompts/get",
                json!({"name": "greeting"}),
                "/result/messages/0/content/text",
                "Greet 7",
            ),
            (
                "resources/read",
                json!({"uri": "diary://today"}),
                "/result/contents/0/text",
                "Page 7",
            ),
        ] {
            let person = Person::answers(json!({"value": "7"}));
            let connected = client.connect(World::default().with_asks(), &person).await;
            let got = connected.all(method, params.clone()).await;
            if client.asks() {
                assert_eq!(got.0.pointer(at), Some(&json!(told)), "{got:?}");
                assert_eq!(person.heard().len(), 1);
                assert_eq!(connected.server().waiting(), usize::from(client.is_modern()));

                let connected = client
                    .connect(World::default().with_asks(), &Person::declines())
                    .await;
                let got = connected.all(method, params).await;
                assert_eq!(got.text(), "the person was asked and said no");
                continue;
            }
            // What is no tool has no result that a model would read and act on.
            assert!(
                got.text().starts_with(
                    "nobody can be asked: the client does not ask, and a model can be told to only in a tool call"
                ),
                "{got:?}"
            );
            let code = if client.is_modern() { -32021 } else { -32603 };
            assert_eq!(got.code(), Some(code));
            assert_eq!(person.heard(), [""; 0]);
        }
    })
    .await;
}
