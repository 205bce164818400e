//! The addresses of resources in one offer: outward for clients, and back to a server's own.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use switchboard::ServerName;

use super::OfferedResource;
use super::projection::{Projections, is_namespaced, namespaced, own_address, own_page};
use super::template::TemplateMatcher;

/// The addresses of one offer.
pub(super) struct Addresses {
    /// The server of an offer of one server, whose addresses are its own.
    only: Option<ServerName>,
    /// The servers of the offer.
    servers: BTreeSet<ServerName>,
    /// Those of them that may have resources.
    readable: Vec<ServerName>,
    resources: HashMap<Arc<str>, OfferedResource>,
    templates: HashMap<Arc<str>, OfferedResource>,
    matchers: Vec<OfferedTemplate>,
    /// The outward forms that differ from the servers' own.
    forms: HashMap<ServerName, HashMap<Arc<str>, Arc<str>>>,
    projections: Arc<Projections>,
}

struct OfferedTemplate {
    matcher: TemplateMatcher,
    server: ServerName,
    /// The text before the first variable, as clients know it and as the server does.
    outward: String,
    own: String,
}

impl Addresses {
    pub(super) fn new(
        only: Option<ServerName>,
        servers: BTreeSet<ServerName>,
        readable: Vec<ServerName>,
        projections: Arc<Projections>,
    ) -> Self {
        Self {
            only,
            servers,
            readable,
            resources: HashMap::new(),
            templates: HashMap::new(),
            matchers: Vec::new(),
            forms: HashMap::new(),
            projections,
        }
    }

    /// Adds a resource that is listed in that form.
    pub(super) fn add_resource(&mut self, server: &ServerName, uri: &str, form: &Arc<str>) {
        let resource = self.add_form(server, uri, form);
        self.resources.insert(Arc::clone(form), resource);
    }

    /// Adds a template that is listed in that form.
    pub(super) fn add_template(&mut self, server: &ServerName, template: &str, form: &Arc<str>) {
        let offered = self.add_form(server, template, form);
        self.templates.insert(Arc::clone(form), offered);
        let literal = |text: &str| text.split('{').next().unwrap_or_default().to_owned();
        self.matchers.push(OfferedTemplate {
            matcher: TemplateMatcher::new(form),
            server: server.clone(),
            outward: literal(form),
            own: literal(template),
        });
    }

    fn add_form(&mut self, server: &ServerName, own: &str, form: &Arc<str>) -> OfferedResource {
        if **form != *own {
            let forms = self.forms.entry(server.clone()).or_default();
            forms.insert(Arc::from(own), Arc::clone(form));
        }
        OfferedResource {
            server: server.clone(),
            uri: own.to_owned(),
        }
    }

    /// Returns true if an address of that server may have another form for clients.
    pub(super) fn has_forms(&self, server: &ServerName) -> bool {
        self.forms.contains_key(server)
    }

    /// The resource at an address that a client gives.
    pub(super) fn resource(&self, uri: &str) -> Option<OfferedResource> {
        if let Some(server) = &self.only {
            return Some(offered(server, uri));
        }
        // 1. One that is listed. 2. One whose address says whose it is.
        let known = self.resources.get(uri).cloned();
        if let Some(known) = known.or_else(|| self.find_offered(own_address(uri))) {
            return Some(known);
        }
        // 3. One that a template makes. 4. One that only one server can have.
        match self.match_templates(uri) {
            Some(made) => made,
            None => self.unlisted(uri),
        }
    }

    /// The template that a client names.
    pub(super) fn template(&self, template: &str) -> Option<OfferedResource> {
        if let Some(server) = &self.only {
            return Some(offered(server, template));
        }
        let known = self.templates.get(template).cloned();
        known.or_else(|| self.find_offered(own_address(template)))
    }

    /// The resource of a server that its address names, if the server is offered.
    fn find_offered(&self, read: Option<(String, String)>) -> Option<OfferedResource> {
        let (name, uri) = read?;
        let server = self.servers.iter().find(|server| server.as_str() == name)?;
        Some(offered(server, &uri))
    }

    /// The resource that the best template makes; `Some(None)` if two servers have equally good ones.
    fn match_templates(&self, uri: &str) -> Option<Option<OfferedResource>> {
        let mut best: Option<((usize, usize), &OfferedTemplate, bool)> = None;
        for template in &self.matchers {
            let Some(rank) = template.matcher.rank(uri) else {
                continue;
            };
            // With equal ranks of two servers it is unclear, and neither gets the address.
            best = match best {
                Some((better, other, is_clear)) if better > rank => Some((better, other, is_clear)),
                Some((equal, other, is_clear)) if equal == rank => {
                    let is_same = other.server == template.server;
                    Some((equal, other, is_clear && is_same))
                }
                _ => Some((rank, template, true)),
            };
        }
        let (_, template, is_clear) = best?;
        let rest = uri.strip_prefix(template.outward.as_str())?;
        let own = format!("{}{rest}", template.own);
        Some(is_clear.then(|| offered(&template.server, &own)))
    }

    /// A resource that is in no list.
    fn unlisted(&self, uri: &str) -> Option<OfferedResource> {
        // It names a server that is not offered here, and is no other server's.
        if is_namespaced(uri) {
            return None;
        }
        let has_pages = |page: &OfferedResource| self.has_forms(&page.server);
        if let Some(page) = self.find_offered(own_page(uri)).filter(has_pages) {
            return Some(page);
        }
        // An address that one server was known by never leads to another.
        if let Some(owner) = self.projections.owner(uri) {
            let is_offered = self.servers.contains(&owner);
            return is_offered.then(|| offered(&owner, uri));
        }
        match self.readable.as_slice() {
            [server] => Some(offered(server, uri)),
            _ => None,
        }
    }

