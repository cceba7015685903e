package openai

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
)

func abort(before http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		before(w, r)
		panic(http.ErrAbortHandler)
	}
}

func stall(before http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		before(w, r)
		<-r.Context().Done()
	}
}

const html = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"

// U7: whatever a server does wrong is an error of its class, never an answer.
func TestU7FailuresHaveTheirClass(t *testing.T) {
	const js = "application/json"
	for name, row := range map[string]struct {
		serve   http.HandlerFunc
		class   provider.Class
		status  int
		partial string
	}{
		"cut before any event":                  {stream(), provider.ClassInterrupted, 0, ""},
		"cut before the terminal event":         {stream(text("par")), provider.ClassInterrupted, 0, "par"},
		"broken before the terminal event":      {abort(stream(text("par"))), provider.ClassInterrupted, 0, "par"},
		"broken in the first event":             {abort(stream(`{"cho`)), provider.ClassInterrupted, 0, ""},
		"DONE and nothing else":                 {stream("[DONE]"), provider.ClassInterrupted, 0, ""},
		"silence after some text":               {stall(stream(text("par"))), provider.ClassTimeout, 0, "par"},
		"silence after the header":              {stall(stream()), provider.ClassTimeout, 0, ""},
		"silence before the header":             {stall(func(http.ResponseWriter, *http.Request) {}), provider.ClassTimeout, 0, ""},
		"a malformed event":                     {stream(text("par"), `{"choices":[`), provider.ClassInterrupted, 0, "par"},
		"an event of another shape":             {stream(text("par"), `{"choices":5}`), provider.ClassInterrupted, 0, "par"},
		"a list for an event":                   {stream(`[1]`), provider.ClassInterrupted, 0, ""},
		"an error event":                        {stream(text("par"), `{"error":{"message":"oops"}}`), provider.ClassInterrupted, 0, "par"},
		"an error event of text":                {stream(text("par"), `{"error":"oops"}`), provider.ClassInterrupted, 0, "par"},
		"an error event without error":          {stream(text("par"), `{"object":"error","message":"oops","code":503}`, "[DONE]"), provider.ClassOverloaded, 503, "par"},
		"an error event of that type":           {stream(text("par"), `{"type":"error","error":{"type":"rate_limit_error"}}`, "[DONE]"), provider.ClassRateLimit, 0, "par"},
		"an error event that is a message":      {stream(text("par"), `{"message":"oops","code":"x"}`, "[DONE]"), provider.ClassInterrupted, 0, "par"},
		"an error event that is a detail":       {stream(text("par"), `{"detail":"oops"}`, "[DONE]"), provider.ClassInterrupted, 0, "par"},
		"an error event that says nothing":      {stream(text("par"), `{"error":{}}`, "[DONE]"), provider.ClassInterrupted, 0, "par"},
		"an error event naming overload":        {stream(text("par"), `{"error":{"type":"overloaded_error"}}`), provider.ClassOverloaded, 0, "par"},
		"an error event with a status":          {stream(text("par"), `{"error":{"code":429,"message":"slow down"}}`), provider.ClassRateLimit, 429, "par"},
		"an error event named so":               {stream(text("par"), "x\n\nevent: error\ndata: broken"), provider.ClassInterrupted, 0, "par"},
		"an error as finish reason":             {stream(text("par"), finish("error")), provider.ClassInterrupted, 0, "par"},
		"429":                                   {status(429, js, `{"error":{"code":"rate_limit_exceeded"}}`), provider.ClassRateLimit, 429, ""},
		"429 for quota":                         {status(429, js, `{"error":{"code":"insufficient_quota"}}`), provider.ClassQuota, 429, ""},
		"402":                                   {status(402, js, `{}`), provider.ClassQuota, 402, ""},
		"401":                                   {status(401, js, `{"error":{"message":"bad key"}}`), provider.ClassAuth, 401, ""},
		"403":                                   {status(403, "text/plain", ""), provider.ClassAuth, 403, ""},
		"408":                                   {status(408, js, `{}`), provider.ClassTimeout, 408, ""},
		"500":                                   {status(500, js, `{"error":{"message":"context length"}}`), provider.ClassOverloaded, 500, ""},
		"502 with a page":                       {status(502, "text/html", html), provider.ClassOverloaded, 502, ""},
		"503 without a body":                    {status(503, "text/plain", ""), provider.ClassOverloaded, 503, ""},
		"504":                                   {status(504, js, `{}`), provider.ClassTimeout, 504, ""},
		"529":                                   {status(529, js, `{"error":{"type":"overloaded_error"}}`), provider.ClassOverloaded, 529, ""},
		"400":                                   {status(400, js, `{"error":"text"}`), provider.ClassBadRequest, 400, ""},
		"400 for the context's length":          {status(400, js, `{"error":{"code":"context_length_exceeded"}}`), provider.ClassContextOverflow, 400, ""},
		"413 for the context's length":          {status(413, js, `{"error":"This model's maximum context length is 5"}`), provider.ClassContextOverflow, 413, ""},
		"422 for policy":                        {status(422, js, `{"error":{"code":"content_policy_violation"}}`), provider.ClassContentFilter, 422, ""},
		"404":                                   {status(404, "text/plain", "404 page not found"), provider.ClassBadRequest, 404, ""},
		"a redirect":                            {status(307, "text/plain", "", "Location", "http://127.0.0.1/elsewhere"), provider.ClassBadRequest, 307, ""},
		"204":                                   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, provider.ClassBadRequest, 204, ""},
		"an answer that is no stream":           {status(200, js, `{"choices":[{"message":{"content":"hi"}}]}`), provider.ClassBadRequest, 200, ""},
		"a page for an answer":                  {status(200, "text/html", html), provider.ClassBadRequest, 200, ""},
		"an answer larger than 16 MiB":          {endless(text(strings.Repeat("x", 1<<20))), provider.ClassTooLarge, 0, strings.Repeat("x", 16<<20-32)},
		"an event larger than 8 MiB":            {stream(strings.Repeat("x", 8<<20+1)), provider.ClassTooLarge, 0, ""},
		"a header larger than 64 KiB":           {status(200, "text/event-stream", "", "X-Big", strings.Repeat("x", 1<<20)), provider.ClassNetwork, 0, ""},
		"a tool call of a far-off index":        {stream(`{"choices":[{"delta":{"tool_calls":[{"index":1000000000}]}}]}`), provider.ClassTooLarge, 0, ""},
		"comments for ever":                     {drip(": still here\n\n"), provider.ClassTimeout, 0, ""},
		"an error body that never ends":         {stall(status(400, js, `{"error":"text"}`)), provider.ClassTimeout, 0, ""},
		"an error event right after the header": {stream(`{"error":{"type":"overloaded_error"}}`), provider.ClassOverloaded, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := serve(t, Options{}, row.serve)
				got, res, err := ask(t.Context(), p, asking("hi"))
				failed := failure(err)
				assert.Equal(t, row.class, failed.Class, err)
				assert.Equal(t, row.status, failed.Status)
				assert.NotEmpty(t, failed.Message)
				assert.Nil(t, res)
				if row.class == provider.ClassTooLarge && row.partial != "" {
					assert.InDelta(t, len(row.partial), len(got.text), 1<<20)
				} else {
					assert.Equal(t, row.partial, got.text)
				}
			})
		})
	}
}

