//go:build !unix

package config

// noWait is for systems whose pipes have names among files.
const noWait = 0
