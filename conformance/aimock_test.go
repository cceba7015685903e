package conformance

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// apiKey is the one key that the server takes.
const apiKey = "sk-conformance-5f1c0e2d7a"

// aimock is a running server with the answers of fixtures.json.
type aimock struct{ url string }

// An asked request, as the server noted it.
type asked struct {
	raw  jsontext.Value
	Path string `json:"path"`
	Body struct {
		Model    string    `json:"model"`
		Stream   bool      `json:"stream"`
		Messages []message `json:"messages"`
	} `json:"body"`
	Response struct {
		Status int `json:"status"`
	} `json:"response"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func startAimock(t *testing.T) *aimock {
	t.Helper()
	cmd := exec.Command("node", "serve.mjs", "fixtures.json")
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY="+apiKey)
	cmd.Stderr = t.Output()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start(), "Node.js is needed")
	t.Cleanup(func() {
		assert.NoError(t, stdin.Close()) // which ends it
		assert.NoError(t, cmd.Wait())
	})
	url, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "is `npm ci --ignore-scripts` done?")
	return &aimock{strings.TrimSpace(url)}
}

// journal is what the server was asked, in order, by its own account.
func (a *aimock) journal(t *testing.T) []asked {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/__aimock/journal", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+apiKey)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, string(body))

	var raws []jsontext.Value
	require.NoError(t, json.Unmarshal(body, &raws))
	entries := make([]asked, len(raws))
	for i, raw := range raws {
		require.NoError(t, json.Unmarshal(raw, &entries[i]))
		entries[i].raw = raw
	}
	return entries
}
