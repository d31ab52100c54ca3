// Enlarges a shared screen: two fingers, a double tap or click, Ctrl and the wheel, buttons and keys; one finger or the
// mouse moves it. Loaded when somebody shares.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {ReturnType<typeof zoom>} Zoom */
/** @typedef {[number, number]} Point */

const MOST = 4;
const STEP = 0.5;
// How far a double tap enlarges.
const TAPPED = 2.5;
// Milliseconds that a tap, and a pause between two, last at most; pixels that they may differ.
const TAP = 300;
const NEAR = 30;
// Pixels of the wheel that double the picture, and of a line, where the wheel counts lines.
const WHEEL = 300;
const LINE = 33;

/**
 * @param {HTMLElement} pane @param {HTMLVideoElement} picture which fills the pane, with bars where the ratio differs
 * @param {(percent: number) => void} changed
 */
export function zoom(pane, picture, changed) {
	let scale = 1;
	let x = 0;
	let y = 0;
	/** Where the fingers or the mouse are. @type {Map<number, Point>} */
	const fingers = new Map();
	/** Where and when a finger that may be a tap came down, and the tap before. @type {{ at: Point, time: number } | null} */
	let down = null;
	/** @type {{ at: Point, time: number } | null} */
	let tapped = null;

	const far = (/** @type {Point} */ a, /** @type {Point} */ b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
	const middle = (/** @type {Point} */ a, /** @type {Point} */ b) => /** @type {Point} */ ([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]);
	const place = (/** @type {MouseEvent} */ event) => {
		const box = pane.getBoundingClientRect();
		return /** @type {Point} */ ([event.clientX - box.left, event.clientY - box.top]);
	};
	/**
	 * Returns where the enlarged picture begins: nothing empty is pulled in, and what is smaller than its place is in its
	 * middle. `shown` is the size of the picture in the place, without bars.
	 * @param {number} at @param {number} size @param {number} shown
	 */
	function held(at, size, shown) {
		const bar = (size - shown) / 2;
		if (shown * scale <= size) return (size - size * scale) / 2;
		return Math.min(-bar * scale, Math.max(size - (bar + shown) * scale, at));
	}
	function draw() {
		const [w, h] = [pane.clientWidth, pane.clientHeight];
		const { videoWidth, videoHeight } = picture;
		const fit = videoWidth > 0 && videoHeight > 0 ? Math.min(w / videoWidth, h / videoHeight) : 0;
		x = held(x, w, fit > 0 ? videoWidth * fit : w);
		y = held(y, h, fit > 0 ? videoHeight * fit : h);
		picture.style.transformOrigin = "0 0";
		picture.style.transform = scale === 1 ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
		pane.classList.toggle("zoomed", scale > 1);
		changed(Math.round(scale * 100));
	}
	const centre = () => /** @type {Point} */ ([pane.clientWidth / 2, pane.clientHeight / 2]);
	/** What is at `from` comes to `to`. @param {number} next @param {Point} [from] @param {Point} [to] */
	function enlarge(next, from = centre(), to = from) {
		const scaled = Math.min(MOST, Math.max(1, next));
		x = to[0] - ((from[0] - x) * scaled) / scale;
		y = to[1] - ((from[1] - y) * scaled) / scale;
		scale = scaled;
		draw();
	}
	/** @param {number} right @param {number} below in pixels */
	function pan(right, below) {
		x += right;
		y += below;
		draw();
	}
	pane.addEventListener("pointerdown", (event) => {
		if (event.button !== 0) return;
		pane.setPointerCapture(event.pointerId);
		const at = place(event);
		fingers.set(event.pointerId, at);
		down = fingers.size === 1 ? { at, time: event.timeStamp } : null;
	});
	pane.addEventListener("pointermove", (event) => {
		const before = fingers.get(event.pointerId);
		if (!before) return;
		const now = place(event);
		const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
		fingers.set(event.pointerId, now);
		if (other) enlarge((scale * far(now, other)) / Math.max(1, far(before, other)), middle(before, other), middle(now, other));
		else if (scale > 1) pan(now[0] - before[0], now[1] - before[1]);
	});
	pane.addEventListener("pointerup", (event) => {
		const at = place(event);
		fingers.delete(event.pointerId);
		const is_tap = down && event.timeStamp - down.time < TAP && far(at, down.at) < NEAR;
		down = null;
		if (!is_tap) {
			tapped = null;
			return;
		}
		const is_double = tapped && event.timeStamp - tapped.time < TAP * 2 && far(at, tapped.at) < NEAR;
		tapped = is_double ? null : { at, time: event.timeStamp };
		if (is_double) enlarge(scale > 1 ? 1 : TAPPED, at);
	});
	pane.addEventListener("pointercancel", (event) => {
		fingers.delete(event.pointerId);
		down = null;
		tapped = null;
	});
	pane.addEventListener(
		"wheel",
		(event) => {
			if (!event.ctrlKey && !event.metaKey) return;
			event.preventDefault();
			const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * LINE;
			enlarge(scale * 2 ** (-pixels / WHEEL), place(event));
		},
		{ passive: false },
	);
	// What fits in the place changes with its size, and with the picture's.
	picture.addEventListener("resize", draw);
	new ResizeObserver(draw).observe(pane);
	return {
		in: () => enlarge(scale + STEP),
		out: () => enlarge(scale - STEP),
		fit: () => enlarge(1),
		pan,
	};
}
