package schema

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The kinds of content block that a prompt may hold. Names and fields are
// those of the Agent Client Protocol.
const (
	BlockText         = "text"
	BlockResourceLink = "resource_link"
	BlockResource     = "resource"
	BlockImage        = "image"
)

// A ContentBlock is one piece of what somebody says.
type ContentBlock struct {
	Type string `json:"type"`

	Text string `json:"text,omitempty"` // text

	URI         string `json:"uri,omitempty"`  // resource_link
	Name        string `json:"name,omitempty"` // resource_link
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mimeType,omitempty"`
	Size        *int64 `json:"size,omitempty"`

	Resource *Resource `json:"resource,omitempty"` // resource

	Data   string `json:"data,omitempty"`   // image, as it is sent: base64
	SHA256 string `json:"sha256,omitempty"` // image, as it is kept: names its bytes, which messages gives
	Bytes  int    `json:"bytes,omitzero"`   // image, as it is kept: its size

	Annotations jsontext.Value `json:"annotations,omitempty"`
	Meta
}

// A Resource is a document that travels inside a block.
type Resource struct {
	URI      string `json:"uri"`
	MimeType string `json:"mimeType,omitempty"`
	Text     string `json:"text,omitempty"`
	Meta
}

// Meta is the member that every params object and content block may carry for
// its sender's own use; nothing here reads it.
type Meta struct {
	Meta jsontext.Value `json:"_meta,omitempty"`
}

// TextBlock is a block of text.
func TextBlock(text string) ContentBlock { return ContentBlock{Type: BlockText, Text: text} }

// Plain is the block as the text that a model reads: a link is its name, URI
// and description (no URI is ever opened), a resource its URI and text. For an
// image, which has no text, there is a short stand-in.
func (b ContentBlock) Plain() string {
	switch b.Type {
	case BlockImage:
		return b.standIn()
	case BlockResourceLink:
		return joinLines(b.Name+" <"+b.URI+">", b.Title, b.Description)
	case BlockResource:
		if b.Resource != nil { // a log could do without
			return joinLines("<"+b.Resource.URI+">", b.Resource.Text)
		}
	}
	return b.Text
}

func joinLines(lines ...string) string {
	kept := lines[:0:0]
	for _, l := range lines {
		if l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

// PlainText is the text of all blocks, one after another, a line apart.
func PlainText(blocks []ContentBlock) string {
	if len(blocks) == 1 {
		return blocks[0].Plain()
	}
	parts := make([]string, len(blocks))
	for i, b := range blocks {
		parts[i] = b.Plain()
	}
	return strings.Join(parts, "\n")
}

func (b ContentBlock) check(field string) *ParamsError {
	if err := b.checkNoHash(field); err != nil {
		return err
	}
	if b.Type == BlockImage {
		return b.checkImage(field)
	}
	if err := b.checkKind(field); err != nil {
		return err
	}
	return b.checkNoImage(field)
}

func (b ContentBlock) checkKind(field string) *ParamsError {
	switch b.Type {
	case "":
		return BadField(field+".type", "required", "is missing or empty")
	case BlockText:
		return nil
	case BlockResourceLink:
		if b.URI == "" || b.Name == "" {
			return BadField(field, "required", "a resource_link needs uri and name")
		}
		return nil
	case BlockResource:
		if b.Resource == nil || b.Resource.URI == "" {
			return BadField(field+".resource", "required", "a resource needs uri and text")
		}
		return nil
	}
	return unknownKind(field+".type", b.Type)
}

// Input is what a turn says: a string, or a list of content blocks. It always
// encodes as the list.
type Input []ContentBlock

// UnmarshalJSONFrom reads either form.
func (in *Input) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case jsontext.KindString:
		var text string
		if err := json.UnmarshalDecode(dec, &text); err != nil {
			return err
		}
		*in = Input{TextBlock(text)}
		return nil
	case jsontext.KindBeginArray:
		return in.readBlocks(dec)
	case jsontext.KindNull:
		*in = nil
		return dec.SkipValue()
	}
	if err := dec.SkipValue(); err != nil {
		return err
	}
	return BadField("", "type", "must be a string or an array of content blocks")
}

// readBlocks reads an array of blocks. A block of another kind is refused for
// that, whatever else it holds.
func (in *Input) readBlocks(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	*in = Input{}
	for dec.PeekKind() != jsontext.KindEndArray {
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		var b ContentBlock
		if err := b.read(raw, dec.Options()); err != nil {
			return under(index(len(*in)), err)
		}
		*in = append(*in, b)
	}
	_, err := dec.ReadToken()
	return err
}

func (b *ContentBlock) read(raw jsontext.Value, opts json.Options) *ParamsError {
	var kind struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(raw, &kind, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err == nil && kind.Type != "" && !takenKind(kind.Type) {
		return unknownKind("type", kind.Type)
	}
	if err := json.Unmarshal(raw, b, opts); err != nil {
		return shapeError(err)
	}
	return nil
}

func takenKind(kind string) bool {
	return kind == BlockText || kind == BlockResourceLink || kind == BlockResource || kind == BlockImage
}

func unknownKind(field, kind string) *ParamsError {
	return BadField(field, "oneof", "kinds of block are text, image, resource_link and resource, not "+kind)
}

func (in Input) check() *ParamsError {
	if len(in) == 0 {
		return BadField("input", "required", "is missing or empty")
	}
	blank := true
	for i, b := range in {
		if err := b.check("input" + index(i)); err != nil {
			return err
		}
		blank = blank && b.Type == BlockText && strings.TrimSpace(b.Text) == ""
	}
	if blank {
		return BadField("input", "blank", "holds nothing but white space")
	}
	return in.checkImages("input")
}
