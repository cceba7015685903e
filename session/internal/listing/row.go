// Package listing says what a list of sessions shows of each, from the records
// of its log, and pages such lists.
package listing

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// MaxText bounds a row's title and folder. A log is input, and could hold
// longer ones than any request.
const MaxText = 4096

// A Row is what a list needs of one session. Times are milliseconds since
// 1970; 0 is not known.
type Row struct {
	ID      string
	Turn    int
	Updated int64 // when it was made, or its last turn committed
	Touched int64 // the latest time that any record bears
	Title   string
	CWD     string
	Foreign bool // some records are another format's: it may say more than the row
}

// Info is the row as it is listed.
func (r *Row) Info() schema.SessionInfo {
	return schema.SessionInfo{
		SessionID: r.ID, Turn: r.Turn, Title: r.Title, CWD: r.CWD,
		UpdatedAt: time.UnixMilli(r.Updated).UTC().Format("2006-01-02T15:04:05.000Z"),
	}
}

// Valid tells whether the row could have been made by Add.
func (r *Row) Valid() bool {
	return schema.ValidSessionID(r.ID) && r.Turn >= 0 && inRange(r.Updated) && inRange(r.Touched) &&
		len(r.Title) <= MaxText && len(r.CWD) <= MaxText
}

// AtLeast takes it that the session was touched at that time, and updated then
// if nothing better is known.
func (r *Row) AtLeast(at time.Time) {
	ms := min(max(at.UnixMilli(), 0), endOfTime-1)
	r.Touched = max(r.Touched, ms)
	if r.Updated == 0 {
		r.Updated = ms
	}
}

// Add takes in the log's next record. Of a record of another format it takes
// what looks familiar. It always returns nil, as a replay that goes on.
func (r *Row) Add(record []byte) error {
	m := read(record)
	if m.v != schema.LogFormat || !schema.KnownRecord(m.t) {
		r.Foreign = true
	}
	if m.settings != nil {
		r.configure(m.settings)
	}
	if m.t == schema.RecordTurn {
		r.Turn = max(r.Turn, m.turn)
	}
	if m.t == schema.RecordTurn || m.t == schema.RecordSession {
		r.Updated = max(r.Updated, m.at)
	}
	r.Touched = max(r.Touched, m.at)
	return nil
}

func (r *Row) configure(raw jsontext.Value) {
	var settings struct {
		Title string `json:"title"`
		CWD   string `json:"cwd"`
	}
	if json.Unmarshal(raw, &settings, lenient) != nil {
		return
	}
	r.Title, r.CWD = settings.Title, settings.CWD
	if len(r.Title) > MaxText {
		r.Title = strings.ToValidUTF8(r.Title[:MaxText], "")
	}
	if len(r.CWD) > MaxText {
		r.CWD = "" // cut, it would name another folder
	}
}

var lenient = jsontext.AllowInvalidUTF8(true)

// members are those of a record that a row is made of.
type members struct {
	v, turn  int
	t        string
	at       int64 // also createdAt
	settings jsontext.Value
}

// read stops as soon as it has found what a record of its type can have: a
// turn's messages, which come last, are not read.
func read(record []byte) (m members) {
	d := jsontext.NewDecoder(bytes.NewBuffer(record), lenient, jsontext.AllowDuplicateNames(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return m
	}
	for !m.complete() && d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			return m
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return m
		}
		m.set(key, value)
	}
	return m
}

func (m *members) complete() bool {
	switch m.t {
	case schema.RecordPartial, schema.RecordNotice:
		return true
	case schema.RecordStarted, schema.RecordFailed, schema.RecordCompaction:
		return m.at != 0
	case schema.RecordTurn:
		return m.at != 0 && m.turn != 0
	}
	return false
}

// set ignores a value that isn't of its member's type.
func (m *members) set(key string, value jsontext.Value) {
	switch key {
	case "v":
		_ = json.Unmarshal(value, &m.v)
	case "t":
		_ = json.Unmarshal(value, &m.t)
	case "turn":
		_ = json.Unmarshal(value, &m.turn)
	case "at", "createdAt":
		var at time.Time
		if json.Unmarshal(value, &at) == nil && inRange(at.UnixMilli()) {
			m.at = at.UnixMilli()
		}
	case "settings":
		m.settings = value
	}
}

// inRange keeps to the years that RFC 3339 can write.
func inRange(ms int64) bool { return ms >= 0 && ms < endOfTime }

const endOfTime = 253402300800000 // the year 10000
