package session

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// frameKey is the secret of a session's frames around workspace text, random
// and kept in its log's header (P28).
type frameKey [16]byte

func newFrameKey() (k frameKey) {
	_, _ = rand.Read(k[:]) // it never fails
	return k
}

func (k *frameKey) framer() inject.Framer { return inject.Framer{Key: k[:]} }

func (k *frameKey) String() string { return hex.EncodeToString(k[:]) }

// replayHeader takes a log's first record. A log without a key gets one that
// lasts as long as the process.
func (s *Session) replayHeader(r *schema.SessionRecord) error {
	s.settings = r.Settings
	if r.Key == "" {
		return nil
	}
	b, err := hex.DecodeString(r.Key)
	if err != nil || len(b) != len(s.frameKey) {
		return fmt.Errorf("%w: its key is not 32 hex digits", errShape)
	}
	s.frameKey = frameKey(b)
	return nil
}
