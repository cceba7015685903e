package config

import (
	"os"
	"runtime"
)

// Env is the process's environment, which Load reads and takes secrets out of.
type Env struct {
	Lookup func(name string) (string, bool)
	Unset  func(name string) error
}

// ProcessEnv is the environment of this process.
func ProcessEnv() Env { return Env{Lookup: os.LookupEnv, Unset: os.Unsetenv} }

func (e Env) home() string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	home, _ := e.Lookup(name)
	return home
}
