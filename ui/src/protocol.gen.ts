// Generated from crates/protocol. Do not edit.
// To rewrite it: SAYSO_WRITE_TYPES=1 cargo test -p sayso-protocol

/**
 * The answer to a client message that carried an `id` and was carried out.
 */
export type Ack = { id?: string, session_id?: string, 
/**
 * The rule that was added.
 */
rule_id?: string, 
/**
 * What the agent answered, for messages that ask it something.
 */
data: unknown, };

/**
 * `POST /api/notifications/act`: a button of a notification. Needs no credential but the token, which is good once.
 */
export type Act = { token: string, };

export type ActionKind = "deny" | "allow";

/**
 * What a human says of a rule.
 */
export type AddRule = { rule: string, effect: RuleEffect, scope: RuleScope, 
/**
 * It answers so many requests and then no more.
 */
uses?: number, 
/**
 * It answers for so many minutes and then no more.
 */
minutes?: number, reason?: string, matches?: Array<string>, matches_not?: Array<string>, 
/**
 * Without it a rule that is wider than it looks is refused with `rule_too_broad`.
 */
confirm_broad?: boolean, 
/**
 * False keeps it without letting it answer anything yet.
 */
enabled?: boolean, 
/**
 * Open requests that the rule shall decide at once, after a human saw them listed.
 */
decide?: Array<string>, };

/**
 * An agent that sessions can run, and what it can and cannot express.
 */
export type AgentInfo = { agent: string, label: string, available: boolean, version: string | null, 
/**
 * What is missing and how to mend it, when not available.
 */
problem: string | null, permission_modes: Array<PermissionModeInfo>, 
/**
 * What the agent offered when it last ran; empty before.
 */
models: Array<ModelInfo>, capabilities: Capabilities, };

export type AgentRule = { rule: string, effect: RuleEffect, 
/**
 * Where it stands, in the agent's words: `userSettings`, `localSettings`, `session`.
 */
source: string, 
/**
 * It came from Sayso, which hands its denials to the agent.
 */
handed_over: boolean, };

/**
 * The answer to `list_agent_rules`: what the agent itself goes by. Sayso does not change these.
 */
export type AgentRules = { rules: Array<AgentRule>, };

/**
 * Tool calls that ran without anybody's say-so.
 */
export type Alert = { 
/**
 * The last one.
 */
tool_name: string, tool_use_id: string, 
/**
 * What ran: the command, path or address.
 */
subject: string, at: string, 
/**
 * How many there were since a human last looked.
 */
count: number, 
/**
 * The agent was stopped for it.
 */
stopped: boolean, };

/**
 * Run it, as shown or as edited.
 */
export type Allow = { 
/**
 * Runs in place of what was shown.
 */
updated_input?: unknown, 
/**
 * Indexes of the suggestions to remember.
 */
remember?: Array<number>, 
/**
 * For plans: the permission mode that follows. Without it the agent goes
 * back to the mode before the plan.
 */
permission_mode?: string, 
/**
 * A program allowed this by itself and nobody looked: it is recorded as
 * the policy `auto_approve`. Only for tool calls.
 */
automatic?: boolean, };

/**
 * Answers to questions, by the question's exact text.
 */
export type Answer = { answers: Record<string, AnswerValue>, 
/**
 * What the human adds to an answer, by the question's exact text.
 */
notes?: Record<string, string>, };

/**
 * A label or free text, or the labels of a multi-select.
 */
export type AnswerValue = string | Array<string>;

export type ArchiveSession = { session_id: string, 
/**
 * False brings the session back into the list.
 */
archived: boolean, };

/**
 * The answer to `GET /api/requests/{id}/baseline`.
 */
export type Baseline = { "kind": "file" } & FileNow | { "kind": "plan", text: string | null, } | { "kind": "none", };

/**
 * An answer that the agent cannot express is refused, never downgraded; a
 * client reads here what to offer.
 */
export type Capabilities = { edit_input: boolean, deny_message: boolean, interrupt: boolean, set_permission_mode: boolean, set_model: boolean, resume: boolean, images: boolean, };

/**
 * `POST /api/devices/{id}`: another name, other scopes.
 */
export type ChangeDevice = { name?: string, scopes?: Array<Scope>, };

/**
 * `PUT /api/notifications/push`: what this browser is sent.
 */
export type ChangePush = { settings: ChannelSettings, };

/**
 * Where notifications go. Secrets are not part of it.
 */
