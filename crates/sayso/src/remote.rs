//! The server that runs on this machine, as the command line sees it.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, USER_AGENT};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::Value;
use tokio_tungstenite::WebSocketStream;
use tungstenite::client::IntoClientRequest;

use crate::access::Secret;
use crate::cli::ServeArguments;
use crate::config::Config;
use crate::greeting;
use crate::listen::{Connection, OwnServer};

/// The server answers at once or not at all.
const PATIENCE: Duration = Duration::from_secs(10);

/// There is not even a folder of a server.
#[derive(Debug, thiserror::Error)]
#[error(
    "No Sayso has run with these settings: there is no folder {0}. Start it with `sayso`, or name its folder with --data-dir."
)]
pub struct NeverRan(std::path::PathBuf);

pub struct RunningServer {
    own: OwnServer,
    token: String,
    /// What a server of `sayso demo` lets in, unless these settings name a folder or a token.
    demo_token: Option<String>,
    user_agent: Option<&'static str>,
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
            None if !config.data_dir.exists() => bail!(NeverRan(config.data_dir)),
            None => Secret::kept_in(&config.data_dir)?,
        };
        let is_plain = config.token.is_none() && arguments.data_dir.is_none();
        let demo = config.demo_folder();
        let demo_token = if is_plain && Secret::file(&demo).exists() {
            Some(Secret::kept_in(&demo)?.expose().to_owned())
        } else {
            None
        };
        Ok(Self {
            own: OwnServer::new(&config, PATIENCE)?,
            token: secret.expose().to_owned(),
            demo_token,
            user_agent: None,
        })
    }

    /// The same once it has let this in, with its own token or with that of `sayso demo`.
    pub async fn that_lets_in(arguments: &ServeArguments) -> anyhow::Result<Self> {
        let mut server = Self::at(arguments)?;
        loop {
            let sent = server.own.send(server.request(Method::GET, "/me")).await;
            let (status, _) = sent.with_context(|| server.unreachable())?;
            if status != StatusCode::UNAUTHORIZED {
                return Ok(server);
            }
            if !server.turn_to_demo() {
                bail!(server.has_another_token());
            }
        }
    }

    /// Says from now on that this is such a program.
    pub fn introduce(&mut self, user_agent: &'static str) {
        self.user_agent = Some(user_agent);
    }

    /// Shows the token of `sayso demo` from now on; false where there is none.
    pub fn turn_to_demo(&mut self) -> bool {
        let token = self.demo_token.take();
        let found = token.is_some();
        self.token = token.unwrap_or_else(|| std::mem::take(&mut self.token));
        found
    }

    pub fn address(&self) -> std::net::SocketAddr {
        self.own.address()
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let path = format!("/api{path}");
        let request = self.own.request(method, &path).bearer_auth(&self.token);
        match self.user_agent {
            Some(name) => request.header(USER_AGENT, name),
            None => request,
        }
    }

    /// The answer as it came, good or bad.
    pub async fn exchange(&self, request: RequestBuilder) -> anyhow::Result<(StatusCode, Bytes)> {
        self.own.send_for_bytes(request).await
    }

    /// The native protocol's socket, before its welcome.
    pub async fn socket(&self) -> anyhow::Result<WebSocketStream<Connection>> {
        let mut request = format!("ws://{}/api/ws", self.own.address()).into_client_request()?;
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, format!("Bearer {}", self.token).parse()?);
        if let Some(name) = self.user_agent {
            headers.insert(USER_AGENT, name.parse()?);
        }
        let stream = self.own.connect().await?;
        let shaking = tokio_tungstenite::client_async(request, stream);
        let (socket, _) = tokio::time::timeout(PATIENCE, shaking)
            .await
            .context("No answer came in time")??;
        Ok(socket)
    }

    /// The body of a good answer; the server's own words for a bad one.
    pub async fn answer(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let sent = self.own.send(request).await;
        let (status, body) = sent.with_context(|| self.unreachable())?;
        let good = status.is_success();
        match body["message"].as_str() {
            Some(message) if !good => bail!("{message}"),
            None if !good => bail!("The server refused without a reason."),
            _ => Ok(body),
        }
    }

    fn unreachable(&self) -> String {
        format!(
            "No Sayso answers at {}. Start it, or name its address with --listen",
            self.own.address()
        )
    }

    /// For the one who started it; the server's own words are for browsers.
    pub fn has_another_token(&self) -> String {
        format!(
            "The Sayso at {} has another token: name its folder with --data-dir, or set SAYSO_TOKEN.",
            self.own.address()
        )
    }
}

/// `sayso pair`: prints another link that lets one browser in.
pub async fn print_link(arguments: &ServeArguments, output: impl Write) -> anyhow::Result<()> {
    let server = RunningServer::that_lets_in(arguments).await?;
    let request = server.request(Method::POST, "/devices/printed_link");
    let made = server.answer(request).await?;
    let url = made["url"].as_str().unwrap_or_default();
    greeting::print_link(output, url)?;
    Ok(())
}
