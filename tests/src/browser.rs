//! A browser without a screen: it follows redirects with a cookie jar and submits the forms that approve.
//!
//! It speaks HTTP/1.1 to loopback and nothing else. The program `scripted-browser` is what tests put into `$BROWSER`.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// The most requests of one visit; a login takes fewer than ten.
const MOST_REQUESTS: usize = 30;
/// How long a server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The words on the button of someone who agrees.
const AGREES: &[&str] = &["approve", "allow", "accept", "continue", "confirm", "yes"];

/// The last page of a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its address.
    pub url: String,
    /// Its status.
    pub status: u16,
    /// Its text.
    pub body: String,
}

/// A browser with its cookies, which it keeps for each host and port.
#[derive(Debug, Clone, Default)]
pub struct Browser {
    cookies: BTreeMap<(String, String), String>,
    /// Stops before it visits an address with this path, and returns the address.
    pub stops_at: Option<String>,
}

/// A request that a browser makes.
#[derive(Debug, Clone)]
struct Visit {
    url: String,
    /// The form that is sent; none for a GET.
    form: Option<String>,
}

impl Browser {
    /// Visits an address and goes on for as long as there are redirects and forms.
    ///
    /// # Errors
    /// When an address is not on loopback, a server does not answer, or the way does not end.
    pub fn visit(&mut self, url: &str) -> io::Result<Page> {
        let mut visit = Visit {
            url: url.to_owned(),
            form: None,
        };
        for _ in 0..MOST_REQUESTS {
            let address = Address::parse(&visit.url)?;
            if self.stops_at.as_deref() == Some(address.path()) {
                return Ok(Page {
                    url: visit.url,
                    status: 0,
                    body: String::new(),
                });
            }
            let answer = self.request(&address, visit.form.as_deref())?;
            if let Some(location) = answer.location.filter(|_| answer.status / 100 == 3) {
                let keeps_form = matches!(answer.status, 307 | 308);
                visit = Visit {
                    url: address.join(&location),
                    form: visit.form.filter(|_| keeps_form),
                };
                continue;
            }
            match form(&answer.body, &address) {
                Some(next) if answer.status == 200 => visit = next,
                _ => {
                    return Ok(Page {
                        url: visit.url,
                        status: answer.status,
                        body: answer.body,
                    });
                }
            }
        }
        Err(io::Error::other("the way does not end"))
    }

    fn request(&mut self, address: &Address, form: Option<&str>) -> io::Result<Answer> {
        let Address { host, target, .. } = address;
        let method = if form.is_some() { "POST" } else { "GET" };
        let mut text =
            format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        let of_host = self.cookies.iter().filter(|((owner, _), _)| owner == host);
        let cookies: Vec<_> = of_host
            .map(|((_, name), value)| format!("{name}={value}"))
            .collect();
        if !cookies.is_empty() {
            text.push_str(&format!("cookie: {}\r\n", cookies.join("; ")));
        }
        text.push_str("accept: text/html\r\n");
        if let Some(form) = form {
            let kind = "application/x-www-form-urlencoded";
            let length = form.len();
            text.push_str(&format!(
                "content-type: {kind}\r\norigin: http://{host}\r\ncontent-length: {length}\r\n"
            ));
        }
        text.push_str("\r\n");
        text.push_str(form.unwrap_or_default());
        let mut stream = TcpStream::connect(address.socket())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(text.as_bytes())?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let answer = Answer::parse(&String::from_utf8_lossy(&bytes))
            .ok_or_else(|| io::Error::other("the answer is not HTTP"))?;
        for (name, value) in &answer.cookies {
            let key = (host.clone(), name.clone());
            if value.is_empty() {
                self.cookies.remove(&key);
            } else {
                self.cookies.insert(key, value.clone());
            }
        }
        Ok(answer)
    }
}

/// An address on loopback.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    /// The host with its port, as a header has it.
    host: String,
    /// The path with its query.
    target: String,
}

impl Address {
    fn parse(url: &str) -> io::Result<Self> {
        let refused = || io::Error::other(format!("not an address on loopback: {url}"));
        let rest = url.strip_prefix("http://").ok_or_else(refused)?;
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, target) = rest.split_at(end);
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        if !["127.0.0.1", "localhost"].contains(&name) {
            return Err(refused());
        }
        let slash = if target.starts_with('/') { "" } else { "/" };
        Ok(Self {
            host: host.to_owned(),
            target: format!("{slash}{target}"),
        })
    }

    fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    fn socket(&self) -> String {
        let port = self.host.rsplit_once(':').map_or("80", |(_, port)| port);
        format!("127.0.0.1:{port}")
    }

    fn join(&self, location: &str) -> String {
        if location.contains("://") {
            return location.to_owned();
        }
        if location.starts_with('/') {
            return format!("http://{}{location}", self.host);
        }
        let folder = self
            .path()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        format!("http://{}{folder}/{location}", self.host)
    }
}

