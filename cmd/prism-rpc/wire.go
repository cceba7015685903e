package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// openManager makes what cfg describes. The error is a *config.Error, or
// errNoStore.
func openManager(cfg *config.Config, getenv func(string) string, logger *zap.Logger) (*session.Manager, error) {
	back, err := openProviders(cfg)
	if err != nil {
		return nil, err
	}
	registry, fileNames, err := registerInjectors(cfg)
	if err != nil {
		return nil, err
	}
	store, err := openStore(cfg, getenv, logger)
	if err != nil {
		return nil, err
	}
	return session.NewManager(session.Config{
		Provider:        back.chosen,
		Providers:       back.byName,
		NoProvider:      back.missing,
		Model:           cfg.Model,
		Base:            cfg.System,
		Layers:          layers(cfg.Layers),
		Registry:        registry,
		Names:           union(cfg.Names, fileNames),
		Blocks:          cfg.Context.Blocks,
		Redactor:        cfg.Redactor,
		Store:           store,
		Layout:          cfg.Context.Layout,
		InjectorTimeout: time.Duration(cfg.InjectorTimeout),
		Logger:          logger,
	})
}

func layers(from []config.Layer) []assemble.Layer {
	out := make([]assemble.Layer, len(from))
	for i, l := range from {
		out[i] = assemble.Layer{Source: assemble.Source(l.Source), Mode: l.Mode, Text: l.Text}
	}
	return out
}

// union is a and what b has beyond it: an injector that is selected twice
// applies once (P24).
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// registerInjectors registers the configuration's injectors and the files',
// whose names it returns in order.
func registerInjectors(cfg *config.Config) (*inject.Registry, []string, error) {
	registry := &inject.Registry{}
	for i, spec := range cfg.Injectors {
		inj, err := inject.FromSpec(spec)
		if err == nil {
			_, err = registry.Register(inj, schema.OriginConfig)
		}
		if err != nil {
			return nil, nil, cfg.Bad(fmt.Sprintf("injectors[%d]", i), err.Error(), "")
		}
	}
	names, err := registerFiles(cfg, registry)
	return registry, names, err
}

func registerFiles(cfg *config.Config, registry *inject.Registry) ([]string, error) {
	files := make([]inject.NamedFile, len(cfg.InjectorFiles))
	for i, path := range cfg.InjectorFiles {
		data, err := readFile(path, schema.MaxInjectorBytes)
		if err != nil {
			return nil, cfg.Bad("injectorFile", "can't be read: "+config.Reason(err), "check the path that --injector-file gives")
		}
		files[i] = inject.NamedFile{Path: path, Data: data}
	}
	made, err := inject.FileInjectors(files)
	if err != nil {
		return nil, cfg.Bad("injectorFile", err.Error(), "")
	}
	names := make([]string, len(made))
	for i, inj := range made {
		if _, err := registry.Register(inj, schema.OriginFile, inject.Info{Path: files[i].Path}); err != nil {
			return nil, cfg.Bad("injectorFile", err.Error(), "")
		}
		names[i] = inj.Name()
	}
	return names, nil
}

// readFile reads one byte more than max at most, which whoever knows the limit
// refuses.
func readFile(path string, max int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max+1))
}

// openStore opens the store; the error wraps errNoStore.
func openStore(cfg *config.Config, getenv func(string) string, logger *zap.Logger) (session.Store, error) {
	if cfg.Store == "memory" {
		return memstore.New(), nil
	}
	dir := cfg.StoreDir
	if dir == "" {
		var err error
		if dir, err = filestore.DefaultDir(getenv, cfg.Profile); err != nil {
			return nil, noStore(err)
		}
	}
	store, err := filestore.Open(dir, filestore.Options{OnRepair: func(id string, dropped int64, kept string) {
		logger.Warn("the torn end of a session's log was cut off", zap.String("kind", "store_repaired"),
			zap.String("sessionId", id), zap.Int64("bytes", dropped), zap.String("kept", kept))
	}})
	if err != nil {
		return nil, noStore(err)
	}
	return store, nil
}

func noStore(err error) error {
	return fmt.Errorf("%w: %w (--store-dir names another folder, --store=memory keeps nothing)", errNoStore, err)
}

// closeWait bounds how long the sessions may take to end; what is left then is
// as it would be after a crash, which the store stands.
const closeWait = 3 * time.Second

func closeManager(m *session.Manager) error {
	done := make(chan error, 1)
	go func() { done <- m.Close() }() // read below, or ends with the process
	select {
	case err := <-done:
		return err
	case <-time.After(closeWait):
		return errors.New("sessions did not end in time")
	}
}
