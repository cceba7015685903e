package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/rpc"
)

func TestWhyTheProcessEnds(t *testing.T) {
	full := errors.New("write stdout: no space left on device")
	cases := map[string]struct {
		err  error
		code int
		text string
	}{
		"nothing":                   {nil, 0, ""},
		"a signal":                  {&signalError{syscall.SIGTERM}, 143, ""},
		"a signal, wrapped":         {fmt.Errorf("x: %w", &signalError{syscall.SIGINT}), 130, ""},
		"nobody who reads":          {fmt.Errorf("write: %w", syscall.EPIPE), 1, ""},
		"what was told":             {errSilent, 1, ""},
		"a bad flag":                {&config.UsageError{Message: "no", Hint: "yes"}, 2, "no (yes)"},
		"a bad configuration":       {&config.Error{Path: "f", Line: 1, Column: 2, Key: "a\u202eb", Message: "no"}, 2, `f:1:2: a\u202eb: no`},
		"a store":                   {noStore(errors.New("no")), 2, noStore(errors.New("no")).Error()},
		"an output that is full":    {fmt.Errorf("%w: %w", rpc.ErrOutput, errors.Join(full, errors.New("the peer does not read"))), 1, rpc.ErrOutput.Error() + ": " + full.Error()},
		"several failures":          {errors.Join(errors.New("one"), errors.New("two")), 1, "one; two"},
		"what would steer a screen": {errors.New("a\x1b[2Jb"), 1, `a\u001b[2Jb`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.code, exitCode(c.err))
			assert.Equal(t, c.text, complaint(c.err))
		})
	}
	assert.LessOrEqual(t, len(complaint(errors.New(strings.Repeat("x", 1<<20)))), maxComplaint)
}
