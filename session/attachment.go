package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A session's log and its history name images by the SHA-256 of their bytes.
// The bytes are kept beside the log, once, before a record names them, and are
// read again for each call to a provider.

// maxSentImages bounds the images of one request, in bytes.
const maxSentImages = 64 << 20

// takeImages leaves the images of the run's input named by hash. Their bytes
// wait in r.images until the turn starts. The error is a *schema.ParamsError.
func (r *Run) takeImages() error {
	for i := range r.input {
		b := &r.input[i]
		if b.Type != schema.BlockImage {
			continue
		}
		data, err := b.ImageData()
		if err != nil {
			return schema.Under("input", schema.UnderIndex(i, err))
		}
		sum := sha256.Sum256(data)
		b.Data, b.SHA256, b.Bytes = "", hex.EncodeToString(sum[:]), len(data)
		r.images = append(r.images, data)
	}
	return nil
}

// keepImages makes the images of the run's input durable.
func (s *Session) keepImages(r *Run) error {
	images := r.images
	r.images = nil
	for _, data := range images {
		if err := s.attach(data); err != nil {
			return err
		}
	}
	return nil
}

// attach keeps an image with the session.
func (s *Session) attach(data []byte) error {
	if s.manager.cfg.Store == nil {
		s.attachInMemory(data)
		return nil
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	if err := s.create(); err != nil {
		return err
	}
	if err := s.log.Attach(data); err != nil {
		return storeFailed(err)
	}
	return nil
}

func (s *Session) attachInMemory(data []byte) {
	sum := sha256.Sum256(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.images == nil {
		s.images = map[string][]byte{}
	}
	s.images[hex.EncodeToString(sum[:])] = data
}

// attached is the bytes of an image. Errors: ErrNotFound, ErrDamaged, the
// store's own.
func (s *Session) attached(sum string) ([]byte, error) {
	if s.manager.cfg.Store != nil {
		return s.manager.cfg.Store.Attachment(s.id, sum)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if data := s.images[sum]; data != nil {
		return data, nil
	}
	return nil, ErrNotFound
}

// Attachment finds an image that the session's dialogue, its running turn or
// the turn that was cut off names. Read gives its bytes. Errors:
// *schema.ParamsError about the field attachment when nothing names it; those
// of read are ErrStore.
func (s *Session) Attachment(sum string) (mimeType string, read func() ([]byte, error), err error) {
	s = s.present()
	b, ok := s.named(sum)
	if !ok {
		return "", nil, schema.BadField("attachment", "known", "is not an image of this session's dialogue")
	}
	return b.MimeType, func() ([]byte, error) {
		data, err := s.attached(sum)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil, storeFailed(errMissing)
		case err != nil:
			return nil, storeFailed(err)
		}
		return data, nil
	}, nil
}

var errMissing = errors.New("an attachment is missing")

// named is the first image block with that hash.
func (s *Session) named(sum string) (schema.ContentBlock, bool) {
	s.mu.Lock()
	history := s.history
	blocks := []schema.ContentBlock{}
	if s.running != nil {
		blocks = append(blocks, s.running.input...)
	}
	if s.interrupted != nil {
		blocks = append(blocks, s.interrupted.Input...)
	}
	s.mu.Unlock()
	for i := range history.Len() {
		if history.Rich(i) {
			blocks = append(blocks, provider.Images(history.Raw(i))...)
		}
	}
	at := slices.IndexFunc(blocks, func(b schema.ContentBlock) bool { return b.Type == schema.BlockImage && b.SHA256 == sum })
	if at < 0 {
		return schema.ContentBlock{}, false
	}
	return blocks[at], true
}

// withImages is req with a way to the bytes of its images, of which one call
// gets no more than maxSentImages.
func (r *Run) withImages(req *provider.Request) *provider.Request {
	if !req.HasImages() {
		return req
	}
	room := maxSentImages
	with := *req
	with.Attachment = func(sum string) []byte {
		data, err := r.session.attached(sum)
		if err == nil && len(data) > room {
			err = errManyImages
		}
		if err != nil {
			r.log(zap.WarnLevel, "an image was not sent", err, zap.String("sha256", sum))
			return nil
		}
		room -= len(data)
		return data
	}
	return &with
}

var errManyImages = errors.New("the images of the dialogue are larger in all than a request takes")

// fitImages has older turns summarised where the images of the dialogue are
// larger in all than a request may hold.
func (r *Run) fitImages(req *provider.Request) (*provider.Request, error) {
	if req.ImageBytes() <= maxSentImages {
		return req, nil
	}
	if smaller := r.condensed(req, schema.CompactOverflow, allOf); smaller != nil && smaller.ImageBytes() <= maxSentImages {
		return smaller, nil
	}
	return nil, &provider.Error{Class: provider.ClassContextOverflow, Message: errManyImages.Error()}
}

// copyImages keeps with s the images that a record of from's names. One that
// can't be had stays named.
func (s *Session) copyImages(from *Session, messages []jsontext.Value) error {
	for _, m := range messages {
		for _, b := range provider.Images(m) {
			data, err := from.attached(b.SHA256)
			if err != nil {
				s.manager.cfg.Logger.Warn("an image was not copied", zap.String("session", from.id), zap.String("sha256", b.SHA256), zap.Error(err))
				continue
			}
			if err := s.attach(data); err != nil {
				return err
			}
		}
	}
	return nil
}
