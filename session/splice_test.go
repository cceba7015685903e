package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func on() session.Ambient { return session.Ambient{On: true} }

func unsplice(t *testing.T, m *session.Manager, id, block string) {
	s, err := m.Lookup(id)
	require.NoError(t, err)
	require.NoError(t, s.Unsplice(block))
}

func TestA6_an_id_replaces_its_own_earlier_block_in_its_place(t *testing.T) {
	for claim, store := range map[string]session.Store{"stored": memstore.New(), "in memory": nil} {
		t.Run(claim, func(t *testing.T) {
			p := says("ok")
			m := newManager(t, session.Config{Provider: p, Store: store, Ambient: on()})
			splice(t, m, "s", session.Splice{ID: "a", Name: "A", Content: "1"})
			b := splice(t, m, "s", session.Splice{Name: "B", Content: "2"})
			splice(t, m, "other", session.Splice{ID: "a", Name: "O", Content: "0"})
			assert.Equal(t, "a", splice(t, m, "s", session.Splice{ID: "a", Name: "A2", Content: "3"}))
			assert.NotEqual(t, b, splice(t, m, "s", session.Splice{Name: "B", Content: "2"}), "an id that is made is new")
			ask(t, m, "s", "hi", session.RunOptions{})
			assert.Equal(t, "# A2\n3\n\n# B\n2\n\n# B\n2", systemOf(p.asked()[0]))
			ask(t, m, "other", "hi", session.RunOptions{})
			assert.Equal(t, "# O\n0", systemOf(p.asked()[1]), "another session's is another one")
			unsplice(t, m, "s", "a")
			unsplice(t, m, "s", "a")
			unsplice(t, m, "s", "no such block")
			assert.Equal(t, []string{"B", "B"}, namesOf(contexts(t, m, "s")))
		})
	}
}

func TestA6_splices_survive_a_restart(t *testing.T) {
	store := memstore.New()
	first := newManager(t, session.Config{Provider: says("ok"), Store: store, Ambient: on()})
	splice(t, first, "s", session.Splice{ID: "a", Name: "A", Content: "1"})
	splice(t, first, "s", session.Splice{ID: "b", Name: "B", Content: "2", Lifetime: schema.LifetimeNext})
	splice(t, first, "s", session.Splice{ID: "c", Name: "C", Content: "3"})
	splice(t, first, "s", session.Splice{ID: "a", Name: "A", Content: "4"})
	unsplice(t, first, "s", "c")
	setAmbient(t, first, "s", schema.Patch[bool]{Value: true})
	before := contexts(t, first, "s")
	require.NoError(t, first.Close())

	p := says("ok")
	second := newManager(t, session.Config{Provider: p, Store: store})
	assert.Equal(t, before, contexts(t, second, "s"), "as it is read")
	ask(t, second, "s", "hi", session.RunOptions{})
	assert.Equal(t, "# A\n4\n\n# B\n2", systemOf(p.asked()[0]))
	splice(t, second, "s", session.Splice{ID: "d", Name: "D", Content: "5"})
	require.NoError(t, second.Close())

	third := newManager(t, session.Config{Provider: p, Store: store})
	assert.Equal(t, []string{"A", "D"}, namesOf(contexts(t, third, "s")), "what was used up stays so")
}

func TestA6_a_fork_has_copies_that_go_their_own_way(t *testing.T) {
	for claim, store := range map[string]session.Store{"stored": memstore.New(), "in memory": nil} {
		t.Run(claim, func(t *testing.T) {
			m := newManager(t, session.Config{Provider: says("ok"), Store: store, Ambient: on()})
			ask(t, m, "s", "hi", session.RunOptions{})
			splice(t, m, "s", session.Splice{ID: "a", Name: "A", Content: "1"})
			splice(t, m, "s", session.Splice{ID: "b", Name: "B", Content: "2", Lifetime: schema.LifetimeNext})
			splice(t, m, "s", session.Splice{ID: "a", Name: "A", Content: "3"})
			for _, turn := range []int{0, -1} {
				fork, err := m.Fork("s", turn, "")
				require.NoError(t, err)
				require.NoError(t, fork.Sync())
				assert.Equal(t, contexts(t, m, "s"), contexts(t, m, fork.ID()))
				unsplice(t, m, fork.ID(), "a")
				ask(t, m, fork.ID(), "hi", session.RunOptions{})
				splice(t, m, fork.ID(), session.Splice{ID: "f", Name: "F", Content: "4"})
				assert.Equal(t, []string{"F"}, namesOf(contexts(t, m, fork.ID())))
				if store != nil {
					stored, err := newManager(t, session.Config{Store: store}).View(fork.ID())
					require.NoError(t, err)
					assert.Equal(t, []string{"F"}, namesOf(stored.BeginListContext(schema.Modules{})(t.Context(), false)))
				}
			}
			assert.Equal(t, []string{"A", "B"}, namesOf(contexts(t, m, "s")))
		})
	}
}

