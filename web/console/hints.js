// What the forms say below their fields. The OpenAPI document speaks to programs: of members, bodies and
// of what is supplied. People who fill in a form read these words instead; a member without any here has
// what the document says. A form works without this table, for each member that a service may have.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { body_of } from "../lib/schema.js";

/** @typedef {import("../lib/schema.js").Plain} Plain */

/** What a form is about, by the path of its call; the first that fits.
 * @type {[RegExp, string][]} */
export const SUBJECTS = [
	[/\/room-codes\//, "code"],
	[/\/rooms/, "room"],
	[/\/roles\//, "role"],
	[/\/settings$/, "settings"],
	[/\/destinations$/, "destinations"],
	[/\/webhooks/, "webhook"],
	[/\/keys/, "key"],
	[/\/backends/, "backend"],
	[/\/templates(\/\{\})?$/, "template"],
];

/** By subject and pointer, where * is each item or entry; "" for a field that says enough by its label.
 * @type {Record<string, string>} */
export const HINTS = {
	"code/code": "Instead of letters by chance. Words can be guessed: limit the uses or the time.",
	"code/not_before": "Nobody gets in with it before.",
	"code/expires_at": "Nobody gets in with it from then on.",
	"code/expires_in": "Counted from now; instead of “Expires”.",
	"code/max_uses": "How many times people can join with it. Empty: any number.",
	"code/user_id": "How your application calls the one person who may use it.",
	"code/name": "How that person is called in the room.",
	"code/label": "A note for administrators. Guests do not see it.",
	"code/metadata": "Up to 16 notes for your own programs.",

	"key/scopes": "Writing includes reading; webhooks:write includes events:read.",
	"key/expires_at": "It is refused from then on.",

	"backend/name": "Templates choose it by this name.",
	"backend/default": "For rooms whose template chooses none. The former default is one no more.",
	"backend/ttl": "How long people have to connect with what they got when they joined.",
	"backend/config/key_id": "Instead of the id of the signing key.",
	"backend/config/alg": "All but HS256 sign with the account's active signing key of that kind.",
	"livekit/url": "Begins with wss:// or ws://.",
	"livekit/config/api_key": "",
	"livekit/config/api_secret": "",
	"jitsi/url": "Begins with https:// and ends with a slash.",
	"jitsi/config/app_id": "As the server's configuration has it.",
	"jitsi/config/audience": "Whom tokens are for. Empty: the App ID.",
	"jitsi/config/subject": "Empty: the tenant, else the host of the URL.",
	"jitsi/config/tenant": "Only where one server serves several.",
	"jitsi/config/app_secret": "Only for HS256.",
	"galene/url": "Begins with https:// or http:// and ends with a slash.",
	"galene/config/group": "The group that the rooms are in. Empty: anteroom.",
	"galene/config/key": "Only for HS256: 32 bytes as base64url.",
	"bigbluebutton/url": "Begins with https:// and ends with /bigbluebutton/.",
	"bigbluebutton/config/secret": "The server's shared secret.",
	"bigbluebutton/config/checksum": "As the server expects it; sha256 is usual.",
	"janus/url": "Begins with wss:// or ws://.",
	"janus/config/secret": "The server's secret for signed tokens.",
	"jwt/config/audience": "Whom tokens are for, as your server checks it.",

	"room/name": "No other room has it, in capitals or not. Empty: a name by chance.",
	"room/recording_source_template":
		"The room records as its template says, and not as is said here.",
	"room/recording_info": "How this room records, whatever its template says.",
	"room/recording_info/upload_info": "Where recordings are stored.",
	"room/recording_info/upload_info/location": "The name of the bucket.",
	"room/recording_info/upload_info/prefix": "A folder in the bucket.",
	"room/recording_info/upload_info/options": "",
	"room/recording_info/upload_info/credentials/key": "The id of the access key.",
	"room/template_id": "It says which roles there are.",
	"room/region": "A new room has its template's unless one is chosen.",
	"room/size": "How many people there can be; above 2500 only in a large room.",
	"room/webhook": "Kept for your application; nothing is sent there.",
	"room/polls": "Kept for your application.",
	"room/opens_at": "People can join from then on. Empty: at any time.",
	"room/closes_at": "People can join until then. Empty: it never closes.",

	"template/name": "No other template has it. Empty: a name by chance.",
	"template/default": "Rooms get it that are made without a choice.",

	"role/name": "",
	"role/publishParams/allowed": "Nothing chosen: it only sees and hears.",
	"role/publishParams/audio/bitRate": "",
	"role/publishParams/video/bitRate": "",
	"role/publishParams/screen/bitRate": "",
	"role/publishParams/simulcast": "Sent in several sizes, for slow connections too.",
	"role/publishParams/simulcast/video": "The largest layer first.",
	"role/publishParams/simulcast/screen": "The largest layer first.",
	"role/publishParams/simulcast/video/layers/*/maxBitrate": "",
	"role/publishParams/simulcast/screen/layers/*/maxBitrate": "",
	"role/subscribeParams": "What a role sees and hears.",
	"role/subscribeParams/subscribeToRoles":
		"None: it sees and hears nobody. Roles that are still to be made can be named too.",
	"role/subscribeParams/maxSubsBitRate": "The most that it receives at a time.",
	"role/subscribeParams/subscribeDegradation":
		"What happens on a bad connection. Screens are then sent in several sizes too.",
	"role/permissions/sendRoomState": "Learn how many people are there, and who.",
	"role/permissions/joinOutsideWindow": "Join before the room opens and after it has closed.",
	"role/permissions/moderator":
		"Moderate on a media server. Not set: who may end the room, remove others, mute them and change roles.",
	"role/priority": "The lower, the longer it keeps its quality on a bad connection.",
	"role/maxPeerCount": "How many people can have it at a time. 0: any number, -1: nobody.",

	"settings/region": "Where new rooms are hosted.",
	"settings/recording": "How rooms are recorded.",
	"settings/recording/enabled": "The media server records the rooms.",
	"settings/recording/upload": "Where recordings go. Off: they stay with the media server.",
	"settings/recording/upload/location": "The name of the bucket.",
	"settings/recording/upload/prefix": "A folder in the bucket.",
	"settings/recording/upload/options": "",
	"settings/recording/upload/credentials/key": "The id of the access key.",
	"settings/roomState": "Messages that tell who is in a room, or how many.",
	"settings/roomState/messageInterval": "The time between two of them.",
	"settings/roomState/sendPeerList": "On: who is there. Off: only how many.",
	"settings/roomState/enabled": "Sent to roles that may receive them.",
	"settings/backend": "The media server of the rooms. Not set: the account's default.",

	"destinations/browserRecordings/*": "A browser joins the room and records what it shows.",
	"destinations/browserRecordings/*/width": "",
	"destinations/browserRecordings/*/height": "",
	"destinations/browserRecordings/*/maxDuration": "",
	"destinations/browserRecordings/*/presignDuration": "How long links to recordings work.",
	"destinations/browserRecordings/*/role": "The role that the recording browser joins with.",
	"destinations/browserRecordings/*/autoStart": "Starts with the first person.",
	"destinations/browserRecordings/*/autoStopTimeout": "After the last person has left.",
	"destinations/rtmpDestinations/*": "The room is streamed to other services.",
	"destinations/rtmpDestinations/*/maxDuration": "",
	"destinations/rtmpDestinations/*/rtmpUrls": "Where the stream is sent.",
	"destinations/rtmpDestinations/*/recordingEnabled": "Recorded too. Streams stay the same.",
	"destinations/rtmpDestinations/*/autoStart": "Starts with the first person.",
	"destinations/rtmpDestinations/*/autoStopTimeout": "After the last person has left.",
	"destinations/hlsDestinations/*": "The room is streamed to a large audience.",
	"destinations/hlsDestinations/*/maxDuration": "",
	"destinations/hlsDestinations/*/layers": "The largest first. Empty fields are left to the encoder.",
	"destinations/hlsDestinations/*/layers/*": "",
	"destinations/hlsDestinations/*/layers/*/videoBitrate": "",
	"destinations/hlsDestinations/*/layers/*/audioBitrate": "",
	"destinations/hlsDestinations/*/numPlaylistSegments": "Only for live playlists. Empty: 5.",
	"destinations/hlsDestinations/*/recording": "How the stream is recorded.",
	"destinations/hlsDestinations/*/recording/hlsVod": "People can watch it later.",
	"destinations/hlsDestinations/*/recording/singleFilePerLayer": "One MP4 file for each layer.",
	"destinations/hlsDestinations/*/recording/layers": "None: all layers of the stream.",
	"destinations/hlsDestinations/*/recording/layers/*": "",
	"destinations/hlsDestinations/*/recording/layers/*/videoBitrate": "",
	"destinations/hlsDestinations/*/recording/layers/*/audioBitrate": "",
	"destinations/hlsDestinations/*/recording/presignDuration": "How long links to recordings work.",
	"destinations/hlsDestinations/*/recording/enableZipUpload": "Stored as one ZIP file.",
	"destinations/hlsDestinations/*/autoStart": "Starts with the first person.",
	"destinations/hlsDestinations/*/autoStopTimeout": "After the last person has left.",
	"destinations/transcriptions": "Kept for your application.",

	"webhook/url": "Changes are reported there. Begins with https://.",
	"webhook/events": "Kinds of changes, such as room.created; room.* is all of rooms, and * is everything.",
	"webhook/enabled": "Switched on again, it reports what happens from then on.",
	"webhook/headers": "Up to 5, sent with each report. *** is a stored value: what is left so is kept.",
	"webhook/secret": "Your program checks reports with it. Empty: one is made, and shown once.",
};

/** Rules between fields, as the document words them, and for people.
 * @type {Record<string, string>} */
export const RULES = {
	"The rids of the layers come in the order f, h, q, each at most once; the first is f.":
		"The layers are named f, h and q, in this order.",
	"scaleResolutionDownBy is 1 in the first layer and grows from each layer to the next.":
		"“Scale down by” is 1 in the first layer and larger in each next one.",
	"From one layer to the next neither width x height nor videoBitrate grows, each compared with the nearest earlier layer that states it.":
		"No layer is larger than the one before it, or has a higher video bitrate.",
	"Each of recording.layers agrees with one of layers in every field that both state; without layers, any list is accepted.":
		"Recorded layers are among the layers of the stream.",
	"Where both sides are given, the shorter is at most 1080 and the longer at least 192.":
		"Of width and height, the shorter is at most 1080 px and the longer at least 192 px.",
};

/** @param {Plain} node @param {string} subject @param {string} [pointer] @returns {Plain} */
export function worded(node, subject, pointer = "") {
	const inner = `${pointer}/*`;
	return {
		...node,
		description: HINTS[subject + pointer] ?? node.description,
		rules: node.rules.map((rule) => RULES[rule] ?? rule),
		item: node.item && worded(node.item, subject, inner),
		fields: node.fields.map(([name, one]) => [name, worded(one, subject, `${pointer}/${name}`)]),
	};
}

/**
 * The form for the body of a call, such as "POST /v2/rooms/{}", in words for people.
 * @param {any} doc @param {string} which
 */
export function form_for(doc, which) {
	const [, subject = ""] = SUBJECTS.find(([path]) => path.test(which)) ?? [];
	return worded(body_of(doc, which), subject);
}
