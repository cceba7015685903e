package schema

import "github.com/go-json-experiment/json/jsontext"

// LogFormat is the version of the session log that this program writes. It
// refuses to write to a log of another version, but reads what it can.
const LogFormat = 1

// The types of record in a session's log. Each record is one JSON object
// {"v":1,"t":type,…}; the store ends it with its checksum.
const (
	RecordSession    = "session"    // the first line
	RecordSettings   = "settings"   // settings that replace the earlier ones
	RecordStarted    = "started"    // a turn began
	RecordPartial    = "partial"    // a piece of its answer came
	RecordTurn       = "turn"       // a turn committed
	RecordFailed     = "failed"     // a turn ended without being committed
	RecordNotice     = "notice"     // the text of notices, for who reads the dialogue
	RecordCompaction = "compaction" // a summary stands for older turns in what is sent
	RecordSplice     = "splice"     // an ambient block was added, or one replaced
	RecordUnsplice   = "unsplice"   // one was taken out
)

// KnownRecord tells whether t is a type of record that this program writes. A
// log that holds another is a newer program's: it can be read, not written.
func KnownRecord(t string) bool {
	switch t {
	case RecordSession, RecordSettings, RecordStarted, RecordPartial, RecordTurn, RecordFailed, RecordNotice, RecordCompaction,
		RecordSplice, RecordUnsplice:
		return true
	}
	return false
}

// RecordWord is word as a string. The types that most records of a log have
// are not copied: a log of 10,000 messages is opened in milliseconds.
func RecordWord(word []byte) string {
	switch string(word) {
	case RecordTurn:
		return RecordTurn
	case RecordStarted:
		return RecordStarted
	}
	return string(word)
}

// RecordHead begins every record.
type RecordHead struct {
	V int    `json:"v"`
	T string `json:"t"`
}

// SessionRecord is a log's header.
type SessionRecord struct {
	RecordHead
	ID        string          `json:"id"`
	CreatedAt string          `json:"createdAt"`
	Key       string          `json:"key,omitempty"` // of the frames of workspace text, in hex; forks have the same
	Settings  SessionSettings `json:"settings"`
}

// SettingsRecord replaces a session's settings.
type SettingsRecord struct {
	RecordHead
	At       string          `json:"at"`
	Settings SessionSettings `json:"settings"`
}

// SessionSettings are a session's own settings; nil leaves one to the
// configuration.
type SessionSettings struct {
	Title                string         `json:"title,omitempty"`
	Instructions         *string        `json:"instructions,omitempty"`
	InstructionInjectors []string       `json:"instructionInjectors,omitzero"`
	Model                string         `json:"model,omitempty"`
	Metadata             jsontext.Value `json:"metadata,omitempty"`
	CWD                  string         `json:"cwd,omitempty"`
	ContextInjections    *bool          `json:"contextInjections,omitempty"`
}

// StartedRecord keeps a turn's input before the provider is called, so that a
// crash can't lose it. Input is redacted; its images are named by hash, and
// were kept before. RequestKey is there so that a turn which a crash cuts off
// can be asked for again; it is left out where it holds a secret.
type StartedRecord struct {
	RecordHead
	Turn       int    `json:"turn"`
	RunID      string `json:"runId"`
	At         string `json:"at"`
	RequestKey string `json:"requestKey,omitempty"`
	Input      Input  `json:"input"`
}

// PartialRecord keeps the next piece of a running turn's answer, in case that
// a crash cuts the turn off. It stands between the turn's StartedRecord and
// its end, after which it means nothing. Text is redacted.
type PartialRecord struct {
	RecordHead
	Turn  int    `json:"turn"`
	RunID string `json:"runId"`
	Text  string `json:"text"`
}

// Reminded says which of the reminders that are due once for each compaction
// were given, by their ids without secrets, and for which generation.
type Reminded struct {
	Generation int      `json:"generation"`
	IDs        []string `json:"ids"`
}

// TurnRecord is a committed turn. Messages are as provider.AppendMessage
// encodes them: the input, the notices that stay in the dialogue, each with its
// source, and the answer. No other injected text is among them.
type TurnRecord struct {
	RecordHead
	Turn       int              `json:"turn"`
	RunID      string           `json:"runId"`
	At         string           `json:"at"`
	Model      string           `json:"model,omitempty"`
	StopReason StopReason       `json:"stopReason"`
	Usage      Usage            `json:"usage"`
	Injected   []Injected       `json:"injected"`
	Passed     []Passed         `json:"passed,omitempty"` // what else was selected
	Redacted   []Redaction      `json:"redacted,omitempty"`
	Key        string           `json:"key,omitempty"`    // a hash of the request key
	Params     string           `json:"params,omitempty"` // a hash of the params that came with it
	Spent      []int            `json:"spent,omitempty"`  // serials of the splices of lifetime next that it carried
	Reminded   *Reminded        `json:"reminded,omitempty"`
	Messages   []jsontext.Value `json:"messages"`
}

// Passed is what a turn had selected and did not carry, and why.
type Passed struct {
	Name      string    `json:"name"`
	Origin    Origin    `json:"origin,omitempty"`
	Placement Placement `json:"placement,omitempty"`
	Reason    Reason    `json:"reason"`
}

// NoticeRecord keeps the text of notices, once for each hash, so that people
// can read what stood beside the dialogue (P26). It is redacted. It stands
// before the first turn that carries it, and never in a request.
type NoticeRecord struct {
	RecordHead
	SHA256 string `json:"sha256"`
	Text   string `json:"text"`
}

// FailedRecord frees a turn's number. Partial is what had been answered; it is
// never sent to a model.
type FailedRecord struct {
	RecordHead
	Turn    int    `json:"turn"`
	RunID   string `json:"runId"`
	At      string `json:"at"`
	Kind    string `json:"kind"`
	Partial string `json:"partial,omitempty"`
}

// CompactionRecord is a committed compaction: from here on, Summary stands for
// the turns up to and with Turn in what is sent. The log keeps those turns.
// Summary is as provider.AppendMessage encodes it. One may stand within a turn.
type CompactionRecord struct {
	RecordHead
	Turn       int            `json:"turn"`
	Generation int            `json:"generation"` // the first is 1
	RunID      string         `json:"runId"`
	At         string         `json:"at"`
	Usage      Usage          `json:"usage"` // of the summarising call
	Summary    jsontext.Value `json:"summary"`
}

// SpliceRecord adds an ambient block at the end of the session's spliced ones,
// or in the place of the one that has its ID. Serials rise through a log, so
// that a turn's Spent means this block and no later one of the same ID. Name
// and Content are redacted.
type SpliceRecord struct {
	RecordHead
	Serial   int      `json:"serial"`
	At       string   `json:"at"`
	ID       string   `json:"id"`
	Lifetime Lifetime `json:"lifetime"`
	AmbientBlock
}

// Check tells what is wrong with a record that was read; nil when nothing is.
// Markers may have made its text longer than what was asked for.
func (r *SpliceRecord) Check() error {
	switch {
	case r.Name == "" || !oneLine(r.Name):
		return BadField("name", "line", "is no heading")
	case !ValidSpliceID(r.ID):
		return BadField("id", "spliceid", "names no block")
	case r.Lifetime != LifetimeSession && r.Lifetime != LifetimeNext:
		return BadField("lifetime", "oneof", "is not known")
	}
	return nil
}

// UnspliceRecord takes the block of that serial out.
type UnspliceRecord struct {
	RecordHead
	Serial int    `json:"serial"`
	At     string `json:"at"`
}
