package bundle_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/schema"
)

// elsewhere is a workspace whose bundle has its text outside.
func elsewhere(t *testing.T, manifest string) (w workspace, resource string) {
	out := newWorkspace(t)
	out.write("rules.md", "from elsewhere")
	w = newWorkspace(t)
	w.bundle("x", strings.ReplaceAll(manifest, "RESOURCE", out.path("rules.md")), "")
	return w, out.path("rules.md")
}

func TestP22_permission_is_asked_before_reading_and_at_first_use(t *testing.T) {
	w, resource := elsewhere(t, `{"resource":"RESOURCE"}`)
	var asked []bundle.ReadRequest
	r := w.loaded(bundle.LoadOptions{Permission: func(_ context.Context, req bundle.ReadRequest) (bool, error) {
		require.NoError(t, os.WriteFile(resource, []byte("as it is when allowed"), 0o600))
		asked = append(asked, req)
		return true, nil
	}})
	assert.Equal(t, schema.StateReady, infos(r)["x"].State)
	assert.Empty(t, asked, "nobody is asked before a turn uses it")
	assert.Equal(t, "as it is when allowed", text(t, r, "x"), "so it was not read before")
	assert.Equal(t, "as it is when allowed", text(t, r, "x"))
	require.Len(t, asked, 1)
	assert.Equal(t, resource, asked[0].Path)
	assert.Equal(t, "x", asked[0].Bundle)
	assert.NotEmpty(t, asked[0].Reason)
}

func TestP22_without_permission_nothing_is_read(t *testing.T) {
	tests := map[string]bundle.LoadOptions{
		"nobody to ask": {},
		"nobody who can be asked yet": {
			Permission:      func(context.Context, bundle.ReadRequest) (bool, error) { panic("asked") },
			PermissionReady: func() error { return errors.New("the client did not declare permitRead") },
		},
	}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := elsewhere(t, `{"resource":"RESOURCE"}`)
			r := w.loaded(o)
			assert.Equal(t, schema.StateSkipped, infos(r)["x"].State)
			assert.Contains(t, infos(r)["x"].Reason, "outside of the bundle")
			_, err := r.Resolve([]string{"x"})
			assert.Error(t, err)
		})
	}
}

func TestP22_what_is_denied_is_not_asked_again(t *testing.T) {
	w, _ := elsewhere(t, `{"resource":"RESOURCE"}`)
	asked := 0
	r := w.loaded(bundle.LoadOptions{Permission: func(context.Context, bundle.ReadRequest) (bool, error) { asked++; return false, nil }})
	made := apply(t, r, "x")
	assert.Equal(t, schema.ReasonError, made.Reason)
	assert.ErrorIs(t, made.Err, bundle.ErrDenied)
	assert.Equal(t, schema.StateSkipped, infos(r)["x"].State)
	_, err := r.Resolve([]string{"x"})
	assert.Error(t, err)
	assert.Equal(t, 1, asked)
}

func TestP22_a_permission_that_fails_is_no_permission_and_asked_again(t *testing.T) {
	w, _ := elsewhere(t, `{"resource":"RESOURCE"}`)
	fail := errors.New("gone")
	r := w.loaded(bundle.LoadOptions{Permission: func(context.Context, bundle.ReadRequest) (bool, error) { return true, fail }})
	assert.ErrorIs(t, apply(t, r, "x").Err, fail)
	fail = nil
	assert.Equal(t, "from elsewhere", text(t, r, "x"))
}

func TestP22_what_takes_the_place_of_what_was_allowed_is_not_read(t *testing.T) {
	w, resource := elsewhere(t, `{"resource":"RESOURCE"}`)
	secret := newWorkspace(t)
	secret.write("key", "secret")
	r := w.loaded(bundle.LoadOptions{Permission: func(context.Context, bundle.ReadRequest) (bool, error) {
		require.NoError(t, os.Remove(resource))
		require.NoError(t, os.Symlink(secret.path("key"), resource))
		return true, nil
	}})
	made := apply(t, r, "x")
	assert.Error(t, made.Err)
	assert.Nil(t, made.Applied)
}