export type Channel = { channel_id: string, kind: ChannelKind, name: string, 
/**
 * The device that a push subscription belongs to.
 */
device_id?: string, 
/**
 * The host that it is sent to; the rest of the address may be a secret.
 */
host: string, settings: ChannelSettings, created_at: string, last_result?: DeliveryResult, };

export type ChannelKind = "web_push" | "ntfy" | "webhook";

/**
 * What one channel is sent, and when. What is absent is as in [`Default`].
 */
export type ChannelSettings = { enabled: boolean, kinds: Array<NotificationKind>, 
/**
 * Also a part of what the agent wrote, such as the command: masked and cut.
 */
detail: boolean, 
/**
 * A button to deny.
 */
deny_button: boolean, 
/**
 * A button to allow, for requests without any known risk. Takes the scope `admin` to switch on.
 */
allow_button: boolean, 
/**
 * Only what is unanswered for so long: how one channel comes after another.
 */
after_seconds: number, 
/**
 * Once more so long before a time limit ends; 0 for never.
 */
remind_seconds: number, 
/**
 * Not while anybody looks at Sayso. A device is never told while its own human looks.
 */
only_when_away: boolean, quiet_hours: QuietHours | null, };

export type ChannelTarget = { "kind": "ntfy", 
/**
 * `https://ntfy.sh`
 */
server: string, topic: string, 
/**
 * For topics that are protected.
 */
token?: string, } | { "kind": "webhook", url: string, format?: WebhookFormat, 
/**
 * What bodies are signed with; one is made when it is absent.
 */
secret?: string, };

/**
 * One of the answers the agent offers.
 */
export type Choice = { choice_id: string, label: string, allows: boolean, 
/**
 * False when this choice ends the agent's turn.
 */
turn_continues: boolean, 
/**
 * Indexes into `suggestions` that this choice would remember.
 */
remembers: Array<number>, };

export type Claim = { 
/**
 * "Safari on iPhone": what the browser says of itself.
 */
name: string, address: string, 
/**
 * Six digits that the other device shows too.
 */
code: string, };

/**
 * Every frame that a client sends, without its optional `id`.
 */
export type ClientMessage = { "type": "start_session" } & StartSession | { "type": "stop_session" } & SessionTarget | { "type": "remove_session" } & SessionTarget | { "type": "rename_session" } & RenameSession | { "type": "archive_session" } & ArchiveSession | { "type": "import_conversation" } & ImportConversation | { "type": "interrupt" } & SessionTarget | { "type": "send_message" } & SendMessage | { "type": "edit_queued" } & EditQueued | { "type": "remove_queued" } & RemoveQueued | { "type": "set_permission_mode" } & SetPermissionMode | { "type": "set_model" } & SetModel | { "type": "subscribe" } & Subscribe | { "type": "unsubscribe" } & SessionTarget | { "type": "respond" } & Respond | { "type": "hold" } & RequestTarget | { "type": "resume_clock" } & RequestTarget | { "type": "extend" } & Extend | { "type": "add_rule" } & AddRule | { "type": "update_rule" } & UpdateRule | { "type": "enable_rule" } & EnableRule | { "type": "remove_rule" } & RemoveRule | { "type": "list_agent_rules" } & SessionTarget | { "type": "dismiss_alert" } & SessionTarget | { "type": "presence" } & Presence | { "type": "ping" } & Ping;

export type ClientRef = { client_id: string, label: string, };

/**
 * A command that the agent understands, written as `/name`.
 */
export type CommandInfo = { name: string, description: string, argument_hint: string, };

/**
 * `POST /api/devices/pairings/{id}/confirm`: lets the waiting device in.
 */
export type ConfirmPairing = { 
/**
 * The code that was compared.
 */
code: string, name: string, scopes: Array<Scope>, };

/**
 * A piece of a message, from a human or from a tool.
 */
export type ContentBlock = { "type": "text", text: string, } | { "type": "image", media_type: string, data: string, } | { "type": "document", media_type: string, data: string, title?: string, };

/**
 * Tokens in the agent's context window.
 */
export type ContextUse = { used: number, 
/**
 * `None` while the agent has not said how large it is.
 */
window: number | null, };

export type Conversation = { conversation_id: string, title: string, updated_at: string, 
/**
 * Messages of the human.
 */
messages: number, 
/**
 * The session that has it open in Sayso already.
 */
session_id: string | null, };

/**
 * `GET /api/conversations`: those held in a folder outside of Sayso, newest first.
 */
export type Conversations = { conversations: Array<Conversation>, };

export type DecidedBy = "human" | "rule" | "mode" | "timeout" | "policy" | "agent";

