package mock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/schema"
)

func Example() {
	script, err := mock.LoadScript(strings.NewReader(`
- {deltas: [Hel, lo.]}
- {error: {class: rate_limit, status: 429, retryAfterMs: 1000}}
`))
	if err != nil {
		log.Fatal(err)
	}
	p := mock.New(mock.WithScript(script))
	req := &provider.Request{Segments: []provider.Segment{
		{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text(schema.RoleUser, "hi")}},
	}}
	for range 3 {
		res, err := p.Stream(context.Background(), req, func(e provider.Event) error {
			fmt.Printf("%q ", e.Text)
			return nil
		})
		var failed *provider.Error
		if errors.As(err, &failed) {
			fmt.Printf("%s: %s\n", failed.Class, failed.Message)
			continue
		}
		fmt.Println(res.StopReason)
	}
	fmt.Println(len(p.Requests()), "requests")
	// Output:
	// "Hel" "lo." end_turn
	// rate_limit: scripted failure
	// "You " "said: " "hi" end_turn
	// 3 requests
}
