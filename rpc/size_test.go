package rpc

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

// hostile texts are those whose JSON is much larger than they are, or that
// have few places to be cut at.
var hostile = map[string]string{
	"plain":              strings.Repeat("word ", 3000),
	"control characters": strings.Repeat("\x00\x01\x1f", 2000),
	"quotes":             strings.Repeat(`"\`, 3000),
	"newlines":           strings.Repeat("a\n\t\r\b\f", 1500),
	"wide characters":    strings.Repeat("😀", 3000),
	"a mixture":          strings.Repeat("é\x00😀\"x\u2028", 1000),
	"one character":      "😀",
}

// maxima are the limits to try: the smallest, then ever larger ones.
func maxima(f func(max int)) {
	for max := schema.MinMessageBytes; max < 40_000; max += 1 + rand.IntN(max/4) {
		f(max)
	}
}

func TestMaxMessageBytes_DeltasAreSplitAndJoinedUpToIt(t *testing.T) {
	for name, whole := range hostile {
		for _, framing := range []Framing{FramingLines, FramingHeaders} {
			t.Run(name+", "+string(framing), func(t *testing.T) {
				maxima(func(max int) {
					got := sendQueued(t, framing, func(s *events, _ *writer) {
						s.sizes.lower(max)
						for rest := whole; rest != ""; {
							n := fitting(rest, rand.IntN(2*max)+widest)
							require.NoError(t, s.send(delta("s", "r", rest[:n])))
							rest = rest[n:]
						}
						require.NoError(t, s.send(thinking("s", "r", whole)))
					})
					said := map[schema.EventType]string{}
					for i, m := range got {
						require.LessOrEqual(t, len(framed(framing, m)), max)
						var ev struct {
							Params schema.MessageDelta `json:"params"`
						}
						require.NoError(t, json.Unmarshal([]byte(m), &ev))
						require.Equal(t, uint64(i+1), ev.Params.Seq)
						said[ev.Params.Type] += ev.Params.Text
					}
					assert.True(t, said[schema.EventMessageDelta] == whole)
					assert.True(t, said[schema.EventThinkingDelta] == whole)
				})
			})
		}
	}
}

func framed(f Framing, message string) string {
	if f == FramingHeaders {
		return "Content-Length: " + strconv.Itoa(len(message)) + "\r\n\r\n" + message
	}
	return message + "\n"
}

func TestMaxMessageBytes_PiecesAreTheWholeText(t *testing.T) {
	for name, whole := range hostile {
		t.Run(name, func(t *testing.T) {
			maxima(func(max int) {
				z := newSizes(max)
				var read strings.Builder
				for offset, more := 0, true; more; {
					got, err := piece(whole, offset, z.roomForResult(newCall([]byte(`"`+strings.Repeat("i", 100)+`"`), "messages")))
					require.NoError(t, err)
					require.LessOrEqual(t, sizeOf(got), max)
					require.NotEmpty(t, *got.Text)
					read.WriteString(*got.Text)
					if more = got.NextOffset != nil; more {
						offset = *got.NextOffset
					}
				}
				assert.True(t, read.String() == whole)
			})
		})
	}
}

func TestPiece_RefusesWhatIsNoPlaceInTheText(t *testing.T) {
	for name, tc := range map[string]struct {
		text   string
		offset int
	}{
		"past the end":              {"abc", 4},
		"inside a character":        {"aé", 2},
		"inside a wide character":   {"😀", 3},
		"past the end of no text":   {"", 1},
		"inside the last character": {"a😀", 4},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := piece(tc.text, tc.offset, 1000)
			assert.ErrorAs(t, err, new(*schema.ParamsError))
		})
	}
	t.Run("the end is one", func(t *testing.T) {
		got, err := piece("aé", 3, 1000)
		require.NoError(t, err)
		assert.Empty(t, *got.Text)
		assert.Nil(t, got.NextOffset)
	})
}

// A whole conversation at several limits: no line is larger, and all text can
// be read.
func TestMaxMessageBytes_HoldsForEveryMethod(t *testing.T) {
	for name, whole := range hostile {
		for _, limit := range []int{4096, 4097, 5000, 10_000, 33_333} {
			t.Run(fmt.Sprintf("%s, %d", name, limit), func(t *testing.T) {
				p := serving(t, Options{}, "short", whole)
				p.must("initialize", fmt.Sprintf(`{"initializationOptions":{"maxMessageBytes":%d}}`, limit), new(jsontext.Value))
				p.must("newSession", `{"sessionId":"s","cwd":`+of(4000)+`,"instructions":`+quoted(whole)+`}`, new(schema.SessionState))
				p.must("prompt", `{"sessionId":"s","input":"hi"}`, new(schema.TurnResult))
				var turn schema.TurnResult
				p.must("followUp", `{"sessionId":"s","input":`+quoted("x"+whole)+`}`, &turn)
				assert.Equal(t, 2, turn.Turn)
				if turn.Message.Content == nil {
					assert.Equal(t, len(whole), turn.MessageBytes)
				} else {
					assert.Equal(t, whole, schema.PlainText(turn.Message.Content))
				}
				p.must("state", `{"sessionId":"s"}`, new(schema.SessionState))
				p.must("updateSession", `{"sessionId":"s","title":`+quoted(whole[:fitting(whole, 500)])+`}`, new(schema.SessionState))
				p.must("forkSession", `{"sessionId":"s","newSessionId":"f"}`, new(schema.SessionState))
				assert.ElementsMatch(t, []string{"s", "f"}, p.sessions())
				assert.Equal(t, whole, p.read("assistant"))
				assert.Equal(t, "x"+whole, p.read("user"))
				assert.Equal(t, []string{"1 user", "1 assistant", "2 user", "2 assistant"}, p.pages())
				if a := p.ask("rpc.discover", `{}`); assert.NotNil(t, a.Error) {
					assert.Equal(t, schema.KindResultTooLarge, a.Error.Data.Kind)
					assert.Equal(t, limit, a.Error.Data.Limit)
				}
				p.ask("prompt", `{"`+strings.Repeat(`\u0000`, 5000)+`":1}`)
				p.ask("prompt", `{"input":"hi","instructionInjectors":[`+quoted(whole)+`]}`)
				assert.LessOrEqual(t, p.most, limit)
			})
		}
	}
}

// read gives the whole of turn 2's text, from its pieces.
func (p *peer) read(role string) string {
	var whole strings.Builder
	for offset := 0; ; {
		var got schema.MessagesResult
		p.must("messages", fmt.Sprintf(`{"sessionId":"s","turn":2,"offset":%d,"role":%q}`, offset, role), &got)
		require.NotNil(p.t, got.Text)
		whole.WriteString(*got.Text)
		if got.NextOffset == nil {
			return whole.String()
		}
		offset = *got.NextOffset
	}
}

// sessions names all sessions, page after page.
func (p *peer) sessions() (names []string) {
	for cursor := `""`; ; {
		var page schema.ListSessionsResult
		p.must("listSessions", `{"cursor":`+cursor+`}`, &page)
		for _, s := range page.Sessions {
			names = append(names, s.SessionID)
		}
		if page.NextCursor == "" {
			return names
		}
		cursor = quoted(page.NextCursor)
	}
}

// pages names all messages of the session, page after page.
func (p *peer) pages() (names []string) {
	for after := 0; ; {
		var page schema.MessagesResult
		p.must("messages", fmt.Sprintf(`{"sessionId":"s","afterTurn":%d}`, after), &page)
		for _, m := range page.Messages {
			names = append(names, fmt.Sprint(m.Turn, " ", m.Role))
			if m.Content == nil {
				assert.Positive(p.t, m.MessageBytes)
			}
		}
		if page.NextAfterTurn == nil {
			return names
		}
		require.Greater(p.t, *page.NextAfterTurn, after)
		after = *page.NextAfterTurn
	}
}

func TestMaxMessageBytes_OfAClientIsCheckedAndClamped(t *testing.T) {
	for name, tc := range map[string]struct {
		asked string
		limit int
		code  int
	}{
		"the least":             {"4096", 4096, 0},
		"too little":            {"4095", 0, codeInvalidParams},
		"zero":                  {"0", 0, codeInvalidParams},
		"negative":              {"-1", 0, codeInvalidParams},
		"no number":             {`"5000"`, 0, codeInvalidParams},
		"more than there is":    {"99999999999", schema.MaxMessageBytes, 0},
		"null is not asked for": {"null", schema.MaxMessageBytes, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := serving(t, Options{})
			a := p.ask("initialize", `{"initializationOptions":{"maxMessageBytes":`+tc.asked+`}}`)
			if tc.code != 0 {
				require.NotNil(t, a.Error)
				assert.Equal(t, tc.code, a.Error.Code)
				return
			}
			require.Nil(t, a.Error)
			var greeting schema.InitializeResult
			require.NoError(t, json.Unmarshal(a.Result, &greeting))
			assert.Equal(t, tc.limit, greeting.Capabilities.Limits["maxMessageBytes"])
		})
	}
}

func TestMaxMessageBytes_TheRepliesOfABatchShareIt(t *testing.T) {
	long := `"` + strings.Repeat("i", 1000) + `"`
	for name, tc := range map[string]struct {
		batch   []string
		results int // the others are errors
		whole   bool
	}{
		"small results":                    {[]string{ping1, ping2, ping3}, 3, true},
		"one too large":                    {[]string{ping1, request("2", "echo", `"`+strings.Repeat("x", 4000)+`"`)}, 1, true},
		"one too large for its share":      {[]string{ping1, request("2", "echo", `"`+strings.Repeat("x", 2500)+`"`)}, 1, true},
		"all too large":                    {[]string{request("1", "echo", `"`+strings.Repeat("x", 4000)+`"`), request("2", "bad", "1")}, 0, true},
		"as many as have room for errors":  {repeated(15), 15, true},
		"more than have room for an error": {repeated(16), 0, false},
		"long ids":                         {[]string{request(long, "ping", "1"), request(`"b`+long[1:], "bad", "1")}, 1, true},
		"ids that leave no room":           {[]string{request(long, "ping", "1"), request(`"b`+long[1:], "ping", "1"), request(`"c`+long[1:], "ping", "1"), request(`"d`+long[1:], "ping", "1")}, 0, false},
		"what is no call":                  {[]string{"1", ping1, `{"jsonrpc":"2.0","id":[],"method":"x"}`, `{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat(`\"`, 2000) + `"}`}, 1, true},
		"notifications take none of it":    {append(many(100, notification("ping", "{}")), ping1), 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions()
			o.limits.maxMessage = 4096
			o.methods["bad"] = func(*call, []byte) (reply, error) {
				return reply{}, &wireError{-1, strings.Repeat(`"`, 9000), errorData{Kind: "provider_not_configured", Hint: strings.Repeat("h", 9000)}}
			}
			out := lines(t, o, array(tc.batch...))
			require.Len(t, out, 1)
			assert.LessOrEqual(t, len(out[0])+1, 4096)
			if !tc.whole {
				assert.Contains(t, out[0], `"batch_too_large"`)
				return
			}
			var replies []answered
			require.NoError(t, json.Unmarshal([]byte(out[0]), &replies))
			results := 0
			for _, r := range replies {
				if r.Error == nil {
					results++
				} else {
					assert.NotEmpty(t, r.Error.Data.Kind)
				}
			}
			assert.Equal(t, tc.results, results)
		})
	}
}

