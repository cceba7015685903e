package filestore

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/prism-rpc/prism-rpc/schema"
)

// ErrNoHome reports that the environment doesn't say where state is kept.
var ErrNoHome = errors.New("no home folder is set; name the store's folder")

const app = "prism-rpc"

// DefaultDir is the folder of a profile's store: prism-rpc/<profile> below
// $XDG_STATE_HOME where that is set, else below the system's place for a
// program's state. A profile is named as a session is.
func DefaultDir(getenv func(string) string, profile string) (string, error) {
	return defaultDir(runtime.GOOS, getenv, profile)
}

func defaultDir(goos string, getenv func(string) string, profile string) (string, error) {
	if !schema.ValidSessionID(profile) {
		return "", fmt.Errorf("%w: the profile's name", ErrUnsafe)
	}
	home, err := stateHome(goos, getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(home, app, profile), nil
}

// stateHome ignores a relative path, as the XDG specification asks: it would
// put the store into whatever folder the process was started in.
func stateHome(goos string, getenv func(string) string) (string, error) {
	for _, place := range []struct {
		goos, variable, below string
	}{
		{"", "XDG_STATE_HOME", ""},
		{"windows", "LocalAppData", ""},
		{"darwin", "HOME", "Library/Application Support"},
		{"", "HOME", ".local/state"},
	} {
		dir := getenv(place.variable)
		if (place.goos == "" || place.goos == goos) && filepath.IsAbs(dir) {
			return filepath.Join(dir, place.below), nil
		}
	}
	return "", ErrNoHome
}
