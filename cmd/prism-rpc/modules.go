package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/inject/wasm"
)

// moduleLoader is what runs the code that bundles name (P20); nil where nothing
// does.
func (p *process) moduleLoader() bundle.ModuleLoader {
	switch p.cfg.ModuleLoader {
	case "wasm":
		return wasm.New(wasm.Options{CacheDir: moduleCache(), Timeout: time.Duration(p.cfg.InjectorTimeout), Logger: p.logger})
	case "client":
		return &p.client
	}
	return nil
}

// moduleCache is where compiled modules are kept; empty where the user has no
// folder for that.
func moduleCache() string {
	dir := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return ""
		}
	}
	return filepath.Join(dir, "prism-rpc", "wasm")
}
