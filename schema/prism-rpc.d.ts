// Generated from the Go types of package schema. What crosses the wire of prism-rpc. Params are strict. Results, events and the data of errors may get further fields, types and words in later versions; clients ignore those that they don't know.

/** AbortParams are the params of abort. */
export interface AbortParams {
  sessionId?: string | null;
  /** only this run */
  runId?: string | null;
  queue?: "keep" | "clear" | null;
  _meta?: unknown;
}

/** AbortResult answers abort. */
export interface AbortResult {
  aborted: boolean;
}

/** AmbientInfo describes one ambient block. */
export interface AmbientInfo {
  /** of a spliced one */
  id?: string;
  name: string;
  /** builtin, config or splice */
  origin: Origin;
  /** as it is sent, heading and all */
  bytes: number;
  /** of the same, redacted */
  sha256: string;
  lifetime?: Lifetime;
  rendered: boolean;
  /** redacted; where the params ask for it */
  content?: string;
}

/** ApplyInjectorParams ask for an injector's text. */
export interface ApplyInjectorParams {
  name: string;
  context: TurnContext;
}

/** ApplyInjectorResult is the answer to applyInjector. */
export interface ApplyInjectorResult {
  instructions?: string | null;
  contextBlocks?: Array<ContextBlockOpen> | null;
  /** instead of the registered one */
  when?: When | null;
}

/** An Attachment is an image that a session keeps, or a piece of one. */
export interface Attachment {
  mimeType: string;
  /** of the whole */
  sha256: string;
  /** of the whole */
  bytes: number;
  /** base64 */
  data: string;
}

/** CancelAskedParams name a request of the server's. */
export interface CancelAskedParams {
  id: string;
}

/** CancelRequestParams name a request as LSP does. */
export interface CancelRequestParams {
  id: string | number | null;
}

/** CancelledParams name a request as ACP and MCP do. */
export interface CancelledParams {
  requestId: string | number | null;
  /** not read */
  reason?: unknown;
}

/** Capabilities say what this server can do. */
export interface Capabilities {
  methods: Array<string>;
  events: Array<EventType>;
  notices: Array<NoticeKind>;
  features: Array<string>;
  limits: Record<string, number>;
  providers: Array<string>;
  framing: string;
}

/** CompactParams are the params of compact. */
export interface CompactParams {
  sessionId?: string | null;
  /** what the summary must heed */
  instructions?: string | null;
  _meta?: unknown;
}

/** CompactResult answers compact: how many turns a summary now stands for in what is sent, and the size of the dialogue that is sent, as an estimate. */
export interface CompactResult {
  generation: number;
  /** 0: there was nothing to summarise */
  turnsReplaced: number;
  tokensBefore: number;
  tokensAfter: number;
}

/** Compacted says that a summary stands for older turns from now on. */
export interface Compacted {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "compacted";
  generation: number;
  /** 0: there was nothing to summarise */
  turnsReplaced: number;
  tokensBefore: number;
  tokensAfter: number;
}

/** CompactionFailed says that all is as it was before. */
export interface CompactionFailed {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "compaction_failed";
  /** a class of provider_error, cancelled, store_error or error */
  kind: string;
}

/** CompactionReason says why turns are summarised. */
export type CompactionReason = "manual" | "threshold" | "overflow";

/** CompactionStarted says that the older turns are being summarised: within a turn, or, without a turn's number, because a client asked for it. */
export interface CompactionStarted {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "compaction_started";
  reason: CompactionReason;
}

/** A ContentBlock is one piece of what somebody says. */
export interface ContentBlock {
  type: string;
  /** text */
  text?: string;
  /** resource_link */
  uri?: string;
  /** resource_link */
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  /** resource */
  resource?: Resource;
  /** image, as it is sent: base64 */
  data?: string;
  /** image, as it is kept: names its bytes, which messages gives */
  sha256?: string;
  /** image, as it is kept: its size */
  bytes?: number;
  annotations?: unknown;
  _meta?: unknown;
}

/** A ContentBlock is one piece of what somebody says. */
export interface ContentBlockOpen {
  type: "text" | "resource_link" | "resource" | "image";
  /** text */
  text?: string | null;
  /** resource_link */
  uri?: string | null;
  /** resource_link */
  name?: string | null;
  title?: string | null;
  description?: string | null;
  mimeType?: string | null;
  size?: number | null;
  /** resource */
  resource?: ResourceOpen | null;
  /** image, as it is sent: base64 */
  data?: string | null;
  /** image, as it is kept: names its bytes, which messages gives */
  sha256?: null;
  /** image, as it is kept: its size */
  bytes?: 0 | null;
  annotations?: unknown;
  _meta?: unknown;
}

/** A ContentBlock is one piece of what somebody says. */
export interface ContentBlockParam {
  type: "text" | "resource_link" | "resource" | "image";
  /** text */
  text?: string | null;
  /** resource_link */
  uri?: string | null;
  /** resource_link */
  name?: string | null;
  title?: string | null;
  description?: string | null;
  mimeType?: string | null;
  size?: number | null;
  /** resource */
  resource?: ResourceParam | null;
  /** image, as it is sent: base64 */
  data?: string | null;
  /** image, as it is kept: names its bytes, which messages gives */
  sha256?: null;
  /** image, as it is kept: its size */
  bytes?: 0 | null;
  annotations?: unknown;
  _meta?: unknown;
}

