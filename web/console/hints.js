// Hints of the forms, and names of fields. The descriptions of the OpenAPI document are written for
// programmers; these sentences are for the people who fill in a form. A field without a hint here shows its
// description, so forms also work with fields that this table does not know.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { choice_name } from "../lib/labels.js";
import { body_of } from "../lib/schema.js";

/** @typedef {import("../lib/schema.js").Plain} Plain */

/** The subject of a form, by the path of its endpoint; the first match counts.
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
	[/\/bans/, "ban"],
	[/\/active-rooms\/\{\}\/mute$/, "mute"],
	[/\/remove-peers$/, "removal"],
	[/\/end-room$/, "end"],
	[/\/send-message$/, "message"],
	[/\/active-rooms\/\{\}\/peers\/\{\}$/, "peer"],
	[/\/templates(\/\{\})?$/, "template"],
];

/** Labels that differ by form, by subject and pointer. @type {Record<string, string>} */
const LABELS = {
	"backend/default": "Default media server",
	"ban/code": "Room code",
	"ban/room_id": "Room",
	"code/name": "Display name",
	"end/lock": "Disable the room",
	"message/role": "To",
	"mute/hold": "Afterwards",
	"mute/role": "Whom",
	"mute/type": "What",
	"peer/name": "Display name",
	"removal/ban": "Also ban from this room",
	"settings/recordingRules/chat": "Keep the chat",
};

/** Hints by subject and pointer, where * is each item or entry; "" if the label is enough.
 * @type {Record<string, string>} */
