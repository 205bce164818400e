//! Real files in real folders, and the system's own watcher.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard::Host;
use switchboard::config::{Config, Places};
use tokio::time::timeout;

use crate::{FileWatch, Reload, Reloader};

/// Longer than any change takes to be noticed.
const PATIENCE: Duration = Duration::from_secs(30);

fn servers(names: &[&str]) -> String {
    let entries = names.iter();
    let entries = entries.map(|name| format!("  {name:?}: {{ \"command\": \"true\" }}"));
    let entries: Vec<_> = entries.collect();
    format!("{{ \"mcpServers\": {{\n{}\n}} }}\n", entries.join(",\n"))
}

/// Replaces a file in one step, as editors do.
fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, file).unwrap();
}

fn reloader(file: &Path) -> (Host, Reloader) {
    let places = Places::only(file);
    let config = Config::load(&places);
    let host = Host::builder().config(&config).build().unwrap();
    let mut reloader = Reloader::new(host.clone(), places, &config);
    reloader.watch(Vec::new()).unwrap();
    (host, reloader)
}

async fn next(reloader: &mut Reloader) -> Reload {
    timeout(PATIENCE, reloader.next()).await.unwrap()
}

fn names(host: &Host) -> Vec<String> {
    let servers = host.servers().into_iter();
    servers.map(|status| status.name.to_string()).collect()
}

async fn changes(watch: &mut FileWatch) {
    timeout(PATIENCE, watch.next_change())
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn a_file_that_is_written_replaced_removed_or_made_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, "1").unwrap();
    let mut watch = FileWatch::new(vec![file.clone()], Vec::new()).unwrap();
    fs::write(&file, "2").unwrap();
    changes(&mut watch).await;
    replace(&file, "3");
    changes(&mut watch).await;
    fs::remove_file(&file).unwrap();
    changes(&mut watch).await;
    fs::write(&file, "4").unwrap();
    changes(&mut watch).await;
}

#[tokio::test]
async fn a_file_in_a_folder_that_is_made_later_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".config/switchboard/mcp.json");
    let mut watch = FileWatch::new(vec![file.clone()], Vec::new()).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "1").unwrap();
    changes(&mut watch).await;
    // Its folder is watched by now.
    replace(&file, "2");
    changes(&mut watch).await;
    fs::remove_dir_all(folder.path().join(".config")).unwrap();
    changes(&mut watch).await;
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    changes(&mut watch).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_behind_a_link_is_noticed_and_so_is_another_link() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    fs::create_dir(at("one")).unwrap();
    fs::create_dir(at("two")).unwrap();
    fs::write(at("one/mcp.json"), "1").unwrap();
    fs::write(at("two/mcp.json"), "2").unwrap();
    symlink("one/mcp.json", at("mcp.json")).unwrap();
    let mut watch = FileWatch::new(vec![at("mcp.json")], Vec::new()).unwrap();
    replace(&at("one/mcp.json"), "3");
    changes(&mut watch).await;
    symlink("two/mcp.json", at("new")).unwrap();
    fs::rename(at("new"), at("mcp.json")).unwrap();
    changes(&mut watch).await;
    replace(&at("two/mcp.json"), "4");
    changes(&mut watch).await;
}

#[tokio::test]
async fn a_host_follows_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, servers(&["a"])).unwrap();
    let (host, mut reloader) = reloader(&file);
    replace(&file, &servers(&["a", "b"]));
    let Reload::Taken {
        done, is_edited, ..
    } = next(&mut reloader).await
    else {
        panic!("it can be read");
    };
    assert_eq!((done.added.len(), done.kept.len(), is_edited), (1, 1, true));
    assert_eq!(names(&host), ["a", "b"]);
}

#[tokio::test]
async fn a_broken_file_keeps_the_servers_until_it_is_right_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, servers(&["a"])).unwrap();
    let (host, mut reloader) = reloader(&file);
    fs::write(&file, "{ \"mcpServers\": {\n \"a\" }").unwrap();
    let Reload::Refused { problems, .. } = next(&mut reloader).await else {
        panic!("it cannot be read");
    };
    assert_eq!(problems[0].line(), Some(2), "{problems:?}");
    assert_eq!(names(&host), ["a"]);
    replace(&file, &servers(&["b"]));
    assert!(matches!(next(&mut reloader).await, Reload::Taken { .. }));
    assert_eq!(names(&host), ["b"]);
}

#[tokio::test]
async fn servers_that_are_left_out_never_come_and_asking_reads_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, servers(&["a"])).unwrap();
    let (host, reloader) = reloader(&file);
    let mut reloader = reloader.prepare(|config| {
        let names = config.entries().iter().map(|entry| entry.name().clone());
        names.filter(|name| name.as_str() == "gateway").collect()
    });
    replace(&file, &servers(&["a", "gateway"]));
    assert!(matches!(next(&mut reloader).await, Reload::Taken { .. }));
    assert_eq!(names(&host), ["a"]);
    reloader.trigger().notify_one();
    let Reload::Taken {
        done, is_edited, ..
    } = next(&mut reloader).await
    else {
        panic!("it can be read");
    };
    assert!(done.is_unchanged() && !is_edited);
}
