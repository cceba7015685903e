package bundle_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A workspace is a folder of a test.
type workspace struct {
	t    *testing.T
	root string
}

func newWorkspace(t *testing.T) workspace {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return workspace{t, root}
}

func (w workspace) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w workspace) write(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	require.NoError(w.t, os.WriteFile(w.path(name), []byte(text), 0o644))
}

// bundle writes a manifest and the default resource.
func (w workspace) bundle(name, manifest, text string) {
	w.t.Helper()
	w.write(".agents/instructions/"+name+"/manifest.json", manifest)
	if text != "" {
		w.write(".agents/instructions/"+name+"/INSTRUCTIONS.md", text)
	}
}

func (w workspace) link(name, target string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	require.NoError(w.t, os.Symlink(target, w.path(name)))
}

// loaded is a registry with what is found.
func (w workspace) loaded(o bundle.LoadOptions, trust ...string) *inject.Registry {
	w.t.Helper()
	return load(w.t, bundle.Options{Roots: []string{w.root}, TrustRoots: trust}, o)
}

func load(t *testing.T, where bundle.Options, o bundle.LoadOptions) *inject.Registry {
	t.Helper()
	r := &inject.Registry{}
	require.NoError(t, bundle.Register(t.Context(), r, bundle.Discover(t.Context(), where), o))
	return r
}

// infos are the listed bundles by name, the last of each.
func infos(r *inject.Registry) map[string]schema.InjectorInfo {
	out := map[string]schema.InjectorInfo{}
	for _, info := range r.List(nil) {
		out[info.Name] = info
	}
	return out
}

func states(r *inject.Registry) map[string]schema.InjectorState {
	out := map[string]schema.InjectorState{}
	for name, info := range maps.All(infos(r)) {
		out[name] = info.State
	}
	return out
}

// apply is what a bundle gives to the first turn.
func apply(t *testing.T, r *inject.Registry, name string) inject.Decision {
	t.Helper()
	selected, err := r.Resolve([]string{name})
	require.NoError(t, err)
	made, err := inject.Apply(t.Context(), selected, inject.Context{}, nil, nil, inject.Options{})
	require.NoError(t, err)
	require.Len(t, made, 1)
	return made[0]
}

// says is the system text that a bundle gives at that moment; empty where it
// gives none, or is not there.
func says(t *testing.T, r *inject.Registry, name string) string {
	t.Helper()
	selected, err := r.Resolve([]string{name})
	if err != nil {
		return ""
	}
	made, err := inject.Apply(t.Context(), selected, inject.Context{}, nil, nil, inject.Options{})
	require.NoError(t, err)
	require.Len(t, made, 1)
	if made[0].Applied == nil {
		return ""
	}
	return made[0].Applied.Instructions
}

// text is the system text that a bundle gives.
func text(t *testing.T, r *inject.Registry, name string) string {
	t.Helper()
	made := apply(t, r, name)
	require.NoError(t, made.Err)
	require.NotNil(t, made.Applied)
	return made.Applied.Instructions
}
