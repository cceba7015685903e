package schema

// Bounds on a message that the server writes, framing included (protocol §10).
const (
	MaxMessageBytes = 10_000_000
	MinMessageBytes = 4096 // the least that a client may ask for
)

// Bounds on single values (protocol §10).
const (
	MaxTitleBytes      = 512
	MaxModelBytes      = 256
	MaxRequestKeyBytes = 256
	MaxSelected        = 256       // names in one list
	MaxMetadataBytes   = 64 << 10  // of a metadata object
	MaxInjectorBytes   = 256 << 10 // of an injector's instructions
	MaxInjectorBlocks  = 64
	MaxBlockBytes      = 256 << 10 // of all context blocks of one list
	MaxPredicateBytes  = 4 << 10   // of an injector's condition
	MaxKnownNames      = 50        // in data.known
	MaxImageBytes      = 20 << 20  // of an image, decoded
	MaxImages          = 64        // of one input
	MaxCallbackHistory = 256 << 10 // of the dialogue that a callback is told
)
