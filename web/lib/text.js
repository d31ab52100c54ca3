// Labels, numbers and times for people.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h } from "./dom.js";

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const number_format = new Intl.NumberFormat();

/** Units of relative times: up to how many seconds each is used, and the seconds it has.
 * @type {[number, number, Intl.RelativeTimeFormatUnit][]} */
const UNITS = [
	[3600, 60, "minute"],
	[86400, 3600, "hour"],
	[86400 * 14, 86400, "day"],
];

/** Returns "3 minutes ago" or "in 2 days", with the exact time as its tooltip. @param {string} iso */
export function ago(iso) {
	const then = new Date(iso);
	const seconds = (then.getTime() - Date.now()) / 1000;
	const size = Math.abs(seconds);
	const unit = UNITS.find(([end]) => size < end);
	const text =
		size < 45
			? "just now"
			: unit
				? relative.format(Math.round(seconds / unit[1]), unit[2])
				: day.format(then);
	return h("time", { datetime: iso, title: absolute.format(then) }, text);
}

/** Returns "Nov 24, 2026, 14:00". @param {string} iso */
export const moment = (iso) => minute.format(new Date(iso));

/** Returns "14:03:27". @param {number} time as Date.now() returns it */
export const clock = (time) =>
	new Date(time).toLocaleTimeString(undefined, {
		hour: "2-digit",
		minute: "2-digit",
		second: "2-digit",
	});

/**
 * Returns the label of a field: "Bitrate" for "bitRate", "Large room" for "large_room".
 * @param {string} name
 */
export function label_of(name) {
	const known = LABELS[name];
	if (known) return known;
	const words = name
		.replace(/[_-]/g, " ")
		.replace(/([a-z])([A-Z])/g, "$1 $2")
		.toLowerCase();
	return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Labels of fields whose names do not read as words. @type {Record<string, string>} */
const LABELS = {
	alg: "Signing algorithm",
	allowed: "Can publish",
	api_key: "API key",
	api_secret: "API secret",
	app_id: "App ID",
	audience: "Audience (aud)",
	audioBitrate: "Audio bitrate",
	autoStart: "Start automatically",
	autoStopTimeout: "Stop after",
	backend: "Media server",
	bitRate: "Bitrate",
	browserRecording: "Record with a browser",
	changeRole: "Change other people's roles",
	checksum: "Checksum algorithm",
	closes_at: "Closes",
	code: "Custom code",
	config: "Connection",
	default: "Default template",
	degradeGracePeriodSeconds: "Reduce quality after",
	enableMetadataInsertion: "Insert metadata into the stream",
	enableStaticUrl: "Static URL",
	enableZipUpload: "Upload as a ZIP file",
	endRoom: "End the room",
	expires_at: "Expires",
	expires_in: "Expires after",
	fps: "Frame rate",
	grace_seconds: "Current codes",
	hlsDestinations: "HLS destinations",
	hlsStreaming: "Start HLS streaming",
	hlsVod: "Video on demand",
	joinOutsideWindow: "Join outside opening times",
	key_id: "Key ID (kid)",
	location: "Bucket",
	max_duration_seconds: "Maximum duration",
	max_uses: "Use limit",
	maxBitrate: "Maximum bitrate",
	maxDuration: "Maximum duration",
	maxFramerate: "Maximum frame rate",
	maxPeerCount: "Participant limit",
	maxSubsBitRate: "Maximum receive bitrate",
	messageInterval: "Send every",
	moderator: "Moderator on the media server",
	mute: "Mute others",
	not_before: "Valid from",
	numPlaylistSegments: "Segments in the playlist",
	offsets: "Take thumbnails at (seconds)",
	opens_at: "Opens",
	packetLossThreshold: "Packet loss threshold (%)",
	pollRead: "See polls",
	pollWrite: "Create polls",
	prefix: "Folder",
	presignDuration: "Links to recordings work for",
	publishParams: "Publishing",
	recording_info: "Recording",
	recording_source_template: "Record as the template says",
	recordingEnabled: "Record the stream",
	recoverGracePeriodSeconds: "Restore quality after",
	removeOthers: "Remove other people",
	rid: "Layer (rid)",
	roomState: "Room state messages",
	rtmpDestinations: "RTMP destinations",
	rtmpStreaming: "Start RTMP streaming",
	rtmpUrls: "RTMP URLs",
	scaleResolutionDownBy: "Scale resolution down by",
	secretKey: "Secret access key",
	sendPeerList: "Include the list of participants",
	sendRoomState: "Receive room state",
	singleFilePerLayer: "One file per layer",
	size: "Room size",
	stopRoomStateOnJoin: "Stop sending after joining",
	subject: "Subject (sub)",
	subscribeDegradation: "Adapt to poor connections",
	subscribeParams: "Subscribing",
	subscribeToRoles: "Sees and hears",
	template_id: "Template",
	ttl: "Token lifetime",
	unmute: "Ask others to unmute",
	upload: "Storage",
	upload_info: "Storage",
	url: "URL",
	user_id: "User ID",
	videoBitrate: "Video bitrate",
	videoFrameRate: "Frame rate",
};

/** Names of values, by field. @type {Record<string, Record<string, string>>} */
const CHOICES = {
	allowed: { audio: "Audio", video: "Video", screen: "Screen", simulcast: "Simulcast" },
	playlistType: {
		event: "Event (keeps all segments)",
		live: "Live (keeps the newest segments)",
	},
	region: { auto: "Automatic", in: "India", us: "United States", eu: "Europe" },
	state: { active: "Active", next: "Next", retired: "Retired" },
	type: {
		livekit: "LiveKit",
		jitsi: "Jitsi Meet",
		galene: "Galene",
		bigbluebutton: "BigBlueButton",
		janus: "Janus",
		jwt: "Other (JWT)",
		s3: "Amazon S3",
		gs: "Google Cloud Storage",
		oss: "Alibaba Cloud OSS",
		azure: "Azure Blob Storage",
	},
};

/** Returns the name of a value of a field, or the value itself. @param {string} field @param {string} value */
export const choice_name = (field, value) => CHOICES[field]?.[value] ?? value;

/** @param {number} value */
export const number = (value) => number_format.format(value);

/** Returns "1 code" or "12 codes". @param {number} count @param {string} one @param {string} [many] */
export const count_of = (count, one, many = `${one}s`) =>
	`${number(count)} ${count === 1 ? one : many}`;

/** @param {number} value */
export function bytes(value) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let i = 0;
	while (value >= 1000 && i < units.length - 1) {
		value /= 1000;
		i += 1;
	}
	return `${value >= 100 || i === 0 ? Math.round(value) : value.toFixed(1)} ${units[i]}`;
}