/**
 * What a human decided. Read in `client.rs`, where raw JSON stays raw.
 */
export type Decision = { "behavior": "allow" } & Allow | { "behavior": "deny" } & Deny | { "behavior": "answer" } & Answer | { "behavior": "submit" } & Submit;

/**
 * What a new session starts from when the human says nothing else.
 */
export type Defaults = { cwd: string, agent: string, permission_mode: string, };

/**
 * Deciding and delivering are two things: a decision is final when recorded.
 */
export type Delivery = "pending" | "sent" | "too_late" | "failed" | "none";

/**
 * What became of a try to send something.
 */
export type DeliveryResult = { at: string, delivered: boolean, 
/**
 * For people.
 */
text: string, };

export type DeltaKind = "text" | "thinking" | "tool_input";

/**
 * Do not run it.
 */
export type Deny = { 
/**
 * The agent reads exactly this.
 */
message?: string, 
/**
 * Also end the agent's turn.
 */
interrupt?: boolean, };

/**
 * Something that may come in.
 */
export type Device = { device_id: string, kind: DeviceKind, 
/**
 * Of an extension: the only place that its token comes from.
 */
origin?: string, name: string, scopes: Array<Scope>, created_at: string, last_seen_at: string, 
/**
 * When it must be paired again; a browser's moves on with each visit.
 */
expires_at?: string, 
/**
 * How many sockets it has open.
 */
connections: number, };

export type DeviceKind = "browser" | "token" | "extension";

/**
 * `GET /api/devices`, and the `devices` message to those who may change them.
 */
export type Devices = { devices: Array<Device>, pairings: Array<Pairing>, };

/**
 * Changes a message that the agent has not read yet.
 */
export type EditQueued = { session_id: string, message_id: string, content: Array<ContentBlock>, };

export type EnableRule = { rule_id: string, enabled: boolean, };

/**
 * What went wrong, for programs.
 */
export type ErrorCode = "invalid_message" | "unknown_type" | "message_too_large" | "unknown_session" | "unknown_request" | "already_decided" | "digest_mismatch" | "invalid_answer" | "not_supported" | "session_taken" | "session_ended" | "folder_not_found" | "folder_not_trusted" | "already_sent" | "unknown_conversation" | "invalid_rule" | "rule_too_broad" | "unknown_rule" | "denied_by_rule" | "agent_unavailable" | "agent_error" | "unauthorized" | "forbidden" | "proof_required" | "too_many_attempts" | "pairing_over" | "unknown_device" | "unknown_channel" | "action_over" | "not_found" | "overloaded" | "store_unavailable" | "shutting_down" | "internal";

/**
 * The answer to a client message that was not carried out.
 */
export type ErrorMessage = { id?: string, code: ErrorCode, message: string, request_id?: string, 
/**
 * With `already_decided`: who decided what.
 */
outcome?: Outcome, 
/**
 * With `folder_not_trusted`: what the folder would run.
 */
trust?: FolderFindings, 
/**
 * With `too_many_attempts`.
 */
retry_after_seconds?: number, };

export type Extend = { request_id: string, seconds: number, };

export type FileMatch = { 
/**
 * Relative to `cwd`; a folder ends with `/`.
 */
path: string, };

/**
 * `GET /api/files`: files and folders below `cwd` that match, best first.
 */
export type FileMatches = { files: Array<FileMatch>, 
/**
 * The folder holds more files than are looked at.
 */
truncated: boolean, };

/**
 * A file at the moment of the question.
 */
export type FileNow = { 
/**
 * As the input names it.
 */
path: string, 
/**
 * Where it really is, when a symbolic link leads there.
 */
resolved_path: string | null, state: FileState, size: number | null, 
/**
 * The whole content, for `text`.
 */
text: string | null, 
/**
 * What is in the way, for `unreadable`.
 */
problem: string | null, };

export type FileState = "text" | "missing" | "binary" | "too_large" | "not_a_file" | "unreadable";

export type Finding = { kind: FindingKind, 
/**
 * The file that says so.
 */
source: string, 
/**
 * What it is called there: a hook's event, a server's name, a variable.
 */
name: string, 
/**
 * The command, address or value itself.
 */
detail: string, };

export type FindingKind = "hook" | "mcp_server" | "helper" | "environment" | "permission" | "plugin" | "setting" | "unreadable";

/**
 * Everything that a folder would make the agent run or change by itself.
 */
export type FolderFindings = { cwd: string, 
/**
 * Of the findings; sent back as `trust_digest`, so that what is trusted is what was shown.
 */
digest: string, findings: Array<Finding>, };

