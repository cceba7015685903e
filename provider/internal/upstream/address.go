package upstream

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// What New refuses.
var (
	ErrBaseURL  = errors.New("base URL is not usable")
	ErrInsecure = errors.New("a key travels only over https or to this machine")
	ErrKey      = errors.New("the key holds characters that a header can't carry")
)

// parseBase reads a base URL. Its errors don't show it: it may hold a password.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it can't be read as a URL", ErrBaseURL)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: it must begin with https:// or http://", ErrBaseURL)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%w: it names no host", ErrBaseURL)
	case u.User != nil:
		return nil, fmt.Errorf("%w: it holds a user name or password; give the key in its own setting", ErrBaseURL)
	}
	u.Fragment = ""
	return u, nil
}

func checkKey(base *url.URL, opts Options) error {
	key := opts.Key.Reveal()
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ErrKey
	}
	if key != "" && base.Scheme != "https" && !opts.AllowInsecure && !loopback(base.Hostname()) {
		return ErrInsecure
	}
	return nil
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
