//! The keeper alone: connections are handed to it, and nothing is admitted or called.

use std::future::{Future, ready};
use std::pin::Pin;

use super::*;
use crate::host::test_support::{Script, member};

fn keeper() -> Arc<CatalogKeeper> {
    let options = Options::default();
    Arc::new(CatalogKeeper::new(&options, EventSender::new(16)))
}

/// Whether something is still waited for.
async fn is_pending(waiting: &mut Pin<Box<impl Future<Output = Result<(), Stopped>>>>) -> bool {
    tokio::select! {
        biased;
        _ = waiting => false,
        () = ready(()) => true,
    }
}

fn tools(keeper: &CatalogKeeper, member: &Member) -> Vec<String> {
    let part = keeper.part(member);
    let tools = part.iter().flat_map(|part| part.tools());
    tools.map(|entry| entry.name().to_owned()).collect()
}

#[tokio::test]
async fn an_opener_that_waits_for_lists_finds_them_in_the_catalog() {
    let (keeper, script) = (keeper(), Script::answering(1));
    let member = Arc::new(member("a", &script));
    let session = script.session().await;
    keeper.follow(Arc::clone(&member), &session);
    let listed = keeper.listed(&member, &session, Lists::All).await;
    assert_eq!(listed, Ok(()));
    assert_eq!(tools(&keeper, &member), ["echo"]);
    assert_eq!(keeper.caught_up(&member).await, Ok(()));
}

#[tokio::test]
async fn the_end_of_an_older_connection_is_not_taken_for_newer_lists() {
    let keeper = keeper();
    let (old, new) = (Script::answering(1), Script::answering(0));
    let member = Arc::new(member("a", &old));
    let first = old.session().await;
    keeper.follow(Arc::clone(&member), &first);
    keeper.listed(&member, &first, Lists::All).await.unwrap();
    // The next connection is there before the end of the first was noticed.
    let second = new.session().await;
    keeper.follow(Arc::clone(&member), &second);
    let mut tools_listed = Box::pin(keeper.listed(&member, &second, Lists::Tools));
    let mut listed = Box::pin(keeper.listed(&member, &second, Lists::All));
    let mut caught_up = Box::pin(keeper.caught_up(&member));
    assert!(is_pending(&mut listed).await && is_pending(&mut caught_up).await);
    first.close().await;
    // The second is read once the task of the first has ended and said so.
    new.asked_for_tools().await;
    assert!(is_pending(&mut tools_listed).await);
    assert!(is_pending(&mut listed).await && is_pending(&mut caught_up).await);
    // Whoever waited for the first goes on without it.
    keeper.listed(&member, &first, Lists::All).await.unwrap();
    new.answer_list();
    for waiting in [tools_listed.await, listed.await, caught_up.await] {
        assert_eq!(waiting, Ok(()));
    }
    let part = keeper.part(&member).unwrap();
    assert_eq!(part.freshness(), Freshness::Live);
}

#[tokio::test]
async fn an_opener_waits_for_a_session_that_is_not_followed_yet() {
    let (keeper, script) = (keeper(), Script::answering(1));
    let member = Arc::new(member("a", &script));
    let session = script.session().await;
    let mut listed = Box::pin(keeper.listed(&member, &session, Lists::Tools));
    assert!(is_pending(&mut listed).await);
    keeper.follow(Arc::clone(&member), &session);
    assert_eq!(listed.await, Ok(()));
    assert_eq!(tools(&keeper, &member), ["echo"]);
}

#[tokio::test]
async fn lists_of_a_connection_that_ends_are_not_waited_for() {
    let (keeper, script) = (keeper(), Script::answering(0));
    let member = Arc::new(member("a", &script));
    let session = script.session().await;
    keeper.follow(Arc::clone(&member), &session);
    script.asked_for_tools().await;
    session.close().await;
    let listed = keeper.listed(&member, &session, Lists::All).await;
    assert_eq!(listed, Ok(()));
    assert_eq!(tools(&keeper, &member), [""; 0]);
}

#[tokio::test]
async fn a_refresh_has_all_lists_read_again_before_its_opener_goes_on() {
    let (keeper, script) = (keeper(), Script::answering(1));
    let member = Arc::new(member("a", &script));
    let session = script.session().await;
    keeper.follow(Arc::clone(&member), &session);
    keeper.listed(&member, &session, Lists::All).await.unwrap();
    script.asked_for_tools().await;
    keeper.refresh(&member);
    let mut listed = Box::pin(keeper.listed(&member, &session, Lists::Tools));
    assert!(is_pending(&mut listed).await);
    script.asked_for_tools().await;
    script.answer_list();
    assert_eq!(listed.await, Ok(()));
    assert_eq!(script.count("tools/list"), 2);
}

#[tokio::test]
async fn openers_learn_that_lists_are_not_read_any_more() {
    let (keeper, script) = (keeper(), Script::answering(0));
    let member = Arc::new(member("a", &script));
    let session = script.session().await;
    keeper.follow(Arc::clone(&member), &session);
    let mut listed = Box::pin(keeper.listed(&member, &session, Lists::All));
    assert!(is_pending(&mut listed).await);
    member.gone.cancel();
    assert_eq!(listed.await, Err(Stopped));
    keeper.shutdown().await;
}

#[tokio::test]
async fn nothing_is_published_of_a_server_that_was_removed() {
    let (keeper, script) = (keeper(), Script::answering(1));
    let member = Arc::new(member("a", &script));
    let session = script.session().await;
    keeper.follow(Arc::clone(&member), &session);
    keeper
        .listed(&member, &session, Lists::Tools)
        .await
        .unwrap();
    member.leave();
    keeper.forget(&member);
    keeper.mark_stale(&member);
    keeper.publish(&member, ServerCatalog::clone);
    assert!(keeper.part(&member).is_none());
}
