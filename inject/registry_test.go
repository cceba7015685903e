package inject_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// allOrigins has the highest rank first (P5).
var allOrigins = []schema.Origin{"host", "client", "file", "config", "bundle", "builtin"}

// add registers a static injector whose text is its origin.
func add(t *testing.T, r *inject.Registry, name string, origin schema.Origin) (replaced bool) {
	t.Helper()
	replaced, err := r.Register(inject.Static(name, say(string(origin))), origin)
	require.NoError(t, err)
	return replaced
}

// standing is the origin of the injector that name stands for, "" for none.
func standing(r *inject.Registry, name string) schema.Origin {
	resolved, err := r.Resolve([]string{name})
	if err != nil {
		return ""
	}
	return resolved[0].Origin
}

func TestP5_rank_decides_between_origins_whatever_the_order(t *testing.T) {
	for i, high := range allOrigins {
		for _, low := range allOrigins[i+1:] {
			for _, order := range [][]schema.Origin{{high, low}, {low, high}} {
				t.Run(fmt.Sprint(order), func(t *testing.T) {
					var r inject.Registry
					for _, origin := range order {
						assert.False(t, add(t, &r, "x", origin))
					}
					assert.Equal(t, high, standing(&r, "x"))
					list := r.List(nil)
					require.Len(t, list, 2)
					assert.Equal(t, []schema.Origin{high, low}, []schema.Origin{list[0].Origin, list[1].Origin})
					assert.Equal(t, []schema.InjectorState{"ready", "shadowed"}, []schema.InjectorState{list[0].State, list[1].State})
				})
			}
		}
	}
}

func TestP5_the_last_write_wins_within_an_origin(t *testing.T) {
	var r inject.Registry
	first, second := inject.Static("x", say("1")), inject.Static("x", say("2"))
	replaced, err := r.Register(first, schema.OriginClient)
	require.NoError(t, err)
	assert.False(t, replaced)
	replaced, err = r.Register(second, schema.OriginClient)
	require.NoError(t, err)
	assert.True(t, replaced)
	got, ok := r.Get("x")
	assert.True(t, ok)
	assert.Same(t, second, got)
	assert.Len(t, r.List(nil), 1)
}

func TestP5_a_shadowed_injector_stays_so_until_a_reload(t *testing.T) {
	var r inject.Registry
	add(t, &r, "x", schema.OriginBundle)
	add(t, &r, "x", schema.OriginClient)
	assert.True(t, r.Unregister("x", schema.OriginClient))

	_, err := r.Resolve([]string{"x"})
	var unknown *inject.UnknownError
	require.ErrorAs(t, err, &unknown)
	assert.NotEmpty(t, unknown.Reason)
	assert.NotContains(t, unknown.Known, "x")
	_, ok := r.Get("x")
	assert.False(t, ok)
	assert.Equal(t, schema.StateShadowed, r.List(nil)[0].State)

	r.Reload()
	assert.Equal(t, schema.OriginBundle, standing(&r, "x"))
}

func TestP5_a_name_comes_back_to_whoever_registers_it_again(t *testing.T) {
	var r inject.Registry
	add(t, &r, "x", schema.OriginBundle)
	add(t, &r, "x", schema.OriginClient)
	r.Unregister("x", schema.OriginClient)
	add(t, &r, "x", schema.OriginClient)
	assert.Equal(t, schema.OriginClient, standing(&r, "x"))
}

func TestP5_unregistering_makes_the_name_unknown_again(t *testing.T) {
	var r inject.Registry
	assert.False(t, r.Unregister("x", schema.OriginClient))
	add(t, &r, "x", schema.OriginClient)
	assert.False(t, r.Unregister("x", schema.OriginConfig), "another origin's name is not the caller's")
	assert.True(t, r.Unregister("x", schema.OriginClient))
	assert.Empty(t, standing(&r, "x"))
	assert.Empty(t, r.List(nil))
}

