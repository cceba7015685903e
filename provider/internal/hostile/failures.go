package hostile

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

const (
	html = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
	js   = "application/json"
)

// A fault is what a server does wrong, and what comes of it.
type fault struct {
	serve   http.HandlerFunc
	class   provider.Class
	status  int
	partial string
}

// U7: whatever a server does wrong is an error of its class, never an answer.
func (wire *Wire) failures(t *testing.T) {
	for name, row := range wire.streamFaults() {
		t.Run(name, func(t *testing.T) { wire.fails(t, row) })
	}
	for name, row := range statusFaults {
		t.Run(name, func(t *testing.T) { wire.fails(t, row) })
	}
}

func (wire *Wire) ownFailures(t *testing.T) {
	for name, row := range wire.Failures {
		t.Run(name, func(t *testing.T) {
			wire.fails(t, fault{Stream(row.Events...), row.Class, row.Status, row.Partial})
		})
	}
}

func (wire *Wire) fails(t *testing.T, row fault) {
	synctest.Test(t, func(t *testing.T) {
		got, res, err := Ask(t.Context(), wire.serve(t, upstream.Options{}, row.serve), Asking("hi"))
		failed := Failure(err)
		assert.Equal(t, row.class, failed.Class, err)
		assert.Equal(t, row.status, failed.Status)
		assert.NotEmpty(t, failed.Message)
		assert.Nil(t, res)
		if row.class == provider.ClassTooLarge && row.partial != "" {
			assert.InDelta(t, len(row.partial), len(got.Text), 1<<20)
		} else {
			assert.Equal(t, row.partial, got.Text)
		}
	})
}

