package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/wat"
)

// watCommand assembles a module in a script: wat in.wat out.wasm.
func watCommand(ts *testscript.TestScript, _ bool, args []string) {
	code, err := wat.Assemble(ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), code, 0o600))
}

// goModuleCommand builds examples/module-go in a script: gomodule out.wasm.
func goModuleCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(goModule(ts.MkAbs(args[0])))
}

func goModule(out string) error {
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, ".")
	build.Dir = filepath.Join("..", "..", "examples", "module-go")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	build.Stderr = os.Stderr
	return build.Run()
}

// The bundle of docs/modules.md, with the module that examples/module-wat is
// the text of, is written, and the command is run as it stands there.
func TestP20_the_examples_of_the_documentation_of_modules_run(t *testing.T) {
	page, err := os.ReadFile("../../docs/modules.md")
	require.NoError(t, err)
	root := t.TempDir()
	manifest := regexp.MustCompile("(?s)\n`([^`\n]+/)(manifest\\.json)`:\n\n```json\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, manifest)
	folder := filepath.Join(root, filepath.FromSlash(string(manifest[1])))
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "manifest.json"), manifest[3], 0o600))
	text, err := os.ReadFile("../../examples/module-wat/json.wat")
	require.NoError(t, err)
	code, err := wat.Assemble(string(text))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "json.wasm"), code, 0o600))

	command := regexp.MustCompile("(?s)```sh\nprism-rpc(.*?) '(.*?)'\n```\n\n```text\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, command)
	args := append(regexp.MustCompile(`\S+`).FindAllString(string(command[1]), -1), string(command[2]))
	cmd := exec.CommandContext(t.Context(), "prism-rpc", args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "HOME="+root, "XDG_CACHE_HOME="+filepath.Join(root, "cache"), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, string(command[3]), string(out))
}