export type FolderMatch = { path: string, 
/**
 * It holds a `.git` or `.claude` folder.
 */
project: boolean, };

/**
 * `GET /api/folders`: the folders whose path begins with what was typed.
 */
export type FolderMatches = { folders: Array<FolderMatch>, 
/**
 * What was typed is itself a folder.
 */
exists: boolean, 
/**
 * There were more.
 */
truncated: boolean, };

/**
 * The answer to `GET /api/history/check`.
 */
export type HistoryCheck = { good: boolean, 
/**
 * How many were checked; 0 when something is wrong.
 */
entries: number, 
/**
 * What is wrong, in one sentence, and with which entry first.
 */
problem: string | null, first_bad: number | null, };

/**
 * The answer to `GET /api/history/{seq}`.
 */
export type HistoryDetail = { entry: HistoryEntry, 
/**
 * The whole record, exactly as it was written: nothing is masked.
 */
record: unknown, 
/**
 * Other entries about the same request, oldest first.
 */
related: Array<HistoryEntry>, };

/**
 * One line of it. Likely secrets in `text` are masked.
 */
export type HistoryEntry = { seq: number, at: string, 
/**
 * `decision`, `outcome`, `alert`, `rule`, `mode`, `session`; later versions may add some.
 */
kind: string, session_id: string | null, request_id: string | null, 
/**
 * The folder that the session works in.
 */
project: string | null, tool_name: string | null, 
/**
 * One word: `allowed`, `denied`, `answered`, `expired`, `withdrawn`, `orphaned`; `ran`, `failed`;
 * `added`, `changed`, `removed`; `started`, `ended`; the mode.
 */
outcome: string, 
/**
 * `human`, `rule`, `mode`, `timeout`, `policy`, `agent`, `server`.
 */
by: string, 
/**
 * The device, the rule's text, the mode.
 */
by_name: string, text: string, };

/**
 * The answer to `GET /api/history`: newest first.
 */
export type HistoryPage = { entries: Array<HistoryEntry>, 
/**
 * `before` of the next page; null on the last one.
 */
next: number | null, };

/**
 * Opens a conversation that was held outside of Sayso as a session that has
 * ended, with its history; a message goes on with it.
 */
export type ImportConversation = { cwd: string, conversation_id: string, };

export type MadeChannel = { channel: Channel, 
/**
 * What bodies are signed with, when the server made it; shown this once.
 */
secret?: string, };

export type MadeToken = { device: Device, 
/**
 * Shown once; only its hash is kept.
 */
token: string, };

/**
 * Who a client is to the server: `GET /api/me`, and `me` in the welcome.
 */
export type Me = { 
/**
 * Absent for whoever shows the server's own token.
 */
device_id?: string, name: string, scopes: Array<Scope>, 
/**
 * A password is asked for before risky actions.
 */
password_set: boolean, 
/**
 * Until when it need not be asked for again.
 */
proven_until?: string, };

export type ModelInfo = { 
/**
 * What `set_model` takes.
 */
value: string, label: string, description: string | null, };

/**
 * `POST /api/devices/pairings`: makes a link for another device.
 */
export type NewPairing = { scopes: Array<Scope>, };

/**
 * `POST /api/devices/tokens`: makes a token for a script.
 */
export type NewToken = { name: string, scopes: Array<Scope>, expires_in_days?: number, };

export type NoticeLevel = "info" | "warning" | "error";

/**
 * What a human is told of.
 */
export type NotificationKind = "tool" | "question" | "plan" | "turn_finished" | "error";

/**
 * `GET /api/notifications`: all channels for those with the scope `admin`, else the device's own.
 */
export type Notifications = { channels: Array<Channel>, 
/**
 * The server's VAPID key, for `PushManager.subscribe`.
 */
public_key: string, 
/**
 * Whether push services are told of somebody to write to, and not of the example in its place.
 */
contact_set: boolean, };

export type OnTimeout = "deny" | "deny_and_interrupt";

/**
 * What follows when a tool ran that nobody allowed.
 */
export type OnUnasked = "alert" | "stop";

/**
 * How a request ended.
 */
export type Outcome = { what: OutcomeKind, by: DecidedBy, 
/**
 * Which mode, rule or policy, where one of them decided.
 */
by_name?: string, 
/**
 * Which client, for a human's decision.
 */
client: ClientRef | null, 
/**
 * The reason of a refusal, when one was given.
 */
message: string | null, 
/**
 * The human changed the input before it ran.
 */
edited: boolean, delivery: Delivery, at: string, };

