package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// answeringMain runs a server and talks to it by a file, showing all that it
// says: answering FILE prism-rpc --provider mock. A line that begins with > is
// sent; with = it is the rest of the answer to what the server asks next; with ~ it
// is a part of a line to wait for. Then the input ends.
func answeringMain() {
	if err := answering(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "answering:", err)
		os.Exit(1)
	}
}

func answering(file string, command []string) error {
	script, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := converse(script, in, bufio.NewReader(io.TeeReader(out, os.Stdout))); err != nil {
		return err
	}
	return cmd.Wait()
}

var serverAsks = regexp.MustCompile(`^\{"jsonrpc":"2.0","id":("server-[0-9]+"),"method":`)

func converse(script []byte, in io.WriteCloser, out *bufio.Reader) error {
	for line := range strings.Lines(string(script)) {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "~":
			if _, err := until(out, regexp.MustCompile(regexp.QuoteMeta(strings.TrimSpace(rest)))); err != nil {
				return err
			}
			continue
		case "=":
			asked, err := until(out, serverAsks)
			if err != nil {
				return err
			}
			rest = `{"jsonrpc":"2.0","id":` + asked[1] + `,` + strings.TrimSpace(rest) + "}\n"
		}
		if _, err := io.WriteString(in, rest); err != nil {
			return err
		}
	}
	if err := in.Close(); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, out)
	return err
}

func until(out *bufio.Reader, wanted *regexp.Regexp) (match []string, err error) {
	for match == nil {
		line, err := out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		match = wanted.FindStringSubmatch(line)
	}
	return match, nil
}
