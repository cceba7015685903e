// Command go talks to prism-rpc through the client half of
// github.com/sourcegraph/jsonrpc2. From the root of this repository:
//
//	go run ./examples/go
//
// It runs prism-rpc from PATH, or the program that $PRISM_RPC names.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

type object map[string]any

func main() {
	headers := flag.Bool("headers", false, "frame messages with Content-Length headers instead of lines")
	flag.Parse()
	cmd := exec.Command(cmp.Or(os.Getenv("PRISM_RPC"), "prism-rpc"),
		"--provider", "mock", "--mock-script", "examples/mock.yaml", // for a real model: --provider openai --model …
		"--store", "memory", "--config", "examples/prism.yaml")
	cmd.Stderr = os.Stderr
	stdin, stdout := must(cmd.StdinPipe()), must(cmd.StdoutPipe())
	check(cmd.Start())

	stream := jsonrpc2.NewPlainObjectStream(stdio{stdout, stdin}) // a message a line
	if *headers {
		stream = jsonrpc2.NewBufferedStream(stdio{stdout, stdin}, jsonrpc2.VSCodeObjectCodec{})
	}
	begun := make(events, 1)
	conn := jsonrpc2.NewConn(context.Background(), stream, begun)
	talk(context.Background(), conn, begun)
	<-conn.DisconnectNotify() // before Wait, which closes the pipes
	check(cmd.Wait())
	show("exit", cmd.ProcessState.ExitCode())
}

func talk(ctx context.Context, conn *jsonrpc2.Conn, begun events) {
	request := func(method string, params any) func(name string) {
		waiter := must(conn.DispatchCall(ctx, method, params))
		return func(name string) { // waits and shows the answer
			var result json.RawMessage
			var failure *jsonrpc2.Error
			if err := waiter.Wait(ctx, &result); errors.As(err, &failure) {
				show(name, failure)
			} else {
				check(err)
				show(name, result)
			}
		}
	}
	request("initialize", object{"clientInfo": object{"name": "go"}})("initialize")

	// A turn with two injectors: its events come first, then its result.
	request("prompt", object{"input": "Who are you?", "instructionInjectors": []string{"json-always", "project"}})("first")

	// A name that nobody registered sends nothing to the model.
	request("prompt", object{"input": "Hello?", "instructionInjectors": []string{"json-allways"}})("unknown")

	// While one turn runs, a followUp waits. Cancelled, the first one ends with a result, and the second has its turn.
	// The library tells nobody that a context has ended: abort does.
	story := request("prompt", object{"input": "Tell me a story."})
	next := request("followUp", object{"input": "And then?"})
	request("abort", object{"runId": <-begun})("abort")
	story("story")
	next("next")

	request("shutdown", nil)("shutdown")
	check(conn.Notify(ctx, "exit", nil))
}

// events shows them, and passes on the runId of the story that has begun. Not wrapped as async, it sees them in order
// and before the answer that they lead to.
type events chan string

func (begun events) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Method != "event" {
		return // notices, and whatever later versions add
	}
	show("event", req.Params)
	var event struct{ Type, Text, RunID string }
	check(json.Unmarshal(*req.Params, &event))
	if event.Type == "message_delta" && strings.HasPrefix(event.Text, "Once") {
		begun <- event.RunID
	}
}

// stdio is a child's pipes as one stream.
type stdio struct {
	io.Reader
	io.WriteCloser
}

func show(name string, value any) { fmt.Printf("%s %s\n", name, must(json.Marshal(value))) }

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
