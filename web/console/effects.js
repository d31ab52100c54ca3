// What the members of roles and settings do, with LiveKit and with other media servers. The same sentences are in
// anteroom-api(7), WHAT A TEMPLATE DOES; tests/scripts/manual.sh compares them.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { all_of } from "../lib/api.js";
import { server_of } from "./servers.js";
import { may } from "./session.js";

/** @typedef {import("../lib/schema.js").Plain} Plain */

/** By subject and pointer: with LiveKit, and with others if that differs. @type {Record<string, [string] | [string, string]>} */
const EFFECTS = {
	"role/name": ["The name of the role for programs; people inside have it as the attribute role.", "The name of the role for programs; a JWT has it as the claim role."],
	"role/title": ["What people see in place of the name."],
	"role/publishParams/allowed": ["The media server takes nothing else from people. simulcast changes nothing: simulcast.video.layers says what is sent.", "Galene takes nothing from people who may publish nothing. Otherwise the servers take anything, and not_enforced says so."],
	"role/publishParams/audio/bitRate": ["The call sends sound with at most this rate.", "Nothing, because their clients do not know it."],
	"role/publishParams/audio/codec": ["The call sends Opus, the only choice.", "Nothing, because their clients do not know it."],
	"role/publishParams/video/bitRate": ["The call sends the camera with at most this rate, unless the first layer has a maxBitrate.", "Nothing, because their clients do not know it."],
	"role/publishParams/video/codec": ["The call sends VP8, the only choice.", "Nothing, because their clients do not know it."],
	"role/publishParams/video/frameRate": ["The call asks the camera for it and sends no more.", "Nothing, because their clients do not know it."],
	"role/publishParams/video/height": ["The call asks the camera for it and sends no more.", "Nothing, because their clients do not know it."],
	"role/publishParams/video/width": ["The call asks the camera for it and sends no more.", "Nothing, because their clients do not know it."],
	"role/publishParams/screen/bitRate": ["The call sends a shared screen with at most this rate.", "Nothing, because their clients do not know it."],
	"role/publishParams/screen/codec": ["The call sends VP8, the only choice.", "Nothing, because their clients do not know it."],
	"role/publishParams/screen/frameRate": ["The call asks for a shared screen of this kind and sends no more.", "Nothing, because their clients do not know it."],
	"role/publishParams/screen/height": ["The call asks for a shared screen of this kind and sends no more.", "Nothing, because their clients do not know it."],
	"role/publishParams/screen/width": ["The call asks for a shared screen of this kind and sends no more.", "Nothing, because their clients do not know it."],
	"role/publishParams/simulcast/video/layers": ["The call sends the camera in these layers, as far as its size allows.", "Nothing, because their clients do not know it."],
	"role/publishParams/simulcast/video/layers/*/rid": ["Its place among the layers.", "Nothing, because their clients do not know it."],
	"role/publishParams/simulcast/video/layers/*/scaleResolutionDownBy": ["The call sends the layer so; without maxBitrate, with the rate of the camera by the scale.", "Nothing, because their clients do not know it."],
	"role/publishParams/simulcast/video/layers/*/maxBitrate": ["The call sends the layer so; without maxBitrate, with the rate of the camera by the scale.", "Nothing, because their clients do not know it."],
	"role/publishParams/simulcast/video/layers/*/maxFramerate": ["The call sends the layer so; without maxBitrate, with the rate of the camera by the scale.", "Nothing, because their clients do not know it."],
	"role/publishParams/simulcast/screen": ["Nothing, because the call sends a shared screen in one layer.", "Nothing, because their clients do not know it."],
	"role/subscribeParams/subscribeToRoles": ["For an empty list, the media server sends nothing. For some of the roles, the call receives these alone, and not_enforced has subscribe.", "Nothing, because people receive everybody. not_enforced has subscribe."],
	"role/subscribeParams/maxSubsBitRate": ["All videos that the call asks for stay within it, by what their senders state; sound does not count. 0 and 3200 count as not set.", "Nothing, because their clients do not know it."],
	"role/subscribeParams/subscribeDegradation/packetLossThreshold": ["If more packets of all received videos are lost, the call receives fewer frames, smaller layers or nothing of the lowest priority, one step after another.", "Nothing, because their clients do not know it."],
	"role/subscribeParams/subscribeDegradation/degradeGracePeriodSeconds": ["How long the loss lasts before a step, and from one step to the next.", "Nothing, because their clients do not know it."],
	"role/subscribeParams/subscribeDegradation/recoverGracePeriodSeconds": ["How long the loss stays below the threshold before a step is taken back.", "Nothing, because their clients do not know it."],
	"role/permissions/endRoom": ["Lets people inside end the session.", "With removeOthers, mute and changeRole it makes people moderators of the media server."],
	"role/permissions/removeOthers": ["Lets people inside remove others, and let in those who wait.", "With endRoom, mute and changeRole it makes people moderators of the media server."],
	"role/permissions/mute": ["Lets people inside turn off microphones, cameras and shared screens of others.", "With endRoom, removeOthers and changeRole it makes people moderators of the media server."],
	"role/permissions/unmute": ["Lets programs of people inside unmute others, if LiveKit has room.enable_remote_unmute; the call does not do so.", "Nothing, because Anteroom cannot ask them."],
	"role/permissions/changeRole": ["Lets people inside change the roles of others.", "With endRoom, removeOthers and mute it makes people moderators of the media server."],
	"role/permissions/sendRoomState": ["Shows people who is inside before they join, with roomState.enabled, and lets their programs list those inside. In the call everybody sees all names.", "Nothing, because Anteroom does not know who is inside."],
	"role/permissions/browserRecording": ["Lets moderators start, pause and stop recordings.", "Lets moderators record with Jitsi Meet and Galene; with others nothing."],
	"role/permissions/rtmpStreaming": ["Lets moderators start and stop external streams.", "Lets moderators stream with Jitsi Meet; with others nothing."],
	"role/permissions/hlsStreaming": ["Lets moderators start and stop live streams.", "Nothing, because only rooms at a LiveKit server are streamed."],
	"role/permissions/pollRead": ["Nothing, because Anteroom has no polls. Your own client can read it."],
	"role/permissions/pollWrite": ["Nothing, because Anteroom has no polls. Your own client can read it."],
	"role/permissions/joinOutsideWindow": ["Lets people join before the room's opens_at and after its closes_at."],
	"role/permissions/chat": ["Whether people can send messages, and all else that clients send each other, such as reactions.", "Nothing, because Anteroom cannot ask them."],
	"role/permissions/moderator": ["With config.room_admin of the backend, decides whether tokens have roomAdmin; else nothing.", "Decides whether people are moderators of the media server."],
	"role/priority": ["Who keeps quality longest in the call if videos cost too much, packets are lost or there are too many tiles: people of priority 5 lose frames, layers, video and tile before those of 4. A shared screen counts one better.", "Nothing, because their clients do not know it."],
	"role/maxPeerCount": ["Nobody is let in beyond this number, and whoever comes in all the same is put out. With -1 nobody can join.", "With -1 nobody can join. Otherwise nothing, and not_enforced has max_peers."],
	"role/admission": ["With ask, people wait until somebody inside, or a program, lets them in.", "With ask, people wait until a program or the console lets them in."],
	"settings/region": ["Nothing, because rooms are where the media server is. A new room has the same value, unless it names one."],
	"settings/recording": ["Rooms show it. An upload says where the files of recordings go; without one they stay in the folder of the service."],
	"settings/roomState/enabled": ["Shows people whose role has sendRoomState who is inside, before they join.", "Nothing, because Anteroom does not know who is inside."],
	"settings/roomState/messageInterval": ["How often a page asks again who is inside; the join page at most every 10 seconds.", "Nothing, because Anteroom does not know who is inside."],
	"settings/roomState/sendPeerList": ["Names the first of those inside; otherwise only their number is told.", "Nothing, because Anteroom does not know who is inside."],
	"settings/roomState/stopRoomStateOnJoin": ["If false, the call goes on asking, and shows the number of people to those who cannot see the list.", "Nothing, because Anteroom does not know who is inside."],
	"settings/retry": ["Nothing, because it is always an empty object."],
	"settings/backend": ["The media server of the rooms, or the pool; without it, the account's default."],
	"settings/recordingRules/consent": ["Whether people are told that they may be recorded, are asked, or have to agree before they join."],
	"settings/recordingRules/keepDays": ["Files of recordings are deleted after so many days; a lower number counts a day after it was set.", "Nothing, because only rooms at a LiveKit server are recorded."],
	"settings/recordingRules/chat": ["What is written to everybody during a recording becomes a file of it.", "Nothing, because only rooms at a LiveKit server are recorded."],
	"settings/agents/*/agentName": ["LiveKit calls this agent into the rooms.", "Nothing, because only LiveKit has agents."],
	"settings/agents/*/metadata": ["LiveKit calls this agent into the rooms.", "Nothing, because only LiveKit has agents."],
	"destinations/browserRecordings": ["What a recording looks like, how long it may last, and whom it hears.", "Nothing, because only rooms at a LiveKit server are recorded."],
	"destinations/rtmpDestinations": ["Where an external stream is sent, what it looks like, and how long it may last.", "Nothing, because only rooms at a LiveKit server are streamed."],
	"destinations/hlsDestinations": ["What a live stream looks like, how long it may last, and whether it is recorded. It has one layer, the first.", "Nothing, because only rooms at a LiveKit server are streamed."],
	"destinations/transcriptions": ["Nothing, because Anteroom transcribes nothing. A role that is renamed or deleted is so here, too."],
};

/**
 * Returns the type of the media server of a template's rooms, or null if there is none, or it is not known.
 * @param {{ backend?: string }} settings of the template @param {AbortSignal} signal @returns {Promise<string | null>}
 */
export async function media_type(settings, signal) {
	const backends = may("backends:read") ? await all_of("/v2/backends", {}, signal) : [];
	return server_of(backends, settings)?.type ?? null;
}

/**
 * Returns the form with what each field does with a media server.
 * @param {Plain} node @param {string} subject @param {string | null} type of the media server, if it is known
 * @param {string} [pointer] @returns {Plain}
 */
export function with_effects(node, subject, type, pointer = "") {
	const [livekit = "", others = livekit] = EFFECTS[subject + pointer] ?? [];
	const unknown = livekit === others ? livekit : `With LiveKit: ${livekit}`;
	const effect = type === "livekit" ? livekit : type === null ? unknown : others;
	return {
		...node,
		description: [node.description, effect].filter(Boolean).join(" "),
		item: node.item && with_effects(node.item, subject, type, `${pointer}/*`),
		fields: node.fields.map(([name, one]) => [name, with_effects(one, subject, type, `${pointer}/${name}`)]),
	};
}
