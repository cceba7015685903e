package schema

import _ "embed"

//go:generate go run ./gen

// The documents are generated from the types of this package and embedded as
// they are: nothing reads them when the program starts.
var (
	//go:embed openrpc.json
	openRPC string
	//go:embed schema.json
	jsonSchema string
	//go:embed prism-rpc.d.ts
	typeScript string
)

// OpenRPC is the OpenRPC document of the wire contract: one line of JSON
// without its end, as rpc.discover answers it.
func OpenRPC() string { return openRPC }

// JSONSchema is the JSON Schema (2020-12) of what crosses the wire: $defs holds
// params, results, events and the data of errors by the names of their types.
func JSONSchema() string { return jsonSchema }

// TypeScript is the wire contract as a TypeScript declaration file.
func TypeScript() string { return typeScript }

// OpenRPCDocument is the shape of the document that rpc.discover answers.
type OpenRPCDocument struct {
	OpenRPC    string          `json:"openrpc"` // the specification's version
	Info       OpenRPCInfo     `json:"info"`
	Methods    []OpenRPCMethod `json:"methods"`
	Components struct{}        `json:"components"`
}

// OpenRPCInfo is about the contract; Version is that of the protocol.
type OpenRPCInfo struct {
	Title   string `json:"title"`
	Version string `json:"version"`
}

// OpenRPCMethod is the beginning of a Method Object.
type OpenRPCMethod struct {
	Name string `json:"name"`
}
