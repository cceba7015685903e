package rpc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/jsonrpc2"
)

// duplex is a pair of pipes: what one end writes the other reads.
type duplex struct {
	io.Reader
	io.Writer
	close []io.Closer
}

func (d duplex) Close() error {
	for _, c := range d.close {
		_ = c.Close()
	}
	return nil
}

func osPipes(b *testing.B) (near, far duplex) {
	b.Helper()
	r1, w1, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	near, far = duplex{r2, w1, []io.Closer{r2, w1}}, duplex{r1, w2, []io.Closer{r1, w2}}
	b.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return near, far
}

func ioPipes(b *testing.B) (near, far duplex) {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	near, far = duplex{r2, w1, []io.Closer{r2, w1}}, duplex{r1, w2, []io.Closer{r1, w2}}
	b.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return near, far
}

// servers answer each line with a line; the floor does nothing else.
var servers = map[string]func(ctx context.Context, far duplex){
	"floor": func(_ context.Context, far duplex) {
		r := bufio.NewReaderSize(far, 64<<10)
		for {
			line, err := readLine(r)
			if err != nil {
				return
			}
			if _, err := far.Write(line); err != nil {
				return
			}
		}
	},
	"conn": func(ctx context.Context, far duplex) {
		_ = newConn(far.Reader, far.Writer, connOptions{methods: map[string]begin{"echo": echoRaw}}).serve(ctx)
	},
	"plain codec": func(ctx context.Context, far duplex) {
		h := jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
			return req.Params, nil
		})
		<-jsonrpc2.NewConn(ctx, jsonrpc2.NewPlainObjectStream(far), h, jsonrpc2.SetLogger(noLogger{})).DisconnectNotify()
	},
}

// echoRaw keeps its params until they are encoded, which happens before the
// next message is read.
func echoRaw(_ *call, params []byte) (reply, error) {
	return reply{result: jsontext.Value(params)}, nil
}

func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	long := append([]byte(nil), line...)
	for err == bufio.ErrBufferFull {
		line, err = r.ReadSlice('\n')
		long = append(long, line...)
	}
	return long, err
}

func message(size int) []byte {
	if size > 1000 {
		return append(document(size), '\n')
	}
	return []byte(request("12345", "echo", `{"text":"`+strings.Repeat("a", size-70)+`"}`) + "\n")
}

func BenchmarkRoundTrip(b *testing.B) {
	for kind, pipes := range map[string]func(*testing.B) (near, far duplex){"os.Pipe": osPipes, "io.Pipe": ioPipes} {
		for name, serve := range servers {
			b.Run(kind+"/"+name, func(b *testing.B) {
				near, far := pipes(b)
				go serve(b.Context(), far) // ends when the pipes close
				r, line := bufio.NewReaderSize(near, 64<<10), message(100)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := near.Write(line); err != nil {
						b.Fatal(err)
					}
					if _, err := readLine(r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkThroughput(b *testing.B) {
	for _, size := range []int{100, 10_000, 1_000_000} {
		for name, serve := range servers {
			b.Run(fmt.Sprintf("%d/%s", size, name), func(b *testing.B) {
				near, far := osPipes(b)
				go serve(b.Context(), far) // ends when the pipes close
				line := message(size)
				b.SetBytes(int64(len(line)))
				b.ReportAllocs()
				b.ResetTimer()
				go func() { // ends when all is written, or the pipes close
					w := bufio.NewWriterSize(near, 64<<10)
					for range b.N {
						if _, err := w.Write(line); err != nil {
							return
						}
					}
					_ = w.Flush()
				}()
				r := bufio.NewReaderSize(near, 64<<10)
				for range b.N {
					if _, err := readLine(r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
