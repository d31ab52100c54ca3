-- The requests that wrk sends for tests/bench/bench.sh. Environment: OPERATION, TOKEN, TEMPLATE (a file
-- with the template to create, in which NAME stands for the name), IDS (a file of template IDs), ROOMS (a
-- file of IDs of rooms without codes), CODES (a file of room codes), TAG (a part of names, new in each
-- run), THREADS; SIZES, for the bare responder: "get_role=900 list10=31000 ...", the response sizes that
-- its requests ask for; COLLECT: a file to which the ID of each created object is appended.
local env = os.getenv
local roles = { "host", "guest", "viewer", "recorder" }
local random = math.random
local all_threads = {}
local serial = 0
missing = 0

local function lines(path)
	local all = {}
	for line in io.lines(path) do
		all[#all + 1] = line
	end
	return all
end

local sizes = {}
for name, size in (env "SIZES" or ""):gmatch "([%w_]+)=(%d+)" do
	sizes[name] = size
end

-- Makes the text of a request once and cuts it at the mark, so that each request is a concatenation.
-- Replacements have the length of the mark.
local function cut(name, method, path, body, mark)
	if sizes[name] then
		path = path .. (path:find("?", 1, true) and "&" or "?") .. "size=" .. sizes[name]
	end
	local headers = { Authorization = "Bearer " .. env "TOKEN" }
	if body and body ~= "" then
		headers["Content-Type"] = "application/json"
	end
	local text = wrk.format(method, path, headers, body)
	local first, last = text:find(mark, 1, true)
	return text:sub(1, first - 1), text:sub(last + 1)
end

local operations = {}

local function make_operations()
	local ids, rooms, codes = lines(env "IDS"), lines(env "ROOMS"), lines(env "CODES")
	local id, name, code = ("i"):rep(24), TAG_MARK, ("c"):rep(#(codes[1] or "c"))
	local next_room = thread_number

	local gets, updates = {}, {}
	for i, role in ipairs(roles) do
		local path = "/v2/templates/" .. id .. "/roles/" .. role
		local body = [[{"publishParams":{"allowed":["audio","video"],"audio":{"bitRate":48},"video":]]
			.. [[{"bitRate":512,"frameRate":24,"width":640,"height":360}},"subscribeParams":]]
			.. [[{"subscribeToRoles":["host","guest"],"maxSubsBitRate":2400},"permissions":]]
			.. [[{"mute":true,"unmute":true},"priority":3,"maxPeerCount":%%%}]]
		gets[i] = { cut("get_role", "GET", path, nil, id) }
		local before, after = cut("update_role", "POST", path, body, id)
		local first, last = after:find("%%%", 1, true)
		updates[i] = { before, after:sub(1, first - 1), after:sub(last + 1) }
	end
	function operations.get_role()
		local get = gets[random(4)]
		return get[1] .. ids[random(#ids)] .. get[2]
	end
	function operations.update_role()
		local update = updates[random(4)]
		return update[1] .. ids[random(#ids)] .. update[2] .. random(100, 999) .. update[3]
	end

	for _, limit in ipairs { 10, 100 } do
		local before, after = cut("list" .. limit, "GET",
			"/v2/templates?limit=" .. limit .. "&start=" .. id, nil, id)
		operations["list" .. limit] = function()
			return before .. ids[random(#ids)] .. after
		end
	end

	local template = io.open(env "TEMPLATE"):read("*a"):gsub("\n%s*", ""):gsub("NAME", name)
	local create, created = cut("create", "POST", "/v2/templates", template, name)
	function operations.create()
		serial = serial + 1
		return create .. ("%s-%02d-%09d"):format(env "TAG", thread_number, serial) .. created
	end

	local room, made = cut("room", "POST", "/v2/rooms", '{"template_id":"' .. id .. '"}', id)
	function operations.room()
		return room .. ids[random(#ids)] .. made
	end

	-- The codes of a room without codes; each room is used once.
	local room_codes, coded = cut("room_codes", "POST", "/v2/room-codes/room/" .. id, "", id)
	function operations.room_codes()
		local fresh = rooms[next_room]
		next_room = next_room + tonumber(env "THREADS")
		missing = missing + (fresh and 0 or 1)
		return room_codes .. (fresh or rooms[1]) .. coded
	end

	for _, name in ipairs { "token", "token_HS256" } do
		local token, joined = cut(name, "POST", "/v2/token", '{"code":"' .. code .. '"}', code)
		operations[name] = function()
			return token .. codes[random(#codes)] .. joined
		end
	end

	-- 95 % are reads.
	function operations.mix()
		local chance = random()
		return chance < 0.80 and operations.get_role() or chance < 0.95 and operations.list10()
			or chance < 0.97 and operations.create() or chance < 0.99 and operations.update_role()
			or operations.room()
	end
end

TAG_MARK = ("%s-%02d-%09d"):format(env "TAG", 0, 0)

function setup(thread)
	all_threads[#all_threads + 1] = thread
	thread:set("thread_number", #all_threads)
end

function init()
	math.randomseed(thread_number)
	make_operations()
	request = assert(operations[env "OPERATION"], "no such operation")
end

if env "COLLECT" then
	local out = io.open(env "COLLECT", "a")
	out:setvbuf "line" -- complete lines, because all threads write to one file
	function response(status, _, body)
		local id = status == 200 and body:match '"id"%s*:%s*"([^"]+)"'
		if id then
			out:write(id .. "\n")
		end
	end
end

function done(summary, latency)
	local errors, rooms_missing = summary.errors, 0
	for _, thread in ipairs(all_threads) do
		rooms_missing = rooms_missing + thread:get "missing"
	end
	io.write(("RESULT %.0f %.2f %.2f %d %d\n"):format(summary.requests / summary.duration * 1e6,
		latency:percentile(50) / 1000, latency:percentile(99) / 1000,
		errors.status + errors.connect + errors.read + errors.write + errors.timeout,
		sizes.room_codes and 0 or rooms_missing))
end
