package rpc

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// line sends a line as it is and gives the answer to it.
func (p *peer) line(line string) answered {
	p.t.Helper()
	_, err := fmt.Fprintln(p.in, line)
	require.NoError(p.t, err)
	return p.recv()
}

// replies reads until n replies have come.
func (p *peer) replies(n int) (all []answered) {
	p.t.Helper()
	for len(all) < n {
		if a := p.recv(); a.Method == "" {
			all = append(all, a)
		}
	}
	return all
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func names(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"n%d"`, i)
	}
	return "[" + strings.Join(list, ",") + "]"
}

func of(n int) string { return quoted(strings.Repeat("x", n)) }

// A limitRow shows that a limit holds: what is at it is taken, what passes it
// has the error. Those without an error bound something else.
type limitRow struct {
	code int
	past func(t *testing.T, limit int) answered
}

// The limits of protocol §10, each by its name in capabilities.limits.
var limitRows = map[string]limitRow{
	"maxFrame": {codeInvalidRequest, func(t *testing.T, limit int) answered {
		p := serving(t, Options{MaxFrame: limit})
		head := len(request("1", "ping", `{"_meta":""}`))
		require.Nil(t, p.line(request("1", "ping", `{"_meta":`+of(limit-head)+`}`)).Error)
		return p.line(request("1", "ping", `{"_meta":`+of(limit-head+1)+`}`))
	}},
	"maxDepth": {codeInvalidRequest, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		require.Nil(t, p.line(request("1", "ping", `{"_meta":`+nested(limit-2)+`}`)).Error)
		return p.line(request("1", "ping", `{"_meta":`+nested(limit-1)+`}`))
	}},
	"maxIdBytes": {codeInvalidRequest, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		require.Nil(t, p.line(request(of(limit-2), "ping", "{}")).Error)
		return p.line(request(of(limit-1), "ping", "{}"))
	}},
	"maxBatch": {codeInvalidRequest, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		_, err := fmt.Fprintln(p.in, array(repeated(limit)...))
		require.NoError(t, err)
		whole, err := p.out.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, limit, strings.Count(whole, `"result"`))
		return p.line(array(repeated(limit + 1)...))
	}},
	"maxInFlight": {codeOverloaded, func(t *testing.T, limit int) answered {
		p := servingWith(t, Options{}, session.Config{Limits: session.Limits{MaxRunning: 1}}, stalled)
		for i := range limit + 1 {
			p.send("prompt", fmt.Sprintf(`{"sessionId":"s%d","input":"hi"}`, i))
		}
		refused := p.replies(1)[0]
		require.Nil(t, p.ask("ping", "{}").Error, "what is urgent goes on")
		return refused
	}},
	"maxUnreadBytes": {0, func(t *testing.T, limit int) answered {
		o := testOptions()
		o.limits.maxUnreadBytes = limit
		c := dial(t, o)
		message := request("1", "echo", of(10_000)) + "\n"
		go func() { // ends when the pipe is closed
			for err := error(nil); err == nil; {
				_, err = c.in.Write([]byte(message))
			}
		}()
		stuck := func() bool {
			c.w.mu.Lock()
			defer c.w.mu.Unlock()
			return c.w.unread > limit
		}
		require.Eventually(t, stuck, 10*time.Second, time.Millisecond)
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		assert.LessOrEqual(t, c.w.unread, limit+readBuffer+2*len(message))
		return answered{}
	}},
	"maxMessageBytes": {codeInvalidRequest, func(t *testing.T, limit int) answered {
		o := testOptions()
		o.limits.maxMessage = limit
		c := dial(t, o)
		most := limit - framingBytes - len(result("1", `""`))
		c.send(request("1", "echo", of(most)))
		require.Equal(t, result("1", of(most)), c.recv())
		c.send(request("1", "echo", of(most+1)))
		var a answered
		require.NoError(t, json.Unmarshal([]byte(c.recv()), &a))
		return a
	}},
	"maxQueue": {codeOverloaded, func(t *testing.T, limit int) answered {
		p := servingWith(t, Options{}, session.Config{}, stalled)
		for range limit + 2 {
			p.send("followUp", `{"input":"hi"}`)
		}
		return p.replies(1)[0]
	}},
	"maxQueueBytes": {codeOverloaded, func(t *testing.T, limit int) answered {
		p := servingWith(t, Options{}, session.Config{Limits: session.Limits{MaxQueueBytes: limit}}, stalled)
		p.send("followUp", `{"input":"hi"}`)
		p.send("followUp", `{"input":`+of(limit/2)+`}`)
		p.send("followUp", `{"input":`+of(limit/2+1)+`}`)
		return p.replies(1)[0]
	}},
	"maxRunning": {0, func(t *testing.T, limit int) answered {
		p := servingWith(t, Options{}, session.Config{}, stalled)
		for i := range limit {
			p.send("prompt", fmt.Sprintf(`{"sessionId":"s%d","input":"hi"}`, i))
		}
		for range limit {
			require.Contains(t, string(p.recv().Params), "turn_started")
		}
		p.send("prompt", `{"sessionId":"another","input":"hi"}`)
		assert.Contains(t, string(p.recv().Params), `"prompt_queued","requestId":65,"position":1,"reason":"server"`)
		return answered{}
	}},
	"maxInjectors": {0, func(t *testing.T, limit int) answered {
		r := &inject.Registry{}
		for i := range limit + 1 {
			_, err := r.Register(inject.Static(fmt.Sprint("n", i), inject.Contribution{Instructions: "x"}), schema.OriginConfig)
			if i < limit {
				require.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, inject.ErrFull)
			}
		}
		return answered{}
	}},
	"maxInjectorBytes": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		require.Nil(t, p.ask("newSession", `{"instructions":`+of(limit)+`}`).Error)
		return p.ask("newSession", `{"instructions":`+of(limit+1)+`}`)
	}},
	"maxInjectorBlocks": {0, func(t *testing.T, limit int) answered {
		spec := schema.InjectorSpec{Name: "n", When: schema.WhenEveryTurn, ContextBlocks: make([]schema.ContextBlock, limit+1)}
		for i := range spec.ContextBlocks {
			spec.ContextBlocks[i].Content = schema.Input{schema.TextBlock("x")}
		}
		_, err := inject.FromSpec(spec)
		var bad *schema.ParamsError
		require.ErrorAs(t, err, &bad)
		assert.Equal(t, limit, bad.Limit)
		spec.ContextBlocks = spec.ContextBlocks[:limit]
		_, err = inject.FromSpec(spec)
		assert.NoError(t, err)
		return answered{}
	}},
	"maxBlockBytes": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{}, "ok")
		require.Nil(t, p.ask("prompt", `{"input":"hi","contextBlocks":[{"content":`+of(limit)+`}]}`).Error)
		return p.ask("prompt", `{"input":"hi","contextBlocks":[{"content":`+of(limit)+`},{"content":"x"}]}`)
	}},
	"maxSelected": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		require.Equal(t, codeUnknownInjector, p.ask("prompt", `{"input":"hi","instructionInjectors":`+names(limit)+`}`).Error.Code)
		return p.ask("prompt", `{"input":"hi","instructionInjectors":`+names(limit+1)+`}`)
	}},
	"maxSplices": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		for range limit {
			require.Nil(t, p.ask("spliceContext", `{"name":"n","content":"x","id":null}`).Error)
		}
		require.Nil(t, p.ask("newSession", `{"sessionId":"other"}`).Error)
		require.Nil(t, p.ask("spliceContext", `{"sessionId":"other","name":"n","content":"x"}`).Error, "the bound is a session's")
		return p.ask("spliceContext", `{"name":"n","content":"x"}`)
	}},
	"maxSpliceBytes": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		require.Nil(t, p.ask("spliceContext", `{"name":"n","content":`+of(limit-1)+`}`).Error)
		return p.ask("spliceContext", `{"name":"n","content":`+of(limit)+`}`)
	}},
	"maxMetadataBytes": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{}, "ok")
		room := limit - len(`{"a":""}`)
		require.Nil(t, p.ask("prompt", `{"input":"hi","metadata":{"a":`+of(room)+`}}`).Error)
		return p.ask("prompt", `{"input":"hi","metadata":{"a":`+of(room+1)+`}}`)
	}},
	"maxRequestKeyBytes": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{}, "ok")
		require.Nil(t, p.ask("prompt", `{"input":"hi","requestKey":`+of(limit)+`}`).Error)
		return p.ask("prompt", `{"input":"hi","requestKey":`+of(limit+1)+`}`)
	}},
	"maxAnswer": {codeProviderError, func(t *testing.T, limit int) answered {
		cfg := session.Config{Limits: session.Limits{MaxAnswer: limit}}
		p := servingWith(t, Options{}, cfg, mock.Entry{Text: strings.Repeat("x", limit)}, mock.Entry{Text: strings.Repeat("x", limit+1)})
		require.Nil(t, p.ask("prompt", `{"input":"hi"}`).Error)
		a := p.ask("prompt", `{"input":"hi"}`)
		require.NotNil(t, a.Error)
		assert.Equal(t, "too_large", a.Error.Data.Class)
		return a
	}},
	"maxCallbacks": {0, func(t *testing.T, limit int) answered {
		c := dial(t, testOptions())
		asking(c)
		for i := range limit {
			c.send(request(fmt.Sprint(i), "ask", "{}"))
			require.Contains(t, c.recv(), "question")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := c.conn.call(ctx, "question", 1)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		c.send(request(`"p"`, "ping", "{}"))
		assert.Equal(t, result(`"p"`, "{}"), c.recv(), "the client was not asked")
		return answered{}
	}},
	"callbackHistoryBytes": {0, func(t *testing.T, limit int) answered {
		s := newServer(Options{})
		s.conn = newConn(strings.NewReader(""), io.Discard, connOptions{})
		message := schema.AssistantText(strings.Repeat("x", 1000))
		history := func(most int) iter.Seq[schema.Message] {
			return slices.Values(slices.Repeat([]schema.Message{message}, min(most, 1000)))
		}
		told := s.applyParams("x", []schema.Want{schema.WantHistory}, inject.Context{Recent: history}).Context.History
		assert.LessOrEqual(t, sizeOf(told), limit+len("[]"))
		assert.Greater(t, sizeOf(told)+sizeOf(message)+len(","), limit)
		return answered{}
	}},
	"maxImageBytes": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := servingWith(t, Options{}, session.Config{})
		p.must("initialize", `{"initializationOptions":{"exclude":["turn_started","message_delta","usage","turn_ended"]}}`, &schema.InitializeResult{})
		image := func(size int) string {
			data := make([]byte, size)
			copy(data, "GIF89a")
			return `{"input":[{"type":"image","mimeType":"image/gif","data":"` + base64.StdEncoding.EncodeToString(data) + `"}]}`
		}
		require.Nil(t, p.ask("prompt", image(limit)).Error)
		return p.ask("prompt", image(limit+1))
	}},
	"maxImages": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := servingWith(t, Options{}, session.Config{})
		p.must("initialize", `{"initializationOptions":{"exclude":["turn_started","message_delta","usage","turn_ended"]}}`, &schema.InitializeResult{})
		images := func(n int) string {
			return `{"input":[` + strings.Repeat(`{"type":"image","mimeType":"image/gif","data":"R0lGODlh"},`, n-1) + `{"type":"image","mimeType":"image/gif","data":"R0lGODlh"}]}`
		}
		require.Nil(t, p.ask("prompt", images(limit)).Error)
		return p.ask("prompt", images(limit+1))
	}},
	"maxReminders": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		rows := func(n int) string {
			return `{"prompts":[` + strings.TrimSuffix(strings.Repeat(`{"text":"x","trigger":"postCompaction"},`, n), ",") + `]}`
		}
		require.Nil(t, p.ask("setReminders", rows(limit)).Error)
		return p.ask("setReminders", rows(limit+1))
	}},
	"maxReminderBytes": {codeInvalidParams, func(t *testing.T, limit int) answered {
		p := serving(t, Options{})
		row := func(n int) string { return `{"prompts":[{"text":` + of(n) + `}]}` }
		require.Nil(t, p.ask("setReminders", row(limit)).Error)
		return p.ask("setReminders", row(limit+1))
	}},
	"maxKnown": {codeUnknownInjector, func(t *testing.T, limit int) answered {
		r := &inject.Registry{}
		for i := range limit + 1 {
			_, err := r.Register(inject.Static(fmt.Sprint("n", i), inject.Contribution{Instructions: "x"}), schema.OriginConfig)
			require.NoError(t, err)
		}
		p := servingWith(t, Options{}, session.Config{Registry: r})
		a := p.ask("prompt", `{"input":"hi","instructionInjectors":["x"]}`)
		assert.Len(t, a.Error.Data.Known, limit)
		return a
	}},
}

func TestLimits_AreBoundsInCapabilities(t *testing.T) {
	var greeting schema.InitializeResult
	serving(t, Options{}).must("initialize", "{}", &greeting)
	limits := greeting.Capabilities.Limits
	assert.Equal(t, slices.Sorted(maps.Keys(limitRows)), slices.Sorted(maps.Keys(limits)), "each limit has its test")
	small := map[string]int{"maxFrame": 8000, "maxUnreadBytes": 100_000, "maxQueueBytes": 1000, "maxAnswer": 10_000, "maxMessageBytes": 100_000}
	unsaid := []string{"maxAnswer", "maxKnown"} // their errors are of another kind
	for name, row := range limitRows {
		t.Run(name, func(t *testing.T) {
			limit := limits[name]
			require.Positive(t, limit)
			if at, ok := small[name]; ok {
				limit = at
			}
			a := row.past(t, limit)
			if row.code == 0 {
				return
			}
			require.NotNil(t, a.Error)
			assert.Equal(t, row.code, a.Error.Code)
			if !slices.Contains(unsaid, name) {
				assert.Equal(t, limit, a.Error.Data.Limit)
			}
		})
	}
}
