package session

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
)

// NewID makes a session id of 128 random bits in 22 characters.
func NewID() string {
	for {
		if id := randomID(16); schema.ValidSessionID(id) {
			return id
		}
	}
}

// newRunID makes an id of 48 random bits in 8 characters.
func newRunID() string { return randomID(6) }

func randomID(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // never fails: crypto/rand ends the process instead
	return base64.RawURLEncoding.EncodeToString(b)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func stampAt(ms int64) string { return stamp(time.UnixMilli(ms)) }

// timeOf is a stamp's time in Unix ms; 0 where a log has what is no time, or
// none that stamp can write.
func timeOf(stamp string) int64 {
	t, err := time.Parse(time.RFC3339, stamp)
	if year := t.UTC().Year(); err != nil || year < 0 || year > 9999 {
		return 0
	}
	return t.UnixMilli()
}
