// Decides which videos are received, and how well: by the priorities of roles, by who spoke last, by what all of them
// may cost, and by the packets that are lost. Arithmetic alone: it knows neither a page nor a media server.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** A layer that is sent. @typedef {{ height: number, kbps: number }} Layer */
/**
 * A video that is shown. `priority` is from 0, which loses last, to 5; `spoken` is when the person spoke last, `wanted`
 * the height in pixels that its place is worth, `kbps` what arrives, 0 if that is not known. The smallest layer is first.
 * @typedef {{ id: string, priority: number, spoken: number, wanted: number, layers: Layer[], kbps: number }} Video
 */
/** What is received of a video: the place of its layer, -1 for none, and whether with fewer frames per second.
 * @typedef {{ layer: number, slow: boolean }} Given */
/** The same with the time from which on it is so, and by how much what arrives differs from what is stated.
 * @typedef {Given & { since: number, ratio: number }} Kept */

// Frames per second of a video that has fewer, and of others: more than any sends.
export const SLOW_FPS = 8;
export const ALL_FPS = 60;
// What a video needs of its bit rate with fewer frames.
const SLOW_COST = 0.6;
// Milliseconds until what arrives is what was asked for last.
const SETTLED = 4000;
// The priorities, the lowest first: a shared screen can be one better than the best role.
const PRIORITIES = [5, 4, 3, 2, 1, 0];

/** Returns the priority of what somebody sends. @param {number} role @param {boolean} is_screen */
export const priority_of = (role, is_screen) => role - Number(is_screen);

/** Returns the place of the layer that a video is worth. @param {Video} video */
function natural({ layers, wanted }) {
	const found = layers.findIndex((one) => one.height >= wanted);
	return found < 0 ? layers.length - 1 : found;
}

/** @param {Video} video @param {Given} given */
const stated = ({ layers }, { layer, slow }) => (layers[layer]?.kbps ?? 0) * (slow ? SLOW_COST : 1);

/**
 * Returns what is given up, one step after another: by the lowest priority first frames, then layers, then the videos,
 * by those who spoke longest ago first; then by the next priority.
 * @param {Video[]} videos @returns {{ at: number, given: Given }[]}
 */
function ladder(videos) {
	const steps = [];
	for (const priority of PRIORITIES) {
		const group = videos
			.map((video, at) => ({ video, at, layer: natural(video) }))
			.filter(({ video }) => video.priority === priority)
			.sort((a, b) => a.video.spoken - b.video.spoken || b.at - a.at);
		for (const { at, layer } of group) steps.push({ at, given: { layer, slow: true } });
		for (let i = Math.max(0, ...group.map((one) => one.layer)); i > 0; i--) {
			for (const { at, layer } of group) if (layer >= i) steps.push({ at, given: { layer: i - 1, slow: true } });
		}
		for (const { at } of group) steps.push({ at, given: { layer: -1, slow: true } });
	}
	return steps;
}

/** Returns the sum of the `n` largest numbers. @param {number[]} costs @param {number} n */
const sum_of = (costs, n) => (n < costs.length ? costs.toSorted((a, b) => b - a).slice(0, n) : costs).reduce((sum, one) => sum + one, 0);

/** @param {Video} video @param {Given} had @param {Kept | undefined} kept @param {number} now */
function ratio_of(video, had, kept, now) {
	if (kept && now - kept.since < SETTLED) return kept.ratio;
	return video.kbps > 0 && had.layer >= 0 ? video.kbps / (stated(video, had) || video.kbps) : 1;
}

/**
 * Returns what is received of each video, how many further steps can be given up, and how many of `steps` could not be.
 * @param {Video[]} videos in the order in which they are shown
 * @param {{ most: number, asked: number, in_sight?: number, steps?: number }} limits in kbit/s: `most` of what arrives,
 * `asked` of what the senders state. `in_sight` is how many are visible at once; `steps` are given up beyond the limits
 * @param {Map<string, Kept>} [before] what was received until now @param {number} [now] in milliseconds
 */
export function share_out(videos, { most, asked, in_sight = Infinity, steps = 0 }, before = new Map(), now = 0) {
	/** @type {Given[]} */
	const all = videos.map((video) => ({ layer: natural(video), slow: false }));
	const ratios = videos.map((video, i) => {
		const kept = before.get(video.id);
		return ratio_of(video, kept ?? /** @type {Given} */ (all[i]), kept, now);
	});
	const says = videos.map((video, i) => stated(video, /** @type {Given} */ (all[i])));
	const arrives = says.map((one, i) => one * (ratios[i] ?? 1));
	const is_over = () => sum_of(arrives, in_sight) > most || sum_of(says, in_sight) > asked;
	const losses = ladder(videos);
	let further = steps;
	let i = 0;
	for (const { at, given } of losses) {
		if (!is_over()) {
			if (further === 0) break;
			further -= 1;
		}
		i += 1;
		all[at] = given;
		says[at] = stated(/** @type {Video} */ (videos[at]), given);
		arrives[at] = (says[at] ?? 0) * (ratios[at] ?? 1);
	}
	/** @type {Map<string, Kept>} */
	const given = new Map();
	videos.forEach(({ id }, at) => {
		const now_given = /** @type {Given} */ (all[at]);
		const kept = before.get(id);
		const is_same = kept && kept.layer === now_given.layer && kept.slow === now_given.slow;
		given.set(id, { ...now_given, since: is_same ? kept.since : now, ratio: ratios[at] ?? 1 });
	});
	return { given, left: losses.length - i, unused: further };
}

