package memstore_test

import (
	"fmt"
	"testing"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) session.Store { return memstore.New() })
}

func Example() {
	store := memstore.New()
	log, err := store.Create("s1", []byte(`{"v":1,"t":"session","id":"s1"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(log.Commit(1, []byte(`{"v":1,"t":"turn","turn":1}`)))
	fmt.Println(log.Commit(1, []byte(`{"v":1,"t":"turn","turn":1}`)))
	// Output:
	// <nil>
	// another turn was committed first: turn 1 after 1
}
