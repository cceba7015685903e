package openai

import (
	"encoding/base64"
	"slices"

	"github.com/go-json-experiment/json"

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

// appendParts is appendSaid for a message that holds images. An image of which
// the bytes can't be had is what stands for it in text. Texts that say nothing
// are left out: not all servers take them.
func (b *builder) appendParts(m schema.Message) ([]byte, error) {
	dst := append(b.buf, `{"role":"user","content":`...)
	open := byte('[')
	for _, block := range m.Content {
		data, isImage := b.req.Image(block)
		if !isImage && block.Plain() == "" {
			continue
		}
		dst = append(dst, open)
		open = ','
		if isImage {
			dst = appendImage(dst, data)
			continue
		}
		part, err := json.Marshal(textPart{"text", block.Plain()})
		if err != nil {
			return nil, err
		}
		dst = append(dst, part...)
	}
	return append(dst, `]}`...), nil
}

func appendImage(dst, data []byte) []byte {
	dst = slices.Grow(dst, base64.StdEncoding.EncodedLen(len(data))+128)
	dst = append(dst, `{"type":"image_url","image_url":{"url":"data:`...)
	dst = append(dst, schema.ImageType(data)...)
	dst = append(dst, `;base64,`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, `"}}`...)
}
