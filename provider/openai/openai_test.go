package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

func TestAnswersEndWell(t *testing.T) {
	const done = "[DONE]"
	call := `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\""}}]}}]}`
	rest := `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`
	for name, row := range map[string]struct {
		events []string
		want   said
		stop   schema.StopReason
	}{
		"finish reason and DONE":            {[]string{text("a"), text("b"), finish("stop"), done}, said{text: "ab"}, schema.StopEndTurn},
		"a finish reason alone":             {[]string{text("a"), finish("stop")}, said{text: "a"}, schema.StopEndTurn},
		"DONE alone, after some text":       {[]string{text("a"), done}, said{text: "a"}, schema.StopEndTurn},
		"an empty answer":                   {[]string{finish("stop"), done}, said{}, schema.StopEndTurn},
		"junk after the finish reason":      {[]string{text("a"), finish("stop"), `{"cho`}, said{text: "a"}, schema.StopEndTurn},
		"length":                            {[]string{text("a"), finish("length"), done}, said{text: "a"}, schema.StopMaxTokens},
		"content_filter":                    {[]string{text("a"), finish("content_filter"), done}, said{text: "a"}, schema.StopRefusal},
		"a refusal in its own field":        {[]string{`{"choices":[{"delta":{"content":null,"refusal":"No."}}]}`, finish("stop")}, said{text: "No."}, schema.StopRefusal},
		"tool calls":                        {[]string{call, rest, finish("tool_calls"), done}, said{}, schema.StopEndTurn},
		"length in another case":            {[]string{text("a"), finish("MAX_TOKENS"), done}, said{text: "a"}, schema.StopMaxTokens},
		"a reason that is not one yet":      {[]string{`{"choices":[{"delta":{"content":"a"},"finish_reason":"null"}]}`, text("b"), finish("stop"), done}, said{text: "ab"}, schema.StopEndTurn},
		"an error after the finish reason":  {[]string{text("a"), finish("stop"), `{"error":{"code":500}}`, done}, said{text: "a"}, schema.StopEndTurn},
		"two finish reasons":                {[]string{text("a"), finish("stop"), finish("error"), done}, said{text: "a"}, schema.StopEndTurn},
		"an error that is none":             {[]string{`{"choices":[],"error":""}`, text("a"), finish("stop"), done}, said{text: "a"}, schema.StopEndTurn},
		"a reason nobody knows":             {[]string{text("a"), finish("eos"), done}, said{text: "a"}, schema.StopEndTurn},
		"reasoning_content":                 {[]string{`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, text("a"), finish("stop")}, said{"a", "hm"}, schema.StopEndTurn},
		"reasoning":                         {[]string{`{"choices":[{"delta":{"reasoning":"hm","content":""}}]}`, text("a"), finish("stop")}, said{"a", "hm"}, schema.StopEndTurn},
		"both names of the same reasoning":  {[]string{`{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`, finish("stop")}, said{"", "hm"}, schema.StopEndTurn},
		"nulls wherever they can stand":     {[]string{`{"choices":null,"usage":null,"error":null}`, `{"choices":[{"index":null,"delta":null,"finish_reason":null}]}`, `{"choices":[{"delta":{"content":null,"tool_calls":null}}]}`, text("a"), finish("stop")}, said{text: "a"}, schema.StopEndTurn},
		"other choices are not this answer": {[]string{`{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"},{"index":0,"delta":{"content":"a"}}]}`, finish("stop")}, said{text: "a"}, schema.StopEndTurn},
		"keys twice and unknown ones":       {[]string{`{"id":1,"id":2,"choices":[{"delta":{"content":"a","x":[]},"logprobs":{}}]}`, finish("stop")}, said{text: "a"}, schema.StopEndTurn},
		"keys in another case are unknown":  {[]string{`{"Choices":[{"delta":{"content":"b"}}]}`, text("a"), finish("stop")}, said{text: "a"}, schema.StopEndTurn},
		"an event of 3 MB":                  {[]string{text(strings.Repeat("x", 3<<20)), finish("stop")}, said{text: strings.Repeat("x", 3<<20)}, schema.StopEndTurn},
		"characters of two halves (T5)":     {[]string{`{"choices":[{"delta":{"content":"\ud83d"}}]}`, `{"choices":[{"delta":{"content":"\ude00"}}]}`, text("\xe2"), text("\x82\xac"), finish("stop")}, said{text: "😀€"}, schema.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, res, err := ask(t.Context(), serve(t, Options{}, stream(row.events...)), asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.want, got)
				assert.Equal(t, row.stop, res.StopReason)
				if name == "tool calls" {
					assert.Equal(t, []provider.ToolCall{{ID: "c1", Name: "ls", Input: []byte(`{"a":1}`)}}, res.ToolCalls)
				}
			})
		})
	}
}

func TestAnAnswerIsWholeOnceItsFinishReasonCame(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"then the connection breaks": abort(stream(text("a"), finish("stop"))),
		"then nothing for ever":      stall(stream(text("a"), finish("stop"))),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, res, err := ask(t.Context(), serve(t, Options{}, h), asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, "a", got.text)
				assert.Equal(t, schema.StopEndTurn, res.StopReason)
				assert.LessOrEqual(t, time.Since(start), 2*time.Second)
			})
		})
	}
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		serve http.HandlerFunc
		want  int
	}{
		"after DONE":                         {stream(text("a"), finish("stop"), "[DONE]"), 1},
		"after an end without DONE":          {stream(text("a"), finish("stop")), 1},
		"after an error":                     {status(401, "application/json", `{"error":"no"}`), 1},
		"after an error without a body":      {status(400, "", ""), 1},
		"not when the server holds it":       {stall(stream(text("a"), finish("stop"), "[DONE]")), 3},
		"not when the server says on and on": {endless("[DONE]"), 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := map[string]bool{}
				p := serve(t, Options{IdleTimeout: -1}, func(w http.ResponseWriter, r *http.Request) {
					from[r.RemoteAddr] = true
					row.serve(w, r)
				})
				start := time.Now()
				for range 3 {
					_, _, _ = ask(t.Context(), p, asking("hi"))
				}
				assert.LessOrEqual(t, time.Since(start), 300*time.Millisecond)
				assert.Len(t, from, row.want)
			})
		})
	}
}

