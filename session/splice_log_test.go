package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// refusing is a store of which the logs refuse splices, in the middle of the
// list of what has been asked.
type refusing struct {
	session.Store
	err error
}

func (f *refusing) Create(id string, header []byte) (session.Log, error) {
	log, err := f.Store.Create(id, header)
	return &refusingLog{log, f}, err
}

type refusingLog struct {
	session.Log
	store *refusing
}

func (l *refusingLog) Append(record []byte) error {
	if strings.Contains(string(record), `splice"`) && l.store.err != nil {
		return l.store.err
	}
	return l.Log.Append(record)
}

func TestA6_what_can_not_be_kept_is_taken_back(t *testing.T) {
	store := &refusing{Store: memstore.New()}
	m := newManager(t, session.Config{Provider: says("ok"), Store: store, Ambient: on()})
	splice(t, m, "s", session.Splice{ID: "a", Name: "A", Content: "1"})
	splice(t, m, "s", session.Splice{ID: "b", Name: "B", Content: "2"})
	before := contexts(t, m, "s")
	store.err = errors.New("the disk is full")
	s, err := m.Lookup("s")
	require.NoError(t, err)
	var saves []func() error
	for _, sp := range []session.Splice{{ID: "a", Name: "A2"}, {Name: "C"}, {ID: "a", Name: "A3"}} {
		_, save, err := s.BeginSplice(sp)
		require.NoError(t, err)
		saves = append(saves, save)
	}
	save, err := s.BeginUnsplice("b")
	require.NoError(t, err)
	assert.Equal(t, []string{"A3", "C"}, namesOf(contexts(t, m, "s")), "it holds at once")
	for _, save := range append(saves, save) {
		assert.ErrorIs(t, save(), session.ErrStore)
	}
	assert.Equal(t, before, contexts(t, m, "s"))
	store.err = nil
	splice(t, m, "s", session.Splice{ID: "c", Name: "C"})
	now := contexts(t, m, "s")
	assert.Equal(t, now, contexts(t, newManager(t, session.Config{Store: store.Store, Ambient: on()}), "s"), "and the log says the same")
}

// Requests take effect in their order, in whatever order they are saved.
func TestA6_splices_are_logged_in_the_order_in_which_they_were_made(t *testing.T) {
	store := memstore.New()
	m := newManager(t, session.Config{Provider: says("ok"), Store: store, Ambient: on()})
	s, err := m.Open("s")
	require.NoError(t, err)
	_, first, err := s.BeginSplice(session.Splice{ID: "a", Name: "A"})
	require.NoError(t, err)
	_, second, err := s.BeginSplice(session.Splice{ID: "b", Name: "B"})
	require.NoError(t, err)
	third, err := s.BeginUnsplice("a")
	require.NoError(t, err)
	_, fourth, err := s.BeginSplice(session.Splice{ID: "a", Name: "A2"})
	require.NoError(t, err)
	for _, save := range []func() error{fourth, second, third, first} {
		require.NoError(t, save())
	}
	assert.Equal(t, []string{"B", "A2"}, namesOf(contexts(t, m, "s")))
	assert.Equal(t, []string{"B", "A2"}, namesOf(contexts(t, newManager(t, session.Config{Store: store}), "s")))
}

// Whatever is asked, in whatever order it is saved, and whatever could not be
// written: the log says what the session says.
func TestA6_the_log_says_what_the_session_says(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		store := &refusing{Store: memstore.New()}
		m := newManager(t, session.Config{Provider: says("ok"), Store: store, Ambient: on()})
		s, err := m.Open("s")
		require.NoError(t, err)
		ask(t, m, "s", "hi", session.RunOptions{})
		var saves []func() error
		settle := func() {
			random.Shuffle(len(saves), func(i, j int) { saves[i], saves[j] = saves[j], saves[i] })
			for _, save := range saves {
				if random.IntN(4) == 0 {
					store.err = errors.New("no room")
				}
				_ = save() // some can't be written
				store.err = nil
			}
			saves = nil
		}
		for i := range 200 {
			id := string(rune('a' + random.IntN(8)))
			switch random.IntN(8) {
			case 0, 1, 2:
				lifetime := []schema.Lifetime{schema.LifetimeSession, schema.LifetimeNext}[random.IntN(2)]
				_, save, err := s.BeginSplice(session.Splice{ID: id, Name: "n", Content: fmt.Sprint(i), Lifetime: lifetime})
				require.NoError(t, err)
				saves = append(saves, save)
			case 3, 4:
				save, err := s.BeginUnsplice(id)
				require.NoError(t, err)
				saves = append(saves, save)
			case 5:
				ask(t, m, "s", "hi", session.RunOptions{})
			default:
				settle()
			}
		}
		settle()
		again := newManager(t, session.Config{Store: store.Store, Ambient: on()})
		require.Equal(t, contexts(t, m, "s"), contexts(t, again, "s"), "seed %d", seed)
	}
}