export type OutcomeKind = "allowed" | "denied" | "answered" | "expired" | "withdrawn" | "orphaned";

/**
 * `POST /api/pair`: shows the secret of a link. The only call without a credential.
 */
export type Pair = { secret: string, 
/**
 * What an extension was given to keep its place, in place of a browser's cookie.
 */
ticket?: string, };

/**
 * What became of it. While it waits, ask again with the same secret.
 */
export type Paired = { "status": "paired", token?: string, } | { "status": "waiting", code: string, expires_at: string, 
/**
 * For an extension to show with the next try; only the first time.
 */
ticket?: string, } | { "status": "refused" };

/**
 * A device that wants to come in, or a code that waits for one.
 */
export type Pairing = { pairing_id: string, scopes: Array<Scope>, expires_at: string, 
/**
 * What used the link and waits to be let in; absent while nothing has.
 */
claim?: Claim, };

export type PairingLink = { pairing: Pairing, 
/**
 * With the secret behind the `#`; shown once.
 */
url: string, qr: QrCode, 
/**
 * The SHA-256 of the server's certificate, to compare.
 */
fingerprint?: string, };

/**
 * Something an agent waits for: shown to every client until it is closed.
 */
export type PendingRequest = { request_id: string, session_id: string, request_type: RequestType, tool_name: string, 
/**
 * The agent's input, byte for byte.
 */
tool_input: unknown, 
/**
 * Names the input; a decision must repeat it.
 */
input_digest: string, created_at: string, 
/**
 * When Sayso decides by itself; absent when it never will or the clock is stopped.
 */
deadline: string | null, 
/**
 * What happens at the deadline.
 */
on_timeout: OnTimeout, held: boolean, 
/**
 * What is left on a stopped clock.
 */
remaining_seconds: number | null, tool_use_id: string | null, 
/**
 * What the agent offers, in its order.
 */
choices: Array<Choice>, agent_id: string | null, agent_label: string | null, title: string | null, description: string | null, decision_reason: string | null, decision_reason_type: string | null, 
/**
 * Where the rule or hook that forced the question comes from.
 */
decision_reason_source: string | null, 
/**
 * The agent's own rule that says "ask", as text.
 */
matched_rule: string | null, 
/**
 * Why none of Sayso's rules answered it; absent when there are none.
 */
rule_explanation: string | null, blocked_path: string | null, 
/**
 * The agent's offers to remember, verbatim; `remember` names them by index.
 */
suggestions: Array<unknown>, default_to_no: boolean, suppress_always_allow: boolean, requires_user_interaction: boolean, mcp_server: string | null, 
/**
 * False when the input holds characters that JSON cannot carry, so that
 * what is shown is not exactly what would run: it can be denied or edited.
 */
input_faithful: boolean, 
/**
 * For questions: the host takes free text beside the options.
 */
free_text: boolean, 
/**
 * What the input would do that a human should know, read from a parse.
 */
risks: Array<Risk>, 
/**
 * One of the risks cannot be taken back: the request opens on Deny.
 */
destructive: boolean, 
/**
 * For commands: where each further part of a compound command begins, in
 * UTF-16 code units, so that a reader can see it on a line of its own.
 */
command_breaks: Array<number>, };

export type PermissionModeInfo = { mode: string, label: string, description: string, 
/**
 * The human is asked nothing in this mode.
 */
dangerous: boolean, };

export type Ping = Record<symbol, never>;

/**
 * Overrides of the server's policies for one session. Durations are written
 * as in the configuration: `"90s"`, `"5m"`, `"never"`.
 */
export type PolicyOverrides = { tool_timeout?: string, question_timeout?: string, plan_timeout?: string, on_timeout?: OnTimeout, when_unattended?: WhenUnattended, 
/**
 * How long nobody may be connected before `when_unattended = "deny"` acts.
 */
unattended_grace?: string, responders?: Responders, free_text?: boolean, idle_timeout?: string, 
/**
 * How long the mode that asks nothing lasts; then the agent asks again.
 */
bypass_expiry?: string, on_unasked?: OnUnasked, };

/**
 * Whether a human can see this client's page right now. Nobody is taken to look until this is said.
 */
export type Presence = { visible: boolean, };

/**
 * `POST /api/prove`: the password, before something risky.
 */
export type Prove = { password: string, };

export type Proven = { proven_until: string, };

/**
 * A button, for `POST /api/notifications/act`.
 */
export type PushAction = { action: ActionKind, token: string, };

/**
 * In base64url without padding.
 */
export type PushKeys = { p256dh: string, auth: string, };

