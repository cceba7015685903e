package inject_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

const canary = "canary-0123456789"

func hiding(t testing.TB) *redact.Redactor {
	t.Helper()
	red, err := redact.New(redact.Value{Secret: redact.NewSecret(canary)})
	require.NoError(t, err)
	return red
}

// everyText is a block that holds the canary in each of its texts.
func everyText() schema.ContextBlock {
	return schema.ContextBlock{
		ID: canary, Title: canary,
		Content: schema.Input{
			{Type: "text", Text: canary, Title: canary, Annotations: jsontext.Value(`"` + canary + `"`)},
			{Type: "resource_link", URI: canary, Name: canary, Description: canary, MimeType: canary, Meta: schema.Meta{Meta: jsontext.Value(`"` + canary + `"`)}},
			{Type: "resource", Resource: &schema.Resource{URI: canary, Text: canary, MimeType: canary, Meta: schema.Meta{Meta: jsontext.Value(`"` + canary + `"`)}}},
		},
	}
}

func TestP26_what_is_applied_holds_no_secret(t *testing.T) {
	red := hiding(t)
	c := inject.Contribution{Instructions: "use " + canary + ".", ContextBlocks: []schema.ContextBlock{everyText()}}
	made := inject.Func("made", func(context.Context, inject.Context) (inject.Contribution, error) { return c, nil })
	var tally redact.Tally
	applied, skipped, err := evaluate(t.Context(), chosen(inject.Static("fixed", c), made), inject.Context{}, red, &tally, inject.Options{})
	require.NoError(t, err)
	require.Empty(t, skipped)
	require.Len(t, applied, 2)
	for _, a := range applied {
		assert.Equal(t, "use "+red.Text(canary, nil)+".", a.Instructions)
		assertNoCanary(t, a.ContextBlocks[0])
		text, block := a.Instructions, inject.Render(a.ContextBlocks[0])
		for i, want := range []string{text, block} {
			got := a.Injected()[i]
			assert.Equal(t, len(want), got.Bytes, "sizes are of the redacted text")
			assert.Equal(t, hash(want), got.SHA256, "hashes are of the redacted text")
		}
	}
	assert.NotEmpty(t, tally.Counts())
	assert.Equal(t, canary, c.ContextBlocks[0].Content[0].Text, "the injector's own value stays")
}

func assertNoCanary(t *testing.T, b schema.ContextBlock) {
	t.Helper()
	texts := []string{b.ID, b.Title}
	for _, c := range b.Content {
		texts = append(texts, c.Text, c.URI, c.Name, c.Title, c.Description, c.MimeType, string(c.Annotations), string(c.Meta.Meta))
		if r := c.Resource; r != nil {
			texts = append(texts, r.URI, r.Text, r.MimeType, string(r.Meta.Meta))
		}
	}
	assert.NotContains(t, strings.Join(texts, "|"), canary)
}

func TestP26_the_list_describes_the_redacted_text(t *testing.T) {
	red := hiding(t)
	var r inject.Registry
	_, err := r.Register(inject.Static("x", say("use "+canary)), schema.OriginConfig, inject.Info{Description: "about " + canary})
	require.NoError(t, err)
	info := r.List(red)[0]
	want := red.Text("use "+canary, nil)
	assert.Equal(t, hash(want), info.SHA256)
	assert.Equal(t, len(want), info.Bytes)
	assert.NotContains(t, info.Description, canary)
}

func TestP26_content_without_secrets_stays_as_it_was(t *testing.T) {
	content := []schema.ContentBlock{schema.TextBlock("hi"), {Type: "resource", Resource: &schema.Resource{URI: "u", Text: "t"}}}
	got := inject.RedactContent(content, hiding(t), nil)
	assert.Equal(t, content, got)
	got[1].Resource.Text = "changed"
	assert.Equal(t, "t", content[1].Resource.Text)
	assert.Nil(t, inject.RedactContent(nil, nil, nil))
}
