package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// root is where the commands of examples/ are given for.
const root = "../.."

// What TestMain builds, once for all tests.
var prismRPC, goExample string

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == tapName {
		os.Exit(tap(os.Args[1:]))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "clients")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	prismRPC, goExample = filepath.Join(dir, "prism-rpc"), filepath.Join(dir, "example")
	for path, pkg := range map[string]string{prismRPC: "./cmd/prism-rpc", goExample: "./examples/go"} {
		cmd := exec.Command("go", "build", "-o", path, pkg)
		cmd.Dir, cmd.Stderr = root, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n", pkg, err)
			return 1
		}
	}
	return m.Run()
}
