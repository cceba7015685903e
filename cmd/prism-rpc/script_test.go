package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"prism-rpc": main,
		"exitcode":  exitcodeMain,
		"parent":    parentMain,
		"answering": answeringMain,
	})
}

// exitcodeMain runs a command with its own stdin, stdout and stderr and holds
// it to an exit code: exitcode 2 prism-rpc --nonsense.
func exitcodeMain() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "exitcode:", err)
		os.Exit(1)
	}
	if got := cmd.ProcessState.ExitCode(); strconv.Itoa(got) != os.Args[1] {
		fmt.Fprintf(os.Stderr, "exitcode: want %s, got %d\n", os.Args[1], got)
		os.Exit(1)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"wat": watCommand, "gomodule": goModuleCommand},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("USERPROFILE", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's wait, for each command
			for _, name := range []string{"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL"} {
				env.Setenv(name, "")
			}
			return nil
		},
	})
}

// parentMain starts a command with its own stdin and stdout, says its process
// id on stderr, and waits for it: a parent that a test can kill.
func parentMain() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "parent:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, cmd.Process.Pid)
	_ = cmd.Wait() // its end is the test's to look at
}