/// An answer, as far as a browser needs it.
#[derive(Debug, Default)]
struct Answer {
    status: u16,
    location: Option<String>,
    cookies: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn parse(text: &str) -> Option<Self> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let mut answer = Self {
            status: lines.next()?.split(' ').nth(1)?.parse().ok()?,
            body: body.to_owned(),
            ..Self::default()
        };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "location" => answer.location = Some(value.to_owned()),
                "set-cookie" => {
                    let pair = value.split(';').next()?;
                    let (name, value) = pair.split_once('=')?;
                    answer.cookies.push((name.to_owned(), value.to_owned()));
                }
                "transfer-encoding" => answer.body = unchunked(body),
                _ => {}
            }
        }
        Some(answer)
    }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        whole.push_str(after.get(..size).unwrap_or_default());
        if size == 0 {
            break;
        }
        rest = after.get(size + 2..).unwrap_or_default();
    }
    whole
}

/// Fills in the first form of a page and presses the button that agrees, if there is one.
fn form(body: &str, address: &Address) -> Option<Visit> {
    let start = body.find("<form")?;
    let form = body.get(start..)?;
    let form = form.get(..form.find("</form>").unwrap_or(form.len()))?;
    let head = form.get(..form.find('>')?)?;
    let action = attribute(head, "action").map_or_else(
        || address.join(&address.target),
        |action| address.join(&action),
    );
    let mut pairs = Vec::new();
    let mut buttons = Vec::new();
    for tag in form.split('<').skip(2) {
        let (tag, text) = tag.split_once('>').unwrap_or((tag, ""));
        let kind = attribute(tag, "type").unwrap_or_default();
        let pair = attribute(tag, "name").map(|name| (name, attribute(tag, "value")));
        let is_input = tag.starts_with("input") && kind != "submit";
        if is_input {
            pairs.extend(pair);
        } else if tag.starts_with("button") || tag.starts_with("input") {
            buttons.push((format!("{tag} {text}").to_lowercase(), pair));
        }
    }
    let is_agreeing = |words: &str| AGREES.iter().any(|agrees| words.contains(agrees));
    let agreeing = buttons.iter().find(|(words, _)| is_agreeing(words));
    let pressed = agreeing.or(buttons.first());
    pairs.extend(pressed.and_then(|(_, pair)| pair.clone()));
    let pairs = pairs.iter().map(|(name, value)| {
        let value = value.as_deref().unwrap_or_default();
        format!("{}={}", encode(name), encode(value))
    });
    let sent = pairs.collect::<Vec<_>>().join("&");
    let is_post = attribute(head, "method").is_some_and(|it| it.eq_ignore_ascii_case("post"));
    Some(if is_post {
        Visit {
            url: action,
            form: Some(sent),
        }
    } else {
        Visit {
            url: format!("{action}?{sent}"),
            form: None,
        }
    })
}

/// Returns an attribute of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let at = tag.find(&format!(" {name}="))? + name.len() + 2;
    let rest = tag.get(at..)?;
    let value = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.get(1..)?.split(quote).next()?,
        _ => rest.split([' ', '/']).next()?,
    };
    let value = value.replace("&quot;", "\"").replace("&#39;", "'");
    let value = value.replace("&lt;", "<").replace("&gt;", ">");
    Some(value.replace("&amp;", "&"))
}

fn encode(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> Address {
        Address::parse(url).unwrap()
    }

    #[test]
    fn only_loopback_is_visited() {
        assert_eq!(at("http://127.0.0.1:1").target, "/");
        assert_eq!(at("http://localhost:1/a?b#c").target, "/a?b");
        for url in [
            "https://127.0.0.1/",
            "http://example.com/",
            "http://127.0.0.1.example.com/",
            "http://127.0.0.1@example.com/",
            "file:///etc/passwd",
        ] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn redirects_are_joined_to_the_address() {
        let address = at("http://127.0.0.1:1/a/b?c");
        assert_eq!(address.join("/x"), "http://127.0.0.1:1/x");
        assert_eq!(address.join("x"), "http://127.0.0.1:1/a/x");
        assert_eq!(address.join("http://localhost/"), "http://localhost/");
    }

    #[test]
    fn the_button_that_agrees_is_pressed() {
        let page = r#"<p>Sure?</p><form method="post" action="/decide?a=1&amp;b=2">
            <input type="hidden" name="ticket" value="a b"><button name="d" value="no">No</button>
            <button name="d" value="approve">Sure</button></form>"#;
        let next = form(page, &at("http://127.0.0.1:1/page")).unwrap();
        assert_eq!(next.url, "http://127.0.0.1:1/decide?a=1&b=2");
        assert_eq!(next.form.as_deref(), Some("ticket=a%20b&d=approve"));
        assert!(form("<p>Done.</p>", &at("http://127.0.0.1:1/")).is_none());
    }
}