func endless(event string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			fmt.Fprintf(w, "data: %s\n\n", event)
		}
	}
}

// drip writes a piece each second.
func drip(piece string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			fmt.Fprint(w, piece)
			w.(http.Flusher).Flush()
			time.Sleep(time.Second) // of fake time
		}
	}
}

// A message is what the server said, so that whoever knows the secrets finds
// them: nothing is escaped, collapsed, trimmed, or cut.
func TestMessagesAreRaw(t *testing.T) {
	const key = "sk-test-0123456789abcdef"
	long := strings.Repeat("é \n", 16<<10)
	for name, row := range map[string]struct{ body, want string }{
		"of an object":              {`{"error":{"message":" bad \u001b[31mthing\n"}}`, " bad \x1b[31mthing\n"},
		"of a text":                 {`{"error":"bad  thing"}`, "bad  thing"},
		"of a list":                 {`[{"error":{"message":"bad thing"}}]`, "bad thing"},
		"of a detail":               {`{"detail":"bad thing"}`, "bad thing"},
		"of a page":                 {"<html>\n  bad\n\tthing\n", "<html>\n  bad\n\tthing\n"},
		"of controls":               {"a\x00b\u202ec", "a\x00b\u202ec"},
		"of 64 KiB":                 {long, long},
		"of more than 64 KiB":       {long + "x", "HTTP status 400 Bad Request"},
		"of bytes that are no text": {"a\xffb\xe2\x82", "a\ufffdb\ufffd"},
		"of nothing":                {"", "HTTP status 400 Bad Request"},
		"of white space":            {" \n", "HTTP status 400 Bad Request"},
		"of no message":             {`{"error":{"code":7}}`, `{"code":7}`},
		"of letters as escapes":     {`{"error":{"reason":"\u0070ass\/word \u00e9","n":12345678901234567890}}`, `{"reason":"pass/word é","n":12345678901234567890}`},
		"of details as escapes":     {`{"detail":[{"msg":"\u0070assword"}]}`, `[{"msg":"password"}]`},
		"that repeats the key":      {`{"error":"bad key ` + key + `"}`, "bad key " + key},
		"that is as deep as fits":   {strings.Repeat(`{"error":`, 9) + `1` + strings.Repeat("}", 9), `{"error":{"error":{"error":{"error":{"error":1}}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := serve(t, Options{Key: redact.NewSecret(key)}, status(400, "application/json", row.body))
				_, _, err := ask(t.Context(), p, asking("hi"))
				assert.Equal(t, row.want, failure(err).Message)
				assert.NotContains(t, err.Error(), key)
			})
			synctest.Test(t, func(t *testing.T) {
				if !jsontext.Value(row.body).IsValid() {
					return
				}
				_, _, err := ask(t.Context(), serve(t, Options{}, stream(row.body)), asking("hi"))
				assert.Equal(t, provider.ClassInterrupted, failure(err).Class)
			})
		})
	}
}

// What a header says stands in a message as it came.
func TestHeadersInMessagesAreRaw(t *testing.T) {
	const secret = `Secret "\x;  é`
	for name, header := range map[string]string{"content type": "Content-Type", "content encoding": "Content-Encoding"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, err := ask(t.Context(), serve(t, Options{}, status(200, "text/event-stream", "", header, secret)), asking("hi"))
				assert.Equal(t, provider.ClassBadRequest, failure(err).Class)
				assert.Contains(t, failure(err).Message, secret)
			})
		})
	}
}