func TestP6_the_list_is_sorted_by_bytes_then_by_rank(t *testing.T) {
	var r inject.Registry
	for _, name := range []string{"é", "b", "a-2", "B", "a", "日本", "a b"} {
		add(t, &r, name, schema.OriginConfig)
	}
	add(t, &r, "a", schema.OriginBuiltin)
	add(t, &r, "a", schema.OriginHost)
	var got []string
	for _, info := range r.List(nil) {
		got = append(got, info.Name+"/"+string(info.Origin))
	}
	assert.Equal(t, []string{"B/config", "a/host", "a/config", "a/builtin", "a b/config", "a-2/config", "b/config", "é/config", "日本/config"}, got)
}

func TestP3_registering_refuses(t *testing.T) {
	var r inject.Registry
	tests := map[string]struct {
		injector inject.Injector
		origin   schema.Origin
		want     error
	}{
		"no injector":           {nil, schema.OriginHost, inject.ErrNil},
		"an empty name":         {inject.Static("", say("x")), schema.OriginHost, inject.ErrName},
		"the name false":        {inject.Static("false", say("x")), schema.OriginHost, inject.ErrName},
		"blank ends":            {inject.Static(" a", say("x")), schema.OriginHost, inject.ErrName},
		"a name over 128 bytes": {inject.Static(strings.Repeat("a", 129), say("x")), schema.OriginHost, inject.ErrName},
		"a name that turns":     {inject.Static("a\u202eb", say("x")), schema.OriginHost, inject.ErrName},
		"an unknown origin":     {inject.Static("a", say("x")), "nobody", inject.ErrOrigin},
		"a bad static timing":   {inject.Static("a", inject.Contribution{Instructions: "x", When: "never"}), schema.OriginHost, inject.ErrWhen},
		"a bad static text":     {inject.Static("a", say("\xff")), schema.OriginHost, inject.ErrNotUTF8},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := r.Register(tt.injector, tt.origin)
			assert.ErrorIs(t, err, tt.want)
		})
	}
	assert.Empty(t, r.List(nil))
}

func TestP3_a_registry_holds_a_thousand(t *testing.T) {
	var r inject.Registry
	for i := range inject.MaxInjectors - 1 {
		add(t, &r, fmt.Sprint("n", i), schema.OriginClient)
	}
	add(t, &r, "n0", schema.OriginConfig)
	_, err := r.Register(inject.Static("one more", say("x")), schema.OriginClient)
	require.ErrorIs(t, err, inject.ErrFull)
	assert.True(t, add(t, &r, "n0", schema.OriginClient), "replacing one takes no room")
	r.Unregister("n1", schema.OriginClient)
	add(t, &r, "one more", schema.OriginClient)
}

func TestP3_the_list_describes_without_the_text(t *testing.T) {
	var r inject.Registry
	spec, err := inject.FromSpec(schema.InjectorSpec{
		Name: "spec", Description: "says \u202eit", When: "first_turn",
		Instructions: "Be brief.", ContextBlocks: []schema.ContextBlock{textBlock("Repo", "A monorepo.")},
	})
	require.NoError(t, err)
	_, err = r.Register(spec, schema.OriginConfig, inject.Info{Path: "c.yaml"})
	require.NoError(t, err)
	made := inject.Func("made", func(context.Context, inject.Context) (inject.Contribution, error) { return say("x"), nil })
	_, err = r.Register(made, schema.OriginHost, inject.Info{Description: "made anew"})
	require.NoError(t, err)

	text := "Be brief.Repo:\nA monorepo."
	assert.Equal(t, []schema.InjectorInfo{
		{Name: "made", Description: "made anew", Origin: "host", When: "every_turn", State: "ready", Warnings: []string{}},
		{Name: "spec", Description: `says \u202eit`, Origin: "config", When: "first_turn", State: "ready", Path: "c.yaml",
			SHA256: hash(text), Bytes: len(text), Warnings: []string{}},
	}, r.List(nil))
}

