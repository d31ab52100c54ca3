-- What wrk sends for tests/bench/http.sh. OPERATION, TOKEN, IDS (a file of template ids), ROOMS (of room
-- ids), CODES (of room codes), TAG (new in each run) and SIZE (set for the bare responder: each request
-- then asks for that many bytes) come by environment.
local env = os.getenv
local roles = { "host", "guest", "viewer", "recorder" }
local threads = 0
local serial = 0

local function lines(path)
	local all = {}
	for line in io.lines(path) do
		all[#all + 1] = line
	end
	return all
end

local ids, rooms, codes = lines(env "IDS"), lines(env "ROOMS"), lines(env "CODES")
local headers = { Authorization = "Bearer " .. env "TOKEN", ["Content-Type"] = "application/json" }
local template = [[{"name":"%s","roles":{"host":{"publishParams":{"video":{"bitRate":700,"width":1280,]]
	.. [["height":720},"simulcast":{"video":{"layers":[{"rid":"f","scaleResolutionDownBy":1,]]
	.. [["maxBitrate":700,"maxFramerate":30},{"rid":"h","scaleResolutionDownBy":2,"maxFramerate":20}]}}},]]
	.. [["subscribeParams":{"subscribeToRoles":["host","guest"]},"permissions":{"endRoom":true}},]]
	.. [["guest":{"publishParams":{"allowed":["audio","video"]},"priority":2},"viewer":{},"recorder":{}},]]
	.. [["settings":{"region":"eu"}}]]
local role = [[{"publishParams":{"allowed":["audio","video"],"video":{"bitRate":512}},"maxPeerCount":%d}]]

local operations = {
	get_role = function()
		return "GET", "/v2/templates/" .. ids[math.random(#ids)] .. "/roles/" .. roles[math.random(4)]
	end,
	list10 = function()
		return "GET", "/v2/templates?limit=10&start=" .. ids[math.random(#ids)]
	end,
	list100 = function()
		return "GET", "/v2/templates?limit=100&start=" .. ids[#ids]
	end,
	create = function()
		serial = serial + 1
		return "POST", "/v2/templates", template:format(env "TAG" .. "-" .. thread_number .. "-" .. serial)
	end,
	update_role = function()
		return "POST", "/v2/templates/" .. ids[math.random(#ids)] .. "/roles/" .. roles[math.random(4)],
			role:format(math.random(100, 999))
	end,
	room = function()
		return "POST", "/v2/rooms", '{"template_id":"' .. ids[math.random(#ids)] .. '"}'
	end,
	room_codes = function()
		return "POST", "/v2/room-codes/room/" .. rooms[math.random(#rooms)], ""
	end,
	token = function()
		return "POST", "/v2/token", '{"code":"' .. codes[math.random(#codes)] .. '"}'
	end,
}
local operation = operations[env "OPERATION"]

function setup(thread)
	threads = threads + 1
	thread:set("thread_number", threads)
end

function init()
	math.randomseed(thread_number)
end

function request()
	local method, path, body = operation()
	if env "SIZE" ~= "" then
		path = "/?size=" .. env "SIZE"
	end
	return wrk.format(method, path, headers, body)
end

function done(summary, latency)
	local errors = summary.errors
	io.write(("RESULT %.0f %.2f %.2f %d\n"):format(summary.requests / summary.duration * 1e6,
		latency:percentile(50) / 1000, latency:percentile(99) / 1000,
		errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
