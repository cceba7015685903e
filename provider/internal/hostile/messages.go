package hostile

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/redact"
)

// A message is what the server said, so that whoever knows the secrets finds
// them: nothing is escaped, collapsed, trimmed, or cut.
func (wire *Wire) rawMessages(t *testing.T) {
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
				p := wire.serve(t, upstream.Options{Key: redact.NewSecret(key)}, Status(400, "application/json", row.body))
				_, _, err := Ask(t.Context(), p, Asking("hi"))
				assert.Equal(t, row.want, Failure(err).Message)
				assert.NotContains(t, err.Error(), key)
			})
			synctest.Test(t, func(t *testing.T) {
				if !jsontext.Value(row.body).IsValid() {
					return
				}
				_, _, err := Ask(t.Context(), wire.serve(t, upstream.Options{}, Stream(row.body)), Asking("hi"))
				assert.Equal(t, provider.ClassInterrupted, Failure(err).Class)
			})
		})
	}
}

// What a header says stands in a message as it came.
func (wire *Wire) rawHeaders(t *testing.T) {
	const secret = `Secret "\x;  é`
	for name, header := range map[string]string{"content type": "Content-Type", "content encoding": "Content-Encoding"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, err := Ask(t.Context(), wire.serve(t, upstream.Options{}, Status(200, "text/event-stream", "", header, secret)), Asking("hi"))
				assert.Equal(t, provider.ClassBadRequest, Failure(err).Class)
				assert.Contains(t, Failure(err).Message, secret)
			})
		})
	}
}

// Nobody asked for a compressed answer, which reads as junk.
func (wire *Wire) compressed(t *testing.T) {
	whole := wire.whole("a")
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
				p := wire.serve(t, upstream.Options{}, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Encoding", row.encoding)
					if row.status != 200 {
						w.WriteHeader(row.status)
						return
					}
					whole(w, r)
				})
				_, _, err := Ask(t.Context(), p, Asking("hi"))
				assert.Equal(t, row.class, Failure(err).Class)
				if row.class == "" {
					assert.NoError(t, err)
				} else {
					assert.Contains(t, Failure(err).Message, row.encoding)
					assert.NotContains(t, Failure(err).Message, "delta")
				}
			})
		})
	}
}
