// What a page may play.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/**
 * Returns false for a file that a page can only open in a tab of its own: its policy allows https and what is its own,
 * and an object storage may have http alone.
 * @param {string} url
 */
export function plays(url) {
	const { protocol, origin } = new URL(url, location.href);
	return protocol === "https:" || origin === location.origin;
}
