// Command echo is the floor of the spawn benchmarks: it answers each line with
// a fixed reply and does nothing else, but is linked with the libraries that
// prism-rpc needs.
package main

import (
	"bufio"
	"context"
	"net/http"
	"os"

	"github.com/expr-lang/expr/parser"
	"github.com/go-json-experiment/json"
	"github.com/go-playground/validator/v10"
	"github.com/sourcegraph/jsonrpc2"
	"github.com/spf13/cobra"
	"github.com/tetratelabs/wazero"
	"go.uber.org/zap"
	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) > 1 { // never so in the benchmark; keeps the linker from dropping the libraries
		link()
	}
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

func link() {
	var v any
	_ = validator.New().Struct(v)
	_ = json.Unmarshal(nil, &v)
	_ = yaml.Unmarshal(nil, &v)
	_ = jsonrpc2.NewConn(context.Background(), nil, nil).Close()
	_ = (&cobra.Command{}).Execute()
	zap.NewExample().Info("")
	_, _ = parser.Parse("true")
	_, _ = http.Get("")
	_ = wazero.NewRuntime(context.Background())
}
