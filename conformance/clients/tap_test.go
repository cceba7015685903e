package clients

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// This test binary, run under tapName, is prism-rpc with a record of the bytes
// that went in and out.
const (
	tapName = "prism-rpc-tap"
	tapFor  = "TAP_PROGRAM" // environment variable: what it runs
	tapDir  = "TAP_DIR"     // environment variable: where it leaves the record
)

// tap runs the program and returns its exit code.
func tap(args []string) int {
	code, err := runTapped(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		return 1
	}
	return code
}

func runTapped(args []string) (int, error) {
	in, err := os.Create(filepath.Join(os.Getenv(tapDir), "in"))
	if err != nil {
		return 0, err
	}
	out, err := os.Create(filepath.Join(os.Getenv(tapDir), "out"))
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(os.Getenv(tapFor), args...)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, os.Stdout), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { // ends with this process
		_, _ = io.Copy(io.MultiWriter(in, stdin), os.Stdin) // breaks off when the program has gone
		_ = stdin.Close()
	}()
	if err := cmd.Wait(); cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// record is what went through a tap.
type record struct{ in, out []byte }

// tapped runs a client on the tap.
func tapped(t *testing.T, c client) (transcript, record) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(dir, tapName)))
	shown := c.run(t, filepath.Join(dir, tapName), tapDir+"="+dir, tapFor+"="+prismRPC)
	var r record
	r.in, err = os.ReadFile(filepath.Join(dir, "in"))
	require.NoError(t, err)
	r.out, err = os.ReadFile(filepath.Join(dir, "out"))
	require.NoError(t, err)
	return shown, r
}
