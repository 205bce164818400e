//! Resources whose addresses have blanks.

use std::collections::BTreeMap;

use switchboard_wire::ReadResourceResult;

use super::view::View;
use crate::catalog::{Fill, TemplateError, UriTemplate};
use crate::error::{Error, HostError};
use crate::schema::Violation;
use crate::session::CallOptions;

impl View {
    /// Fills in a template of a server's resources, and reads what is at the address, connecting first
    /// if need be. Whether the caller may is decided about that address.
    ///
    /// # Errors
    /// When the template cannot be filled in, or as [`View::read`].
    pub async fn read_template(
        &self,
        server: &str,
        template: &str,
        values: &BTreeMap<String, Fill>,
    ) -> Result<ReadResourceResult, Error> {
        let uri = UriTemplate::parse(template).and_then(|read| read.expand(values));
        let uri = uri.map_err(|error| no_address(template, &error))?;
        self.read_with(server, &uri, CallOptions::default()).await
    }
}

fn no_address(template: &str, error: &TemplateError) -> Error {
    Error::from(HostError::Arguments {
        tool: template.to_owned(),
        violations: vec![Violation {
            pointer: String::new(),
            rule: "/uriTemplate".to_owned(),
            message: error.to_string(),
        }],
    })
}