func TestP22_P23_what_is_read_with_permission_keeps_the_rules_of_text(t *testing.T) {
	allow := func(context.Context, bundle.ReadRequest) (bool, error) { return true, nil }
	w, resource := elsewhere(t, `{"resource":"RESOURCE","sha256":"`+sha("from elsewhere")+`"}`)
	r := w.loaded(bundle.LoadOptions{Permission: allow})
	assert.Equal(t, "from elsewhere", text(t, r, "x"))

	require.NoError(t, os.WriteFile(resource, []byte("another text"), 0o600))
	assert.ErrorIs(t, apply(t, w.loaded(bundle.LoadOptions{Permission: allow}), "x").Err, bundle.ErrPin)

	w, resource = elsewhere(t, `{"resource":"RESOURCE"}`)
	require.NoError(t, os.WriteFile(resource, []byte("\xff"), 0o600))
	assert.ErrorIs(t, apply(t, w.loaded(bundle.LoadOptions{Permission: allow}), "x").Err, inject.ErrNotUTF8)
}

// A loaderFunc is a ModuleLoader.
type loaderFunc func(context.Context, bundle.Module) (inject.Injector, error)

func (f loaderFunc) Load(ctx context.Context, m bundle.Module) (inject.Injector, error) {
	return f(ctx, m)
}

func gives(name string, c inject.Contribution) inject.Injector {
	return inject.Func(name, func(context.Context, inject.Context) (inject.Contribution, error) { return c, nil })
}

func coded(t *testing.T, manifest string) workspace {
	w := newWorkspace(t)
	w.bundle("x", manifest, "")
	w.write(".agents/instructions/x/m.wasm", "\x00asm")
	return w
}

func TestP20_without_a_loader_a_module_is_skipped_and_the_others_load(t *testing.T) {
	w := coded(t, `{"module":"m.wasm"}`)
	w.bundle("y", `{}`, "y")
	r := w.loaded(bundle.LoadOptions{})
	assert.Equal(t, map[string]schema.InjectorState{"x": "skipped", "y": "ready"}, states(r))
	assert.Equal(t, "m.wasm: is code, and there is no --module-loader that runs it", infos(r)["x"].Reason)
}

func TestP20_a_module_is_loaded_once_at_first_use_under_the_name_of_its_bundle(t *testing.T) {
	w := coded(t, `{"name":"own","module":"m.wasm","exportName":"main","title":"T","placement":"notice","sha256":"`+sha("\x00asm")+`"}`)
	var got []bundle.Module
	r := w.loaded(bundle.LoadOptions{ModuleLoader: loaderFunc(func(_ context.Context, m bundle.Module) (inject.Injector, error) {
		code, err := m.Read()
		require.NoError(t, err)
		assert.Equal(t, "\x00asm", string(code))
		got = append(got, m)
		return gives("another", inject.Contribution{Instructions: "by code"}), nil
	})})
	assert.Empty(t, got)
	for range 2 {
		made := apply(t, r, "own")
		require.NotNil(t, made.Applied)
		assert.Equal(t, "own", made.Applied.Name)
		assert.Contains(t, made.Applied.Notice, "by code")
	}
	require.Len(t, got, 1)
	assert.Equal(t, []string{"own", "m.wasm", w.path(".agents/instructions/x/m.wasm"), "main"}, []string{got[0].Name, got[0].File, got[0].Path, got[0].ExportName})
}

func TestP20_a_module_that_fails_is_skipped_and_tried_again(t *testing.T) {
	boom := errors.New("trap")
	w := coded(t, `{"module":"m.wasm"}`)
	r := w.loaded(bundle.LoadOptions{ModuleLoader: loaderFunc(func(context.Context, bundle.Module) (inject.Injector, error) {
		return gives("x", inject.Contribution{Instructions: "at last"}), boom
	})})
	assert.ErrorIs(t, apply(t, r, "x").Err, boom)
	assert.Equal(t, schema.StateReady, infos(r)["x"].State)
	boom = nil
	assert.Equal(t, "at last", text(t, r, "x"))
}

func TestP20_a_module_that_the_loader_does_not_want_is_skipped_until_a_reload(t *testing.T) {
	w := coded(t, `{"module":"m.wasm"}`)
	var inj inject.Injector
	asked := 0
	s := w.source()
	s.Load.ModuleLoader = loaderFunc(func(context.Context, bundle.Module) (inject.Injector, error) { asked++; return inj, nil })
	scan(t, s)
	made := apply(t, s.Registry, "x")
	assert.Equal(t, schema.ReasonError, made.Reason)
	assert.ErrorIs(t, made.Err, bundle.ErrNoInjector)
	assert.Equal(t, schema.StateSkipped, infos(s.Registry)["x"].State)
	assert.Contains(t, infos(s.Registry)["x"].Reason, "did not want")
	_, err := s.Registry.Resolve([]string{"x"})
	assert.Error(t, err)

	inj = gives("x", inject.Contribution{Instructions: "at last"})
	scan(t, s)
	for range 2 {
		assert.Equal(t, "at last", text(t, s.Registry, "x"))
		scan(t, s)
	}
	assert.Equal(t, 2, asked, "what was loaded stays loaded")
}