/** ContextBlock is a titled piece of context. */
export interface ContextBlock {
  id?: string | null;
  title?: string | null;
  content: InputParam;
  priority?: number | null;
  metadata?: Record<string, unknown> | null;
}

/** ContextBlock is a titled piece of context. */
export interface ContextBlockOpen {
  id?: string | null;
  title?: string | null;
  content: InputOpen;
  priority?: number | null;
  metadata?: Record<string, unknown> | null;
}

/** ContextUse tells how much of a model's context the dialogue takes. */
export interface ContextUse {
  /** of the last turn's request and answer */
  tokens: number;
  /** what the model takes, where that is configured */
  max?: number;
  /** the provider has not counted them */
  estimated: boolean;
}

/** Empty answers methods that have nothing to say. */
export interface Empty {}

/** ErrorData is the data of all errors: the kind, and what else helps. */
export interface ErrorData {
  kind: ErrorKind;
  /** what to do, for people */
  hint?: string;
  /** the limit that was passed */
  limit?: number;
  /** bytes of the message before the fault */
  offset?: number;
  /** method_not_found */
  method?: string;
  /** invalid_params */
  errors?: Array<FieldError>;
  /** unknown_injector, injector_failed */
  name?: string;
  /** unknown_injector: names that resolve */
  known?: Array<string>;
  /** the nearest name or key */
  suggestion?: string;
  /** unknown_injector: why a known name does not resolve; injector_failed: error or timeout */
  reason?: string;
  /** session_busy: the running one; turn_conflict: the number it would have */
  turn?: number;
  /** session_busy: turns that wait */
  queued?: number;
  /** stale_revision: the present one */
  revision?: string;
  /** session_locked: the process that holds it */
  pid?: number;
  /** session_locked */
  since?: string;
  /** provider_error */
  class?: string;
  /** provider_error: of HTTP */
  status?: number;
  /** provider_error */
  retryable?: boolean;
  /** provider_error */
  retryAfterMs?: number;
  /** provider_error: the provider's words */
  message?: string;
  /** provider_error: text had been streamed */
  partial?: boolean;
  /** bad_config: the file */
  path?: string;
  /** bad_config, from 1 */
  line?: number;
  /** bad_config, from 1, in code points */
  column?: number;
  /** bad_config */
  key?: string;
}

/** ErrorKind is the stable name of an error, in its data. */
export type ErrorKind = "parse_error" | "invalid_request" | "duplicate_id" | "frame_too_large" | "header_too_large" | "batch_too_large" | "too_deep" | "id_too_long" | "method_not_found" | "invalid_params" | "request_key_reused" | "result_too_large" | "internal" | "cancelled" | "already_initialized" | "unknown_injector" | "session_not_found" | "session_busy" | "session_locked" | "turn_conflict" | "stale_revision" | "provider_error" | "provider_not_configured" | "injector_failed" | "overloaded" | "shutting_down" | "store_error" | "bad_config";

/** EventError is the error that the turn's request is answered with. */
export interface EventError {
  code: number;
  message: string;
  data: ErrorData;
}

/** EventType names a kind of event. */
export type EventType = "prompt_queued" | "turn_started" | "injected" | "injector_skipped" | "message_delta" | "thinking_delta" | "retry" | "waiting" | "usage" | "compaction_started" | "compacted" | "compaction_failed" | "turn_ended";

/** FieldError says what is wrong with one field: its path by JSON names (`input[0].type`), the rule it breaks and a sentence for people. */
export interface FieldError {
  field: string;
  rule: string;
  message: string;
}

/** ForkSessionParams are the params of forkSession. */
export interface ForkSessionParams {
  sessionId: string;
  /** the last turn to copy; absent: all */
  turn?: number | null;
  newSessionId?: string | null;
  _meta?: unknown;
}

/** HistoryMessage is one committed message, or the row of a notice, which has a source, and no content unless its text was asked for. */
export interface HistoryMessage {
  turn: number;
  role: Role;
  source?: Source;
  /** absent: it is too large for a message; read its text in pieces */
  content?: Array<ContentBlock>;
  /** the text's size, where there is no content */
  messageBytes?: number;
  at: string;
  cancelled?: boolean;
}

/** InitializeOptions are what a client may ask of the connection. */
export interface InitializeOptions {
  /** event types and notice kinds not to send; unknown ones are ignored */
  exclude?: Array<string> | null;
  redact?: Array<SecretValueOpen> | null;
  /** to register; one that is wrong fails initialize */
  injectors?: Registrations | null;
  /** the client answers permitRead */
  permitRead?: boolean | null;
  /** what the client has, over what is configured */
  modules?: Modules | null;
  /** MaxMessageBytes bounds each message that the server writes, framing included; more than the server's own limit is that. */
  maxMessageBytes?: number | null;
}

/** InitializeParams are the params of initialize. */
export interface InitializeParams {
  protocolVersion?: unknown;
  clientInfo?: unknown;
  initializationOptions?: InitializeOptions | null;
  _meta?: {
    prism?: InitializeOptions | null;
  } | null;
  /** Redact belongs into the options. Since unknown fields are ignored here, a secret that stands in the wrong place would be lost without a word. */
  redact?: Array<SecretValueOpen> | null;
}

