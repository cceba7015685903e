//go:build unix

package bundle_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/schema"
)

const key = "the key that nobody may read"

// keyFile is outside of every workspace.
func keyFile(t *testing.T) string {
	out := newWorkspace(t)
	out.write("id_rsa", key)
	return out.path("id_rsa")
}

func TestP22_I5_what_leads_out_of_its_bundle_is_refused_and_not_read(t *testing.T) {
	secret := keyFile(t)
	const at = ".agents/instructions/x/"
	tests := map[string]struct {
		make func(workspace)
		want string
	}{
		"a link to a key": {func(w workspace) {
			w.bundle("x", `{}`, "")
			w.link(at+"INSTRUCTIONS.md", secret)
		}, "INSTRUCTIONS.md: lies outside of the bundle"},
		"a link to the workspace": {func(w workspace) {
			w.write(".env", key)
			w.bundle("x", `{}`, "")
			w.link(at+"INSTRUCTIONS.md", "../../../.env")
		}, "INSTRUCTIONS.md: lies outside of the bundle"},
		"a link to another bundle": {func(w workspace) {
			w.bundle("xy", `{}`, key)
			w.bundle("x", `{"resource":"../xy/INSTRUCTIONS.md"}`, "")
		}, "../xy/INSTRUCTIONS.md: lies outside of the bundle"},
		"two dots": {func(w workspace) {
			w.write(".agents/key", key)
			w.bundle("x", `{"resource":"../../key"}`, "")
		}, "../../key: lies outside of the bundle"},
		"two dots further in": {func(w workspace) {
			w.write(at+"sub/a", "a")
			w.write(".agents/instructions/key", key)
			w.bundle("x", `{"resource":"sub/../../key"}`, "")
		}, "lies outside of the bundle"},
		"an absolute path": {func(w workspace) {
			w.bundle("x", `{"resource":"`+secret+`"}`, "")
		}, "lies outside of the bundle"},
		"a folder that is a link": {func(w workspace) {
			w.bundle("x", `{"resource":"sub/id_rsa"}`, "")
			w.link(at+"sub", filepath.Dir(secret))
		}, "sub/id_rsa: lies outside of the bundle"},
		"a link to a link": {func(w workspace) {
			w.bundle("x", `{}`, "")
			w.link(at+"INSTRUCTIONS.md", "a")
			w.link(at+"a", secret)
		}, "lies outside of the bundle"},
		"a manifest that is a link": {func(w workspace) {
			w.write(at+"INSTRUCTIONS.md", "x")
			w.link(at+"manifest.json", secret)
		}, "manifest.json: leads out of where it may be read"},
		"a bundle that is a link": {func(w workspace) {
			w.write(".agents/instructions/a/manifest.json", `{}`)
			w.link(".agents/instructions/x", filepath.Dir(secret))
		}, "leads out of where it may be read"},
		"a link to the workspace as bundle": {func(w workspace) {
			w.write("manifest.json", `{"resource":".env"}`)
			w.write(".env", key)
			w.link(".agents/instructions/x", "../..")
		}, "is a link to a folder that holds the bundles"},
		"a link to itself": {func(w workspace) {
			w.bundle("x", `{}`, "")
			w.link(at+"INSTRUCTIONS.md", "INSTRUCTIONS.md")
		}, "leads in a circle"},
		"links in a circle": {func(w workspace) {
			w.bundle("x", `{"resource":"a/b"}`, "")
			w.link(at+"a", "c")
			w.link(at+"c", "a")
		}, "leads in a circle"},
		"a bundle in a circle": {func(w workspace) {
			w.link(".agents/instructions/x", "y")
			w.link(".agents/instructions/y", "x")
		}, "leads in a circle"},
		"a link to nothing": {func(w workspace) {
			w.link(".agents/instructions/x", "nothing")
		}, "can't be read: no such file"},
		"a module elsewhere": {func(w workspace) {
			w.bundle("x", `{"module":"../../m.wasm"}`, "")
			w.write(".agents/m.wasm", key)
		}, "../../m.wasm: leads out"},
		"a folder": {func(w workspace) {
			w.bundle("x", `{"resource":"sub"}`, "")
			w.write(at+"sub/a", "a")
		}, "sub: is no regular file"},
		"the bundle itself": {func(w workspace) {
			w.bundle("x", `{"resource":"."}`, "x")
		}, ".: is no regular file"},
		"a pipe": {func(w workspace) {
			w.bundle("x", `{}`, "")
			require.NoError(t, unix.Mkfifo(w.path(at+"INSTRUCTIONS.md"), 0o644))
		}, "INSTRUCTIONS.md: is no regular file"},
		"a pipe for a manifest": {func(w workspace) {
			w.write(at+"INSTRUCTIONS.md", "x")
			require.NoError(t, unix.Mkfifo(w.path(at+"manifest.json"), 0o644))
		}, "manifest.json: is no regular file"},
		"a device": {func(w workspace) {
			w.bundle("x", `{"resource":"/dev/zero"}`, "")
		}, "/dev/zero: lies outside of the bundle"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			tt.make(w)
			r := w.loaded(bundle.LoadOptions{})
			info := infos(r)["x"]
			assert.NotEqual(t, schema.StateReady, info.State)
			assert.Contains(t, info.Reason, tt.want)
			assert.NotContains(t, info.Reason, key)
			_, err := r.Resolve([]string{"x"})
			assert.Error(t, err)
		})
	}
}