func TestP20_turns_at_once_load_a_module_once(t *testing.T) {
	w := coded(t, `{"module":"m.wasm"}`)
	loads := 0 // under the bundle's own lock
	r := w.loaded(bundle.LoadOptions{ModuleLoader: loaderFunc(func(context.Context, bundle.Module) (inject.Injector, error) {
		loads++
		return gives("x", inject.Contribution{Instructions: "x"}), nil
	})})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { assert.Equal(t, "x", text(t, r, "x")) })
	}
	all.Wait()
	assert.Equal(t, 1, loads)
}

func TestP20_the_manifest_bounds_and_times_a_module(t *testing.T) {
	w := coded(t, `{"module":"m.wasm","when":"on_input","predicate":"input == \"go\"","maxBytes":5}`)
	loads, c := 0, inject.Contribution{Instructions: "short"}
	o := bundle.LoadOptions{ModuleLoader: loaderFunc(func(context.Context, bundle.Module) (inject.Injector, error) {
		loads++
		return inject.Func("x", func(context.Context, inject.Context) (inject.Contribution, error) { return c, nil }), nil
	})}
	r := w.loaded(o)
	assert.Equal(t, schema.WhenOnInput, infos(r)["x"].When)
	assert.Equal(t, schema.ReasonPredicateFalse, apply(t, r, "x").Reason)
	assert.Zero(t, loads, "a turn that is not due loads nothing")

	w.bundle("x", `{"module":"m.wasm","maxBytes":5}`, "")
	r = w.loaded(o)
	assert.Equal(t, "short", text(t, r, "x"))
	c.Instructions = "too long"
	assert.ErrorIs(t, apply(t, r, "x").Err, inject.ErrMaxBytes)
}

func TestP20_code_is_read_within_its_bounds_and_its_bundle(t *testing.T) {
	load := func(w workspace) error {
		r := w.loaded(bundle.LoadOptions{ModuleLoader: loaderFunc(func(_ context.Context, m bundle.Module) (inject.Injector, error) {
			_, err := m.Read()
			return gives("x", inject.Contribution{}), err
		})})
		if info := infos(r)["x"]; info.State != schema.StateReady {
			return errors.New(info.Reason)
		}
		require.NoError(t, os.Remove(w.path(".agents/instructions/x/m.wasm")))
		w.link(".agents/instructions/x/m.wasm", w.path("elsewhere.wasm"))
		return apply(t, r, "x").Err
	}
	w := coded(t, `{"module":"m.wasm"}`)
	w.write("elsewhere.wasm", "\x00asm")
	assert.ErrorIs(t, load(w), bundle.ErrOutside)

	w = coded(t, `{"module":"m.wasm"}`)
	w.write(".agents/instructions/x/m.wasm", strings.Repeat("x", bundle.MaxModuleBytes+1))
	assert.ErrorContains(t, load(w), "is too large")

	w = coded(t, `{"module":"m.wasm","sha256":"`+sha("other")+`"}`)
	r := w.loaded(bundle.LoadOptions{ModuleLoader: loaderFunc(func(_ context.Context, m bundle.Module) (inject.Injector, error) {
		_, err := m.Read()
		return nil, err
	})})
	assert.ErrorIs(t, apply(t, r, "x").Err, bundle.ErrPin)
}

// lazyLoader can't load before it is told to.
type lazyLoader struct{ why error }

func (l *lazyLoader) Ready() error { return l.why }

func (l *lazyLoader) Load(context.Context, bundle.Module) (inject.Injector, error) {
	return gives("x", inject.Contribution{Instructions: "x"}), nil
}

func TestP20_a_loader_that_can_not_load_yet_leaves_the_bundle_skipped(t *testing.T) {
	w := coded(t, `{"module":"m.wasm"}`)
	l := &lazyLoader{errors.New("the client has not initialized")}
	r := w.loaded(bundle.LoadOptions{ModuleLoader: l})
	assert.Equal(t, schema.StateSkipped, infos(r)["x"].State)
	assert.Equal(t, l.why.Error(), infos(r)["x"].Reason)
	l.why = nil
	assert.Equal(t, "x", text(t, r, "x"))
}