func TestP3_a_name_that_stands_for_nothing_fails_the_whole_list(t *testing.T) {
	var r inject.Registry
	for _, name := range []string{"json-always", "project", "b"} {
		add(t, &r, name, schema.OriginConfig)
	}
	resolved, err := r.Resolve([]string{"b", "json-alway", "nothing"})
	assert.Empty(t, resolved)
	var unknown *inject.UnknownError
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, inject.UnknownError{
		Name: "json-alway", Known: []string{"b", "json-always", "project"}, Suggestion: "json-always",
	}, *unknown)
	assert.Equal(t, "Unknown instruction injector: json-alway", err.Error())
}

func TestP3_the_error_names_what_was_asked_for(t *testing.T) {
	var r inject.Registry
	for _, name := range []string{"", "a\x1b[31m\u202eb", strings.Repeat("é", 1000)} {
		_, err := r.Resolve([]string{name})
		var unknown *inject.UnknownError
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, name, unknown.Name, "nothing is cut or escaped before secrets are taken out")
		assert.EqualError(t, err, "Unknown instruction injector: "+name)
	}
}

func TestP3_known_names_are_bounded_and_the_suggestion_comes_from_all(t *testing.T) {
	var r inject.Registry
	for i := range 60 {
		add(t, &r, fmt.Sprintf("n%02d", i), schema.OriginConfig)
	}
	add(t, &r, "zebra", schema.OriginConfig)
	_, err := r.Resolve([]string{"zebro"})
	var unknown *inject.UnknownError
	require.ErrorAs(t, err, &unknown)
	assert.Len(t, unknown.Known, schema.MaxKnownNames)
	assert.True(t, slices.IsSorted(unknown.Known))
	assert.Equal(t, "zebra", unknown.Suggestion)
}

func TestP3_suggestions(t *testing.T) {
	var r inject.Registry
	for _, name := range []string{"json-always", "JSON", "project", "日本語", "rule-b", "rule-a"} {
		add(t, &r, name, schema.OriginConfig)
	}
	for asked, want := range map[string]string{
		"Json":                       "JSON",
		"jsonalways":                 "json-always",
		"projekt":                    "project",
		"日本":                         "",
		"日本人":                        "日本語",
		"rule-x":                     "rule-a",
		"x":                          "",
		"":                           "",
		"something-else":             "",
		strings.Repeat("json", 1000): "",
	} {
		_, err := r.Resolve([]string{asked})
		var unknown *inject.UnknownError
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, want, unknown.Suggestion, "for %q", asked)
	}
}

func TestP2_names_keep_their_order_and_none_is_repeated(t *testing.T) {
	var r inject.Registry
	for _, name := range []string{"a", "b", "c"} {
		add(t, &r, name, schema.OriginConfig)
	}
	resolved, err := r.Resolve([]string{"c", "a", "b"})
	require.NoError(t, err)
	assert.Equal(t, []string{"c", "a", "b"}, []string{resolved[0].Name, resolved[1].Name, resolved[2].Name})

	resolved, err = r.Resolve([]string{"a", "b", "a"})
	assert.ErrorIs(t, err, inject.ErrRepeated)
	assert.Empty(t, resolved)

	resolved, err = r.Resolve(nil)
	require.NoError(t, err)
	assert.Empty(t, resolved)
}

func TestP4_refreshing_takes_the_newest_version_or_keeps_the_old(t *testing.T) {
	var r inject.Registry
	for _, name := range []string{"replaced", "gone", "outranked", "fallen", "same"} {
		add(t, &r, name, schema.OriginClient)
	}
	add(t, &r, "fallen", schema.OriginBundle)
	resolved, err := r.Resolve([]string{"replaced", "gone", "outranked", "fallen", "same"})
	require.NoError(t, err)
	resolved[0].Base = true
	before := slices.Clone(resolved)

	newer := inject.Static("replaced", say("newer"))
	_, err = r.Register(newer, schema.OriginClient)
	require.NoError(t, err)
	r.Unregister("gone", schema.OriginClient)
	add(t, &r, "outranked", schema.OriginHost)
	r.Unregister("fallen", schema.OriginClient)
	r.Reload()
	require.Equal(t, schema.OriginBundle, standing(&r, "fallen"))

	got := r.Refresh(resolved)
	assert.Equal(t, before, resolved, "its argument stays")
	assert.Same(t, newer, got[0].Injector)
	assert.True(t, got[0].Base)
	assert.Equal(t, before[1], got[1])
	assert.Equal(t, schema.OriginHost, got[2].Origin)
	assert.Equal(t, before[3], got[3], "a repository does not take a client's name over")
	assert.Equal(t, before[4], got[4])
}

