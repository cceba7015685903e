package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/redact"
)

func TestS4Filter_PassesAllBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	in := make([]byte, 300_000)
	for i := range in {
		in[i] = byte(rnd.Uint32())
	}
	r, err := redact.New(redact.Value{Name: "k", Secret: redact.NewSecret("secret-value")})
	require.NoError(t, err)
	for name, reader := range map[string]func(io.Reader) io.Reader{
		"in pieces": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "with the end": iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			secret := append(bytes.Clone(in), "\xffsecret-value\xfe"...)
			require.NoError(t, filter(r.Stream(), reader(bytes.NewReader(secret)), &out))
			assert.True(t, bytes.Equal(append(bytes.Clone(in), "\xff[REDACTED:k]\xfe"...), out.Bytes()))
		})
	}
}

func TestFilter_ShowsWhatCameBeforeAnError(t *testing.T) {
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader("clean s"), iotest.ErrReader(errors.New("broken")))
	err := filter((*redact.Redactor)(nil).WithRules(redact.DefaultRules).Stream(), in, &out)
	assert.ErrorContains(t, err, "stdin")
	assert.Equal(t, "clean s", out.String())
	assert.Error(t, filter((*redact.Redactor)(nil).Stream(), strings.NewReader("x"), failing{}))
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestRemoved(t *testing.T) {
	r, err := redact.New(redact.Value{Secret: redact.NewSecret("secret-value")}, redact.Value{Name: "a\x1b[31m", Secret: redact.NewSecret("other-value")})
	require.NoError(t, err)
	var tally redact.Tally
	assert.Equal(t, "nothing redacted", removed(&tally))
	r.Text("secret-value secret-value. other-value", &tally)
	assert.Equal(t, `redacted: 2 unnamed, 1 a\u001b[31m`, removed(&tally))
}