    /// The form in which clients know an address of a server.
    pub(super) fn outward<'a>(&'a self, server: &ServerName, uri: &'a str) -> Cow<'a, str> {
        if self.only.is_some() {
            return Cow::Borrowed(uri);
        }
        let forms = self.forms.get(server);
        if let Some(form) = forms.and_then(|forms| forms.get(uri)) {
            return Cow::Borrowed(form);
        }
        // Not listed: as it is if it leads back to the server.
        match self.resource(uri) {
            Some(resource) if resource.server == *server && resource.uri == uri => {
                Cow::Borrowed(uri)
            }
            None if forms.is_none() && !is_namespaced(uri) => Cow::Borrowed(uri),
            _ => Cow::Owned(namespaced(server, uri, 0)),
        }
    }
}

fn offered(server: &ServerName, uri: &str) -> OfferedResource {
    OfferedResource {
        server: server.clone(),
        uri: uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ServerName {
        ServerName::parse(text).unwrap()
    }

    /// Three servers: `a` and `b` share `f://x`, `ui://page` and a template, `c` has one of its own.
    fn addresses() -> Addresses {
        let servers = ["a", "b", "c"].map(name);
        let projections = Arc::new(Projections::new(100));
        let readable = servers.to_vec();
        let mut addresses = Addresses::new(None, servers.into(), readable, projections);
        for server in ["a", "b"].map(name) {
            for uri in ["f://x", "ui://page"] {
                let form = namespaced(&server, uri, 0).into();
                addresses.add_resource(&server, uri, &form);
            }
            let form = namespaced(&server, "log://{day}", 0).into();
            addresses.add_template(&server, "log://{day}", &form);
            let page = namespaced(&server, "ui://p/{x}", 0).into();
            addresses.add_template(&server, "ui://p/{x}", &page);
        }
        addresses.add_resource(&name("c"), "f://only", &"f://only".into());
        addresses.add_template(&name("c"), "f://{x}", &"f://{x}".into());
        addresses.add_template(&name("c"), "f://deep/{x}", &"f://deep/{x}".into());
        addresses
    }

    fn found(addresses: &Addresses, uri: &str) -> Option<(String, String)> {
        let found = addresses.resource(uri)?;
        Some((found.server.to_string(), found.uri))
    }

    #[test]
    fn an_address_leads_to_the_server_that_it_was_listed_for() {
        let addresses = addresses();
        for (uri, server, own) in [
            ("f://only", "c", "f://only"),
            ("f://deep/1", "c", "f://deep/1"),
            ("switchboard://a/f%3A%2F%2Fx", "a", "f://x"),
            ("switchboard://b/f%3A%2F%2Funlisted", "b", "f://unlisted"),
            (
                "switchboard://b/=log://2026?a=/..#b",
                "b",
                "log://2026?a=/..#b",
            ),
            ("ui://a/page", "a", "ui://page"),
            ("ui://b/p/1/2", "b", "ui://p/1/2"),
            ("ui://b/unlisted", "b", "ui://unlisted"),
        ] {
            let expected = Some((server.to_owned(), own.to_owned()));
            assert_eq!(found(&addresses, uri), expected, "{uri}");
        }
    }

    #[test]
    fn an_address_that_several_servers_could_have_leads_to_none() {
        let addresses = addresses();
        for uri in [
            "g://unknown",
            "ui://unknown/x",
            "switchboard://z/f",
            "switchboard://a",
            "",
        ] {
            assert_eq!(found(&addresses, uri), None, "{uri}");
        }
    }

    #[test]
    fn an_address_in_no_list_leads_to_the_only_server_with_resources() {
        let (a, b) = (name("a"), name("b"));
        let projections = Arc::new(Projections::new(100));
        let servers = BTreeSet::from([a.clone(), b]);
        let addresses = Addresses::new(None, servers, vec![a], projections);
        let expected = Some(("a".to_owned(), "g://any".to_owned()));
        assert_eq!(found(&addresses, "g://any"), expected);
        // One that names another server is not passed on to it.
        assert_eq!(found(&addresses, "switchboard://z/f"), None);
    }

    #[test]
    fn the_form_for_clients_leads_back_to_the_server() {
        let addresses = addresses();
        for server in ["a", "b", "c"] {
            for uri in [
                "f://x",
                "f://new",
                "ui://page",
                "ui://p/1",
                "log://1",
                "h://z",
                "f://{y",
            ] {
                let form = addresses.outward(&name(server), uri);
                let leads = found(&addresses, &form);
                // Links of a server whose addresses are all its own stay unchanged, readable or not.
                if server == "c" && leads.is_none() {
                    assert_eq!(form, uri);
                    continue;
                }
                let expected = Some((server.to_owned(), uri.to_owned()));
                assert_eq!(leads, expected, "{server} {uri} {form}");
            }
        }
        assert_eq!(addresses.outward(&name("c"), "f://new"), "f://new");
    }

    #[test]
    fn addresses_of_an_offer_of_one_server_are_its_own() {
        let (a, projections) = (name("a"), Arc::new(Projections::new(100)));
        let servers = BTreeSet::from([a.clone()]);
        let addresses = Addresses::new(Some(a.clone()), servers, Vec::new(), projections);
        let uri = "switchboard://b/f%3A%2F%2Fx";
        assert_eq!(
            found(&addresses, uri),
            Some(("a".to_owned(), uri.to_owned()))
        );
        assert_eq!(addresses.outward(&a, uri), uri);
    }
}