// streamFaults are those of an answer that has begun.
func (wire *Wire) streamFaults() map[string]fault {
	par := wire.partial("par")
	silent := func(http.ResponseWriter, *http.Request) {}
	return map[string]fault{
		"cut before any event":                  {Stream(), provider.ClassInterrupted, 0, ""},
		"cut before the terminal event":         {par, provider.ClassInterrupted, 0, "par"},
		"broken before the terminal event":      {Abort(par), provider.ClassInterrupted, 0, "par"},
		"broken in the first event":             {Abort(Stream(`{"cho`)), provider.ClassInterrupted, 0, ""},
		"silence after some text":               {Stall(par), provider.ClassTimeout, 0, "par"},
		"silence after the header":              {Stall(Stream()), provider.ClassTimeout, 0, ""},
		"silence before the header":             {Stall(silent), provider.ClassTimeout, 0, ""},
		"comments for ever":                     {Drip(": still here\n\n"), provider.ClassTimeout, 0, ""},
		"a malformed event":                     {wire.partial("par", `{"choices":[`), provider.ClassInterrupted, 0, "par"},
		"a list for an event":                   {Stream(`[1]`), provider.ClassInterrupted, 0, ""},
		"an error event":                        {wire.partial("par", wire.Error("x", "oops")), provider.ClassInterrupted, 0, "par"},
		"an error event of text":                {wire.partial("par", `{"error":"oops"}`), provider.ClassInterrupted, 0, "par"},
		"an error event of another API":         {wire.partial("par", `{"error":{"message":"oops"}}`), provider.ClassInterrupted, 0, "par"},
		"an error event with a status":          {wire.partial("par", `{"error":{"code":429,"message":"slow down"}}`), provider.ClassRateLimit, 429, "par"},
		"an error event named so":               {wire.partial("par", "x\n\nevent: error\ndata: broken"), provider.ClassInterrupted, 0, "par"},
		"an error event naming overload":        {wire.partial("par", wire.Error("overloaded_error", "x")), provider.ClassOverloaded, 0, "par"},
		"an error event naming a rate":          {wire.partial("par", wire.Error("rate_limit_error", "x")), provider.ClassRateLimit, 0, "par"},
		"an error event naming the length":      {wire.partial("par", wire.Error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")), provider.ClassContextOverflow, 0, "par"},
		"an error event right after the header": {Stream(wire.Error("overloaded_error", "x")), provider.ClassOverloaded, 0, ""},
		"an answer larger than 16 MiB":          {Endless(wire.Text(strings.Repeat("x", 1<<20))), provider.ClassTooLarge, 0, strings.Repeat("x", 16<<20-32)},
		"reasoning larger than 16 MiB":          {Endless(wire.Thinking(strings.Repeat("x", 1<<20))), provider.ClassTooLarge, 0, ""},
		"an event larger than 8 MiB":            {Stream(strings.Repeat("x", 8<<20+1)), provider.ClassTooLarge, 0, ""},
	}
}

// statusFaults are those of a response that is no stream.
var statusFaults = map[string]fault{
	"429":                           {Status(429, js, `{"error":{"code":"rate_limit_exceeded"}}`), provider.ClassRateLimit, 429, ""},
	"429 for quota":                 {Status(429, js, `{"error":{"code":"insufficient_quota"}}`), provider.ClassQuota, 429, ""},
	"402":                           {Status(402, js, `{}`), provider.ClassQuota, 402, ""},
	"401":                           {Status(401, js, `{"error":{"message":"bad key"}}`), provider.ClassAuth, 401, ""},
	"403":                           {Status(403, "text/plain", ""), provider.ClassAuth, 403, ""},
	"408":                           {Status(408, js, `{}`), provider.ClassTimeout, 408, ""},
	"500":                           {Status(500, js, `{"error":{"message":"context length"}}`), provider.ClassOverloaded, 500, ""},
	"502 with a page":               {Status(502, "text/html", html), provider.ClassOverloaded, 502, ""},
	"503 without a body":            {Status(503, "text/plain", ""), provider.ClassOverloaded, 503, ""},
	"504":                           {Status(504, js, `{}`), provider.ClassTimeout, 504, ""},
	"529":                           {Status(529, js, `{"error":{"type":"overloaded_error"}}`), provider.ClassOverloaded, 529, ""},
	"400":                           {Status(400, js, `{"error":"text"}`), provider.ClassBadRequest, 400, ""},
	"400 for the context's length":  {Status(400, js, `{"error":{"code":"context_length_exceeded"}}`), provider.ClassContextOverflow, 400, ""},
	"400 for the prompt's length":   {Status(400, js, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`), provider.ClassContextOverflow, 400, ""},
	"400 for prompt and answer":     {Status(400, js, `{"error":{"message":"input length and max_tokens exceed context limit: 1 + 2 > 2"}}`), provider.ClassContextOverflow, 400, ""},
	"413 for the context's length":  {Status(413, js, `{"error":"This model's maximum context length is 5"}`), provider.ClassContextOverflow, 413, ""},
	"422 for policy":                {Status(422, js, `{"error":{"code":"content_policy_violation"}}`), provider.ClassContentFilter, 422, ""},
	"404":                           {Status(404, "text/plain", "404 page not found"), provider.ClassBadRequest, 404, ""},
	"a redirect":                    {Status(307, "text/plain", "", "Location", "http://127.0.0.1/elsewhere"), provider.ClassBadRequest, 307, ""},
	"204":                           {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, provider.ClassBadRequest, 204, ""},
	"an answer that is no stream":   {Status(200, js, `{"choices":[{"message":{"content":"hi"}}]}`), provider.ClassBadRequest, 200, ""},
	"a page for an answer":          {Status(200, "text/html", html), provider.ClassBadRequest, 200, ""},
	"a header larger than 64 KiB":   {Status(200, "text/event-stream", "", "X-Big", strings.Repeat("x", 1<<20)), provider.ClassNetwork, 0, ""},
	"an error body that never ends": {Stall(Status(400, js, `{"error":"text"}`)), provider.ClassTimeout, 0, ""},
}
