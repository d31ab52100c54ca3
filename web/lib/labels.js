// Labels of fields and names of their values.
//
// SPDX-License-Identifier: GPL-3.0-or-later

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
	api_url: "API URL",
	app_id: "App ID",
	audience: "Audience (aud)",
	audioBitrate: "Audio bitrate",
	autoStart: "Start automatically",
	autoStopTimeout: "Stop after",
	backend: "Media server",
	bitRate: "Bitrate",
	browserRecording: "Record with a browser",
	changeRole: "Change other people's roles",
	chat: "Send messages",
	checksum: "Checksum algorithm",
	closes_at: "Closes",
	code: "Custom code",
	config: "Connection",
	create_rooms: "Create the rooms",
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
	keepDays: "Delete recordings after (days)",
	key_id: "Key ID (kid)",
	location: "Bucket",
	max_duration_seconds: "Maximum duration",
	max_uses: "Use limit",
	maxBitrate: "Maximum bitrate",
	maxDuration: "Maximum duration",
	maxFramerate: "Maximum frame rate",
	maxPeerCount: "Participant limit",
	maxSubsBitRate: "Maximum receive bitrate",
	messageInterval: "Ask again every",
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
	recordingRules: "Rules of recordings",
	recoverGracePeriodSeconds: "Restore quality after",
	removeOthers: "Remove other people",
	rid: "Layer (rid)",
	room_admin: "Moderators administer the room",
	roomState: "Who is inside",
	rtmpDestinations: "RTMP destinations",
	rtmpStreaming: "Start RTMP streaming",
	rtmpUrls: "RTMP URLs",
	scaleResolutionDownBy: "Scale resolution down by",
	secretKey: "Secret access key",
	sendPeerList: "With names",
	sendRoomState: "See who is inside",
	singleFilePerLayer: "One file per layer",
	size: "Room size",
	stopRoomStateOnJoin: "Stop after joining",
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
	admission: { open: "Come in at once", ask: "Wait to be admitted" },
	allowed: { audio: "Audio", video: "Video", screen: "Screen", simulcast: "Simulcast" },
	consent: { notice: "Not asked", asked: "Asked", required: "Required" },
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
