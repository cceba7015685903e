package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/internal/config"
)

// openTrace opens the file that messages are traced to, nil for none. A file
// that holds an earlier run's gets a line that ends that.
func (p *process) openTrace() (*os.File, error) {
	if p.cfg.TraceFile == "" {
		return nil, nil
	}
	f, err := config.OpenAppend(p.cfg.TraceFile)
	if err == nil {
		err = endEarlierRun(f)
	}
	if err != nil {
		return nil, p.cfg.Bad("traceFile", "can't be opened: "+config.Reason(err), "")
	}
	return f, nil
}

func endEarlierRun(f *os.File) error {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
		return err
	}
	_, err = fmt.Fprintf(f, "\n"+`{"at":%q,"dir":"start"}`+"\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	return err
}

// A traceLine is a line of a trace: a message, the number of those that are
// missing, or the start of another run.
type traceLine struct {
	Dir     string         `json:"dir"`
	Bytes   int            `json:"bytes"`
	Msg     jsontext.Value `json:"msg"`
	Dropped int            `json:"dropped"`
}

// The directions.
const (
	dirIn    = "in"
	dirOut   = "out"
	dirStart = "start"
)

// lenient reads what the server may have read or written.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

var errNoTrace = errors.New("is no trace")

// readTrace reads the runs that a trace holds, each with one line at least. The
// error wraps errNoTrace where the file can be read. A line that the end of a
// process tore counts as dropped.
func readTrace(path string) ([][]traceLine, error) {
	f, err := config.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	runs := [][]traceLine{nil}
	torn := 0 // the number of the line before, if it is none
	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		text, readErr := in.ReadBytes('\n')
		line, err := parseTraceLine(text)
		last := &runs[len(runs)-1]
		atEnd := len(text) == 0 && readErr != nil
		switch {
		case torn > 0 && (atEnd || line.Dir == dirStart): // as it should be
			*last = append(*last, traceLine{Dropped: 1})
			torn = 0
		case torn > 0 && len(text) > 1:
			return nil, fmt.Errorf("line %d %w", torn, errNoTrace)
		}
		switch {
		case len(text) <= len("\n"):
		case err != nil:
			torn = n
		case line.Dir == dirStart:
			runs = append(runs, nil)
		default:
			*last = append(*last, line)
		}
		switch {
		case readErr == nil || errors.Is(readErr, io.EOF) && torn == n:
		case errors.Is(readErr, io.EOF):
			return nonEmpty(runs)
		default:
			return nil, readErr
		}
	}
}

func nonEmpty(runs [][]traceLine) ([][]traceLine, error) {
	var out [][]traceLine
	for _, run := range runs {
		if slices.ContainsFunc(run, func(l traceLine) bool { return l.Msg != nil }) {
			out = append(out, run)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("the file holds no message: it %w", errNoTrace)
	}
	return out, nil
}

func parseTraceLine(text []byte) (traceLine, error) {
	var line traceLine
	if err := json.Unmarshal(text, &line, lenient); err != nil {
		return line, errNoTrace
	}
	switch {
	case line.Dropped > 0, line.Dir == dirStart, (line.Dir == dirIn || line.Dir == dirOut) && line.Msg != nil:
		return line, nil
	}
	return line, errNoTrace
}

// cutSign ends a string that the trace has only the beginning of. Like the other
// expressions it is not compiled before it is needed: serving starts without.
var cutSign = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`… \((\d+) bytes\)"`) })

// isCut tells whether a message lacks some of its text.
func (l *traceLine) isCut() bool {
	for _, m := range cutSign().FindAllSubmatch(l.Msg, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil && n > 4<<10 && len(l.Msg) >= 4<<10 {
			return true
		}
	}
	return false
}

// sent is the message as a line to send; false where the trace doesn't have it
// as it was.
func (l *traceLine) sent() ([]byte, bool) {
	if l.isCut() {
		return nil, false
	}
	raw := l.Msg
	if raw.Kind() == jsontext.KindString { // a line that was no message
		var text string
		if err := json.Unmarshal(raw, &text, lenient); err != nil || len(text) != l.Bytes {
			return nil, false
		}
		raw = jsontext.Value(text)
	}
	raw = raw.Clone()
	if err := raw.Compact(lenient, jsontext.PreserveRawStrings(true)); err != nil { // stays what it was: no message
		for i, b := range raw {
			if b == '\n' || b == '\r' {
				raw[i] = ' '
			}
		}
	}
	return raw, true
}
