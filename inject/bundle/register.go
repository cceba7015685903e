package bundle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// LoadOptions say what bundles may do. The zero value lets them read what is
// their own, and runs no code.
type LoadOptions struct {
	// ModuleLoader runs the code that bundles name. Nil: they are listed as
	// skipped. One that has a method Ready() error is asked by it whether it can
	// load at present.
	ModuleLoader ModuleLoader

	ResourceTrust []string // folders below which a resource may be read that is not in its bundle

	// Permission decides about other resources outside of their bundle, when a
	// turn first uses the bundle. Nil: none is read, and the bundle is listed as
	// skipped. PermissionReady says why nobody can be asked at present; nil:
	// somebody always can.
	Permission      Permission
	PermissionReady func() error
}

// Why a bundle is not loaded.
var (
	ErrNoLoader     = errors.New("is code, and there is no --module-loader that runs it")
	ErrNoPermission = errors.New("lies outside of the bundle: it is read only below a --trust-root, or where the client allows it")
	ErrPin          = errors.New("does not have the sha256 that the manifest names")
	errPinNothing   = errors.New("sha256 names a resource, and there is none")
	errNoResource   = errors.New(DefaultResource + " is missing")
)

// Register makes found all that the registry has of bundles, in one step. Each
// bundle that can't be used is listed with its reason. Of several of one name
// one stands: that below a trust root, else that of the earlier root, else the
// later one of the folder (P21); the others are shadowed. The error is the
// registry's: then nothing has changed.
func Register(ctx context.Context, registry *inject.Registry, found *Found, o LoadOptions) error {
	l := newLoader(o)
	made := make([]made, len(found.Bundles))
	for i, b := range found.Bundles {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		made[i] = l.make(b)
	}
	return register(registry, made)
}

func register(registry *inject.Registry, all []made) error {
	entries := make([]inject.Entry, len(all))
	for i, m := range shadow(all) {
		entries[i] = m.entry
	}
	return registry.Replace(schema.OriginBundle, entries)
}

// made is what became of a bundle.
type made struct {
	bundle Bundle
	entry  inject.Entry
	print  string      // differs when the bundle does
	files  []string    // that its text or code came from, without links
	anew   func() bool // it is to be made again though the bundle is the same; nil: never
}

func (m made) again() bool { return m.anew != nil && m.anew() }

// shadow leaves one bundle of each name its injector.
func shadow(all []made) []made {
	stands := map[string]int{}
	for i, m := range all {
		if m.entry.Injector == nil {
			continue
		}
		if j, taken := stands[m.entry.Name]; !taken || m.bundle.outranks(all[j].bundle) {
			stands[m.entry.Name] = i
		}
	}
	out := make([]made, len(all))
	for i, m := range all {
		if m.entry.Injector != nil && stands[m.entry.Name] != i {
			m.entry.Injector, m.entry.State = nil, schema.StateShadowed
			m.entry.Reason = "the bundle in " + all[stands[m.entry.Name]].bundle.Path + " has the name"
		}
		out[i] = m
	}
	return out
}

// outranks tells whether b, which was found after other, takes its name.
func (b Bundle) outranks(other Bundle) bool {
	if b.Trusted != other.Trusted {
		return b.Trusted
	}
	return b.Root == other.Root
}

type loader struct {
	LoadOptions
	trust fence
}

func newLoader(o LoadOptions) *loader { return &loader{o, trusted(o.ResourceTrust)} }

// make makes an entry of a bundle, whatever is wrong with it.
func (l *loader) make(b Bundle) made {
	m := made{bundle: b, entry: inject.Entry{Name: b.Name}}
	m.entry.Info = inject.Info{Path: b.Path, Distrusted: !b.Trusted}
	if b.Manifest != nil {
		m.entry.Info.Description = b.Manifest.Description
	}
	w := &work{loader: l, made: &m, warnings: b.Warnings}
	inj, err := w.injector()
	m.entry.Info.Warnings = w.warnings
	switch {
	case errors.Is(err, ErrNoLoader) || errors.Is(err, ErrNoPermission):
		m.entry.State, m.entry.Reason = schema.StateSkipped, reason(err)
	case err != nil:
		m.entry.State, m.entry.Reason = schema.StateError, reason(err)
	default:
		m.entry.Injector = inj
	}
	m.print = w.print()
	return m
}

