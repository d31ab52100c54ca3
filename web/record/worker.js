// Draws the picture of a recording: at each tick the newest frame of each video, and what paper.js has read off the
// stage, in its order. It has a thread of its own, so that nothing in the page delays a picture.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {import("./paper.js").Item} Item */

// A module, so that its names are its own.
export {};

const scope = /** @type {any} */ (globalThis);
// Milliseconds: a picture that is this late is left out; between two reports.
const LATE = 200;
const REPORT = 10000;
// Of a test: the colours of its bars, and the milliseconds in which its mark crosses the picture.
const BARS = ["#c0c0c0", "#c0c000", "#00c0c0", "#00c000", "#c000c0", "#c00000", "#0000c0"];
const CROSSES = 2000;

/** @type {OffscreenCanvas} */
let canvas;
/** @type {OffscreenCanvasRenderingContext2D} */
let pen;
/** @type {any} */
let writer;
let fps = 25;
let is_test = false;
/** @type {Item[]} */
let items = [];
/** The shapes of the icons. @type {Record<string, Path2D>} */
let icons = {};
let is_new = true;
/** The newest frame of each video, and what reads them. @type {Map<number, any>} */
const frames = new Map();
/** @type {Map<number, any>} */
const readers = new Map();
/** What fits of the texts that are drawn. @type {Map<Item, string>} */
const fitting = new Map();
/** The size of the picture of each video. @type {Map<number, string>} */
const sizes = new Map();

/** @param {number} key */
function drop(key) {
	frames.get(key)?.close();
	frames.delete(key);
	sizes.delete(key);
	readers.delete(key);
}

/** Keeps the newest frame of a video until it ends. @param {number} key @param {any} readable */
async function follow(key, readable) {
	readers.get(key)?.cancel().catch(() => {});
	const reader = readable.getReader();
	readers.set(key, reader);
	for (;;) {
		const { value, done } = await reader.read().catch(() => ({ done: true }));
		if (done) break;
		if (readers.get(key) !== reader) {
			value.close();
			break;
		}
		frames.get(key)?.close();
		frames.set(key, value);
		is_new = true;
		const { displayWidth: width, displayHeight: height } = value;
		const size = `${width} ${height}`;
		if (sizes.get(key) !== size) scope.postMessage({ type: "size", key, width, height });
		sizes.set(key, size);
	}
	if (readers.get(key) === reader) drop(key);
}

/** @param {number[]} box @param {number} radius */
function outline([x = 0, y = 0, w = 0, h = 0], radius) {
	pen.beginPath();
	pen.roundRect(x, y, w, h, radius);
}

/** Returns the most of a text that fits. @param {string} text @param {number} width */
function cut(text, width) {
	if (pen.measureText(text).width <= width) return text;
	const letters = [...text];
	while (letters.length > 0 && pen.measureText(`${letters.join("")}…`).width > width) letters.pop();
	return `${letters.join("")}…`;
}

/** @param {Item} item */
function draw(item) {
	const [x = 0, y = 0, w = 0, h = 0] = item.at;
	switch (item.type) {
		case "group":
			pen.save();
			outline(item.at, item.radius);
			pen.clip();
			item.items.forEach(draw);
			pen.restore();
			break;
		case "box":
			outline(item.at, item.radius);
			pen.fillStyle = item.fill;
			pen.fill();
			break;
		case "ring": {
			// The line stays inside of the box.
			const half = item.width / 2;
			outline([x + half, y + half, w - item.width, h - item.width], Math.max(0, item.radius - half));
			pen.strokeStyle = item.fill;
			pen.lineWidth = item.width;
			pen.stroke();
			break;
		}
		case "text":
			pen.font = item.font;
			pen.fillStyle = item.fill;
			if (!fitting.has(item)) fitting.set(item, cut(item.text, item.room));
			pen.fillText(fitting.get(item) ?? "", x, y + pen.measureText(item.text).fontBoundingBoxAscent);
			break;
		case "icon": {
			const path = icons[item.name];
			if (!path) break;
			pen.save();
			pen.translate(x, y);
			pen.scale(w / 16, h / 16);
			pen.strokeStyle = item.fill;
			pen.lineWidth = item.width;
			pen.lineCap = pen.lineJoin = "round";
			pen.stroke(path);
			pen.restore();
			break;
		}
		case "video": {
			const frame = frames.get(item.key);
			if (!frame) break;
			const { displayWidth: width, displayHeight: height } = frame;
			const scale = (item.covers ? Math.max : Math.min)(w / width, h / height);
			pen.save();
			pen.beginPath();
			pen.rect(x, y, w, h);
			pen.clip();
			pen.drawImage(frame, x + (w - width * scale) / 2, y + (h - height * scale) / 2, width * scale, height * scale);
			pen.restore();
		}
	}
}

/** Draws the picture of a test, with a mark that moves. @param {number} now */
function draw_test(now) {
	const { width, height } = canvas;
	BARS.forEach((fill, i) => {
		pen.fillStyle = fill;
		pen.fillRect((i * width) / BARS.length, 0, width / BARS.length + 1, height);
	});
	pen.fillStyle = "#ffffff";
	pen.fillRect(((now % CROSSES) / CROSSES) * width, height * 0.8, width / 20, height * 0.1);
}

let drawn = 0;
let next = 0;
let is_writing = false;
/** Writes one picture, unless the last one is still being taken. */
function tick() {
	const now = performance.now();
	if (now - next > LATE) next = now;
	if (!is_writing) {
		if (is_test) draw_test(now);
		else if (is_new) items.forEach(draw);
		is_new = false;
		const picture = new VideoFrame(canvas, { timestamp: Math.round(now * 1000), alpha: "discard" });
		is_writing = true;
		drawn += 1;
		writer.write(picture).then(
			() => {
				is_writing = false;
			},
			// Nobody takes pictures any more.
			() => scope.postMessage({ type: "failed" }),
		);
	}
	next += 1000 / fps;
	setTimeout(tick, Math.max(0, next - performance.now()));
}

/** Tells how many pictures a second there were. */
function report() {
	let before = performance.now();
	setInterval(() => {
		const now = performance.now();
		scope.postMessage({ type: "fps", fps: Math.round((10000 * drawn) / (now - before)) / 10 });
		drawn = 0;
		before = now;
	}, REPORT);
}

scope.onmessage = (/** @type {MessageEvent} */ { data }) => {
	switch (data.type) {
		case "begin": {
			({ fps, is_test } = data);
			canvas = new OffscreenCanvas(data.width, data.height);
			pen = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false, willReadFrequently: true }));
			icons = Object.fromEntries(Object.entries(data.icons).map(([name, path]) => [name, new Path2D(/** @type {string} */ (path))]));
			writer = data.writable.getWriter();
			next = performance.now();
			tick();
			report();
			break;
		}
		case "items":
			({ items } = data);
			fitting.clear();
			is_new = true;
			break;
		case "video":
			follow(data.key, data.readable);
			break;
		case "gone":
			readers.get(data.key)?.cancel().catch(() => {});
			drop(data.key);
			is_new = true;
	}
};