func TestP22_a_socket_is_no_text(t *testing.T) {
	w := newWorkspace(t)
	t.Chdir(w.root) // a socket's name has to be short
	w.bundle("x", `{"resource":"s"}`, "")
	l, err := net.Listen("unix", ".agents/instructions/x/s")
	require.NoError(t, err)
	defer l.Close()
	assert.Contains(t, infos(w.loaded(bundle.LoadOptions{}))["x"].Reason, "is no regular file")
}

func TestP22_I5_what_stays_inside_is_fine(t *testing.T) {
	const at = ".agents/instructions/x/"
	tests := map[string]func(workspace){
		"a link inside": func(w workspace) {
			w.bundle("x", `{}`, "")
			w.write(at+"text/rules", "fine")
			w.link(at+"INSTRUCTIONS.md", "text/rules")
		},
		"an absolute link inside": func(w workspace) {
			w.bundle("x", `{}`, "")
			w.write(at+"rules", "fine")
			w.link(at+"INSTRUCTIONS.md", w.path(at+"rules"))
		},
		"a folder link inside": func(w workspace) {
			w.bundle("x", `{"resource":"b/rules"}`, "")
			w.write(at+"a/rules", "fine")
			w.link(at+"b", "a")
		},
		"a name that begins with two dots": func(w workspace) {
			w.bundle("x", `{"resource":"..foo"}`, "")
			w.write(at+"..foo", "fine")
		},
		"there and back": func(w workspace) {
			w.bundle("x", `{"resource":"../x/sub/../rules"}`, "")
			w.write(at+"sub/a", "a")
			w.write(at+"rules", "fine")
		},
		"a manifest that is a link inside": func(w workspace) {
			w.write(at+"m", `{}`)
			w.write(at+"INSTRUCTIONS.md", "fine")
			w.link(at+"manifest.json", "m")
		},
		"a bundle elsewhere in the workspace": func(w workspace) {
			w.write("rules/x/manifest.json", `{}`)
			w.write("rules/x/INSTRUCTIONS.md", "fine")
			w.link(".agents/instructions/x", "../../rules/x")
		},
		"a folder of bundles elsewhere in the workspace": func(w workspace) {
			w.write("config/instructions/x/manifest.json", `{}`)
			w.write("config/instructions/x/INSTRUCTIONS.md", "fine")
			w.link(".agents", w.path("config"))
		},
	}
	for name, create := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			create(w)
			r := w.loaded(bundle.LoadOptions{})
			require.Equal(t, schema.StateReady, infos(r)["x"].State, infos(r)["x"].Reason)
			assert.Equal(t, "fine", text(t, r, "x"))
		})
	}
}

