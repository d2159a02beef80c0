//! The server that runs on this machine, as the command line sees it.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::access::Secret;
use crate::cli::ServeArguments;
use crate::config::Config;
use crate::greeting;
use crate::listen::OwnServer;

/// The server answers at once or not at all.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct RunningServer {
    own: OwnServer,
    token: String,
}

/// Without the token.
impl std::fmt::Debug for RunningServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("RunningServer")
            .field(&self.own)
            .finish()
    }
}

impl RunningServer {
    /// Where these settings say that it is; nothing is sent yet.
    pub fn at(arguments: &ServeArguments) -> anyhow::Result<Self> {
        let config = Config::load(arguments.config.as_deref(), &arguments.overrides())?;
        let secret = match &config.token {
            Some(token) => Secret::new(token.expose())?,
            None => Secret::kept_in(&config.data_dir)?,
        };
        Ok(Self {
            own: OwnServer::new(&config, PATIENCE)?,
            token: secret.expose().to_owned(),
        })
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let path = format!("/api{path}");
        self.own.request(method, &path).bearer_auth(&self.token)
    }

    /// The body of a good answer; the server's own words for a bad one.
    pub async fn answer(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let hint = || {
            format!(
                "No Sayso answers at {}. Start it, or name its address with --listen",
                self.own.address()
            )
        };
        let (status, body) = self.own.send(request).await.with_context(hint)?;
        let good = status.is_success();
        match body["message"].as_str() {
            Some(message) if !good => bail!("{message}"),
            None if !good => bail!("The server refused without a reason."),
            _ => Ok(body),
        }
    }
}

/// `sayso pair`: prints another link that lets one browser in.
pub async fn print_link(arguments: &ServeArguments, output: impl Write) -> anyhow::Result<()> {
    let server = RunningServer::at(arguments)?;
    let request = server.request(Method::POST, "/devices/printed_link");
    let made = server.answer(request).await?;
    let url = made["url"].as_str().unwrap_or_default();
    greeting::print_link(output, url)?;
    Ok(())
}