export type PushNotice = { 
/**
 * One notification at a time has it; a later one takes its place.
 */
tag: string, kind: NotificationKind, 
/**
 * In the server's words.
 */
title: string, body: string, 
/**
 * The path of the page to open.
 */
path: string, 
/**
 * Said once more because the time limit ends soon.
 */
reminder: boolean, session_id?: string, request_id?: string, deadline?: string, actions: Array<PushAction>, };

/**
 * What a service worker finds in a push message.
 */
export type PushPayload = { "type": "show" } & PushNotice | { "type": "withdraw", tag: string, };

export type PushSubscription = { endpoint: string, 
/**
 * Browsers send it; the server finds out by itself when a subscription has ended.
 */
expirationTime?: number | null, keys: PushKeys, };

/**
 * `POST /api/notifications/channels`, and `PUT` of one.
 */
export type PutChannel = { name: string, 
/**
 * Stays as it is when absent; a new channel needs one.
 */
target?: ChannelTarget, settings?: ChannelSettings, };

/**
 * A square of dark and light modules, row by row.
 */
export type QrCode = { size: number, 
/**
 * `size` × `size` characters, `1` for dark.
 */
modules: string, };

/**
 * A message of the human that waits for the agent.
 */
export type QueuedMessage = { message_id: string, content: Array<ContentBlock>, at: string, };

/**
 * Nothing is sent from one time of the day until another. What still waits then is sent at their end.
 */
export type QuietHours = { 
/**
 * `22:00`
 */
from: string, 
/**
 * `07:00`, of the next day when it is earlier.
 */
until: string, 
/**
 * `Europe/Berlin`
 */
time_zone: string, };

/**
 * The body of `POST /api/rules/settings`: a settings file of Claude Code, to be looked at.
 */
export type ReadSettings = { 
/**
 * The whole text of the file.
 */
text: string, };

export type RefusedRule = { 
/**
 * As it stands in the file.
 */
text: string, effect: RuleEffect, problem: string, };

/**
 * Takes back a message that the agent has not read yet.
 */
export type RemoveQueued = { session_id: string, message_id: string, };

export type RemoveRule = { rule_id: string, };

export type RenameSession = { session_id: string, title: string, };

export type RequestTarget = { request_id: string, };

export type RequestType = "tool_approval" | "ask_user_question" | "plan_approval" | "elicitation" | "other";

export type Respond = { request_id: string, 
/**
 * The digest of the input that the human saw.
 */
input_digest: string, decision: Decision, };

export type Responders = "any" | "active";

/**
 * One thing that a tool call would do.
 */
export type Risk = { kind: RiskKind, 
/**
 * The part of the input that says so.
 */
words: string, };

export type RiskKind = "deletes" | "overwrites" | "privilege" | "network" | "pipes_into_shell" | "outside_project" | "protected_path" | "installs" | "git_history" | "long_running" | "unknown";

/**
 * A rule that Sayso keeps. It answers requests that agents make; it is not
 * written into the agents' own settings.
 */
export type Rule = { rule_id: string, 
/**
 * As Claude Code writes rules: `Bash(npm test:*)`.
 */
rule: string, effect: RuleEffect, scope: RuleScope, 
/**
 * How many more requests it answers; without a limit when null.
 */
uses_left: number | null, 
/**
 * From then on it answers nothing.
 */
expires_at: string | null, 
/**
 * Why it is there. Of a denial, the agent reads it.
 */
reason: string | null, 
/**
 * Inputs that it must match and must not match: commands, paths or
 * addresses. Checked whenever the rule is saved.
 */
matches: Array<string>, matches_not: Array<string>, enabled: boolean, created_at: string, 
/**
 * The client that made it.
 */
created_by: string, hits: number, last_hit_at: string | null, 
/**
 * What makes it wider than it looks, when something does.
 */
too_broad: string | null, };

/**
 * Deny beats ask beats allow, whichever scope they stand in.
 */
export type RuleEffect = "allow" | "ask" | "deny";

export type RuleScope = { "kind": "session", session_id: string, } | { "kind": "project", path: string, } | { "kind": "everywhere", };

export type RuleSuggestion = { kind: RuleSuggestionKind, 
/**
 * They belong together: one for each part of a command.
 */
rules: Array<SuggestedRule>, 
/**
 * Together they would allow this very request; otherwise they can only deny or ask.
 */
allows: boolean, };

export type RuleSuggestionKind = "exact" | "prefix" | "folder" | "domain" | "agent" | "server" | "tool";

/**
 * The answer to `GET /api/requests/{id}/rules`: what could be remembered.
 */
