-- Talks to prism-rpc through Neovim's own vim.lsp.rpc, 0.7 or later. From the root of this repository:
--
--     nvim --headless -u NONE -i NONE -S examples/neovim/prism.lua -c qall!
--
-- It runs `prism-rpc` from PATH, or the program that $PRISM_RPC names.
local program = vim.env.PRISM_RPC or 'prism-rpc'
local args = {
  '--provider', 'mock', '--mock-script', 'examples/mock.yaml', -- for a real model: --provider openai --model …
  '--store', 'memory', '--config', 'examples/prism.yaml',
}

local function show(name, value)
  io.stdout:write(name, ' ', vim.json.encode(value), '\n')
end

local story_begins, exit_code
local dispatchers = {
  notification = function(method, event)
    if method ~= 'event' then return end
    show('event', event)
    if event.type == 'message_delta' and vim.startswith(event.text, 'Once') then story_begins = true end
  end,
  on_exit = function(code) exit_code = code end,
  on_error = function(kind, err) show('client_error', { kind = kind, err = err }) end,
}

local server
if vim.fn.has('nvim-0.10') == 1 then
  server = vim.lsp.rpc.start(vim.list_extend({ program }, args), dispatchers)
else
  server = vim.lsp.rpc.start(program, args, dispatchers)
end

-- request sends one and returns a function that waits for its reply, and then a number that cancels it.
local function request(method, params)
  local done, err, result
  local _, id = server.request(method, params, function(e, r) done, err, result = true, e, r end)
  return function()
    vim.wait(10000, function() return done end, 5)
    return result or err or vim.NIL
  end, id
end

show('initialize', request('initialize', { clientInfo = { name = 'neovim' } })())

-- A turn with two injectors: its events come first, then its result.
show('first', request('prompt', { input = 'Who are you?', instructionInjectors = { 'json-always', 'project' } })())

-- A name that nobody registered sends nothing to the model.
show('unknown', request('prompt', { input = 'Hello?', instructionInjectors = { 'json-allways' } })())

-- While one turn runs, a followUp waits. Cancelled, the first one ends with a result, and the second has its turn.
local story, id = request('prompt', { input = 'Tell me a story.' })
local following = request('followUp', { input = 'And then?' })
vim.wait(10000, function() return story_begins end, 5)
server.notify('$/cancelRequest', { id = id })
show('story', story())
show('next', following())

show('shutdown', request('shutdown', nil)())
server.notify('exit', nil)
vim.wait(10000, function() return exit_code end, 5)
show('exit', exit_code)
