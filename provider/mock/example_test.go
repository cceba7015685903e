package mock_test

import (
	"context"
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
		_, err := p.Stream(context.Background(), req, func(e provider.Event) error {
			fmt.Printf("%q ", e.Text)
			return nil
		})
		fmt.Println(err)
	}
	fmt.Println(len(p.Requests()), "requests")
	// Output:
	// "Hel" "lo." <nil>
	// rate_limit: scripted failure
	// "You " "said: " "hi" <nil>
	// 3 requests
}
