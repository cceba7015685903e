package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// openManager makes what the configuration describes. The error is a
// *config.Error, or errNoStore.
func (p *process) openManager(ctx context.Context, getenv func(string) string) error {
	back, err := p.backEnds(ctx)
	if err != nil {
		return err
	}
	return p.manage(ctx, getenv, back)
}

// manage is openManager with providers that stand.
func (p *process) manage(ctx context.Context, getenv func(string) string, back *backEnds) error {
	cfg := p.cfg
	registry, fileNames, err := registerInjectors(cfg)
	if err != nil {
		return err
	}
	if err := p.discover(ctx, registry); err != nil {
		return cfg.Bad("discover", err.Error(), "")
	}
	if p.store, err = p.openStore(getenv); err != nil {
		return err
	}
	m, err := session.NewManager(session.Config{
		Provider:         back.chosen,
		Providers:        back.byName,
		NoProvider:       back.missing,
		Model:            cfg.Model,
		Base:             cfg.System,
		Layers:           layers(cfg.Layers),
		Registry:         registry,
		Names:            union(cfg.Names, fileNames),
		NamesFromFile:    cfg.NamesFromFile,
		Blocks:           cfg.Context.Blocks,
		Ambient:          ambientOf(cfg),
		Reminders:        p.reminders(),
		Redactor:         cfg.Redactor,
		Store:            p.store,
		Layout:           cfg.Context.Layout,
		MaxContextTokens: cfg.Context.MaxContextTokens,
		CompactAt:        cfg.Context.CompactAt,
		InjectorTimeout:  time.Duration(cfg.InjectorTimeout),
		Logger:           p.logger,
	})
	p.running.Store(m)
	return err
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
			return nil, nil, badInjector(cfg, i, err)
		}
	}
	names, err := registerFiles(cfg, registry)
	return registry, names, err
}

// badInjector names the field that is wrong, where the error does.
func badInjector(cfg *config.Config, i int, err error) error {
	key := fmt.Sprintf("injectors[%d]", i)
	if bad, ok := errors.AsType[*schema.ParamsError](schema.Under(key, err)); ok {
		return cfg.Bad(bad.Errors[0].Field, bad.Errors[0].Message, "")
	}
	return cfg.Bad(key, err.Error(), "")
}

func registerFiles(cfg *config.Config, registry *inject.Registry) ([]string, error) {
	files := make([]inject.NamedFile, len(cfg.InjectorFiles))
	for i, path := range cfg.InjectorFiles {
		data, err := config.ReadFile(path, schema.MaxInjectorBytes)
		if err != nil {
			return nil, cfg.Bad("injectorFile", path+" can't be read: "+config.Reason(err), "check the path that --injector-file gives")
		}
		files[i] = inject.NamedFile{Path: path, Data: data}
	}
	made, err := inject.FileInjectors(files)
	if err != nil {
		return nil, cfg.Bad("injectorFile", err.Error(), "")
	}
	names := make([]string, len(made))
	for i, inj := range made {
		if _, err := registry.Register(inj, schema.OriginFile, inject.Info{Path: files[i].Path, Warnings: inject.Invisible(files[i].Data)}); err != nil {
			return nil, cfg.Bad("injectorFile", err.Error(), "")
		}
		names[i] = inj.Name()
		if cfg.Redactor.Contains(names[i]) {
			return nil, cfg.Bad("injectorFile", "a file's name holds a known secret", "names are shown as they are: rename the file")
		}
	}
	return names, nil
}

// openStore opens the store; the error wraps errNoStore.
func (p *process) openStore(getenv func(string) string) (session.Store, error) {
	cfg := p.cfg
	if cfg.Store == "memory" {
		return memstore.New(), nil
	}
	dir, err := storeDir(cfg, getenv)
	if err != nil {
		return nil, err
	}
	store, err := filestore.Open(dir, filestore.Options{OnRepair: p.repaired})
	if err != nil {
		return nil, noStore(err)
	}
	if store.Writable() != nil {
		p.warn(schema.Notice{Kind: schema.NoticeStoreReadonly, Message: "the session store can be read, but not written: no turn can be kept (--store-dir names another folder, --store=memory keeps nothing)"})
	}
	return store, nil
}

// storeDir is the folder of the file store; the error wraps errNoStore.
func storeDir(cfg *config.Config, getenv func(string) string) (string, error) {
	if cfg.StoreDir != "" {
		return cfg.StoreDir, nil
	}
	dir, err := filestore.DefaultDir(getenv, cfg.Profile)
	if err != nil {
		return "", noStore(err)
	}
	return dir, nil
}

// repaired tells of a session's log that lost its torn end.
func (p *process) repaired(id string, dropped int64, kept string) {
	p.warn(schema.Notice{
		Kind: schema.NoticeStoreRepaired, SessionID: id, Message: "the torn end of a session's log was cut off",
		Data: map[string]any{"bytes": dropped, "kept": kept},
	})
}

func noStore(err error) error {
	return fmt.Errorf("%w: %w (--store-dir names another folder, --store=memory keeps nothing)", errNoStore, err)
}

// closeWait bounds how long the sessions may take to end; what is left then is
// as it would be after a crash, which the store stands.
const closeWait = 3 * time.Second

func closeManager(m *session.Manager) error {
	done := make(chan error, 1)
	go func() { // read below, or ends with the process
		defer recovered("closing the sessions")
		done <- m.Close()
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(closeWait):
		return errors.New("sessions did not end in time")
	}
}
