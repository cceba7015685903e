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
