package schema

// A Notice tells what belongs to no turn (protocol §5).
type Notice struct {
	Level     NoticeLevel    `json:"level"`
	Kind      NoticeKind     `json:"kind"`
	Message   string         `json:"message"` // for people
	SessionID string         `json:"sessionId,omitempty"`
	Data      map[string]any `json:"data,omitempty"` // what the message speaks of
}

// NoticeLevel says how much a notice matters.
type NoticeLevel string

// The levels.
const (
	LevelInfo    NoticeLevel = "info"
	LevelWarning NoticeLevel = "warning"
	LevelError   NoticeLevel = "error"
)

// NoticeKind names a kind of notice.
type NoticeKind string

// The kinds of notice.
const (
	NoticeConfigWarning    NoticeKind = "config_warning"
	NoticePromptNotRun     NoticeKind = "prompt_not_run"
	NoticeRedactEnvUnset   NoticeKind = "redact_env_unset"
	NoticeRemindersChanged NoticeKind = "reminders_changed"
	NoticeStoreRepaired    NoticeKind = "store_repaired"
	NoticeStoreReadonly    NoticeKind = "store_readonly"
)

// NoticeKinds lists the kinds of notice that are sent.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{NoticeConfigWarning, NoticePromptNotRun, NoticeRedactEnvUnset, NoticeRemindersChanged, NoticeStoreRepaired, NoticeStoreReadonly}
}
