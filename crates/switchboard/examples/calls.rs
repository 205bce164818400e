//! What there is to a call: typed results, progress, deadlines, cancellation, errors.
//!
//! `cargo run -p switchboard --example calls -- target/release/switchboard test-server`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::time::Duration;

use switchboard::protocol::{Content, GetPromptParams, Raw};
use switchboard::session::{CancelReason, progress};
use switchboard::transport::Stdio;
use switchboard::{
    CallOptions, Deadline, Error, ErrorKind, Server, ServerName, SessionOptions, explain,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_else(|| "switchboard".to_owned());
    let words: Vec<String> = match words.collect::<Vec<_>>() {
        none if none.is_empty() => vec!["test-server".to_owned()],
        words => words,
    };
    let server = connect(&command, words)?;
    look(&server).await?;
    call(&server).await?;
    read(&server).await?;
    watch(&server).await?;
    give_up(&server).await?;
    fail(&server).await;
    server.close().await;
    Ok(())
}

fn connect(command: &str, words: Vec<String>) -> Result<Server, Box<dyn std::error::Error>> {
    let transport = Stdio::new(command)
        .args(words)
        .env("LOG_LEVEL", "debug")
        .env_passthrough(["MY_TOKEN"]);
    let name = ServerName::parse("mine")?;
    Ok(Server::new(name, transport, SessionOptions::default()))
}

async fn look(server: &Server) -> Outcome {
    let session = server.session().await?;
    let agreed = session.negotiated();
    println!("{} ({:?})", agreed.version, agreed.era());

    let listing = server.list_tools().await?;
    for tool in &listing.items {
        println!("{} {}", tool.name(), tool.input_schema().raw().as_str());
    }
    for bad in &listing.set_aside {
        println!("tool {} cannot be used: {}", bad.index, bad.reason);
    }
    if let Some(cut) = &listing.cut {
        println!("the list is not complete: {cut}");
    }
    Ok(())
}

async fn call(server: &Server) -> Outcome {
    #[derive(serde::Serialize)]
    struct Add {
        a: f64,
        b: f64,
    }
    #[derive(serde::Deserialize)]
    struct Sum {
        sum: f64,
    }

    let arguments = Raw::of(&Add { a: 2.0, b: 3.0 })?;
    let result = server
        .call_tool("add", Some(arguments), CallOptions::default())
        .await?;
    if result.is_error() {
        println!("the tool says that it failed");
    }
    for block in result.content() {
        match block {
            Content::Text(text) => println!("{}", text.text()),
            Content::Image(image) => println!("[image {}]", image.mime_type()),
            other => println!("{}", other.raw().as_str()),
        }
    }
    if let Some(data) = result.structured_content() {
        println!("{}", data.decode::<Sum>()?.sum);
    }
    // What has no getter is still there.
    println!("{:?}", result.raw().member("resultType"));
    Ok(())
}

async fn read(server: &Server) -> Outcome {
    let session = server.session().await?;
    let read = session
        .read_resource("file:///readme.txt", CallOptions::default())
        .await?;
    println!("{} contents", read.contents().len());

    let greeting = GetPromptParams {
        name: "greeting".to_owned(),
        arguments: [("name".to_owned(), "Ada".to_owned())]
            .into_iter()
            .collect(),
    };
    let prompt = session
        .get_prompt(&greeting, CallOptions::default())
        .await?;
    for message in prompt.messages() {
        for block in message.content() {
            println!("{:?}: {:?}", message.role(), block.as_text());
        }
    }
    Ok(())
}

async fn watch(server: &Server) -> Outcome {
    let (sender, mut seen) = progress();
    let options = CallOptions::default().progress(sender).deadline(Deadline {
        idle: Duration::from_secs(5),
        total: Duration::from_secs(60),
    });
    let arguments = Raw::parse(r#"{"duration": 0.3, "steps": 3}"#)?;
    let mut call = std::pin::pin!(server.call_tool("slow_operation", Some(arguments), options));
    let result = loop {
        tokio::select! {
            result = &mut call => break result?,
            Ok(()) = seen.changed() => {
                if let Some(step) = &*seen.borrow_and_update() {
                    println!("{} of {:?}", step.progress, step.total);
                }
            }
        }
    };
    println!("{:?}", result.content());
    Ok(())
}

async fn give_up(server: &Server) -> Outcome {
    let reason = CancelReason::new("the caller gave up");
    let options = CallOptions::default().reason(&reason);
    let arguments = Raw::parse(r#"{"duration": 60}"#)?;
    let call = server.call_tool("slow_operation", Some(arguments), options);
    tokio::select! {
        result = call => println!("{:?}", result?.content()),
        () = tokio::time::sleep(Duration::from_millis(200)) => {
            // The future is dropped behind this block; the server hears this reason.
            reason.set("the person pressed stop");
        }
    }
    Ok(())
}

async fn fail(server: &Server) {
    let options = CallOptions::default().deadline(Deadline::within(Duration::from_millis(200)));
    let arguments = Raw::parse(r#"{"duration": 60}"#).ok();
    let called = server.call_tool("slow_operation", arguments, options).await;
    if let Err(error) = called {
        report(&error.into());
    }
}

fn report(error: &Error) {
    match error.kind() {
        ErrorKind::Connect => println!("not started; stderr: {:?}", error.stderr()),
        ErrorKind::Closed => println!("gone: {:?}", error.close_reason()),
        ErrorKind::Rpc => println!("refused: {:?}", error.rpc().map(|rpc| rpc.code())),
        kind => println!("{kind:?}: {error}"),
    }
    if !error.was_sent() {
        println!("nothing left: it is safe to repeat");
    }
    let diagnosis = explain(error);
    println!("{}", diagnosis.title);
    for (name, value) in &diagnosis.facts {
        println!("  {name}: {value}");
    }
    for step in &diagnosis.steps {
        println!("  - {step}");
    }
}
