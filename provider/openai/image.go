package openai

import (
	"encoding/base64"
	"slices"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A message with images is a list of parts: texts, and images as data: URLs.
// Only a user's message may be one, and no URL of anybody's is ever sent.

// shows tells whether content holds an image.
func shows(content []schema.ContentBlock) bool {
	return slices.ContainsFunc(content, func(c schema.ContentBlock) bool { return c.Type == schema.BlockImage })
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// parts writes a message that holds images. An image of which the bytes can't be
// had is what stands for it in text. Texts that say nothing are left out: not
// all servers take them.
func (b *builder) parts(content []schema.ContentBlock) error {
	b.Comma()
	b.Buf = append(b.Buf, `{"role":"user","content":`...)
	open := byte('[')
	for _, block := range content {
		data, isImage := b.req.Image(block)
		if !isImage && block.Plain() == "" {
			continue
		}
		b.Buf = append(b.Buf, open)
		open = ','
		if isImage {
			b.Buf = appendImage(b.Buf, data)
			continue
		}
		if err := b.Encode(textPart{"text", block.Plain()}); err != nil {
			return err
		}
	}
	b.Buf = append(b.Buf, `]}`...)
	return nil
}

func appendImage(dst, data []byte) []byte {
	dst = slices.Grow(dst, base64.StdEncoding.EncodedLen(len(data))+128)
	dst = append(dst, `{"type":"image_url","image_url":{"url":"data:`...)
	dst = append(dst, schema.ImageType(data)...)
	dst = append(dst, `;base64,`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, `"}}`...)
}