/** InitializeResult answers initialize. */
export interface InitializeResult {
  protocolVersion: number;
  serverInfo: ServerInfo;
  capabilities: Capabilities;
}

/** Injected says what one injection put into a request, never its text. */
export interface Injected {
  name: string;
  origin: Origin;
  placement: Placement;
  when: When;
  bytes: number;
  sha256: string;
  /** of a notice: who gave it */
  kind?: string;
  /** of a notice: notice */
  form?: string;
  /** of a notice: what can be shown in its place */
  summary?: string;
  ignored?: Array<string>;
}

/** InjectedEvent says what one injection put into the request. */
export interface InjectedEvent {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "injected";
  name: string;
  origin: Origin;
  placement: Placement;
  when: When;
  bytes: number;
  sha256: string;
  /** of a notice: who gave it */
  kind?: string;
  /** of a notice: notice */
  form?: string;
  /** of a notice: what can be shown in its place */
  summary?: string;
  ignored?: Array<string>;
}

/** InjectorInfo describes one registered injector, never its text. */
export interface InjectorInfo {
  name: string;
  description: string;
  origin: Origin;
  when: When;
  state: InjectorState;
  reason?: string;
  path?: string;
  /** of the redacted text; absent when it is made anew each turn */
  sha256?: string;
  bytes?: number;
  warnings: Array<string>;
}

/** InjectorSkipped says that a due injector gave nothing, or that a block found no room: an ambient one by its name, one of the host by its title. */
export interface InjectorSkipped {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "injector_skipped";
  name: string;
  /** error, timeout, over_budget */
  reason: string;
}

/** InjectorState tells whether a name resolves to an injector: only a ready one does. */
export type InjectorState = "ready" | "skipped" | "shadowed" | "disabled" | "error";

/** Input is what a turn says: a string, or a list of content blocks. */
export type Input = Array<ContentBlock>;

/** Input is what a turn says: a string, or a list of content blocks. */
export type InputOpen = string | Array<ContentBlockOpen>;

/** Input is what a turn says: a string, or a list of content blocks. */
export type InputParam = string | Array<ContentBlockParam>;

/** Interrupted is a turn that the end of an earlier process cut off. */
export interface Interrupted {
  turn: number;
  runId: string;
  /** the same one runs the turn again */
  requestKey?: string;
  input: Input;
  partial: string;
  at: string;
  /** crash */
  reason: string;
}

/** LayerMode says how a layer joins those before it. */
export type LayerMode = "append" | "prepend" | "replace" | "disable";

/** Layout is the order in which a request's parts stand. */
export type Layout = "cache_aware" | "legacy";

/** Lifetime says how long a spliced block stays. */
export type Lifetime = "session" | "next";

/** ListContextParams are the params of listContext. */
export interface ListContextParams {
  sessionId?: string | null;
  /** the blocks' contents too */
  text?: boolean | null;
  _meta?: unknown;
}

/** ListContextResult answers listContext: the ambient blocks in their order, and whether the session's turns carry them. */
export interface ListContextResult {
  enabled: boolean;
  blocks: Array<AmbientInfo>;
  /** members that are shortened, the whole being too large for a message */
  cut?: Array<string>;
}

/** ListInjectorsParams are the params of listInjectors. */
export interface ListInjectorsParams {
  sessionId?: string | null;
  _meta?: unknown;
}

/** ListInjectorsResult answers listInjectors, sorted by name, then by rank. */
export interface ListInjectorsResult {
  injectors: Array<InjectorInfo>;
  /** members that are shortened, the whole being too large for a message */
  cut?: Array<string>;
}

/** ListModelsParams are the params of listModels. */
export interface ListModelsParams {
  /** default: the one that is asked by default */
  provider?: string | null;
  _meta?: unknown;
}

/** ListModelsResult answers listModels, in the order of the provider's own list. */
export interface ListModelsResult {
  models: Array<ModelInfo>;
  /** members that are shortened, the whole being too large for a message */
  cut?: Array<string>;
}

/** ListSessionsParams are the params of listSessions. */
export interface ListSessionsParams {
  /** nextCursor of the page before */
  cursor?: string | null;
  /** 0 is 100 */
  limit?: number | null;
  /** only those */
  cwd?: string | null;
  _meta?: unknown;
}

/** ListSessionsResult answers listSessions, the newest first. */
export interface ListSessionsResult {
  sessions: Array<SessionInfo>;
  nextCursor?: string;
}

/** LoadModuleParams name code to run. */
export interface LoadModuleParams {
  /** of the bundle, and of the injector */
  name: string;
  /** the file, as the manifest names it */
  module: string;
  /** what is asked for in the module */
  exportName?: string;
  /** the file, absolute */
  path: string;
}

/** LoadModuleResult is the answer to loadModule: when the injector is asked. */
export interface LoadModuleResult {
  /** default every_turn */
  when?: When | null;
  predicate?: string | null;
  wants?: Array<Want> | null;
}

/** Message is one side's words. */
export interface Message {
  role: Role;
  content: Array<ContentBlock>;
}

