-- What Neovim makes of empty tables, and what it carries.
local function show(name, value)
  io.stdout:write(name, ' ', vim.json.encode(value), '\n')
end

local exit_code
local args = { '--provider', 'mock', '--store', 'memory' }
local dispatchers = {
  on_exit = function(code) exit_code = code end,
  on_error = function(kind, err) show('client_error', { kind = kind, err = err }) end,
}
local server
if vim.fn.has('nvim-0.10') == 1 then
  server = vim.lsp.rpc.start(vim.list_extend({ vim.env.PRISM_RPC }, args), dispatchers)
else
  server = vim.lsp.rpc.start(vim.env.PRISM_RPC, args, dispatchers)
end

local function request(method, params)
  local done, answer
  server.request(method, params, function(err, result)
    done, answer = true, err and { code = err.code } or result
  end)
  vim.wait(10000, function() return done end, 5)
  return answer
end

show('nothing', request('ping', nil))
show('null', request('ping', vim.NIL))
show('table', request('ping', {}))
show('dict', request('ping', vim.empty_dict()))
show('none', request('prompt', { sessionId = 's', input = 'hi', instructionInjectors = {} }).turn)
show('metadata', request('prompt', { sessionId = 's', input = 'hi', metadata = {} }))
show('slash', request('textDocument/hover', {}))

local input = ('é💎 \u{2028}\u{2029}\u{85}\0 "\\/<>&\t\n'):rep(40000)
request('prompt', { sessionId = 'large', input = input })
show('large', request('messages', { sessionId = 'large' }).messages[1].content[1].text == input)

-- As vim.lsp.stop_client(id, true) ends a server.
server.request('prompt', { input = 'hi' }, function() end)
if server.terminate then server.terminate() else server.handle:kill(15) end
vim.wait(10000, function() return exit_code end, 5)
show('exit', exit_code)