// T5: bytes of a character that are cut at each place, one byte of the
// connection at a time.
func TestT5BytesOneAtATime(t *testing.T) {
	const want = "a€😀ß"
	for cut := range len(want) + 1 {
		synctest.Test(t, func(t *testing.T) {
			body := "\xEF\xBB\xBF: hi\r\n\r\n"
			for _, part := range []string{want[:cut], want[cut:]} {
				body += `data: {"choices":[{"delta":{"content":"` + part + "\"}}]}\r\n\r\n"
			}
			body += "data: " + finish("stop") + "\r\n\r\ndata: [DONE]"
			p := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				for i := range len(body) {
					_, _ = io.WriteString(w, body[i:i+1])
					w.(http.Flusher).Flush()
				}
			})
			var got strings.Builder
			_, err := p.Stream(t.Context(), asking("hi"), func(e provider.Event) error {
				assert.True(t, utf8.ValidString(e.Text))
				got.WriteString(e.Text)
				return nil
			})
			assert.NoError(t, err)
			assert.Equal(t, want, got.String())
		})
	}
}

func TestUsage(t *testing.T) {
	count := func(n int64) *int64 { return &n }
	for name, row := range map[string]struct {
		reports []string
		want    schema.Usage
	}{
		"none": {nil, schema.Usage{}},
		"all of it": {
			[]string{`{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":1}}`},
			schema.Usage{InputTokens: count(10), OutputTokens: count(2), TotalTokens: count(12), CacheReadTokens: count(8), ReasoningTokens: count(1)},
		},
		"a later report overrides": {
			[]string{`{"prompt_tokens":10,"completion_tokens":1}`, `{"completion_tokens":2}`, `null`},
			schema.Usage{InputTokens: count(10), OutputTokens: count(2)},
		},
		"odd details spoil no counts": {
			[]string{`{"prompt_tokens":5,"prompt_tokens_details":[],"completion_tokens_details":{"reasoning_tokens":1,"x":{}}}`},
			schema.Usage{InputTokens: count(5), ReasoningTokens: count(1)},
		},
		"what makes no sense is unknown": {
			[]string{`{"prompt_tokens":-1,"completion_tokens":1.5,"total_tokens":9007199254740993e3,"prompt_tokens_details":null}`, `[]`, `{"completion_tokens_details":7}`},
			schema.Usage{},
		},
		"2^53 and a whole number written as a fraction": {
			[]string{`{"prompt_tokens":9007199254740992,"completion_tokens":2.0}`},
			schema.Usage{InputTokens: count(1 << 53), OutputTokens: count(2)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events := []string{text("a"), finish("stop")}
				for _, r := range row.reports {
					events = append(events, `{"choices":[],"usage":`+r+`}`)
				}
				_, res, err := ask(t.Context(), serve(t, Options{}, stream(events...)), asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.want, res.Usage)
			})
		})
	}
}

