package inject

import (
	"bytes"
	"strings"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Render is a context block as the model reads it: a line with its title, or
// Context, then its content (P14). A block that says nothing renders as "".
func Render(b schema.ContextBlock) string {
	text := schema.PlainText(b.Content)
	if blank(text) {
		return ""
	}
	if b.Title == "" {
		return "Context:\n" + text
	}
	return b.Title + ":\n" + text
}

// RedactBlocks is a copy of blocks as they may be kept and sent: without
// secrets, and without what is never sent, _meta and annotations. It shares
// nothing with them that can be changed.
func RedactBlocks(blocks []schema.ContextBlock, red *redact.Redactor, tally *redact.Tally) []schema.ContextBlock {
	return redacting(red, tally).contextBlocks(blocks)
}

// RedactContent is a copy of content by the rules of RedactBlocks.
func RedactContent(content []schema.ContentBlock, red *redact.Redactor, tally *redact.Tally) []schema.ContentBlock {
	return redacting(red, tally).content(content)
}

// A copier copies blocks whole, each text and each raw JSON value through a
// function.
type copier struct {
	text func(string) string
	raw  func([]byte) []byte // what is never sent nor seen
	json func([]byte) []byte // what a host's own code may see
}

// plainCopy changes nothing on the way.
var plainCopy = copier{text: func(s string) string { return s }, raw: bytes.Clone, json: bytes.Clone}

func redacting(red *redact.Redactor, tally *redact.Tally) copier {
	return copier{
		text: func(s string) string { return red.Text(s, tally) },
		raw:  func([]byte) []byte { return nil },
		json: func(v []byte) []byte { return red.JSON(v, tally) },
	}
}

func (c copier) contextBlocks(blocks []schema.ContextBlock) []schema.ContextBlock {
	if blocks == nil {
		return nil
	}
	out := make([]schema.ContextBlock, len(blocks))
	for i, b := range blocks {
		out[i] = schema.ContextBlock{
			ID: c.text(b.ID), Title: c.text(b.Title), Content: c.content(b.Content),
			Priority: b.Priority, Metadata: c.json(b.Metadata),
		}
	}
	return out
}

func (c copier) content(content []schema.ContentBlock) []schema.ContentBlock {
	if content == nil {
		return nil
	}
	out := make([]schema.ContentBlock, len(content))
	for i, b := range content {
		out[i] = c.block(b)
	}
	return out
}

// block leaves the type alone, and an image's: they are checked against lists
// of known words. It leaves an image's bytes, of which redaction would make
// something else; other blocks have none (S4).
func (c copier) block(b schema.ContentBlock) schema.ContentBlock {
	for _, field := range []*string{&b.Text, &b.URI, &b.Name, &b.Title, &b.Description} {
		*field = c.text(*field)
	}
	if b.Type != schema.BlockImage || !schema.IsImageType(b.MimeType) {
		b.MimeType = c.text(b.MimeType)
		b.Data, b.SHA256, b.Bytes = "", "", 0
	}
	if b.Size != nil {
		size := *b.Size
		b.Size = &size
	}
	if b.Resource != nil {
		r := *b.Resource
		r.URI, r.MimeType, r.Text, r.Meta.Meta = c.text(r.URI), c.text(r.MimeType), c.text(r.Text), c.raw(r.Meta.Meta)
		b.Resource = &r
	}
	b.Annotations, b.Meta.Meta = c.raw(b.Annotations), c.raw(b.Meta.Meta)
	return b
}

// blank tells whether text says nothing.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
