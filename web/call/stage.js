// The tiles of a call: who has one, where it is, and who is speaking. Nothing moves by itself: tiles change
// their place only when people come, go or share, or the window changes.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put } from "../lib/dom.js";
import { beside, contain, GAP, grid, pair } from "./grid.js";
import { ALL_FPS, SLOW_FPS, few, priority_of, seats, share_out } from "./quality.js";
import { nearest, rove } from "./rove.js";
import { shift, tile } from "./tile.js";
import { voice } from "./voice.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {import("./grid.js").Place} Place */
/** @typedef {import("./tile.js").Tile} Tile */
/** What is shown at a place. @typedef {{ person: Person, place: Place, is_screen: boolean }} Shown */

const MOST = 49;
const PADDING = 8;
const WIDE = 16 / 9;
// Pixels of the line below a shared screen, and the width that it needs.
const LINE = 40;
const LINE_WIDTH = 260;
// Videos that are shown if few are wanted.
const FEW = 4;
// What a layer may lack of the height of its place.
const ENOUGH = 0.9;
/** A video that is left out because few are wanted. @type {import("./quality.js").Kept} */
const NOT_WANTED = { layer: -1, slow: true, since: 0, ratio: 1 };
// Pixels of a tile that must be in sight for its speaker not to be named.
const IN_SIGHT = 24;

/**
 * @param {{ options: (id: string, button: HTMLElement) => void, everyone: () => void, stop_sharing: () => void } &
 *   import("./caption.js").Acts} acts
 * @param {{ density: () => number, most: () => number, least: () => number }} limits as in budget.js
 */
