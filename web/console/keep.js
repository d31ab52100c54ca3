// For how long files of recordings are kept: asks before a lower number deletes some.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { get } from "../lib/api.js";
import { count_of } from "../lib/text.js";
import { confirm_with } from "../lib/ui.js";
import { may } from "./session.js";

const DAY = 24 * 60 * 60 * 1000;
// Files that are counted.
const MOST = 1000;

/** @param {any} settings @returns {number} days; 0 if the settings do not say */
const days_of = (settings) => settings?.recordingRules?.keepDays ?? 0;

/** Counts the files of a template's recordings that are older than so many days. @param {string} id @param {number} days */
async function count_older(id, days) {
	const before = encodeURIComponent(new Date(Date.now() - days * DAY).toISOString());
	let n = 0;
	let start = "";
	do {
		const page = await get(`/v2/recording-assets?template_id=${id}&before=${before}&limit=100${start && `&start=${start}`}`);
		n += (page.data ?? []).length;
		// A page without files may be followed by others.
		start = page.last;
	} while (start && n < MOST);
	return n;
}

/**
 * Returns true if settings can be saved: nothing would be deleted, or whoever was asked agrees.
 * @param {string} id of the template @param {any} former settings @param {any} now settings
 */
export async function agrees_to_keep(id, former, now) {
	const was = days_of(former);
	const days = days_of(now);
	if (days === 0 || (was > 0 && days >= was) || !may("recordings:read")) return true;
	const n = await count_older(id, days);
	if (n === 0) return true;
	const files = n >= MOST ? `More than ${count_of(MOST - 1, "file")} of recordings are` : n === 1 ? "1 file of a recording is" : `${count_of(n, "file")} of recordings are`;
	return confirm_with(
		`Keep recordings for ${count_of(days, "day")}?`,
		`${files} older than that. ${n === 1 ? "It is" : "They are"} deleted 24 hours after you save, unless you set a higher number before.`,
		"Save settings",
	);
}