export type RuleSuggestions = { 
/**
 * From the narrowest to the broadest.
 */
suggestions: Array<RuleSuggestion>, };

/**
 * One of the things that a device may do. The server gives them out; what a
 * client says about itself counts for nothing.
 */
export type Scope = "view" | "answer" | "approve" | "rules" | "admin";

export type SendMessage = { session_id: string, content: Array<ContentBlock>, };

/**
 * Every frame that the server sends.
 */
export type ServerMessage = { "type": "welcome" } & Welcome | { "type": "session_state", session: Session, } | { "type": "session_removed", session_id: string, } | { "type": "agents", agents: Array<AgentInfo>, } | { "type": "session_features", session_id: string, commands: Array<CommandInfo>, models: Array<ModelInfo>, } | { "type": "queue", session_id: string, messages: Array<QueuedMessage>, } | { "type": "rules", rules: Array<Rule>, } | { "type": "rule_used", rule: Rule, } | { "type": "devices" } & Devices | { "type": "request_opened", pending_request: PendingRequest, } | { "type": "request_updated", pending_request: PendingRequest, } | { "type": "request_closed", request_id: string, session_id: string, outcome: Outcome, } | { "type": "transcript", session_id: string, 
/**
 * Serialized `TranscriptEntry` values, as they were stored.
 */
entries: Array<TranscriptEntry>, } | { "type": "delta", session_id: string, message_id: string, index: number, kind: DeltaKind, text: string, 
/**
 * The text so far, not an addition: sent to a client that joins late.
 */
restart?: boolean, } | { "type": "ack" } & Ack | { "type": "error" } & ErrorMessage;

/**
 * One agent at work in one folder, as clients see it.
 */
export type Session = { session_id: string, title: string, cwd: string, 
/**
 * The agent's name, as in `AgentInfo::agent`.
 */
agent: string, state: SessionState, permission_mode: string, model: string | null, started_at: string, state_changed_at: string, usage: Usage, 
/**
 * How full the agent's memory is, once it has said so.
 */
context: ContextUse | null, archived: boolean, 
/**
 * The agent runs without the folder's own settings, because nobody trusted them.
 */
restricted: boolean, 
/**
 * Why the session is dead, or what is wrong with it now.
 */
error?: string, 
/**
 * The agent lives and does not react; `error` says it in words.
 */
unresponsive?: Unresponsive, 
/**
 * A tool ran that nobody allowed. Stands until a human has seen it.
 */
alert?: Alert, 
/**
 * When the mode that asks nothing ends by itself.
 */
bypass_until?: string, 
/**
 * True when typing a message would start the agent again with its history.
 */
can_resume: boolean, 
/**
 * The number of the last transcript entry; 0 when there is none.
 */
last_seq: number, };

export type SessionState = "starting" | "assistant_turn" | "user_turn" | "dead";

export type SessionTarget = { session_id: string, };

export type SetModel = { session_id: string, model: string, };

/**
 * `POST /api/password`: sets, changes or (without `new`) removes the password.
 */
export type SetPassword = { 
/**
 * The one that is set now, if there is one.
 */
current?: string, new?: string, };

export type SetPermissionMode = { session_id: string, permission_mode: string, };

export type SettingsRule = { rule: string, effect: RuleEffect, too_broad: string | null, };

/**
 * What could be taken over from a settings file. Nothing is saved yet.
 */
export type SettingsRules = { rules: Array<SettingsRule>, refused: Array<RefusedRule>, };

export type StartSession = { cwd: string, agent?: string, permission_mode?: string, model?: string, 
/**
 * The first message, sent as soon as the agent is up.
 */
prompt?: string, 
/**
 * A session that has ended: it goes on under its own id, with its history.
 */
resume?: string, policies?: PolicyOverrides, 
/**
 * For a folder that would run something by itself: true accepts what it
 * would run, false starts the agent without the folder's own settings.
 */
trust?: boolean, 
/**
 * With `resume`: the agent takes up the turn in which it was cut off, and asks again.
 */
ask_again?: boolean, 
/**
 * With `trust: true`: the digest of the findings that the human saw.
 */
trust_digest?: string, };

/**
 * The content of a form that a tool server asked for.
 */
export type Submit = { content: Record<string, unknown>, };

export type Subscribe = { session_id: string, 
/**
 * The number of the last entry the client has; what follows is sent.
 */
after?: number, 
/**
 * Without `after`: only so many of the last entries. Earlier ones are
 * read with `GET /api/sessions/{id}/transcript?before=`.
 */
last?: number, };

