// Package clients drives prism-rpc from the clients that its users have:
// vscode-jsonrpc, Neovim, Emacs, Node.js, Python and Go. It has tests alone.
// What they run is examples/, as it stands, and testdata/ for what only some
// client does.
package clients