/**
 * Returns who has a place, if not all do. Who had one keeps it, unless somebody of a higher priority has none; who
 * speaks without one gets that of a person of the same priority who has been silent longest, never your own. If places
 * come or go, it is by priority, then by who spoke last.
 * @template {{ id: string, me: boolean, priority: number }} T
 * @param {T[]} all @param {string[]} before the ids of those who had one @param {number} room
 * @param {Set<string>} speaking @param {Map<string, number>} spoken when people spoke last @returns {T[]}
 */
export function seats(all, before, room, speaking, spoken) {
	const speaks = (/** @type {T} */ { id }) => Number(speaking.has(id));
	const last = (/** @type {T} */ { id }) => spoken.get(id) ?? 0;
	const first = (/** @type {T} */ a, /** @type {T} */ b) =>
		Number(b.me) - Number(a.me) || a.priority - b.priority || speaks(b) - speaks(a) || last(b) - last(a);
	const known = before.map((id) => all.find((one) => one.id === id)).filter((one) => one !== undefined);
	const had = [...all.filter((one) => one.me && !known.includes(one)), ...known];
	const stay = had.toSorted(first).slice(0, room);
	const come = all
		.filter((one) => !had.includes(one))
		.sort(first)
		.slice(0, room - stay.length);
	const seated = [...had.filter((one) => stay.includes(one)), ...all.filter((one) => come.includes(one))];
	const rest = all.filter((one) => !seated.includes(one)).sort((a, b) => a.priority - b.priority);
	for (const one of rest) {
		const [weakest] = seated
			.filter((other) => !other.me)
			.sort((a, b) => b.priority - a.priority || speaks(a) - speaks(b) || last(a) - last(b));
		if (!weakest) continue;
		const is_higher = one.priority < weakest.priority;
		if (is_higher || (one.priority === weakest.priority && speaks(one) > speaks(weakest))) seated[seated.indexOf(weakest)] = one;
	}
	return seated;
}

/**
 * Returns the ids of the videos that are left if there are to be few: your own and the large one, the others by
 * priority, then by who spoke last.
 * @param {{ id: string, is_first: boolean, priority: number, spoken: number }[]} videos @param {number} most
 */
export const few = (videos, most) =>
	new Set(
		videos
			.toSorted((a, b) => Number(b.is_first) - Number(a.is_first) || a.priority - b.priority || b.spoken - a.spoken)
			.slice(0, most)
			.map((one) => one.id),
	);

// The highest bit rate of a role, in kbit/s.
const HIGHEST = 2000;

/**
 * Returns the most that a camera of a role sends, in kbit/s, or one of its layers.
 * @param {any} publish the role's publishParams, if they are known @param {number} [height] of the layer
 */
export function most_of(publish, height = Infinity) {
	if (!publish) return HIGHEST;
	const { video, simulcast } = publish;
	/** @type {{ scaleResolutionDownBy?: number, maxBitrate?: number }[]} */
	const layers = simulcast?.video?.layers ?? [{}];
	const scale_of = (/** @type {{ scaleResolutionDownBy?: number }} */ { scaleResolutionDownBy = 1 }) => scaleResolutionDownBy;
	// The largest comes first. Pixels are rounded.
	const layer = layers.findLast((one) => video.height / scale_of(one) >= height - 2) ?? layers[0];
	return layer ? layer.maxBitrate || video.bitRate / scale_of(layer) : HIGHEST;
}

/** Returns the most that a shared screen of a role sends, in kbit/s. @param {any} publish as above */
export const most_of_screen = (publish) => publish?.screen.bitRate ?? HIGHEST;

// Milliseconds by which a reading may be early.
const EARLY = 100;

/**
 * Follows the packets that are lost, by the subscribeDegradation of a role. Returns a function that takes readings in
 * the order of time, and returns 1 if one step more is to be given up, -1 if one can be taken back, else 0.
 * @param {{ packetLossThreshold: number, degradeGracePeriodSeconds: number, recoverGracePeriodSeconds: number }} params
 */
export function loss_watch({ packetLossThreshold, degradeGracePeriodSeconds, recoverGracePeriodSeconds }) {
	/** @type {{ from: number, lost: number, received: number }[]} */
	let readings = [];
	/** The loss over the last seconds in percent, or null if less is known. @param {number} to @param {number} seconds */
	function loss(to, seconds) {
		const begin = to - seconds * 1000;
		const window = readings.filter((one) => one.from >= begin - EARLY);
		if (!readings[0] || readings[0].from > begin + EARLY || window.length === 0) return null;
		const lost = window.reduce((sum, one) => sum + one.lost, 0);
		const all = lost + window.reduce((sum, one) => sum + one.received, 0);
		return all > 0 ? (100 * lost) / all : 0;
	}
	/**
	 * @param {number} from @param {number} to in milliseconds @param {number} lost @param {number} received packets of
	 * all videos that should arrive @param {boolean} [is_idle] none should, because all have been given up
	 */
	return (from, to, lost, received, is_idle = false) => {
		// Nothing arrives: no news.
		if (lost + received <= 0 && !is_idle) return 0;
		const longest = 1000 * Math.max(degradeGracePeriodSeconds, recoverGracePeriodSeconds);
		readings = [...readings.filter((one) => one.from >= to - 2 * longest), { from, lost: Math.max(0, lost), received }];
		const [bad, good] = [loss(to, degradeGracePeriodSeconds), loss(to, recoverGracePeriodSeconds)];
		const step = bad !== null && bad > packetLossThreshold ? 1 : good !== null && good < packetLossThreshold ? -1 : 0;
		// The next step needs news of its own.
		if (step !== 0) readings = [];
		return step;
	};
}
