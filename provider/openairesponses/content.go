package openairesponses

import (
	"encoding/base64"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// said writes a message: one text as a string, and what a user says in several
// blocks as parts. A model's own several texts are one here, since parts of its
// own are for answers that the vendor keeps.
func (b *builder) said(m schema.Message) error {
	if m.Role == schema.RoleUser && (len(m.Content) > 1 || len(m.Content) == 1 && m.Content[0].Type == schema.BlockImage) {
		return b.parts(m.Content)
	}
	b.comma()
	var err error
	m.Content = []schema.ContentBlock{schema.TextBlock(schema.PlainText(m.Content))}
	b.buf, err = provider.AppendMessage(b.buf, m)
	return err
}

// parts writes a message of parts. An image of which the bytes can't be had is
// what stands for it in text; no URL of anybody's is ever sent. Texts that say
// nothing are left out, if there is another.
func (b *builder) parts(content []schema.ContentBlock) error {
	b.comma()
	b.buf = append(b.buf, `{"role":"user","content":`...)
	open := byte('[')
	for i, c := range content {
		data, isImage := b.req.Image(c)
		if !isImage && c.Plain() == "" && (open == ',' || i+1 < len(content)) {
			continue
		}
		b.buf = append(b.buf, open)
		open = ','
		if isImage {
			b.buf = appendImage(b.buf, data)
			continue
		}
		part, err := json.Marshal(textPart{"input_text", c.Plain()})
		if err != nil {
			return err
		}
		b.buf = append(b.buf, part...)
	}
	b.buf = append(b.buf, `]}`...)
	return nil
}

func appendImage(dst, data []byte) []byte {
	dst = slices.Grow(dst, base64.StdEncoding.EncodedLen(len(data))+128)
	dst = append(dst, `{"type":"input_image","detail":"auto","image_url":"data:`...)
	dst = append(dst, schema.ImageType(data)...)
	dst = append(dst, `;base64,`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, `"}`...)
}
