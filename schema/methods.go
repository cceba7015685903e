package schema

import (
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A Method is one row of the table of what a client may call.
type Method struct {
	Name         string
	Summary      string
	Params       reflect.Type
	Result       reflect.Type // nil: the result is null
	Lenient      bool         // unknown fields of the params are ignored
	Notification bool         // sent without an id
	Errors       []ErrorKind  // beside those that CommonErrors lists
}

// Methods lists every method, in the order in which a client meets them. The
// method table of package rpc has the same names.
func Methods() []Method {
	turn := []ErrorKind{
		KindUnknownInjector, KindInjectorFailed, KindRequestKeyUsed, KindSessionLocked, KindTurnConflict, KindProviderError, KindNoProvider, KindShuttingDown, KindStoreError,
	}
	read := []ErrorKind{KindSessionNotFound, KindStoreError}
	return []Method{
		{Name: "initialize", Summary: "Greet the server and set the connection's options; optional, once.",
			Params: of[InitializeParams](), Result: of[InitializeResult](), Lenient: true, Errors: []ErrorKind{KindAlreadyInitialized}},
		{Name: "ping", Summary: "Tell whether the server answers.", Params: of[NoParams](), Result: of[Empty]()},
		{Name: "rpc.discover", Summary: "Get this document.", Params: of[NoParams](), Result: of[OpenRPCDocument]()},
		{Name: "prompt", Summary: "Run a turn of an idle session; answered when the turn is durable.",
			Params: of[PromptParams](), Result: of[TurnResult](), Errors: append(slices.Clone(turn), KindSessionBusy)},
		{Name: "followUp", Summary: "Run a turn after those that run or wait.",
			Params: of[PromptParams](), Result: of[TurnResult](), Errors: append(slices.Clone(turn), KindSessionNotFound)},
		{Name: "abort", Summary: "Cancel the running turn or one run; also as a notification.",
			Params: of[AbortParams](), Result: of[AbortResult](), Errors: read},
		{Name: "newSession", Summary: "Make a session.",
			Params: of[NewSessionParams](), Result: of[SessionState](), Errors: []ErrorKind{KindUnknownInjector, KindSessionLocked, KindShuttingDown, KindStoreError}},
		{Name: "setModel", Summary: "Set a session's model from its next turn on.",
			Params: of[SetModelParams](), Result: of[SessionState](), Errors: append(slices.Clone(read), KindSessionLocked)},
		{Name: "updateSession", Summary: "Change a session's settings from its next turn on; null restores the configured one.",
			Params: of[UpdateSessionParams](), Result: of[SessionState](), Errors: append(slices.Clone(read), KindSessionLocked, KindUnknownInjector)},
		{Name: "listSessions", Summary: "Get a page of the stored sessions, the newest first.",
			Params: of[ListSessionsParams](), Result: of[ListSessionsResult](), Errors: []ErrorKind{KindStoreError}},
		{Name: "loadSession", Summary: "Get the state of a session that must exist.",
			Params: of[NamedSessionParams](), Result: of[SessionState](), Errors: read},
		{Name: "forkSession", Summary: "Make a session of the turns of another one.",
			Params: of[ForkSessionParams](), Result: of[SessionState](), Errors: append(slices.Clone(read), KindShuttingDown)},
		{Name: "compact", Summary: "Summarise the older turns in what is sent to the model; messages still gives them all.",
			Params: of[CompactParams](), Result: of[CompactResult](),
			Errors: append(slices.Clone(read), KindSessionBusy, KindSessionLocked, KindProviderError, KindNoProvider, KindShuttingDown)},
		{Name: "closeSession", Summary: "Cancel a session's turns and let go of it; the store keeps it.",
			Params: of[NamedSessionParams](), Result: of[Empty](), Errors: []ErrorKind{KindStoreError}},
		{Name: "deleteSession", Summary: "Close a session and remove it from the store.",
			Params: of[NamedSessionParams](), Result: of[Empty](), Errors: []ErrorKind{KindStoreError, KindSessionLocked}},
		{Name: "state", Summary: "Get a session's settings, and what runs and waits in it.",
			Params: of[SessionParams](), Result: of[SessionState](), Errors: read},
		{Name: "messages", Summary: "Get a page of the committed dialogue.",
			Params: of[MessagesParams](), Result: of[MessagesResult](), Errors: read},
		{Name: "listInjectors", Summary: "List the injectors that names resolve to, without their texts.",
			Params: of[ListInjectorsParams](), Result: of[ListInjectorsResult](), Errors: read},
		{Name: "preview", Summary: "Get the request that prompt would send, and why it is as it is; nothing is sent.",
			Params: of[PreviewParams](), Result: of[PreviewResult](),
			Errors: append(slices.Clone(read), KindUnknownInjector, KindInjectorFailed, KindTurnConflict, KindProviderError)},
		{Name: "registerInjector", Summary: "Register an injector by name, until the connection ends; the last one of a name stands.",
			Params: of[RegisterInjectorParams](), Result: of[RegisterInjectorResult]()},
		{Name: "unregisterInjector", Summary: "Remove an injector that this client registered; one that is not there is none.",
			Params: of[UnregisterInjectorParams](), Result: of[Empty]()},
		{Name: "spliceContext", Summary: "Add an ambient block to a session, from its next call of a model on, or replace one.",
			Params: of[SpliceContextParams](), Result: of[SpliceContextResult](), Errors: append(slices.Clone(read), KindSessionLocked)},
		{Name: "unspliceContext", Summary: "Take an ambient block out; one that isn't there is no error.",
			Params: of[UnspliceContextParams](), Result: of[Empty](), Errors: append(slices.Clone(read), KindSessionLocked)},
		{Name: "listContext", Summary: "List a session's ambient blocks, in their order.",
			Params: of[ListContextParams](), Result: of[ListContextResult](), Errors: read},
		{Name: "getReminders", Summary: "Get the reminders in force: the configuration's, and over them the user's own.",
			Params: of[NoParams](), Result: of[Reminders]()},
		{Name: "setReminders", Summary: "Change the user's reminders, from the next turn on, in all processes; null restores the configured ones.",
			Params: of[SetRemindersParams](), Result: of[Reminders](), Errors: []ErrorKind{KindStaleRevision, KindStoreError}},
		{Name: "reloadInjectors", Summary: "Look for bundles again, let names stand that were freed, and list the injectors.",
			Params: of[NoParams](), Result: of[ListInjectorsResult](), Errors: []ErrorKind{KindOverloaded}},
		{Name: "listModels", Summary: "List the models that a provider has, as it says itself.",
			Params: of[ListModelsParams](), Result: of[ListModelsResult](), Errors: []ErrorKind{KindProviderError, KindNoProvider}},
		{Name: "shutdown", Summary: "Take no new work; what runs goes on.", Params: of[NoParams]()},
		{Name: "exit", Summary: "Cancel what is left and end the process.", Params: of[NoParams](), Notification: true},
	}
}

// A Notification is one row of the tables of messages that have no reply.
type Notification struct {
	Name    string
	Summary string
	Params  reflect.Type // nil: one of Events
}

// CancelNotifications lists the ways in which a client may cancel one request:
// those of LSP, ACP and MCP.
func CancelNotifications() []Notification {
	return []Notification{
		{"$/cancelRequest", "Cancel the request with this id.", of[CancelRequestParams]()},
		{"$/cancel_request", "Cancel the request with this id.", of[CancelledParams]()},
		{"notifications/cancelled", "Cancel the request with this id.", of[CancelledParams]()},
	}
}

// ServerNotifications lists what the server sends by itself.
func ServerNotifications() []Notification {
	return []Notification{
		{"event", "A moment of a turn; all of a turn's come before its reply.", nil},
		{"notice", "What belongs to no turn; never before the first reply.", of[Notice]()},
		{"$/cancelRequest", "The server does not wait any longer for the answer to its request with this id.", of[CancelAskedParams]()},
	}
}

// CancelRequestParams name a request as LSP does.
type CancelRequestParams struct {
	ID jsontext.Value `json:"id"`
}

// CancelledParams name a request as ACP and MCP do.
type CancelledParams struct {
	RequestID jsontext.Value `json:"requestId"`
	Reason    jsontext.Value `json:"reason,omitempty"` // not read
}

// An EventRow says which shape events of a type have.
type EventRow struct {
	Type  EventType
	Shape reflect.Type
}

// Events lists the shapes of all types of event, in the order of EventTypes.
func Events() []EventRow {
	return []EventRow{
		{EventPromptQueued, of[PromptQueued]()},
		{EventTurnStarted, of[TurnStarted]()},
		{EventInjected, of[InjectedEvent]()},
		{EventInjectorSkipped, of[InjectorSkipped]()},
		{EventMessageDelta, of[MessageDelta]()},
		{EventThinkingDelta, of[ThinkingDelta]()},
		{EventRetry, of[RetryEvent]()},
		{EventWaiting, of[WaitingEvent]()},
		{EventUsage, of[UsageEvent]()},
		{EventCompactionStarted, of[CompactionStarted]()},
		{EventCompacted, of[Compacted]()},
		{EventCompactionFailed, of[CompactionFailed]()},
		{EventTurnEnded, of[TurnEnded]()},
	}
}

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }
