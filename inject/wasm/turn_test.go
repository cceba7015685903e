package wasm

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

func said(text string) schema.Message {
	return schema.Message{Role: schema.RoleUser, Content: []schema.ContentBlock{schema.TextBlock(text)}}
}

func TestP9_WhatAModuleSees(t *testing.T) {
	turn := inject.Context{
		SessionID: "s", RunID: "r", Turn: 3, Step: 2, Metadata: []byte(`{"branch":"v2"}`),
		Input: []schema.ContentBlock{schema.TextBlock("hi"), {Type: schema.BlockImage, MimeType: "image/png", Data: "AAAA"}},
	}
	got, err := encode(turn, false)
	require.NoError(t, err)
	assert.Equal(t, `{"sessionId":"s","runId":"r","turn":3,"step":2,"input":[{"type":"text","text":"hi"},{"type":"image","mimeType":"image/png"}],"metadata":{"branch":"v2"}}`, string(got))
	assert.Equal(t, "AAAA", turn.Input[1].Data, "the turn's own is left alone")

	turn.History = slices.Values([]schema.Message{said("before")})
	got, err = encode(turn, true)
	require.NoError(t, err)
	assert.Contains(t, string(got), `"history":[{"role":"user","content":[{"type":"text","text":"before"}]}]`)

	got, err = encode(inject.Context{}, true)
	require.NoError(t, err)
	assert.Equal(t, `{"sessionId":"","runId":"","turn":1,"step":1,"input":[],"history":[]}`, string(got), "what is not there")
}

func TestP9_HistoryIsItsEnd(t *testing.T) {
	var many, large []schema.Message
	for i := range 250 {
		many = append(many, said(strconv.Itoa(i)))
		large = append(large, said(strconv.Itoa(i)+strings.Repeat("x", 50<<10)))
	}
	got, err := recent(inject.Context{History: slices.Values(many)})
	require.NoError(t, err)
	require.Len(t, got, maxHistory)
	assert.Contains(t, string(got[0]), `"150"`)
	assert.Contains(t, string(got[99]), `"249"`)

	got, err = recent(inject.Context{History: slices.Values(large)})
	require.NoError(t, err)
	require.Len(t, got, 5)
	assert.Contains(t, string(got[4]), `"249x`)
}

func TestTurnTooLargeForAModule(t *testing.T) {
	_, err := encode(inject.Context{Input: []schema.ContentBlock{schema.TextBlock(strings.Repeat("x", maxInputBytes))}}, false)
	assert.ErrorIs(t, err, ErrInput)
}
