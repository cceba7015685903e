package schema

import "strconv"

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
