package session

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// frameKey is the secret of a session's frames around workspace text, kept in
// its log's header (P28). It is random, but within a process it depends on the
// id alone: a preview of a session that isn't made yet has the frames that it
// will have.
type frameKey [16]byte

// newFrameSeed is what a process makes its frame keys of.
func newFrameSeed() (seed [32]byte) {
	_, _ = rand.Read(seed[:]) // it never fails
	return seed
}

func (m *Manager) newFrameKey(id string) (k frameKey) {
	mac := hmac.New(sha256.New, m.frameSeed[:])
	mac.Write([]byte(id)) // a hash takes all it is given
	copy(k[:], mac.Sum(nil))
	return k
}

func (k *frameKey) framer() inject.Framer { return inject.Framer{Key: k[:]} }

func (k *frameKey) String() string { return hex.EncodeToString(k[:]) }

// replayHeader takes a log's first record. A log without a key gets one that
// lasts as long as the process.
func (s *Session) replayHeader(r *schema.SessionRecord) error {
	s.set(r.Settings)
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
