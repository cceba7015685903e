package provider

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/schema"
)

// ImageSize is how many bytes of text an image counts as in estimates, whatever
// its own size: about 1,500 tokens.
const ImageSize = 6000

// Image is the bytes of an image that stands in the request. Not ok means that
// they can't be had: b.Plain() is sent in their place.
func (r *Request) Image(b schema.ContentBlock) (data []byte, ok bool) {
	switch {
	case b.Type != schema.BlockImage:
		return nil, false
	case b.Data != "":
		data, err := b.ImageData()
		return data, err == nil
	case r.Attachment == nil:
		return nil, false
	}
	data = r.Attachment(b.SHA256)
	return data, schema.ImageType(data) != ""
}

// HasImages tells whether any message of the request holds an image.
func (r *Request) HasImages() bool {
	return slices.ContainsFunc(r.Segments, func(s Segment) bool {
		return s.History.images > 0 || slices.ContainsFunc(s.Messages, func(m Message) bool { return slices.ContainsFunc(m.Content, isImage) })
	})
}

// ImageBytes is the size of all images in the request, as it is written beside
// their hashes.
func (r *Request) ImageBytes() int {
	total := 0
	for i := range r.Segments {
		total += r.Segments[i].History.images
		for _, m := range r.Segments[i].Messages {
			total += imageBytes(m.Content)
		}
	}
	return total
}

// Images are the image blocks of a message that AppendMessage encoded; none,
// at once, of one that is text alone.
func Images(raw []byte) []schema.ContentBlock {
	if isText(raw) {
		return nil
	}
	m, err := DecodeMessage(raw)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(m.Content, func(b schema.ContentBlock) bool { return !isImage(b) })
}

func isImage(b schema.ContentBlock) bool { return b.Type == schema.BlockImage }

// imageBytes believes no size that no image can have: 1 is the least, so that
// one with images never sums to 0.
func imageBytes(content []schema.ContentBlock) int {
	total := 0
	for _, b := range content {
		if isImage(b) {
			total += min(max(b.Bytes, 1), schema.MaxImageBytes)
		}
	}
	return total
}