export const HINTS = {
	"code/code":
		"Leave empty for a random code. A custom code can be guessed, so give it an expiry or a use limit.",
	"code/not_before": "The code does not work before this time.",
	"code/expires_at": "The code stops working at this time.",
	"code/expires_in": "Counted from now. Use this or “Expires”, not both.",
	"code/max_uses": "How many times the code can be used. Leave empty for no limit.",
	"code/user_id": "The ID of the one person who may use the code, as your application knows it.",
	"code/name": "Shown to others in the room.",
	"code/label": "A note for administrators; guests do not see it.",
	"code/admission":
		"Whether people with this code come in at once, or wait until somebody lets them in. Not set: as for the role.",
	"code/metadata": "Up to 16 values for your own programs.",

	"ban/user_id": "Whom to ban: the user ID, as your application or the code has it.",
	"ban/code": "A code that many people use, in place of a user ID. It is disabled too.",
	"ban/room_id": "Name or ID. Leave empty to ban from all rooms.",
	"ban/reason": "For administrators. The person does not see it.",
	"ban/expires_at": "The ban ends at this time. Leave empty for a ban without an end.",
	"ban/expires_in": "Counted from now. Use this or “Expires”, not both.",

	"removal/reason": "Shown to the person. Optional.",
	"removal/ban":
		"Bans people with a user ID of their own: from a code for one person, or from your application. For others, ban the code.",
	"mute/type": "",
	"mute/role": "",
	"mute/hold": "People whose role may mute others can always unmute themselves.",
	"end/reason": "Shown to the people inside. Optional.",
	"end/lock": "Nobody can join until you enable the room again.",
	"message/message": "",
	"message/type": "Tells programs in the room what kind of message it is.",
	"peer/name": "Shown to others in the room.",
	"peer/role": "Lasts until the session ends, also if the person leaves and comes back.",
	"peer/metadata": "Text for programs in the room.",

	"key/scopes": "A write scope includes the read scope, and webhooks:write includes events:read.",
	"key/expires_at": "The key stops working at this time. Leave empty for no expiry.",

	"backend/api_url":
		"The URL of the server's API, if it is not at the same address. A private address must be allowed with serve --media-allow.",
	"backend/type": "The type cannot be changed.",
	"backend/url": "The URL of the media server.",
	"backend/name": "Templates refer to the media server by this name.",
	"backend/default":
		"Used for rooms whose template names no media server. Replaces the current default.",
	"backend/pool":
		"Media servers with the same pool share the rooms. Templates can name the pool. Leave empty for a server by itself.",
	"backend/weight": "From 1 to 1,000. A server with 200 gets twice as many people as one with 100.",
	"backend/region": "Rooms of this region are placed here. Leave it unset for any.",
	"backend/draining": "The server gets no new rooms. Rooms that are there stay until they end or are moved.",
	"backend/ttl": "How long people have to connect after they join.",
	"backend/config/key_id": "Sent as kid, in place of the signing key's own ID.",
	"backend/config/alg":
		"HS256 signs with a shared secret, all others with the account's active signing key for that algorithm.",
	"livekit/url": "Starts with wss:// or ws://.",
	"livekit/config/api_key": "",
	"livekit/config/api_secret": "",
	"livekit/config/create_rooms":
		"For a LiveKit with room.auto_create: false, where nobody gets into a room that Anteroom did not create.",
	"livekit/config/room_admin":
		"Gives moderators LiveKit's own rights over the room. They then bypass Anteroom's permissions and its log, and keep the rights after a change of role.",
	"jitsi/url": "Starts with https:// and ends with a slash.",
	"jitsi/config/app_id": "The app_id in the Prosody configuration.",
	"jitsi/config/audience": "Leave empty to use the app ID.",
	"jitsi/config/subject":
		"Leave empty to use the tenant or, without one, the host name of the URL.",
	"jitsi/config/tenant": "Only for a server with several tenants.",
	"jitsi/config/app_secret": "Only with HS256.",
	"galene/url": "Starts with https:// or http:// and ends with a slash.",
	"galene/config/group": "The Galene group that contains the rooms. Leave empty for “anteroom”.",
	"galene/config/key": "Only with HS256: 32 bytes in base64url.",
	"bigbluebutton/url": "Starts with https:// and ends with /bigbluebutton/.",
	"bigbluebutton/config/secret": "The shared secret of the server; “bbb-conf --secret” prints it.",
	"bigbluebutton/config/checksum": "Usually sha256.",
	"janus/url": "Starts with wss:// or ws://.",
	"janus/config/secret": "The token_auth_secret in janus.jcfg.",
	"jwt/config/audience": "The audience (aud) that your server expects.",

	"room/name":
		"Must be unique; upper and lower case count as the same. Leave empty for a generated name.",
	"room/title": "What people see in place of the name, in any script. Leave empty to show the name.",
	"room/description": "Shown on the join page.",
	"room/enabled": "Nobody can join a disabled room.",
	"room/recording_source_template":
		"Use the recording settings of the template and ignore the ones below.",
	"room/recording_info": "Recording settings of this room, used instead of the template's.",
	"room/recording_info/enabled": "Record this room.",
	"room/recording_info/upload_info": "Where recordings are stored. Off: as the template says.",
	"room/recording_info/upload_info/location": "The name of the bucket.",
	"room/recording_info/upload_info/prefix": "The folder in the bucket.",
	"room/recording_info/upload_info/options": "",
	"room/recording_info/upload_info/options/region": "The region of the bucket.",
	"room/recording_info/upload_info/options/endpoint":
		"The address of another server that speaks the protocol of S3. Empty: the vendor's own.",
	"room/recording_info/upload_info/credentials": "Not shown again once saved.",
	"room/recording_info/upload_info/credentials/secret": "",
	"room/recording_info/upload_info/credentials/key": "The access key ID.",
	"room/template_id": "Defines the roles of the room.",
	"room/region": "Leave it unset to use the template's region.",
	"room/size": "How many people the room holds. More than 2,500 needs a large room.",
	"room/large_room": "Allows more than 2,500 people.",
	"room/max_duration_seconds": "The longest time that a session may last.",
	"room/webhook": "Stored for your application. Anteroom does not call it.",
	"room/polls": "Stored for your application.",
	"room/opens_at": "People can join from this time. Leave empty for no start.",
	"room/closes_at": "People can join until this time. Leave empty for no end.",

	"template/name": "Must be unique. Leave empty for a generated name.",
	"template/default": "Used for new rooms that name no template.",

	"role/name": "",
	"role/title": "What people see in place of the name, in any script. Leave empty to show the name.",
	"role/publishParams/allowed": "Select nothing for a role that only watches and listens.",
	"role/publishParams/audio/bitRate": "",
	"role/publishParams/video/bitRate": "",
	"role/publishParams/screen/bitRate": "",
	"role/publishParams/simulcast":
		"Send the video in several sizes, so that people on slow connections can watch.",
	"role/publishParams/simulcast/video": "Largest layer first.",
	"role/publishParams/simulcast/screen": "Largest layer first.",
	"role/publishParams/simulcast/video/layers": "",
	"role/publishParams/simulcast/video/layers/*/rid":
		"f, h and q: full, half and quarter resolution.",
	"role/publishParams/simulcast/video/layers/*/scaleResolutionDownBy":
		"Width and height are divided by this number.",
	"role/publishParams/simulcast/screen/layers": "",
	"role/publishParams/simulcast/screen/layers/*/rid":
		"f, h and q: full, half and quarter resolution.",
	"role/publishParams/simulcast/screen/layers/*/scaleResolutionDownBy":
		"Width and height are divided by this number.",
	"role/publishParams/simulcast/video/layers/*/maxBitrate": "",
	"role/publishParams/simulcast/screen/layers/*/maxBitrate": "",
	"role/subscribeParams": "Whom this role sees and hears.",
	"role/subscribeParams/subscribeToRoles":
		"Leave empty for nobody. You can name roles that do not exist yet.",
	"role/subscribeParams/maxSubsBitRate": "",
	"role/subscribeParams/subscribeDegradation": "Lower the quality when packets are lost.",
	"role/subscribeParams/subscribeDegradation/packetLossThreshold": "",
	"role/subscribeParams/subscribeDegradation/degradeGracePeriodSeconds": "",
	"role/subscribeParams/subscribeDegradation/recoverGracePeriodSeconds": "",
	"role/permissions/endRoom": "End the room for everyone.",
	"role/permissions/removeOthers": "",
	"role/permissions/mute": "",
	"role/permissions/unmute": "",
	"role/permissions/changeRole": "",
	"role/permissions/browserRecording": "",
	"role/permissions/sendRoomState": "",
	"role/permissions/joinOutsideWindow": "Join before the room opens and after it has closed.",
	"role/permissions/chat": "Not set: they may. Off: the media server drops all that they send, reactions too.",
	"role/permissions/pollRead": "Not set: the field is left out, and your client decides.",
	"role/permissions/pollWrite": "Not set: the field is left out, and your client decides.",
	"role/permissions/moderator":
		"Not set: a role that may end the room, remove and mute others and change roles is a moderator.",
	"role/priority": "1 is the highest, 5 the lowest.",
	"role/maxPeerCount":
		"How many people can have this role at the same time. 0 is no limit, -1 lets nobody join.",
	"role/admission":
		"Whether people come in at once, or wait until somebody lets them in. Not set: they come in at once.",

	"settings/region": "The region of new rooms.",
	"settings/recording": "How rooms are recorded.",
	"settings/recording/enabled": "",
	"settings/recording/upload": "Where recordings are stored. Off: in the folder of this service.",
	"settings/recording/upload/location": "The name of the bucket.",
	"settings/recording/upload/prefix": "The folder in the bucket.",
	"settings/recording/upload/options": "",
	"settings/recording/upload/options/region": "The region of the bucket.",
	"settings/recording/upload/options/endpoint":
		"The address of another server that speaks the protocol of S3. Empty: the vendor's own.",
	"settings/recording/upload/credentials": "Not shown again once saved.",
	"settings/recording/upload/credentials/secretKey": "",
	"settings/recording/upload/credentials/key": "The access key ID.",
	"settings/roomState": "",
	"settings/roomState/messageInterval": "",
	"settings/roomState/sendPeerList": "",
	"settings/roomState/stopRoomStateOnJoin": "",
	"settings/roomState/enabled": "",
	"settings/backend": "A media server or a pool. Leave it unset to use the account's default media server.",
	"settings/recordingRules": "Whether people agree to be recorded, and what is kept. Off: people are told, and everything is kept.",
	"settings/recordingRules/consent":
		"Not asked: people are told. Asked: only those who agree are recorded. Required: nobody joins without agreeing.",
	"settings/recordingRules/keepDays": "Leave empty to keep recordings for ever.",
	"settings/recordingRules/chat": "Messages to one person are never kept.",
	"settings/agents": "Programs that LiveKit calls into the rooms.",
	"settings/agents/*/agentName": "The name under which the agent has registered with LiveKit.",
	"settings/agents/*/metadata": "Text for the agent.",

	"destinations/browserRecordings/*": "A browser joins the room and records what it sees.",
	"destinations/browserRecordings/*/width": "",
	"destinations/browserRecordings/*/height": "",
	"destinations/browserRecordings/*/maxDuration": "",
	"destinations/browserRecordings/*/presignDuration": "",
	"destinations/browserRecordings/*/role": "The role that the browser joins with.",
	"destinations/browserRecordings/*/autoStart": "Starts when the first person joins.",
	"destinations/browserRecordings/*/autoStopTimeout": "Time after the last person has left.",
	"destinations/rtmpDestinations/*": "Streams the room to services such as a video platform.",
	"destinations/rtmpDestinations/*/maxDuration": "",
	"destinations/rtmpDestinations/*/rtmpUrls": "Up to 3 URLs that receive the stream.",
	"destinations/rtmpDestinations/*/recordingEnabled": "Also record the stream.",
	"destinations/rtmpDestinations/*/autoStart": "Starts when the first person joins.",
	"destinations/rtmpDestinations/*/autoStopTimeout": "Time after the last person has left.",
	"destinations/hlsDestinations/*": "Streams the room to a large audience.",
	"destinations/hlsDestinations/*/maxDuration": "",
	"destinations/hlsDestinations/*/layers":
		"Largest layer first. The encoder chooses the values you leave empty.",
	"destinations/hlsDestinations/*/layers/*": "",
	"destinations/hlsDestinations/*/layers/*/videoBitrate": "",
	"destinations/hlsDestinations/*/layers/*/audioBitrate": "",
	"destinations/hlsDestinations/*/numPlaylistSegments":
		"Only for live playlists; 5 if you leave it empty.",
	"destinations/hlsDestinations/*/playlistType": "",
	"destinations/hlsDestinations/*/enableMetadataInsertion": "",
	"destinations/hlsDestinations/*/enableStaticUrl": "Keep the same URL for every stream.",
	"destinations/hlsDestinations/*/recording": "How the stream is recorded.",
	"destinations/hlsDestinations/*/recording/hlsVod": "Lets people watch the recording later.",
	"destinations/hlsDestinations/*/recording/singleFilePerLayer": "One MP4 file for each layer.",
	"destinations/hlsDestinations/*/recording/layers":
		"Leave empty to record all layers of the stream.",
	"destinations/hlsDestinations/*/recording/layers/*": "",
	"destinations/hlsDestinations/*/recording/layers/*/videoBitrate": "",
	"destinations/hlsDestinations/*/recording/layers/*/audioBitrate": "",
	"destinations/hlsDestinations/*/recording/presignDuration": "",
	"destinations/hlsDestinations/*/recording/enableZipUpload": "Stores the recording as a ZIP file.",
	"destinations/hlsDestinations/*/recording/thumbnails/enabled":
		"Create thumbnails of the recording.",
	"destinations/hlsDestinations/*/recording/thumbnails/offsets": "",
	"destinations/hlsDestinations/*/autoStart": "Starts when the first person joins.",
	"destinations/hlsDestinations/*/autoStopTimeout": "Time after the last person has left.",
	"destinations/transcriptions": "Stored for your application.",

	"webhook/url": "Where events are sent. Starts with https://.",
	"webhook/description": "Shown in the console as the name of the webhook.",
	"webhook/events":
		"Event types such as room.created. Use room.* for all room events, * for all events.",
	"webhook/enabled":
		"When you enable it again, it gets events from then on, not the ones it missed.",
	"webhook/headers":
		"Up to 5 extra headers for each delivery. A value shown as *** is stored; leave it as it is to keep it.",
	"webhook/secret":
		"Your program verifies deliveries with it. Leave empty to generate one; it is shown only once.",
};

