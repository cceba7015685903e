//go:build wasip1

// An instruction injector as a WebAssembly module, in Go: when the input talks
// about a release, it adds the release rules, naming the turn's branch.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o release.wasm .
package main

import (
	"encoding/json"
	"strings"
	"unsafe"
)

func main() {} // never called: a c-shared module only exports

// A turn is what the injector sees; metadata is whatever the client sends.
type turn struct {
	Turn  int `json:"turn"`
	Input []struct {
		Text string `json:"text"`
	} `json:"input"`
	Metadata struct {
		Branch string `json:"branch"`
	} `json:"metadata"`
}

type contribution struct {
	Instructions  string  `json:"instructions,omitempty"`
	ContextBlocks []block `json:"contextBlocks,omitempty"`
}

type block struct {
	Title   string `json:"title"`
	Content string `json:"content"`
}

func contribute(t turn) *contribution {
	for _, b := range t.Input {
		if strings.Contains(strings.ToLower(b.Text), "release") {
			c := &contribution{Instructions: "Write the changelog before you tag a release."}
			if t.Metadata.Branch != "" {
				c.ContextBlocks = []block{{"Branch", t.Metadata.Branch}}
			}
			return c
		}
	}
	return nil
}

// What the server writes into and reads from stays reachable here.
var input, output []byte

//go:wasmexport prism_alloc
func alloc(size uint32) unsafe.Pointer {
	input = make([]byte, max(1, size))
	return unsafe.Pointer(&input[0])
}

//go:wasmexport apply
func apply(ptr unsafe.Pointer, size uint32) uint64 {
	var t turn
	if err := json.Unmarshal(unsafe.Slice((*byte)(ptr), size), &t); err != nil {
		panic(err)
	}
	c := contribute(t)
	if c == nil {
		return 0 // not now
	}
	var err error
	if output, err = json.Marshal(c); err != nil {
		panic(err)
	}
	return uint64(uintptr(unsafe.Pointer(&output[0])))<<32 | uint64(len(output))
}
