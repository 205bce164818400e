//! nginx as the proxy: one process, connections kept on both sides, nothing logged.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::started::{self, Folder};
use crate::Fault;
use crate::http::Hosted;
use crate::work::ServerCommand;

/// Time that nginx has to listen.
const START: Duration = Duration::from_secs(5);

/// Runs nginx in front of one server until stdin ends.
///
/// # Errors
/// Fails if the server or nginx does not start.
pub fn run(server: &ServerCommand) -> Result<(), Fault> {
    let hosted = Hosted::start(server)?;
    let address = started::free_address()?;
    let folder = Folder::new()?;
    let text = configuration(hosted.address(), address, folder.path());
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, text)?;
    let mut nginx = Command::new("nginx");
    nginx.arg("-p").arg(folder.path());
    nginx.args(["-e", "stderr", "-c"]).arg(&file);
    started::run(&mut nginx, address, START)?;
    hosted.end()
}

fn configuration(server: &str, address: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "daemon off;
master_process off;
pid {folder}/pid;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream server {{
        server {server};
        keepalive 64;
        keepalive_requests 100000000;
    }}
    server {{
        listen {address};
        keepalive_requests 100000000;
        location / {{
            proxy_pass http://server;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_set_header Host {server};
        }}
    }}
}}
"
    )
}