// work is the making of one bundle.
type work struct {
	*loader
	*made
	warnings []string
	read     string // what tells whether a file that was read has changed
}

func (w *work) warn(file string, texts ...string) {
	w.warnings = append(w.warnings, prefixed(file+": ", texts)...)
}

// print differs between bundles that differ.
func (w *work) print() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		w.bundle.Path, w.bundle.Name, string(w.bundle.raw), w.read, string(w.entry.State), w.entry.Reason,
		fmt.Sprint(w.bundle.Trusted, w.entry.Info.Warnings),
	}, "\x00")))
	return hex.EncodeToString(sum[:])
}

func (w *work) injector() (inject.Injector, error) {
	b := &w.bundle
	switch {
	case b.Err != nil:
		return nil, b.Err
	case !schema.ValidInjectorName(b.Name):
		return nil, fmt.Errorf("the folder can't name the bundle: %w; give the manifest a name", inject.ErrName)
	}
	w.cleanManifest()
	if b.Manifest.Module != "" {
		return w.coded()
	}
	return w.static()
}

// cleanManifest takes what can't be seen out of what the manifest injects.
func (w *work) cleanManifest() {
	m := *w.bundle.Manifest
	var warnings []string
	m.ContextBlocks, warnings = inject.CleanWorkspaceBlocks(m.ContextBlocks)
	w.warn(manifestFile, warnings...)
	m.Title, warnings = inject.CleanWorkspaceTitle(m.Title)
	w.warn(manifestFile, prefixed("title: ", warnings)...)
	w.bundle.Manifest = &m
}

// static is the bundle as an injector of text.
func (w *work) static() (inject.Injector, error) {
	m := w.bundle.Manifest
	file := cmp.Or(m.Resource, DefaultResource)
	got, err := w.resource(file)
	switch {
	case errors.Is(err, ErrOutside):
		return w.outside(file)
	case m.Resource == "" && errors.Is(err, fs.ErrNotExist):
		if len(m.ContextBlocks) == 0 {
			return nil, errNoResource
		}
		if m.SHA256 != "" {
			return nil, errPinNothing
		}
		return specOf(&w.bundle, "")
	case err != nil:
		return nil, inFile(file, err)
	}
	w.files = append(w.files, got.real)
	w.read = string(got.data)
	w.warn(file, got.warnings...)
	text, warnings, err := textOf(&w.bundle, got.data)
	w.warn(file, warnings...)
	if err != nil {
		return nil, inFile(file, err)
	}
	return specOf(&w.bundle, text)
}

// resource reads a file that the manifest names, if it is in the bundle or
// below a folder that is trusted.
func (w *work) resource(file string) (content, error) {
	return append(fence{w.bundle.folder}, w.trust...).read(w.bundle.at(file), schema.MaxInjectorBytes)
}

// at is the path of a file that the manifest names.
func (b *Bundle) at(file string) string {
	if file = filepath.FromSlash(file); filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(b.folder, file)
}

// textOf is what a resource says, if it is the one that the manifest pins.
func textOf(b *Bundle, data []byte) (string, []string, error) {
	if err := b.pinned(data); err != nil {
		return "", nil, err
	}
	return inject.CleanWorkspaceText(data)
}

func (b *Bundle) pinned(data []byte) error {
	sum := sha256.Sum256(data)
	if pin := b.Manifest.SHA256; pin != "" && !strings.EqualFold(pin, hex.EncodeToString(sum[:])) {
		return fmt.Errorf("%w; it has %s", ErrPin, hex.EncodeToString(sum[:]))
	}
	return nil
}

// specOf is the bundle with that text.
func specOf(b *Bundle, text string) (inject.Injector, error) {
	m := b.Manifest
	inj, err := inject.FromSpec(schema.InjectorSpec{
		Name: b.Name, Description: m.Description,
		When: cmp.Or(m.When, schema.WhenEveryTurn), Predicate: m.Predicate, Scope: m.Scope,
		Placement: m.Placement, Position: m.Position, Title: m.Title,
		Instructions: text, ContextBlocks: m.ContextBlocks,
		MaxBytes: m.MaxBytes, OnError: m.OnError, Enabled: m.Enabled, Trust: schema.TrustWorkspace,
	})
	return inj, inFile(manifestFile, err)
}
