package anthropic_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/anthropic"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello."}}`+"\n\n")
		fmt.Fprint(w, `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}`+"\n\n")
		fmt.Fprint(w, `data: {"type":"message_stop"}`+"\n\n")
	}))
	defer server.Close()

	p, err := anthropic.New(anthropic.Options{BaseURL: server.URL, Key: redact.NewSecret("sk-ant-test"), Cache: anthropic.CacheOneHour})
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
