package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/internal/config"
)

func TestHelpNamesEachCommand(t *testing.T) {
	for _, cmd := range newRoot(new(config.Flags), nil).Commands() {
		assert.Contains(t, helpText(), "  prism-rpc "+cmd.Name()+" ")
	}
}
