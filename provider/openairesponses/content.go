package openairesponses

import (
	"encoding/base64"
	"slices"

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
	b.Comma()
	var err error
	m.Content = []schema.ContentBlock{schema.TextBlock(schema.PlainText(m.Content))}
	b.Buf, err = provider.AppendMessage(b.Buf, m)
	return err
}

// parts writes a message of parts. An image of which the bytes can't be had is
// what stands for it in text; no URL of anybody's is ever sent. Texts that say
// nothing are left out, if there is another.
func (b *builder) parts(content []schema.ContentBlock) error {
	b.Comma()
	b.Buf = append(b.Buf, `{"role":"user","content":`...)
	open := byte('[')
	for i, c := range content {
		data, isImage := b.req.Image(c)
		if !isImage && c.Plain() == "" && (open == ',' || i+1 < len(content)) {
			continue
		}
		b.Buf = append(b.Buf, open)
		open = ','
		if isImage {
			b.Buf = appendImage(b.Buf, data)
			continue
		}
		if err := b.Encode(textPart{"input_text", c.Plain()}); err != nil {
			return err
		}
	}
	b.Buf = append(b.Buf, `]}`...)
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
