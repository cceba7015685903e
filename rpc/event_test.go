package rpc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

func delta(session, run string, text string) *schema.MessageDelta {
	return &schema.MessageDelta{EventHeader: schema.EventHeader{SessionID: session, RunID: run, Turn: 1, Type: schema.EventMessageDelta}, Text: text}
}

func thinking(session, run string, text string) *schema.ThinkingDelta {
	return &schema.ThinkingDelta{EventHeader: schema.EventHeader{SessionID: session, RunID: run, Turn: 1, Type: schema.EventThinkingDelta}, Text: text}
}

func started(session, run, requestID string) *schema.TurnStarted {
	return &schema.TurnStarted{EventHeader: schema.EventHeader{SessionID: session, RunID: run, Turn: 1, Type: schema.EventTurnStarted}, RequestID: jsontext.Value(requestID)}
}

// sendQueued gives messages to a writer that is not started, so all are queued
// when it writes.
func sendQueued(t *testing.T, f Framing, send func(*events, *writer)) []string {
	t.Helper()
	var out bytes.Buffer
	w := newWriter(&out, 1<<20)
	w.setFraming(f)
	send(newEvents(w, newSizes(schema.MaxMessageBytes)), w)
	go w.loop() // ends by close
	require.True(t, w.close(within(t, flushTime)))
	if f == FramingHeaders {
		return unframe(t, out.String())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// told shortens events to session, seq, type and text.
func told(t *testing.T, messages []string) []string {
	t.Helper()
	var short []string
	for _, m := range messages {
		var ev struct {
			Params struct {
				schema.EventHeader
				Text string `json:"text"`
			} `json:"params"`
		}
		require.NoError(t, json.Unmarshal([]byte(m), &ev), m)
		p := ev.Params
		short = append(short, strings.TrimSpace(fmt.Sprintf("%s %d %s %s", p.SessionID, p.Seq, strings.TrimSuffix(string(p.Type), "_delta"), p.Text)))
	}
	return short
}

func TestEvents_JoinDeltasThatAreQueued(t *testing.T) {
	must := func(t *testing.T, s *events, evs ...schema.Event) {
		for _, ev := range evs {
			require.NoError(t, s.send(ev))
		}
	}
	cases := map[string]struct {
		events []schema.Event
		want   []string
	}{
		"of one run":                          {[]schema.Event{delta("a", "1", "x"), delta("a", "1", "y"), delta("a", "1", "z")}, []string{"a 1 message xyz"}},
		"not of two kinds":                    {[]schema.Event{delta("a", "1", "x"), thinking("a", "1", "y"), delta("a", "1", "z")}, []string{"a 1 message x", "a 2 thinking y", "a 3 message z"}},
		"not of two runs":                     {[]schema.Event{delta("a", "1", "x"), delta("a", "2", "y")}, []string{"a 1 message x", "a 2 message y"}},
		"across those of another session":     {[]schema.Event{delta("a", "1", "x"), delta("b", "1", "y"), delta("a", "1", "z"), delta("b", "1", "!")}, []string{"a 1 message xz", "b 1 message y!"}},
		"across other events of another":      {[]schema.Event{delta("a", "1", "x"), started("b", "1", "7"), delta("a", "1", "z")}, []string{"a 1 message xz", "b 1 turn_started"}},
		"not across another event of its own": {[]schema.Event{delta("a", "1", "x"), started("a", "1", "7"), delta("a", "1", "z")}, []string{"a 1 message x", "a 2 turn_started", "a 3 message z"}},
	}
	for name, tc := range cases {
		for _, f := range []Framing{FramingLines, FramingHeaders} {
			t.Run(name+", "+string(f), func(t *testing.T) {
				got := sendQueued(t, f, func(s *events, _ *writer) { must(t, s, tc.events...) })
				assert.Equal(t, tc.want, told(t, got))
			})
		}
	}
	t.Run("not across a reply", func(t *testing.T) {
		got := sendQueued(t, FramingLines, func(s *events, w *writer) {
			must(t, s, delta("a", "1", "x"))
			require.NoError(t, w.reply([]byte(`{}`)))
			must(t, s, delta("a", "1", "y"), delta("a", "1", "z"))
		})
		assert.Equal(t, []string{"a 1 message x", "0", "a 2 message yz"}, told(t, got))
	})
	t.Run("not across one whose number was told", func(t *testing.T) {
		got := sendQueued(t, FramingLines, func(s *events, _ *writer) {
			must(t, s, delta("a", "1", "x"))
			assert.Equal(t, uint64(1), s.lastSeq("a"))
			must(t, s, delta("a", "1", "y"))
		})
		assert.Equal(t, []string{"a 1 message x", "a 2 message y"}, told(t, got))
	})
	t.Run("up to a size", func(t *testing.T) {
		got := sendQueued(t, FramingLines, func(s *events, _ *writer) {
			for range 100 {
				must(t, s, delta("a", "1", strings.Repeat("x", 10<<10)))
			}
		})
		assert.Greater(t, len(got), 10)
		for _, m := range got {
			assert.LessOrEqual(t, len(m), deltaSize+1<<10)
		}
	})
}

func TestEvents_ExcludedOnesTakeNoNumber(t *testing.T) {
	got := sendQueued(t, FramingLines, func(s *events, _ *writer) {
		s.exclude([]string{"thinking_delta", "no such event"})
		for _, ev := range []schema.Event{started("a", "1", "7"), thinking("a", "1", "x"), delta("a", "1", "y")} {
			require.NoError(t, s.send(ev))
		}
	})
	assert.Equal(t, []string{"a 1 turn_started", "a 2 message y"}, told(t, got))
}

func TestEvents_EchoTheRequestIDAsItWasSent(t *testing.T) {
	for _, id := range []string{`"\u0061\ud800"`, `12345678901234567890`, `1.50`, `null`, `-0`} {
		got := sendQueued(t, FramingLines, func(s *events, _ *writer) { require.NoError(t, s.send(started("a", "1", id))) })
		assert.Contains(t, got[0], `"requestId":`+id)
	}
}

func TestEvents_HandMadeEncodingIsThatOfTheStruct(t *testing.T) {
	texts := []string{"", "plain", "\"\\\b\f\n\r\t\x00\x1f/", "é\u2028\u2029\u0085😀\x7f", strings.Repeat("x", 100) + "\n", "<&>"}
	for _, text := range texts {
		for _, ev := range []schema.Event{delta("se\"s", "r1", text), thinking("s", "r", text), &schema.MessageDelta{EventHeader: schema.EventHeader{SessionID: "s", Type: schema.EventMessageDelta}, Text: text}} {
			got := sendQueued(t, FramingLines, func(s *events, _ *writer) { require.NoError(t, s.send(ev)) })
			want, err := json.Marshal(ev, jsontext.EscapeForJS(true))
			require.NoError(t, err)
			assert.Equal(t, eventHead+string(want)+"}", got[0])
		}
	}
}

func TestDelta_CostsAtMost130BytesBesideTextAndIDs_TheSameHoweverMany(t *testing.T) {
	const text = "twenty bytes of text"
	around := func(n int) int {
		ev := delta(strings.Repeat("s", 22), "r1234567", text)
		ev.Turn = 999
		got := sendQueued(t, FramingLines, func(s *events, _ *writer) {
			for range n {
				require.NoError(t, s.send(ev))
				s.lastSeq(ev.SessionID) // so the next one stands by itself
			}
		})
		require.Len(t, got, n)
		return len(got[n-1]) + 1 - len(ev.SessionID) - len(ev.RunID) - len(text)
	}
	few, many := around(500), around(5000)
	assert.LessOrEqual(t, many, 130)
	assert.Equal(t, few+1, many, "but for a digit of seq")
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "a\"b", "\\", "\x00\x1f \x7f", "é\xff\xed\xa0\x80", "12345678\n", "\u2028", "😀"} {
		f.Add(seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, at uint8) {
		valid := strings.ToValidUTF8(text, "\uFFFD")
		var back string
		encodedText := append(appendText([]byte(`"`), text), '"')
		require.NoError(t, json.Unmarshal(encodedText, &back))
		assert.Equal(t, valid, back)
		runes := []rune(valid)
		k := min(int(at), len(runes))
		joined := appendText(appendText(nil, string(runes[:k])), string(runes[k:]))
		assert.Equal(t, string(appendText(nil, valid)), string(joined))
	})
}

// T9: a client that does not read for long stretches.
func TestT9_DeltasForASlowReaderAreJoinedAndRepliesAllArrive(t *testing.T) {
	const n = 50_000
	synctest.Test(t, func(t *testing.T) {
		o := testOptions()
		c := dial(t, o)
		var want strings.Builder
		most := 0
		c.opts.methods["pour"] = func(call *call, _ []byte) (reply, error) {
			return reply{wait: func() (any, error) {
				for i := range n {
					text := fmt.Sprintf("%d é\"\n", i)
					want.WriteString(text)
					c.event(delta("s", "r", text))
					if i%1000 == 0 {
						assert.NoError(t, c.notify("tick", i))
					}
				}
				c.w.mu.Lock()
				most = c.w.queued
				c.w.mu.Unlock()
				return n, nil
			}}, nil
		}
		c.send(request("1", "pour", "{}"))
		for i := range 100 {
			c.send(request(fmt.Sprint("1", i), "ping", "{}"))
		}
		synctest.Wait() // the whole turn has run, and nothing was read
		got, replies, ticks, seq := strings.Builder{}, 0, 0, uint64(0)
		for replies < 101 {
			line := c.recv()
			switch {
			case strings.Contains(line, `"result"`):
				replies++
			case strings.Contains(line, `"tick"`):
				ticks++
			default:
				var ev struct {
					Params schema.MessageDelta `json:"params"`
				}
				require.NoError(t, json.Unmarshal([]byte(line), &ev))
				seq++
				assert.Equal(t, seq, ev.Params.Seq)
				got.WriteString(ev.Params.Text)
			}
		}
		assert.True(t, want.String() == got.String(), "the joined deltas are the text")
		assert.Equal(t, 50, ticks)
		assert.Less(t, seq, uint64(200), "deltas were joined")
		assert.Less(t, most, 2*want.Len())
	})
}

// Deltas of many sessions, replies and a reader of changing speed.
func TestEvents_OfManySessionsArriveWholeAndInOrder(t *testing.T) {
	const sessions, deltas = 8, 2000
	c := dial(t, testOptions())
	c.opts.methods["pour"] = func(_ *call, params []byte) (reply, error) {
		name := strings.Trim(string(params), `"`)
		return reply{wait: func() (any, error) {
			for i := range deltas {
				c.event(delta(name, "r", fmt.Sprintf("%d,", i)))
			}
			return name, nil
		}}, nil
	}
	var want strings.Builder
	for i := range deltas {
		fmt.Fprintf(&want, "%d,", i)
	}
	for i := range sessions {
		c.send(request(fmt.Sprint(i), "pour", fmt.Sprintf(`"s%d"`, i)))
	}
	text, seq := map[string]string{}, map[string]uint64{}
	for done := 0; done < sessions; {
		line := c.recv()
		if strings.Contains(line, `"result"`) {
			done++
			_, name, _ := strings.Cut(line, `"result":"`)
			name = strings.TrimSuffix(name, `"}`)
			assert.True(t, want.String() == text[name], "all events of %s stand before its reply", name)
			continue
		}
		var ev struct {
			Params schema.MessageDelta `json:"params"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &ev))
		p := ev.Params
		seq[p.SessionID]++
		assert.Equal(t, seq[p.SessionID], p.Seq)
		text[p.SessionID] += p.Text
		if rand.IntN(50) == 0 {
			for range 100 {
				_ = fmt.Sprint(rand.IntN(9))
			}
		}
	}
}

func BenchmarkDeltas(b *testing.B) {
	r, w := io.Pipe()
	go func() { // ends when the pipe closes
		br := bufio.NewReaderSize(r, 64<<10)
		_, _ = io.Copy(io.Discard, br)
	}()
	out := newWriter(w, 1<<20)
	go out.loop() // ends by close
	s := newEvents(out, newSizes(schema.MaxMessageBytes))
	ev := delta("0123456789012345678901", "r1", "twenty bytes of text")
	b.ReportAllocs()
	for b.Loop() {
		_ = s.send(ev)
	}
	out.close(within(b, flushTime))
	w.Close()
}

// BenchmarkEventLines writes each delta on its own line, to a reader that keeps
// up. The floor writes lines of the same size, one a write.
func BenchmarkEventLines(b *testing.B) {
	kinds := []schema.Event{delta("0123456789012345678901", "r1", "twenty bytes of text"), thinking("0123456789012345678901", "r1", "twenty bytes of text")}
	run := func(b *testing.B, send func(w *os.File, i int) error, flush func()) {
		r, w, err := os.Pipe()
		require.NoError(b, err)
		lines := make(chan int)
		go func() { // ends when the pipe is closed
			n, br := 0, bufio.NewReaderSize(r, 256<<10)
			for {
				if _, err := br.ReadSlice('\n'); err != nil {
					lines <- n
					return
				}
				n++
			}
		}()
		b.ResetTimer()
		for i := range b.N {
			if err := send(w, i); err != nil {
				b.Fatal(err)
			}
		}
		flush()
		w.Close()
		require.Equal(b, b.N, <-lines)
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		r.Close()
	}
	b.Run("floor: write", func(b *testing.B) {
		line := append(bytes.Repeat([]byte("x"), 170), '\n')
		run(b, func(w *os.File, _ int) error { _, err := w.Write(line); return err }, func() {})
	})
	b.Run("events", func(b *testing.B) {
		var s *events
		run(b, func(w *os.File, i int) error {
			if i == 0 {
				s = newEvents(newWriter(w, 1<<20), newSizes(schema.MaxMessageBytes))
				go s.w.loop() // ends by close
			}
			return s.send(kinds[i%2])
		}, func() { require.True(b, s.w.close(within(b, time.Minute))) })
	})
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), d)
	t.Cleanup(cancel)
	return ctx
}