/**
 * `POST /api/notifications/push`: this browser's subscription, as `PushSubscription.toJSON()` gives it.
 */
export type SubscribePush = { subscription: PushSubscription, 
/**
 * Those before, or the defaults, when absent.
 */
settings?: ChannelSettings, };

export type SuggestedRule = { rule: string, too_broad: string | null, };

/**
 * The body of `POST /api/rules/test`: would this be asked, and why?
 */
export type TestCall = { tool_name: string, tool_input: unknown, 
/**
 * The folder that the agent would work in.
 */
cwd: string, };

export type TestedCall = { decision: RuleEffect, 
/**
 * The rules that led to it.
 */
matched: Array<string>, explanation: string, risks: Array<Risk>, };

export type Tokens = { input: number, output: number, cache_read: number, cache_write: number, };

/**
 * One numbered line of a session's transcript. Numbers have no gaps.
 */
export type TranscriptEntry = { seq: number, at: string, 
/**
 * Set when a subagent did this: the tool call that started it.
 */
parent_tool_use_id?: string, } & ({ "kind": "user_message", message_id: string, content: Array<ContentBlock>, 
/**
 * Sent while the agent was at work; it stands where the agent read it.
 */
queued: boolean, } | { "kind": "assistant_text", message_id: string, index: number, text: string, } | { "kind": "thinking", message_id: string, index: number, text: string, } | { "kind": "tool_use", message_id: string, index: number, tool_use_id: string, tool_name: string, tool_input: unknown, } | { "kind": "tool_result", tool_use_id: string, is_error: boolean, content: Array<ContentBlock>, 
/**
 * The agent's structured result, where it gives one.
 */
structured: unknown, } | { "kind": "decision", request_id: string, request_type: RequestType, tool_name: string, tool_use_id: string | null, outcome: Outcome, 
/**
 * The answers given to questions, as sent to the agent.
 */
answers: unknown, 
/**
 * What the human added to the answers, by question.
 */
notes?: Record<string, string>, 
/**
 * What ran in place of what the agent asked for.
 */
updated_input: unknown, } | { "kind": "unasked_tool", tool_use_id: string, tool_name: string, 
/**
 * What ran: the command, path or address.
 */
subject: string, 
/**
 * The agent was stopped for it.
 */
stopped: boolean, } | { "kind": "notice", level: NoticeLevel, text: string, } | { "kind": "turn_ended", is_error: boolean, reason: string | null, text: string | null, duration_ms: number, 
/**
 * What this turn cost.
 */
cost_usd: number, tokens: Tokens, } | { "kind": "unknown", label: string, message: unknown, });

export type TriedCall = { tool_name: string, 
/**
 * The command, path or address.
 */
subject: string, };

export type TriedRule = { 
/**
 * What is wrong with the rule's text; then all else is empty.
 */
problem: string | null, too_broad: string | null, 
/**
 * Calls of the session's history, the newest first, at most 20 each.
 */
would_match: Array<TriedCall>, would_not_match: Array<TriedCall>, 
/**
 * Open requests that it would decide.
 */
covers: Array<string>, };

/**
 * The body of `POST /api/rules/try`: what would a rule do?
 */
export type TryRule = { rule: string, 
/**
 * Rules that would be saved with it: the parts of a command need one each.
 */
with?: Array<string>, effect: RuleEffect, scope: RuleScope, 
/**
 * Whose calls it is tried on; without one there is no history.
 */
session_id: string | null, };

/**
 * An agent that does not read what it is sent, or does not react to it.
 */
export type Unresponsive = { since: string, 
/**
 * When it is ended if it stays so; `None` when it is not.
 */
ends_at: string | null, };

/**
 * Puts another rule in the place of one, keeping its history.
 */
export type UpdateRule = { rule_id: string, rule: AddRule, };

/**
 * Running totals of a session.
 */
export type Usage = { cost_usd: number, turns: number, tokens: Tokens, };

export type WebhookFormat = "sayso" | "slack";

/**
 * The snapshot: first on every connection, and again after lag. Whatever a
 * client knew of sessions and requests before is replaced by it.
 */
export type Welcome = { server_version: string, client_id: string, 
/**
 * For countdowns on clients whose clock is off.
 */
server_time: string, sessions: Array<Session>, pending_requests: Array<PendingRequest>, agents: Array<AgentInfo>, rules: Array<Rule>, defaults: Defaults, 
/**
 * Who this client is to the server.
 */
me: Me, };

export type WhenUnattended = "wait" | "deny" | "pause";
