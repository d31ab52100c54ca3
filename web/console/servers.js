// What the settings of templates mean by a media server: one, or a pool of them.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** Returns the media server that a template's settings name, or one of the pool that they name, or the default. @param {any[]} backends @param {{ backend?: string }} settings */
export const server_of = (backends, { backend }) =>
	backends.find((one) => (backend ? [one.name, one.pool].includes(backend) : one.default));

/** Returns what templates can name: each media server and each pool. @param {any[]} backends @returns {string[]} */
export const names_of = (backends) => [...new Set(backends.flatMap(({ name, pool }) => (pool ? [name, pool] : [name])))];