/** MessageDelta is the next piece of the answer. */
export interface MessageDelta {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "message_delta";
  text: string;
}

/** MessagesParams are the params of messages: for a page of turns, those after AfterTurn; for a piece of one turn's text, Turn and what follows it; for the bytes of an image, Attachment, and Offset for a piece that is not the first. */
export interface MessagesParams {
  sessionId?: string | null;
  afterTurn?: number | null;
  /** turns; 0 is 100 */
  limit?: number | null;
  /** with a row for each notice, behind the input that it came with */
  notices?: boolean | null;
  /** with the notices' texts */
  text?: boolean | null;
  turn?: number | null;
  /** bytes of the text or of the attachment; absent is 0 */
  offset?: number | null;
  /** whose text; absent is assistant */
  role?: "user" | "assistant" | null;
  /** the sha256 of an image that the session holds */
  attachment?: string | null;
  _meta?: unknown;
}

/** MessagesResult answers messages: with a page of Messages, with a piece of Text, or with an Attachment. */
export interface MessagesResult {
  messages?: Array<HistoryMessage>;
  nextAfterTurn?: number;
  text?: string;
  /** bytes of the text or of the attachment, to ask for the next piece */
  nextOffset?: number;
  attachment?: Attachment;
  /** messages: rows of notices are left out, one turn's being too large for a message */
  cut?: Array<string>;
}

/** ModelInfo is one of the models that a provider has. */
export interface ModelInfo {
  /** as prompt's model names it */
  model: string;
  /** for people */
  name?: string;
  /** that it takes, where the provider says it */
  contextTokens?: number;
}

/** Modules say which of the host's parts the built-in ambient blocks may talk about: those that are given, while Enabled, the switch of them all, is. */
export interface Modules {
  enabled?: boolean | null;
  todos?: boolean | null;
  planMode?: boolean | null;
  background?: boolean | null;
}

/** NamedSessionParams name a session that must be named. */
export interface NamedSessionParams {
  sessionId: string;
  _meta?: unknown;
}

/** NewSessionParams are the params of newSession. */
export interface NewSessionParams {
  /** absent: one is made */
  sessionId?: string | null;
  /** the base layer */
  instructions?: string | null;
  /** the base list; absent: the configured one */
  instructionInjectors?: Array<string> | null;
  model?: string | null;
  metadata?: Record<string, unknown> | null;
  cwd?: string | null;
  redact?: Array<SecretValue> | null;
  /** its turns carry ambient blocks; absent: as configured */
  contextInjections?: boolean | null;
  _meta?: unknown;
}

/** NoParams are the params of methods that take none. */
export interface NoParams {
  _meta?: unknown;
}

/** A Notice tells what belongs to no turn. */
export interface Notice {
  level: NoticeLevel;
  kind: NoticeKind;
  /** for people */
  message: string;
  sessionId?: string;
  /** what the message speaks of */
  data?: Record<string, unknown>;
}

/** NoticeKind names a kind of notice. */
export type NoticeKind = "bundle_error" | "config_warning" | "injectors_changed" | "prompt_not_run" | "redact_env_unset" | "reminders_changed" | "store_readonly" | "store_repaired";

/** NoticeLevel says how much a notice matters. */
export type NoticeLevel = "info" | "warning" | "error";

/** OnError says what becomes of the turn when an injector fails. */
export type OnError = "skip" | "fail";

/** OpenRPCDocument is the shape of the document that rpc.discover answers. */
export interface OpenRPCDocument {
  /** the specification's version */
  openrpc: string;
  info: OpenRPCInfo;
  methods: Array<OpenRPCMethod>;
  components: {};
}

/** OpenRPCInfo is about the contract; Version is that of the protocol. */
export interface OpenRPCInfo {
  title: string;
  version: string;
}

/** OpenRPCMethod is the beginning of a Method Object. */
export interface OpenRPCMethod {
  name: string;
}

/** Origin says who brought an injector. */
export type Origin = "host" | "client" | "file" | "config" | "bundle" | "builtin" | "user" | "splice";

/** PermitReadParams ask whether a file may be read. */
export interface PermitReadParams {
  /** absolute, without links */
  path: string;
  bundle: string;
  reason: string;
}

/** PermitReadResult is the answer to permitRead. */
export interface PermitReadResult {
  allow: boolean;
}

/** Placement says where injected text stands in a request. */
export type Placement = "system" | "context" | "notice";

/** Position says where the context of an injector stands, whatever the layout. */
export type Position = "head" | "tail";

/** PreviewBreak is where a request is no longer what the last one was. */
export interface PreviewBreak {
  /** its kind */
  segment: string;
  /** the layer that stands there, or stood there */
  name?: string;
  /** it stood in the last one and does not in this one */
  gone?: boolean;
  /** in the segment's message, in bytes */
  offset: number;
}

/** PreviewHistory stands for a dialogue's messages. */
export interface PreviewHistory {
  messages: number;
  bytes: number;
  sha256: string;
}

