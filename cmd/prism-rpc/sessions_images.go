package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// images are those that a session's messages name, each once.
type images struct {
	seen  map[string]bool
	named []schema.ContentBlock
}

func (i *images) add(content []schema.ContentBlock) {
	for _, b := range content {
		if b.Type != schema.BlockImage || i.seen[b.SHA256] {
			continue
		}
		if i.seen == nil {
			i.seen = map[string]bool{}
		}
		i.seen[b.SHA256] = true
		i.named = append(i.named, b)
	}
}

// all are those of the turns and of the one that has not ended.
func (s *stored) all() []schema.ContentBlock {
	if s.open != nil {
		s.images.add(s.open.Input)
	}
	return s.images.named
}

// An exportedImage has either its data or what is wrong with it.
type exportedImage struct {
	MimeType string `json:"mimeType"`
	SHA256   string `json:"sha256"`
	Bytes    int    `json:"bytes"`
	Data     string `json:"data,omitempty"`    // base64
	Problem  string `json:"problem,omitempty"` // missing, damaged or unreadable
}

// exportImages writes those that the session names, one after the other.
func (k *keeper) exportImages(id string, named []schema.ContentBlock, out io.Writer) error {
	for i, b := range named {
		before := `,"attachments":[`
		if i > 0 {
			before = ","
		}
		if _, err := io.WriteString(out, before); err != nil {
			return err
		}
		if err := json.MarshalWrite(out, k.image(id, b)); err != nil {
			return err
		}
	}
	if len(named) == 0 {
		return nil
	}
	_, err := io.WriteString(out, "]")
	return err
}

func (k *keeper) image(id string, b schema.ContentBlock) *exportedImage {
	e := &exportedImage{MimeType: b.MimeType, SHA256: b.SHA256, Bytes: b.Bytes}
	data, err := k.store.Attachment(id, b.SHA256)
	switch {
	case errors.Is(err, session.ErrNotFound):
		e.Problem = "missing"
	case errors.Is(err, session.ErrDamaged):
		e.Problem = "damaged"
	case err != nil:
		e.Problem = "unreadable"
	default:
		e.Data = base64.StdEncoding.EncodeToString(data)
	}
	return e
}

// checkImages tells of images that can't be had any more; no repair brings
// them back.
func (k *keeper) checkImages(id string, named []schema.ContentBlock) error {
	var errs []error
	for _, b := range named {
		if problem := k.image(id, b).Problem; problem != "" {
			errs = append(errs, fmt.Errorf("%s: the image %s is %s; sending it again brings it back", id, b.SHA256, problem))
		}
	}
	return errors.Join(errs...)
}
