/* See recorder/test_page.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/test_page.h"

#include "base/text.h"

/* clang-format off */
static const char page[] =
	"<!doctype html><meta charset=utf-8><title>Test picture</title><body><script>\n"
	"\"use strict\";\n"
	"const tell = (what) => anteroom(JSON.stringify(what));\n"
	"const fail = (text) => tell({ type: \"failed\", text: String(text) });\n"
	"window.onerror = fail;\n"
	"const FLASH = 0.08;\n"
	"let recorder, make, n = 0, sent = Promise.resolve(), began = 0;\n"
	"const base64 = (blob) => new Promise((done) => {\n"
	"	const reader = new FileReader();\n"
	"	reader.onload = () => done(reader.result.split(\",\").pop());\n"
	"	reader.readAsDataURL(blob);\n"
	"});\n"
	"const media_ms = () => Math.round(performance.now() - began);\n"
	"function picture(context, look, gain) {\n"
	"	const canvas = document.createElement(\"canvas\");\n"
	"	canvas.width = look.width; canvas.height = look.height;\n"
	"	const c = canvas.getContext(\"2d\");\n"
	"	let drawn = 0, next = Math.ceil(context.currentTime) + 1;\n"
	"	setInterval(() => {\n"
	"		const now = context.currentTime;\n"
	"		if (now > next - 0.5) {\n"
	"			gain.gain.setValueAtTime(0.5, next);\n"
	"			gain.gain.setValueAtTime(0, next + FLASH);\n"
	"			next++;\n"
	"		}\n"
	"		c.fillStyle = now % 1 < FLASH ? \"#fff\" : \"#123\";\n"
	"		c.fillRect(0, 0, canvas.width, canvas.height);\n"
	"		c.fillStyle = \"#4cc\"; c.font = \"32px sans-serif\";\n"
	"		c.fillText(String(drawn++), 40, canvas.height - 40);\n"
	"		c.fillRect((drawn * 4) % canvas.width, 8, 40, 8);\n"
	"	}, 1000 / look.fps);\n"
	"	return canvas.captureStream(look.fps).getVideoTracks()[0];\n"
	"}\n"
	"window.anteroom_start = async ({ look, paused }) => {\n"
	"	const type = look.audio_only ? \"audio/webm;codecs=opus\"\n"
	"		: \"video/x-matroska;codecs=avc1,opus\";\n"
	"	if (!MediaRecorder.isTypeSupported(type))\n"
	"		return fail(\"this Chromium does not encode H.264\");\n"
	"	const context = new AudioContext({ sampleRate: 48000 });\n"
	"	const out = context.createMediaStreamDestination(), gain = context.createGain();\n"
	"	const silence = context.createConstantSource(), none = context.createGain();\n"
	"	none.gain.value = 0; silence.connect(none).connect(out); silence.start();\n"
	"	const tone = context.createOscillator();\n"
	"	tone.frequency.value = 1000; gain.gain.value = 0;\n"
	"	tone.connect(gain).connect(out); tone.start();\n"
	"	const tracks = out.stream.getAudioTracks();\n"
	"	if (!look.audio_only) tracks.push(picture(context, look, gain));\n"
	"	tell({ type: \"joined\" }); tell({ type: \"people\", n: 1 });\n"
	"	/* Each has a file of its own, which begins with a key frame. */\n"
	"	make = () => {\n"
	"		recorder = new MediaRecorder(new MediaStream(tracks), { mimeType: type,\n"
	"			videoBitsPerSecond: look.video_kbps * 1000 * 60 / look.fps,\n"
	"			audioBitsPerSecond: look.audio_kbps * 1000,\n"
	"			videoKeyFrameIntervalDuration: 2000 });\n"
	"		n = 0;\n"
	"		recorder.ondataavailable = ({ data }) => {\n"
	"			if (!data.size) return;\n"
	"			const chunk = { type: \"chunk\", n: n++, at: Date.now() };\n"
	"			chunk.media_ms = media_ms();\n"
	"			sent = sent.then(async () =>\n"
	"				tell({ ...chunk, data: await base64(data) }));\n"
	"		};\n"
	"		recorder.onerror = () => fail(\"MediaRecorder failed\");\n"
	"		recorder.start(1000);\n"
	"		began = performance.now();\n"
	"	};\n"
	"	if (!paused) make();\n"
	"};\n"
	"const end = async () => {\n"
	"	if (recorder?.state == \"recording\")\n"
	"		await new Promise((done) => { recorder.onstop = done; recorder.stop(); });\n"
	"	await sent;\n"
	"};\n"
	"window.anteroom_pause = async (yes) => {\n"
	"	if (yes) await end();\n"
	"	else if (recorder?.state != \"recording\") make();\n"
	"};\n"
	"window.anteroom_stop = async () => { await end(); tell({ type: \"stopped\", n }); };\n"
	"window.anteroom_look = () => {};\n"
	"tell({ type: \"loaded\" });\n"
	"</script>\n";
/* clang-format on */

struct slice test_page(void)
{
	return SLICE(page);
}

const char *test_page_url(struct arena *arena)
{
	const struct slice text = text_base64(arena, SLICE(page));

	return arena_text(arena, "data:text/html;base64,%.*s", (int)text.size, text.data);
}
