package schema

import (
	"strconv"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// quoteShort shows a value of the client's in a message: escaped and cut.
func quoteShort(s string) string { return `"` + plain.Text(s, 64) + `"` }