func TestRetries(t *testing.T) {
	good := stream(text("ok"), finish("stop"))
	for name, row := range map[string]struct {
		opts     Options
		serve    http.HandlerFunc
		class    provider.Class // empty: it ends well
		requests int
		min, max time.Duration
	}{
		"429 once":                            {Options{}, inTurn(status(429, "", ""), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"each wait is twice the last":         {Options{}, inTurn(status(500, "", ""), status(503, "", ""), status(529, "", ""), good), "", 4, 2625 * time.Millisecond, 4375 * time.Millisecond},
		"three retries and no more":           {Options{}, status(500, "", ""), provider.ClassOverloaded, 4, 2625 * time.Millisecond, 4375 * time.Millisecond},
		"none when none are wanted":           {Options{MaxRetries: -1}, status(500, "", ""), provider.ClassOverloaded, 1, 0, 0},
		"Retry-After is obeyed":               {Options{}, inTurn(status(429, "", "", "Retry-After", "60"), good), "", 2, time.Minute, time.Minute},
		"Retry-After in milliseconds":         {Options{}, inTurn(status(429, "", "", "Retry-After-Ms", "1500", "Retry-After", "2"), good), "", 2, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"Retry-After as a date":               {Options{}, inTurn(status(503, "", "", "Retry-After", "Sat, 01 Jan 2000 00:00:30 GMT"), good), "", 2, 30 * time.Second, 30 * time.Second},
		"Retry-After past a minute":           {Options{}, status(429, "", "", "Retry-After", "14400"), provider.ClassRateLimit, 1, 0, 0},
		"Retry-After as a date past a minute": {Options{}, status(503, "", "", "Retry-After", "Sat, 01 Jan 2000 00:02:00 GMT"), provider.ClassOverloaded, 1, 0, 0},
		"Retry-After years ahead":             {Options{}, status(429, "", "", "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), provider.ClassRateLimit, 1, 0, 0},
		"Retry-After of years of seconds":     {Options{}, status(429, "", "", "Retry-After", "3000000000"), provider.ClassRateLimit, 1, 0, 0},
		"Retry-After of years of ms":          {Options{}, status(503, "", "", "Retry-After-Ms", "99999999999"), provider.ClassOverloaded, 1, 0, 0},
		"a Retry-After that is no time":       {Options{}, inTurn(status(429, "", "", "Retry-After", "soon"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a Retry-After that is no number":     {Options{}, inTurn(status(429, "", "", "Retry-After", "NaN"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"an infinite Retry-After":             {Options{}, inTurn(status(429, "", "", "Retry-After", "Inf"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"no Retry-After at all":               {Options{}, inTurn(status(429, "", "", "Retry-After", "0"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a negative Retry-After":              {Options{}, inTurn(status(429, "", "", "Retry-After", "-5"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"an absurd Retry-After":               {Options{}, inTurn(status(429, "", "", "Retry-After", "1e30"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a Retry-After of a past date":        {Options{}, inTurn(status(429, "", "", "Retry-After", "Fri, 31 Dec 1999 00:00:00 GMT"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a gateway's timeout":                 {Options{}, inTurn(status(504, "", ""), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"an overload told in the stream":      {Options{}, inTurn(stream(`{"error":{"type":"overloaded_error"}}`), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a connection that brings nothing":    {Options{}, inTurn(abort(func(http.ResponseWriter, *http.Request) {}), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"not for a bad key":                   {Options{}, status(401, "", ""), provider.ClassAuth, 1, 0, 0},
		"not for a used-up quota":             {Options{}, status(429, "", `{"error":{"type":"insufficient_quota"}}`), provider.ClassQuota, 1, 0, 0},
		"not for a bad request":               {Options{}, status(400, "", ""), provider.ClassBadRequest, 1, 0, 0},
		"not once text came":                  {Options{}, stream(text("par"), `{"error":{"type":"overloaded_error"}}`), provider.ClassOverloaded, 1, 0, 0},
		"not once reasoning came":             {Options{}, abort(stream(`{"choices":[{"delta":{"reasoning":"hm"}}]}`)), provider.ClassInterrupted, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				p := serve(t, row.opts, func(w http.ResponseWriter, r *http.Request) {
					requests++
					body, err := io.ReadAll(r.Body)
					assert.NoError(t, err)
					assert.Contains(t, string(body), `"hi"`)
					row.serve(w, r)
				})
				start := time.Now()
				got, _, err := ask(t.Context(), p, asking("hi"))
				took := time.Since(start)
				assert.Equal(t, row.class, failure(err).Class)
				if row.class == "" {
					require.NoError(t, err)
					assert.Equal(t, "ok", got.text)
				}
				assert.Equal(t, row.requests, requests)
				assert.GreaterOrEqual(t, took, row.min)
				assert.LessOrEqual(t, took, row.max)
			})
		})
	}
}

func TestALongRetryAfterIsTold(t *testing.T) {
	for asked, want := range map[string]time.Duration{
		"61":                            61 * time.Second,
		"14400":                         4 * time.Hour,
		"3000000000":                    24 * time.Hour,
		"Sat, 01 Jan 2000 04:00:00 GMT": 4 * time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			_, _, err := ask(t.Context(), serve(t, Options{}, status(429, "", "", "Retry-After", asked)), asking("hi"))
			assert.Equal(t, want, failure(err).RetryAfter, asked)
			assert.Zero(t, time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), "told at once")
		})
	}
}

func TestARetryIsToldBeforeItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, Options{}, inTurn(status(503, "", ""), status(429, "", "", "Retry-After", "7"), stream(text("ok"), finish("stop"))))
		var events []provider.Event
		var at []time.Duration
		start := time.Now()
		_, err := p.Stream(t.Context(), asking("hi"), func(e provider.Event) error {
			events, at = append(events, e), append(at, time.Since(start))
			return nil
		})
		require.NoError(t, err)
		require.Len(t, events, 3)
		first := events[0].Retry.Delay
		assert.InDelta(t, 500*time.Millisecond, first, float64(125*time.Millisecond))
		assert.Equal(t, []provider.Event{
			{Kind: provider.EventRetry, Retry: provider.Retry{Attempt: 1, Delay: first, Class: provider.ClassOverloaded}},
			{Kind: provider.EventRetry, Retry: provider.Retry{Attempt: 2, Delay: 7 * time.Second, Class: provider.ClassRateLimit}},
			{Kind: provider.EventText, Text: "ok"},
		}, events)
		assert.Equal(t, []time.Duration{0, first, first + 7*time.Second}, at)
	})
}

func TestAListenerCanEndACallAtARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		start := time.Now()
		_, err := serve(t, Options{}, status(503, "", "")).Stream(t.Context(), asking("hi"), func(provider.Event) error { return enough })
		assert.Equal(t, enough, err)
		assert.Zero(t, time.Since(start))
	})
}

func TestARequestWithoutAModelIsNotMade(t *testing.T) {
	for _, model := range []string{"", " \t"} {
		synctest.Test(t, func(t *testing.T) {
			asked := false
			p := serve(t, Options{}, func(http.ResponseWriter, *http.Request) { asked = true })
			req := asking("hi")
			req.Model = model
			_, _, err := ask(t.Context(), p, req)
			assert.Equal(t, provider.ClassBadRequest, failure(err).Class)
			assert.Contains(t, failure(err).Message, "--model")
			assert.False(t, asked)
		})
	}
}

func TestAnErrorOfTheListenerIsReturnedAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		_, err := serve(t, Options{}, stream(text("a"), finish("stop"))).Stream(t.Context(), asking("hi"),
			func(provider.Event) error { return enough })
		assert.Equal(t, enough, err)
	})
}

func TestWhereAKeyMayTravel(t *testing.T) {
	key := redact.NewSecret("sk-test")
	for name, row := range map[string]struct {
		opts Options
		want error
	}{
		"nothing set":               {Options{}, nil},
		"https":                     {Options{BaseURL: "https://example.com/v1", Key: key}, nil},
		"the loopback net":          {Options{BaseURL: "http://127.8.9.1:80/v1", Key: key}, nil},
		"the loopback of IPv6":      {Options{BaseURL: "http://[::1]:80/v1", Key: key}, nil},
		"localhost":                 {Options{BaseURL: "http://LocalHost:11434/v1", Key: key}, nil},
		"http elsewhere":            {Options{BaseURL: "http://example.com/v1", Key: key}, ErrInsecure},
		"a name like localhost":     {Options{BaseURL: "http://localhost.example.com/v1", Key: key}, ErrInsecure},
		"a name that looks local":   {Options{BaseURL: "http://127.0.0.1.example.com", Key: key}, ErrInsecure},
		"a private address":         {Options{BaseURL: "http://192.168.0.1/v1", Key: key}, ErrInsecure},
		"http elsewhere, allowed":   {Options{BaseURL: "http://example.com/v1", Key: key, AllowInsecure: true}, nil},
		"http elsewhere, no key":    {Options{BaseURL: "http://example.com/v1"}, nil},
		"a user in the URL":         {Options{BaseURL: "https://me:pw@example.com/v1"}, ErrBaseURL},
		"another scheme":            {Options{BaseURL: "file:///v1"}, ErrBaseURL},
		"no scheme":                 {Options{BaseURL: "example.com/v1"}, ErrBaseURL},
		"no host":                   {Options{BaseURL: "http:///v1"}, ErrBaseURL},
		"no URL":                    {Options{BaseURL: "http://%zz"}, ErrBaseURL},
		"a key with a line end":     {Options{Key: redact.NewSecret("sk\nX-Evil: 1")}, ErrKey},
		"a key that no header has":  {Options{Key: redact.NewSecret("ключ")}, ErrKey},
		"a user without a password": {Options{BaseURL: "https://me@example.com/v1"}, ErrBaseURL},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(row.opts)
			assert.ErrorIs(t, err, row.want)
			if err != nil {
				assert.NotContains(t, err.Error(), "pw")
			}
		})
	}
}

func TestHeadersOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got http.Header
		var path string
		h := func(w http.ResponseWriter, r *http.Request) {
			got, path = r.Header, r.Method+" "+r.URL.String()
			stream(finish("stop"))(w, r)
		}
		p := serve(t, Options{BaseURL: "http://localhost/v1/?a=b", Key: redact.NewSecret("sk-test"), UserAgent: "prism-rpc/1"}, h)
		_, _, err := ask(context.Background(), p, asking("hi"))
		require.NoError(t, err)
		assert.Equal(t, "POST /v1/chat/completions?a=b", path)
		assert.Equal(t, "Bearer sk-test", got.Get("Authorization"))
		assert.Equal(t, "identity", got.Get("Accept-Encoding"))
		assert.Equal(t, "prism-rpc/1", got.Get("User-Agent"))
		assert.Equal(t, "application/json", got.Get("Content-Type"))

		_, _, err = ask(context.Background(), serve(t, Options{}, h), asking("hi"))
		require.NoError(t, err)
		assert.NotContains(t, got, "Authorization")
	})
}
