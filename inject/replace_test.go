package inject_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

func entry(name, text string) inject.Entry {
	return inject.Entry{Name: name, Injector: inject.Static(name, say(text))}
}

func broken(name, why string) inject.Entry {
	return inject.Entry{Name: name, State: schema.StateError, Reason: why}
}

// states maps "origin name" to a state.
func states(r *inject.Registry) map[string]schema.InjectorState {
	out := map[string]schema.InjectorState{}
	for _, info := range r.List(nil) {
		out[string(info.Origin)+" "+info.Name] = info.State
	}
	return out
}

func TestP5_replacing_swaps_all_of_an_origin(t *testing.T) {
	var r inject.Registry
	_, err := r.Register(inject.Static("own", say("a")), schema.OriginConfig)
	require.NoError(t, err)
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{entry("a", "1"), entry("b", "1"), broken("c", "no such file")}))
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{entry("b", "2"), entry("d", "2")}))
	assert.Equal(t, map[string]schema.InjectorState{"config own": "ready", "bundle b": "ready", "bundle d": "ready"}, states(&r))

	selected, err := r.Resolve([]string{"b"})
	require.NoError(t, err)
	made, err := inject.Apply(t.Context(), selected, inject.Context{}, nil, nil, inject.Options{})
	require.NoError(t, err)
	require.Len(t, made.Applied(), 1)
	assert.Equal(t, "2", made.Applied()[0].Instructions)
}

func TestP3_P21_what_is_broken_is_listed_and_resolves_to_nothing(t *testing.T) {
	var r inject.Registry
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{entry("good", "1"), broken("bad", "the file is \u202e not UTF-8")}))
	list := r.List(nil)
	require.Len(t, list, 2)
	assert.Equal(t, schema.InjectorInfo{
		Name: "bad", Origin: "bundle", When: "every_turn", State: "error", Reason: `the file is \u202e not UTF-8`, Warnings: []string{}}, list[0])
	_, err := r.Resolve([]string{"good", "bad"})
	unknown, ok := errors.AsType[*inject.UnknownError](err)
	require.True(t, ok)
	assert.Equal(t, "the file is \u202e not UTF-8", unknown.Reason)
	assert.Equal(t, []string{"good"}, unknown.Known)
}

func TestP5_a_broken_bundle_takes_no_name(t *testing.T) {
	var r inject.Registry
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{broken("x", "broken")}))
	_, err := r.Register(inject.Static("x", say("built in")), schema.OriginBuiltin)
	require.NoError(t, err)
	_, err = r.Resolve([]string{"x"})
	assert.NoError(t, err)
}

func TestP5_a_bundle_does_not_take_over_a_name_that_was_freed(t *testing.T) {
	bundle := []inject.Entry{entry("x", "of the workspace")}
	tests := map[string]func(*testing.T, *inject.Registry){
		"when it is scanned again": func(t *testing.T, r *inject.Registry) {
			require.NoError(t, r.Replace(schema.OriginBundle, bundle))
		},
		"when it goes and comes back": func(t *testing.T, r *inject.Registry) {
			require.NoError(t, r.Replace(schema.OriginBundle, nil))
			require.NoError(t, r.Replace(schema.OriginBundle, bundle))
		},
		"when it is scanned before": func(t *testing.T, r *inject.Registry) {},
	}
	for name, again := range tests {
		t.Run(name, func(t *testing.T) {
			var r inject.Registry
			_, err := r.Register(inject.Static("x", say("the user's")), schema.OriginClient)
			require.NoError(t, err)
			require.NoError(t, r.Replace(schema.OriginBundle, bundle))
			require.True(t, r.Unregister("x", schema.OriginClient))
			again(t, &r)
			_, err = r.Resolve([]string{"x"})
			require.Error(t, err)
			assert.Equal(t, schema.StateShadowed, states(&r)["bundle x"])
			r.Reload()
			_, err = r.Resolve([]string{"x"})
			assert.NoError(t, err)
		})
	}
}

func TestP5_a_configuration_file_does_not_reach_what_is_distrusted(t *testing.T) {
	var r inject.Registry
	far, near := entry("far", "1"), entry("near", "1")
	far.Info.Distrusted = true
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{far, near}))
	_, err := r.ResolveListed([]string{"near"})
	require.NoError(t, err)
	_, err = r.Resolve([]string{"far"})
	require.NoError(t, err, "the user or the client spoke it")
	_, err = r.ResolveListed([]string{"far"})
	unknown, ok := errors.AsType[*inject.UnknownError](err)
	require.True(t, ok)
	assert.True(t, unknown.Untrusted)
	assert.Contains(t, unknown.Reason, "--trust-root")
	assert.Equal(t, []string{"near"}, unknown.Known)
}

func TestP5_P4_a_list_of_a_file_is_not_refreshed_to_what_is_distrusted(t *testing.T) {
	var r inject.Registry
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{entry("x", "trusted")}))
	selected, err := r.ResolveListed([]string{"x"})
	require.NoError(t, err)
	other := entry("x", "from elsewhere")
	other.Info.Distrusted = true
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{other}))
	assert.Equal(t, selected, r.Refresh(selected))
}

func TestP3_an_injector_that_is_not_ready_yet_says_why(t *testing.T) {
	var r inject.Registry
	why := errors.New("the client has not said that it can be asked")
	lazy := entry("x", "1")
	lazy.Info.Ready = func() error { return why }
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{lazy}))
	assert.Equal(t, schema.StateSkipped, states(&r)["bundle x"])
	_, err := r.Resolve([]string{"x"})
	unknown, ok := errors.AsType[*inject.UnknownError](err)
	require.True(t, ok)
	assert.Equal(t, why.Error(), unknown.Reason)
	why = nil
	_, err = r.Resolve([]string{"x"})
	assert.NoError(t, err)
}

func TestP5_replacing_holds_the_bound_or_changes_nothing(t *testing.T) {
	var r inject.Registry
	for i := range 10 {
		_, err := r.Register(inject.Static(fmt.Sprint("own", i), say("a")), schema.OriginConfig)
		require.NoError(t, err)
	}
	var many []inject.Entry
	for i := range inject.MaxInjectors - 9 {
		many = append(many, broken(fmt.Sprint("b", i), "broken"))
	}
	require.NoError(t, r.Replace(schema.OriginBundle, []inject.Entry{entry("x", "1")}))
	require.ErrorIs(t, r.Replace(schema.OriginBundle, many), inject.ErrFull)
	require.ErrorIs(t, r.Replace(schema.OriginBundle, []inject.Entry{{Injector: inject.Static("\x00", say("a"))}}), inject.ErrName)
	assert.Equal(t, schema.StateReady, states(&r)["bundle x"])
	require.NoError(t, r.Replace(schema.OriginBundle, slices.Clone(many[1:])))
}
