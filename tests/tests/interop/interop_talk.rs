//! Our host with a server that others wrote, which talks back: subscriptions, completions, roots.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::host::{Host, Update};
use switchboard::protocol::{CompleteParams, CompletionArgument, CompletionContext, CompletionRef};
use switchboard::spec::{Endpoint, ServerSpec};
use switchboard::transport::Environment;
use switchboard::{Caller, View};
use switchboard_tests::partners::{self, Launch};
use tokio::time::timeout;

/// What no answer should take, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn host(launch: &Launch, roots: &[&Path]) -> Host {
    let mut spec = ServerSpec::stdio("everything", launch.program.to_str().unwrap()).unwrap();
    let Endpoint::Process(process) = &mut spec.endpoint else {
        panic!("no process");
    };
    process.args.clone_from(&launch.args);
    spec.settings.roots = roots.iter().map(|path| path.to_path_buf()).collect();
    let host = Host::builder().environment(&Environment::of_process());
    host.server(spec).build().unwrap()
}

async fn call(view: &View, tool: &str, arguments: Value) -> String {
    let tool = view.find(&format!("everything/{tool}")).await.unwrap();
    let result = timeout(PATIENCE, tool.call(arguments)).await.unwrap();
    result.unwrap().text()
}

#[tokio::test]
async fn server_everything_tells_of_a_resource_that_is_watched() {
    let host = host(&partners::everything(), &[]);
    let view = host.view(Caller::owner());
    let uri = "demo://resource/dynamic/text/1";
    let watching = timeout(PATIENCE, view.watch("everything", uri)).await;
    let mut watching = watching.unwrap().unwrap();
    // It makes changes up for whoever has subscribed, at once and every few seconds.
    call(&view, "toggle-subscriber-updates", json!({})).await;
    let told = timeout(PATIENCE, watching.next()).await.unwrap().unwrap();
    assert_eq!(told, Update::Changed(uri.to_owned()));
    host.restart("everything").await.unwrap();
    let told = timeout(PATIENCE, watching.next()).await.unwrap().unwrap();
    assert_eq!(told, Update::Again);
    host.shutdown().await;
}

#[tokio::test]
async fn server_everything_completes_arguments_of_prompts_and_of_templates() {
    let host = host(&partners::everything(), &[]);
    let view = host.view(Caller::owner());
    host.connect("everything").await.unwrap();
    let ask = |target, name: &str, value: &str, others: &[(&str, &str)]| CompleteParams {
        target,
        argument: CompletionArgument {
            name: name.to_owned(),
            value: value.to_owned(),
        },
        context: (!others.is_empty()).then(|| CompletionContext {
            arguments: others
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
        }),
    };
    let prompts = view.prompts();
    let prompt = prompts.iter().find(|one| one.name().contains("complet"));
    let prompt = || CompletionRef::Prompt {
        name: prompt.unwrap().name().to_owned(),
    };
    let found = view
        .complete("everything", &ask(prompt(), "department", "E", &[]))
        .await;
    assert_eq!(found.unwrap().values, ["Engineering"]);
    let others = [("department", "Engineering")];
    let found = view
        .complete("everything", &ask(prompt(), "name", "A", &others))
        .await;
    assert_eq!(found.unwrap().values, ["Alice"]);
    let templates = view.templates();
    let template = templates
        .iter()
        .find(|one| one.uri_template().contains("text"));
    let uri = template.unwrap().uri_template().to_owned();
    let target = CompletionRef::Resource { uri: uri.clone() };
    let found = view
        .complete("everything", &ask(target, "resourceId", "7", &[]))
        .await;
    assert_eq!(found.unwrap().values, ["7"]);
    let values = [("resourceId".to_owned(), "7".into())].into();
    let read = view
        .read_template("everything", &uri, &values)
        .await
        .unwrap();
    assert_eq!(read.contents()[0].uri(), "demo://resource/dynamic/text/7");
    host.shutdown().await;
}

#[tokio::test]
async fn server_everything_is_told_of_folders_and_of_others() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let host = host(&partners::everything(), &[one.path()]);
    let view = host.view(Caller::owner());
    let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
    let knows = async |folder: &Path| {
        let known = async {
            while !call(&view, "get-roots-list", json!({}))
                .await
                .contains(&name(folder))
            {}
        };
        timeout(PATIENCE, known).await.unwrap();
    };
    knows(one.path()).await;
    host.set_roots("everything", [two.path()]).unwrap();
    knows(two.path()).await;
    host.shutdown().await;
}
