package filestore

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDefaultDir(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("the paths are Unix's")
	}
	for _, c := range []struct {
		claim, goos, profile string
		env                  map[string]string
		want                 string
		err                  error
	}{
		{"XDG_STATE_HOME first", "linux", "default", map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/prism-rpc/default", nil},
		{"else below the home folder", "linux", "work", map[string]string{"HOME": "/h"}, "/h/.local/state/prism-rpc/work", nil},
		{"a relative XDG_STATE_HOME is ignored", "linux", "default", map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/prism-rpc/default", nil},
		{"macOS has a place of its own", "darwin", "default", map[string]string{"HOME": "/h"}, "/h/Library/Application Support/prism-rpc/default", nil},
		{"where XDG_STATE_HOME still counts", "darwin", "default", map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/prism-rpc/default", nil},
		{"so has Windows", "windows", "default", map[string]string{"LocalAppData": "/l", "HOME": "/h"}, "/l/prism-rpc/default", nil},
		{"LocalAppData is Windows' alone", "linux", "default", map[string]string{"LocalAppData": "/l", "HOME": "/h"}, "/h/.local/state/prism-rpc/default", nil},
		{"no home at all", "linux", "default", nil, "", ErrNoHome},
		{"a profile can't climb", "linux", "../x", map[string]string{"HOME": "/h"}, "", ErrUnsafe},
		{"a profile has a name", "linux", "", map[string]string{"HOME": "/h"}, "", ErrUnsafe},
	} {
		t.Run(c.claim, func(t *testing.T) {
			got, err := defaultDir(c.goos, func(key string) string { return c.env[key] }, c.profile)
			require.ErrorIs(t, err, c.err)
			assert.Equal(t, c.want, got)
		})
	}
}
