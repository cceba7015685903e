package prismrpc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/prism-rpc/prism-rpc/"

// arrows says which packages of this module each package may import, outside
// its tests. Every arrow points down.
var arrows = map[string][]string{
	"cmd/prism-rpc":     {"assemble", "inject", "inject/ambient", "inject/bundle", "inject/reminder", "inject/wasm", "internal/config", "internal/panics", "internal/plain", "provider", "provider/anthropic", "provider/mock", "provider/openai", "provider/openairesponses", "redact", "rpc", "schema", "session", "session/filestore", "session/memstore"},
	"rpc":               {"inject", "inject/bundle", "inject/reminder", "internal/panics", "internal/plain", "redact", "schema", "session"},
	"session":           {"assemble", "inject", "inject/ambient", "inject/reminder", "internal/panics", "internal/plain", "provider", "redact", "schema"},
	"session/filestore": {"schema", "session", "session/internal/listing", "session/internal/sequence"},
	"session/memstore":  {"schema", "session", "session/internal/listing", "session/internal/sequence"},
	"assemble":          {"inject", "inject/reminder", "inject/ambient", "provider", "redact", "schema"},
	"inject":            {"inject/predicate", "internal/plain", "redact", "schema"},
	"inject/bundle":     {"inject", "internal/plain", "redact", "schema"},
	"inject/wasm":       {"inject", "inject/bundle", "internal/panics", "internal/plain", "schema"},
	"inject/ambient":    {"schema"},
	"inject/predicate":  {"schema"},
	"inject/trivial":    {"schema"},
	"inject/reminder":   {"inject", "inject/trivial", "internal/userfile", "redact", "schema"},
	"provider":          {"schema"},
	"provider/mock":     {"internal/plain", "provider", "schema"},
	"provider/openai":   {"provider", "provider/internal/upstream", "redact", "schema"},

	"provider/anthropic":         {"provider", "provider/internal/upstream", "redact", "schema"},
	"provider/openairesponses":   {"provider", "provider/internal/upstream", "redact", "schema"},
	"provider/internal/sse":      {},
	"provider/internal/upstream": {"internal/plain", "provider", "provider/internal/sse", "redact", "schema"},
	"session/internal/listing":   {"schema", "session"},
	"session/internal/sequence":  {"schema", "session"},
	"redact":                     {},
	"schema":                     {"internal/plain"},
	"schema/gen":                 {"schema"},
	"internal/config":            {"assemble", "inject", "inject/reminder", "inject/trivial", "internal/plain", "redact", "schema"},
	"internal/plain":             {},
	"internal/userfile":          {},
	"internal/panics":            {},
	"internal/talk":              {},
}

// onlyTests names packages that nothing but tests may import.
var onlyTests = []string{"internal/contract", "internal/talk", "internal/wat", "provider/internal/hostile", "session/internal/storetest"}

func TestImportsPointDown(t *testing.T) {
	found := imports(t)
	for _, pkg := range slices.Sorted(maps.Keys(found)) {
		if slices.Contains(onlyTests, pkg) {
			continue
		}
		allowed, known := arrows[pkg]
		if !assert.True(t, known, "%s has no row in arrows", pkg) {
			continue
		}
		for _, imported := range found[pkg] {
			assert.Contains(t, allowed, imported, "%s must not import %s", pkg, imported)
		}
	}
}

// ofTheProcess are what only a main package may name.
var ofTheProcess = []string{"os.Stdin", "os.Stdout", "os.Stderr", "os.Exit", "signal.Notify", "signal.Ignore", "syscall.Kill"}

func TestOnlyCmdTouchesTheProcess(t *testing.T) {
	walk(t, func(file string) {
		if strings.HasPrefix(file, "cmd/") || strings.HasPrefix(file, "schema/gen/") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok {
					assert.NotContains(t, ofTheProcess, pkg.Name+"."+sel.Sel.Name, "%s", file)
				}
			}
			return true
		})
	})
}

// imports maps each package to those of this module that it imports.
func imports(t *testing.T) map[string][]string {
	out := map[string][]string{}
	walk(t, func(file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		pkg := path.Dir(file)
		out[pkg] = append(out[pkg], []string{}...)
		for _, imp := range parsed.Imports {
			imported, err := strconv.Unquote(imp.Path.Value)
			require.NoError(t, err)
			if own, ok := strings.CutPrefix(imported, module); ok {
				out[pkg] = append(out[pkg], own)
			}
		}
	})
	require.NotEmpty(t, out)
	return out
}

// walk visits the module's Go files, without tests and nested modules.
func walk(t *testing.T, visit func(file string)) {
	require.NoError(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || slices.Contains([]string{"conformance", "examples", ".git"}, file)):
			return filepath.SkipDir
		case strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go"):
			visit(filepath.ToSlash(file))
		}
		return nil
	}))
}
