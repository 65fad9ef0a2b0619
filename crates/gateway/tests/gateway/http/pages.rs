//! The page and its files, as a browser fetches them.

use super::desk::Desk;
use super::statuses::{answer, dressed};

#[tokio::test]
async fn the_page_and_its_files_are_there_for_everybody() {
    let desk = Desk::start(&[]).await;
    let nobody = desk.nobody();
    for (path, kind, words) in [
        ("/", "text/html; charset=utf-8", "/assets/page/desk.js"),
        (
            "/assets/page/page.js",
            "text/javascript; charset=utf-8",
            "import",
        ),
        (
            "/assets/define.js",
            "text/javascript; charset=utf-8",
            "define",
        ),
        (
            "/assets/page/page.css",
            "text/css; charset=utf-8",
            "light-dark",
        ),
        ("/assets/page/icon.svg", "image/svg+xml", "<svg"),
        ("/assets/locales/pt-BR.json", "application/json", "Enviar"),
    ] {
        let response = nobody.get(path).send().await.unwrap();
        dressed(&response);
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], kind, "{path}");
        assert!(response.text().await.unwrap().contains(words), "{path}");
    }
}

#[tokio::test]
async fn nothing_but_its_files_can_be_had() {
    let desk = Desk::start(&[]).await;
    let nobody = desk.nobody();
    for path in [
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/Cargo.toml",
        "/assets/..%2fCargo.toml",
        "/assets//etc/passwd",
        "/assets/page",
        "/assets/page/",
        "/assets/%ff",
        "/index.html",
    ] {
        assert_eq!(answer(nobody.get(path)).await.0, 404, "{path}");
    }
    assert_eq!(answer(nobody.post("/")).await.0, 405);
    assert_eq!(answer(nobody.post("/assets/define.js")).await.0, 405);
}

/// Nothing inline: the policy would not let it run.
#[tokio::test]
async fn no_page_has_anything_inline() {
    for page in ["page/index.html", "page/demo.html", "page/elsewhere.html"] {
        let file = midcall_web::file(page).unwrap();
        let text = str::from_utf8(&file.bytes).unwrap();
        assert!(
            !text.contains("<style") && !text.contains("style="),
            "{page}"
        );
        for script in text.split("<script").skip(1) {
            assert!(
                script.starts_with(" type=\"module\" src=\"/assets/"),
                "{page}"
            );
        }
    }
}
