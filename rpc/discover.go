package rpc

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// discover answers with the OpenRPC document of all methods.
func (s *server) discover(*call, *schema.NoParams) (jsontext.Value, error) {
	return jsontext.Value(schema.OpenRPC()), nil
}
