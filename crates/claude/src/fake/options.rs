use std::ffi::OsString;
use std::path::PathBuf;

use uuid::Uuid;

use crate::mode::PermissionMode;

/// What the agent takes from its command line; flags it does not know are passed over.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) cwd: PathBuf,
    pub(super) mode: PermissionMode,
    pub(super) model: String,
    pub(super) session_id: Uuid,
    pub(super) may_bypass: bool,
    pub(super) partial_messages: bool,
}

pub(super) const DEFAULT_MODEL: &str = "sayso-demo";

impl Options {
    pub(super) fn read(arguments: &[OsString]) -> Result<Self, String> {
        let mut options = Self {
            cwd: std::env::current_dir().map_err(|error| error.to_string())?,
            mode: PermissionMode::Default,
            model: DEFAULT_MODEL.to_owned(),
            session_id: Uuid::from_u128(0x5a15_0000_0000_4000_8000_0000_0000_0000),
            may_bypass: false,
            partial_messages: false,
        };
        let mut arguments = arguments.iter().map(|argument| argument.to_string_lossy());
        let mut fork = false;
        let mut resumed = None;
        let mut chosen = None;
        while let Some(argument) = arguments.next() {
            let (flag, joined) = match argument.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (argument.as_ref(), None),
            };
            let mut value = || {
                joined
                    .clone()
                    .or_else(|| arguments.next().map(|next| next.into_owned()))
                    .unwrap_or_default()
            };
            match flag {
                "--include-partial-messages" => options.partial_messages = true,
                "--allow-dangerously-skip-permissions" => options.may_bypass = true,
                "--fork-session" => fork = true,
                "--model" => options.model = value(),
                "--session-id" => chosen = Some(read_id(&value())?),
                "--resume" => resumed = Some(read_id(&value())?),
                "--cwd" => options.cwd = value().into(),
                "--permission-mode" => {
                    let name = value();
                    options.mode = PermissionMode::from_wire(&name);
                    if matches!(options.mode, PermissionMode::Other(_)) {
                        return Err(format!("error: {name:?} is not a permission mode"));
                    }
                }
                _ => {}
            }
        }
        // A fork gets an id of its own, but always the same one.
        let resumed = resumed.map(|id| if fork { forked(id) } else { id });
        options.session_id = chosen.or(resumed).unwrap_or(options.session_id);
        options.may_bypass |= options.mode == PermissionMode::BypassPermissions;
        Ok(options)
    }
}

fn read_id(text: &str) -> Result<Uuid, String> {
    Uuid::parse_str(text).map_err(|_| "Error: Invalid session ID. Must be a valid UUID.".to_owned())
}

fn forked(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128() ^ (1 << 96))
}
