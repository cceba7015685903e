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
