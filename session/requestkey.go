package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/schema"
)

// keptKeys is how many of a session's newest turns a request key is looked for
// in.
const keptKeys = 10_000

// ErrKeyReused reports a request key that came with other params before.
var ErrKeyReused = errors.New("the request key was used with other params")

var errRaced = errors.New("another request with the key came first")

// keys knows the committed turns that had a request key, by the key's hash. A
// key itself is not kept: it may say something about its user.
type keys struct {
	byHash map[string]*keyedTurn
	order  []*keyedTurn // by turn
}

// keyedTurn is what a repeated request is answered with, but for the message,
// which the history holds.
type keyedTurn struct {
	hash   string
	params string
	result schema.TurnResult
}

// of is the turn that had the key with that hash; nil for none.
func (k *keys) of(hash string) *keyedTurn {
	if k == nil {
		return nil
	}
	return k.byHash[hash]
}

func (k *keys) add(turn *keyedTurn) {
	k.byHash[turn.hash] = turn
	k.order = append(k.order, turn)
}

// keepKey takes note of a committed turn's key, if it had one, and forgets those
// of turns that are too old; mu is held.
func (s *Session) keepKey(t *schema.TurnRecord) {
	if t.Key != "" {
		if s.keys == nil {
			s.keys = &keys{byHash: map[string]*keyedTurn{}}
		}
		s.keys.add(&keyedTurn{hash: t.Key, params: t.Params, result: resultOf(s.id, t)})
	}
	if s.keys != nil {
		s.keys.forget(len(s.turns))
	}
}

// forget drops the turns that are too old.
func (k *keys) forget(turns int) {
	for len(k.order) > 0 && k.order[0].result.Turn <= turns-keptKeys {
		if old := k.order[0]; k.byHash[old.hash] == old {
			delete(k.byHash, old.hash)
		}
		k.order = k.order[1:]
	}
}

// hashKey is how a request key is kept.
func hashKey(key string) string { return shortHash(sha256.New(), []byte("key\x00"+key)) }

// hashParams tells requests with one key apart, whatever is a secret at the
// time. The key, which is not kept, keeps others from trying what may have
// been hashed.
func hashParams(start Start) (string, error) {
	b, err := json.Marshal(struct {
		Input         schema.Input
		Names         []string `json:",omitzero"`
		Instructions  schema.RunInstructions
		ContextBlocks []schema.ContextBlock
		Model         string
		Options       schema.RunOptions
	}{start.Input, start.Names, start.Instructions, start.ContextBlocks, start.Model, start.Options})
	if err != nil {
		return "", err
	}
	return shortHash(hmac.New(sha256.New, []byte(start.RequestKey)), b), nil
}

func shortHash(h hash.Hash, b []byte) string {
	h.Write(b) // a hash takes all it is given
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// repeated looks for a turn with r's request key that has committed, runs or
// waits, and makes r answer with its outcome; it tells whether there is one. A
// turn that did not commit left no key, so that the same request runs again.
func (s *Session) repeated(ctx context.Context, r *Run) (bool, error) {
	if r.RequestKey == "" {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if done := s.keys.of(r.keyHash); done != nil {
		return true, r.repeat(done, s)
	}
	if leader := s.underWay(r.keyHash); leader != nil {
		return true, r.attach(ctx, leader)
	}
	return false, nil
}

// underWay is the run with that key that runs or waits; mu is held.
func (s *Session) underWay(keyHash string) *Run {
	for _, r := range slices.Concat(s.queue, []*Run{s.running}) {
		if r != nil && r.keyHash == keyHash {
			return r
		}
	}
	return nil
}

// knows tells whether another request with the key came first; mu is held.
func (s *Session) knows(keyHash string) bool {
	return keyHash != "" && (s.keys.of(keyHash) != nil || s.underWay(keyHash) != nil)
}

// repeat answers r with a committed turn's outcome; the session's mu is held.
func (r *Run) repeat(done *keyedTurn, s *Session) error {
	if done.params != r.paramsHash {
		return ErrKeyReused
	}
	result := done.result
	result.Replayed = true
	first, end := span(s.turns, s.history, result.Turn)
	history := s.cleanHistory(s.redactor())
	for _, m := range history.Messages(first, end) {
		if m.Role == schema.RoleAssistant {
			result.Message = m
		}
	}
	r.id, r.result = result.RunID, &result
	close(r.done)
	return nil
}

// attach lets r answer with the outcome of a run that has not ended.
func (r *Run) attach(ctx context.Context, leader *Run) error {
	if leader.paramsHash != r.paramsHash {
		return ErrKeyReused
	}
	r.id = leader.id
	r.session.manager.spawn(func() {
		select {
		case <-leader.done:
			r.err = leader.err
			if leader.result != nil {
				result := *leader.result
				result.Replayed = true
				r.result = &result
			}
		case <-ctx.Done():
			r.err = context.Cause(ctx)
		}
		close(r.done)
	})
	return nil
}
