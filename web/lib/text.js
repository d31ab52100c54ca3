// Words, numbers and times for people.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h } from "./dom.js";

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const number_format = new Intl.NumberFormat();

/** The largest unit first: below how many seconds it ends, and how many seconds it has.
 * @type {[number, number, Intl.RelativeTimeFormatUnit][]} */
const UNITS = [
	[3600, 60, "minute"],
	[86400, 3600, "hour"],
	[86400 * 14, 86400, "day"],
];

/** "3 minutes ago" or "in 2 days", with the exact time as its title. @param {string} iso */
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

/** "Nov 24, 2026, 14:00". @param {string} iso */
export const moment = (iso) => minute.format(new Date(iso));

/** "14:03:27" of today. @param {number} time of Date.now() */
export const clock = (time) =>
	new Date(time).toLocaleTimeString(undefined, {
		hour: "2-digit",
		minute: "2-digit",
		second: "2-digit",
	});

/**
 * The name of a member as words: "bitRate" is "Bitrate", "max_uses" is "Max uses".
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

/** Members whose names do not read as words. @type {Record<string, string>} */
const LABELS = {
	api_key: "API key",
	api_secret: "API secret",
	app_id: "App ID",
	audioBitrate: "Audio bitrate",
	bitRate: "Bitrate",
	closes_at: "Closes",
	code: "Own words",
	degradeGracePeriodSeconds: "Degrade after",
	enableMetadataInsertion: "Metadata insertion",
	enableStaticUrl: "Static URL",
	enableZipUpload: "Upload as ZIP",
	endRoom: "End room",
	expires_at: "Expires",
	expires_in: "Expires in",
	fps: "Frames per second",
	hlsDestinations: "HLS destinations",
	hlsStreaming: "HLS streaming",
	hlsVod: "Video on demand",
	max_duration_seconds: "Max duration",
	maxBitrate: "Max bitrate",
	maxFramerate: "Max frame rate",
	maxPeerCount: "Max peers",
	maxSubsBitRate: "Max subscribed bitrate",
	not_before: "Valid from",
	opens_at: "Opens",
	publishParams: "Publish",
	recoverGracePeriodSeconds: "Recover after",
	rid: "Layer (rid)",
	rtmpDestinations: "RTMP destinations",
	rtmpStreaming: "RTMP streaming",
	rtmpUrls: "RTMP URLs",
	scaleResolutionDownBy: "Scale down by",
	subscribeParams: "Subscribe",
	subscribeToRoles: "Sees and hears",
	template_id: "Template",
	ttl: "Token lifetime",
	url: "URL",
	user_id: "For user",
	videoBitrate: "Video bitrate",
};

/** @param {number} value */
export const number = (value) => number_format.format(value);

/** "1 code", "12 codes". @param {number} count @param {string} one @param {string} [many] */
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