/** PreviewLayer is one thing that was considered for the request, and what became of it. */
export interface PreviewLayer {
  /** an injector's, a block's or a reminder's; of a layer of the system text its source */
  name: string;
  /** base, user, package, other, app, run, ambient: of the system text; host, skill, injected: of context; reminder */
  source: string;
  origin?: Origin;
  placement: Placement;
  when?: When;
  reason: Reason;
  bytes?: number;
  /** estimated */
  tokens?: number;
  sha256?: string;
  /** why it may cost the provider's cache of all behind it */
  cacheRisk?: string;
  /** of a notice */
  kind?: string;
  /** of a notice */
  form?: string;
  /** of a notice */
  summary?: string;
  ignored?: Array<string>;
}

/** PreviewMessage is one message; source tells that nobody typed it. */
export interface PreviewMessage {
  role: Role;
  content: Array<ContentBlock>;
  source?: Source;
}

/** PreviewParams are the params of preview: those of prompt, and what only a preview has. */
export interface PreviewParams {
  sessionId?: string | null;
  input: InputParam;
  /** absent: the session's list; empty: none */
  instructionInjectors?: Array<string> | null;
  instructions?: RunInstructions | null;
  contextBlocks?: Array<ContextBlock> | null;
  model?: string | null;
  /** an object */
  metadata?: Record<string, unknown> | null;
  options?: RunOptionsParam | null;
  redact?: Array<SecretValue> | null;
  expectedTurn?: number | null;
  /** a repeated request with it gets the first one's outcome */
  requestKey?: string | null;
  _meta?: unknown;
  /** as if it were that turn; absent: the session's next */
  turn?: number | null;
  /** with the dialogue's messages */
  history?: boolean | null;
}

/** PreviewRequest is a request for a model's provider, its parts in the order in which the model reads them. */
export interface PreviewRequest {
  model: string;
  options?: RunOptions;
  segments: Array<PreviewSegment>;
}

/** PreviewResult answers preview: the request that prompt would send, and why it is as it is. */
export interface PreviewResult {
  sessionId: string;
  turn: number;
  request: PreviewRequest;
  /** all that was considered: layers of the system text, injectors, ambient blocks, the host's blocks, reminders */
  layers: Array<PreviewLayer>;
  /** of the request's messages, encoded */
  bytes: number;
  /** estimated */
  tokens: number;
  /** of the request's messages, encoded */
  sha256: string;
  shared: PreviewShared;
  /** it is so large that prompt would have older turns summarised first */
  compacts?: boolean;
  redacted?: Array<Redaction>;
}

/** PreviewSegment is one part: messages, or a dialogue, which its size and hash stand for unless its messages were asked for. */
export interface PreviewSegment {
  /** system, stable, history, blocks, input, notices, tools */
  kind: string;
  messages?: Array<PreviewMessage>;
  history?: PreviewHistory;
}

/** PreviewShared says how much of the request the last one sent began with. */
export interface PreviewShared {
  /** this process has sent a request of the session, and still knows it */
  known: boolean;
  bytes: number;
  /** absent: nothing but what is new at the end */
  brokenBy?: PreviewBreak;
}

/** PromptParams are the params of prompt and followUp. */
export interface PromptParams {
  sessionId?: string | null;
  input: InputParam;
  /** absent: the session's list; empty: none */
  instructionInjectors?: Array<string> | null;
  instructions?: RunInstructions | null;
  contextBlocks?: Array<ContextBlock> | null;
  model?: string | null;
  /** an object */
  metadata?: Record<string, unknown> | null;
  options?: RunOptionsParam | null;
  redact?: Array<SecretValue> | null;
  expectedTurn?: number | null;
  /** a repeated request with it gets the first one's outcome */
  requestKey?: string | null;
  _meta?: unknown;
}

/** PromptQueued says that a followUp waits for its turn. */
export interface PromptQueued {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "prompt_queued";
  /** as sent */
  requestId?: string | number | null;
  /** 1 is next */
  position: number;
  /** session */
  reason: string;
}

/** QueuedTurn is a followUp that waits. */
export interface QueuedTurn {
  runId: string;
  requestId?: string | number | null;
  at: string;
  /** the input's beginning, redacted */
  preview: string;
}

/** Reason says why a layer of a request stands in it, or doesn't. */
export type Reason = "applied" | "not_due" | "predicate_false" | "trivial" | "disabled" | "untrusted" | "skipped" | "error" | "timeout" | "over_budget";

/** Redaction says how often a secret was removed where: input, instructions, context, injected, metadata or output. */
export interface Redaction {
  where: string;
  name?: string;
  count: number;
}

/** RegisterInjectorParams are the params of registerInjector: an injector as data, or one whose text the client is asked for. */
export interface RegisterInjectorParams {
  name: string;
  description?: string | null;
  when: When;
  /** of on_input: an expression */
  predicate?: string | null;
  /** what first_turn counts; default session */
  scope?: Scope | null;
  /** of instructions; default system */
  placement?: Placement | null;
  /** of context; default as the layout says */
  position?: Position | null;
  /** of instructions placed as context or notice */
  title?: string | null;
  instructions?: string | null;
  contextBlocks?: Array<ContextBlock> | null;
  /** of all its text; default 256 KiB */
  maxBytes?: number | null;
  /** default skip */
  onError?: OnError | null;
  /** default host */
  trust?: Trust | null;
  /** of a notice; default turn */
  retention?: Retention | null;
  /** who gives a notice; default prism-rpc */
  producer?: string | null;
  /** default true */
  enabled?: boolean | null;
  /** the client answers applyInjector; no instructions and contextBlocks then */
  callback?: boolean | null;
  /** of a callback: what it is told beside the turn */
  wants?: Array<Want> | null;
  _meta?: unknown;
}