func TestA6_a_block_of_lifetime_next_is_used_up_by_the_turn_that_commits(t *testing.T) {
	answer := fails(provider.ClassNetwork)
	p := &model{answer: func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		return answer(ctx, req, emit)
	}}
	m := newManager(t, session.Config{Provider: p, Store: memstore.New(), Ambient: on()})
	splice(t, m, "s", session.Splice{Name: "once", Content: "1", Lifetime: schema.LifetimeNext})
	run := begin(t, m, "s", "hi", false, session.RunOptions{})
	_, err := run.Wait()
	run.Settle()
	require.Error(t, err)
	answer = counting("ok")
	setAmbient(t, m, "s", schema.Patch[bool]{Value: false})
	ask(t, m, "s", "hi", session.RunOptions{})
	setAmbient(t, m, "s", schema.Patch[bool]{Null: true})
	ask(t, m, "s", "hi", session.RunOptions{})
	ask(t, m, "s", "hi", session.RunOptions{})
	var got []string
	for _, req := range p.asked() {
		got = append(got, systemOf(req))
	}
	assert.Equal(t, []string{"# once\n1", "", "# once\n1", ""}, got, "failed, off, committed, gone")
	assert.Empty(t, contexts(t, m, "s").Blocks)
}

func TestA6_a_block_that_takes_the_place_of_one_in_use_is_not_used_up(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		m := newManager(t, session.Config{Provider: streams("ok", time.Second), Store: store, Ambient: on()})
		splice(t, m, "s", session.Splice{ID: "a", Name: "old", Content: "1", Lifetime: schema.LifetimeNext})
		splice(t, m, "s", session.Splice{ID: "b", Name: "gone", Content: "1", Lifetime: schema.LifetimeNext})
		run := begin(t, m, "s", "hi", false, session.RunOptions{})
		synctest.Wait()
		splice(t, m, "s", session.Splice{ID: "a", Name: "new", Content: "2", Lifetime: schema.LifetimeNext})
		unsplice(t, m, "s", "b")
		wait(t, run)
		assert.Equal(t, []string{"new"}, namesOf(contexts(t, m, "s")))
		assert.Equal(t, []string{"new"}, namesOf(contexts(t, newManager(t, session.Config{Store: store}), "s")))
	})
}