func TestP22_I5_a_workspace_may_be_a_link_and_agents_must_not_lead_out(t *testing.T) {
	w, other := newWorkspace(t), newWorkspace(t)
	other.bundle("x", `{}`, "fine")
	w.link("link", other.root)
	assert.Equal(t, "fine", text(t, load(t, bundle.Options{Roots: []string{w.path("link")}}, bundle.LoadOptions{}), "x"))

	w.link(".agents", other.path(".agents"))
	found := bundle.Discover(t.Context(), bundle.Options{Roots: []string{w.root}})
	assert.Empty(t, found.Bundles)
	require.Len(t, found.Problems, 1)
	assert.Equal(t, "leads out of where it may be read", found.Problems[0].Reason)
	found = bundle.Discover(t.Context(), bundle.Options{Roots: []string{w.root}, TrustRoots: []string{other.root}})
	require.Len(t, found.Bundles, 1, "below a trust root")
	assert.True(t, found.Bundles[0].Trusted)
}

func TestP22_I5_a_pipe_for_a_folder_holds_up_nobody(t *testing.T) {
	w := newWorkspace(t)
	require.NoError(t, unix.Mkfifo(w.path(".agents"), 0o644))
	assert.Len(t, bundle.Discover(t.Context(), bundle.Options{Roots: []string{w.root}}).Problems, 1)
	w = newWorkspace(t)
	require.NoError(t, os.Mkdir(w.path(".agents"), 0o755))
	require.NoError(t, unix.Mkfifo(w.path(".agents/instructions"), 0o644))
	assert.Equal(t, "is no folder", bundle.Discover(t.Context(), bundle.Options{Roots: []string{w.root}}).Problems[0].Reason)
	w = newWorkspace(t)
	w.bundle("a", `{}`, "x")
	require.NoError(t, unix.Mkfifo(w.path(".agents/instructions/b"), 0o644))
	assert.Equal(t, map[string]schema.InjectorState{"a": "ready"}, states(w.loaded(bundle.LoadOptions{})))
}

func TestP22_a_resource_elsewhere_is_read_below_a_trust_root(t *testing.T) {
	w, rules := newWorkspace(t), newWorkspace(t)
	rules.write("b/rules.md", "fine")
	rules.write("bc/rules.md", key)
	w.bundle("abs", `{"resource":"`+rules.path("b/rules.md")+`"}`, "")
	w.bundle("link", `{}`, "")
	w.link(".agents/instructions/link/INSTRUCTIONS.md", rules.path("b/rules.md"))
	w.bundle("beside", `{"resource":"`+rules.path("bc/rules.md")+`"}`, "")
	r := w.loaded(bundle.LoadOptions{ResourceTrust: []string{rules.path("b")}})
	assert.Equal(t, map[string]schema.InjectorState{"abs": "ready", "link": "ready", "beside": "skipped"}, states(r))
	assert.Equal(t, "fine", text(t, r, "abs"))
	assert.Equal(t, "fine", text(t, r, "link"))
}

func TestP22_a_hard_link_warns(t *testing.T) {
	w := newWorkspace(t)
	w.write("rules", "fine")
	w.bundle("x", `{}`, "")
	require.NoError(t, os.Link(w.path("rules"), w.path(".agents/instructions/x/INSTRUCTIONS.md")))
	r := w.loaded(bundle.LoadOptions{})
	assert.Equal(t, "fine", text(t, r, "x"))
	assert.Contains(t, strings.Join(infos(r)["x"].Warnings, "\n"), "INSTRUCTIONS.md: the file has 2 names (hard links)")
}