export function stage(acts, { density, most, least }) {
	/** @type {Map<string, Tile>} */
	const tiles = new Map();
	const list = h("ul.tiles", { role: "list", "aria-label": words.stage });
	const rest = h("button.rest", { type: "button", hidden: true, onclick: () => acts.everyone() });
	const line = h("div.stage-line", { hidden: true });
	const speaker = h("div.hidden-speaker", { hidden: true });
	const sharing = h(
		"div.sharing",
		{ hidden: true },
		icon("screen"),
		h("div", null, h("b", null, words.you_share), h("span", null, words.you_share_help)),
		h("button.small", { type: "button", onclick: () => acts.stop_sharing() }, words.stop_sharing),
	);
	// The button for the rest is placed as the tiles are, and scrolls with them.
	const area = h("div.stage-area", { tabindex: "-1" }, list, rest);
	const element = h("div.call-stage", null, sharing, area, line, speaker);
	/** @type {Person[]} */
	let people = [];
	/** The id of what the viewer keeps large. @type {string | null} */
	let large = null;
	/** @type {Set<string>} */
	let speaking = new Set();
	/** @type {Map<string, number>} */
	const spoken = new Map();
	/** The people who have a place while not all have one. @type {string[]} */
	let cast = [];
	/** Who shares a screen; the last one began last. @type {string[]} */
	let sharers = [];
	/** Whether the speaker is large, a shared screen is alone, your own picture is hidden, few videos are shown. */
	let how = { speaker: false, only: false, hides_me: false, fewer: false };
	/** Whom the speaker view follows. */
	const followed = voice((id) => {
		// Two people change places, and nobody else moves.
		const at = cast.indexOf(id);
		if (at >= 0 && follows && tiles.has(follows)) cast[at] = follows;
		lay();
	});
	/** Who is large because of the speaker view. @type {string | null} */
	let follows = null;
	/** What is received of each video, by the id of its tile. @type {Map<string, import("./quality.js").Kept>} */
	let given = new Map();
	/** kbit/s that the role asks for at most; the steps that are given up because packets are lost, and how many more there are. */
	let asked = Infinity;
	let steps = 0;
	let left = 0;
	const is_paused = (/** @type {string} */ id) => given.get(id)?.layer === -1;
	/** The tile that the Tab key reaches. @type {string | null} */
	let current = null;

	/** @param {string} id @param {boolean} is_screen */
	function tile_of(id, is_screen) {
		const known = tiles.get(id);
		if (known) return known;
		const one = tile(id, is_screen, acts);
		// The tile of a shared screen has the ratio of the picture.
		if (is_screen) one.video.addEventListener("resize", lay);
		else one.root.addEventListener("dblclick", () => keep(large === id ? null : id));
		tiles.set(id, one);
		list.append(one.root);
		return one;
	}
	/** @param {Tile} one @param {Person} person */
	const draw = (one, person) =>
		one.draw(person, { speaks: speaking.has(person.id), paused: is_paused(one.id), large: large === one.id, only: how.only });

	/**
	 * Returns the people who get the places. Where all have one in a grid, they are in their order.
	 * @param {Person[]} all @param {number} room @param {boolean} is_strip
	 */
	function chosen(all, room, is_strip) {
		const found = room >= all.length && !is_strip ? all : seats(all, cast, room, speaking, spoken);
		cast = found.map((one) => one.id);
		return found;
	}

	/** Returns width by height of a shared screen, as far as it is known. @param {Person} sharer */
	function ratio_of(sharer) {
		const { videoWidth: width = 0, videoHeight: height = 0 } = sharer.screen?.size?.() ?? tiles.get(`screen:${sharer.id}`)?.video ?? {};
		return width > 0 && height > 0 ? Math.min(3, Math.max(0.5, width / height)) : WIDE;
	}

	const is_shown = (/** @type {Person} */ one) => one.publishes && !(one.me && how.hides_me);
	const is_sharing = (/** @type {Person} */ one) => one.screen && one.publishes && !one.me;

	/** The one whom the speaker view shows, or null if there are not two to choose from. @param {Person[]} visible */
	function speaker_of(visible) {
		const others = visible.filter((one) => !one.me);
		if (!how.speaker || others.length < 2) return null;
		const last = (/** @type {Person} */ { id }) => spoken.get(id) ?? 0;
		return others.find((one) => one.id === followed.current()) ?? others.sort((a, b) => a.priority - b.priority || last(b) - last(a))[0];
	}

	/** What is kept large, or the shared screen, or the speaker, or null. @param {Person[]} visible */
	function main_of(visible) {
		const sharing = visible.filter(is_sharing).map((one) => one.id);
		sharers = sharers.filter((id) => sharing.includes(id));
		sharers.push(...sharing.filter((id) => !sharers.includes(id)));
		const pinned = visible.find((one) => one.id === large);
		const chosen_id = sharers.find((id) => `screen:${id}` === large) ?? sharers.at(-1);
		const screen = visible.find((one) => one.id === chosen_id);
		if (!pinned && large !== `screen:${screen?.id}`) large = null;
		if (pinned) return { person: pinned, is_screen: false };
		if (screen) return { person: screen, is_screen: true };
		const speaks = speaker_of(visible);
		if (!speaks) return null;
		followed.begin(speaks.id);
		follows = speaks.id;
		return { person: speaks, is_screen: false };
	}

	/**
	 * Returns what is shown and where, the place of the button for the rest, and how many tiles are in sight.
	 * @param {number} w @param {number} h
	 * @returns {{ shown: Shown[], last?: Place | undefined, missing?: number, height?: number, in_sight?: number,
	 *   is_pair?: boolean, has_main?: boolean }}
	 */
	function plan_of(w, h) {
		const visible = people.filter(is_shown);
		follows = null;
		const main = main_of(visible);
		/** @type {(all: Person[], places: Place[], is_strip?: boolean) => Shown[]} */
		const seat = (all, places, is_strip = false) =>
			chosen(all, places.length, is_strip).map((person, i) => ({ person, place: /** @type {Place} */ (places[i]), is_screen: false }));
		if (main?.is_screen && how.only) return { shown: [{ ...main, place: { x: 0, y: 0, width: w, height: h } }], has_main: true };
		if (main) {
			const others = main.is_screen ? visible : visible.filter((one) => one !== main.person);
			const ratio = main.is_screen ? ratio_of(main.person) : WIDE;
			const plan = beside(others.length, w, h, ratio, main.is_screen ? LINE : 0);
			const place = main.is_screen ? contain(plan.main, ratio, LINE, LINE_WIDTH) : plan.main;
			const is_full = plan.left_out > 0;
			const places = is_full ? plan.places.slice(0, -1) : plan.places;
			return {
				shown: [{ ...main, place }, ...seat(others, places, true)],
				last: is_full ? plan.places.at(-1) : undefined,
				missing: others.length - places.length,
				has_main: true,
			};
		}
		const [first, second] = visible;
		if (first && second && visible.length === 2 && first.me) {
			const plan = pair(w, h);
			return {
				shown: [
					{ person: first, place: plan.self, is_screen: false },
					{ person: second, place: plan.main, is_screen: false },
				],
				is_pair: true,
			};
		}
		if (first && !second) return { shown: seat(visible, [{ x: 0, y: 0, width: w, height: h }]) };
		if (!first) return { shown: [] };
		const plan = grid(Math.min(visible.length, MOST), w, h, least());
		const is_full = visible.length > MOST;
		const places = is_full ? plan.places.slice(0, -1) : plan.places;
		return {
			shown: seat(visible, places),
			last: is_full ? plan.places.at(-1) : undefined,
			missing: visible.length - places.length,
			...(plan.scrolls
				? {
						height: plan.rows * (plan.height + GAP),
						in_sight: plan.columns * (Math.ceil(h / (plan.height + GAP)) + 1),
					}
				: {}),
		};
	}

	function lay() {
		sharing.hidden = !people.some((one) => one.me && one.shares);
		const w = area.clientWidth - 2 * PADDING;
		const h_ = area.clientHeight - 2 * PADDING;
		if (w <= 0 || h_ <= 0) return;
		const plan = plan_of(w, h_);
		const tall = plan.height ? `${plan.height}px` : "";
		if (list.style.height !== tall) list.style.height = tall;
		area.classList.toggle("scrolls", tall !== "");
		area.classList.toggle("pair", plan.is_pair === true);
		const [main] = plan.shown;
		// Who speaks out of sight is named above the line of a screen, not over it.
		element.classList.toggle("low-line", Boolean(main?.is_screen && main.place.y + main.place.height > h_ - LINE));
		receive(plan.shown, plan.in_sight, plan.has_main);
		const kept = new Set();
		const focused = /** @type {HTMLElement | null} */ (document.activeElement);
		plan.shown.forEach(({ person, place, is_screen }, i) => {
			const id = is_screen ? `screen:${person.id}` : person.id;
			kept.add(id);
			const one = tile_of(id, is_screen);
			one.move(place, PADDING, PADDING);
			one.root.classList.toggle("over", plan.is_pair === true && person.me);
			draw(one, person);
			// The order in the document is the order in the window.
			if (list.children[i] !== one.root) list.insertBefore(one.root, list.children[i] ?? null);
		});
		// What is moved in the document loses the focus.
		if (focused !== document.activeElement && list.contains(focused)) focused?.focus({ preventScroll: true });
		for (const [id, one] of tiles) {
			if (kept.has(id)) continue;
			one.drop();
			tiles.delete(id);
		}
		show_rest(plan.last, plan.missing ?? 0);
		reach(current !== null && tiles.has(current) ? current : ([...tiles.values()].find((one) => !one.options.hidden)?.id ?? null));
		name_speaker();
	}
	/**
	 * Decides what is received of the videos that are shown.
	 * @param {Shown[]} shown @param {number} [in_sight] @param {boolean} [has_main] the first one is large
	 */
	function receive(shown, in_sight = Infinity, has_main = false) {
		const all = shown
			.filter(({ person, is_screen }) => (is_screen ? person.screen : person.camera))
			.map(({ person, place, is_screen }) => ({
				id: is_screen ? `screen:${person.id}` : person.id,
				is_first: person.me || (has_main && place === shown[0]?.place),
				priority: priority_of(person.priority, is_screen),
				spoken: spoken.get(person.id) ?? 0,
				wanted: place.height * density() * ENOUGH,
				...(is_screen ? person.screen_in : person.camera_in),
			}));
		const wanted = how.fewer ? few(all, FEW) : null;
		const flowing = all.filter((one) => one.id !== "me" && (!wanted || wanted.has(one.id)));
		const found = share_out(flowing, { most: most(), asked, in_sight, steps }, given, performance.now());
		({ given, left } = found);
		steps -= found.unused;
		if (wanted) for (const { id } of all) if (!wanted.has(id)) given.set(id, NOT_WANTED);
		for (const { id, ask } of flowing) {
			const { layer = -1, slow = false } = given.get(id) ?? {};
			// If nothing is short, the library asks for the layer of the size.
			ask(slow ? SLOW_FPS : ALL_FPS, slow || asked < Infinity ? layer : -1);
		}
	}
	/** @param {Place | undefined} place @param {number} missing */
	function show_rest(place, missing) {
		rest.hidden = !place;
		if (!place) return;
		put(rest, words.more_people(missing));
		rest.setAttribute("aria-label", words.more_people_label(missing));
		rest.style.transform = shift(place.x + PADDING, place.y + PADDING);
		rest.style.width = `${place.width}px`;
		rest.style.height = `${place.height}px`;
	}
	/** Names a speaker who is not in sight. */
	function name_speaker() {
		const is_hidden = (/** @type {Person} */ one) => {
			if (one.me || !speaking.has(one.id) || !one.publishes) return false;
			const place = tiles.get(one.id)?.place;
			// A screen that somebody shares is not the speaker's tile.
			if (!place) return true;
			const top = place.y + PADDING - area.scrollTop;
			return top > area.clientHeight - IN_SIGHT || top + place.height < IN_SIGHT;
		};
		const hidden = people.find(is_hidden);
		speaker.hidden = !hidden;
		if (hidden) put(speaker, icon("sound"), words.speaking(hidden.name));
	}
	area.addEventListener("scroll", name_speaker, { passive: true });

	/** @param {string | null} id */
	function reach(id) {
		current = id;
		rove(
			[...tiles.values()].map((one) => one.options),
			id === null ? null : tiles.get(id)?.options,
		);
	}
	list.addEventListener("focusin", (event) => {
		const root = /** @type {Element} */ (event.target).closest(".tile");
		const id = /** @type {HTMLElement | null} */ (root)?.dataset.id;
		if (id && id !== current) reach(id);
	});
	list.addEventListener("keydown", (event) => {
		const from = current === null ? undefined : tiles.get(current);
		if (!from) return;
		const others = [...tiles.values()].filter((one) => one !== from && !one.options.hidden);
		const next = nearest(event.key, from, others, getComputedStyle(list).direction === "rtl");
		if (event.key.startsWith("Arrow")) event.preventDefault();
		next?.options.focus();
	});

	/** @param {string | null} id */
	function keep(id) {
		large = id;
		lay();
	}
	const watching = new ResizeObserver(lay);
	watching.observe(area);
	return {
		element,
		keep,
		/** Shows a shared screen alone, on the whole screen, or no longer. @param {string} id of its tile */
		async fill(id) {
			const one = tiles.get(id);
			if (one && document.fullscreenElement === one.root) return document.exitFullscreen();
			if (one?.root.requestFullscreen) await one.root.requestFullscreen().catch(() => {});
			// iPhones can do it with videos alone.
			else /** @type {any} */ (one?.video)?.webkitEnterFullscreen?.();
		},
		large: () => large,
		/** Changes how people and screens are shown. @param {typeof how} next */
		look(next) {
			how = next;
			followed.follow(how.speaker);
			lay();
		},
		/** Whether somebody else shares a screen. */
		is_shared: () => people.some(is_sharing),
		/** Whether there are more videos than are shown if few are wanted. */
		has_many: () => people.filter((one) => one.camera).length + people.filter(is_sharing).length > FEW,
		/** Whether you have a tile, which can be hidden. */
		has_me: () => people.some((one) => one.me && one.publishes),
		/** Enlarges the shared screen, if there is one. @param {import("./caption.js").Step} step */
		zoom: (step) => [...tiles.values()].find((one) => one.zoom)?.zoom?.(step),
		/** @param {number} rate kbit/s that the role asks for at most */
		limit(rate) {
			asked = rate;
			lay();
		},
		/** Gives up one more step of what is received, or takes some back. @param {number} by 1, -1 or -Infinity */
		step(by) {
			if (by > 0 ? left === 0 : steps === 0) return;
			steps = Math.max(0, steps + by);
			lay();
		},
		/** @param {Person[]} next */
		show(next) {
			people = next;
			const ids = new Set(next.map((one) => one.id));
			for (const id of spoken.keys()) if (!ids.has(id)) spoken.delete(id);
			lay();
		},
		/** @param {Set<string>} ids */
		speaking(ids) {
			speaking = ids;
			followed.speaking(ids);
			const now = Date.now();
			for (const id of ids) spoken.set(id, now);
			// Somebody who speaks may get a place, or a video that was paused.
			const may_appear = (/** @type {string} */ id) => (tiles.has(id) ? given.get(id)?.slow : id !== "me" || !how.hides_me);
			if ([...ids].some(may_appear)) return lay();
			for (const person of people) {
				const one = tiles.get(person.id);
				if (one) draw(one, person);
			}
			name_speaker();
		},
		/** Shows a line at the bottom, or none. @param {import("../lib/dom.js").Children | null} content */
		say(content) {
			line.hidden = content === null;
			if (content !== null) put(line, content);
		},
		stop() {
			watching.disconnect();
			followed.follow(false);
			for (const one of tiles.values()) one.drop();
			tiles.clear();
		},
	};
}
