// Command echo is the floor of the spawn benchmarks: it answers each line with
// a fixed reply and does nothing else, but is linked with the libraries that
// prism-rpc needs.
package main

import (
	"bufio"
	"os"

	_ "net/http"

	_ "github.com/go-json-experiment/json"
	_ "github.com/go-playground/validator/v10"
	_ "github.com/sourcegraph/jsonrpc2"
	_ "github.com/spf13/cobra"
	_ "go.uber.org/zap"
	_ "go.yaml.in/yaml/v3"
)

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		if _, err := in.ReadSlice('\n'); err != nil {
			return
		}
		if _, err := os.Stdout.WriteString(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"); err != nil {
			return
		}
	}
}
