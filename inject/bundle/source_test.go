package bundle_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
)

func (w workspace) source() *bundle.Source {
	return &bundle.Source{Registry: &inject.Registry{}, Options: bundle.Options{Roots: []string{w.root}}}
}

func scan(t *testing.T, s *bundle.Source) bundle.Changes {
	t.Helper()
	c, err := s.Scan(t.Context())
	require.NoError(t, err)
	return c
}

func TestP25_a_scan_says_what_has_changed(t *testing.T) {
	w := newWorkspace(t)
	w.bundle("a", `{}`, "one")
	w.bundle("b", `{}`, "one")
	w.bundle("bad", `{`, "")
	s := w.source()
	first := scan(t, s)
	assert.Equal(t, []string{"a", "b", "bad"}, first.Names)
	require.Len(t, first.Problems, 1)
	assert.Equal(t, "bad", first.Problems[0].Name)
	assert.Equal(t, w.path(".agents/instructions/bad"), first.Problems[0].Path)
	assert.Equal(t, bundle.Changes{}, scan(t, s), "nothing has")

	w.bundle("a", `{}`, "two")
	w.bundle("c", `{}`, "one")
	require.NoError(t, os.RemoveAll(w.path(".agents/instructions/b")))
	assert.Equal(t, bundle.Changes{Names: []string{"a", "b", "c"}}, scan(t, s))
	assert.Equal(t, "two", text(t, s.Registry, "a"))

	w.bundle("a", `{"name":"d"}`, "two")
	assert.Equal(t, []string{"a", "d"}, scan(t, s).Names)
}

func TestP25_a_turn_keeps_what_it_began_with(t *testing.T) {
	w := newWorkspace(t)
	w.bundle("a", `{}`, "one")
	s := w.source()
	scan(t, s)
	selected, err := s.Registry.Resolve([]string{"a"})
	require.NoError(t, err)
	w.bundle("a", `{}`, "two")
	scan(t, s)
	made, err := inject.Apply(t.Context(), selected, inject.Context{}, nil, nil, inject.Options{})
	require.NoError(t, err)
	assert.Equal(t, "one", made.Applied()[0].Instructions)
	made, err = inject.Apply(t.Context(), s.Registry.Refresh(selected), inject.Context{}, nil, nil, inject.Options{})
	require.NoError(t, err)
	assert.Equal(t, "two", made.Applied()[0].Instructions, "one that was queued gets the newest")
	require.NoError(t, os.RemoveAll(w.path(".agents/instructions/a")))
	scan(t, s)
	assert.Equal(t, selected, s.Registry.Refresh(selected), "or what it had, where that has gone")
}

func TestP25_what_has_not_changed_stays_loaded(t *testing.T) {
	w := coded(t, `{"module":"m.wasm"}`)
	loads := 0
	s := w.source()
	s.Load.ModuleLoader = loaderFunc(func(context.Context, bundle.Module) (inject.Injector, error) {
		loads++
		return gives("x", inject.Contribution{Instructions: "x"}), nil
	})
	for range 3 {
		scan(t, s)
		assert.Equal(t, "x", text(t, s.Registry, "x"))
	}
	assert.Equal(t, 1, loads)
	w.write(".agents/instructions/x/m.wasm", "another module")
	assert.Equal(t, []string{"x"}, scan(t, s).Names)
	text(t, s.Registry, "x")
	assert.Equal(t, 2, loads)
}

func TestP22_permission_is_asked_anew_after_a_scan(t *testing.T) {
	w, _ := elsewhere(t, `{"resource":"RESOURCE"}`)
	allow := false
	s := w.source()
	s.Load.Permission = func(context.Context, bundle.ReadRequest) (bool, error) { return allow, nil }
	scan(t, s)
	assert.Error(t, apply(t, s.Registry, "x").Err)
	allow = true
	assert.Empty(t, scan(t, s).Names)
	assert.Equal(t, "from elsewhere", text(t, s.Registry, "x"))
}

// watching reports what a watched source says, until the test ends.
func watching(t *testing.T, s *bundle.Source) <-chan bundle.Changes {
	out := make(chan bundle.Changes, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { // waited for below
		ended <- s.Watch(ctx, func(c bundle.Changes, err error) {
			assert.NoError(t, err)
			out <- c
		})
	}()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return out
}

// until waits until the registry is as wanted.
func until(t *testing.T, changes <-chan bundle.Changes, wanted func() bool) {
	t.Helper()
	for !wanted() {
		select {
		case <-changes:
		case <-time.After(20 * time.Second):
			t.Fatal("the change was not seen")
		}
	}
}

func TestP25_what_changes_while_it_is_watched_is_taken_up(t *testing.T) {
	w := newWorkspace(t)
	s := w.source()
	scan(t, s)
	changes := watching(t, s)
	ready := func(name, want string) func() bool {
		return func() bool {
			return says(t, s.Registry, name) == want
		}
	}
	w.bundle("a", `{}`, "one") // with all folders on the way
	until(t, changes, ready("a", "one"))
	w.bundle("a", `{}`, "two")
	until(t, changes, ready("a", "two"))
	w.bundle("b", `{"resource":"sub/rules"}`, "")
	w.write(".agents/instructions/b/sub/rules", "deep")
	until(t, changes, ready("b", "deep"))
	w.write(".agents/instructions/b/sub/rules", "deeper")
	until(t, changes, ready("b", "deeper"))
	w.write(".agents/instructions/a/new", "moved over")
	require.NoError(t, os.Rename(w.path(".agents/instructions/a/new"), w.path(".agents/instructions/a/INSTRUCTIONS.md")))
	until(t, changes, ready("a", "moved over"))
	require.NoError(t, os.RemoveAll(w.path(".agents/instructions/a")))
	until(t, changes, ready("a", ""))
	require.NoError(t, os.RemoveAll(w.path(".agents")))
	until(t, changes, ready("b", ""))
	w.bundle("a", `{}`, "again")
	until(t, changes, ready("a", "again"))
	w.bundle("a", `{}`, "and again")
	until(t, changes, ready("a", "and again"))
}

func TestP25_a_folder_that_is_moved_away_and_back_is_watched_still(t *testing.T) {
	w := newWorkspace(t)
	w.bundle("a", `{}`, "one")
	s := w.source()
	changes := watching(t, s)
	has := func(want bool) func() bool {
		return func() bool { _, ok := s.Registry.Get("a"); return ok == want }
	}
	until(t, changes, has(true))
	require.NoError(t, os.Rename(w.path(".agents"), w.path("away")))
	until(t, changes, has(false))
	require.NoError(t, os.Rename(w.path("away"), w.path(".agents")))
	until(t, changes, has(true))
	w.bundle("a", `{}`, "two")
	until(t, changes, func() bool { return says(t, s.Registry, "a") == "two" })
}
