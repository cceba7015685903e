package hostile

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/redact"
)

func (wire *Wire) noModel(t *testing.T) {
	for _, model := range []string{"", " \t"} {
		synctest.Test(t, func(t *testing.T) {
			asked := false
			p := wire.serve(t, upstream.Options{}, func(http.ResponseWriter, *http.Request) { asked = true })
			req := Asking("hi")
			req.Model = model
			_, _, err := Ask(t.Context(), p, req)
			assert.Equal(t, provider.ClassBadRequest, Failure(err).Class)
			assert.Contains(t, Failure(err).Message, "--model")
			assert.False(t, asked)
		})
	}
}

func (wire *Wire) keys(t *testing.T) {
	key := redact.NewSecret("sk-test")
	for name, row := range map[string]struct {
		opts upstream.Options
		want error
	}{
		"nothing set":               {upstream.Options{}, nil},
		"https":                     {upstream.Options{BaseURL: "https://example.com/v1", Key: key}, nil},
		"the loopback net":          {upstream.Options{BaseURL: "http://127.8.9.1:80/v1", Key: key}, nil},
		"the loopback of IPv6":      {upstream.Options{BaseURL: "http://[::1]:80/v1", Key: key}, nil},
		"localhost":                 {upstream.Options{BaseURL: "http://LocalHost:11434/v1", Key: key}, nil},
		"http elsewhere":            {upstream.Options{BaseURL: "http://example.com/v1", Key: key}, upstream.ErrInsecure},
		"a name like localhost":     {upstream.Options{BaseURL: "http://localhost.example.com/v1", Key: key}, upstream.ErrInsecure},
		"a name that looks local":   {upstream.Options{BaseURL: "http://127.0.0.1.example.com", Key: key}, upstream.ErrInsecure},
		"a private address":         {upstream.Options{BaseURL: "http://192.168.0.1/v1", Key: key}, upstream.ErrInsecure},
		"http elsewhere, allowed":   {upstream.Options{BaseURL: "http://example.com/v1", Key: key, AllowInsecure: true}, nil},
		"http elsewhere, no key":    {upstream.Options{BaseURL: "http://example.com/v1"}, nil},
		"a user in the URL":         {upstream.Options{BaseURL: "https://me:pw@example.com/v1"}, upstream.ErrBaseURL},
		"another scheme":            {upstream.Options{BaseURL: "file:///v1"}, upstream.ErrBaseURL},
		"no scheme":                 {upstream.Options{BaseURL: "example.com/v1"}, upstream.ErrBaseURL},
		"no host":                   {upstream.Options{BaseURL: "http:///v1"}, upstream.ErrBaseURL},
		"no URL":                    {upstream.Options{BaseURL: "http://%zz"}, upstream.ErrBaseURL},
		"a key with a line end":     {upstream.Options{Key: redact.NewSecret("sk\nX-Evil: 1")}, upstream.ErrKey},
		"a key that no header has":  {upstream.Options{Key: redact.NewSecret("ключ")}, upstream.ErrKey},
		"a user without a password": {upstream.Options{BaseURL: "https://me@example.com/v1"}, upstream.ErrBaseURL},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.Open(row.opts)
			assert.ErrorIs(t, err, row.want)
			if err != nil {
				assert.NotContains(t, err.Error(), "pw")
			}
		})
	}
}

func (wire *Wire) headers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got http.Header
		var path string
		h := func(w http.ResponseWriter, r *http.Request) {
			got, path = r.Header, r.Method+" "+r.URL.String()
			wire.whole("a")(w, r)
		}
		p := wire.serve(t, upstream.Options{BaseURL: "http://localhost/v1/?a=b", Key: redact.NewSecret("sk-test"), UserAgent: "prism-rpc/1"}, h)
		_, _, err := Ask(context.Background(), p, Asking("hi"))
		require.NoError(t, err)
		assert.Equal(t, "POST /v1/"+wire.Path+"?a=b", path)
		assert.Equal(t, wire.KeyPrefix+"sk-test", got.Get(wire.KeyHeader))
		assert.Equal(t, "identity", got.Get("Accept-Encoding"))
		assert.Equal(t, "prism-rpc/1", got.Get("User-Agent"))
		assert.Equal(t, "application/json", got.Get("Content-Type"))

		_, _, err = Ask(context.Background(), wire.serve(t, upstream.Options{}, h), Asking("hi"))
		require.NoError(t, err)
		assert.Empty(t, got.Values(wire.KeyHeader))
	})
}
