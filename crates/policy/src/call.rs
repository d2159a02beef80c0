//! What is judged: one call of one tool, with the facts around it.

use serde_json::Value;

/// A tool call as the agent made it. The crate reads no file system, so
/// everything that is to be known about it comes in here.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    pub tool_name: &'a str,
    pub input: &'a Value,
    /// Absolute; the folder the agent works in.
    pub cwd: &'a str,
    pub home: &'a str,
    pub project_root: &'a str,
    /// The symbolic links on the way to the paths that the call names, see
    /// [`crate::path::mentioned`].
    pub links: &'a [Link],
}

/// A symbolic link at `path`, with its target as it is written in the link:
/// absolute, or relative to the folder that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub path: String,
    pub target: String,
}

impl<'a> ToolCall<'a> {
    /// A text field of the input.
    pub(crate) fn text(&self, field: &str) -> Option<&'a str> {
        self.input.get(field).and_then(Value::as_str)
    }

    pub(crate) fn tool(&self) -> Tool {
        Tool::of(self.tool_name)
    }

    /// The path that a file tool works on.
    pub(crate) fn path(&self) -> Option<&'a str> {
        self.text(self.path_field())
    }

    fn path_field(&self) -> &'static str {
        match self.tool_name {
            "Glob" | "Grep" | "LS" => "path",
            "NotebookEdit" | "NotebookRead" => "notebook_path",
            _ => "file_path",
        }
    }

    /// The input has a path in a field that is not this tool's.
    pub(crate) fn has_stray_path(&self) -> bool {
        let fields = ["file_path", "notebook_path", "path"];
        let own = self.path_field();
        fields
            .iter()
            .any(|field| *field != own && self.input.get(*field).is_some())
    }
}

/// The kinds of tools that rules and the risk tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Bash,
    /// Reads one file, or looks through many.
    Read,
    /// Writes one file.
    Edit,
    WebFetch,
    WebSearch,
    Agent,
    Mcp,
    /// Talks to the user or keeps the agent's own notes.
    Talk,
    Other,
}

impl Tool {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "Bash" => Self::Bash,
            "Read" | "Glob" | "Grep" | "LS" | "NotebookRead" => Self::Read,
            "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => Self::Edit,
            "WebFetch" => Self::WebFetch,
            "WebSearch" => Self::WebSearch,
            "Agent" | "Task" => Self::Agent,
            "AskUserQuestion" | "EnterPlanMode" | "ExitPlanMode" | "TodoWrite" => Self::Talk,
            _ if name.starts_with("mcp__") => Self::Mcp,
            _ => Self::Other,
        }
    }
}
