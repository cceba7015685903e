package session_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// listed has a base list of a configuration file that names a bundle which is
// trusted and one which is not.
func listed(t *testing.T) *session.Manager {
	r := &inject.Registry{}
	rule := func(name string, distrusted bool) inject.Entry {
		return inject.Entry{Name: name, Injector: inject.Static(name, inject.Contribution{Instructions: "text of " + name}), Info: inject.Info{Distrusted: distrusted}}
	}
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{rule("near", false), rule("far", true)}))
	m, err := session.NewManager(session.Config{
		Provider: says("ok"), Store: memstore.New(), Registry: r, Names: []string{"near", "far"}, NamesFromFile: true,
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	return m
}

func turnOf(t *testing.T, m *session.Manager, id string, names []string) error {
	t.Helper()
	run, err := m.Begin(t.Context(), session.Start{SessionID: id, Create: true, Input: input("hi"), RunOptions: session.RunOptions{Names: names}})
	if err != nil {
		return err
	}
	defer run.Settle()
	_, err = run.Wait()
	return err
}

func TestP5_a_configured_list_does_not_reach_a_bundle_that_is_distrusted(t *testing.T) {
	m := listed(t)
	unknown, ok := errors.AsType[*inject.UnknownError](turnOf(t, m, "a", nil))
	require.True(t, ok)
	assert.Equal(t, "far", unknown.Name)
	assert.True(t, unknown.Untrusted)
	assert.NoError(t, turnOf(t, m, "a", []string{"far"}), "the turn spoke it")

	_, err := m.Create("b", schema.SessionSettings{InstructionInjectors: []string{"far"}}, nil)
	require.NoError(t, err)
	assert.NoError(t, turnOf(t, m, "b", nil), "the session's own list was spoken too")
}

func TestP5_a_preview_shows_what_a_configured_list_does_not_reach(t *testing.T) {
	reasons := map[string]schema.Reason{}
	for _, l := range preview(t, listed(t), "hi", session.RunOptions{}).Layers {
		reasons[l.Name] = l.Reason
	}
	assert.Equal(t, schema.ReasonApplied, reasons["near"])
	assert.Equal(t, schema.ReasonUntrusted, reasons["far"])
}
