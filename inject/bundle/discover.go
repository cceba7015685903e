package bundle

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/prism-rpc/prism-rpc/inject"
)

// Where a workspace keeps its bundles, and what a bundle's files are called.
const (
	agentsFolder    = ".agents"
	bundlesFolder   = "instructions"
	manifestFile    = "manifest.json"
	DefaultResource = "INSTRUCTIONS.md"
)

// maxEntries bounds what the folder of bundles may hold, be it bundles or not.
const maxEntries = 4096

// Options say where Discover looks.
type Options struct {
	Roots      []string // of workspaces, in the order of their rank
	TrustRoots []string // folders below which bundles are trusted, and may be linked to
}

// Found is what Discover found: bundles in the order of their roots and, within
// a root, of the bytes of their folders' names (P6).
type Found struct {
	Bundles  []Bundle
	Problems []Problem // about what is not the matter of one bundle
}

// A Problem is something that can't be used.
type Problem struct {
	Name   string // of the bundle; empty when it is about none
	Path   string // absolute, as it was looked for
	Reason string // for people; it may hold what a manifest says
}

// A Bundle is a folder that a workspace has under .agents/instructions.
type Bundle struct {
	Name     string    // the manifest's, else the folder's
	Path     string    // of its folder: absolute, below the workspace's root
	Root     int       // the index of that root in Options
	Trusted  bool      // it lies below a trust root, links followed
	Manifest *Manifest // nil with Err
	Warnings []string
	Err      error // why it can't be used

	folder   string // without links
	manifest string // the file, without links; empty where it could not be read
	raw      []byte // what is in it
}

// Discover looks for bundles, one level deep, and reads their manifests. It
// fails for no single one of them: what can't be used says so itself. A
// workspace without the folder has none. Nothing outside of the roots is read,
// but where a link leads below a trust root.
func Discover(ctx context.Context, o Options) *Found {
	d := &discovery{trust: trusted(o.TrustRoots)}
	for i, root := range o.Roots {
		d.root = i
		if ctx.Err() != nil {
			break
		}
		if err := d.scan(ctx, root); err != nil {
			d.problem(root, err)
		}
	}
	d.found.limit(inject.MaxInjectors)
	return &d.found
}

// trusted are the folders that exist of those that are trusted, without links.
func trusted(roots []string) fence {
	var out fence
	for _, root := range roots {
		abs, err := filepath.Abs(root)
		if err != nil {
			continue
		}
		if real, err := realPath(abs); err == nil {
			out = append(out, real)
		}
	}
	return out
}

type discovery struct {
	trust fence
	root  int
	found Found
}

func (d *discovery) problem(path string, err error) {
	d.found.Problems = append(d.found.Problems, Problem{Path: path, Reason: reason(err)})
}

// scan finds the bundles of one workspace. The error is about the root itself.
func (d *discovery) scan(ctx context.Context, root string) error {
	abs, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	real, err := realPath(abs)
	if err != nil {
		return err
	}
	if info, err := os.Stat(real); err != nil {
		return err
	} else if !info.IsDir() {
		return ErrNotFolder
	}
	folder := filepath.Join(abs, agentsFolder, bundlesFolder)
	within := append(fence{real}, d.trust...)
	entries, at, err := within.list(folder, maxEntries)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		d.problem(folder, err)
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil
		}
		if b := d.look(within, folder, at, e); b != nil {
			d.found.Bundles = append(d.found.Bundles, *b)
		}
	}
	return nil
}

// limit leaves out the bundles that there is no room for.
func (f *Found) limit(room int) {
	if len(f.Bundles) <= room {
		return
	}
	f.Problems = append(f.Problems, Problem{
		Path:   f.Bundles[room].Path,
		Reason: "there are too many injectors: this bundle and those behind it are left out",
	})
	f.Bundles = f.Bundles[:room]
}

// look makes a bundle of an entry of the folder; nil when it is none.
func (d *discovery) look(within fence, folder, folderReal string, e fs.DirEntry) *Bundle {
	link := e.Type()&fs.ModeSymlink != 0
	if !e.IsDir() && !link {
		return nil
	}
	b := &Bundle{Name: strings.TrimSpace(norm.NFC.String(e.Name())), Path: filepath.Join(folder, e.Name()), Root: d.root}
	b.folder, b.Err = contained(within, b.Path, folderReal)
	switch {
	case link && errors.Is(b.Err, ErrNotFolder):
		return nil
	case b.Err != nil:
		return b
	}
	_, _, b.Trusted = d.trust.inside(b.folder)
	if b.read(d.trust); errors.Is(b.Err, errNoManifest) && strings.HasPrefix(e.Name(), ".") {
		return nil // .git and the like
	}
	return b
}

var (
	errHoldsItself = errors.New("is a link to a folder that holds the bundles")
	errNoManifest  = errors.New("has no " + manifestFile)
)

// contained is the folder that path leads to.
func contained(within fence, path, bundles string) (string, error) {
	dir, real, err := within.open(path, false)
	if err != nil {
		return "", err
	}
	if err := dir.Close(); err != nil {
		return "", err
	}
	if _, _, holds := (fence{real}).inside(bundles); holds {
		return "", errHoldsItself
	}
	return real, nil
}

// read takes up the bundle's manifest.
func (b *Bundle) read(trust fence) {
	got, err := append(fence{b.folder}, trust...).read(filepath.Join(b.folder, manifestFile), MaxManifestBytes)
	b.raw, b.manifest = got.data, got.real
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errNoManifest
	case err == nil:
		var warnings []string
		b.Manifest, warnings, err = ParseManifest(got.data)
		b.Warnings = prefixed(manifestFile+": ", append(warnings, got.warnings...))
		err = inFile(manifestFile, err)
	default:
		err = inFile(manifestFile, err)
	}
	if b.Err = err; b.Manifest != nil {
		b.Name = cmp.Or(b.Manifest.Name, b.Name)
	}
}

// fault is a reason that names the file it is about.
type fault struct {
	file string
	err  error
}

func (f *fault) Error() string { return f.file + ": " + reason(f.err) }
func (f *fault) Unwrap() error { return f.err }

func inFile(file string, err error) error {
	if err == nil {
		return nil
	}
	return &fault{file, err}
}

func prefixed(prefix string, texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = prefix + t
	}
	return out
}
