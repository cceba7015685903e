package session

import (
	"errors"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// resolveShown is resolve for a preview. Names that a configuration file lists
// and does not reach (P5) are left out and returned, so that a preview can show
// them; a turn would be refused for the first of them.
func (s *Session) resolveShown(r *Run) (untrusted []string, err error) {
	for {
		err := s.resolve(r, untrusted...)
		var unknown *inject.UnknownError
		if !errors.As(err, &unknown) || !unknown.Untrusted {
			return untrusted, err
		}
		untrusted = append(untrusted, unknown.Name)
	}
}

func untrustedRows(names []string) []schema.PreviewLayer {
	out := make([]schema.PreviewLayer, len(names))
	for i, name := range names {
		out[i] = schema.PreviewLayer{
			Name: name, Source: string(assemble.SourcePackage), Origin: schema.OriginBundle,
			Placement: schema.PlaceSystem, Reason: schema.ReasonUntrusted,
		}
	}
	return out
}
