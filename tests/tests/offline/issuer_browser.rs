//! The scripted browser and the test issuer, which later tests log in with.

use switchboard_testkit::http::Http;
use switchboard_testkit::issuer::{Issuer, IssuerOptions};
use switchboard_tests::browser::{Browser, Page};

/// The challenge of RFC 7636's example.
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Visits the authorization endpoint of an issuer with this setting, and stops at the callback.
async fn visit(setting: &str) -> (Issuer, Page) {
    let mut options = IssuerOptions::default();
    options.set("client=app").unwrap();
    options.set("resource=optional").unwrap();
    options.set(setting).unwrap();
    let issuer = Issuer::new(options).unwrap();
    let server = Http::default().oauth(issuer.clone()).serve().await.unwrap();
    let url = format!(
        "http://{}/authorize?response_type=code&client_id=app&state=a-state-to-be-checked\
         &redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback\
         &code_challenge={CHALLENGE}&code_challenge_method=S256",
        server.addr()
    );
    let mut browser = Browser::default();
    browser.stops_at = Some("/callback".to_owned());
    let visited = tokio::task::spawn_blocking(move || browser.visit(&url));
    (issuer, visited.await.unwrap().unwrap())
}

#[tokio::test]
async fn the_scripted_browser_comes_back_with_a_code() {
    for setting in ["consent=automatic", "consent=page"] {
        let (issuer, page) = visit(setting).await;
        let expected = "http://127.0.0.1:1/callback?code=code-";
        assert!(page.url.starts_with(expected), "{setting}: {}", page.url);
        assert_eq!(issuer.counts().prompts, 1);
    }
}