func TestP4_a_hosts_own_value_is_not_refreshed(t *testing.T) {
	var r inject.Registry
	add(t, &r, "x", schema.OriginHost)
	own := chosen(inject.Static("x", say("own")))
	assert.Equal(t, own, r.Refresh(own))
}

func TestP1_two_turns_at_once_never_see_each_others_selection(t *testing.T) {
	var r inject.Registry
	for _, name := range []string{"a", "b"} {
		_, err := r.Register(inject.Static(name, say(name)), schema.OriginConfig)
		require.NoError(t, err)
	}
	var turns sync.WaitGroup
	for _, own := range []string{"a", "b", "", "register"} {
		turns.Go(func() {
			for i := range 1000 {
				switch own {
				case "register":
					name := fmt.Sprint("other", i%7)
					_, err := r.Register(inject.Static(name, say(name)), schema.OriginClient)
					assert.NoError(t, err)
					r.Unregister(name, schema.OriginClient)
					r.Reload()
					r.List(nil)
				default:
					assert.Equal(t, own, turn(t, &r, own))
				}
			}
		})
	}
	turns.Wait()
}

// turn is what a turn injects that selects one name, or none.
func turn(t *testing.T, r *inject.Registry, name string) string {
	var selection []string
	if name != "" {
		selection = append(selection, name)
	}
	resolved, err := r.Resolve(selection)
	assert.NoError(t, err)
	applied, _, err := evaluate(context.Background(), r.Refresh(resolved), inject.Context{}, nil, nil, inject.Options{})
	assert.NoError(t, err)
	text := ""
	for _, a := range applied {
		text += a.Instructions
	}
	return text
}

func FuzzRegistryRank(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5})
	f.Add([]byte{5, 4, 3, 2, 1, 0})
	f.Add([]byte{4, 1, 129, 4, 128, 0, 255})
	f.Add([]byte{3, 3, 131, 131, 64, 192})
	// A byte registers an origin under one of two names, or unregisters it.
	f.Fuzz(func(t *testing.T, steps []byte) {
		var r inject.Registry
		held := map[string]map[schema.Origin]bool{"a": {}, "b": {}}
		for _, step := range steps {
			name, origin := string('a'+rune(step>>6&1)), allOrigins[int(step&63)%len(allOrigins)]
			if step < 128 {
				assert.Equal(t, held[name][origin], add(t, &r, name, origin))
				held[name][origin] = true
			} else {
				assert.Equal(t, held[name][origin], r.Unregister(name, origin))
				delete(held[name], origin)
			}
			for name, origins := range held {
				if got := standing(&r, name); got != "" {
					assert.Equal(t, highest(origins), got, "only the highest of a name ever stands")
				}
			}
		}
		r.Reload()
		count := 0
		for name, origins := range held {
			assert.Equal(t, highest(origins), standing(&r, name))
			count += len(origins)
		}
		list := r.List(nil)
		assert.Len(t, list, count)
		assert.True(t, slices.IsSortedFunc(list, func(a, b schema.InjectorInfo) int {
			return strings.Compare(a.Name, b.Name)*10 + slices.Index(allOrigins, a.Origin) - slices.Index(allOrigins, b.Origin)
		}))
	})
}

func highest(origins map[schema.Origin]bool) schema.Origin {
	for _, o := range allOrigins {
		if origins[o] {
			return o
		}
	}
	return ""
}