// Nobody asked for a compressed answer, which reads as junk.
func TestACompressedAnswerIsNamed(t *testing.T) {
	whole := stream(text("a"), finish("stop"))
	for name, row := range map[string]struct {
		encoding string
		status   int
		class    provider.Class
	}{
		"gzip":                        {"gzip", 200, provider.ClassBadRequest},
		"br":                          {"br", 200, provider.ClassBadRequest},
		"in another case":             {"Deflate", 200, provider.ClassBadRequest},
		"twice":                       {"identity, zstd", 200, provider.ClassBadRequest},
		"none":                        {"", 200, ""},
		"identity":                    {"Identity", 200, ""},
		"of an error keeps its class": {"gzip", 401, provider.ClassAuth},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Encoding", row.encoding)
					if row.status != 200 {
						w.WriteHeader(row.status)
						return
					}
					whole(w, r)
				})
				_, _, err := ask(t.Context(), p, asking("hi"))
				assert.Equal(t, row.class, failure(err).Class)
				if row.class == "" {
					assert.NoError(t, err)
				} else {
					assert.Contains(t, failure(err).Message, row.encoding)
					assert.NotContains(t, failure(err).Message, "delta")
				}
			})
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	asked := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Host }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	p, err := New(Options{BaseURL: server.URL, Key: redact.NewSecret("k")})
	require.NoError(t, err)
	_, _, err = ask(t.Context(), p, asking("hi"))
	assert.Equal(t, provider.ClassBadRequest, failure(err).Class)
	assert.Empty(t, asked)
}

