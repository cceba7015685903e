package mock

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

func asking(input string) *provider.Request {
	return &provider.Request{Segments: []provider.Segment{
		{Kind: provider.SegmentSystem, Messages: []provider.Message{provider.Text(schema.RoleSystem, "You are helpful.")}},
		{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text(schema.RoleUser, input)}},
	}}
}

// ask makes a call and returns its pieces, joined with a |.
func ask(ctx context.Context, p *Provider, req *provider.Request) (string, *provider.Result, error) {
	var pieces []string
	res, err := p.Stream(ctx, req, func(e provider.Event) error {
		text := e.Text
		if e.Kind == provider.EventThinking {
			text = "(" + text + ")"
		}
		pieces = append(pieces, text)
		return nil
	})
	return strings.Join(pieces, "|"), res, err
}

func classOf(err error) provider.Class {
	var failed *provider.Error
	if errors.As(err, &failed) {
		return failed.Class
	}
	return ""
}

func TestEchoTellsInputAndInjections(t *testing.T) {
	p := New()
	got, res, err := ask(t.Context(), p, asking("hi"))
	require.NoError(t, err)
	assert.Equal(t, "You |said: |hi", got)
	assert.Equal(t, schema.StopEndTurn, res.StopReason)
	assert.EqualValues(t, 5, *res.Usage.InputTokens)
	assert.EqualValues(t, 3, *res.Usage.OutputTokens)
	assert.EqualValues(t, 8, *res.Usage.TotalTokens)

	req := asking("hi")
	req.Injected = []schema.Injected{
		{Name: "json-always", Placement: schema.PlaceSystem},
		{Name: "project", Placement: schema.PlaceContext},
	}
	got, _, err = ask(t.Context(), p, req)
	require.NoError(t, err)
	assert.Equal(t, "You said: hi\nInjected: json-always (system), project (context)", strings.ReplaceAll(got, "|", ""))
	assert.Equal(t, []*provider.Request{p.Requests()[0], req}, p.Requests())
}

func TestEchoCutsALongInputBetweenCharacters(t *testing.T) {
	for pad := range 4 {
		got, _, err := ask(t.Context(), New(), asking(strings.Repeat("x", pad)+strings.Repeat("𝄞", 1_000_000)))
		require.NoError(t, err)
		assert.True(t, utf8.ValidString(got))
		assert.Less(t, len(got), 400)
		assert.True(t, strings.HasSuffix(got, "…"))
	}
}

func TestScriptAnswersInOrder(t *testing.T) {
	p := New(WithScript([]Entry{
		{Deltas: []string{"Hel", "lo."}},
		{Text: "{}", Match: regexp.MustCompile("(?i)json")},
		{Thinking: "hm", Text: "twice", Times: 2, StopReason: schema.StopMaxTokens},
	}))
	for _, row := range []struct{ input, want string }{
		{"a", "Hel|lo."}, {"b", "(hm)|twice"}, {"JSON please", "{}"}, {"json again", "(hm)|twice"}, {"c", "You |said: |c"},
	} {
		got, _, err := ask(t.Context(), p, asking(row.input))
		require.NoError(t, err)
		assert.Equal(t, row.want, got)
	}
}

func TestARepeatedEntryAnswersForEver(t *testing.T) {
	p := New(WithScript([]Entry{{Text: "again", Repeat: true}, {Text: "never"}}))
	for range 20 {
		got, _, err := ask(t.Context(), p, asking("x"))
		require.NoError(t, err)
		assert.Equal(t, "again", got)
	}
}

func TestFaultsAreErrorsOfTheirClass(t *testing.T) {
	par := []string{"par"}
	for name, row := range map[string]struct {
		entry Entry
		class provider.Class
		text  string
	}{
		"cut":                             {Entry{Deltas: par, Then: Cut}, provider.ClassInterrupted, "par"},
		"cut before any text":             {Entry{Then: Cut}, provider.ClassInterrupted, ""},
		"reset":                           {Entry{Deltas: par, Then: Reset}, provider.ClassInterrupted, "par"},
		"reset before any text":           {Entry{Then: Reset}, provider.ClassNetwork, ""},
		"stall":                           {Entry{Deltas: par, Then: Stall}, provider.ClassTimeout, "par"},
		"an error":                        {Entry{Error: &provider.Error{Class: provider.ClassQuota}}, provider.ClassQuota, ""},
		"an error after some of the text": {Entry{Deltas: par, Error: &provider.Error{Class: provider.ClassOverloaded}}, provider.ClassOverloaded, "par"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, res, err := ask(t.Context(), New(WithScript([]Entry{row.entry})), asking("x"))
				assert.Equal(t, row.class, classOf(err))
				assert.Equal(t, row.text, got)
				assert.Nil(t, res)
			})
		})
	}
}

func TestDelaysAndStallsEndWithTheirContext(t *testing.T) {
	for name, entry := range map[string]Entry{
		"a delay before a piece": {Text: "late", Delay: time.Hour},
		"a delay without pieces": {Delay: time.Hour},
		"a stall":                {Then: Stall},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				start := time.Now()
				_, _, err := ask(ctx, New(WithScript([]Entry{entry}), WithIdleTimeout(-1)), asking("x"))
				assert.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, time.Second, time.Since(start))
			})
		})
	}
}

func TestDelayComesBeforeEachPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, _, err := ask(t.Context(), New(WithScript([]Entry{{Deltas: []string{"a", "b", "c"}, Delay: 20 * time.Millisecond}})), asking("x"))
		require.NoError(t, err)
		assert.Equal(t, 60*time.Millisecond, time.Since(start))
	})
}

func TestIgnoreCancelRunsOn(t *testing.T) {
	entry := []Entry{{Text: "x", Delay: time.Second, Then: IgnoreCancel}}
	for name, row := range map[string]struct {
		close time.Duration
		want  time.Duration
	}{
		"for ten seconds":        {0, 11 * time.Second},
		"until Close lets it go": {3 * time.Second, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				p := New(WithScript(entry))
				if row.close > 0 {
					time.AfterFunc(row.close, p.Close)
				}
				start := time.Now()
				got, res, err := ask(ctx, p, asking("x"))
				require.NoError(t, err)
				assert.Equal(t, "x", got)
				assert.Equal(t, schema.StopEndTurn, res.StopReason)
				assert.Equal(t, row.want, time.Since(start))
			})
		})
	}
}

func TestCloseReleasesAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithScript([]Entry{{Then: Stall}}))
		time.AfterFunc(time.Second, p.Close)
		_, _, err := ask(t.Context(), p, asking("x"))
		assert.Equal(t, provider.ClassInterrupted, classOf(err))
		p.Close()
	})
}

func TestAnErrorOfTheListenerEndsTheCall(t *testing.T) {
	enough := errors.New("enough")
	_, err := New().Stream(t.Context(), asking("x"), func(provider.Event) error { return enough })
	assert.Equal(t, enough, err)
}

func TestCallsAtOnceAreAllKept(t *testing.T) {
	p := New()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { _, _, _ = ask(t.Context(), p, asking("x")) })
	}
	wg.Wait()
	assert.Len(t, p.Requests(), 50)
}

func TestRequestsAreForgottenOnDemand(t *testing.T) {
	p := New(WithoutRequests(), WithScript([]Entry{{Text: "one"}}))
	for _, want := range []string{"one", "You |said: |x"} {
		text, _, err := ask(t.Context(), p, asking("x"))
		require.NoError(t, err)
		assert.Equal(t, want, text)
	}
	assert.Empty(t, p.Requests())
}