/** RegisterInjectorResult answers registerInjector. */
export interface RegisterInjectorResult {
  /** an injector of the client's of that name */
  replaced: boolean;
}

/** Registrations are a list of injectors to register, each as strict as the params of registerInjector, also in params that are not. */
export type Registrations = Array<RegisterInjectorParams>;

/** Reminder is a message that stands behind the input of the turns on which it is due. */
export interface Reminder {
  id: string;
  /** what is shown in its place */
  title: string;
  text: string;
  enabled: boolean;
  trigger: Trigger;
  /** instead of the one for all */
  producer?: string;
  /** default turn */
  retention?: Retention;
}

/** ReminderRow is a reminder as it is written: what is left out or empty has a default. */
export interface ReminderRow {
  id?: string | null;
  title?: string | null;
  text: string;
  /** default true */
  enabled?: boolean | null;
  /** default everyTurn */
  trigger?: "everyTurn" | "postCompaction" | "every_turn" | "post_compaction" | null;
  producer?: string | null | null;
  /** default turn */
  retention?: "turn" | "keep" | null;
}

/** Reminders answers getReminders and setReminders: the reminders in force. */
export interface Reminders {
  /** of what stands here, to set them as they were read */
  revision: string;
  /** the switch for all of them */
  enabled: boolean;
  skipTrivial: boolean;
  producer: string;
  prompts: Array<Reminder>;
  warnings: Array<string>;
  /** members that are shortened, the whole being too large for a message */
  cut?: Array<string>;
}

/** A Resource is a document that travels inside a block. */
export interface Resource {
  uri: string;
  mimeType?: string;
  text?: string;
  _meta?: unknown;
}

/** A Resource is a document that travels inside a block. */
export interface ResourceOpen {
  uri?: string | null;
  mimeType?: string | null;
  text?: string | null;
  _meta?: unknown;
}

/** A Resource is a document that travels inside a block. */
export interface ResourceParam {
  uri?: string | null;
  mimeType?: string | null;
  text?: string | null;
  _meta?: unknown;
}

/** Retention says how long a notice stays in the dialogue. */
export type Retention = "turn" | "keep";

/** RetryEvent says that the provider failed before it answered anything, and is asked again. */
export interface RetryEvent {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "retry";
  /** the try that failed; the first is 1 */
  attempt: number;
  /** until the next one */
  delayMs: number;
  /** of the failure, as in provider_error's data */
  class: string;
}

/** Role says whose words a message holds. */
export type Role = "system" | "user" | "assistant" | "tool";

/** RunInstructions is the run layer of the system prompt for one turn: absent, a text with its mode, or Off (`false`: no user, other, app or run layer). */
export type RunInstructions = string | false | {
  text?: string | null;
  mode?: LayerMode | null;
};

/** RunOptions are the settings of one turn's model call; one that is absent is left to the provider. */
export interface RunOptions {
  temperature?: number;
  maxOutputTokens?: number;
  stop?: Array<string>;
  layout?: Layout;
}

/** RunOptions are the settings of one turn's model call; one that is absent is left to the provider. */
export interface RunOptionsParam {
  temperature?: number | null;
  maxOutputTokens?: number | null;
  stop?: Array<string> | null;
  layout?: Layout | null;
}

/** RunningTurn is the turn under way. */
export interface RunningTurn {
  runId: string;
  requestId?: string | number | null;
  /** absent: a compaction that was asked for */
  turn?: number;
  startedAt: string;
  /** the answer so far */
  text: string;
  /** its size, where only its beginning fits */
  textBytes?: number;
  /** of the last event written to this connection */
  seq: number;
}

/** Scope says what an injector's first_turn is the first of. */
export type Scope = "session" | "run";

/** SecretValue is a value to redact, told over the wire. */
export interface SecretValue {
  name?: string | null;
  value: string;
}

/** SecretValue is a value to redact, told over the wire. */
export interface SecretValueOpen {
  name?: string | null;
  value: string;
}

/** ServerInfo names the server. */
export interface ServerInfo {
  name: string;
  version: string;
}

/** SessionInfo is one session in a list of them. */
export interface SessionInfo {
  sessionId: string;
  /** the last committed; 0 at first */
  turn: number;
  updatedAt: string;
  title?: string;
  cwd?: string;
}

/** SessionParams name one session; absent is the connection's default one. */
export interface SessionParams {
  sessionId?: string | null;
  _meta?: unknown;
}

/** SessionState answers state, newSession and setModel. */
export interface SessionState {
  sessionId: string;
  /** the last committed; 0 at first */
  turn: number;
  status: SessionStatus;
  running?: RunningTurn;
  queue: Array<QueuedTurn>;
  model: string;
  title?: string;
  instructions: string;
  instructionInjectors: Array<string>;
  /** its turns carry ambient blocks */
  contextInjections: boolean;
  /** compactions, so far */
  generation: number;
  /** summed over the session */
  usage: Usage;
  context: ContextUse;
  interrupted?: Interrupted;
  /** members that are shortened, the whole being too large for a message */
  cut?: Array<string>;
}

