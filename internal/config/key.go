package config

import (
	"errors"
	"io"
	"net/netip"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/prism-rpc/prism-rpc/redact"
)

const (
	maxKey     = 64 << 10         // bytes of a file or an output that holds a key
	keyTimeout = 10 * time.Second // of a command that tells one
)

var (
	errNotOurs = errors.New("must be the user's own, and readable by nobody else (chmod 600)")
	errNoKey   = errors.New("holds no key")
	errSlow    = errors.New("did not end within " + keyTimeout.String())
)

// FetchKeys reads the keys that are in files, and runs the commands that tell
// the others; each becomes a secret that the Redactor knows. It is for those
// who call providers: nobody else needs them. The error is an *Error.
func (c *Config) FetchKeys() error {
	for _, e := range c.Endpoints {
		key, err := e.fetchKey()
		switch {
		case err != nil:
			hint := ""
			if e.fetch.APIKeyCommand != nil {
				hint = "run the command by hand; it must print the key on standard output, without asking"
			}
			return c.Bad(e.KeyFrom, err.Error(), hint)
		case key == "":
			continue
		case e.fromEnv && !e.ofVendor && !loopback(e.BaseURL):
			return c.Bad(e.BaseURLFrom, "names a host that the key of "+e.KeyFrom+" may not be sent to, since only the environment names it",
				"name the host with --base-url, or as providers."+e.Provider+".baseUrl in the configuration file")
		}
		e.Key = redact.NewSecret(key)
		more, err := c.Redactor.With(redact.Value{Name: e.KeyFrom, Secret: e.Key, Short: true})
		if err != nil {
			return c.Bad(e.KeyFrom, "the key can't be told from the text around it", "")
		}
		c.Redactor = more
	}
	return nil
}

func (e *Endpoint) fetchKey() (string, error) {
	var out []byte
	var err error
	switch {
	case e.fetch.APIKeyFile != "":
		out, err = readKeyFile(e.fetch.APIKeyFile)
	case e.fetch.APIKeyCommand != nil:
		out, err = runKeyCommand(e.fetch.APIKeyCommand)
	default:
		return "", nil
	}
	key := strings.TrimSpace(string(out))
	switch {
	case err != nil:
		return "", err
	case key == "":
		return "", errNoKey
	}
	return key, nil
}

func readKeyFile(path string) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, cantRead(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, cantRead(err)
	}
	if !oursAlone(info) {
		return nil, errNotOurs
	}
	return readKey(f)
}

func readKey(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxKey+1))
	switch {
	case err != nil:
		return nil, cantRead(err)
	case len(data) > maxKey:
		return nil, ErrTooLarge
	}
	return data, nil
}

func cantRead(err error) error { return errors.New("can't be read: " + Reason(err)) }

// runKeyCommand runs a program without a shell, input or a place to complain:
// what it prints on standard output is the key, and nothing else of it is kept.
func runKeyCommand(argv []string) ([]byte, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second // for a child of its own that holds the pipe
	out := &keyOutput{}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		return nil, errors.New("can't be run: " + commandReason(err))
	}
	slow := make(chan struct{})
	timer := time.AfterFunc(keyTimeout, func() {
		close(slow)
		_ = cmd.Process.Kill() // one that has ended can't be
	})
	err := cmd.Wait()
	if !timer.Stop() {
		<-slow
		return nil, errSlow
	}
	var exit *exec.ExitError
	switch {
	case out.full:
		return nil, ErrTooLarge
	case errors.As(err, &exit):
		return nil, errors.New("failed: exit status " + strconv.Itoa(exit.ExitCode()))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, errors.New("failed: " + commandReason(err))
	}
	return out.text, nil
}

// commandReason leaves out the command, which may hold what is nobody's
// business.
func commandReason(err error) string {
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		return lookup.Err.Error()
	}
	return Reason(err)
}

// keyOutput keeps as much as a key may be.
type keyOutput struct {
	text []byte
	full bool
}

func (o *keyOutput) Write(p []byte) (int, error) {
	if len(o.text)+len(p) > maxKey {
		o.full = true
		return 0, ErrTooLarge
	}
	o.text = append(o.text, p...)
	return len(p), nil
}

func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && addr.Unmap().IsLoopback()
}
