package upstream

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
)

// StatusError is the error that a response of a status, header and body
// reports: one list of classes for all adapters.
func StatusError(status int, header http.Header, body []byte) *provider.Error {
	p := parseProblem(body)
	e := &provider.Error{
		Class:      statusClass(status, p),
		Status:     status,
		RetryAfter: retryAfter(header, time.Now()),
		Message:    Raw(p.message),
	}
	switch {
	case status/100 == 3:
		e.Message = "the server redirects, which is not followed; set the base URL to where it points"
	case strings.TrimSpace(e.Message) == "":
		e.Message = strings.TrimSpace("HTTP status " + strconv.Itoa(status) + " " + http.StatusText(status))
	}
	return e
}

// FrameError is the error that an event of a stream reports.
func FrameError(body []byte) *provider.Error {
	p := parseProblem(body)
	e := &provider.Error{Class: provider.ClassInterrupted, Message: Raw(p.message)}
	switch {
	case p.status >= 400:
		e.Class = statusClass(p.status, p)
		e.Status = p.status
	case p.names("overloaded", "unavailable"):
		e.Class = provider.ClassOverloaded
	case p.names("quota", "billing"):
		e.Class = provider.ClassQuota
	case p.names("rate_limit"):
		e.Class = provider.ClassRateLimit
	case p.namesLength():
		e.Class = provider.ClassContextOverflow
	case p.namesPolicy():
		e.Class = provider.ClassContentFilter
	case p.says("overloaded"):
		e.Class = provider.ClassOverloaded
	}
	if strings.TrimSpace(e.Message) == "" {
		e.Message = "the server reported an error within the answer"
	}
	return e
}

func statusClass(status int, p problem) provider.Class {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return provider.ClassAuth
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests && p.names("quota", "billing"):
		return provider.ClassQuota
	case status == http.StatusTooManyRequests:
		return provider.ClassRateLimit
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return provider.ClassTimeout
	case status >= 500:
		return provider.ClassOverloaded
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		switch {
		case p.namesLength():
			return provider.ClassContextOverflow
		case p.namesPolicy():
			return provider.ClassContentFilter
		}
	}
	return provider.ClassBadRequest
}

// maxAsked bounds what a server may ask to wait: longer waits count as this.
const maxAsked = 24 * time.Hour

// retryAfter reads how long a server asks to wait: milliseconds, seconds or a
// date. What is no time to come counts as not said: a negative or a past one,
// and one that no duration holds.
func retryAfter(h http.Header, now time.Time) time.Duration {
	asked := parseWait(h.Get("Retry-After-Ms"), time.Millisecond)
	if asked == 0 {
		asked = parseWait(h.Get("Retry-After"), time.Second)
	}
	if asked == 0 {
		if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
			asked = at.Sub(now)
		}
	}
	return min(max(asked, 0), maxAsked)
}

func parseWait(s string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(n > 0 && n < float64(math.MaxInt64/unit)) {
		return 0
	}
	return time.Duration(n * float64(unit))
}
