//! nginx as the proxy: one process, connections kept on both sides, nothing logged.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Fault;
use crate::http::Hosted;
use crate::work::ServerCommand;

/// Time that nginx has to listen.
const START: Duration = Duration::from_secs(5);

/// Runs nginx in front of one server until stdin ends. Its process is printed beside its address: that is
/// the one whose processor time counts.
///
/// # Errors
/// Fails if the server or nginx does not start.
pub fn run(server: &ServerCommand) -> Result<(), Fault> {
    let hosted = Hosted::start(server)?;
    // Free a moment ago; nginx cannot pick one.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let folder = Folder::new()?;
    let text = configuration(hosted.address(), address, &folder.0);
    let file = folder.0.join("nginx.conf");
    std::fs::write(&file, text)?;
    let mut nginx = Command::new("nginx")
        .arg("-p")
        .arg(&folder.0)
        .arg("-e")
        .arg("stderr")
        .arg("-c")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let served = until_input_ends(&mut nginx, address);
    // It may have ended already.
    nginx.kill().ok();
    nginx.wait()?;
    served?;
    hosted.end()
}

fn until_input_ends(nginx: &mut Child, address: SocketAddr) -> Result<(), Fault> {
    let started = Instant::now();
    while TcpStream::connect(address).is_err() {
        if started.elapsed() > START || nginx.try_wait()?.is_some() {
            return Err("nginx does not listen".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    writeln!(io::stdout(), "{address} {}", nginx.id())?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
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

/// A folder of its own, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let name = format!("switchboard-bench-nginx-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // There is no place left to report it to.
        std::fs::remove_dir_all(&self.0).ok();
    }
}
