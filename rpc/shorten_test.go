package rpc

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

func TestShorten_StateKeepsBeginningsAndSaysSo(t *testing.T) {
	st := &schema.SessionState{
		SessionID: strings.Repeat("s", 128), Model: strings.Repeat("\x00", 256), Instructions: strings.Repeat("i", 100_000),
		InstructionInjectors: many(256, strings.Repeat("n", 128)), Queue: make([]schema.QueuedTurn, 256),
		Running:     &schema.RunningTurn{RequestID: jsontext.Value(quoted(strings.Repeat("r", 1000))), Text: strings.Repeat("t", 10_000)},
		Interrupted: &schema.Interrupted{Input: schema.Input{schema.TextBlock(strings.Repeat("u", 10_000))}, Partial: strings.Repeat("p", 10_000)},
	}
	const room = 4096 - framingBytes - 1024 - 40
	short := shorten(st, room).(*schema.SessionState)
	assert.LessOrEqual(t, sizeOf(short), room)
	assert.Equal(t, 10_000, short.Running.TextBytes)
	assert.True(t, strings.HasPrefix(st.Running.Text, short.Running.Text))
	assert.Subset(t, short.Cut, []string{"instructions", "queue", "instructionInjectors", "running.text"})
	assert.Len(t, st.Queue, 256, "the state itself is as it was")
	assert.Len(t, st.Running.Text, 10_000)
	assert.Len(t, st.Interrupted.Input[0].Text, 10_000)

	short = shorten(st, 40_000).(*schema.SessionState)
	assert.LessOrEqual(t, sizeOf(short), 40_000)
	assert.Zero(t, short.Running.TextBytes, "all of it is there")
	assert.NotContains(t, short.Cut, "running.text")
}

func TestShorten_ListsKeepTheirFirst(t *testing.T) {
	r := &schema.TurnResult{Message: schema.AssistantText(strings.Repeat("x", 5000))}
	for i := range 256 {
		r.Injected = append(r.Injected, schema.Injected{Name: fmt.Sprint("n", i)})
		r.Redacted = append(r.Redacted, schema.Redaction{Name: fmt.Sprint("n", i)})
	}
	for _, room := range []int{500, 3000, 12_000, 20_000} {
		short := shorten(r, room).(*schema.TurnResult)
		assert.LessOrEqual(t, sizeOf(short), room)
		assert.Equal(t, len(short.Injected) < 256, strings.Contains(fmt.Sprint(short.Cut), "injected"))
		assert.Equal(t, len(short.Redacted) < 256, strings.Contains(fmt.Sprint(short.Cut), "redacted"))
		more := *short
		more.Redacted = r.Redacted[:min(len(short.Redacted)+1, 256)]
		if len(short.Redacted) < 256 {
			assert.Greater(t, sizeOf(&more), room-100, "as many as fit")
		}
		if sizeOf(&schema.TurnResult{Message: r.Message, Injected: []schema.Injected{}}) > room {
			assert.Equal(t, 5000, short.MessageBytes)
			assert.Empty(t, short.Message)
		} else {
			assert.Zero(t, short.MessageBytes)
			assert.Equal(t, r.Message, short.Message, "the answer goes before what is said about it")
		}
	}
	infos := &schema.ListInjectorsResult{}
	for range 1000 {
		infos.Injectors = append(infos.Injectors, schema.InjectorInfo{Description: strings.Repeat("\"", 4000)})
	}
	short := shorten(infos, 4000).(*schema.ListInjectorsResult)
	assert.LessOrEqual(t, sizeOf(short), 4000)
	assert.NotEmpty(t, short.Injectors)
	assert.Equal(t, []string{"injectors"}, short.Cut)
	end := &schema.TurnEnded{Error: &schema.EventError{Message: strings.Repeat("\x00", 9000), Data: errorData{Kind: "k"}}, Redacted: r.Redacted}
	assert.LessOrEqual(t, sizeOf(shorten(end, 3000)), 3000)
	assert.Nil(t, shorten(jsontext.Value("[]"), 1))
}

func TestShorten_A6_contents_of_blocks_go_before_the_blocks(t *testing.T) {
	list := &schema.ListContextResult{Enabled: true}
	for i := range 64 {
		content := strings.Repeat("\x00", 1000*(i%3))
		list.Blocks = append(list.Blocks, schema.AmbientInfo{ID: fmt.Sprint(i), Name: "n", Content: &content})
	}
	whole := sizeOf(list)
	for _, room := range []int{500, 3000, 20_000, whole - 1, whole + 100} {
		short := shorten(list, room).(*schema.ListContextResult)
		assert.LessOrEqual(t, sizeOf(short), room)
		told := 0
		for i, b := range short.Blocks {
			assert.Equal(t, list.Blocks[i].ID, b.ID)
			if b.Content != nil {
				assert.Equal(t, list.Blocks[i].Content, b.Content)
				told++
			}
		}
		assert.Equal(t, len(short.Blocks) < 64, strings.Contains(fmt.Sprint(short.Cut), "blocks "), short.Cut)
		assert.Equal(t, told < len(short.Blocks), strings.Contains(fmt.Sprint(short.Cut), "blocks.content"), short.Cut)
		assert.NotNil(t, list.Blocks[63].Content, "the list itself is as it was")
	}
}

func TestAbridge_CutsStringsAndListsAndLeavesTheRest(t *testing.T) {
	for name, tc := range map[string]struct {
		bound     bound
		raw, want string
	}{
		"short":                  {bound{text: 4, items: 0}, `{"a":1.50,"b":-0,"c":1e400,"d":"\u0061"}`, `{"a":1.50,"b":-0,"c":1e400,"d":"\u0061"}`},
		"a long string":          {bound{text: 4, items: 0}, `["abcdefgh"]`, `["abcd… (8 bytes)"]`},
		"at a character":         {bound{text: 4, items: 0}, `["abcéé"]`, `["abc… (7 bytes)"]`},
		"escapes count once":     {bound{text: 4, items: 0}, `["\u0061\u0062\u0063\u0064"]`, `["\u0061\u0062\u0063\u0064"]`},
		"a name":                 {bound{text: 2, items: 0}, `{"abcdef":1}`, `{"ab… (6 bytes)":1}`},
		"a lone surrogate":       {bound{text: 9, items: 0}, `["\ud800","12345678901"]`, `["\ud800","123456789… (11 bytes)"]`},
		"a list":                 {bound{text: 9, items: 2}, `{"a":[1,[2,3,4],5,{"b":6}],"c":[]}`, `{"a":[1,[2,3]],"c":[]}`},
		"names that stand twice": {bound{text: 1, items: 0}, `{"aa":1,"aa":2}`, `{"a… (2 bytes)":1,"a… (2 bytes)":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.bound.abridge([]byte(tc.raw))
			require.NoError(t, err)
			assert.Equal(t, tc.want, string(got))
		})
	}
	_, err := bound{text: 1, items: 0}.abridge([]byte(strings.Repeat("[", 20_000)))
	assert.Error(t, err)
	assert.False(t, errors.Is(err, io.EOF))
}
