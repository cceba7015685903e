package config

import (
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestP18_what_is_found_and_where_is_given_by_flags_or_file(t *testing.T) {
	c, err := load(t, "discover: true\nwatch: true\nworkspace: sub\ntrustRoot: [/t]\ndiscoverKinds: [instructions, tool]\nmoduleLoader: wasm\n", nil)
	require.NoError(t, err)
	assert.True(t, c.Discover)
	assert.True(t, c.Watch)
	assert.True(t, filepath.IsAbs(c.Workspace[0]), "relative to the file")
	assert.Equal(t, []string{"instructions", "tool"}, c.KindsToFind())
	assert.Equal(t, "wasm", c.ModuleLoader)

	c, err = load(t, "discover: true\n", nil, "--discover=false", "--watch", "--workspace", "a", "--workspace", "b", "--discover-kinds", "skill,instructions,skill")
	require.NoError(t, err)
	assert.False(t, c.Discover)
	assert.True(t, c.Watch)
	assert.Equal(t, Strings{"a", "b"}, c.Workspace)
	assert.Equal(t, []string{"skill", "instructions"}, c.KindsToFind())

	c, err = load(t, "", nil)
	require.NoError(t, err)
	assert.False(t, c.Discover)
	assert.Equal(t, []string{"instructions"}, c.KindsToFind())
	assert.Equal(t, "none", c.ModuleLoader)
}

func TestP18_words_that_mean_nothing_are_refused(t *testing.T) {
	for _, args := range [][]string{{"--discover-kinds", "skills"}, {"--discover-kinds", "instructions,"}, {"--module-loader", "js"}, {"--discover=yes"}} {
		f := &Flags{}
		fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
		f.Register(fs)
		assert.Error(t, fs.Parse(args), "%v", args)
	}
	_, err := load(t, "discover: \"true\"\n", nil)
	assert.Error(t, err)
	_, err = load(t, "discoverKinds: [rules]\n", nil)
	assert.Error(t, err)
}

func TestP5_who_gave_the_base_list_is_told_apart(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		args []string
		want bool
	}{
		"a list in the file":           {"instructionInjectors: [a]\n", nil, true},
		"the flag's key in the file":   {"instruction: a\n", nil, true},
		"a flag":                       {"", []string{"--instruction", "a"}, false},
		"a flag instead of the file's": {"instructionInjectors: [b]\n", []string{"--instruction", "a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, tt.file, nil, tt.args...)
			require.NoError(t, err)
			assert.Equal(t, []string{"a"}, c.Names)
			assert.Equal(t, tt.want, c.NamesFromFile)
		})
	}
}