func TestA6_one_made_during_a_turn_takes_effect_from_its_next_call(t *testing.T) {
	var m *session.Manager
	calls := 0
	turn := func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		if calls++; calls != 4 {
			return counting("ok")(ctx, req, emit)
		}
		s, err := m.Lookup("s")
		if err != nil {
			return nil, err
		}
		for _, sp := range []session.Splice{{ID: "a", Name: "A", Content: "new"}, {ID: "c", Name: "C", Content: "3", Lifetime: schema.LifetimeNext}} {
			if _, err := s.Splice(sp); err != nil {
				return nil, err
			}
		}
		if err := s.Unsplice("b"); err != nil {
			return nil, err
		}
		return nil, &provider.Error{Class: provider.ClassContextOverflow}
	}
	p := summarises(turn, counting("SUM"))
	asked := 0
	m = newManager(t, session.Config{Provider: p, Store: memstore.New(), Base: "base", Ambient: session.Ambient{On: true, Armed: armsOnce(&asked)}})
	fill(t, m, "s", 3)
	splice(t, m, "s", session.Splice{ID: "a", Name: "A", Content: "old"})
	splice(t, m, "s", session.Splice{ID: "b", Name: "B", Content: "2"})
	asked = 0
	var rec recorder
	result := ask(t, m, "s", "go", session.RunOptions{OnEvent: rec.take})
	paths := "base\n\n# Protected paths\n"
	first, second := systemOf(p.asked()[3]), systemOf(p.asked()[5])
	assert.True(t, strings.HasPrefix(first, paths) && strings.HasSuffix(first, "\n\n# A\nold\n\n# B\n2"), first)
	assert.True(t, strings.HasPrefix(second, paths) && strings.HasSuffix(second, "\n\n# A\nnew\n\n# C\n3"), second)
	assert.Equal(t, 1, asked, "P12: what is armed is fixed for the turn")
	var told []string
	for _, e := range rec.events {
		if in, ok := e.(*schema.InjectedEvent); ok {
			told = append(told, in.Name)
		}
	}
	assert.Equal(t, []string{"Protected paths", "A", "B", "A", "C"}, told)
	require.Len(t, result.Injected, 3)
	assert.Equal(t, "C", result.Injected[2].Name)
	assert.Equal(t, []string{"Protected paths", "A"}, namesOf(contexts(t, m, "s")), "C was carried once")
}

func TestA6_a_splice_made_while_a_turn_runs_waits_for_no_turn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := streams("x", time.Hour)
		m := newManager(t, session.Config{Provider: p, Store: memstore.New(), Ambient: on()})
		run := begin(t, m, "s", "hi", false, session.RunOptions{})
		next := begin(t, m, "s", "more", true, session.RunOptions{})
		synctest.Wait()
		start := time.Now()
		splice(t, m, "s", session.Splice{Name: "n", Content: "c"})
		assert.Zero(t, time.Since(start))
		wait(t, run)
		wait(t, next)
		assert.Equal(t, []string{"", "# n\nc"}, []string{systemOf(p.asked()[0]), systemOf(p.asked()[1])})
	})
}

func TestA6_what_a_splice_may_not_be(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok"), Ambient: on()})
	s, err := m.Open("s")
	require.NoError(t, err)
	for claim, c := range map[string]struct {
		splice session.Splice
		field  string
	}{
		"A5 a newline in its name": {session.Splice{Name: "a\nb"}, "name"},
		"no name":                  {session.Splice{Content: "c"}, "name"},
		"too large":                {session.Splice{Name: "n", Content: strings.Repeat("x", schema.MaxAmbientBytes)}, "content"},
		"not UTF-8":                {session.Splice{Name: "n", Content: "\xff"}, "content"},
		"an id with a blank":       {session.Splice{ID: "a b", Name: "n"}, "id"},
		"an unknown lifetime":      {session.Splice{Name: "n", Lifetime: "turn"}, "lifetime"},
	} {
		t.Run(claim, func(t *testing.T) {
			_, err := s.Splice(c.splice)
			var bad *schema.ParamsError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, c.field, bad.Errors[0].Field)
		})
	}
	for i := range schema.MaxSplices {
		splice(t, m, "s", session.Splice{ID: fmt.Sprint(i), Name: "n"})
	}
	splice(t, m, "s", session.Splice{ID: "7", Name: "n2"})
	_, err = s.Splice(session.Splice{Name: "n"})
	var bad *schema.ParamsError
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, schema.MaxSplices, bad.Limit)
}

func TestA6_an_idle_session_takes_in_what_another_process_spliced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		first := newManager(t, session.Config{Provider: says("ok"), Store: store, Ambient: on()})
		splice(t, first, "s", session.Splice{ID: "a", Name: "A"})
		time.Sleep(11 * time.Minute)
		second := newManager(t, session.Config{Provider: says("ok"), Store: store, Ambient: on()})
		splice(t, second, "s", session.Splice{ID: "a", Name: "A2"})
		splice(t, second, "s", session.Splice{ID: "b", Name: "B"})
		require.NoError(t, second.Close())
		assert.Equal(t, []string{"A2", "B"}, namesOf(contexts(t, first, "s")))
		splice(t, first, "s", session.Splice{ID: "c", Name: "C"})
		assert.Equal(t, []string{"A2", "B", "C"}, namesOf(contexts(t, first, "s")))
	})
}
