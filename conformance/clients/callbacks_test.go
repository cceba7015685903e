package clients

import "testing"

// P7, P10, I10: callbacks of a client that nobody here wrote the protocol of.
func TestP10_VSCodeAnswersCallbacks(t *testing.T) {
	c := client{command: "node conformance/clients/testdata/callbacks.mjs"}
	quirks(t, c).want(t, map[string]string{
		"cancelled": "true",
		"injected":  `[["good","system",["tools"]],["later","context",[]]]`,
		"skipped":   `["broken: error","never: timeout"]`,
		"fail":      `{"code":-32008}`,
		"exit":      "0",
	})
}

func TestP8_PythonAnswersCallbacks(t *testing.T) {
	c := client{command: "python3 conformance/clients/testdata/callbacks.py"}
	quirks(t, c).want(t, map[string]string{"hi": "[13]", "bye": "[]", "exit": "0"})
}
