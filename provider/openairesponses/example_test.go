package openairesponses_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/openairesponses"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"type":"response.output_text.delta","delta":"Hello."}`+"\n\n")
		fmt.Fprint(w, `data: {"type":"response.completed","response":{"status":"completed"}}`+"\n\n")
	}))
	defer server.Close()

	p, err := openairesponses.New(openairesponses.Options{BaseURL: server.URL + "/v1", Key: redact.NewSecret("sk-test")})
	if err != nil {
		log.Fatal(err)
	}
	req := &provider.Request{Model: "any", Segments: []provider.Segment{
		{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text(schema.RoleUser, "hi")}},
	}}
	result, err := p.Stream(context.Background(), req, func(e provider.Event) error {
		fmt.Printf("%q\n", e.Text)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.StopReason)
	// Output:
	// "Hello."
	// end_turn
}
