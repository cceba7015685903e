package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

func image(bytes int) schema.ContentBlock {
	return schema.ContentBlock{Type: schema.BlockImage, MimeType: "image/png", SHA256: strings.Repeat("0f", 32), Bytes: bytes}
}

func encode(t *testing.T, blocks ...schema.ContentBlock) []byte {
	raw, err := provider.AppendMessage(nil, schema.Message{Role: schema.RoleUser, Content: blocks})
	require.NoError(t, err)
	return raw
}

func TestAHistoryHoldsImagesByHash(t *testing.T) {
	raw := encode(t, schema.TextBlock("look"), image(5))
	assert.Equal(t, `{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","sha256":"`+strings.Repeat("0f", 32)+`","bytes":5}]}`, string(raw))
	assert.Equal(t, []schema.ContentBlock{image(5)}, provider.Images(raw))
	assert.Empty(t, provider.Images(encode(t, schema.TextBlock(`{"type":"image"}`))))

	var h provider.History
	h.Append(encode(t, schema.TextBlock("hi")), raw)
	assert.Equal(t, len(encode(t, schema.TextBlock("hi")))+len("look")+provider.ImageSize, h.Size(), "an image counts as a fixed size")
	req := &provider.Request{Segments: []provider.Segment{{Kind: provider.SegmentHistory, History: h}}}
	assert.True(t, req.HasImages())
	assert.Equal(t, 5, req.ImageBytes())
	first, behind := h.First(1), h.Behind(1)
	assert.False(t, (&provider.Request{Segments: []provider.Segment{{History: first}}}).HasImages())
	assert.Equal(t, 5, (&provider.Request{Segments: []provider.Segment{{History: behind}}}).ImageBytes())
	whole := h.First(2)
	assert.Equal(t, h.Size(), whole.Size())
}

func TestNoSizeIsBelievedThatNoImageHas(t *testing.T) {
	for said, want := range map[int]int{-1: 1, 0: 1, 1 << 40: schema.MaxImageBytes} {
		var h provider.History
		h.Append(encode(t, image(said)))
		req := &provider.Request{Segments: []provider.Segment{{History: h}}}
		assert.Equal(t, want, req.ImageBytes(), said)
		assert.True(t, req.HasImages())
	}
}

func TestWhatIsNoImageIsNotTakenForOne(t *testing.T) {
	req := &provider.Request{Attachment: func(string) []byte { return []byte("<html>") }}
	for claim, b := range map[string]schema.ContentBlock{
		"a text":              schema.TextBlock("x"),
		"bytes of no image":   image(5),
		"data of no image":    {Type: schema.BlockImage, MimeType: "image/png", Data: "PGh0bWw+"},
		"data that is broken": {Type: schema.BlockImage, MimeType: "image/png", Data: "!"},
	} {
		_, ok := req.Image(b)
		assert.False(t, ok, claim)
	}
	_, ok := (&provider.Request{}).Image(image(5))
	assert.False(t, ok, "nobody knows its bytes")
}
