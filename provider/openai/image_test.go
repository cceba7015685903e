package openai

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

const png = "\x89PNG\r\n\x1a\n and more \x00\xff"

// byHash is an image as a session holds it.
func byHash(name string) schema.ContentBlock {
	return schema.ContentBlock{Type: schema.BlockImage, MimeType: "image/png", SHA256: name, Bytes: len(png), URI: "file:///x.png"}
}

// holding is a request whose images named "here" can be had.
func holding(segments ...provider.Segment) *provider.Request {
	return &provider.Request{Model: "m", Segments: segments, Attachment: func(name string) []byte {
		if name == "here" {
			return []byte(png)
		}
		return nil
	}}
}

func TestAnImageIsADataURLInItsMessage(t *testing.T) {
	url := `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte(png)) + `"}}`
	for claim, row := range map[string]struct {
		blocks []schema.ContentBlock
		want   string
	}{
		"alone":                   {[]schema.ContentBlock{byHash("here")}, `[` + url + `]`},
		"among others, in order":  {[]schema.ContentBlock{schema.TextBlock(`a"b`), byHash("here"), link, byHash("here")}, `[{"type":"text","text":"a\"b"},` + url + `,{"type":"text","text":"a.go <file:///a.go>"},` + url + `]`},
		"without a text of blank": {[]schema.ContentBlock{schema.TextBlock(""), byHash("here")}, `[` + url + `]`},
		"one that is lost":        {[]schema.ContentBlock{byHash("gone")}, `[{"type":"text","text":"[image image/png, 20 bytes]"}]`},
	} {
		t.Run(claim, func(t *testing.T) {
			said := provider.Segment{Kind: provider.SegmentInput, Messages: []provider.Message{{Role: schema.RoleUser, Content: row.blocks}}}
			body := bodyOf(t, newProvider(t, "http://127.0.0.1/v1"), holding(said))
			assert.Contains(t, body, `"messages":[{"role":"user","content":`+row.want+`}]`)

			held := provider.Segment{Kind: provider.SegmentHistory, History: history(t, saying(schema.RoleUser, row.blocks...), schema.AssistantText("yes"))}
			later := bodyOf(t, newProvider(t, "http://127.0.0.1/v1"), holding(held))
			assert.True(t, strings.HasPrefix(later, strings.TrimSuffix(body, `],"stream":true,"stream_options":{"include_usage":true}}`)), "what was sent is a prefix of what is sent with the next turn")
		})
	}
}

// A log is input: what it says of an image does not get into the request.
func TestAnImagesTypeIsThatOfItsBytes(t *testing.T) {
	lying := byHash("here")
	lying.MimeType = `text/html","x":"`
	body := bodyOf(t, newProvider(t, "http://127.0.0.1/v1"), holding(provider.Segment{Kind: provider.SegmentHistory, History: history(t, saying(schema.RoleUser, lying))}))
	assert.Contains(t, body, `"data:image/png;base64,`)
	assert.NotContains(t, body, "html")
}

func TestOnlyAUsersMessageShowsAnImage(t *testing.T) {
	body := bodyOf(t, newProvider(t, "http://127.0.0.1/v1"), holding(provider.Segment{Kind: provider.SegmentHistory, History: history(t, saying(schema.RoleAssistant, byHash("here")))}))
	var sent struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	require.Len(t, sent.Messages, 1)
	assert.Equal(t, "[image image/png, 20 bytes]", sent.Messages[0].Content)
}
