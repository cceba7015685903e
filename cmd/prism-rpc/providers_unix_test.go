//go:build unix

package main

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// caFile names whom TLS trusts: a server of one's own, which else is nobody's.
func TestCAFile(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"trusted"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of those who don't trust it
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	write("none.pem", "nothing\n")
	base := "provider: openai\nbaseUrl: " + server.URL + "/v1\nproviders: {openai: {caFile: "

	ask := func(config string) (string, int) {
		cmd := command(t, "--provider=openai", "--model=m", "--config", config, "-p", "hi")
		out, _ := cmd.CombinedOutput() // the code is looked at below
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := ask(write("with.yaml", base+"ca.pem}}\n")) // beside the file
	assert.Equal(t, "trusted\n", out)
	assert.Zero(t, code)

	out, code = ask(write("without.yaml", "provider: openai\nbaseUrl: "+server.URL+"/v1\n"))
	assert.Contains(t, out, "prism-rpc: network: ")
	assert.Equal(t, 1, code)

	out, code = ask(write("wrong.yaml", base+"none.pem}}\n"))
	assert.Contains(t, out, "wrong.yaml:3:30: providers.openai.caFile: holds no certificate")
	assert.Equal(t, 2, code)
}
