package schema

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
)

// imageTypes are the kinds of image that a block may hold, each told by how
// its bytes begin.
var imageTypes = []struct {
	mimeType string
	begins   func(data []byte) bool
}{
	{"image/png", beginsWith("\x89PNG\r\n\x1a\n")},
	{"image/jpeg", beginsWith("\xff\xd8\xff")},
	{"image/gif", beginsWith("GIF87a", "GIF89a")},
	{"image/webp", func(data []byte) bool {
		return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
	}},
}

// imageHead is how many of an image's bytes tell its type.
const imageHead = 12

func beginsWith(heads ...string) func([]byte) bool {
	return func(data []byte) bool {
		return slices.ContainsFunc(heads, func(head string) bool { return bytes.HasPrefix(data, []byte(head)) })
	}
}

// ImageTypes are the MIME types of the images that a block may hold.
func ImageTypes() []string {
	names := make([]string, len(imageTypes))
	for i, t := range imageTypes {
		names[i] = t.mimeType
	}
	return names
}

// ImageType is the MIME type of an image, told by its first bytes; "" when
// they are of none that a block may hold.
func ImageType(data []byte) string {
	for _, t := range imageTypes {
		if t.begins(data) {
			return t.mimeType
		}
	}
	return ""
}

// IsImageType tells whether a block may hold images of that MIME type.
func IsImageType(mimeType string) bool { return slices.Contains(ImageTypes(), mimeType) }

// ValidSHA256 tells whether s is a SHA-256 as blocks name images: 64 lower-case
// hex digits.
func ValidSHA256(s string) bool {
	return len(s) == hex.EncodedLen(32) && strings.Trim(s, "0123456789abcdef") == ""
}

// ImageData is the bytes of an image block that holds them. The error is a
// *ParamsError about the block's fields.
func (b ContentBlock) ImageData() ([]byte, error) {
	if err := b.checkImage(""); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(b.Data)
}

// imageBytes is the size of an image, kept by hash or not.
func (b ContentBlock) imageBytes() int {
	if b.Data == "" {
		return b.Bytes
	}
	return base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(b.Data, "=")))
}

// standIn is what is read where an image can't be: by predicates, in titles,
// in context blocks.
func (b ContentBlock) standIn() string {
	return fmt.Sprintf("[image %s, %d bytes]", b.MimeType, b.imageBytes())
}

// checkImage holds an image that a client sends to its type, its encoding and
// its bound.
func (b ContentBlock) checkImage(field string) *ParamsError {
	switch {
	case b.MimeType == "":
		return BadField(joinPath(field, "mimeType"), "required", "is missing or empty")
	case !IsImageType(b.MimeType):
		return BadField(joinPath(field, "mimeType"), "oneof", "must be one of: "+strings.Join(ImageTypes(), ", "))
	case b.Data == "":
		return BadField(joinPath(field, "data"), "required", "is missing or empty")
	case b.imageBytes() > MaxImageBytes:
		return PastLimit(joinPath(field, "data"), MaxImageBytes, "bytes")
	}
	return b.checkData(joinPath(field, "data"))
}

func (b ContentBlock) checkData(field string) *ParamsError {
	var head beginning
	_, err := io.Copy(&head, base64.NewDecoder(base64.StdEncoding.Strict(), strings.NewReader(b.Data)))
	switch {
	case err != nil, strings.ContainsAny(b.Data, "\r\n"): // which the decoder skips
		return BadField(field, "base64", "is not base64 with padding (RFC 4648, section 4)")
	case ImageType(head) != b.MimeType:
		return BadField(field, "magic", "does not begin as "+b.MimeType+" does")
	}
	return nil
}

// A beginning keeps the first bytes of what is written to it.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), imageHead-len(*b))]...)
	return len(p), nil
}

// checkNoImage refuses in other blocks what belongs to an image: nothing takes
// secrets out of base64.
func (b ContentBlock) checkNoImage(field string) *ParamsError {
	if b.Data != "" {
		return BadField(joinPath(field, "data"), "excluded", "belongs to blocks of type image")
	}
	return nil
}

// checkNoHash refuses what only the server gives.
func (b ContentBlock) checkNoHash(field string) *ParamsError {
	switch {
	case b.SHA256 != "":
		return BadField(joinPath(field, "sha256"), "excluded", "is the server's to give; send the image as data")
	case b.Bytes != 0:
		return BadField(joinPath(field, "bytes"), "excluded", "is the server's to give; send the image as data")
	}
	return nil
}

func (in Input) checkImages(field string) *ParamsError {
	images := 0
	for _, b := range in {
		if b.Type == BlockImage {
			images++
		}
	}
	if images > MaxImages {
		return PastLimit(field, MaxImages, "images")
	}
	return nil
}
