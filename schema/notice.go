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
	NoticeBundleError      NoticeKind = "bundle_error"
	NoticeConfigWarning    NoticeKind = "config_warning"
	NoticeInjectorsChanged NoticeKind = "injectors_changed"
	NoticePromptNotRun     NoticeKind = "prompt_not_run"
	NoticeRedactEnvUnset   NoticeKind = "redact_env_unset"
	NoticeRemindersChanged NoticeKind = "reminders_changed"
	NoticeStoreReadonly    NoticeKind = "store_readonly"
	NoticeStoreRepaired    NoticeKind = "store_repaired"
)

// NoticeKinds lists the kinds of notice that are sent.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{
		NoticeBundleError,
		NoticeConfigWarning,
		NoticeInjectorsChanged,
		NoticePromptNotRun,
		NoticeRedactEnvUnset,
		NoticeRemindersChanged,
		NoticeStoreReadonly,
		NoticeStoreRepaired,
	}
}