/** Rules between fields: the sentence of the OpenAPI document, and the one for people.
 * @type {Record<string, string>} */
export const RULES = {
	"The layers have the rids f, h and q in this order, each at most once, starting with f.":
		"Use the layers f, h and q in this order, each at most once, starting with f.",
	"scaleResolutionDownBy is 1 in the first layer and increases with each further layer.":
		"“Scale resolution down by” is 1 in the first layer and increases with each further layer.",
	"Neither width x height nor videoBitrate of a layer exceeds that of the nearest earlier layer that has it.":
		"Each layer is at most as large as the one before it, and its video bitrate at most as high.",
	"Each of recording.layers matches one of layers in every field that both have. If layers is not given, any list is accepted.":
		"You can record only layers of the stream.",
	"If both sides are given, the shorter is at most 1080 and the longer at least 192.":
		"The shorter side is at most 1080 px, the longer side at least 192 px.",
};

/**
 * Returns the schema with labels, hints and names of choices for people.
 * @param {Plain} node @param {string} subject @param {string} [pointer] @returns {Plain}
 */
export function worded(node, subject, pointer = "") {
	const inner = `${pointer}/*`;
	const field = pointer.slice(pointer.lastIndexOf("/") + 1);
	return {
		...node,
		label: LABELS[subject + pointer] ?? node.label,
		words: node.options.map((option) => choice_name(field, option)),
		description: HINTS[subject + pointer] ?? node.description,
		rules: node.rules.map((rule) => RULES[rule] ?? rule),
		item: node.item && worded(node.item, subject, inner),
		fields: node.fields.map(([name, one]) => [name, worded(one, subject, `${pointer}/${name}`)]),
	};
}

/**
 * Returns the form for the body of an endpoint such as "POST /v2/rooms/{}", in words for people.
 * @param {any} doc @param {string} which
 */
export function form_for(doc, which) {
	const [, subject = ""] = SUBJECTS.find(([path]) => path.test(which)) ?? [];
	return worded(body_of(doc, which), subject);
}