func TestA6_a_block_that_was_not_saved_when_its_turn_committed_is_used_up(t *testing.T) {
	store, p := memstore.New(), says("ok")
	m := newManager(t, session.Config{Provider: p, Store: store, Ambient: on()})
	s, err := m.Open("s")
	require.NoError(t, err)
	_, save, err := s.BeginSplice(session.Splice{Name: "once", Content: "1", Lifetime: schema.LifetimeNext})
	require.NoError(t, err)
	ask(t, m, "s", "hi", session.RunOptions{})
	require.NoError(t, save())
	assert.Equal(t, "# once\n1", systemOf(p.asked()[0]))
	assert.Empty(t, contexts(t, m, "s").Blocks)
	assert.Empty(t, contexts(t, newManager(t, session.Config{Store: store}), "s").Blocks)
}

// A log is input: a splice in it must be one.
func TestA6_a_splice_in_a_log_is_checked(t *testing.T) {
	const (
		good = `{"v":1,"t":"splice","serial":1,"at":"2026-01-01T00:00:00.000Z","id":"a","lifetime":"session","name":"n","content":"c"}`
		out  = `{"v":1,"t":"unsplice","serial":1,"at":"2026-01-01T00:00:00.000Z"}`
	)
	but := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	many := []string{}
	for i := range 2*schema.MaxSplices + 1 {
		many = append(many, fmt.Sprintf(`{"v":1,"t":"splice","serial":%d,"id":"%d","lifetime":"session","name":"n","content":"c"}`, i+1, i))
	}
	for claim, row := range map[string]struct {
		records []string
		want    []string // nil: refused
	}{
		"one":                         {[]string{good}, []string{"n"}},
		"one that went out":           {[]string{good, out}, []string{}},
		"one that went out twice":     {[]string{good, out, out}, []string{}},
		"none that goes out":          {[]string{out}, []string{}},
		"larger than asked":           {[]string{but(`"c"`, `"`+strings.Repeat("x", schema.MaxAmbientBytes+1)+`"`)}, []string{"n"}},
		"a name of two lines":         {[]string{but(`"name":"n"`, `"name":"a\nb"`)}, nil},
		"no name":                     {[]string{but(`"name":"n",`, ``)}, nil},
		"no id":                       {[]string{but(`"id":"a",`, ``)}, nil},
		"no serial":                   {[]string{but(`"serial":1,`, ``)}, nil},
		"a serial that does not rise": {[]string{good, good}, nil},
		"an unknown lifetime":         {[]string{but(`"lifetime":"session"`, `"lifetime":"turn"`)}, nil},
		"content of another kind":     {[]string{but(`"c"`, `["c"]`)}, nil},
		"more than there can be":      {many, nil},
	} {
		t.Run(claim, func(t *testing.T) {
			store := memstore.New()
			log, err := store.Create("s", []byte(`{"v":1,"t":"session","id":"s","createdAt":"2026-01-01T00:00:00.000Z","settings":{}}`))
			require.NoError(t, err)
			for _, record := range row.records {
				require.NoError(t, log.Append([]byte(record)))
			}
			require.NoError(t, log.Close())
			m := newManager(t, session.Config{Provider: says("x"), Store: store})
			_, err = m.Lookup("s")
			if row.want == nil {
				assert.ErrorIs(t, err, session.ErrStore)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, namesOf(contexts(t, m, "s")))
		})
	}
}