// What a connection of the real kind does wrong, over loopback.
func TestRealConnectionsFail(t *testing.T) {
	reset := func(c net.Conn) {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // makes Close a reset
		}
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	for name, row := range map[string]struct {
		reply string
		class provider.Class
	}{
		"reset before the first byte": {"", provider.ClassNetwork},
		"reset within the answer":     {head + "data: " + text("par") + "\n\n", provider.ClassInterrupted},
		"no HTTP":                     {"SSH-2.0-OpenSSH_9\r\n", provider.ClassNetwork},
		"a header that is none":       {"HTTP/1.1 200 OK\r\nOpenSSH\x01\r\n\r\n", provider.ClassNetwork},
		"a status that is none":       {"HTTP/1.1 OpenSSH\r\n\r\n", provider.ClassNetwork},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			seen := make(chan struct{})
			done := make(chan struct{})
			go func() { // the test waits for it
				defer close(done)
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, row.reply)
				if strings.Contains(row.reply, "par") {
					<-seen
				}
				reset(c)
			}()
			p, err := New(Options{BaseURL: "http://" + l.Addr().String(), MaxRetries: -1})
			require.NoError(t, err)
			_, err = p.Stream(t.Context(), asking("hi"), func(provider.Event) error { close(seen); return nil })
			assert.Equal(t, row.class, failure(err).Class, err)
			assert.NotContains(t, failure(err).Message, "OpenSSH", "Go shows it quoted, which would hide a secret in it")
			<-done
		})
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	p, err := New(Options{BaseURL: "http://" + l.Addr().String(), MaxRetries: -1})
	require.NoError(t, err)
	_, _, err = ask(t.Context(), p, asking("hi"))
	assert.Equal(t, provider.ClassNetwork, failure(err).Class, "refused")
	assert.Contains(t, failure(err).Message, l.Addr().String())
}

func TestASlowListenerIsNoIdleServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, Options{IdleTimeout: time.Second}, stream(text("a"), text("b"), finish("stop")))
		_, err := p.Stream(t.Context(), asking("hi"), func(provider.Event) error {
			time.Sleep(time.Minute) // of fake time
			return nil
		})
		assert.NoError(t, err)
	})
}

func TestATimeoutIsOnTime(t *testing.T) {
	for name, row := range map[string]struct {
		opts  Options
		serve http.HandlerFunc
		want  time.Duration
	}{
		"idle":                  {Options{IdleTimeout: 5 * time.Second}, stall(stream(text("a"))), 5 * time.Second},
		"idle by default":       {Options{}, stall(stream()), 60 * time.Second},
		"total":                 {Options{TotalTimeout: 100 * time.Second}, drip(": x\n\n"), 100 * time.Second},
		"total, within a retry": {Options{TotalTimeout: 10 * time.Second}, status(429, "", "", "Retry-After", "20"), 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, _, err := ask(t.Context(), serve(t, row.opts, row.serve), asking("hi"))
				assert.Equal(t, provider.ClassTimeout, failure(err).Class)
				assert.Equal(t, row.want, time.Since(start))
			})
		})
	}
}

// U1: a cancel ends a call in each of its phases, at once.
func TestU1CancelEndsACallAtOnce(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"before the header":  stall(func(http.ResponseWriter, *http.Request) {}),
		"before the text":    stall(stream()),
		"within the text":    stall(stream(text("a"))),
		"in an error's body": stall(status(500, "text/plain", "x")),
		"in a retry's wait":  status(429, "text/plain", "", "Retry-After", "50"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, cancel)
				start := time.Now()
				_, _, err := ask(ctx, serve(t, Options{}, h), asking("hi"))
				assert.ErrorIs(t, err, context.Canceled)
				assert.NotEmpty(t, failure(err).Class)
				assert.Equal(t, 3*time.Second, time.Since(start))
			})
		})
	}
}