func many(n int, message string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = message
	}
	return out
}

func repeated(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = request(strconv.Itoa(i), "ping", "{}")
	}
	return out
}

func TestErrors_FitWhateverTheyHold(t *testing.T) {
	big := strings.Repeat("\x00\"😀", 12_000)
	for name, e := range map[string]*wireError{
		"a long message":    {-1, big, errorData{Kind: "k"}},
		"long data":         {-1, "m", errorData{Kind: "k", Hint: big}},
		"many names":        {-1, "m", callData{errorData: errorData{Kind: "k"}, Known: many(10_000, "name")}},
		"deep data":         {-1, "m", map[string]any{"kind": "k", "more": jsontext.Value(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))}},
		"many members":      {-1, "m", wide(20_000)},
		"data without kind": {-1, big, many(1000, big[:100])},
	} {
		t.Run(name, func(t *testing.T) {
			for _, room := range []int{leastRoom, 1000, 4000, 1 << 30} {
				got := appendError(nil, []byte("1"), e, room)
				assert.LessOrEqual(t, len(got), min(room, maxErrorBytes+100))
				assert.True(t, jsontext.Value(got).IsValid())
				if !strings.HasPrefix(name, "data without") {
					assert.Contains(t, string(got), `"kind":"k"`)
				}
			}
		})
	}
}

func wide(n int) map[string]any {
	out := map[string]any{"kind": "k"}
	for i := range n {
		out[strconv.Itoa(i)] = i
	}
	return out
}

func FuzzFitting(f *testing.F) {
	for _, seed := range []string{"", "a\"b", "\x00\x1f", "é😀", "\xff\xed\xa0\x80", "\u2028"} {
		f.Add(seed, uint16(7))
	}
	f.Fuzz(func(t *testing.T, text string, room uint16) {
		n := fitting(text, int(room))
		assert.LessOrEqual(t, len(appendText(nil, text[:n])), int(room))
		whole, err := json.Marshal(text[:n], outgoing)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(whole)-2, int(room))
	})
}