/** SessionStatus tells whether a session has work. */
export type SessionStatus = "idle" | "running" | "compacting";

/** SetModelParams are the params of setModel; an empty model restores the configured one. */
export interface SetModelParams {
  sessionId?: string | null;
  model?: string | null;
  _meta?: unknown;
}

/** SetRemindersParams are the params of setReminders: the given fields change, null restores what the configuration says. */
export interface SetRemindersParams {
  revision?: string | null;
  enabled?: boolean | null | null;
  skipTrivial?: boolean | null | null;
  producer?: string | null | null;
  prompts?: Array<ReminderRow> | null | null;
  /** ignored: a result can be sent back as it came */
  warnings?: Array<string> | null;
  _meta?: unknown;
}

/** Source says where a message that nobody typed comes from. */
export interface Source {
  kind: string;
  form: string;
  summary: string;
}

/** SpliceContextParams are the params of spliceContext. */
export interface SpliceContextParams {
  sessionId?: string | null;
  /** absent: one is made */
  id?: string | null;
  /** the heading */
  name: string;
  content: string;
  /** default session */
  lifetime?: Lifetime | null;
  _meta?: unknown;
}

/** SpliceContextResult answers spliceContext. */
export interface SpliceContextResult {
  id: string;
  /** false: the session's contextInjections is off, and the block is kept for when it is on */
  rendered: boolean;
}

/** StopReason says why a turn ended well. */
export type StopReason = "end_turn" | "max_tokens" | "refusal" | "max_turn_requests" | "cancelled";

/** ThinkingDelta is the next piece of the model's reasoning. */
export interface ThinkingDelta {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "thinking_delta";
  text: string;
}

/** Trigger says on which turns a reminder is due. */
export type Trigger = "everyTurn" | "postCompaction";

/** Trust says whose words an injector's text is. */
export type Trust = "host" | "workspace";

/** TurnContext is what an injector sees of the turn, redacted. */
export interface TurnContext {
  sessionId: string;
  runId: string;
  turn: number;
  /** the provider call within the turn, from 1 */
  step: number;
  input: Input;
  /** the turn's; {} when it gave none */
  metadata: Record<string, unknown>;
  /** the end of the dialogue, where it was asked for */
  history?: Array<Message>;
}

/** TurnEnded is the last event of a turn: a stop reason, or an error. */
export interface TurnEnded {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "turn_ended";
  stopReason?: StopReason;
  /** instead of a stop reason */
  error?: EventError;
  committed: boolean;
  redacted?: Array<Redaction>;
  /** members that are shortened, the whole being too large for a message */
  cut?: Array<string>;
}

/** TurnResult answers prompt and followUp, after the turn is durable. */
export interface TurnResult {
  sessionId: string;
  runId: string;
  /** absent: cancelled while queued, so it had none */
  turn?: number;
  committed: boolean;
  stopReason: StopReason;
  /** absent: it is too large for a message; read its text in pieces */
  message?: Message;
  usage: Usage;
  injected: Array<Injected>;
  redacted?: Array<Redaction>;
  /** the outcome of an earlier request with the same requestKey */
  replayed?: boolean;
  /** the text's size, where there is no message */
  messageBytes?: number;
  /** members that are shortened, the whole being too large for a message */
  cut?: Array<string>;
}

/** TurnStarted says that a turn has its number and begins. */
export interface TurnStarted {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "turn_started";
  /** as sent */
  requestId?: string | number | null;
}

/** UnregisterInjectorParams are the params of unregisterInjector. */
export interface UnregisterInjectorParams {
  name: string;
  _meta?: unknown;
}

/** UnspliceContextParams are the params of unspliceContext. */
export interface UnspliceContextParams {
  sessionId?: string | null;
  id: string;
  _meta?: unknown;
}

/** UpdateSessionParams are the params of updateSession: the given fields change, null restores what the configuration says. */
export interface UpdateSessionParams {
  sessionId?: string | null;
  title?: string | null | null;
  instructions?: string | null | null;
  instructionInjectors?: Array<string> | null | null;
  model?: string | null | null;
  metadata?: Record<string, unknown> | null | null;
  contextInjections?: boolean | null | null;
  _meta?: unknown;
}

/** Usage counts tokens; one that is absent is unknown. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  totalTokens?: number;
}

/** UsageEvent reports the turn's token counts. */
export interface UsageEvent {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "usage";
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  totalTokens?: number;
  context: ContextUse;
}

/** WaitingEvent says that the provider has been silent for a while; it comes again while that goes on. */
export interface WaitingEvent {
  sessionId: string;
  runId: string;
  turn?: number;
  seq: number;
  type: "waiting";
  /** since it said something last, or was asked */
  onMs: number;
}

/** Want is something that a callback is told only when it asks for it. */
export type Want = "history";

/** When says on which turns an injector applies. */
export type When = "first_turn" | "every_turn" | "on_input";

