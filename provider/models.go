package provider

import "context"

// A Lister is a Provider that can tell which models it has. Its errors are
// those of Stream.
type Lister interface {
	Models(ctx context.Context) ([]Model, error)
}

// A Model is one of a provider's. Its texts are raw: whatever a server says.
type Model struct {
	ID            string // as a request names it
	Name          string // for people; may be empty
	ContextTokens int64  // that it takes; 0 where nobody says
}
