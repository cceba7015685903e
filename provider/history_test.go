package provider

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

var (
	link    = schema.ContentBlock{Type: schema.BlockResourceLink, Name: "a.go", URI: "file:///a.go"}
	noted   = schema.ContentBlock{Type: schema.BlockText, Text: "b", Annotations: jsontext.Value(`{"x":1}`)}
	dialogs = []schema.Message{
		{Role: schema.RoleUser, Content: []schema.ContentBlock{schema.TextBlock("q \" \u2028 😀")}},
		schema.AssistantText(""),
		{Role: schema.RoleUser, Content: []schema.ContentBlock{schema.TextBlock("a"), schema.TextBlock("b")}},
		schema.AssistantText("ok"),
	}
)

func filled(t *testing.T, messages ...schema.Message) History {
	var h History
	for _, m := range messages {
		encoded, err := AppendMessage(nil, m)
		require.NoError(t, err)
		h.Append(encoded)
	}
	return h
}

func TestHistoryGivesBackWhatItHolds(t *testing.T) {
	h := filled(t, append(dialogs, schema.Message{Role: schema.RoleUser, Content: []schema.ContentBlock{link}})...)
	var got []schema.Message
	for i, m := range h.Messages(0, h.Len()) {
		assert.Equal(t, len(got), i)
		got = append(got, m)
	}
	assert.Equal(t, dialogs, got[:len(dialogs)])
	assert.Equal(t, link.URI, got[len(dialogs)].Content[0].URI)
}

func TestPlainHistoryIsTextAlone(t *testing.T) {
	h := filled(t, dialogs...)
	whole, plain := h.Plain()
	assert.True(t, plain)
	assert.True(t, jsontext.Value("["+string(whole)+"]").IsValid())

	for _, b := range []schema.ContentBlock{link, noted} {
		h := filled(t, append(dialogs, schema.Message{Role: schema.RoleUser, Content: []schema.ContentBlock{schema.TextBlock("a"), b}})...)
		_, plain := h.Plain()
		assert.False(t, plain)
		assert.True(t, h.Rich(len(dialogs)))
		assert.False(t, h.Rich(0))
	}
}

func TestACopyOfAHistoryIsASnapshot(t *testing.T) {
	h := filled(t, dialogs...)
	copied := h
	before, _ := copied.Plain()
	want := string(before)
	for range 100 {
		h.Append([]byte(`{"role":"user","content":"more"}`))
	}
	after, _ := copied.Plain()
	assert.Equal(t, want, string(after))
	assert.Equal(t, len(dialogs), copied.Len())
}

func TestAPartOfAHistoryIsAHistory(t *testing.T) {
	h := filled(t, append(dialogs, schema.Message{Role: schema.RoleUser, Content: []schema.ContentBlock{link}})...)
	head, err := AppendMessage(nil, schema.Message{Role: schema.RoleUser, Content: []schema.ContentBlock{schema.TextBlock("before")}})
	require.NoError(t, err)
	for n := range h.Len() + 1 {
		first, rest := h.First(n), h.Behind(n, head)
		require.Equal(t, n, first.Len())
		require.Equal(t, h.Len()-n+1, rest.Len())
		for i := range n {
			assert.Equal(t, h.Raw(i), first.Raw(i))
		}
		assert.Equal(t, string(head), string(rest.Raw(0)))
		for i := n; i < h.Len(); i++ {
			assert.Equal(t, h.Raw(i), rest.Raw(i-n+1))
			assert.Equal(t, h.Rich(i), rest.Rich(i-n+1))
		}
		assert.Equal(t, h.Size()+len(head), first.Size()+rest.Size())
		_, plain := first.Plain()
		assert.Equal(t, n < h.Len(), plain, "the last message holds more than text")
	}
}

func TestAHistoryOfWhichAPartIsSharedGoesOn(t *testing.T) {
	h := filled(t, dialogs...)
	first := h.First(2)
	want, _ := first.Plain()
	before := string(want)
	h.Append([]byte(`{"role":"user","content":"more"}`))
	after, _ := first.Plain()
	assert.Equal(t, before, string(after))
}

func TestWhatAnAPITakesOfAHistoryAsItIs(t *testing.T) {
	said := func(role schema.Role, blocks ...schema.ContentBlock) schema.Message {
		return schema.Message{Role: role, Content: blocks}
	}
	user, model := said(schema.RoleUser, schema.TextBlock("q")), schema.AssistantText("a")
	for claim, row := range map[string]struct {
		messages      []schema.Message
		strings, even bool
	}{
		"nothing":                 {nil, true, true},
		"a dialogue of strings":   {[]schema.Message{user, model, user, model}, true, true},
		"a text of an escape":     {[]schema.Message{said(schema.RoleUser, schema.TextBlock("\n x")), model}, true, true},
		"two texts":               {[]schema.Message{said(schema.RoleUser, schema.TextBlock("a"), schema.TextBlock("b")), model}, false, true},
		"two texts, one blank":    {[]schema.Message{said(schema.RoleUser, schema.TextBlock("a"), schema.TextBlock(" ")), model}, false, false},
		"an empty answer":         {[]schema.Message{user, schema.AssistantText("")}, true, false},
		"an answer of line ends":  {[]schema.Message{user, schema.AssistantText("\n\u00a0\t")}, true, false},
		"two questions in a row":  {[]schema.Message{user, user, model}, true, false},
		"a link":                  {[]schema.Message{said(schema.RoleUser, link), model}, false, false},
		"a text with annotations": {[]schema.Message{said(schema.RoleUser, noted, noted), model}, false, false},
	} {
		t.Run(claim, func(t *testing.T) {
			h := filled(t, row.messages...)
			_, strings := h.Strings()
			assert.Equal(t, row.strings, strings)
			assert.Equal(t, row.even, h.Even())
			whole, part := filled(t, append(row.messages, user, user, said(schema.RoleUser, link))...), h
			if len(row.messages) > 0 {
				part = whole.First(len(row.messages))
			}
			assert.Equal(t, row.even, part.Even(), "also as the beginning of a longer one")
			all, _ := h.Plain()
			assert.Equal(t, all, h.Span(0, h.Len()))
			for i := range h.Len() {
				assert.Equal(t, string(h.Raw(i)), string(h.Span(i, i+1)))
			}
		})
	}
	h := filled(t, user, model, user, user, model, user, schema.AssistantText(" "), user, model)
	for i, even := range []bool{true, true, false, false, true, false, false, false, true} {
		assert.Equal(t, even, h.EvenAt(i), i)
	}
}

func TestRoomOfAHistoryChangesNothingElse(t *testing.T) {
	var roomy History
	want := filled(t, dialogs...)
	for range 100 {
		for _, m := range dialogs {
			encoded, err := AppendMessage(nil, m)
			require.NoError(t, err)
			roomy.Expect(len(encoded)+len(","), 1)
			roomy.Append(encoded)
		}
	}
	tight := roomy
	tight.Trim()
	assert.Greater(t, cap(roomy.bytes), len(roomy.bytes)+len(roomy.bytes)/4)
	assert.LessOrEqual(t, cap(tight.bytes), len(tight.bytes)+len(tight.bytes)/4)
	assert.LessOrEqual(t, cap(tight.items), len(tight.items)+len(tight.items)/4)
	for _, h := range []History{roomy, tight} {
		require.Equal(t, 100*len(dialogs), h.Len())
		for i := range h.Len() {
			require.Equal(t, string(want.Raw(i%len(dialogs))), string(h.Raw(i)))
		}
	}
}