/** Every request by its method. */
export interface Methods {
  /** Greet the server and set the connection's options; optional, once. */
  initialize: { params: InitializeParams; result: InitializeResult };
  /** Tell whether the server answers. */
  ping: { params: NoParams; result: Empty };
  /** Get this document. */
  "rpc.discover": { params: NoParams; result: OpenRPCDocument };
  /** Run a turn of an idle session; answered when the turn is durable. */
  prompt: { params: PromptParams; result: TurnResult };
  /** Run a turn after those that run or wait. */
  followUp: { params: PromptParams; result: TurnResult };
  /** Cancel the running turn or one run; also as a notification. */
  abort: { params: AbortParams; result: AbortResult };
  /** Make a session. */
  newSession: { params: NewSessionParams; result: SessionState };
  /** Set a session's model from its next turn on. */
  setModel: { params: SetModelParams; result: SessionState };
  /** Change a session's settings from its next turn on; null restores the configured one. */
  updateSession: { params: UpdateSessionParams; result: SessionState };
  /** Get a page of the stored sessions, the newest first. */
  listSessions: { params: ListSessionsParams; result: ListSessionsResult };
  /** Get the state of a session that must exist. */
  loadSession: { params: NamedSessionParams; result: SessionState };
  /** Make a session of the turns of another one. */
  forkSession: { params: ForkSessionParams; result: SessionState };
  /** Summarise the older turns in what is sent to the model; messages still gives them all. */
  compact: { params: CompactParams; result: CompactResult };
  /** Cancel a session's turns and let go of it; the store keeps it. */
  closeSession: { params: NamedSessionParams; result: Empty };
  /** Close a session and remove it from the store. */
  deleteSession: { params: NamedSessionParams; result: Empty };
  /** Get a session's settings, and what runs and waits in it. */
  state: { params: SessionParams; result: SessionState };
  /** Get a page of the committed dialogue. */
  messages: { params: MessagesParams; result: MessagesResult };
  /** List the injectors that names resolve to, without their texts. */
  listInjectors: { params: ListInjectorsParams; result: ListInjectorsResult };
  /** Get the request that prompt would send, and why it is as it is; nothing is sent. */
  preview: { params: PreviewParams; result: PreviewResult };
  /** Register an injector by name, until the connection ends; the last one of a name stands. */
  registerInjector: { params: RegisterInjectorParams; result: RegisterInjectorResult };
  /** Remove an injector that this client registered; one that is not there is none. */
  unregisterInjector: { params: UnregisterInjectorParams; result: Empty };
  /** Add an ambient block to a session, from its next call of a model on, or replace one. */
  spliceContext: { params: SpliceContextParams; result: SpliceContextResult };
  /** Take an ambient block out; one that isn't there is no error. */
  unspliceContext: { params: UnspliceContextParams; result: Empty };
  /** List a session's ambient blocks, in their order. */
  listContext: { params: ListContextParams; result: ListContextResult };
  /** Get the reminders in force: the configuration's, and over them the user's own. */
  getReminders: { params: NoParams; result: Reminders };
  /** Change the user's reminders, from the next turn on, in all processes; null restores the configured ones. */
  setReminders: { params: SetRemindersParams; result: Reminders };
  /** Look for bundles again, let names stand that were freed, and list the injectors. */
  reloadInjectors: { params: NoParams; result: ListInjectorsResult };
  /** List the models that a provider has, as it says itself. */
  listModels: { params: ListModelsParams; result: ListModelsResult };
  /** Take no new work; what runs goes on. */
  shutdown: { params: NoParams; result: null };
}

/** Every notification that a client may send, by its method. */
export interface ClientNotifications {
  /** Cancel what is left and end the process. */
  exit: NoParams;
  /** Cancel the request with this id. */
  "$/cancelRequest": CancelRequestParams;
  /** Cancel the request with this id. */
  "$/cancel_request": CancelledParams;
  /** Cancel the request with this id. */
  "notifications/cancelled": CancelledParams;
}

/** Every notification that the server sends, by its method. */
export interface ServerNotifications {
  /** A moment of a turn; all of a turn's come before its reply. */
  event: TurnEvent;
  /** What belongs to no turn; never before the first reply. */
  notice: Notice;
  /** The server does not wait any longer for the answer to its request with this id. */
  "$/cancelRequest": CancelAskedParams;
}

/** Every request that the server may send, by its method. */
export interface ServerRequests {
  /** Give the text of an injector registered with callback; null: nothing in this turn. */
  applyInjector: { params: ApplyInjectorParams; result: ApplyInjectorResult | null };
  /** Run the code that a bundle names, with --module-loader client; null: not this one. applyInjector then asks for the text. */
  loadModule: { params: LoadModuleParams; result: LoadModuleResult | null };
  /** Allow a bundle to read a resource outside of its folder; asked of a client that declared permitRead. */
  permitRead: { params: PermitReadParams; result: PermitReadResult };
}

/** An event of a turn, told apart by its type. */
export type TurnEvent =
  | PromptQueued
  | TurnStarted
  | InjectedEvent
  | InjectorSkipped
  | MessageDelta
  | ThinkingDelta
  | RetryEvent
  | WaitingEvent
  | UsageEvent
  | CompactionStarted
  | Compacted
  | CompactionFailed
  | TurnEnded;
